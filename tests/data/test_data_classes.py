import pytest
import torch

from unclass.data.classes import index_labels, match
from unclass.data.options import DataOptions
from unclass.errors import InputError

MODEL = DataOptions(classes=("cat", "dog", "emu"))


def test_whole_numbers_are_indices_and_other_labels_are_names():
    assert index_labels(["2", "0", "10"], "list")[1].tolist() == [2, 0, 10]
    assert len(index_labels(["2", "0", "10"], "list")[0]) == 11
    classes, labels = index_labels(["dog", "cat", "dog"], "list")
    assert (classes, labels.tolist()) == (("cat", "dog"), [1, 0, 1])


def test_missing_labels_are_counted():
    with pytest.raises(InputError, match="list has 2 rows without a label"):
        index_labels(["cat", "", ""], "list")


def test_labels_take_the_order_of_the_model():
    classes, labels = match(("emu", "cat", "dog"), torch.tensor([0, 1, 2, 0]), "pets", MODEL)
    assert (classes, labels.tolist()) == (("cat", "dog", "emu"), [2, 0, 1, 2])


def test_indices_take_the_names_of_the_model():
    classes, labels = match(("0", "1"), torch.tensor([0, 1]), "pets", MODEL)
    assert (classes, labels.tolist()) == (("cat", "dog", "emu"), [0, 1])


def test_without_a_model_names_stay():
    assert match(("a", "b"), torch.tensor([0, 1]), "pets", DataOptions())[0] == ("a", "b")


def test_part_of_the_classes_will_do_where_only_those_to_forget_are_there():
    classes, labels = match(("emu",), torch.tensor([0, 0]), "pets", DataOptions(classes=MODEL.classes, only=("emu",)))
    assert (classes, labels.tolist()) == (("cat", "dog", "emu"), [2, 2])


@pytest.mark.parametrize(
    ("classes", "labels", "problem"),
    [
        (
            ("cat", "dgo", "emu"),
            [0],
            r"pets has classes that the model lacks: dgo \(did you mean dog\?\); it has: cat,",
        ),
        (("cat", "dog"), [0], "pets has no images of emu, which the model knows"),
        (("0", "1", "2", "3"), [3], "pets has labels up to 3, the model has 3 classes only"),
        (("cat", "dog"), [0, 2], "pets has labels from 0 to 2 for 2 classes; labels go from 0 to 1"),
        (("cat", "dog"), [-1, 1], "pets has labels from -1 to 1 for 2 classes"),
    ],
)
def test_classes_that_do_not_match_are_named(classes, labels, problem):
    with pytest.raises(InputError, match=problem):
        match(classes, torch.tensor(labels), "pets", MODEL)
