"""How to play, with the numbers of a configuration."""

from __future__ import annotations

from helsinki_env.games.helsinki.action_words import action_label, cost_text
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, Components
from helsinki_env.games.helsinki.config import HelsinkiConfig

__all__ = ["action_sentence", "label_of", "rules_text"]

#: The effect of each board action; `n` is its strength and `s` the plural ending.
_SENTENCES: dict[str, str] = {
    "move_1_to_6": "Instead of the normal move, move up to {n} spaces.",
    "move_1_to_5": "Instead of the normal move, move up to {n} spaces.",
    "move_back": "Instead of the normal move, move {n} space{s} back.",
    "two_wild_tiles": "Put {n} wild tile{s} on empty cells next to your tiles.",
    "one_wild_tile": "Put {n} wild tile{s} on empty cells next to your tiles.",
    "any_side": "Push the tile that you build in from any of the other three sides.",
    "extra_card": "Draw {n} more card{s} from the draw pile when you draw.",
    "extra_superstructure": "After a build, put up to {n} more superstructure{s} on the tile just built.",
    "second_pavilion": "After a build, build once more in this turn.",
    "one_card_fewer": "Pay {n} card{s} fewer for the pavilion that you build.",
    "move_superstructure": "Move one of your superstructures to another free roof.",
    "no_hand_limit": "Keep all cards now and until the end of your next turn.",
    "draw_and_build": "After drawing, build as well.",
    "any_card_as_wild": "Pay one card of another color as if it were wild.",
    "two_points": "Score {n} point{s} now.",
}


def label_of(components: Components, action: int) -> str:
    """Return the label of a board action in one line."""
    text = " ".join(action_label(components, BOARD_ACTIONS[action]))
    return text.replace("- ", "")


def action_sentence(components: Components, action: int) -> str:
    """Return what a board action does, with its strength and cost."""
    strength = components.strengths[action]
    does = _SENTENCES[BOARD_ACTIONS[action]].format(n=strength, s="" if strength == 1 else "s")
    return f"{label_of(components, action)} ({cost_text(components.costs[action])}): {does}"


def rules_text(config: HelsinkiConfig) -> list[dict[str, str]]:
    """Return the rules as sections, each with `title` and `text`."""
    c = config.component_set
    covered = [label_of(c, action) for action in config.covered]
    sections = [
        (
            "Goal",
            (
                "Fill the rows and columns of your board with pavilions and put superstructures on their roofs. "
                "After the last round, the player with the most points wins."
            ),
        ),
        (
            "A turn",
            "Move your token 1 to 3 spaces clockwise. Then either draw cards or build a pavilion.",
        ),
        (
            "Draw",
            (
                "Take the two cards next to your token into your hand. "
                f"If you then hold more than {c.hand_limit} cards, discard down to {c.hand_limit}."
            ),
        ),
        (
            "Build",
            (
                "Play a card from your hand. Its number says how many cards you pay in all, this one included. "
                "The others must have the same color or be wild. The card shows a tile; push it in from the side of "
                "the board where your token stands. It slides until another tile or the statue stops it. "
                "You may rotate and flip it. If it touches a tile of its own color, draw a bonus card."
            ),
        ),
        (
            "Superstructures",
            "A card can show superstructures. Put them on free roofs of the tile that you have just built.",
        ),
        (
            "Coats of arms",
            f"Cover one of the {len(c.coats)} coats of arms on your board to win it. A coat pays for an action of the "
            "action board, also in the same turn. Each player uses each action once. "
            + (f"These actions are covered, so no player uses them: {', '.join(covered)}." if covered else ""),
        ),
        (
            "Points",
            (
                f"Each full row scores {c.points_row} and each full column {c.points_column}. "
                f"A superstructure scores {c.points_crossing} if its row and its column are full, "
                f"and {c.points_line} if only one of them is. The statue counts as a filled cell."
            ),
        ),
        (
            "End",
            (
                "The round in which the draw pile becomes empty is the last one. "
                "A tie goes to the player later in turn order."
            ),
        ),
    ]
    if config.dry_roads:
        values = ", ".join(map(str, c.bonus_cards[: config.num_players]))
        sections.append(
            (
                "Dry roads",
                (
                    "Connect the four cells next to your crosswalks with tiles that touch each other. "
                    f"You then take the best bonus card that is left, once. Their values: {values} points."
                ),
            )
        )
    actions = " ".join(action_sentence(c, action) for row in _printed(c) for action in row)
    sections.append(("Action board", actions))
    return [{"title": title, "text": text.strip()} for title, text in sections]


def _printed(components: Components) -> list[list[int]]:
    """Return the board actions in the order in which they are printed."""
    return [[BOARD_ACTIONS.index(name) for name in row] for row in components.action_rows]
