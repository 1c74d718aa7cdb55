import pytest
import torch
from torch import Tensor, nn

from unclass.data import Batches, Split, TrainingData, Withheld
from unclass.errors import InputError
from unclass.methods.retrain import Retrain, reset
from unclass.models import Card, Classifier, build, origins, save, weights_digest
from unclass.models.any_output import Logits
from unclass.models.networks.small_cnn import SmallCNN
from unclass.training.engine import Engine


class Scaled(nn.Module):
    """A network with a parameter of its own that no layer knows how to draw anew."""

    def __init__(self, scale: Tensor) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4))
        self.scale = nn.Parameter(scale)

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


def test_of_a_parameter_that_no_layer_draws_only_mean_and_spread_stay() -> None:
    torch.manual_seed(0)
    trained = 5 + 0.1 * torch.rand(1000)
    found = reset(Scaled(trained.clone())).scale.detach()
    assert not torch.isclose(found, trained, rtol=0, atol=1e-7).any()
    assert found.mean() == pytest.approx(trained.mean().item(), abs=0.01)
    assert found.std() == pytest.approx(trained.std().item(), rel=0.1)
    assert abs(torch.corrcoef(torch.stack([found, trained]))[0, 1]) < 0.1


def test_a_single_number_that_would_stay_as_trained_is_named() -> None:
    with pytest.raises(InputError, match=r"Scaled at '1'.*scale is one number.*reset_parameters"):
        reset(nn.Sequential(nn.Linear(4, 4), Scaled(torch.tensor(3.0))))


@pytest.mark.parametrize("normalise", [nn.utils.weight_norm, nn.utils.parametrizations.weight_norm])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_weights_behind_a_normalisation_do_not_stay_as_trained(normalise) -> None:
    layer = normalise(nn.Linear(4, 3))
    trained = {key: weight.detach().clone() for key, weight in layer.named_parameters()}
    for key, weight in reset(layer).named_parameters():
        assert weight.isfinite().all() and not torch.isclose(weight, trained[key], atol=1e-7).any(), key


needs_transformers = pytest.mark.usefixtures("torchvision")


def hugging_face(name: str) -> nn.Module:
    """A small network with parameters of its own: tokens, layer scale, position bias."""
    import transformers

    options = {
        "ViT": {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32},
        "ConvNext": {"num_stages": 2, "hidden_sizes": [8, 16], "depths": [1, 1]},
        "Swin": {"embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4},
    }[name]
    config = getattr(transformers, f"{name}Config")(image_size=32, num_labels=4, **options)
    return getattr(transformers, f"{name}ForImageClassification")(config)


class Plain(nn.Module):
    """Somebody's own class around a network: no library knows how to make it again."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.own = network

    def forward(self, x: Tensor) -> Tensor:
        return self.own(x).logits


@torch.no_grad()
def trained_somehow(network: nn.Module) -> nn.Module:
    """Change every number of every weight and statistic."""
    for tensor in network.state_dict().values():
        if tensor.is_floating_point():
            tensor.add_(1 + torch.rand_like(tensor))
    return network


@needs_transformers
@pytest.mark.parametrize("name", ["ViT", "ConvNext", "Swin"])
@pytest.mark.parametrize("wrap", [lambda network: network, Logits], ids=["bare", "wrapped"])
def test_a_network_of_transformers_is_made_again_from_its_configuration(name: str, wrap) -> None:
    torch.manual_seed(0)
    made = hugging_face(name)
    model = wrap(trained_somehow(hugging_face(name)))
    torch.manual_seed(0)
    found = reset(model)
    assert found is model
    torch.testing.assert_close(getattr(found, "network", found).state_dict(), made.state_dict(), rtol=0, atol=0)


@needs_transformers
@pytest.mark.parametrize("name", ["ViT", "ConvNext", "Swin"])
def test_a_network_of_ones_own_keeps_no_trained_weight_either(name: str) -> None:
    torch.manual_seed(0)
    model = trained_somehow(Plain(hugging_face(name)))
    trained = {key: weight.detach().clone() for key, weight in model.named_parameters()}
    for key, weight in reset(model).named_parameters():
        assert weight.isfinite().all() and not torch.isclose(weight, trained[key], rtol=0, atol=1e-7).any(), key
    assert model(torch.rand(2, 3, 32, 32)).isfinite().all()


@pytest.fixture
def from_library(monkeypatch: pytest.MonkeyPatch) -> Classifier:
    """A trained network with a card that names its library, which draws a number that no layer does."""
    monkeypatch.setitem(origins.SOURCES, "library", lambda name, classes, shape, options: Scaled(torch.rand(1)))
    return trained_somehow(build(Card("library:scaled", tuple("abcd"), (1, 2, 2))))


def test_a_network_of_a_library_is_made_again_as_its_card_says(from_library: Classifier) -> None:
    torch.manual_seed(3)
    fresh = weights_digest(build(from_library.card))
    torch.manual_seed(3)
    assert weights_digest(from_library) != fresh == weights_digest(reset(from_library))


def test_a_network_that_was_changed_since_its_library_made_it_keeps_no_trained_weight(from_library: Classifier) -> None:
    from_library.network.scale = nn.Parameter(torch.arange(4.0))
    from_library.network.further = nn.Linear(2, 2)
    trained = {key: weight.detach().clone() for key, weight in from_library.named_parameters()}
    for key, weight in reset(from_library).named_parameters():
        assert not torch.isclose(weight, trained[key], rtol=0, atol=1e-7).any(), key


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


def test_pictures_are_changed_while_training_only_if_asked(model: Classifier, split: Split, engine: Engine) -> None:
    data = TrainingData(Withheld("D_f"), Batches(split.retain, 32), split.classes)
    digests = {}
    for augment in ("none", "mirror", "mirror-and-shift"):
        torch.manual_seed(0)
        trained = Retrain(epochs=1, augment=augment)(model, data, engine)  # type: ignore[arg-type]
        digests[augment] = weights_digest(trained)
    assert len(set(digests.values())) == 3
