"""Views of a table for a browser: the observable state, the legal actions, and the public log.

A view is built only from the seat's own observation and the log. It contains no other hand, draw pile order, chance
state or seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from helsinki_env.engine.game import BoardGame
from helsinki_env.web.tables import HUMAN, GameTable, reveals_hidden

__all__ = ["choices", "picture", "selection_view", "table_view"]

_LOG = 400


def picture(table: GameTable, viewer: int | None) -> dict[str, Any]:
    """Return the picture of a table as SVG text, size and named rectangles, for a seat or, if None, for an observer."""
    game = table.game
    spec, components = game.spec, game.config.component_set
    position = spec.to_dict(game, viewer) if spec.to_dict is not None else {}
    last = spec.action_to_string(table.decisions[-1].action, game.config) if table.decisions else None
    render = spec.render() if spec.render is not None else None
    if render is None:
        return {"svg": "", "size": [0, 0], "spots": {}}
    svg, spots = render.svg_and_spots(position, components, last_decision=last, viewer=viewer)
    return {"svg": svg, "size": _size(svg), "spots": spots}


def _size(svg: str) -> list[float]:
    _, _, width, height = svg.partition('viewBox="')[2].partition('"')[0].split()
    return [float(width), float(height)]


def choices(game: BoardGame) -> list[dict[str, Any]]:
    """Return the legal actions of the seat to move, worded by `GameSpec.list_ui_actions`, with their consequences.

    `reveals_hidden`: the action shows hidden information and cannot be undone; `ends`: otherwise, the action ends the
    turn.
    """
    if game.done or game.spec.list_ui_actions is None:
        return []
    return [{**touch.to_dict(), **_outcome(game, [touch.id])} for touch in game.spec.list_ui_actions(game, game.seat)]


def selection_view(game: BoardGame) -> dict[str, Any] | None:
    """Return the choices the acting seat may make in any order (`GameSpec.available_selection`) and their effects."""
    found = (
        None if game.done or game.spec.available_selection is None else game.spec.available_selection(game, game.seat)
    )
    if found is None:
        return None
    first, last = (_outcome(game, way) for way in found.extreme_selections())
    return {**found.to_dict(), **{what: first[what] and last[what] for what in first}}


def _outcome(game: BoardGame, actions: list[int]) -> dict[str, bool]:
    """Return whether actions reveal hidden information or, if not, end the turn."""
    after = game.clone()
    for action in actions:
        after.step(action)
    shows = reveals_hidden(game, after)
    # Whether the game ends may depend on a hidden card, so a view that reveals one says nothing about it.
    return {"ends": not shows and (after.done or after.seat != game.seat), "reveals": shows}


def _kind(game: BoardGame, action: int) -> str:
    return game.spec.action_to_string(action, game.config).partition(" ")[0]


def table_view(
    table: GameTable,
    mine: tuple[int, ...],
    viewer: int | None,
    curtain: int | None,
    thinking: dict[str, Any] | None,
    message: str | None,
    drawn: Callable[[int | None], dict[str, Any]],
    legal: Callable[[], list[dict[str, Any]]],
) -> dict[str, Any]:
    """Return the view that a browser shows.

    Args:
        table: the table.
        mine: the seats that this browser plays.
        viewer: the seat whose cards it shows; None shows all cards, only for browsers that play no seat.
        curtain: the seat whose player must first take the device; until then, no card is sent.
        thinking: the computing player and its elapsed time.
        message: message to display.
        drawn: returns the picture for a seat.
        legal: returns the legal actions of the seat to move.
    """
    game, turn = table.game, table.turn()
    over = game.done
    decides = not over and curtain is None and game.seat in mine and viewer == game.seat
    scores, places = game.scores().tolist(), game.ranks().tolist()
    view: dict[str, Any] = {
        "type": "table",
        "table": table.name,
        "name": table.title,
        "game": game.spec.name,
        "number": table.number,
        "seat": game.seat,
        "phase": str(game.phase),
        "done": over,
        "mine": list(mine),
        "viewer": viewer,
        "curtain": curtain,
        "svg": "",
        "size": [0, 0],
        "spots": {},
        "decisions": legal() if decides else [],
        "selection": selection_view(game) if decides else None,
        "turn": [{"number": d.number, "seat": d.seat, "words": d.said, "kind": _kind(game, d.action)} for d in turn],
        "undo": table.undoable() if decides else None,
        "takeback": table.may_take_back() if table.humans == mine else [],
        "thinking": thinking,
        "paused": table.paused,
        "seats": [
            {
                "name": chair.name,
                "player": chair.player,
                "human": chair.player == HUMAN,
                "score": scores[seat],
                "place": places[seat],
                "to_move": not over and seat == game.seat,
            }
            for seat, chair in enumerate(table.chairs)
        ],
        "log": [{"number": d.number, "seat": d.seat, "words": d.said, "turn": d.turn} for d in table.decisions[-_LOG:]],
        "message": message,
    }
    if curtain is None:
        view |= drawn(viewer)
    return view
