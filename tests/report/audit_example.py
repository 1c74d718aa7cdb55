"""An audit as docs/audit-format.md describes it, made up with a fixed seed: every part filled in, or parts left out."""

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

from unclass.audits.catalogue import CHECKS, Kind
from unclass.audits.result import Audit
from unclass.comparison.rows import Row, Spread
from unclass.metrics import SCORES

NASTY = (
    '</script><img src=x onerror="window.hacked=1">',
    "a & b <b>bold</b>",
    "line\u2028separator\u2029end",
    "\"quoted\" 'twice' {{ 7*7 }}",
    "an extraordinarily long class name that would never fit into a column of a table",
    "שלום",
)
CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SETS = ("retain", "forget", "retain_test", "forget_test")
ATTACKS = ("confidence", "entropy", "modified_entropy", "loss", "rmia")


def example(
    classes: tuple[str, ...] = CIFAR10,
    forget: int = 4,
    points: int = 300,
    seed: int = 0,
    method: str = "boundary-shrink@authors",
    roles: tuple[str, ...] = ("original", "unlearned", "retrained", "retrained-2"),
    status: str = "failed",
) -> dict[str, Any]:
    """Return an audit with every part filled in."""
    draw = np.random.default_rng(seed)
    residue = {role: {"original": 1.0, "unlearned": 0.45}.get(role, 0.03) for role in roles}
    return {
        "schema": "unclass-audit-2",
        "verdict": {
            "status": status,
            "badge": status,
            "next": ["Take a method that changes the weights.", "Give a second retrained model."],
            "sentence": f"The class {classes[forget]} is not gone: batch-norm recalibration brings it back to 91.2 %.",
            "why": ["recalibration: 91.2 % of D_ft, at most 5.0 % allowed", "linear probe: 0.31 above retraining"],
        },
        "headline": _headline(),
        "not_claimed": [
            "That no other attack could find the class: the audit runs the attacks it names.",
            "Anything about copies of the original model, its training data or its backups.",
        ],
        "subject": {
            "data": "cifar10",
            "classes": list(classes),
            "forget_classes": [classes[forget]],
            "counts": dict(zip(SETS, (45000, 5000, 9000, 1000), strict=True)),
            "method": method,
        },
        "models": {
            role: {
                "name": f"{role}.safetensors",
                "architecture": "all-cnn",
                "weights": "".join(f"{value:02x}" for value in draw.integers(0, 256, 32)),
                "recipe": {"epochs": 30, "lr": 0.1, "seed": place},
                "forgotten": [] if role == "original" else [classes[forget]],
            }
            for place, role in enumerate(roles)
        },
        "checks": _checks(roles, draw),
        "self_check": [
            _control("original", "failed", ["population-attack", "own-logit"]),
            _control("retrained", "passed", []),
            _control("logit-mask", "failed", ["own-logit"]),
        ],
        "utility": _utility(classes, forget, roles, residue, draw),
        "flows": {role: _flow(len(classes), forget, residue[role], draw) for role in roles},
        "membership": {
            "asr": {role: float(0.3 + 0.6 * residue[role] + 0.02 * draw.random()) for role in roles},
            "roc": {role: {score: _roc(residue[role], draw) for score in ATTACKS} for role in roles},
        },
        "entropy": _entropy(len(classes), roles, residue, draw),
        "decision_space": _space(classes, forget, points, roles, residue, draw),
        "attention": {
            "layer": {role: "features.7" for role in roles},
            "images": [_attention(classes, roles, draw) for _ in range(5)],
        },
        "relearning": {
            "from_forget": {role: _curve(residue[role], 0.9) for role in roles},
            "from_retain": {role: _curve(residue[role], 0.2) for role in roles},
            "images": {"from_forget": 50, "from_retain": 500},
        },
        "recalibration": {
            role: {
                "before": {"forget": residue[role] if role == "original" else 0.02, "forget_test": residue[role] * 0.2},
                "after": {"forget": residue[role] * 0.97, "forget_test": residue[role] * 0.9},
            }
            for role in roles
        },
        "probe": {
            role: {
                "linear": 0.4 + 0.5 * residue[role],
                "nearest_mean": 0.3 + 0.5 * value,
                "one_shot": 0.2 + 0.5 * value,
            }
            for role, value in residue.items()
        },
        "similarity": {
            "layers": [f"features.{index}" for index in range(9)] + ["head"],
            "cka": {role: [1 - place * 0.07 * (0.3 + value) for place in range(10)] for role, value in residue.items()},
        },
        "noise": {"attack-success-rate": [0.31, 0.36], "linear-probe": [0.40, 0.44]},
        "cost": {
            "unlearned": {"seconds": 34.2, "speed_up": 158.1},
            "retrained": {"seconds": 5407.0, "speed_up": 1.0},
        },
        "provenance": {
            "command": "unclass audit u.safetensors --original o.safetensors --data cifar10 --class deer",
            "versions": {"python": "3.11.2", "torch": "2.13.0", "unclass": "0.1.0"},
            "hardware": {"processor": "a processor", "cores": 2, "memory_gb": 16, "accelerators": []},
            "seed": 0,
            "data": {"train": "ab" * 32, "test": "cd" * 32},
            "seconds": {"predictions": 41.2, "population attack": 0.4, "t-SNE": 12.9},
            "when": "2026-11-18T02:15:00+00:00",
            "by": "an auditor",
        },
    }


