"""Settings chosen without a look at the test images: a tenth of the training images is held back and judges.

python examples/choose_settings.py random-labels lr 1e-4 3e-4 1e-3
python examples/choose_settings.py fisher noise 1e-3 2e-3 --data cifar10 --class deer cat --model original.safetensors

A model that is given must be trained with the same share held back: unclass train cifar10 --validation 0.1
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from statistics import mean

import unclass
from unclass.data import DataOptions, load_data
from unclass.errors import Diverged

SHARE = 0.1
GOOD = "kept_less_forgotten"  # retraining has the most: the other classes known, and nothing of this one


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", nargs="?", default="random-labels", help="its name (random-labels)")
    parser.add_argument("option", nargs="?", default="lr", help="what to choose (lr)")
    parser.add_argument("values", nargs="*", default=["1e-4", "3e-4", "1e-3"], help="from these (1e-4 3e-4 1e-3)")
    parser.add_argument("--data", default="digits", help="the data set (digits)")
    parser.add_argument("--root", type=Path, help="where the data lies")
    parser.add_argument("--class", dest="labels", nargs="+", default=["3"], help="forgotten one at a time (3)")
    parser.add_argument("--model", type=Path, help="a checkpoint; trained if not given")
    parser.add_argument("--set", nargs="*", default=[], metavar="OPTION=VALUE", help="other options of the method")
    parser.add_argument("--out", type=Path, default=Path("settings.json"), help="the figures (settings.json)")
    parser.add_argument("--small", action="store_true", help="a short training")
    given = parser.parse_args(arguments)
    data = load_data(given.data, DataOptions(root=given.root, validation=SHARE))
    model = unclass.load(given.model) if given.model else unclass.train(data, epochs=5 if given.small else 20)
    held_back = replace(data, train=data.train.of_classes(()))
    others = dict(pair.split("=", 1) for pair in given.set)

    def judge(**options) -> dict[str, float]:
        found = []
        for label in given.labels:
            after = unclass.forget(model, data, [label], given.method, **options) if options else model
            found.append(unclass.evaluate(after, held_back, label).as_dict())
        means = {key: mean(one[key] for one in found) for key in found[0]}
        return {**means, GOOD: means["accuracy_retain_test"] - means["accuracy_forget_test"]}

    rows = {"before": judge()}
    for value in given.values:
        try:
            rows[value] = judge(**others, **{given.option: value})
            shown = ", ".join(f"{key.replace('_', ' ')} {figure:.3f}" for key, figure in rows[value].items())
        except Diverged as error:
            shown = str(error)
        print(f"{given.option} {value}: {shown}", flush=True)
    best = max(list(rows)[1:], key=lambda value: rows[value][GOOD])
    print(f"{given.method}: {given.option} {best} is the best, {rows[best][GOOD]:.3f}")
    given.out.write_text(json.dumps({"method": given.method, "option": given.option, "best": best, "rows": rows}))
    return {"before": rows["before"], "after": rows[best]}


if __name__ == "__main__":
    main()
