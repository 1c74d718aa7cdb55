import pytest
import torch
from torch import Tensor, nn

from unclass.data import Batches, Counted, ImageData, Split, TrainingData, Withheld
from unclass.methods import fisher
from unclass.methods.fisher import Fisher, diagonal_fisher
from unclass.models import Classifier
from unclass.training.engine import Engine


def slow_fisher(model: nn.Module, x: Tensor) -> dict[str, Tensor]:
    """The mean over images of Σ_k p(k|x) (∂ log p(k|x) / ∂w)², image by image and class by class."""
    total = {name: torch.zeros_like(weight) for name, weight in model.named_parameters()}
    for image in x:
        log_p = model(image[None])[0].log_softmax(0)
        for k in range(len(log_p)):
            gradients = torch.autograd.grad(log_p[k], list(model.parameters()), retain_graph=True)
            for name, gradient in zip(total, gradients, strict=True):
                total[name] += log_p[k].exp().detach() * gradient**2
    return {name: value / len(x) for name, value in total.items()}


def retain(split: Split, batch_size: int = 8) -> TrainingData:
    return TrainingData(Withheld("D_f"), Batches(split.retain, batch_size), split.classes)


@pytest.mark.parametrize("chunk_bytes", [fisher.CHUNK_BYTES, 1])
def test_diagonal_fisher_equals_the_slow_loop_with_batch_norm(
    trained: Classifier, split: Split, engine: Engine, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(fisher, "CHUNK_BYTES", chunk_bytes)
    few = split.retain.select(torch.arange(11))
    found = diagonal_fisher(trained, Batches(few, 4), engine)
    expected = slow_fisher(trained, next(iter(Batches(few, 11)))[0])
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, rtol=1e-3, atol=1e-7, msg=name)
    assert max(value.max() for value in found.values()) > 1e-3


@pytest.mark.parametrize("images", [1, 5, 8, 11])
def test_images_limits_what_is_read(trained: Classifier, split: Split, engine: Engine, images: int) -> None:
    batches = Counted(Batches(split.retain, 4))
    found = diagonal_fisher(trained, batches, engine, images)
    assert batches.images_read == -(-images // 4) * 4
    first = split.retain.select(torch.arange(images))
    for name, value in diagonal_fisher(trained, Batches(first, 4), engine).items():
        torch.testing.assert_close(found[name], value)


def test_more_images_than_there_are_means_all(trained: Classifier, split: Split, engine: Engine) -> None:
    few = Batches(split.retain.select(torch.arange(9)), 4)
    everything, more = diagonal_fisher(trained, few, engine), diagonal_fisher(trained, few, engine, 50)
    assert all(torch.equal(everything[name], more[name]) for name in more)


def test_only_the_forgotten_rows_of_the_head_start_from_zero(
    model: Classifier, digits: ImageData, engine: Engine
) -> None:
    split = Split.of(digits, ["3", "6"])
    unlearned = Fisher(noise=0.0, images=8)(model, retain(split), engine)
    old, new = model.state_dict(), unlearned.state_dict()
    for key in ("network.head.weight", "network.head.bias"):
        assert (new[key][[3, 6]] == 0).all()
        kept = [0, 1, 2, 4, 5, 7, 8, 9]
        assert torch.equal(new[key][kept], old[key][kept])
    assert all(torch.equal(new[key], old[key]) for key in old if "head" not in key)


def test_noise_is_largest_where_the_information_is_least(model: Classifier, split: Split, engine: Engine) -> None:
    method = Fisher(noise=0.01, floor=1e-4, images=16)
    torch.manual_seed(0)
    unlearned = dict(method(model, retain(split), engine).named_parameters())
    information = diagonal_fisher(model, Batches(split.retain, 8), engine, 16)
    torch.manual_seed(0)
    for name, weight in model.named_parameters():
        noise = torch.randn(weight.shape)
        start = weight.detach().clone()
        if "head" in name:
            start[3] = 0
        for place in torch.randint(weight.numel(), (20,), generator=torch.Generator().manual_seed(1)).tolist():
            f = max(information[name].flatten()[place].item(), 1e-4 * information[name].mean().item())
            expected = start.flatten()[place].item() + 0.01 * f**-0.25 * noise.flatten()[place].item()
            assert unlearned[name].flatten()[place].item() == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_weights_that_nothing_depends_on_stay_finite(split: Split, engine: Engine) -> None:
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 4), nn.ReLU(), nn.Linear(4, 10))
    network[1].bias.data.fill_(-1e3)  # dead: no information at all in the first layer
    unlearned = Fisher(noise=0.01, images=8)(network, retain(split), engine)
    assert all(torch.isfinite(weight).all() for weight in unlearned.parameters())
