import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from unclass.data import DataOptions, load_data
from unclass.errors import InputError

ROWS = [("a/1.png", "cat"), ("a/2.png", "dog"), ("b/3.png", "cat"), ("b/4.png", "dog"), ("5.png", "dog")]


def write_images(folder):
    for number, (name, _) in enumerate(ROWS, 1):
        (folder / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (4, 4), (number, 0, 0)).save(folder / name)
    return folder


def write_csv(folder, header="path,label", rows=ROWS):
    (write_images(folder) / "list.csv").write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return f"csv:{folder / 'list.csv'}"


def write_parquet(folder, columns):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table(columns), write_images(folder) / "list.parquet")
    return f"parquet:{folder / 'list.parquet'}"


def reds(images):
    return images.read(torch.arange(len(images)))[:, 0, 0, 0].tolist()


def test_paths_are_seen_from_the_list_and_labels_are_names(tmp_path):
    data = load_data(write_csv(tmp_path))
    assert (data.name, data.classes) == ("csv:list", ("cat", "dog"))
    assert sorted(reds(data.train) + reds(data.test)) == [1, 2, 3, 4, 5]
    for images in (data.train, data.test):
        assert all(
            ROWS[red - 1][1] == data.classes[label] for red, label in zip(reds(images), images.labels, strict=True)
        )


def test_split_column_parts_training_from_test(tmp_path):
    kinds = ("train", "train", "val", "test", "train")
    rows = [(*row, kind) for row, kind in zip(ROWS, kinds, strict=True)]
    data = load_data(write_csv(tmp_path, "path,label,split", rows))
    assert (reds(data.train), reds(data.test)) == ([1, 2, 5], [3, 4])
    assert data.details == {}


def test_absolute_paths_and_other_columns_will_do(tmp_path):
    rows = [(label, str(tmp_path / name), "x") for name, label in ROWS]
    spec = write_csv(tmp_path, "kind,where,note", rows)
    data = load_data(spec, DataOptions(image_column="where", label_column="kind"))
    assert sorted(reds(data.train) + reds(data.test)) == [1, 2, 3, 4, 5]


def test_parquet_holds_the_same_as_csv(tmp_path):
    (tmp_path / "p").mkdir()
    spec = write_parquet(tmp_path / "p", {"path": [name for name, _ in ROWS], "label": [label for _, label in ROWS]})
    data, other = load_data(spec), load_data(write_csv(tmp_path))
    assert (data.train.digest, data.test.digest) == (other.train.digest, other.test.digest)


def test_indices_in_parquet_take_the_names_of_the_model(tmp_path):
    spec = write_parquet(tmp_path, {"image": [name for name, _ in ROWS], "label": [2, 0, 2, 0, 0]})
    data = load_data(spec, DataOptions(classes=("cat", "dog", "emu"), shape=(1, 2, 3)))
    assert data.classes == ("cat", "dog", "emu")
    assert sorted(data.train.labels.tolist() + data.test.labels.tolist()) == [0, 0, 0, 2, 2]
    assert data.train.shape == (1, 2, 3)


@pytest.mark.parametrize("value", ["x" * 10**6, bytes(10**6)])
def test_long_value_of_many_rows_is_refused_before_it_is_repeated(tmp_path, value):
    from resource import RUSAGE_SELF, getrusage

    pa = pytest.importorskip("pyarrow")
    rows = pa.array(np.zeros(3000, np.int16))
    label = pa.array([place % 2 for place in range(3000)])
    spec = write_parquet(tmp_path, {"path": pa.DictionaryArray.from_arrays(rows, pa.array([value])), "label": label})
    before = getrusage(RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match="a path or a label of more than 4096 characters"):
        load_data(spec)
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 1 << 20  # kilobytes; three thousand times a megabyte is more


@pytest.mark.parametrize("start", ["", "path,label\n", "path,label\na.png,"])
def test_line_without_an_end_is_refused_before_all_of_it_is_read(tmp_path, start):
    with (tmp_path / "list.csv").open("wb") as file:
        file.write(start.encode())
        file.truncate(1 << 40)  # of zeros, which take no room on the disk
    with pytest.raises(InputError, match=r"list.csv has a line of 16,777,216 characters or more"):
        load_data(f"csv:{tmp_path / 'list.csv'}")


def test_column_that_unpacks_to_more_than_paths_are_is_not_read(tmp_path):
    spec = write_parquet(tmp_path, {"path": [f"{place}" * 10**6 for place in range(9)], "label": [0, 1, 2] * 3})
    with pytest.raises(InputError, match=r"9,000,\d\d\d bytes in its column 'path', more than 9 paths or labels are"):
        load_data(spec)


def test_missing_label_in_parquet_is_counted(tmp_path):
    spec = write_parquet(tmp_path, {"path": [name for name, _ in ROWS], "label": ["cat", None, "dog", "cat", "dog"]})
    with pytest.raises(InputError, match="parquet:list has 1 rows without a label"):
        load_data(spec)


@pytest.mark.parametrize(
    ("header", "rows", "problem"),
    [
        ("file,species", ROWS, "list.csv has no column label, .* but file, species; name one with `label_column`"),
        ("path,label", [], "csv:list lists no images"),
        ("path,label", [("a/1.png",)], "list.csv has 1 fields in line 2, fewer than its header"),
        ("path,label", [*ROWS, ("gone.png", "cat")], "1 of 6 images cannot be read: gone.png"),
        ("path,label,split", [(*row, "tset") for row in ROWS], "unknown split 'tset' in csv:list; .*did you mean test"),
    ],
)
def test_list_that_cannot_be_used_is_explained(tmp_path, header, rows, problem):
    with pytest.raises(InputError, match=problem):
        load_data(write_csv(tmp_path, header, rows))


def test_column_that_is_not_there_gets_the_nearest(tmp_path):
    with pytest.raises(InputError, match=r"unknown label column 'lable' in list.csv; .*did you mean label"):
        load_data(write_csv(tmp_path), DataOptions(label_column="lable"))


@pytest.mark.parametrize("columns", [{"image_column": "label"}, {"label_column": "path"}])
def test_one_column_is_not_both_images_and_labels(tmp_path, columns):
    with pytest.raises(InputError, match="cannot hold both images and labels"):
        load_data(write_csv(tmp_path), DataOptions(**columns))


def test_file_that_is_no_list_is_named(tmp_path):
    (tmp_path / "list.parquet").write_text("hello")
    with pytest.raises(InputError, match=r"list.parquet is not a Parquet file"):
        load_data(f"parquet:{tmp_path / 'list.parquet'}")
    with pytest.raises(InputError, match=r"there is no file .*gone.csv"):
        load_data(f"csv:{tmp_path / 'gone.csv'}")


@pytest.mark.parametrize(("form", "module"), [("parquet", "pyarrow.parquet"), ("hf", "datasets")])
def test_without_the_package_the_error_names_the_extra(tmp_path, monkeypatch, form, module):
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "there").mkdir() if form == "hf" else (tmp_path / "there").write_text("not empty")
    with pytest.raises(InputError, match=rf"{module} is not installed .*pip install 'unclass\[data\]'"):
        load_data(f"{form}:{tmp_path / 'there'}")


@pytest.mark.parametrize("form", ["csv", "parquet", "webdataset"])
@pytest.mark.skipif(
    not Path("/proc/kmsg").exists(), reason="only Linux has files that are plain by their look and never end"
)
def test_files_that_never_end_are_not_waited_for(form):
    with pytest.raises(InputError, match="kmsg is empty"):
        load_data(f"{form}:/proc/kmsg")
