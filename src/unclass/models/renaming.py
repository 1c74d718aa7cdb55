"""The name of a forgotten class, wherever a written model still holds it: its card, and a folder's configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from unclass.errors import InputError
from unclass.models.classifier import Classifier


def new_names(classes: Sequence[str], forgotten: Sequence[str], name: str) -> dict[str, str]:
    """Return what each forgotten class is called from now on: the name given, numbered if there are several.

    >>> new_names(["cat", "deer", "dog"], ["deer"], "erased"), new_names(["a", "b", "c"], ["a", "c"], "erased")
    ({'deer': 'erased'}, {'a': 'erased-1', 'c': 'erased-2'})
    """
    several = [f"{name}-{place + 1}" for place in range(len(forgotten))] if len(forgotten) > 1 else [name]
    taken = [one for one in several if one in set(classes) - set(forgotten)]
    if not name.strip() or taken:
        why = f"is another class's ({', '.join(taken)})" if taken else "is empty"
        raise InputError(f"the new name {name!r} {why}; give one that no class has")
    return dict(zip(forgotten, several, strict=True))


def rename(model: Classifier, names: Mapping[str, str]) -> None:
    """Call classes otherwise in a model's card, and so in the metadata of every file written of it."""
    card = model.card
    model.card = replace(
        card,
        classes=tuple(names.get(one, one) for one in card.classes),
        forgotten=tuple(sorted(names.get(one, one) for one in card.forgotten)),
        still_known={names.get(one, one): share for one, share in card.still_known.items()},
    )


def renamed(configuration: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a Hugging Face configuration that calls classes otherwise: in id2label, label2id and label_names."""
    content = dict(configuration)
    if isinstance(content.get("id2label"), dict):
        content["id2label"] = {key: names.get(value, value) for key, value in content["id2label"].items()}
    if isinstance(content.get("label2id"), dict):
        content["label2id"] = {names.get(key, key): value for key, value in content["label2id"].items()}
    if isinstance(content.get("label_names"), list):
        content["label_names"] = [names.get(one, one) for one in content["label_names"]]
    return content
