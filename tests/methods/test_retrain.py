import pytest
import torch
from torch import Tensor, nn

from unclass.data import Batches, Split, TrainingData, Withheld
from unclass.engine import Engine
from unclass.errors import InputError
from unclass.methods.retrain import Retrain, reset
from unclass.models import Classifier, save, weights_digest
from unclass.models.small_cnn import SmallCNN


class Scaled(nn.Module):
    """A network with a parameter of its own that nobody knows how to draw anew."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4))
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) * self.scale


def without_training(model: Classifier, split: Split, engine: Engine, **options: str) -> nn.Module:
    data = TrainingData(Withheld("D_f"), Batches(split.retain, 32), split.classes)
    return Retrain(epochs=0, **options)(model, data, engine)  # type: ignore[arg-type]


def test_retraining_starts_from_none_of_the_original_weights(model: Classifier, split: Split, engine: Engine) -> None:
    fresh = dict(without_training(model, split, engine).named_parameters())
    for name, weight in model.named_parameters():
        assert not torch.isclose(fresh[name], weight, rtol=0, atol=1e-9).any(), name


def test_retraining_starts_from_fresh_batch_norm_statistics(model: Classifier, split: Split, engine: Engine) -> None:
    fresh = without_training(model, split, engine).state_dict()
    for name in fresh:
        if name.endswith("running_mean"):
            assert (fresh[name] == 0).all() and (model.state_dict()[name] != 0).all()
        if name.endswith("num_batches_tracked"):
            assert fresh[name] == 0


def test_the_draw_depends_on_the_seed(model: Classifier) -> None:
    digests = []
    for seed in (0, 1, 0):
        torch.manual_seed(seed)
        digests.append(weights_digest(reset(model)))
    assert digests[0] == digests[2] != digests[1]


def test_a_module_that_cannot_be_started_from_scratch_is_named() -> None:
    with pytest.raises(InputError, match=r"Scaled at '1'.*scale.*reset_parameters"):
        reset(nn.Sequential(nn.Linear(4, 4), Scaled()))


def test_start_takes_all_but_a_head_of_other_classes_from_a_file(
    model: Classifier, split: Split, engine: Engine, tmp_path
) -> None:
    other = Classifier(SmallCNN(5, width=8), model.card)
    path = save(other, tmp_path / "pretrained.safetensors")
    started = without_training(model, split, engine, start=str(path)).state_dict()
    for key, tensor in other.state_dict().items():
        assert torch.equal(started[key], tensor) if "head" not in key else len(started[key]) == 10


def test_a_start_of_another_architecture_is_refused(model: Classifier, split: Split, engine: Engine, tmp_path) -> None:
    other = Classifier(nn.Linear(3, 2), model.card)
    path = save(other, tmp_path / "other.safetensors")
    with pytest.raises(InputError, match="another architecture"):
        without_training(model, split, engine, start=str(path))
