import json
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from unclass.data import Batches
from unclass.errors import InputError
from unclass.models import build, load, save, weights_digest
from unclass.models.checkpoint import load_weights
from unclass.models.weights_file import read_weights_file
from unclass.training.engine import Engine


def refused(path, match):
    """Load a checkpoint that must be refused in one line."""
    with pytest.raises(InputError, match=match) as error:
        load(path)
    assert "\n" not in str(error.value)


def rewrite(path, card=None, weights=None):
    """Change the card or the weights in a checkpoint, and leave the rest."""
    file = read_weights_file(path)
    tensors, metadata = file.tensors, file.metadata
    if card is not None:
        metadata["card"] = card if isinstance(card, str) else json.dumps({**json.loads(metadata["card"]), **card})
    save_file({**tensors, **(weights or {})}, path, metadata)
    return path


@pytest.fixture
def path(trained, tmp_path):
    return save(trained, tmp_path / "model.safetensors")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_round_trip_keeps_keys_shapes_dtypes_and_values(model, tmp_path, dtype):
    model.to(dtype)
    again = load(save(model, tmp_path / "model.safetensors"))
    assert list(again.state_dict()) == list(model.state_dict())
    for (key, ours), theirs in zip(again.state_dict().items(), model.state_dict().values(), strict=True):
        assert ours.dtype == theirs.dtype, key
        assert torch.equal(ours, theirs), key
    assert {parameter.dtype for parameter in again.parameters()} == {dtype}
    assert again.network.blocks[0].bn.num_batches_tracked.dtype == torch.int64


def test_round_trip_keeps_the_card(model, tmp_path):
    model.card = replace(model.card, mean=(0.1,), std=(0.3,), forgotten=("3", "5"))
    again = load(save(model, tmp_path / "model.safetensors"))
    assert again.card == model.card
    assert again.mean.item() == pytest.approx(0.1)


def test_loaded_model_predicts_alike_and_is_ready_to_be_trained(trained, path, digits):
    x, _ = next(iter(Batches(digits.test, 50)))
    again = load(path)
    assert not again.training
    torch.testing.assert_close(again(x), trained(x), rtol=1e-4, atol=1e-4)
    assert all(parameter.requires_grad for parameter in again.parameters())


def test_file_holds_the_network_under_its_own_keys(trained, path):
    assert set(load_file(path)) == set(trained.network.state_dict())


def test_layout_in_memory_makes_no_difference(trained, tmp_path):
    plain, placed = deepcopy(trained).to(memory_format=torch.contiguous_format), Engine().place(deepcopy(trained))
    assert placed.network.blocks[1].conv.weight.stride() != plain.network.blocks[1].conv.weight.stride()
    first, second = save(plain, tmp_path / "plain"), save(placed, tmp_path / "placed")
    for key, tensor in load_file(first).items():
        assert torch.equal(load_file(second)[key], tensor), key
    assert weights_digest(load(second)) == weights_digest(plain)


@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.99])
def test_truncated_file_is_refused(path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    refused(path, "not a whole safetensors file")


def test_missing_file_is_refused(tmp_path):
    refused(tmp_path / "missing.safetensors", r"there is no checkpoint .*missing.safetensors")
    refused(tmp_path, "is a folder")


def test_other_architecture_is_refused(path):
    refused(rewrite(path, {"architecture": "all-cnn", "options": {}}), "of another architecture")


def test_unknown_architecture_is_refused_with_the_nearest(path):
    refused(rewrite(path, {"architecture": "small-cn"}), r"unknown model 'small-cn'.*did you mean small-cnn")


def test_other_class_count_is_refused(path):
    refused(
        rewrite(path, {"classes": ["a", "b", "c"]}), r"head.* of shape \(10,.*, the model has \(3,.*; the class count"
    )


def test_other_width_is_refused(path):
    refused(rewrite(path, {"options": {"width": 4}}), "the class count or an option differs")


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("key", ["head.weight", "blocks.0.bn.running_var"])
def test_weights_that_are_not_finite_are_refused(path, value, key):
    spoilt = load_file(path)[key]
    spoilt.view(-1)[0] = value
    refused(rewrite(path, weights={key: spoilt}), f"not finite in {key}")


def test_bare_weights_are_refused_with_what_to_do(path):
    save_file(load_file(path), path)
    refused(path, r"has no unclass card.*--set start=")


@pytest.mark.parametrize("card", ["{", "[]", "{}", '{"architecture": "small-cnn"}', "null"])
def test_card_that_is_no_card_is_refused(path, card):
    refused(rewrite(path, card), "card")


def test_what_a_later_version_adds_to_the_card_is_passed_over(path, trained):
    assert load(rewrite(path, {"licence": "none"})).card == trained.card


def test_weights_that_do_not_fit_leave_the_network_alone(trained):
    other = build(replace(trained.card, classes=("a", "b")))
    before = weights_digest(other)
    with pytest.raises(InputError, match=r"given has head\.weight"):
        load_weights(other.network, trained.network.state_dict(), "given")
    assert weights_digest(other) == before
