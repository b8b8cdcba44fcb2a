"""Describe the abilities in words: names and effects."""

from __future__ import annotations

ABILITY_LABELS = (
    ("Any cards",),
    ("Additional", "card"),
    ("Construction", "discount"),
    ("Change of", "colors"),
    ("Both actions",),
)
"""The name of each ability, split into the lines of its label."""

_EFFECTS = (
    "After the first card: take the second from further to the right than the next one.",
    "After you take two cards: take one more from any place of the display.",
    "Before you place a tile: it costs one card less.",
    "Before you place a tile: pay with cards of one other color as if they had its color.",
    "After taking cards and discarding: construct in the same turn.",
)


def ability_label(ability: int) -> str:
    """Return the name of an ability as one line of text."""
    return " ".join(ABILITY_LABELS[ability])


def ability_effect(ability: int) -> str:
    """Return the effect of an ability as a sentence."""
    return _EFFECTS[ability]


def ability_sentence(ability: int) -> str:
    """Return the name and the effect of an ability as a sentence."""
    return f"{ability_label(ability)}: {_EFFECTS[ability]}"
