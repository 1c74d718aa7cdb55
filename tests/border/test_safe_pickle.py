import os
import pickle
import pickletools
from collections import OrderedDict

import numpy as np
import pytest

from unclass.border.safe_pickle import read_arrays
from unclass.errors import InputError

ARRAYS = {
    "float": np.arange(6, dtype=np.float32).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "transposed": np.arange(24.0).reshape(2, 3, 4).transpose(0, 2, 1),
    "half": np.ones(3, np.float16),
    "swapped": np.arange(3, dtype=">f4"),
    "count": np.array(7),
    "none": np.zeros((0, 2)),
}


class Calls:
    """Pickles into a call of any function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def write(path, value, protocol=2):
    path.write_bytes(pickle.dumps(value, protocol))
    return path


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_under_state_dict_are_read_in_every_protocol(tmp_path, protocol):
    content = {"state_dict": OrderedDict(ARRAYS), "epoch": 3, "names": ["a", ("b", None, True)], "scale": np.float32(2)}
    read = read_arrays(write(tmp_path / "weights.pkl", content, protocol))
    assert read["epoch"] == 3
    assert read["names"] == ["a", ("b", None, True)]
    assert read["scale"] == 2
    assert list(read["state_dict"]) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert read["state_dict"][name].dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(read["state_dict"][name], array)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_names_of_numpy_before_version_2_are_read(tmp_path, protocol):
    """NumPy 1 wrote numpy.core where NumPy 2 writes numpy._core; the text lies in the file, after its length."""
    new = pickle.dumps(ARRAYS["float"], protocol)
    old = new
    for module in (b"numpy._core.multiarray", b"numpy._core.numeric"):
        before = module.replace(b"._core", b".core")
        old = old.replace(b"\x8c" + bytes([len(module)]) + module, b"\x8c" + bytes([len(before)]) + before)
        old = old.replace(b"c" + module, b"c" + before)
    if protocol >= 4:  # a frame says how long it is
        frame = new.index(b"\x95") + 1
        length = int.from_bytes(new[frame : frame + 8], "little") - (len(new) - len(old))
        old = old[:frame] + length.to_bytes(8, "little") + old[frame + 8 :]
    assert old != new
    pickletools.dis(old, out=(tmp_path / "is-whole").open("w"))
    (tmp_path / "old.pkl").write_bytes(old)
    np.testing.assert_array_equal(read_arrays(tmp_path / "old.pkl"), ARRAYS["float"])


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("place", [lambda call: call, lambda call: {"state_dict": {"w": call, **ARRAYS}}])
def test_pickle_that_would_run_a_command_is_refused_and_does_not_run_it(tmp_path, protocol, place):
    proof = tmp_path / "ran"
    path = write(tmp_path / "evil.pkl", place(Calls(os.system, f"touch {proof}")), protocol)
    with pytest.raises(InputError, match=f"it would call {os.system.__module__}.system") as error:
        read_arrays(path)
    assert "\n" not in str(error.value)
    assert "convert it: python -c" in str(error.value)
    assert not proof.exists()
    pickle.loads(path.read_bytes())
    assert proof.exists(), "the trap must work, or the test shows nothing"


@pytest.mark.parametrize("function", [eval, getattr, __import__, np.load, np.fromfile, bytearray.fromhex])
def test_every_other_function_is_refused_by_name(tmp_path, function):
    with pytest.raises(InputError, match="it would call"):
        read_arrays(write(tmp_path / "evil.pkl", Calls(function, "1")))


def test_what_lies_inside_an_allowed_class_is_refused(tmp_path):
    (tmp_path / "evil.pkl").write_bytes(b"\x80\x04\x8c\x05numpy\x8c\x0edtype.__init__\x93.")
    with pytest.raises(InputError, match="not opened"):
        read_arrays(tmp_path / "evil.pkl")


@pytest.mark.parametrize("array", [np.array([Calls(os.system, "true")], dtype=object), np.array(["text"])])
def test_array_of_anything_but_numbers_is_refused(tmp_path, array):
    with pytest.raises(InputError, match=r"it holds .*, not numbers"):
        read_arrays(write(tmp_path / "evil.pkl", array))


@pytest.mark.parametrize("lie", [b"K\x63\x85", b"K\x01\x85"])
def test_array_that_lies_about_its_size_is_refused(tmp_path, lie):
    true = pickle.dumps(np.zeros(3, np.int8), 2)
    assert true.count(b"K\x03\x85") == 1
    (tmp_path / "lie.pkl").write_bytes(true.replace(b"K\x03\x85", lie))
    with pytest.raises(InputError, match="cannot reshape"):
        read_arrays(tmp_path / "lie.pkl")


def test_type_that_lies_about_its_own_size_is_not_believed(tmp_path):
    """NumPy's own dtype takes the item size from the pickle, and then reads and writes beyond the array."""
    true = pickle.dumps(np.arange(3.0), 2)
    size = b"NNNJ\xff\xff\xff\xff"
    assert true.count(size) == 1
    (tmp_path / "lie.pkl").write_bytes(true.replace(size, b"NNNJ\xff\x00\x00\x00"))
    np.testing.assert_array_equal(read_arrays(tmp_path / "lie.pkl"), np.arange(3.0))


@pytest.mark.parametrize("path", ["missing.pkl", "."])
def test_file_that_is_not_there_is_an_error_in_one_line(tmp_path, path):
    with pytest.raises(InputError, match="there is no file"):
        read_arrays(tmp_path / path)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"P",
        b"no pickle",
        b"\x80\x02}q\x00b.",
        b"]K\x01K\x02s.",
        b"cnumpy\ndtype\n(I1\ntR.",
        b"cnumpy\nndarray\n(I99999999999\ntR.",
        pickle.dumps(ARRAYS)[:200],
    ],
)
def test_damaged_pickle_is_an_error_in_one_line(tmp_path, damaged):
    (tmp_path / "damaged.pkl").write_bytes(damaged)
    with pytest.raises(InputError, match="is not opened") as error:
        read_arrays(tmp_path / "damaged.pkl")
    assert "\n" not in str(error.value)
