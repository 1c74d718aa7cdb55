"""The report in a real browser: nothing fails, nothing is fetched, every panel is drawn, and it can be read."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from audit_example import NASTY, bare_audit, example, full_audit, nasty_audit, rows

from unclass.audits.result import Audit, Verdict
from unclass.errors import InputError
from unclass.report.audit_page import render, write_report
from unclass.report.chart_data import THUMBNAIL_BYTES, as_script_data
from unclass.report.glossary import GLOSSARY

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WITHOUT = (
    "playwright is not installed (pip install '.[dev]')"
    if find_spec("playwright") is None
    else "no chromium on the path (apt-get install chromium)"
    if CHROMIUM is None
    else ""
)
needs_browser = pytest.mark.skipif(bool(WITHOUT), reason=WITHOUT)
WIDTHS = (390, 1440)
NUMBERED = [f"n{place:08d}" for place in range(40)]
DRAWN = """() => [...document.querySelectorAll('.audit:not([hidden]) .panel, .comparison .panel')].every(
    (panel) => panel.querySelector('.mark, .missing'))"""
# Contrast of every text with what is behind it; of matrix cells with their colour over the field.
CONTRAST = """() => {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    if (!node) return [255, 255, 255, 1];
    const colour = parse(getComputedStyle(node).backgroundColor);
    return colour[3] === 1 ? colour : over(colour, behind(node.parentElement));
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!text.textContent.trim() || !node.getClientRects().length || node.tagName === 'OPTION') continue;
    const style = getComputedStyle(node), drawn = node instanceof SVGElement;
    let ground = behind(drawn ? node.closest('.canvas') : node);
    const cell = node.closest('.cell');
    if (cell) {
      const shape = getComputedStyle(cell.querySelector('rect'));
      const field = parse(getComputedStyle(cell.parentElement.querySelector('.field')).fill);
      ground = over([...parse(shape.fill).slice(0, 3), Number(shape.fillOpacity)], field);
    }
    const [a, b] = [light(parse(drawn ? style.fill : style.color)), light(ground)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), text.textContent.trim().slice(0, 40), node.getAttribute('class')]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


