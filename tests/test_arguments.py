"""Arguments in every form that people have them in come out in one."""

from copy import deepcopy
from dataclasses import replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import unclass
from unclass.arguments import engine_for, engine_on, images_of, labels_of
from unclass.data import DataOptions, ImageData, ImageSet
from unclass.data.sources import held_back
from unclass.errors import InputError
from unclass.methods.finetune import Finetune
from unclass.models import Classifier, save, weights_digest
from unclass.models.any_model import device_of
from unclass.training.engine import Engine


@pytest.mark.parametrize(
    "given, labels",
    [
        (3, (3,)),
        ("deer", ("deer",)),
        ("35", ("35",)),
        ([3], (3,)),
        (["deer", 5], ("deer", 5)),
        ((), ()),
        (None, ()),
        (np.int64(3), (3,)),
        (np.array([3, 5]), (3, 5)),
        (torch.tensor(3), (3,)),
        (torch.tensor([3, 5]), (3, 5)),
        (range(2), (0, 1)),
    ],
)
def test_classes_in_every_form(given: Any, labels: tuple[Any, ...]) -> None:
    assert labels_of(given) == labels


@pytest.mark.parametrize(
    "wrong", [3.5, [None], [True], {"a": 1.5}.values(), b"deer", torch.zeros(2), torch.tensor(0.5), int]
)
def test_what_is_no_class_is_named(wrong: Any) -> None:
    with pytest.raises(InputError, match="give its name or its index"):
        labels_of(wrong)


@given(st.text())
def test_one_name_is_one_class(name: str) -> None:
    assert labels_of(name) == (name,)