def nasty() -> dict[str, Any]:
    """Return an audit whose names try to be HTML, and with parts that were not computed."""
    audit = example(classes=(*NASTY, *CIFAR10[:4]), forget=0, roles=("original", "unlearned"), status="undecided")
    audit["verdict"]["sentence"] = f"undecided: {NASTY[0]}"
    audit["subject"]["data"] = NASTY[1]
    audit["provenance"]["command"] = f"unclass audit '{NASTY[0]}'"
    audit["recalibration"] = None
    audit["similarity"] = {"layers": None, "cka": None, "note": "no retrained model was given"}
    audit["membership"]["roc"]["unlearned"]["rmia"] = None
    audit["relearning"]["from_retain"] = None
    audit["cost"] = {}
    audit["noise"] = None
    audit["checks"][1] |= {"reference": None, "values": {}, "intervals": {}}
    audit["decision_space"]["thumbnails"] = None
    return audit


def bare() -> dict[str, Any]:
    """Return the least that an audit can hold: a verdict, and everything else absent or null."""
    audit: dict[str, Any] = dict.fromkeys(example(points=4), None)
    return audit | {
        "schema": "unclass-audit-2",
        "verdict": {"status": "undecided", "sentence": "Nothing ran.", "why": []},
    }


def full_audit(**how: Any) -> Audit:
    """Return `example` as an audit."""
    return Audit.of(example(**how))


def nasty_audit() -> Audit:
    """Return `nasty` as an audit."""
    return Audit.of(nasty())


def bare_audit() -> Audit:
    """Return `bare` as an audit."""
    return Audit.of(bare())


def rows(methods: tuple[str, ...]) -> list[Row]:
    """Return the rows of a comparison; the last method failed."""
    draw = np.random.default_rng(1)
    result = []
    for place, method in enumerate(("original", "retrain", *methods[:-1])):
        scores: dict[str, Spread | None] = {name: Spread(float(draw.random()), 0.01) for name in SCORES}
        timed = method != "original"
        seconds = Spread(300.0 / (place + 1) ** 2, 1.0) if timed else None
        result.append(Row(method, 2, 0, scores, seconds, speed_up=float((place + 1) ** 2 / 4) if timed else None))
    return [*result, Row(methods[-1], 0, 2, dict.fromkeys(SCORES))]


def _headline() -> list[dict[str, Any]]:
    return [{"key": key} for key in FIGURES if CHECKS[key].carries and key != "relearn-retain"]


# original, unlearned, retrained, threshold, status
FIGURES = {
    "recalibration": (1.0, 0.912, 0.0, 0.1, "failed"),
    "own-logit": (0.975, 0.77, 0.69, 0.92, "passed"),
    "one-image": (0.705, 0.49, 0.305, 0.605, "undecided"),
    "relearn-retain": (0.907, 0.0, 0.0, 0.1, "passed"),
    "population-attack": (0.147, 0.076, 0.014, 0.05, "failed"),
    "retain-change": (0.0, -0.012, 0.004, -0.03, "passed"),
    "worst-class-change": (0.0, -0.05, -0.01, None, "informative"),
    "place-by-bias": (4.0, 1.0, 1.0, None, "informative"),
    "linear-probe": (0.9, 0.8, 0.5, 0.7, "failed"),
    "js-forget": (0.4, 0.2, None, None, "not applicable"),
}


def _checks(roles: tuple[str, ...], draw: np.random.Generator) -> list[dict[str, Any]]:
    return [_check(CHECKS[key], figures, roles, draw) for key, figures in FIGURES.items()]


def _check(kind: Kind, figures: tuple[Any, ...], roles: tuple[str, ...], draw: np.random.Generator) -> dict[str, Any]:
    original, unlearned, retrained, threshold, status = figures
    known = {"original": original, "unlearned": unlearned}
    values = {
        role: known.get(role, retrained if retrained is None else retrained + 0.01 * draw.random()) for role in roles
    }
    return {
        "key": kind.key,
        "name": kind.name,
        "group": kind.group,
        "question": kind.question,
        "direction": kind.direction,
        "threshold": threshold,
        "reference": retrained if "retrained" in roles else None,
        "reason": "The noise band of two retrained models, doubled.",
        "values": values if status != "not applicable" else {},
        "intervals": {"unlearned": [unlearned - 0.02, unlearned + 0.015]} if kind.carries else {},
        "status": status,
        "unit": kind.unit,
        "carries_verdict": kind.carries,
        "more_images": 120 if status == "undecided" else None,
        "note": "no retrained model was given" if status == "not applicable" else "",
    }


