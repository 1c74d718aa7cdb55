"""Networks of any precision forget, or it is said what does not fit."""

from copy import deepcopy

import pytest
import torch
from torch.utils.data import TensorDataset

import unclass
from unclass.data import Batches
from unclass.errors import InputError

KINDS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def pairs(images, kind):
    x, y = next(iter(Batches(images, 1000)))
    return TensorDataset(x.to(kind), y)


@pytest.mark.parametrize("method", ["boundary-shift", "finetune"])
@pytest.mark.parametrize("kind", KINDS)
def test_network_forgets_in_its_own_precision(trained, digits, kind, method):
    network = deepcopy(trained.network).to(kind).eval()
    forgotten = unclass.forget(network, pairs(digits.train, kind), 3, method)
    assert {weight.dtype for weight in forgotten.parameters()} == {kind}
    assert all(torch.isfinite(weight).all() for weight in forgotten.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_classifier_takes_pixels_whatever_its_precision(trained, digits, kind):
    model = deepcopy(trained)
    model.network.to(kind)
    forgotten = unclass.forget(model, digits, 3)
    assert {weight.dtype for weight in forgotten.network.parameters()} == {kind}


@pytest.mark.parametrize(
    ("network", "images"), [("float16", "float32"), ("float64", "float32"), ("float32", "float64")]
)
def test_images_in_another_precision_are_refused_with_the_reason(trained, digits, network, images):
    model = deepcopy(trained.network).to(getattr(torch, network))
    with pytest.raises(InputError, match=rf"computes in {network} and is given images in {images}; give them as"):
        unclass.forget(model, pairs(digits.train, getattr(torch, images)), 3)


@pytest.mark.parametrize("given", ["network", "classifier"])
def test_weights_that_do_not_compute_together_are_named_by_their_precisions(trained, digits, given):
    model = deepcopy(trained)
    next(model.network.parameters()).data = next(model.network.parameters()).half()
    data = digits if given == "classifier" else pairs(digits.train, torch.float16)
    with pytest.raises(InputError, match=r"weights in float16 and float32, which do not compute together"):
        unclass.forget(model if given == "classifier" else model.network, data, 3)