def test_one_class_in_any_form_is_the_same_erasure(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    forms = (3, "3", [3], ["3"])
    found = {weights_digest(unclass.forget(trained, digits, one, "logit-mask", engine=engine)) for one in forms}
    assert len(found) == 1


def test_a_name_of_two_digits_is_not_two_classes(trained: Classifier, digits: ImageData) -> None:
    with pytest.raises(InputError, match="unknown class '35'"):
        unclass.forget(trained, digits, "35")


def test_the_default_device_is_the_models_own() -> None:
    model = nn.Linear(2, 2, device="meta")
    assert device_of(model) == torch.device("meta")
    assert engine_for(nn.Linear(2, 2)).device == "cpu"
    assert engine_for(nn.Linear(2, 2), device=torch.device("cpu")).device == "cpu"
    assert engine_for(nn.Linear(2, 2), Engine(precision="float32"), "cpu").precision == "float32"


VERBS = (
    unclass.train, unclass.forget, unclass.evaluate, unclass.audit, unclass.compare, unclass.doctor, unclass.bench,
    unclass.paper, unclass.tune,
)  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_every_verb_is_told_where_to_compute_in_the_same_words(verb: Any) -> None:
    assert {"engine", "device"} <= set(signature(verb).parameters)


def test_a_device_is_text_or_torchs_own(digits: ImageData, tmp_path: Path) -> None:
    for device in ("cpu", torch.device("cpu")):
        assert Engine(device=device).device == "cpu" == engine_on(None, device).device  # type: ignore[arg-type]
    found = unclass.compare(
        digits, 3, "logit-mask", model_options={"width": 2}, recipe={"epochs": 1}, audited=False,
        device=torch.device("cpu"), out=tmp_path / "out",
    )  # fmt: skip
    assert found.rows
    for wrong in (torch.device("meta"), "cuda:99", 3):
        with pytest.raises(InputError, match="device"):
            unclass.compare(digits, 3, "logit-mask", device=wrong, out=tmp_path / "wrong")


@pytest.mark.parametrize("wrong", [{"device": 0}, {"device": None}, {"precision": 16}, {"budget": 3}, {"compile": 1}])
def test_what_an_engine_cannot_take_is_one_line(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Engine(**wrong)


def test_root_may_be_text(tmp_path: Path) -> None:
    assert DataOptions(root=str(tmp_path)).folder == DataOptions(root=tmp_path).folder == tmp_path
    with pytest.raises(InputError, match="holds no cifar-10-batches-py"):
        unclass.load_data("cifar10", DataOptions(root=str(tmp_path)))


def floats(images: ImageSet) -> TensorDataset:
    """Images as `ImageFolder` with `ToTensor` gives them."""
    return TensorDataset(images.read(torch.arange(len(images))).float() / 255, images.labels)


@pytest.fixture
def data_in_every_form(digits: ImageData) -> dict[str, Any]:
    train, test = floats(digits.train), floats(digits.test)
    return {
        "ImageData": digits,
        "Datasets": (train, test),
        "DataLoaders": (DataLoader(train, batch_size=32), DataLoader(test, batch_size=32)),
        "image_data": unclass.image_data(train, test),
    }


@pytest.mark.parametrize("form", ["ImageData", "Datasets", "DataLoaders", "image_data"])
def test_every_verb_takes_data_in_every_form(
    form: str, data_in_every_form: dict[str, Any], trained: Classifier, engine: Engine
) -> None:
    data = data_in_every_form[form]
    forgotten = unclass.forget(trained, data, 3, "negative-gradient", batch_size=32, engine=engine, epochs=1)
    scores = unclass.evaluate(forgotten, data, 3, engine=engine)
    assert len(scores.as_dict()) == 5
    assert {finding.status for finding in unclass.doctor(trained, data, 3, engine=engine)} <= {"good", "doubtful"}
    audit = unclass.audit(forgotten, trained, data, 3, engine=engine)
    assert audit.verdict.status in ("failed", "undecided", "passed", "passed without reference")


@pytest.mark.parametrize("form", ["ImageData", "Datasets", "DataLoaders", "image_data"])
def test_every_verb_that_trains_takes_data_in_every_form(
    form: str, data_in_every_form: dict[str, Any], tmp_path: Path, engine: Engine
) -> None:
    data, small = data_in_every_form[form], {"width": 4}
    made = unclass.train(data, "small-cnn", engine=engine, model_options=small, epochs=1)
    assert made.card.shape == (1, 8, 8) and len(made.card.classes) == 10
    found = unclass.compare(
        data, 3, "logit-mask", model="small-cnn", model_options=small, recipe={"epochs": 1}, engine=engine,
        out=tmp_path, audited=False,
    )  # fmt: skip
    assert [record.label for record in found.records] == ["original", "retrain", "logit-mask"]
    held = held_back(images_of(data), 0.1, 0)
    path = save(unclass.train(held, "small-cnn", engine=engine, model_options=small, epochs=1), tmp_path / "held")
    tuned = unclass.tune(data, 3, "random-labels", {"lr": [1e-3]}, model=path, engine=engine, epochs=1)
    assert tuned.best.options == {"lr": 1e-3}


def test_models_may_be_paths(trained: Classifier, digits: ImageData, engine: Engine, tmp_path: Path) -> None:
    path = save(trained, tmp_path / "model.safetensors")
    direct = unclass.forget(trained, digits, 3, "negative-gradient", engine=engine, epochs=1)
    for form in (path, str(path)):
        out = tmp_path / f"{type(form).__name__}.safetensors"
        found = unclass.forget(form, digits, 3, "negative-gradient", engine=engine, epochs=1, out=out)
        assert weights_digest(found) == weights_digest(direct) == weights_digest(unclass.load(out))
        assert unclass.evaluate(str(out), digits, 3, engine=engine) == unclass.evaluate(found, digits, 3, engine=engine)
        assert unclass.record_of(found) == unclass.read_record(out.with_suffix(".json"))


@pytest.mark.parametrize("wrong", [None, 3, {"weights": 1}])
def test_what_is_no_model_is_named(wrong: Any, digits: ImageData) -> None:
    with pytest.raises(InputError, match=r"give a torch.nn.Module or the path of a checkpoint"):
        unclass.forget(wrong, digits, 3)


def test_errors_speak_python_in_python(trained: Classifier, digits: ImageData, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        unclass.forget(trained, digits, 3, forget_only=True)
    assert "`forget_only`" in str(error.value) and "--" not in str(error.value)
    with pytest.raises(InputError) as error:
        unclass.forget(trained, "cifar10", 3, data_options=DataOptions(root=tmp_path))
    assert "--" not in str(error.value)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"method": 7}, "7 is no method; give a name, an object"),
        ({"method": None}, "None is no method"),
        ({"method": Finetune}, r"Finetune is a class; give an object of it, such as Finetune\(\)"),
        ({"method": len}, "is no method"),
        ({"batch_size": 0}, "batch size 0 is not allowed; use a whole number from 1"),
        ({"batch_size": "x"}, "`batch_size` is 'x'; give a whole number"),
        ({"batch_size": 2.5}, "`batch_size` is 2.5; give a whole number"),
        ({"seed": "a"}, "`seed` is 'a'; give a whole number"),
        ({"seed": True}, "`seed` is True; give a whole number"),
        ({"engine": "cpu"}, r"`engine` is 'cpu'; give Engine\(\)"),
        ({"data_options": {"size": 8}}, r"give DataOptions\(\)"),
        ({"out": 5}, "`out` is 5; give text or a path"),
        ({"classes": (), "forget_list": 5}, "`forget_list` is 5; give a file, or a list"),
        ({"data": {"a": 1}}, "dict is no data"),
        ({"data": None}, "neither training nor test images were given"),
        ({"device": 3}, "device '3' is not there"),
        ({"epochs": "many"}, "epochs is 'many'; it must be a whole number"),
    ],
)
def test_what_is_no_argument_is_one_line_not_an_error_of_python(
    wrong: dict[str, Any], words: str, trained: Classifier, digits: ImageData
) -> None:
    given = {"data": digits, "classes": 3, "method": "finetune", **wrong}
    with pytest.raises(InputError, match=words):
        unclass.forget(trained, **given)


