import pytest
import torch
from torch import Tensor, nn

from unclass.data import Batches, ImageData, Split, TrainingData, Withheld
from unclass.errors import InputError
from unclass.methods.boundary_expanding import BoundaryExpanding, Expanded
from unclass.methods.retrain import Retrain
from unclass.models import Classifier, find_head, weights_digest
from unclass.models.networks.all_cnn import ConvBlock
from unclass.training.engine import Engine

STRONG = BoundaryExpanding(epochs=10, lr=0.05, batch_norm="frozen")


class Watcher:
    """Keeps what the expanded model says of the forgotten images after every step."""

    def __init__(self, x: Tensor) -> None:
        self.x, self.shares, self.widths = x, [], set()

    def start(self, model: nn.Module) -> None:
        self.after_step(0, model, torch.empty(0))

    @torch.no_grad()
    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        logits = model.eval()(self.x)
        self.widths.add(logits.shape[1])
        self.shares.append((logits.argmax(1) == 10).float().mean().item())


class ConvHead(nn.Module):
    """A network whose head is a 1×1 convolution, averaged over the picture afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(ConvBlock(1, 8), ConvBlock(8, 16, stride=2))
        self.head = nn.Conv2d(16, 10, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x)).mean(dim=(2, 3))


def no_bias() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10, bias=False))


def forget(split: Split) -> TrainingData:
    return TrainingData(Batches(split.forget, 20), Withheld("D_r"), split.classes)


def test_the_shadow_neuron_gets_the_forgotten_images_during_fit(model: Classifier, split: Split) -> None:
    watcher = Watcher(next(iter(Batches(split.forget, 100)))[0])
    STRONG(model, forget(split), Engine(precision="float32", observer=watcher))
    assert watcher.widths == {11}
    assert watcher.shares[0] < 0.5 and watcher.shares[-1] > 0.95


def test_pruning_brings_back_the_original_keys_and_shapes(model: Classifier, split: Split, engine: Engine) -> None:
    expanded = STRONG(model, forget(split), engine)
    assert {k: v.shape for k, v in expanded.state_dict().items()} == {k: v.shape for k, v in model.state_dict().items()}
    assert expanded(torch.rand(3, 1, 8, 8)).shape == (3, 10)


def test_pruning_leaves_the_other_logits_as_they_were(model: Classifier, split: Split) -> None:
    x = next(iter(Batches(split.forget, 8)))[0]
    expanded = Expanded(model, find_head(model, x))
    wide = expanded(x)
    assert wide.shape == (8, 11)
    torch.testing.assert_close(expanded.prune()(x), wide[:, :10])


def test_without_steps_it_returns_the_original(model: Classifier, split: Split, engine: Engine) -> None:
    same = BoundaryExpanding(epochs=0)(model, forget(split), engine)
    assert weights_digest(same) == weights_digest(model)


@pytest.mark.parametrize("make", [ConvHead, no_bias], ids=["1x1-conv", "no-bias"])
def test_any_linear_head_can_be_expanded(make, split: Split, digits: ImageData, engine: Engine) -> None:
    torch.manual_seed(0)
    everything = TrainingData(Withheld("D_f"), Batches(digits.train, 32, shuffle=True), ())
    network = Retrain(epochs=4, lr=0.1)(make(), everything, engine)
    images, labels = next(iter(Batches(split.forget, 100)))
    expanded = STRONG(network, forget(split), engine)
    assert list(expanded.state_dict()) == list(network.state_dict())
    before, after = (m(images).softmax(1).gather(1, labels[:, None]).mean() for m in (network, expanded))
    assert after < before / 2 and before > 0.15


def test_a_network_without_a_linear_head_is_refused(split: Split, engine: Engine) -> None:
    with pytest.raises(InputError, match="no linear layer with 64 outputs"):
        BoundaryExpanding()(nn.Flatten(), forget(split), engine)
