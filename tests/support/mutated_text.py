"""Random changes of a text: what comes of a damaged transfer, or of a program that writes carelessly."""

from __future__ import annotations

import random

_INSERTED = (
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "\n",
    "\0",
    "null",
    "1e999",
    "-1",
    "9" * 40,
    "\u00e9",
    "\U0001f600",
    "true",
    ":",
)


def mutated_text(rng: random.Random, text: str) -> str:
    """The text after one to six changes: characters removed, doubled, changed or put in, and ends cut off."""
    for _ in range(rng.randint(1, 6)):
        at, length = rng.randrange(len(text) + 1), rng.randint(1, 8)
        change = rng.randrange(5)
        if change == 0:
            text = text[:at] + text[at + length :]
        elif change == 1:
            text = text[:at] + text[at : at + length] + text[at:]
        elif change == 2:
            text = text[:at] + chr(rng.randrange(32, 127)) + text[at + 1 :]
        elif change == 3:
            text = text[:at] + rng.choice(_INSERTED) + text[at:]
        else:
            text = text[:at] if rng.random() < 0.2 else text
    return text
