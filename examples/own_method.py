"""A method of your own: one class, used from Python here, and from the command line as own_method:Uniform.

python examples/own_method.py --class 3
cd examples && unclass forget model.safetensors --data digits --class 3 --method own_method:Uniform
"""

import argparse
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import Tensor, nn

import unclass
from unclass.data import TrainingData
from unclass.methods import Counts, Method, Needs, Passes, option
from unclass.testing import check_method


@dataclass(frozen=True)
class Uniform(Method):
    """Train the forgotten images until every class is as likely as any other."""

    epochs: int = option(4, "passes over the forgotten images")
    lr: float = option(0.002, "learning rate")

    needs: ClassVar[Needs] = Needs.FORGET

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_trains=self.epochs)

    def __call__(self, model: nn.Module, data: TrainingData, engine: unclass.Engine) -> nn.Module:
        def loss(unlearned: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            return -unlearned(x).log_softmax(dim=1).mean()  # the cross-entropy with a uniform target

        return engine.fit(
            deepcopy(model), data.forget, loss, epochs=self.epochs, lr=self.lr, batch_norm="frozen", what="uniform"
        )


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--class", dest="digit", default="3", help="the digit to forget (3)")
    parser.add_argument("--out", type=Path, help="where to write what has forgotten")
    parser.add_argument("--small", action="store_true", help="a short training")
    given = parser.parse_args(arguments)
    check_method(Uniform)  # the contract that our own methods pass
    data = unclass.load_data("digits")
    model = unclass.train(data, epochs=5 if given.small else 20)
    forgotten = unclass.forget(model, data, [given.digit], Uniform())
    before, after = (unclass.evaluate(one, data, given.digit).as_dict() for one in (model, forgotten))
    for name, value in after.items():
        print(f"{name.replace('_', ' '):<24} {100 * before[name]:6.1f} % → {100 * value:6.1f} %")
    if given.out:
        unclass.save(forgotten, given.out)
    return {"before": before, "after": after}


if __name__ == "__main__":
    main()
