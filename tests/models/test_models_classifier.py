from dataclasses import replace

import pytest
import torch

from unclass.errors import InputError
from unclass.models import MODELS, Card, build, weights_digest
from unclass.training.engine import Engine

COLOUR = Card("small-cnn", ("a", "b", "c"), (3, 8, 8), {"width": 4}, (0.4, 0.5, 0.6), (0.2, 0.25, 0.3))


@pytest.mark.parametrize("card", [COLOUR, replace(COLOUR, mean=(0.1,), std=(0.7,))])
def test_pixels_are_normalised_inside(card):
    torch.manual_seed(0)
    classifier, x = build(card).eval(), torch.rand(5, 3, 8, 8)
    normalised = x.clone()
    for channel in range(3):
        mean, std = card.mean[channel % len(card.mean)], card.std[channel % len(card.std)]
        normalised[:, channel] = (x[:, channel] - mean) / std
    torch.testing.assert_close(classifier(x), classifier.network(normalised), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(classifier(x), classifier.network(x))


def test_pictures_in_32_bits_fit_weights_in_any_precision():
    x, classifier = torch.rand(2, 3, 8, 8), build(COLOUR).eval()
    wide = classifier(x)
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        logits = classifier.to(dtype)(x)
        assert logits.dtype == dtype
        torch.testing.assert_close(logits.float(), wide, rtol=0.05, atol=0.05)


def test_normalisation_is_no_weight():
    assert all(key.startswith("network.") for key in build(COLOUR).state_dict())


@pytest.mark.parametrize("name", MODELS)
def test_every_model_of_the_table_is_built_for_its_classes_and_channels(name):
    classifier = build(Card(name, ("a", "b", "c"), (1, 32, 32))).eval()
    with torch.no_grad():
        assert classifier(torch.rand(1, 1, 32, 32)).shape == (1, 3)


def test_unknown_model_or_option_names_the_nearest():
    with pytest.raises(InputError, match=r"unknown model 'resnet-5'.*did you mean resnet-50"):
        build(replace(COLOUR, architecture="resnet-5"))
    with pytest.raises(InputError, match=r"unknown option 'widht' of small-cnn; choose from: width \(did you mean"):
        build(replace(COLOUR, options={"widht": 4}))
    with pytest.raises(InputError, match="unknown option 'classes'"):
        build(replace(COLOUR, options={"classes": 4}))


@pytest.mark.parametrize(
    ("change", "match"),
    [({"mean": (0.1, 0.2)}, "mean has 2 values for 3 channels"), ({"std": (0.1, 0.0, 0.1)}, "must be above 0")],
)
def test_normalisation_that_cannot_be_is_an_error(change, match):
    with pytest.raises(InputError, match=match):
        replace(COLOUR, **change)


def test_digest_changes_with_every_single_weight(model):
    digests = {weights_digest(model)}
    for tensor in model.state_dict().values():
        tensor[(-1,) * tensor.dim()] += 1
        digests.add(weights_digest(model))
    assert len(digests) == 1 + len(model.state_dict())


def test_digest_does_not_depend_on_layout_or_mode(model):
    before = weights_digest(model)
    assert weights_digest(model.to(memory_format=torch.contiguous_format).train()) == before
    assert weights_digest(Engine().place(model).eval()) == before


def test_digest_tells_names_apart():
    names = ("first", "second")
    digests = {weights_digest(torch.nn.ModuleDict({name: torch.nn.BatchNorm1d(2)})) for name in names}
    assert len(digests) == 2
