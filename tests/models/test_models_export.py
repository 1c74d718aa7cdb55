"""An exported model gives the logits that PyTorch gives, or it is not written."""

from pathlib import Path

import pytest
import torch

from unclass.errors import InputError
from unclass.models import Classifier, export

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


def test_onnx_is_the_network_for_any_batch_size_and_knows_its_normalisation(
    trained: Classifier, tmp_path: Path
) -> None:
    path, difference = export.export_model(trained, tmp_path / "model.safetensors", "onnx")
    assert path == tmp_path / "model.onnx" and difference < 1e-4
    session = onnxruntime.InferenceSession(path)
    for count in (1, 5):
        x = torch.rand(count, *trained.card.shape)
        (found,) = session.run(None, {"images": ((x - 0.5) / 0.5).numpy()})
        with torch.no_grad():
            torch.testing.assert_close(torch.from_numpy(found), trained(x), atol=1e-4, rtol=1e-4)
    about = session.get_modelmeta().custom_metadata_map
    assert about["mean"] == about["std"] == "0.5" and about["classes"].split(",") == list(trained.card.classes)


def test_a_model_that_says_something_else_is_not_written(
    trained: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "_difference", lambda *_: 1e-3)
    with pytest.raises(InputError, match=r"model.onnx was not written: its logits differ .* by 1.0e-03"):
        export.export_model(trained, tmp_path / "model.safetensors", "onnx")
    assert not list(tmp_path.iterdir())


def test_unknown_formats_are_named_before_any_work() -> None:
    with pytest.raises(InputError, match=r"unknown export format 'onx'; choose from: onnx \(did you mean onnx"):
        export.check_format("onx")
