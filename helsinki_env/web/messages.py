"""Text encoding of messages to pages: a full view, or the difference from the previous view."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["applied", "change_between", "encode_message"]

#: The pieces of a text: elements of a picture, and objects and lists of JSON.
_PIECE = re.compile(r"[<{\[]?[^<{\[]+|[<{\[]")
_LEAST_COPIED = 24
"""Minimum number of characters for which a copy reference is shorter than the text itself."""
_MOST_TRIED = 32
"""Maximum number of positions in the previous text that are compared with one position in the next."""

ChangePart = str | list[int]


def encode_message(message: Mapping[str, Any]) -> str:
    """Return a message as text.

    All characters are ASCII: JavaScript counts other characters differently, and changes refer to offsets in the text.
    """
    return json.dumps(message, separators=(",", ":"))


def change_between(before: str, after: str) -> str:
    """Return the message that turns one view into the next, or the next view if that is shorter.

    The message depends only on the two texts, so it reveals nothing that they do not contain.

    Args:
        before: the view that the page has, encoded by `encode_message`; empty if it has none.
        after: the view that the page receives.

    Returns:
        ``{"type": "change", "parts": [...]}``: the next text is the concatenation of these parts. A part is a text, or
        the start and end of a range copied from the previous text (`applied`).
    """
    change = encode_message({"type": "change", "parts": _parts(before, after)})
    return change if len(change) < len(after) else after


def applied(before: str, parts: Sequence[ChangePart]) -> str:
    """Return the text that the parts of a change produce from the previous one."""
    return "".join(part if isinstance(part, str) else before[part[0] : part[1]] for part in parts)


def _parts(before: str, after: str) -> list[ChangePart]:
    """Return the parts of the next text: the longest runs copied from the previous text, and new text."""
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    starts, places = [0], dict[str, list[int]]()
    for number, piece in enumerate(old):
        starts.append(starts[-1] + len(piece))
        places.setdefault(piece, []).append(number)
    parts: list[ChangePart] = []
    now = near = 0
    while now < len(new):
        # The piece after the last copy is the most likely match, because most of a picture does not move.
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


def _add(parts: list[ChangePart], text: str) -> None:
    if parts and isinstance(parts[-1], str):
        parts[-1] += text
    else:
        parts.append(text)


def _run(old: list[str], new: list[str], first: int, now: int) -> int:
    """Return the number of equal pieces from two positions on."""
    length, most = 0, min(len(old) - first, len(new) - now)
    while length < most and old[first + length] == new[now + length]:
        length += 1
    return length
