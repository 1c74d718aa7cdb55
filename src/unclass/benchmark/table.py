"""The table of a bench on a terminal, and the notes under it."""

from collections.abc import Sequence

from rich.table import Table

from unclass.benchmark.entrants import SHIFT
from unclass.benchmark.result import Bench, Growth, Promise, Row

COLUMNS = (
    "method",
    "seconds",
    "least–most",
    "images × passes",
    "GFLOP/s",
    "of peak",
    "peak MB",
    "+ MB",
    "× authors",
    "× retrain",
)

BUSY = 0.75  # processes for each core
OWN = 0.9  # processors that a bench alone on a machine gets at least


def bench_table(result: Bench) -> Table:
    """Return a line for each method; the last two columns say how many times faster it is."""
    classes = ", ".join(result.forget_classes)
    title = f"Forgetting {classes} of {result.data}, {result.model.architecture}: median of {result.repeats}"
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == "method" else "right", no_wrap=True)
    for row in result.rows:
        table.add_row(*_cells(row), style="bold" if row.method == SHIFT else "")
    return table


def _cells(row: Row) -> list[str]:
    return [
        row.method + (" *" if row.note else ""),
        _number(row.seconds),
        "–".join(map(_number, row.spread)),
        f"{row.images:,} × {row.passes:.1f}",
        f"{row.gflop_per_second:.1f}",
        f"{100 * row.share_of_peak:.0f} %",
        f"{1000 * row.peak_memory_gb:,.0f}",
        f"{1000 * row.memory_increase_gb:,.0f}",
        f"{row.times_faster_than_authors:.3g}",
        f"{row.times_faster_than_retrain:.3g}",
    ]


def bench_notes(result: Bench) -> list[str]:
    """Return what a reader must know: hardware, what was extrapolated, how time grows, which bars hold."""
    hardware = result.hardware
    peaks = ", ".join(f"{name} {value:.0f}" for name, value in result.peak.items())
    notes = [
        f"{hardware['processor']}, {hardware['cores']} cores, {hardware['threads']} threads, training in "
        f"{result.precision}; weights: {result.model.weights}",
        f"GEMM peak in GFLOP/s: {peaks}; shares are of {result.precision}. "
        "A pass is a forward pass of the whole network; a training step is about three",
        "peak MB: of the whole process while the method ran; + MB: over what it held before; × : how many times faster",
    ]
    if hardware["load"] > BUSY * hardware["cores"] or result.processor_share < OWN:
        notes.append(
            f"the machine was busy (load {hardware['load']:.1f} before the start, {result.processor_share:.2f} "
            "processors while timing): times are not to be relied on"
        )
    notes += [f"* {row.method}: {row.note}" for row in result.rows if row.note]
    if stem := result.stem:
        notes.append(
            f"stem pass (up to {stem.cut}): {_number(stem.seconds)} s, {stem.gflop_per_second:.1f} GFLOP/s, "
            f"{100 * stem.share_of_peak:.0f} % of peak"
        )
    if not result.memory_is_by_row:
        notes.append("memory: this system cannot reset the high-water mark, so peaks are of the whole process so far")
    return notes + (_growth_notes(result.growth) if result.growth else []) + _bar_notes(result.bars)


def _growth_notes(growth: Growth) -> list[str]:
    retain, classes = growth.retain_images, growth.classes
    sizes = [f"{point.size:,}: {_number(point.seconds)} s" for point in growth.forget_images.points]
    by_classes = [f"{point.size:,}: {_number(point.seconds)} s" for point in classes.points if point.method == SHIFT]
    extra = ", ".join(f"{name} {heads:+.2f}" for name, heads in classes.extra_heads.items())
    return [
        f"growth with |D_f| ({', '.join(sizes)}): exponent {growth.forget_images.exponent:.2f}",
        f"growth with |D_r| tenfold: {retain.ratio:.2f} × the time (noise ± {100 * retain.noise:.0f} %)",
        f"growth with the classes ({', '.join(by_classes)}); memory beyond plain training of the same model, "
        f"in heads of {classes.head_mb:.0f} MB: {extra}",
        f"growth with the operations of the model: exponent {growth.model.exponent:.2f}",
    ]


def _bar_notes(bars: Sequence[Promise]) -> list[str]:
    return [
        f"{'✓' if bar.holds else '✗'} {bar.value:.3g} {bar.what} (bar: {bar.bound} {bar.limit:.3g})" for bar in bars
    ]


def _number(seconds: float) -> str:
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:,.0f}"
