"""Classes as people name them: by name, by index, several with commas between. Needs no torch."""

from collections.abc import Sequence

from unclass.errors import InputError, unknown

_LONGEST_INDEX = 15


def find_class(classes: Sequence[str], label: str | int, where: str) -> int:
    """Return the index of a class given by name or index: text is a name first, a number an index.

    A number that is also the name of another class is refused: it may have been meant either way.
    """
    named = str(label) in classes
    if named and isinstance(label, int) and label < len(classes) and classes[label] != str(label):
        raise InputError(
            f"class {label} may be the one of that name or, by index, {classes[label]!r}{where}; "
            f"give its name as text, {str(label)!r} or {classes[label]!r}"
        )
    if named:
        return classes.index(str(label))
    if is_index(str(label)) and int(label) < len(classes):
        return int(label)
    raise unknown("class", label, classes, where)


def expand_labels(labels: Sequence[str | int], classes: Sequence[str]) -> tuple[str | int, ...]:
    """Return labels one by one: `3,4` is two, unless a class is called so.

    >>> expand_labels(["3,4", "a, b"], ["3", "4", "a, b"])
    ('3', '4', 'a, b')
    """
    several = [label.split(",") if isinstance(label, str) and label not in classes else [label] for label in labels]
    return tuple(
        part.strip() if isinstance(part, str) and len(parts) > 1 else part for parts in several for part in parts
    )


def is_index(text: str) -> bool:
    """Whether a text is a whole number that can count something."""
    return text.isdecimal() and len(text) <= _LONGEST_INDEX
