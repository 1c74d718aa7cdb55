"""What a device can do is what torch says of it."""

import pytest
import torch

from unclass.errors import InputError
from unclass.training.precision import check_device, native_bfloat16


@pytest.fixture(autouse=True)
def forget_answers():
    native_bfloat16.cache_clear()
    yield
    native_bfloat16.cache_clear()


@pytest.mark.parametrize("can, answer", [({"avx512_bf16": True}, True), ({"amx_bf16": True}, True), ({}, False)])
def test_a_processor_is_asked_through_torch(monkeypatch, can, answer):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: can, raising=False)
    assert native_bfloat16("cpu") is answer


@pytest.mark.parametrize("answer", [True, False])
def test_other_devices_are_asked_through_torch(monkeypatch, answer):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: answer)
    monkeypatch.setattr(torch.backends.mps, "is_macos_or_newer", lambda major, minor: answer)
    assert native_bfloat16("cuda:1") is native_bfloat16("mps") is answer


@pytest.mark.parametrize("device", ["cuda:0", "mps", "tpu"])
def test_a_device_that_is_not_there_names_those_that_are(monkeypatch, device):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(InputError, match=f"device '{device}' is not there; choose from: cpu"):
        check_device(device)
