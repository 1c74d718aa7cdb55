"""What an option of Boundary Shift takes out of the features, and what it costs the other classes.

python examples/trade_off.py --option steps --values 80,160 --class 7
python examples/trade_off.py model.safetensors --data cifar10 --class deer --retrained retrained.safetensors
"""

import argparse
from pathlib import Path

from matplotlib.figure import Figure

import unclass
from unclass.audits.observe import observe, sample_split
from unclass.audits.probe import linear_probe, nearest_mean
from unclass.data import DataOptions, Split, load_data
from unclass.metrics import Evaluation
from unclass.metrics.population import advantage, population_attack
from unclass.training.engine import Engine

SHOWN = {"accuracy_retain_test": "accuracy on D_rt", "linear_probe": "linear probe", "attack_success_rate": "ASR"}


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, help="a checkpoint; by default one is trained on the digits")
    parser.add_argument("--data", default="digits", help="what the model was trained on (digits)")
    parser.add_argument("--root", type=Path, help="where the data lies")
    parser.add_argument("--class", dest="label", default="3", help="the class to forget (3)")
    parser.add_argument("--retrained", nargs="*", type=Path, default=[], help="models trained without the class")
    parser.add_argument("--option", default="pace", help="the option that is varied (pace)")
    parser.add_argument("--values", default="1e-4,5e-4,1.5e-3,5e-3,1e-2", help="its values, with commas between")
    parser.add_argument("--out", type=Path, default=Path("trade-off.png"), help="the picture (trade-off.png)")
    parser.add_argument("--small", action="store_true", help="the first value alone, a short training")
    given = parser.parse_args(arguments)
    data = load_data(given.data, DataOptions(root=given.root))
    model = unclass.load(given.model) if given.model else unclass.train(data, epochs=5 if given.small else 20)
    split = sample_split(Split.of(data, [given.label]), seed=0)

    def look(one) -> dict[str, float]:
        seen, labels = observe(one, split, Engine()), {name: part.labels for name, part in split.sets().items()}
        attacked = population_attack(seen.predictions["forget"], seen.predictions["forget_test"])
        inside = {"linear_probe": linear_probe(seen.features, labels), "population_attack": advantage(attacked)}
        inside["one_image"] = nearest_mean(seen.features, labels).share
        return {**Evaluation.of(seen.predictions).as_dict(), **inside}

    before, lines, points = look(model), [look(unclass.load(path)) for path in given.retrained], {}
    for text in given.values.split(",")[: 1 if given.small else None]:
        value = float(text) if set(text) & set(".e") else int(text)
        points[value] = look(unclass.forget(model, data, [given.label], "boundary-shift", **{given.option: value}))
    for name, found in {"original": before, **points}.items():
        print(f"{name}:", *(f"{key.replace('_', ' ')} {share:.3f}," for key, share in found.items()))
    figure = Figure((10, 3), layout="constrained")
    for chart, (key, name) in zip(figure.subplots(1, 3), SHOWN.items(), strict=True):
        chart.plot(list(points), [100 * one[key] for one in points.values()], marker="o", label="Boundary Shift")
        for name, colour, line in [("original", "grey", before), *(("retrained", "green", line) for line in lines)]:
            chart.axhline(100 * line[key], color=colour, linewidth=1, label=name)
        chart.set(xscale="log", xlabel=given.option, title=f"{name} (%)")
    figure.axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(given.out, dpi=150)
    return {"before": before, "after": next(iter(points.values()))}


if __name__ == "__main__":
    main()