@pytest.mark.parametrize("wrong", [7, Finetune])
def test_every_verb_with_a_method_names_what_is_none(wrong: Any, trained: Classifier, digits: ImageData) -> None:
    for verb in (unclass.doctor, unclass.tune, unclass.compare):
        with pytest.raises(InputError, match=r"is no method|is a class"):
            if verb is unclass.compare:
                verb(digits, 3, wrong)
            elif verb is unclass.tune:
                verb(digits, 3, wrong, {"lr": [0.1]}, model=trained)
            else:
                verb(trained, digits, 3, method=wrong)


def test_other_verbs_refuse_what_is_none_in_one_line_too(trained: Classifier, digits: ImageData) -> None:
    for wrong in (
        lambda: unclass.audit(trained, trained, digits, 3, [5]),
        lambda: unclass.doctor(5, digits, 3),
        lambda: unclass.compare(digits, 3, "finetune", seeds=[]),
        lambda: unclass.compare(digits, 3, "finetune", jobs="2"),
        lambda: unclass.tune(digits, 3, "finetune", {"lr": 0.1}, model=trained),
        lambda: unclass.tune(digits, 3, "finetune", {"lr": []}, model=trained),
        lambda: unclass.train(digits, 5),
        lambda: unclass.train(digits, model_options=[1]),
        lambda: unclass.bench(digits, repeats="3"),
        lambda: unclass.paper(5),
        lambda: unclass.load(5),
        lambda: unclass.load_data(5),
        lambda: unclass.read_record(5),
    ):
        with pytest.raises(InputError) as refused:
            wrong()
        assert "\n" not in str(refused.value)


ODD = (-1, 0.5, float("nan"), b"deer", object(), int, complex(1, 2), [None], {"a": 1}, "x" * 5000, "\0", 10**30)


