"""`python -m unclass`, and `torchrun -m unclass` for several processes."""

from unclass.cli import main

main()