class Opened:
    """A page, with what it printed as an error and what it tried to fetch."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_function(DRAWN, timeout=60_000)
        self.requests = [url for url in self.requests if url != path.as_uri() and not url.startswith("data:")]

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    methods = ("boundary-shrink", "boundary-shift", "fisher")
    several = [full_audit(points=60, seed=place, method=method) for place, method in enumerate(methods)]
    return {
        "full": write_report(full_audit(points=120), folder / "full.html"),
        "shades": write_report(Audit.of(_shades()), folder / "shades.html"),
        "nasty": write_report(nasty_audit(), folder / "nasty.html"),
        "bare": write_report(bare_audit(), folder / "bare.html"),
        "several": write_report(several, folder / "several.html", rows(methods)),
    }


def _shades() -> dict[str, Any]:
    """Return an audit whose matrix holds every shade, for the forgotten class as well."""
    audit = example(points=10)
    audit["flows"] = {f"model-{place}": [place / 100] * 10 for place in range(101)}
    keep = ("schema", "verdict", "headline", "subject", "flows", "checks", "self_check", "not_claimed")
    return {key: value if key in keep else None for key, value in audit.items()}


@needs_browser
@pytest.mark.parametrize("name", ["full", "nasty", "bare", "several"])
def test_page_has_no_error_makes_no_request_and_fits_phone_and_desk(browser, pages, name):
    with Opened(browser, pages[name]) as opened:
        for width in WIDTHS:
            opened.page.set_viewport_size({"width": width, "height": 900})
            opened.page.wait_for_timeout(150)
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.errors == []
        assert opened.requests == []
        assert not opened.page.evaluate("'hacked' in window")
        assert not opened.page.locator(".drawn .missing", has_text="does not follow").count()


@needs_browser
@pytest.mark.parametrize("name", ["full", "nasty", "shades"])
def test_text_stands_out_from_its_ground_in_light_and_dark(browser, pages, name):
    with Opened(browser, pages[name]) as opened:
        opened.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        for scheme in ("light", "dark"):
            opened.page.emulate_media(color_scheme=scheme)
            ground = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark")
            found = opened.page.evaluate(CONTRAST)
            assert len(found) > 200
            assert [entry for entry in found if entry[0] < 4.5] == []


@needs_browser
def test_labels_of_a_chart_never_overlap(browser, pages):
    overlaps = """() => [...document.querySelectorAll('svg')].flatMap((picture) => {
      const texts = [...picture.querySelectorAll('text:not([transform])')];
      const boxes = texts.map((text) => [text.getBoundingClientRect(), text.textContent]);
      const meet = (a, b) =>
        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
      return boxes.flatMap(([a, one], place) =>
        boxes.slice(place + 1).filter(([b]) => meet(a, b)).map(([, two]) => [one, two]));
    })"""
    with Opened(browser, pages["full"]) as opened:
        for width in WIDTHS:
            opened.page.set_viewport_size({"width": width, "height": 900})
            opened.page.wait_for_timeout(300)
            assert opened.page.evaluate(overlaps) == []


@needs_browser
def test_pointing_at_an_image_shows_it_and_zoom_and_legend_work(browser, pages):
    with Opened(browser, pages["full"]) as opened:
        page, panel = opened.page, opened.page.locator("[data-panel=space]")
        panel.scroll_into_view_if_needed()
        ring = panel.locator("circle.ring").first
        ring.scroll_into_view_if_needed()
        place = ring.bounding_box()
        page.mouse.move(place["x"] + 3, place["y"] + 3)
        assert "deer" in page.locator("#tip").inner_text()
        assert page.locator("#tip img").get_attribute("src").startswith("data:image/png")
        assert panel.locator("circle.halo[visibility=visible]").count() == 4  # the same image in every panel

        box = panel.locator("svg").first.bounding_box()
        page.mouse.move(box["x"] + 60, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + 260, box["y"] + 260, steps=4)
        page.mouse.up()
        assert float(panel.locator(".drawn").get_attribute("data-zoom")) > 1.5
        panel.get_by_role("button", name="reset").click()
        assert panel.locator(".drawn").get_attribute("data-zoom") == "1"
        panel.get_by_role("button", name="zoom in").click()
        assert float(panel.locator(".drawn").get_attribute("data-zoom")) > 1.5

        shown = panel.locator("circle.ring[visibility=visible]")
        before = shown.count()
        panel.locator(".legend button").first.click()
        assert before > 0
        assert shown.count() == 0


@needs_browser
def test_every_chart_answers_to_the_pointer(browser, pages):
    with Opened(browser, pages["full"]) as opened:
        for panel in opened.page.locator("[data-panel]").all():
            target = panel.locator(".cell, .overlay, .attention figure").first
            target.scroll_into_view_if_needed()
            box = target.bounding_box()
            opened.page.mouse.move(1, 1)
            if panel.get_attribute("data-panel") == "space":
                continue
            opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            assert opened.page.locator("#tip").is_visible(), panel.get_attribute("data-panel")


@needs_browser
def test_curves_can_be_hidden_zoomed_and_put_on_a_log_axis(browser, pages):
    with Opened(browser, pages["full"]) as opened:
        panel = opened.page.locator("[data-panel=roc]")
        curves = panel.locator("path.curve")
        assert curves.count() == 4
        panel.locator(".legend button").first.click()
        assert curves.count() == 3
        before = curves.first.get_attribute("d")
        panel.get_by_role("button", name="log x").click()
        after = curves.first.get_attribute("d")
        assert before != after
        panel.scroll_into_view_if_needed()
        box = panel.locator(".overlay").bounding_box()
        opened.page.mouse.move(box["x"] + 50, box["y"] + 50)
        opened.page.mouse.down()
        opened.page.mouse.move(box["x"] + 300, box["y"] + 150, steps=3)
        opened.page.mouse.up()
        assert curves.first.get_attribute("d") != after
        panel.get_by_role("button", name="reset zoom").click()
        assert curves.first.get_attribute("d") == after


@needs_browser
def test_words_are_explained_where_the_pointer_rests(browser, pages):
    with Opened(browser, pages["full"]) as opened:
        term = opened.page.locator(".tile .term").first
        term.hover()
        assert len(opened.page.locator("#tip").inner_text()) > 30
        opened.page.mouse.move(1, 1)
        assert not opened.page.locator("#tip").is_visible()
        term.focus()
        assert opened.page.locator("#tip").is_visible()


@needs_browser
@pytest.mark.parametrize("width, height", [(688, 1016), (710, 950)])  # A4 and Letter inside their margins
def test_the_first_page_on_paper_is_the_certificate(browser, pages, tmp_path, width, height):
    with Opened(browser, pages["full"]) as opened:
        opened.page.emulate_media(media="print")
        opened.page.set_viewport_size({"width": width, "height": height})
        opened.page.wait_for_timeout(200)
        box = opened.page.evaluate("document.querySelector('.certificate').getBoundingClientRect().toJSON()")
        assert box["top"] >= 0 and box["bottom"] <= height
        assert box["width"] <= width
        pdf = opened.page.pdf(format="A4")
        assert len(re.findall(rb"/Type /Page\b", pdf)) >= 2


@needs_browser
@pytest.mark.parametrize("width, height", [(688, 1016), (710, 950)])
@pytest.mark.parametrize("classes", [["Größe einer Person mit sehr langem Namen, die um Löschung bat"], NUMBERED])
def test_a_certificate_with_much_to_say_is_one_page_too(browser, tmp_path, classes, width, height):
    audit = full_audit(points=10)
    why = ("own logit lies beyond its limit, as do many others that are told here at some length " * 2,) * 9
    steps = ("Give a retrained model, which this command makes: `unclass forget --data folder:pictures` " * 2,) * 4
    verdict = replace(
        audit.verdict, sentence=f"Failed: {classes[0]} and more are not gone: {why[0]}", why=why, next=steps
    )
    models = {role: replace(one, name=f"a-long-name-of-a-file-{role}" * 3) for role, one in audit.models.items()}
    subject = replace(audit.subject, forget_classes=tuple(classes))
    audit = replace(audit, verdict=verdict, models=models, subject=subject)
    with Opened(browser, write_report(audit, tmp_path / "long.html")) as opened:
        opened.page.emulate_media(media="print")
        opened.page.set_viewport_size({"width": width, "height": height})
        opened.page.wait_for_timeout(200)
        box = opened.page.evaluate("document.querySelector('.certificate').getBoundingClientRect().toJSON()")
        assert box["bottom"] <= height and box["width"] <= width
        opened.page.emulate_media(media="screen")
        shown = opened.page.locator(".certificate h1").inner_text()
        assert ("and 37 more" in shown) == (len(classes) > 1)


@needs_browser
@pytest.mark.parametrize("width", [688, 710])
def test_on_paper_no_column_of_the_comparison_is_cut_off_and_the_certificate_has_its_own_page(browser, pages, width):
    with Opened(browser, pages["several"]) as opened:
        opened.page.emulate_media(media="print")
        opened.page.set_viewport_size({"width": width, "height": 1016})
        opened.page.wait_for_timeout(200)
        assert opened.page.evaluate("document.getElementById('comparison').getBoundingClientRect().right") <= width
        assert opened.page.evaluate("getComputedStyle(document.querySelector('.audit')).breakBefore") == "page"


@needs_browser
def test_the_comparison_names_the_four_sets_in_words_with_their_meaning(browser, pages):
    with Opened(browser, pages["several"]) as opened:
        heads = opened.page.locator("#comparison thead button.term")
        assert [one.inner_text().split("\n")[0].strip() for one in heads.all()][:4] == [
            "stays, training", "erased, training", "stays, test", "erased, test",
        ]  # fmt: skip
        heads.first.hover()
        assert GLOSSARY["D_r"] in opened.page.locator("#tip").inner_text()


@needs_browser
@pytest.mark.parametrize(
    "layers, ticks",
    [
        (
            ("network.blocks.0.conv", "network.blocks.7.conv", "penultimate features"),
            ["blocks.0", "blocks.7", "features"],
        ),
        (("stem.conv", "layer1.0.conv2", "layer4.2.conv2"), ["stem.conv", "layer1.0.conv2", "layer4.2.conv2"]),
        (("0", "2", "4"), ["0", "2", "4"]),
        (("a.b", "a.b"), ["b", "b"]),
    ],
)
def test_layers_are_named_by_what_tells_them_apart(browser, tmp_path, layers, ticks):
    content = example(points=10)
    content["similarity"] = {
        "layers": list(layers),
        "cka": {"original": [1.0] * len(layers), "unlearned": [0.5] * len(layers)},
    }
    with Opened(browser, write_report(Audit.of(content), tmp_path / "layers.html")) as opened:
        drawn = opened.page.locator("[id$=closeness] .panel svg text").all_text_contents()
        assert not opened.errors and [text for text in drawn if text in ticks][-len(ticks) :] == ticks


@needs_browser
def test_two_models_are_put_side_by_side(browser, pages):
    with Opened(browser, pages["several"]) as opened:
        page = opened.page
        for kind in ("confusion", "space", "entropy"):
            assert page.locator(f"[data-contrast={kind}] .mark").count() > 2, kind
        page.locator("#model-a").select_option(label="original")
        page.locator("#model-b").select_option(label="fisher")
        assert [one.inner_text() for one in page.locator("[data-contrast=space] > h4").all()] == ["original", "fisher"]


@needs_browser
def test_the_address_names_the_method_and_the_default_one_is_shown_first(browser, pages):
    with Opened(browser, pages["several"]) as opened:
        page = opened.page
        assert "boundary-shift" in page.locator(".audit:visible .eyebrow").inner_text()
        page.locator("#picked").select_option("2")
        assert page.evaluate("location.hash") == "#fisher"
        page.goto(pages["several"].as_uri() + "#boundary-shrink")
        page.reload()
        page.wait_for_function(DRAWN)
        assert "boundary-shrink" in page.locator(".audit:visible .eyebrow").inner_text()


@needs_browser
def test_comparison_sorts_and_one_method_is_picked(browser, pages):
    with Opened(browser, pages["several"]) as opened:
        page = opened.page
        names = page.locator("#comparison tbody th")
        page.locator("#comparison thead button", has_text="seconds").click()
        shown = [name.inner_text().split()[0] for name in names.all()]
        assert shown == ["original", "retrain", "boundary-shift", "boundary-shrink", "fisher"]  # the first two stay
        assert page.locator("#comparison tr", has_text="boundary-shift").locator(".mark-of").inner_text() == "default"
        why = page.locator("#comparison tr", has_text="boundary-shrink").locator("td").first.inner_text()
        assert "failed" in why and "population attack" in why
        page.locator("#picked").select_option("1")
        page.wait_for_function(DRAWN)
        assert page.locator(".audit:visible").count() == 1
        assert "boundary-shift" in page.locator(".audit:visible .eyebrow").inner_text()


@needs_browser
def test_checks_are_filtered_by_status(browser, pages):
    with Opened(browser, pages["full"]) as opened:
        opened.page.locator("summary", has_text="checks, with limits").click()
        opened.page.locator(".filters button", has_text="failed").click()
        failed = [check for check in full_audit().checks if check.status == "failed"]
        assert opened.page.locator(".checks tr[data-status]:visible").count() == len(failed) > 1


def test_parts_without_content_do_not_appear():
    text, whole = render([bare_audit()]), render([full_audit(points=10)])
    for words in ("Decision space", "Privacy", "Closeness to retraining", "Technical detail", "data-panel"):
        assert f">{words}<" not in text or words == "data-panel"
        assert words in whole
    assert "<figure" not in text and "Nothing ran." in text
    assert "not given" in render([nasty_audit()]) and "Closeness to retraining</h2>" not in render([nasty_audit()])


def test_the_first_screen_says_what_was_asked_who_ran_it_and_what_to_do():
    audit = full_audit(points=10)
    text = render([replace(audit, subject=replace(audit.subject, request="DSR-17"))])
    first = text[: text.index("</header>")]
    for words in ("request DSR-17", "unlearned.safetensors", "What to do next", "18 November 2026", "by an auditor",
                  audit.models["original"].weights[:12], "What is not claimed"):  # fmt: skip
        assert words in first, words
    assert first.count('<li class="tile') == 5 and first.count('class="scale"') == 5


def test_without_a_reference_the_badge_says_so():
    verdict = Verdict("passed without reference", "Passed.", badge="passed the checks that need no reference")
    assert "</span>passed the checks that need no reference</span>" in render([replace(bare_audit(), verdict=verdict)])


def test_pictures_are_announced_and_absent_ones_leave_no_trace():
    audit = full_audit(points=10)
    assert "pictures of the erased class" in render([audit])
    without = replace(audit, attention=None, decision_space=replace(audit.decision_space, thumbnails=None))
    text = render([without])
    assert "pictures of the erased class" not in text and "data:image/" not in text


def test_names_are_text_and_data_cannot_close_its_element():
    text = render([nasty_audit()])
    assert "<img src=x" not in text
    assert text.count("</script>") == 2
    data = as_script_data({"names": [*NASTY], "value": float("nan")})
    assert not set("<>&\u2028\u2029") & set(data)
    assert json.loads(data) == {"names": [*NASTY], "value": None}


def test_only_embedded_pictures_are_shown():
    audit = example(points=10)
    audit["decision_space"]["thumbnails"][0] = "https://example.org/picture.png"
    audit["attention"]["images"][0]["picture"] = "https://example.org/picture.png"
    assert "example.org" not in render([Audit.of(audit)])


def test_thumbnails_stay_within_their_room_and_forget_images_come_first():
    audit = example(points=100)
    audit["attention"] = None
    large = [f"data:image/png;base64,{place:04d}" + "A" * 30_000 for place in range(100)]
    audit["decision_space"]["thumbnails"] = large
    text = render([Audit.of(audit)])
    assert len(text) < THUMBNAIL_BYTES * 1.2
    for place, forget in enumerate(audit["decision_space"]["forget"]):
        assert not forget or large[place] in text


def test_pictures_that_audits_share_are_kept_once():
    one, two = len(render([full_audit(points=100)])), len(render([full_audit(points=100)] * 2))
    assert two - one < one * 0.8


def test_every_word_of_the_glossary_is_explained_on_the_page_and_linked_to():
    text = render([bare_audit()], rows(("finetune",)))
    assert 'href="#words"' in text and 'id="words"' in text
    assert all(f"<dt>{word}</dt>" in text for word in GLOSSARY)
    assert 'class="term" data-word="D_rt"' in text


def test_report_needs_something_to_show():
    with pytest.raises(InputError, match="needs an audit"):
        render([])
    with pytest.raises(InputError, match="schema 'other'"):
        Audit.of({"schema": "other"})


@needs_browser
def test_a_wide_comparison_shows_every_column_on_a_desk_and_every_accuracy_on_a_phone(browser, tmp_path):
    methods = ("boundary-expanding@authors", "masked-small-gradients", "convolution-transpose", "logit-mask")
    status = ("failed", "undecided", "passed without reference", "failed")
    audits = [Audit.of(example(points=10, method=name, status=one)) for name, one in zip(methods, status, strict=True)]
    path = write_report(audits, tmp_path / "wide.html", rows(methods))
    beyond = "(box) => box.scrollWidth - box.clientWidth"
    with Opened(browser, path) as opened:
        assert opened.page.locator("#comparison").locator("..").evaluate(beyond) <= 1
        opened.page.set_viewport_size({"width": 390, "height": 900})
        opened.page.wait_for_timeout(150)
        accuracies = opened.page.locator(".audit:not([hidden]) table.figures:not(.sortable)").first
        assert accuracies.locator("..").evaluate(beyond) <= 1


def test_several_classes_are_asked_about_as_several():
    audit = example(points=10)
    audit["subject"]["forget_classes"] = ["deer", "cat"]
    text = render([Audit.of(audit)])
    assert "<h1>Are <span" in text and ">deer and cat</span> gone" in text
    assert "Do the classes come back when" in text and "Does the class come back when" not in text.split("</header>")[0]
    assert "erased class's" not in text.replace("&#39;", "'") and "Where the erased classes' training" in text.replace(
        "&#39;", "'"
    )
    assert "<h1>Is <span" in render([full_audit(points=10)])


@needs_browser
def test_on_paper_the_heads_of_attention_maps_stay_with_the_first_row(browser, pages):
    with Opened(browser, pages["full"]) as opened:
        opened.page.emulate_media(media="print")
        style = "selector => { const found = getComputedStyle(document.querySelector(selector)); "
        style += "return [found.overflowX, found.breakAfter]; }"
        assert (
            opened.page.evaluate(style, ".attention")[0] == "visible"
        )  # else all rows are one piece, too tall for a page
        assert opened.page.evaluate(style, ".attention > p")[1] == "avoid"


def test_no_line_ends_between_a_number_and_its_percent_sign():
    audit = example(points=10)
    audit["verdict"]["sentence"] = "Failed: 91.2 % of it comes back."
    assert "91.2\N{NO-BREAK SPACE}%" in render([Audit.of(audit)])
