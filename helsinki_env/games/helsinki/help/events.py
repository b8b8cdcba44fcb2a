"""What happened, with the public cards by name."""

from __future__ import annotations

from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.components import COLOURS, Components
from helsinki_env.games.helsinki.game import HelsinkiGame

__all__ = ["card_name", "said"]


def card_name(components: Components, card: int) -> str:
    """Return a card by color and number, such as ``yellow 4``."""
    if card == components.wild_type:
        return "wild card"
    return f"{COLOURS[components.card_color(card)]} {components.card_number(card)}"


def said(game: HelsinkiGame, action: int, words: str) -> str:
    """Return the description of an action for the log: `words`, or for a draw the names of the public cards.

    Args:
        game: the game before the action.
        action: a legal action.
        words: the general description.
    """
    if game.actions.decode(action)[0] != a.KIND_DRAW:
        return words
    g, c, token = game.state, game.config.component_set, int(game.state.token[game.seat])
    cards = [int(g.display[slot]) for slot in ((token - 1) % 8, token)]
    return f"took {' and '.join(f'a {card_name(c, card)}' for card in cards if card >= 0) or words}"
