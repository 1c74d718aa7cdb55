"""What there is to run, what of it is done, and how long the rest may take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from unclass.comparison.cells import not_run
from unclass.comparison.layout import Run, original_path, run_of
from unclass.comparison.plan import ORIGINAL, REFERENCE, Plan
from unclass.data import DataOptions, ImageData, load_data
from unclass.errors import InputError
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.records import Record, read_record
from unclass.report.paper.experiment import Experiment, Setup
from unclass.running import Settings
from unclass.storage import Changed

REFERENCES = (ORIGINAL, REFERENCE)
WAITING = "not yet"


@dataclass(frozen=True)
class Job:
    """One run: a method on a class with a seed, where it is kept, and why it is left out, if it is."""

    method: str
    forget_class: str
    seed: int
    run: Run
    why_not: str = ""

    @property
    def done(self) -> bool:
        return self.run.record.exists()

    def missing(self, why: str = WAITING) -> Record:
        """Return what stands for the record of a run that is not there."""
        return not_run(self.method, (self.forget_class,), self.seed, self.why_not or why)

    def seconds(self) -> float | None:
        """Return what the run took, as far as that is known; a record that was changed is about to be made again."""
        try:
            cost = read_record(self.run.record).cost if self.done else None
        except Changed:
            return None
        return cost.seconds if cost else None


def load(setup: Setup, options: DataOptions) -> ImageData:
    """Load the data of a setup; `options` say where it lies."""
    asked = replace(options, size=setup.size, people=setup.people, per_class=setup.per_class)
    data = load_data(setup.data, asked)
    if setup.test_per_class is None:
        return data
    test = data.test.per_class(setup.test_per_class, options.split_seed)
    return replace(data, test=test, details=data.details | {"test_per_class": setup.test_per_class})


def methods_of(experiments: Sequence[Experiment]) -> list[str]:
    """Return every method that an experiment shows, the original and retraining first."""
    return list(dict.fromkeys([*REFERENCES, *(name for one in experiments for name in one.methods)]))


def make_plans(
    setup: Setup,
    experiments: Sequence[Experiment],
    data: ImageData,
    out: Path,
    *,
    recipe: Mapping[str, Any],
    model_options: Mapping[str, Any],
    originals: Sequence[Path] = (),
    workers: int = 0,
) -> list[Plan]:
    """Return a comparison for each seed, all in one folder; `recipe` and `model_options` go before the setup's."""
    seeds = setup.seeds()
    if originals and len(originals) != len(seeds):
        raise InputError(f"{len(originals)} originals for seeds {seeds}; give `original` once for each seed, in order")
    if setup.pretrained and not originals and recipe.get("start", "scratch") == "scratch":
        raise InputError(
            f"{setup.name} starts from pretrained weights; give `set` start=FILE (docs/data.md says where from), "
            "or trained models with `original`"
        )
    chosen = configure(REFERENCE, data=data.name, preset=setup.preset, options={**setup.recipe, **recipe})
    assert isinstance(chosen, Retrain)
    return [
        Plan(
            data,
            out,
            [name for name in methods_of(experiments) if not why_not(name, setup, seed)],
            [[label] for label in setup.classes_of(seed)],
            [seed],
            setup.model,
            {**setup.model_options, **model_options},
            recipe=chosen,
            originals=[originals[place]] if originals else [],
            settings=Settings(seed, setup.batch_size, workers),
            strict=False,
        )
        for place, seed in enumerate(seeds)
    ]


def why_not(name: str, setup: Setup, seed: int) -> str:
    """Return why a method is left out for a seed; nothing if it is not."""
    if name in setup.without:
        return setup.without[name]
    if seed in (seeds := setup.seeds_of.get(name, (seed,))):
        return ""
    return f"on seed {', '.join(map(str, seeds))} alone"


def list_jobs(setup: Setup, experiments: Sequence[Experiment], plans: Sequence[Plan]) -> list[Job]:
    """Return every run of the plans, and those that are left out."""
    return [
        Job(
            method,
            plan.data.classes[split.classes[0]],
            plan.seeds[0],
            run_of(plan, split, method, plan.seeds[0]),
            why_not(method, setup, plan.seeds[0]),
        )
        for plan in plans
        for split in plan.splits()
        for method in methods_of(experiments)
    ]


def time_left(plans: Sequence[Plan], jobs: Sequence[Job]) -> tuple[float, int]:
    """Return the seconds that the remaining runs may take, judged by those done, and for how many there is no guess."""
    took: dict[str, list[float]] = {}
    for job in jobs:
        if (seconds := job.seconds()) is not None:
            took.setdefault(job.method, []).append(seconds)
    to_come = [job.method for job in jobs if not job.done and not job.why_not and job.method != ORIGINAL]
    to_come += [REFERENCE for plan in plans if not plan.originals and not original_path(plan, plan.seeds[0]).exists()]
    known = sum(mean(took[method]) for method in to_come if method in took)
    return known, sum(method not in took for method in to_come)
