"""What holds for every input of a kind, however it is drawn."""

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as some

from unclass.border.labels import expand_labels, find_class
from unclass.data.classes import MOST_CLASSES, index_labels
from unclass.errors import InputError
from unclass.models.room import check_reasonable
from unclass.storage import Output, parse_json, write_json, write_text

TEXT = some.text(some.characters(codec=None), max_size=60)
JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inside: some.lists(inside, max_size=4) | some.dictionaries(TEXT, inside, max_size=4),
    max_leaves=20,
)
QUICK = settings(max_examples=150, deadline=None)


@QUICK
@given(some.dictionaries(TEXT, JSON, max_size=4))
def test_json_comes_back_as_it_was_written_whatever_text_it_holds(content):
    with tempfile.TemporaryDirectory() as folder:
        path = write_json(Path(folder) / "file", content)
        assert parse_json(path.read_text(encoding="utf-8"), "file") == json.loads(json.dumps(content))


@QUICK
@given(some.text(max_size=200) | JSON.map(json.dumps))
def test_json_is_an_object_or_an_error_in_one_line(text):
    try:
        assert isinstance(parse_json(text, "file"), dict)
    except InputError as error:
        assert "\n" not in str(error)


@QUICK
@given(some.lists(some.integers(0, 10**12).map(str) | TEXT, min_size=1, max_size=8))
def test_labels_are_indices_of_classes_of_which_there_are_not_too_many(labels):
    try:
        classes, indices = index_labels(labels, "list")
    except InputError:
        return
    assert len(classes) <= MOST_CLASSES
    assert [classes[index] for index in indices.tolist()] == [
        str(int(label)) if all(one.isdecimal() for one in labels) else label for label in labels
    ]


@QUICK
@given(some.lists(TEXT.filter(bool), min_size=1, max_size=6, unique=True), some.data())
def test_every_class_is_found_by_its_name_and_alone(classes, data):
    name = data.draw(some.sampled_from(classes))
    assert expand_labels([name], classes) == (name,)
    assert find_class(classes, name, "") == classes.index(name)


@QUICK
@given(JSON)
def test_options_are_reasonable_or_refused_in_one_line(options):
    try:
        check_reasonable(options, "the card")
    except InputError as error:
        assert "\n" not in str(error)


LETTERS = some.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cs"])
NAMES = some.text(LETTERS, min_size=1).filter(lambda name: len(name.encode()) < 200)


@QUICK
@given(
    some.lists(NAMES.filter(lambda name: len(name.encode()) < 200), min_size=1, max_size=4, unique=True),
    some.booleans(),
)
def test_group_is_written_whole_under_any_names(names, fails):
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"x{name}" for name in names]
        try:
            with Output(*paths):
                for path in paths:
                    write_text(path, path.name)
                if fails:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            assert not list(Path(folder).iterdir())
            return
        assert sorted(path.name for path in Path(folder).iterdir()) == sorted(path.name for path in paths)
