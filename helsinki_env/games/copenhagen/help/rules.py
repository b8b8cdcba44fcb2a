"""How to play, with the numbers of a configuration."""

from __future__ import annotations

from helsinki_env.games.copenhagen.components import ABILITIES, DISPLAY
from helsinki_env.games.copenhagen.config import CopenhagenConfig

__all__ = ["ability_label", "ability_sentence", "rules_text"]

_LABELS = ("Any cards", "Additional card", "Construction discount", "Change of colors", "Both actions")
_SENTENCES = (
    "take two cards that do not lie next to each other.",
    "take a third card in the same turn.",
    "pay one card less for a tile.",
    "pay with cards of one other color as if they had the tile's color.",
    "construct in the same turn after taking cards.",
)


def ability_label(ability: int) -> str:
    """Return the name of an ability on pages."""
    return _LABELS[ability]


def ability_sentence(ability: int) -> str:
    """Return what an ability does."""
    return f"{_LABELS[ability]}: {_SENTENCES[ability]}"


def rules_text(config: CopenhagenConfig) -> list[dict[str, str]]:
    """Return the rules as sections, each with `title` and `text`."""
    c = config.component_set
    sections = [
        (
            "Goal",
            (
                "Cover the facade of your house with tiles. Full rows and columns score points. "
                f"The first player with {c.goal} points wins at that moment."
            ),
        ),
        ("A turn", "Either take cards or construct."),
        (
            "Take cards",
            (
                f"Take two cards that lie next to each other in the row of {DISPLAY}. "
                f"If you then hold more than {c.hand_limit} cards, discard down to {c.hand_limit}. "
                "At the end of the turn the row is filled up."
            ),
        ),
        (
            "Construct",
            (
                "Choose a tile of the common supply and pay one card of its color for each of its cells. "
                "Pay one card less if the tile touches a tile of its color. "
                "One cell of the tile must have the ground or a filled cell directly below it. "
                "You may rotate and flip it."
            ),
        ),
        (
            "Points",
            (
                f"A full row scores {c.points_row}, or {c.points_row_windows} if it shows windows only. "
                f"A full column scores {c.points_column}, or {c.points_column_windows} if it shows windows only. "
                "Each colored tile shows one brick."
            ),
        ),
        (
            "Coats of arms",
            (
                "Cover a coat of arms, or fill a row next to one, for a reward. "
                "Choose a white tile of one window, a new ability, or turn your used abilities back. "
                f"The common supply has {c.white_tiles} white tiles."
            ),
        ),
        (
            "Abilities",
            "Every player owns Any cards. An ability is used once and then lies face down. "
            + " ".join(ability_sentence(ability) for ability in range(len(ABILITIES))),
        ),
        (
            "End",
            (
                f"The game ends when a player has {c.goal} points, or when the End of Game card is drawn. "
                "Most points win, and a tie goes to the player with fewer empty cells."
            ),
        ),
    ]
    return [{"title": title, "text": text} for title, text in sections]
