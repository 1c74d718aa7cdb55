"""Words of the glossary are marked once in a text, and names in it stay text."""

from unclass.report.glossary import GLOSSARY
from unclass.report.terms import KNOWN, MARKED, terms


def test_every_marked_word_is_explained() -> None:
    assert set(MARKED) <= set(GLOSSARY) and len(KNOWN) == len(MARKED)


def test_a_word_is_marked_the_first_time_however_it_is_written() -> None:
    text = terms("Batch-norm recalibration: recalibration of batch norm")
    assert text.count("<dfn") == 2 and 'data-word="batch norm">Batch-norm</dfn>' in text


def test_the_longest_word_wins_and_parts_of_words_are_left_alone() -> None:
    assert 'data-word="D_ft"' in terms("D_ft") and terms("overhead").count("<dfn") == 0


def test_names_stay_text() -> None:
    assert "<img" not in terms("<img src=x onerror=alert(1)> AUC")
