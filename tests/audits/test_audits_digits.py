"""The promise on digits: the original, the released Boundary Shrink and a mask fail; retraining passes."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import unclass
from unclass.audits import Audit, Shadows, audit, examine, train_shadows
from unclass.audits.observe import Observation
from unclass.audits.stopwatch import Stopwatch
from unclass.cli import run as run_command
from unclass.data import DataOptions, ImageData, Split, load_data
from unclass.methods.boundary_shrink import BoundaryShrink
from unclass.models import Classifier, save, weights_digest
from unclass.running import Settings
from unclass.training.engine import Engine

MODULE = import_module("unclass.audits.run")  # by attribute, the name is the function
ENGINE = Engine(precision="float32")
KEYS = {
    "schema", "verdict", "headline", "not_claimed", "subject", "models", "checks", "self_check", "utility", "flows",
    "membership", "entropy", "decision_space", "attention", "relearning", "recalibration", "probe", "similarity",
    "noise", "cost", "provenance",
}  # fmt: skip


@pytest.fixture(scope="module")
def data() -> ImageData:
    return load_data("digits", DataOptions(per_class=100))


@pytest.fixture(scope="module")
def models(data: ImageData) -> dict[str, Any]:
    original = unclass.train(data, engine=ENGINE, model_options={"width": 16}, epochs=12, lr=0.1)

    def forget(method: str, seed: int = 0, preset: str | None = None) -> Any:
        return unclass.forget(original, data, ["3"], method, seed=seed, preset=preset, engine=ENGINE)

    return {
        "original": original,
        "retrained": forget("retrain", 1),
        "another": forget("retrain", 2),
        "third": forget("retrain", 3),
        "authors": forget("boundary-shrink", preset="authors"),
        "mask": forget("logit-mask"),
        "head-only": forget("head-only"),
        "mean-row": with_mean_row(original),
    }


def with_mean_row(original: Any) -> Any:
    """Return the original with the class's row of the head replaced by the mean of the others."""
    copy = deepcopy(original)
    others = [index for index in range(10) if index != 3]
    with torch.no_grad():
        head = copy.network.head
        head.weight[3], head.bias[3] = head.weight[others].mean(0), head.bias[others].mean(0)
    return copy


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what only a page shows."""
    monkeypatch.setattr(MODULE, "decision_space", lambda *_, **__: None)


class Once:
    """Examines each model once, in however many audits it takes part: of the same images, the same is found."""

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}
        self.probe_of, self.make_controls = examine.probe_of, MODULE.make_controls

    def of(self, key: Any, work: Callable[[], Any]) -> Any:
        if key not in self.kept:
            self.kept[key] = work()
        return self.kept[key]

    def each(self, watch: Stopwatch, what: str, models: dict[str, Any], work: Callable[..., Any]) -> dict[str, Any]:
        with watch.timed(what):
            watch.examined[what] = len(models)
            digests = {role: weights_digest(model) for role, model in models.items()}
            return {
                role: self.of((what, digests[role]), partial(work, model, ENGINE)) for role, model in models.items()
            }

    def probe(self, seen: Observation, *given: Any) -> Any:
        return self.of(id(seen), lambda: self.probe_of(seen, *given))

    def controls(self, *given: Any) -> Any:
        return self.of("controls", lambda: self.make_controls(*given))


@pytest.fixture(scope="module")
def audited(models: dict[str, Any], data: ImageData) -> Callable[..., Audit]:
    """The audit of a model with these references, made when first asked for."""
    once = Once()

    @cache
    def of(name: str, *references: str) -> Audit:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Stopwatch, "each", lambda watch, *given: once.each(watch, *given))
            patch.setattr(examine, "probe_of", once.probe)
            patch.setattr(MODULE, "make_controls", once.controls)
            others = [models[one] for one in references]
            return audit(models[name], models["original"], data, ["3"], others, engine=ENGINE)

    return of


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "name, status, references",
    [
        ("original", "failed", []),
        ("original", "failed", ["another", "third"]),
        ("authors", "failed", []),
        ("authors", "failed", ["another", "third"]),
        ("mask", "failed", []),
        ("mask", "failed", ["another"]),
        ("head-only", "failed", []),
        ("head-only", "failed", ["another"]),
        ("mean-row", "failed", []),
        ("mean-row", "failed", ["another", "third"]),
        ("retrained", "passed", []),
        ("retrained", "passed", ["another"]),
        ("retrained", "passed", ["another", "third"]),
    ],
)
def test_the_audit_tells_forgotten_from_hidden(
    audited: Callable[..., Audit], name: str, status: str, references: list[str]
) -> None:
    result = audited(name, *references)
    wanted = status if references or status == "failed" else "passed without reference"
    assert result.verdict.status == wanted, result.verdict
    assert all(row.ok for row in result.self_check)
    assert len(result.headline) == 5


@pytest.mark.usefixtures("quick")
def test_the_released_boundary_shrink_comes_back_and_the_mask_is_seen_in_its_logit(
    audited: Callable[..., Audit],
) -> None:
    again = audited("authors").recalibration
    assert again and again["unlearned"].before["forget"] < 0.6 and again["unlearned"].after["forget"] > 0.9
    masked = audited("mask")
    failed = {check.key for check in masked.checks if check.status == "failed" and check.carries_verdict}
    assert failed == {"own-logit", "same-features"}


@pytest.mark.usefixtures("quick")
def test_with_four_images_of_the_other_classes_no_attack_with_them_passes(
    models: dict[str, Any], data: ImageData
) -> None:
    stays = torch.nonzero(data.train.labels != 3).flatten()[:4]
    few = torch.cat([stays, torch.nonzero(data.train.labels == 3).flatten()])
    result = audit(models["another"], models["original"], replace(data, train=data.train.select(few)), "3",
                   models["retrained"], engine=ENGINE)  # fmt: skip
    assert result.verdict.status == "undecided", result.verdict
    assert {result.check(key).status for key in ("recalibration", "relearn-retain")} == {"undecided"}
    assert result.check("relearn-retain").more_images == 60
    assert any("about 60 more training images of the other classes" in step for step in result.verdict.next)


@pytest.mark.usefixtures("quick")
def test_the_same_model_twice_is_said_at_once(models: dict[str, Any], data: ImageData) -> None:
    said: list[str] = []
    result = audit(models["original"], models["original"], data, ["3"], engine=ENGINE, tell=said.append)
    assert said == ["the unlearned model has the very weights of the original: nothing was changed"]
    assert result.verdict.sentence == f"Failed: 3 is not gone: {said[0]}."


@pytest.mark.usefixtures("all_points")
def test_the_result_keeps_the_format_and_the_models(models: dict[str, Any], data: ImageData) -> None:
    digests = {name: weights_digest(model) for name, model in models.items()}
    state = torch.get_rng_state()
    roles = {"original", "unlearned", "retrained", "retrained-2"}
    others = [models["another"], models["third"]]
    result = audit(models["authors"], models["original"], data, ["3"], others, engine=ENGINE, pictures=True)
    assert set(result.as_dict()) == KEYS
    json.dumps(result.as_dict(), allow_nan=False)
    result = result.as_dict()
    for part in (result["utility"]["accuracies"], result["flows"], result["membership"]["asr"], result["probe"]):
        assert set(part) == roles
    assert set(result["decision_space"]["points"]) == set(result["attention"]["layer"]) == roles
    assert {len(points) for points in result["decision_space"]["points"].values()} == {400}
    assert all(low <= high for low, high in result["noise"].values())
    assert {"RMIA", "JS divergence on D_f"} <= {check["name"] for check in result["checks"] if check["status"] != "n"}
    assert all(check["reason"] and check["direction"] for check in result["checks"])
    assert {name: weights_digest(model) for name, model in models.items()} == digests
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.usefixtures("quick")
def test_the_same_seed_gives_the_same_figures(
    models: dict[str, Any], data: ImageData, audited: Callable[..., Audit]
) -> None:
    """Which also holds `audited` to what an audit is."""
    again = audit(models["mask"], models["original"], data, ["3"], models["another"], engine=ENGINE)
    assert again["checks"] == audited("mask", "another")["checks"]


@pytest.mark.usefixtures("quick")
def test_shadow_models_are_trained_and_give_u_lira(models: dict[str, Any], data: ImageData) -> None:
    split = Split.of(data, ["3"])
    method = BoundaryShrink(**BoundaryShrink.presets["authors"])
    shadows = train_shadows(models["original"], data, split, method, 2, ENGINE, Settings())
    assert isinstance(shadows, Shadows) and len(shadows.unlearned) == 2
    result = audit(models["authors"], models["original"], data, ["3"], engine=ENGINE, shadows=shadows)
    check = result.check("u-lira")
    assert check.values["unlearned"] > 0.2 and check.status == "failed"


def test_numbers_made_for_a_model_are_audited_and_shown_as_well(models: dict[str, Any], data: ImageData) -> None:
    def scaled(images: Any) -> TensorDataset:
        return TensorDataset(images.read(torch.arange(len(images))).float() / 255, images.labels)

    loaders = [DataLoader(scaled(one), batch_size=50) for one in (data.train, data.test)]
    networks = [models[name].network for name in ("mask", "original")]
    found = audit(*networks, loaders, 3, engine=ENGINE, pictures=True)
    assert found.attention and found.attention.images[0].picture.startswith("data:image/png")


@pytest.mark.usefixtures("quick")
def test_three_classes_and_two_test_images_of_one_are_audited_and_left_open() -> None:
    torch.manual_seed(0)
    x, y = torch.rand(66, 1, 8, 8), torch.arange(66) % 3
    x[y == 1, :, :4] += 1
    sets = [TensorDataset(x[:60], y[:60]), TensorDataset(x[60:], y[60:])]
    network = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 3))
    other = deepcopy(network)
    torch.nn.init.normal_(other[0].weight)
    found = audit(other, network, sets, 1, engine=ENGINE)
    assert found.verdict.status in ("undecided", "failed") and found.check("relearn-retain").status != "passed"
    assert json.dumps(found.as_dict(), allow_nan=False)


@pytest.fixture(scope="module")
def paths(models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return {name: str(save(model, folder / f"{name}.safetensors")) for name, model in models.items()}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name, code", [("retrained", 0), ("mask", 1)])
def test_the_command_writes_the_audit_and_leaves_with_its_verdict(
    paths: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    arguments = ["audit", paths[name], "--original", paths["original"], "--data", "digits", "--class", "3"]
    arguments += ["--per-class", "100", "--retrained", paths["another"], "--out", str(tmp_path / "out"), "--json"]
    assert run_command(arguments) == code
    printed = json.loads(capsys.readouterr().out)
    written = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))
    assert printed["verdict"] == written["verdict"] and written["models"]["unlearned"]["name"].startswith(name)
    assert "</html>" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_bad_input_is_one_line_and_code_two(
    paths: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    start = ["audit", paths["mask"], "--original", paths["original"], "--data", "digits"]
    for arguments, words in (
        ([*start, "--class", "eleven"], "unknown class"),
        ([*start, "--class", "3", "--shadow", "2"], "--shadow-models"),
        ([*start, "--class", "3", "--shadow-minutes", "2"], "--shadow-models"),
        ([*start, "--class", "3", "--shadow", "2", "--shadow-minutes", "2"], "--shadow and --shadow-minutes both"),
        (
            ["audit", "nothing.safetensors", "--original", paths["original"], "--data", "digits", "--class", "3"],
            "nothing",
        ),
    ):
        assert run_command(arguments) == 2
        error = capsys.readouterr().err
        assert words in error and "Traceback" not in error


def test_a_plain_module_can_be_audited(
    models: dict[str, Any], data: ImageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "decision_space", lambda *_, **__: None)
    original: Classifier = models["original"]
    result = audit(models["mask"].network, original.network, data, ["3"], engine=ENGINE)
    assert result["models"]["unlearned"]["architecture"] == "SmallCNN"


def test_models_in_half_precision_are_trained_and_looked_at_in_32_bits(
    models: dict[str, Any], data: ImageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(given: dict[str, torch.nn.Module], *_: Any) -> None:
        assert {weight.dtype for one in given.values() for weight in one.parameters()} == {torch.float32}
        raise KeyboardInterrupt

    monkeypatch.setattr(MODULE, "examine", look)
    half = {role: deepcopy(models[role]).half() for role in ("mask", "original", "retrained")}
    with pytest.raises(KeyboardInterrupt):
        audit(half["mask"], half["original"], data, "3", retrained=[half["retrained"]], engine=ENGINE)
    assert {weight.dtype for one in half.values() for weight in one.parameters()} == {torch.float16}
