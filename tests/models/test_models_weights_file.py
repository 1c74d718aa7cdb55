"""Weights of every form are read without executing anything, and written back in the same form."""

from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from unclass.errors import InputError
from unclass.models.weights_file import read_weights_file

KEYS = ["weight", "bias"]


def weights(prefix: str = "", fill: float = 0.0) -> dict[str, torch.Tensor]:
    return OrderedDict((prefix + key, tensor + fill) for key, tensor in nn.Linear(3, 2).state_dict().items())


@pytest.mark.parametrize("prefix", ["", "module.", "_orig_mod.", "model.net."])
@pytest.mark.parametrize("nest", [(), ("state_dict",), ("model",), ("model", "state_dict")])
def test_a_torch_file_keeps_its_nesting_its_prefix_and_what_is_beside(tmp_path: Path, prefix: str, nest: tuple) -> None:
    content = weights(prefix)
    for name in reversed(nest):
        content = {"epoch": 3, name: content}
    torch.save(content, tmp_path / "in.pt")
    file = read_weights_file(tmp_path / "in.pt")
    assert list(file.named(KEYS)) == KEYS and file.nesting == nest
    new = {key: torch.ones_like(tensor, dtype=torch.float64) for key, tensor in file.named(KEYS).items()}
    file.write(new, tmp_path / "out.pt", {"card": "{}"})
    found = torch.load(tmp_path / "out.pt", weights_only=True)
    for name in nest:
        assert found["epoch"] == 3
        found = found[name]
    assert list(found) == [prefix + key for key in KEYS] and type(found) is OrderedDict
    assert all((tensor == 1).all() and tensor.dtype == torch.float32 for tensor in found.values())


def test_safetensors_keep_their_keys_and_metadata_and_get_a_card(tmp_path: Path) -> None:
    save_file(weights("module."), tmp_path / "in.safetensors", {"format": "pt"})
    file = read_weights_file(tmp_path / "in.safetensors")
    file.write(weights(fill=1), tmp_path / "out.safetensors", {"card": "{}"})
    assert set(load_file(tmp_path / "out.safetensors")) == {"module.weight", "module.bias"}
    assert read_weights_file(tmp_path / "out.safetensors").metadata == {"format": "pt", "card": "{}"}


def test_other_tensors_are_left_out_since_they_know_the_class(tmp_path: Path) -> None:
    content = {"model": weights(), "ema": weights(), "optimizer": {"state": {0: torch.ones(2)}}, "classes": ["a", "b"]}
    torch.save(content, tmp_path / "in.pt")
    file = read_weights_file(tmp_path / "in.pt")
    assert file.left_out() == ["ema", "optimizer"]
    file.write(weights(), tmp_path / "out.pt", {})
    assert set(torch.load(tmp_path / "out.pt", weights_only=True)) == {"model", "classes"}
    assert set(torch.load(tmp_path / "in.pt", weights_only=True)) == set(content)


def test_a_file_that_would_run_code_is_refused_with_a_safe_way(tmp_path: Path) -> None:
    torch.save(nn.Linear(3, 2), tmp_path / "whole.pt")
    with pytest.raises(
        InputError, match=r"whole.pt holds more than tensors \(.*Linear.*\).*convert it with: python"
    ) as error:
        read_weights_file(tmp_path / "whole.pt")
    assert "\n" not in str(error.value)


def test_code_in_a_file_is_not_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    torch.save({"state_dict": Trap()}, tmp_path / "trap.pt")
    with pytest.raises(InputError, match="never does"):
        read_weights_file(tmp_path / "trap.pt")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", [{"epoch": 3}, [1, 2], {"state_dict": {"a": 1}}])
def test_a_file_without_weights_says_what_it_holds(tmp_path: Path, content) -> None:
    torch.save(content, tmp_path / "in.pt")
    with pytest.raises(InputError, match=r"holds no weights under state_dict, .*, but (epoch|list|state_dict)"):
        read_weights_file(tmp_path / "in.pt")


def test_a_truncated_torch_file_is_refused(tmp_path: Path) -> None:
    torch.save(weights(), tmp_path / "in.pt")
    (tmp_path / "in.pt").write_bytes((tmp_path / "in.pt").read_bytes()[:300])
    with pytest.raises(InputError, match=r"not a whole torch.save file"):
        read_weights_file(tmp_path / "in.pt")


ROW = torch.arange(12.0)
VIEWS = {
    "parameters": {"weight": nn.Parameter(ROW.view(3, 4)), "bias": nn.Parameter(ROW[:3].clone())},
    "one memory": {"weight": ROW.view(3, 4), "bias": ROW[1:4]},
    "the same": {"weight": ROW.view(3, 4), "bias": ROW.view(3, 4)},
    "turned": {"weight": ROW.view(4, 3).t(), "bias": ROW[:3].clone()},
    "one number": {"weight": ROW.view(3, 4), "bias": torch.ones(3)[:1].expand(3)},
    "negated": {"weight": torch._neg_view(ROW.view(3, 4)), "bias": ROW[:3].clone()},
}


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("views", VIEWS.values(), ids=VIEWS)
def test_tensors_of_a_torch_file_can_be_trained_each_by_itself(tmp_path: Path, views: dict, legacy: bool) -> None:
    torch.save(views, tmp_path / "in.pt", _use_new_zipfile_serialization=not legacy)
    found = read_weights_file(tmp_path / "in.pt").tensors
    for key, tensor in found.items():
        assert torch.equal(tensor, views[key].detach())
        assert tensor.is_contiguous() and not tensor.requires_grad
    others = {key: tensor.clone() for key, tensor in found.items()}
    found["weight"].mul_(2).add_(1)
    assert torch.equal(found["bias"], others["bias"])
