"""Nothing that is read may reach out: no connection, no program, no file elsewhere."""

import json
import os
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from unclass.border.offline import reading, sealed
from unclass.data import load_data
from unclass.errors import InputError
from unclass.models import Card, Classifier, Opening, load, save


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A machine without a network: whoever tries is found out."""
    tried: list[Any] = []

    def refuse(*arguments: Any, **_: Any) -> None:
        tried.append(arguments)
        raise OSError("there is no network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    return tried


def test_connection_is_refused_within_the_block_and_not_outside() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with sealed("model.pt"), pytest.raises(InputError, match=r"model.pt would reach the network, which is refused"):
            socket.create_connection(server.getsockname())
        socket.create_connection(server.getsockname()).close()


@pytest.mark.parametrize("call", [lambda: subprocess.run(["true"]), lambda: os.system("true")])
def test_program_is_refused_within_the_block(call: Any) -> None:
    with sealed("z.png"), pytest.raises(InputError, match=r"z.png would start a program"):
        call()
    call()


def test_other_threads_go_on_as_they_like() -> None:
    found = []
    with socket.create_server(("127.0.0.1", 0)) as server, sealed("model.pt"):
        thread = threading.Thread(target=lambda: found.append(socket.create_connection(server.getsockname())))
        thread.start()
        thread.join()
    found[0].close()


def test_whatever_a_library_raises_is_one_line() -> None:
    line = r"^a.bin cannot be read \(ValueError: two lines\); write it again$"
    with pytest.raises(InputError, match=line), reading("a.bin", "write it again"):
        raise ValueError("two\nlines")
    with pytest.raises(KeyboardInterrupt), reading("a.bin", "write it again"):
        raise KeyboardInterrupt


def write_folder(folder: Path, config: dict[str, Any], **others: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    for name, content in others.items():
        (folder / name.replace("__", ".")).write_text(json.dumps(content))
    save_file({"a": torch.zeros(1)}, folder / "model.safetensors")
    return folder


WRAPPER = {"model_type": "timm_wrapper", "num_classes": 2, "architecture": "resnet18"}
ELSEWHERE = [
    WRAPPER | {"architecture": "hf-hub:user/model"},
    WRAPPER | {"architecture": "hf_hub:user/model"},
    WRAPPER | {"architecture": "local-dir:/etc"},
    WRAPPER | {"model_args": {"pretrained": True}},
    WRAPPER | {"model_args": {"checkpoint_path": "/etc/passwd", "pretrained_cfg": {"url": "http://localhost/x"}}},
    WRAPPER | {"model_args": {"pretrained_cfg_overlay": {"hf_hub_id": "user/model"}, "cache_dir": "/"}},
    {"model_type": "vit", "_attn_implementation": "user/kernel", "num_labels": 2},
    {"model_type": "vit", "attn_implementation": "user/kernel", "auto_map": {"AutoConfig": "user/repo--x.Y"}},
    {"model_type": "no-such", "auto_map": {"AutoConfig": "user/repo--x.Y"}},
    {"model_type": "resnet", "backbone": "user/repo", "use_pretrained_backbone": True},
    {"_name_or_path": "user/repo"},
    {"architecture": "user/repo"},
]


@pytest.mark.parametrize("config", ELSEWHERE, ids=range(len(ELSEWHERE)))
def test_hugging_face_folder_reaches_nothing(
    torchvision: Any, attempts: list[Any], tmp_path: Path, config: dict[str, Any]
) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("timm")
    folder = write_folder(tmp_path / "model", config)
    with pytest.raises(InputError):
        Opening().open(folder, ("a", "b"), (3, 32, 32))
    assert not attempts


def test_card_that_names_a_folder_elsewhere_is_not_followed(
    trained: Classifier, attempts: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_folder(tmp_path / "elsewhere", WRAPPER | {"architecture": "hf-hub:user/model"})
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    card = Card(f"hf:{folder}", tuple("0123456789"), (1, 8, 8))
    save(Classifier(trained.network, card), "model.safetensors")
    with pytest.raises(InputError, match="names a folder elsewhere"):
        load("model.safetensors")
    assert not attempts


@pytest.mark.parametrize("name", ["../secret.safetensors", "/etc/hostname", "sub/../../secret.safetensors", 3, None])
def test_index_never_leads_out_of_its_folder(tmp_path: Path, name: Any) -> None:
    save_file({"a": torch.zeros(1)}, tmp_path / "secret.safetensors")
    index = {"weight_map": {"a": name}}
    folder = write_folder(tmp_path / "model", {"model_type": "vit"}, model__safetensors__index__json=index)
    with pytest.raises(InputError):
        Opening().open(folder, ("a", "b"), (3, 32, 32))


def test_link_out_of_a_folder_is_not_followed_but_the_hubs_cache_is(tmp_path: Path) -> None:
    from unclass.models.hugging_face_config import inside

    folder = write_folder(tmp_path / "models--x" / "snapshots" / "1", {"model_type": "vit"})
    (tmp_path / "models--x" / "blobs").mkdir()
    (tmp_path / "models--x" / "blobs" / "2").touch()
    (tmp_path / "secret").touch()
    (folder / "good.bin").symlink_to("../../blobs/2")
    (folder / "bad.bin").symlink_to("../../../secret")
    assert inside(folder, "good.bin").exists()
    with pytest.raises(InputError, match="lies outside of it"):
        inside(folder, "bad.bin")


@pytest.mark.parametrize("path", ["hf://user/repo/x.png", "https://localhost/x.png", "/etc/hostname", "../out.png"])
def test_saved_data_set_never_fetches_a_picture(attempts: list[Any], tmp_path: Path, path: str) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"image": datasets.Image(decode=False), "label": datasets.Value("int64")})
    rows = {"image": [{"bytes": None, "path": path}] * 8, "label": [0, 1] * 4}
    made = datasets.Dataset.from_dict(rows, features=features)
    table = made.data.table
    folder = tmp_path / "set"
    folder.mkdir()
    _save_raw(table, features, folder)
    with pytest.raises(InputError):
        load_data(f"hf:{folder}")
    assert not attempts


def _save_raw(table: Any, features: Any, folder: Path) -> None:
    """Write a data set as save_to_disk does, without its pictures."""
    import pyarrow

    features["image"].decode = True
    schema = table.schema.with_metadata({"huggingface": json.dumps({"info": {"features": features.to_dict()}})})
    file = pyarrow.OSFile(str(folder / "data.arrow"), "wb")
    with file, pyarrow.ipc.new_stream(file, schema) as writer:
        writer.write_table(table.cast(schema))
    files = [{"filename": "data.arrow"}]
    state = {"_data_files": files, "_fingerprint": "x", "_format_columns": None, "_format_kwargs": {}}
    state |= {"_format_type": None, "_output_all_columns": False, "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text(json.dumps({"features": features.to_dict()}))


@pytest.mark.parametrize("name", ["../data.arrow", "/etc/hostname", "a/b.arrow", None])
def test_saved_data_set_names_files_beside_it(attempts: list[Any], tmp_path: Path, name: Any) -> None:
    pytest.importorskip("datasets")
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    with pytest.raises(InputError, match="must list files beside it"):
        load_data(f"hf:{tmp_path}")
    assert not attempts


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nshowpage\n%%EOF\n"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for place in range(8):
        path = tmp_path / "photos" / "ab"[place % 2] / f"{place}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (place, 0, 0)).save(path)
    return tmp_path / "photos"


def test_picture_of_another_format_starts_no_program(photos: Path, attempts: list[Any]) -> None:
    (photos / "a" / "z.png").write_bytes(EPS)
    with pytest.raises(InputError, match=r"1 of 9 images cannot be read: a/z.png"):
        load_data(f"folder:{photos}")
    assert not attempts


@pytest.mark.parametrize("kind", ["link", "pipe", "device", "dangling", "class"])
def test_folder_holds_pictures_and_no_ways_out(photos: Path, kind: str) -> None:
    outside = photos.parent / "outside"
    outside.mkdir()
    Image.new("RGB", (8, 8)).save(outside / "x.png")
    bad = photos / "a" / "bad.png"
    if kind == "pipe":
        os.mkfifo(bad)
    elif kind == "class":
        (photos / "c").symlink_to(outside)
    else:
        bad.symlink_to({"link": outside / "x.png", "device": Path("/dev/zero"), "dangling": photos / "none"}[kind])
    with pytest.raises(InputError, match=r"is a link out of|is a pipe, a device or a link to nothing"):
        load_data(f"folder:{photos}")


def test_link_within_the_folder_is_followed(photos: Path) -> None:
    (photos / "a" / "same.png").symlink_to(photos / "a" / "0.png")
    assert len(load_data(f"folder:{photos}").train) + len(load_data(f"folder:{photos}").test) == 9


def test_list_that_names_a_pipe_does_not_wait_for_it(photos: Path) -> None:
    os.mkfifo(photos / "pipe")
    rows = [f"{path},{path.parent.name}" for path in sorted(photos.glob("*/*.png"))]
    (photos / "list.csv").write_text("\n".join(["path,label", *rows, f"{photos / 'pipe'},a"]))
    with pytest.raises(InputError, match="1 of 9 images cannot be read"):
        load_data(f"csv:{photos / 'list.csv'}")
