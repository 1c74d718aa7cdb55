from dataclasses import replace

import pytest

from unclass.data.options import DataOptions
from unclass.errors import InputError
from unclass.progress import show


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("size", 0),
        ("people", 1),
        ("min_images", 1),
        ("per_class", 0),
        ("split_seed", -1),
        ("memory_budget", -1),
        ("workers", -1),
        ("test_share", 0.0),
        ("test_share", 1.0),
        ("validation", -0.1),
        ("validation", 1.0),
    ],
)
def test_value_out_of_range_is_named_in_the_error(name, value):
    with pytest.raises(InputError, match=f"^{name} {value} is not allowed; use "):
        replace(DataOptions(), **{name: value})


def test_nothing_is_held_back_where_only_the_images_to_forget_are_there():
    with pytest.raises(InputError, match="leave `validation` out"):
        DataOptions(validation=0.1, only=("3",))


def test_progress_is_no_part_of_what_the_options_are():
    assert DataOptions(progress=show) == DataOptions()
    assert "progress" not in repr(DataOptions())
