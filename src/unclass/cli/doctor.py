"""unclass doctor."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from unclass.arguments import DEFAULT_METHOD
from unclass.checkup import SIGNS, Finding, worst
from unclass.checkup import doctor as run_doctor
from unclass.cli import options as o
from unclass.cli.console import as_options, give_json, say
from unclass.data import DataOptions
from unclass.models import Opening
from unclass.training.engine import Engine


@o.taking(data_options=o.data_options, opening=o.opening_options, engine=o.engine_options)
def doctor(
    *,
    data_options: DataOptions,
    engine: Engine,
    opening: Opening,
    checkpoint: o.Checkpoint = None,
    data: o.Data,
    classes: o.Classes = [],
    forget_only: o.ForgetOnly = False,
    forget_list: o.ForgetList = None,
    weights: o.Weights = None,
    method: o.MethodName = DEFAULT_METHOD,
    preset: o.PresetName = None,
    set_: o.Set = [],
    batch_size: o.BatchSize = 64,
    json_: o.Json = False,
) -> int:
    """Check model, data and method in seconds before a long run. Exit code 1: something must be put right first.

    Example: unclass doctor --model timm:resnet18 --weights model.pt --data folder:photos --class cat
    """
    findings = run_doctor(
        o.weights_of(checkpoint, weights, opening) or "", data, classes, method,
        preset=preset, batch_size=batch_size, engine=engine, head=opening.head, forget_only=forget_only,
        forget_list=forget_list, data_options=data_options, opening=opening, **o.method_options(set_),
    )  # fmt: skip
    findings = [replace(one, says=as_options(one.says), advice=as_options(one.advice)) for one in findings]
    status = worst(findings)
    if json_:
        give_json({"status": status, "findings": [asdict(finding) for finding in findings]})
    else:
        show(findings)
    return 1 if status == "wrong" else 0


def show(findings: Sequence[Finding]) -> None:
    """Print a line for each finding, and below it what to do."""
    for finding in findings:
        say(f"{SIGNS[finding.status]} {finding.check:<16} {finding.says}")
        if finding.advice:
            say(f"  {'':<16} → {finding.advice}")
    wrong = sum(finding.status == "wrong" for finding in findings)
    doubtful = sum(finding.status == "doubtful" for finding in findings)
    if wrong:
        say(f"{wrong} to put right first; checks that build on it may have been left out.")
    else:
        say(f"Nothing stands in the way{f'; {doubtful} to look at' if doubtful else ''}.")
