import os
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from unclass.errors import InputError
from unclass.models import Card, build, save, weights_digest
from unclass.models.networks.resnet import resnet18, resnet50
from unclass.models.pretrained import load_pretrained


def write_pickle(path, network, protocol=2, keep=lambda key: True):
    """Write weights as VGGFace2's ResNet-50 is published: arrays under `state_dict`."""
    arrays = {key: tensor.numpy() for key, tensor in network.state_dict().items() if keep(key)}
    path.write_bytes(pickle.dumps({"state_dict": arrays, "epoch": 1}, protocol))
    return path


@pytest.fixture
def other(trained):
    """The same architecture for three classes, with new weights."""
    torch.manual_seed(1)
    return build(replace(trained.card, classes=("a", "b", "c")))


def starts_from(model, trained, head):
    """Whether all of a model but the head is as trained, and the head as it was."""
    own, theirs = model.network.state_dict(), trained.network.state_dict()
    body = [key for key in own if not key.startswith("head")]
    return all(torch.equal(own[key], theirs[key]) for key in body) and torch.equal(own["head.weight"], head)


def test_matching_weights_are_copied_and_the_head_stays_new(other, trained, tmp_path):
    head = other.network.head.weight.clone()
    path = save(trained, tmp_path / "model.safetensors")
    assert load_pretrained(other, path) is other
    assert starts_from(other, trained, head)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_pickled_arrays_under_state_dict_are_copied(other, trained, tmp_path, protocol):
    head = other.network.head.weight.clone()
    load_pretrained(other, write_pickle(tmp_path / "weights.pkl", trained.network, protocol))
    assert starts_from(other, trained, head)


def test_bare_network_takes_weights_too(other, trained, tmp_path):
    load_pretrained(other.network, save(trained, tmp_path / "model.safetensors"))
    assert torch.equal(other.network.blocks[0].conv.weight, trained.network.blocks[0].conv.weight)


def test_head_of_the_same_shape_is_copied_too(model, trained, tmp_path):
    path = save(trained, tmp_path / "model.safetensors")
    torch.nn.init.zeros_(model.network.head.weight)
    assert weights_digest(load_pretrained(model, path)) == weights_digest(trained)


def test_older_files_that_do_not_count_batches_fit(other, trained, tmp_path):
    path = write_pickle(tmp_path / "old.pkl", trained.network, keep=lambda key: "num_batches" not in key)
    load_pretrained(other, path)
    assert torch.equal(other.network.blocks[2].bn.running_var, trained.network.blocks[2].bn.running_var)


def test_weights_take_the_precision_of_the_model(other, trained, tmp_path):
    half = {key: tensor.half().contiguous() for key, tensor in trained.network.state_dict().items()}
    save_file(half, tmp_path / "half.safetensors")
    load_pretrained(other, tmp_path / "half.safetensors")
    assert {parameter.dtype for parameter in other.parameters()} == {torch.float32}


@pytest.mark.parametrize(("into", "of"), [(resnet18, resnet50), (resnet50, resnet18)])
def test_resnets_are_not_taken_for_each_other(into, of, tmp_path):
    """Most tensors of ResNet-18 have the name and shape of one in ResNet-50."""
    save_file(of(10).state_dict(), tmp_path / "weights.safetensors")
    network = into(10)
    before = weights_digest(network)
    with pytest.raises(InputError, match="of another architecture: name the right `model`") as error:
        load_pretrained(network, tmp_path / "weights.safetensors")
    assert "\n" not in str(error.value)
    assert weights_digest(network) == before


def test_deeper_network_of_the_same_kind_is_refused(tmp_path):
    deeper = resnet18(10).state_dict()
    deeper |= {key.replace("layer3.1", "layer3.2"): tensor.clone() for key, tensor in deeper.items()}
    save_file(deeper, tmp_path / "weights.safetensors")
    with pytest.raises(InputError, match="find no place"):
        load_pretrained(resnet18(10), tmp_path / "weights.safetensors")


def test_weights_of_nothing_alike_are_refused(trained, tmp_path):
    path = save(trained, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="of another architecture"):
        load_pretrained(build(Card("all-cnn", ("a", "b"), (1, 8, 8))), path)
    with pytest.raises(InputError, match="fits 0 of the model's 2 tensors"):
        load_pretrained(torch.nn.Linear(3, 2), path)


@pytest.mark.parametrize("content", [{}, [], {"state_dict": {"epoch": 3}}, {"state_dict": [np.zeros(3)]}])
def test_pickle_without_arrays_by_name_is_refused(other, tmp_path, content):
    path = tmp_path / "weights.pkl"
    path.write_bytes(pickle.dumps(content, 2))
    with pytest.raises(InputError, match="holds no arrays under 'state_dict'"):
        load_pretrained(other, path)


def test_pickle_that_would_run_a_command_is_refused(other, tmp_path):
    class Command:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path / 'ran'}",)

    path = tmp_path / "weights.pkl"
    path.write_bytes(pickle.dumps({"state_dict": {"head.weight": Command()}}, 2))
    with pytest.raises(InputError, match="it would call"):
        load_pretrained(other, path)
    assert not (tmp_path / "ran").exists()


def test_big_endian_arrays_are_read(other, trained, tmp_path):
    arrays = {key: tensor.numpy() for key, tensor in trained.network.state_dict().items()}
    swapped = {key: array.astype(array.dtype.newbyteorder(">")) for key, array in arrays.items()}
    path = tmp_path / "weights.pkl"
    path.write_bytes(pickle.dumps({"state_dict": swapped}, 2))
    load_pretrained(other, path)
    assert torch.equal(other.network.blocks[0].conv.weight, trained.network.blocks[0].conv.weight)


def test_missing_file_is_refused(other, tmp_path):
    for name in ("missing.pkl", "missing.safetensors"):
        with pytest.raises(InputError, match="there is no"):
            load_pretrained(other, tmp_path / name)
