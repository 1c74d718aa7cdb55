# Two commands on a fresh machine: `make demo` and `make test`. Both create .venv and install what they need.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test test-all check docs fuzz options soak sbom lock advisories install clean

demo: install
	$(BIN)/unclass demo --force

# Files of tests are shared between as many processes as there are cores, four at the most; WORKERS=0 uses none.
# Bytecode is written whatever the environment says: else each of the processes that tests start compiles everything again.
WORKERS ?= auto
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses $(WORKERS) --maxprocesses 4 --dist loadfile --no-loadscope-reorder
test: install
	$(PYTEST) -m "not long"

# With the tests that start other programs (torchrun, Ray, Slurm, pip) or walk a long way: twice the time.
test-all: install
	$(PYTEST)

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

# Ten times the damaged inputs of the suite; FUZZ=100 for a night, SEED=7 for others than those.
FUZZ ?= 10
fuzz: install
	UNCLASS_FUZZ=$(FUZZ) UNCLASS_FUZZ_SEED=$(SEED) $(BIN)/python -m pytest tests/fuzz

# Every option of every command with values that do not fit.
CASES ?= 500
SEED ?= 0
options: install
	$(BIN)/python tools/options.py --cases $(CASES) --seed $(SEED)

# Commands with faults injected at random: kills, a full disk, too little memory, a clock that jumps.
# It ends after MINUTES, or later when there were COMMANDS of them.
MINUTES ?= 10
COMMANDS ?= 0
soak: install
	$(BIN)/python tools/soak.py --minutes $(MINUTES) --commands $(COMMANDS) --seed $(SEED)

# A software bill of materials (CycloneDX) of what is installed here.
sbom: install
	@mkdir -p build
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o build/sbom.json $(BIN)/python
	@echo "build/sbom.json"

# The tested versions with the hashes of the files that pip fetches here: make install LOCK=requirements.lock
# The list in the repository is of CPython 3.11 on Linux with torch for CPUs; its first line says so.
lock: install
	@mkdir -p build
	$(BIN)/python tools/lock.py > build/requirements.lock
	mv build/requirements.lock requirements.lock

# Known advisories against the tested versions; needs a network and `pip install pip-audit`.
advisories: install
	@$(BIN)/python -c 'import pip_audit' 2>/dev/null || { echo "error: pip-audit is not installed; $(BIN)/python -m pip install pip-audit"; exit 2; }
	$(BIN)/python -m pip_audit --requirement constraints.txt --no-deps --disable-pip

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
ifdef LOCK
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
else
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
endif
	@touch $@

clean:
	rm -rf $(VENV)
