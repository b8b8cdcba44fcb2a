"""Messages to pages, as text: a view in full, or only what has changed since the view before."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["applied", "change_between", "packed"]

#: What a text is cut into: elements of a picture, and objects and lists of JSON.
_PIECE = re.compile(r"[<{\[]?[^<{\[]+|[<{\[]")
_LEAST_COPIED = 24
"""Characters from which on a copy is shorter than the text itself."""
_MOST_TRIED = 32
"""Places of the former text that are compared with one of the next."""

Part = str | list[int]


def packed(message: Mapping[str, Any]) -> str:
    """Return a message as text.

    All characters are ASCII: JavaScript counts the others differently, and changes name places in a text.
    """
    return json.dumps(message, separators=(",", ":"))


def change_between(before: str, after: str) -> str:
    """Return the message that turns one view into the next, or the next view if that is shorter.

    The message depends on the two texts alone, so it tells a page nothing that neither of them tells.

    Args:
        before: the view that the page has, as `packed` gives it; empty: it has none.
        after: the view that it is to have.

    Returns:
        ``{"type": "change", "parts": [...]}``: the next text is these parts in a row. A part is a text, or the start
        and end of what is copied from the former one (`applied`).
    """
    change = packed({"type": "change", "parts": _parts(before, after)})
    return change if len(change) < len(after) else after


def applied(before: str, parts: Sequence[Part]) -> str:
    """Return the text that the parts of a change make of the former one."""
    return "".join(part if isinstance(part, str) else before[part[0] : part[1]] for part in parts)


def _parts(before: str, after: str) -> list[Part]:
    """Return what the next text is made of: the longest runs of pieces that the former one has, and what is new."""
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    starts, places = [0], dict[str, list[int]]()
    for number, piece in enumerate(old):
        starts.append(starts[-1] + len(piece))
        places.setdefault(piece, []).append(number)
    parts: list[Part] = []
    now = near = 0
    while now < len(new):
        # What stands next to the last copy is the likeliest, as most of a picture stays where it was.
        goes_on = near < len(old) and old[near] == new[now]
        tried = [near] if goes_on else places.get(new[now], [])[:_MOST_TRIED]
        length, first = max(((_run(old, new, place, now), place) for place in tried), default=(0, 0))
        start, end = starts[first], starts[first + length]
        if end - start < _LEAST_COPIED:
            length, near = 1, near + 1
            _add(parts, new[now])
        else:
            near = first + length
            parts.append([start, end])
        now += length
    return parts


def _add(parts: list[Part], text: str) -> None:
    if parts and isinstance(parts[-1], str):
        parts[-1] += text
    else:
        parts.append(text)


def _run(old: list[str], new: list[str], first: int, now: int) -> int:
    """Return how many pieces are the same from two places on."""
    length, most = 0, min(len(old) - first, len(new) - now)
    while length < most and old[first + length] == new[now + length]:
        length += 1
    return length
