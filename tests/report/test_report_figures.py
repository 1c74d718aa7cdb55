"""The figures for papers: each is drawn from an audit, and says so where it cannot be."""

import io
import json
from pathlib import Path

import pytest
from audit_example import bare_audit, example, full_audit, nasty, rows

from unclass.audits.result import Audit
from unclass.cli.figures import figures
from unclass.errors import InputError
from unclass.report.figures import comparison as draw


@pytest.mark.parametrize("name", draw.AUDIT_FIGURES)
def test_every_figure_is_drawn_from_an_audit(name):
    figure = draw.AUDIT_FIGURES[name](full_audit(points=40))
    figure.savefig(io.BytesIO(), format="png", dpi=30)
    assert figure.axes


@pytest.mark.parametrize("name", draw.AUDIT_FIGURES)
def test_figures_take_any_class_name_and_say_why_they_cannot_be_drawn(name):
    with pytest.raises(InputError, match="the audit has no"):
        draw.AUDIT_FIGURES[name](bare_audit())
    audit = nasty()
    audit["subject"]["classes"][1] = "$x_{"
    if name not in ("cka", "recalibration"):
        draw.AUDIT_FIGURES[name](Audit.of(audit)).savefig(io.BytesIO(), format="png", dpi=30)


def test_methods_are_drawn_from_rows():
    members = rows(("boundary-shrink", "finetune", "fisher"))
    assert len(draw.attack_success(members).axes[0].patches) == 3  # not the reference, not the one that failed
    assert len(draw.times(members).axes[0].patches) == 3


def test_decision_space_has_a_panel_for_each_model_with_hollow_forget_images():
    audit = full_audit(points=40)
    panels = draw.decision_space(audit).axes
    assert [panel.get_title() for panel in panels] == ["original", "unlearned", "retrained", "retrained-2"]
    _, hollow = panels[0].collections
    assert len(hollow.get_offsets()) == sum(audit.decision_space.forget)
    assert len(hollow.get_facecolor()) == 0


def test_command_writes_every_figure_in_each_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    few = {name: draw.AUDIT_FIGURES[name] for name in ("cka", "recalibration", "roc")}
    monkeypatch.setattr(draw, "AUDIT_FIGURES", few)
    audit = example(points=20)
    audit["recalibration"] = None
    (tmp_path / "audit.json").write_text(json.dumps(audit))
    figures(tmp_path, format_="svg,png", json_=True)
    printed = json.loads(capsys.readouterr().out)
    assert [Path(path).name for path in printed["figures"]] == ["cka.svg", "cka.png", "roc.svg", "roc.png"]
    assert list(printed["skipped"]) == ["recalibration"]
    assert (tmp_path / "figures" / "roc.svg").read_text().startswith("<?xml")


def test_command_explains_bad_input(tmp_path: Path):
    with pytest.raises(InputError, match="choose from: png, svg, pdf"):
        figures(tmp_path, format_="gif")
    with pytest.raises(InputError, match="nothing to draw"):
        figures(tmp_path, format_="png")
    with pytest.raises(InputError, match="is not a folder"):
        figures(tmp_path / "absent", format_="png")
