"""Lets torchvision be imported where its build is for another torch: two operators that models never call."""

import pytest
import torch


@pytest.fixture(scope="session")
def torchvision():
    """torchvision, with the operators declared that its build may lack; transformers imports it too."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    yield pytest.importorskip("torchvision")
    del library
