"""Memory and time, reckoned from one batch."""

import pytest
import torch
from consulting import consult
from torch import nn

import unclass
from unclass.checkup import cost as costs
from unclass.data import ImageData, Split
from unclass.methods.finetune import Finetune
from unclass.methods.fisher import Fisher
from unclass.methods.logit_mask import LogitMask
from unclass.models import Classifier
from unclass.training.engine import Engine


def test_too_little_memory_is_found(trained: Classifier, digits: ImageData, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "free_memory", lambda device: 1000)
    found = consult(trained, digits)["memory"]
    assert found.status == "wrong" and "`batch_size`" in found.advice


def test_time_is_reckoned_by_epochs_and_images(split: Split) -> None:
    pace = costs.Pace(images=8, looking=0.01, training=0.1, saved=0.0, tail=0.02, features=4.0)
    assert costs.run_seconds(Finetune(epochs=2), split, pace, 10, 64) == (72.0, 72.0)  # 2 × 360 images of D_r
    assert costs.run_seconds(LogitMask(), split, pace, 10, 64) == (0.0, 0.0)
    assert costs.run_seconds(Fisher(images=5), split, pace, 10, 64)[0] == pytest.approx(5 * 10 * 0.1)
    least, most = costs.run_seconds(unclass.METHODS["boundary-shift"](), split, pace, 10, 64)
    assert 2 * 40 * 0.01 < least < most


def test_kept_bytes_are_those_of_a_layer_by_hand() -> None:
    layer, x = nn.Linear(6, 10), torch.rand(4, 6)
    _, kept = costs._step(layer, x, torch.zeros(4, dtype=torch.long), Engine(precision="float32"))
    # x, the log-probabilities and the labels of each image, and one number of all for the mean.
    assert kept == pytest.approx(4 * 6 + 4 * 10 + 8, abs=4)