def _control(model: str, expected: str, failed: list[str]) -> dict[str, Any]:
    return {"model": model, "expected": expected, "found": expected, "ok": True, "failed_checks": failed}


def _utility(
    classes: tuple[str, ...], forget: int, roles: tuple[str, ...], residue: dict[str, float], draw: np.random.Generator
) -> dict[str, Any]:
    order = sorted((index for index in range(len(classes)) if index != forget), key=lambda index: abs(index - forget))
    return {
        "accuracies": {
            role: dict(zip(SETS, (0.99, residue[role], 0.9 - 0.02 * draw.random(), residue[role] * 0.9), strict=True))
            for role in roles
        },
        "per_class": [
            {
                "class": classes[index],
                "distance": float(place) + 0.5,
                "accuracy": {role: float(0.8 + 0.18 * draw.random()) for role in roles},
            }
            for place, index in enumerate(order)
        ],
        "confusion": {role: _confusion(len(classes), forget, residue[role], draw) for role in roles},
    }


def _confusion(count: int, forget: int, residue: float, draw: np.random.Generator) -> list[list[int]]:
    matrix = draw.poisson(8, (count, count)) + np.diag(np.full(count, 850))
    matrix[forget] = draw.multinomial(1000, _flow(count, forget, residue, draw))
    return matrix.tolist()  # type: ignore[no-any-return]


def _flow(count: int, forget: int, residue: float, draw: np.random.Generator) -> list[float]:
    shares = draw.dirichlet(np.full(count, 0.8))
    shares[forget] = 0
    shares *= (1 - 0.9 * residue) / shares.sum()
    shares[forget] = 1 - shares.sum()
    return shares.tolist()  # type: ignore[no-any-return]


def _roc(residue: float, draw: np.random.Generator) -> dict[str, Any]:
    fpr = np.concatenate([[0, 0.001, 0.003], np.linspace(0.01, 1, 60)])
    tpr = fpr ** (1 / (1 + 3 * residue + 0.05 * draw.random()))
    return {
        "fpr": fpr.tolist(),
        "tpr": tpr.tolist(),
        "auc": float(np.trapezoid(tpr, fpr)),
        "tpr_at_1_fpr": float(np.interp(0.01, fpr, tpr)),
    }


def _entropy(
    count: int, roles: tuple[str, ...], residue: dict[str, float], draw: np.random.Generator
) -> dict[str, Any]:
    edges = np.linspace(0, np.log(count), 41)
    shares = {}
    for role in roles:
        shares[role] = {}
        for name, scale in (("retain", 0.05), ("forget", 0.05 + 0.7 * (1 - residue[role])), ("test", 0.2)):
            values = np.minimum(draw.exponential(scale, 4000), edges[-1])
            shares[role][name] = (np.histogram(values, edges)[0] / 4000).tolist()
    return {"edges": edges.tolist(), "shares": shares}


def _space(
    classes: tuple[str, ...],
    forget: int,
    points: int,
    roles: tuple[str, ...],
    residue: dict[str, float],
    draw: np.random.Generator,
) -> dict[str, Any]:
    labels = np.arange(points) % len(classes)
    angles = np.arange(len(classes)) * 2 * np.pi / len(classes)
    centres = 40 * np.stack([np.cos(angles), np.sin(angles)], 1)
    places, predicted = {}, {}
    for role in roles:
        stays = (labels != forget) | (draw.random(points) < residue[role])
        target = np.where(stays, labels, (forget + draw.integers(1, len(classes), points)) % len(classes))
        spread = np.where(stays, 4, 7)[:, None]
        places[role] = np.round(centres[target] + spread * draw.normal(size=(points, 2)), 3).tolist()
        predicted[role] = target.tolist()
    return {
        "points": places,
        "labels": labels.tolist(),
        "forget": (labels == forget).tolist(),
        "predicted": predicted,
        "thumbnails": [_picture(draw, 16) for _ in range(points)],
    }


def _attention(classes: tuple[str, ...], roles: tuple[str, ...], draw: np.random.Generator) -> dict[str, Any]:
    return {
        "picture": _picture(draw, 32),
        "maps": {role: _picture(draw, 32) for role in roles},
        "predicted": {role: classes[int(draw.integers(len(classes)))] for role in roles},
    }


def _curve(residue: float, reach: float) -> list[list[float]]:
    return [[step, float(reach * (1 - np.exp(-step * (0.02 + 0.2 * residue))))] for step in range(0, 51, 2)]


def _picture(draw: np.random.Generator, size: int) -> str:
    coarse = Image.fromarray(draw.integers(60, 256, (4, 4, 3)).astype(np.uint8))
    buffer = io.BytesIO()
    coarse.resize((size, size), Image.Resampling.BILINEAR).quantize(32).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
