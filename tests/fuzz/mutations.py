"""Seeded damage: JSON with one field turned into something else, bytes with some of them changed."""

import copy
import random
from typing import Any

DEEP: Any = []
for _ in range(300):
    DEEP = [DEEP]
JUNK: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3.5, -0.1, 1e308, 10**4, 10**9, 10**12, 10**30, -(10**18), "", "x", "3",
    "nan", "\0", "é\ud800", "x" * 70_000,
    "../../../etc/passwd", "/dev/zero", "hf://user/repo", "hf-hub:user/model", "https://localhost/x",
    [], {}, [None], [[]], {"": None}, {"a": {"b": []}}, [1, "a", None], ["a"] * 1000, [0.5] * 3, [1e400], DEEP,
)  # fmt: skip


def paths_of(value: Any, so_far: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in nested dicts and lists, the root included."""
    found = [so_far]
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in list(pairs)[:40]:
        found += paths_of(one, (*so_far, key))
    return found


def damaged(value: Any, draw: random.Random) -> Any:
    """A copy of a JSON value with one to three places removed, replaced or added to."""
    value = copy.deepcopy(value)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        path = draw.choice(paths_of(value))
        if not path:
            if draw.random() < 0.2:
                return draw.choice(JUNK)
            if isinstance(value, dict):
                value[draw.choice(("new", "_attn_implementation", "auto_map", "pretrained", "0", ""))] = draw.choice(
                    JUNK
                )
            continue
        inside = value
        for key in path[:-1]:
            inside = inside[key]
        if draw.random() < 0.2:
            del inside[path[-1]]
        elif isinstance(inside[path[-1]], int | float) and draw.random() < 0.4:
            inside[path[-1]] *= draw.choice((-1, 0, 2, 7, 1000, 10**6, 10**12))
        else:
            inside[path[-1]] = copy.deepcopy(draw.choice(JUNK))
    return value


def broken(content: bytes, draw: random.Random) -> bytes:
    """Bytes with some of them flipped, cut off, doubled, left out or made up."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 5, 20))):
        place = draw.randrange(len(data)) if data else 0
        kind = draw.randrange(6)
        if kind == 0 and data:
            data[place] ^= 1 << draw.randrange(8)
        elif kind == 1 and data:
            data[place] = draw.choice((0, 255, 127, 128, draw.randrange(256)))
        elif kind == 2:
            del data[place:]
        elif kind == 3:
            del data[place : place + draw.choice((1, 4, 100))]
        elif kind == 4:
            data[place:place] = data[place : place + draw.choice((1, 8, 512))]
        else:
            data[place : place + 8] = draw.randbytes(8)
    return bytes(data)
