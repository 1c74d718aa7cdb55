"""A training script of your own, with three lines added, so that Amnesiac Unlearning can take back a class later.

python examples/training_for_amnesiac.py --class 3
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import unclass


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--class", dest="digit", type=int, default=3, help="the digit to forget (3)")
    parser.add_argument("--updates", type=Path, help="folder for the updates; by default one that is removed")
    parser.add_argument("--small", action="store_true", help="few pictures and epochs")
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as temporary:
        updates = given.updates or Path(temporary) / "updates"
        torch.manual_seed(0)
        pictures, labels = load_digits(return_X_y=True)
        x, y = torch.tensor(pictures).float().view(-1, 1, 8, 8) / 16, torch.tensor(labels)
        count = 300 if given.small else 1400
        train, test = TensorDataset(x[:count], y[:count]), TensorDataset(x[1400:], y[1400:])
        model = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(576, 64), nn.ReLU(),
                              nn.Linear(64, 10))  # fmt: skip
        optimiser = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
        recorder = unclass.UpdateRecorder(updates, [given.digit], model)  # added: which classes may have to go
        step = 0
        for _ in range(5 if given.small else 15):
            for images, targets in DataLoader(train, 8, shuffle=True):
                optimiser.zero_grad()
                F.cross_entropy(model(images), targets).backward()
                optimiser.step()
                step += 1
                recorder.after_step(step, model, targets)  # added: keeps the update if the batch holds the class
        recorder.finish(model)  # added: says whose updates these are

        # Later, when the class has to go: the updates are taken back, and a few epochs on the others repair the rest.
        forgotten = unclass.forget(
            model, train, [given.digit], "amnesiac", batch_size=32, updates=str(updates), repair_epochs=2
        )
    before, after = (unclass.evaluate(one, test, [given.digit]).as_dict() for one in (model, forgotten))
    for name, value in after.items():
        print(f"{name.replace('_', ' '):<24} {100 * before[name]:6.1f} % → {100 * value:6.1f} %")
    return {"before": before, "after": after}


if __name__ == "__main__":
    main()