@pytest.mark.parametrize(
    ("verb", "names"),
    [
        ("compare", "data classes methods plan seeds unlearn_seeds together model model_options preset recipe "
                    "originals retrained out batch_size jobs threads cluster engine data_options"),
        ("bench", "data original model model_options classes repeats retrain_images grow seed batch_size engine out"),
        ("paper", "what scale data_options originals recipe model_options out audited run with_pictures engine tell"),
        ("tune", "data classes method grid model share seeds preset batch_size engine device data_options out jobs "
                 "threads cluster cluster_options tell"),
        ("doctor", "model classes method preset batch_size engine device head forget_only forget_list opening"),
    ],
)  # fmt: skip
def test_wrong_arguments_of_every_name_are_refused_before_any_work(
    verb: str, names: str, trained: Classifier, digits: ImageData, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is no argument is one line; what may be one (a path that is not there yet, a share of .5) comes to work."""
    small = DataOptions(root=tmp_path / "not-there")
    given = {
        "compare": {"data": digits, "classes": 3, "methods": "logit-mask", "out": tmp_path / "compare"},
        "bench": {"data": digits, "classes": 3},
        "paper": {"what": "cifar10", "data_options": small},
        "tune": {
            "data": digits,
            "classes": 3,
            "method": "random-labels",
            "grid": {"lr": [1e-3]},
            "model": trained.network,
        },
        "doctor": {"model": trained, "data": digits, "classes": 3},
    }[verb]

    def work(*_: Any, **__: Any) -> None:
        raise Worked

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_module("unclass.comparison.run"), "compared", work)
    monkeypatch.setattr(import_module("unclass.benchmark.run"), "train", work)
    monkeypatch.setattr(import_module("unclass.benchmark.run"), "measure_methods", work)
    monkeypatch.setattr(import_module("unclass.tuning.bench").Bench, "before", work)
    monkeypatch.setattr(import_module("unclass.checkup.check_up"), "draw", work)
    for name in names.split():
        for odd in ODD:
            with pytest.raises((InputError, Worked)) as found:
                getattr(unclass, verb)(**{**given, name: odd})
            assert "\n" not in str(found.value) and len(str(found.value)) < 1600, (name, odd)


class Worked(Exception):  # noqa: N818 - what happened
    """Arguments were taken, and work would begin."""


def test_folders_that_cannot_be_are_refused_before_any_work(digits: ImageData, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for out in (tmp_path / "file", tmp_path / "file" / "inside", "a\0b", "x" * 5000, "/dev/null"):
        for verb, more in (
            (unclass.compare, {"methods": "logit-mask"}),
            (unclass.tune, {"method": "random-labels"}),
            (unclass.bench, {}),
        ):
            with pytest.raises(InputError):
                verb(digits, classes=3, out=out, **more)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"repeats": 10**30}, {"retrain_images": 1}, {"retrain_images": -5}])
def test_a_bench_of_impossible_numbers_is_refused_at_once(wrong: dict[str, int], digits: ImageData) -> None:
    with pytest.raises(InputError, match=f"`{next(iter(wrong))}` is"):
        unclass.bench(digits, **wrong)


def test_doctor_without_data_finds_that(trained: Classifier) -> None:
    assert [(one.status, "neither training nor test" in one.says) for one in unclass.doctor(trained, None, 3)] == [
        ("wrong", True)
    ]


def test_training_that_records_updates_leaves_the_engine_as_it_was(
    digits: ImageData, engine: Engine, tmp_path: Path
) -> None:
    unclass.train(
        digits, "small-cnn", engine=engine, model_options={"width": 2}, epochs=1,
        record_updates=tmp_path / "updates", record_class=3,
    )  # fmt: skip
    assert engine.observer is None and list((tmp_path / "updates").glob("*.safetensors"))


def test_seeds_and_sizes_may_be_numpy_numbers(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    same = [
        weights_digest(unclass.forget(trained, digits, 3, "logit-mask", seed=one(4), batch_size=one(8), engine=engine))
        for one in (int, np.int64)
    ]
    assert same[0] == same[1]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("retrained", 3), ("retrained", None), ("retrained", torch.tensor(0.5)), ("shadow_models", True),
        ("kept", []), ("seed", -1), ("seed", 10**30), ("unlearned", "x" * 5000), ("retrained", "x" * 5000),
    ],
)  # fmt: skip
def test_what_an_audit_cannot_take_is_said_in_one_line(
    name: str, wrong: Any, trained: Classifier, digits: ImageData
) -> None:
    given = {"unlearned": trained, "original": trained, "data": digits, "classes": 3, name: wrong}
    with pytest.raises(InputError) as error:
        unclass.audit(**given)
    assert "\n" not in str(error.value)


def test_training_takes_no_momentum(digits: ImageData, engine: Engine) -> None:
    made = unclass.train(digits, "small-cnn", model_options={"width": 2}, epochs=1, momentum=0, engine=engine)
    assert made.card.recipe["momentum"] == 0


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_pictures_that_are_no_numbers_are_said_before_any_work(value: float, trained: Classifier) -> None:
    data = TensorDataset(torch.full((8, 1, 8, 8), value), torch.arange(8) % 4)
    with pytest.raises(InputError, match="NaN or infinite"):
        unclass.forget(trained.network, data, 3)


@pytest.mark.parametrize("verb", [unclass.forget, unclass.evaluate])
def test_a_model_whose_outputs_are_no_numbers_is_said_before_any_work(
    verb: Any, trained: Classifier, digits: ImageData, tmp_path: Path
) -> None:
    large = deepcopy(trained)
    with torch.no_grad():
        for weight in large.parameters():
            weight.fill_(3e38)
    unclass.save(large, tmp_path / "large.safetensors")
    for one in (large, tmp_path / "large.safetensors"):
        with pytest.raises(InputError, match=r"gives NaN or infinity for 2 of 2 images"):
            verb(one, digits, 3)
    assert any("gives NaN or infinity" in finding.says for finding in unclass.doctor(large, digits, 3))


def test_test_images_alone_are_not_enough_to_train(
    data_in_every_form: dict[str, Any], tmp_path: Path, engine: Engine
) -> None:
    alone = (None, data_in_every_form["Datasets"][1])
    with pytest.raises(InputError, match="has no training images"):
        unclass.train(alone, "small-cnn", engine=engine, model_options={"width": 2}, epochs=1)
    with pytest.raises(InputError, match="training images"):
        unclass.compare(
            alone, 3, "logit-mask", model="small-cnn", model_options={"width": 2}, engine=engine, out=tmp_path
        )


def test_training_images_alone_are_enough_to_train_and_compare(
    data_in_every_form: dict[str, Any], tmp_path: Path, engine: Engine
) -> None:
    alone, small = data_in_every_form["Datasets"][0], {"width": 2}
    made = unclass.train(alone, "small-cnn", engine=engine, model_options=small, epochs=1)
    assert unclass.record_of(made).accuracy_test is None
    found = unclass.compare(
        alone, 3, "logit-mask", model="small-cnn", model_options=small, recipe={"epochs": 1}, engine=engine,
        out=tmp_path, audited=False,
    )  # fmt: skip
    assert found.rows[-1].scores["accuracy_retain"] is not None
    assert found.rows[-1].scores["accuracy_retain_test"] is None
    assert found.report.is_file() and list((tmp_path / "figures").glob("methods-entropy-*.png"))


@pytest.mark.parametrize("shape", [(1, 8192, 8192), (1, 8, 8192), (1, 1025, 1)])
def test_a_card_that_asks_for_giant_pictures_is_not_followed(
    shape: tuple[int, int, int], trained: Classifier, digits: ImageData, tmp_path: Path
) -> None:
    giant = Classifier(trained.network, replace(trained.card, shape=shape))
    path = unclass.save(giant, tmp_path / "giant.safetensors")
    for one in (giant, path):
        with pytest.raises(InputError, match="was made for pictures of 1 × "):
            unclass.evaluate(one, digits, 3)
    options = {"options": trained.card.options}
    with pytest.raises(InputError, match=r"asks for pictures of 1 × .* give `size` (8192|1025)"):
        unclass.evaluate(path, "digits", 3)
    assert unclass.Opening("small-cnn", **options).open_alone(path) is None  # the data must say it
