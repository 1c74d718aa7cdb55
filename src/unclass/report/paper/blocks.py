"""Tables in Markdown files that a command writes: between `<!-- results …: begin -->` and `<!-- results …: end -->`.

`<!-- results: begin -->` is the comparison of every summary; `<!-- results cifar10: begin -->` that of one, and
`<!-- results cifar10 table1: begin -->` one of its tables beside the paper's numbers.
`<!-- results cifar10 plain deer retrain,finetune: begin -->` is a short table of these methods in plain words.
"""

import re
from collections.abc import Mapping, Sequence

from unclass.errors import InputError, unknown
from unclass.report.paper.experiment import Experiment
from unclass.report.paper.plain import plain
from unclass.report.paper.summary import Case, Summary
from unclass.report.paper.table import grid, markdown, noise_band, reasons
from unclass.report.table import markdown as comparison

BLOCK = re.compile(
    r"(<!-- results(?P<words>[^:>]*): begin -->\n)(?P<inside>.*?)(<!-- results(?P=words): end -->)", re.S
)


def rewrite(text: str, summaries: Mapping[str, Summary], where: str) -> str:
    """Return the text with each block made anew from the summaries, which go by name."""
    if not BLOCK.search(text):
        raise InputError(f"{where} has no <!-- results: begin --> and <!-- results: end -->; put them around the table")
    return BLOCK.sub(lambda found: found[1] + _block(found["words"].split(), summaries, where) + found[4], text)


def _block(words: list[str], summaries: Mapping[str, Summary], where: str) -> str:
    if not words:
        return "\n".join(overview(summary) for summary in summaries.values())
    if words[0] not in summaries:
        raise unknown("summary", words[0], summaries, f" in {where}")
    summary = summaries[words[0]]
    if len(words) == 1:
        return overview(summary)
    if words[1] == "plain":
        return in_plain_words(summary, words[2:], where)
    if words[1] not in summary.tables:
        raise unknown("table", words[1], summary.tables, f" of {words[0]} in {where}")
    return beside_paper(summary, summary.tables[words[1]])


def overview(summary: Summary) -> str:
    """Return all methods that ran, a table for each class, and under it where the figures come from."""
    parts = []
    for case in summary.cases:
        parts.append(f"{_forgetting(summary, case)}\n\n{comparison(case.done())}\n{noise_band(case)}\n")
    return "\n".join([*parts, f"{provenance(summary)}\n"])


def beside_paper(summary: Summary, experiment: Experiment) -> str:
    """Return one of the paper's tables, for each class, with its numbers beside ours."""
    parts = []
    for case in summary.cases:
        notes = " ".join([noise_band(case), *reasons(grid(experiment, case))])
        parts.append(f"{_forgetting(summary, case)}\n\n{markdown(experiment, case)}\n{notes}\n")
    return "\n".join([*parts, f"{provenance(summary)}\n"])


def in_plain_words(summary: Summary, words: Sequence[str], where: str) -> str:
    """Return the short table that the words after `plain` ask for: a class, then methods with commas between."""
    if len(words) != 2:
        raise InputError(f"a plain block in {where} needs a class and methods, such as: plain deer retrain,finetune")
    return f"{plain(summary, words[0], words[1].split(','))}{provenance(summary)}\n"


def provenance(summary: Summary) -> str:
    """Return one sentence: the command, the hardware, the precision, the images."""
    hardware, data, progress = summary.environment.hardware, summary.data, summary.progress
    processor = f"{hardware.get('processor', 'processor unknown')}, threads: {hardware.get('threads', 'unknown')}"
    machine = ", ".join(hardware.get("accelerators") or []) or processor
    images = f"{data.train:,} training and {data.test:,} test images"
    sofar = f"; {progress.done} of {progress.planned} runs so far" if progress.done < progress.planned else ""
    return f"`{summary.command}` ({machine}; {', '.join(summary.precision)} training; {images}{sofar})."


def _forgetting(summary: Summary, case: Case) -> str:
    seeds = case.seeds_done()
    count = f"{len(seeds)} seeds, mean ± standard deviation" if len(seeds) > 1 else "one seed"
    return f"{summary.data.name}, forgetting *{case.forgotten}*, {count}; accuracies and ASR in %:"
