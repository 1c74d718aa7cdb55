"""The words: one place explains them, the page says the same, and every word of a table's heading is there."""

import re
from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.metrics import SCORES
from unclass.report.glossary import GLOSSARY, anchor, as_markdown, explain

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"


def test_the_page_is_what_the_table_of_words_makes() -> None:
    assert PAGE.read_text(encoding="utf-8") == as_markdown(), "run: unclass glossary --markdown > docs/glossary.md"


def test_words_stand_in_order_and_are_explained_in_a_sentence() -> None:
    assert list(GLOSSARY) == sorted(GLOSSARY, key=str.lower)
    assert all(meaning.endswith(".") and 15 < len(meaning) < 250 for meaning in GLOSSARY.values())


def test_every_heading_of_the_tables_is_explained() -> None:
    assert {*SCORES.values(), "speed-up"} <= set(GLOSSARY)


@pytest.mark.parametrize("word", ["D_f", "d_f", " D_f ", "d-f"])
def test_a_word_is_found_however_it_is_written(word: str) -> None:
    assert explain(word) == GLOSSARY["D_f"]


def test_an_unknown_word_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown word 'verdikt'.*did you mean verdict\?"):
        explain("verdikt")


def test_every_link_to_the_glossary_leads_to_a_word() -> None:
    anchors = {anchor(word) for word in GLOSSARY}
    pages = [*PAGE.parent.rglob("*.md"), *PAGE.parents[1].glob("*.md")]
    links = [link for page in pages for link in re.findall(r"glossary\.md#([^)\s]+)", page.read_text(encoding="utf-8"))]
    assert set(links) <= anchors
