"""Views of a table for a browser (observable state, legal actions and public log), and their encoding.

A view is built only from the seat's own observation and the log. It contains no hand of another player (unless the page
plays no seat and shows all cards), and never the order of the draw pile, the random state or the seed. Pages receive
either a full view or the difference from their previous view.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from helsinki_env.engine.game import BoardGame
from helsinki_env.web.help import effects, said, score_sheet
from helsinki_env.web.names import shown_names
from helsinki_env.web.tables import HUMAN, GameTable, reveals_hidden

_LOG = 400
"""Maximum number of actions in the log of a view."""

_MIN_COPY = 24
"""Minimum length, in characters, for which a copy reference is shorter than the text itself."""

ChangePart = str | list[int]


def picture(table: GameTable, viewer: int | None) -> dict[str, Any]:
    """Return the picture of a table (SVG text, size and named rectangles) for a seat, or for an observer if None."""
    game, spec = table.game, table.game.spec
    if spec.render is None:
        return {"svg": "", "size": [0, 0], "spots": {}}
    last = spec.action_to_string(table.decisions[-1].action, game.config) if table.decisions else None
    svg = spec.render().svg(game, last_decision=last, viewer=viewer)
    return {"svg": svg, "size": [*svg.size], "spots": svg.spots}


def choices(game: BoardGame) -> list[dict[str, Any]]:
    """Return the legal actions of the seat to move (`GameSpec.list_ui_actions`), with their effects.

    `wins` lists the public gains of an action in short phrases; `_outcome` documents the other keys.
    """
    if game.done or game.spec.list_ui_actions is None:
        return []
    found = []
    for one in game.spec.list_ui_actions(game, game.seat):
        after = _after(game, [one.id])
        told = {"said": said(game, one.id, one.said), "wins": effects(game, after, game.seat)}
        found.append({**one.to_dict(), **_outcome(game, after), **told})
    return found


def selection_view(game: BoardGame) -> dict[str, Any] | None:
    """Return the items that the acting seat can select (`GameSpec.available_selection`) and their effects."""
    if game.done or game.spec.available_selection is None:
        return None
    selection = game.spec.available_selection(game, game.seat)
    if selection is None:
        return None
    first, last = (_outcome(game, _after(game, actions)) for actions in selection.extreme_selections())
    return {**selection.to_dict(), **{key: first[key] and last[key] for key in first}}


def _after(game: BoardGame, actions: list[int]) -> BoardGame:
    """Return a copy of the game after the given actions."""
    after = game.clone()
    for action in actions:
        after.step(action)
    return after


def _outcome(game: BoardGame, after: BoardGame) -> dict[str, bool]:
    """Return whether actions reveal hidden information and, if they do not, whether they end the turn."""
    reveals = reveals_hidden(game, after)
    # The end of the game may depend on a hidden card, so it is reported only for actions that reveal no cards.
    return {"ends": not reveals and (after.done or after.seat != game.seat), "reveals": reveals}


def _kind(game: BoardGame, action: int) -> str:
    return game.spec.action_to_string(action, game.config).partition(" ")[0]


def table_view(
    table: GameTable,
    mine: tuple[int, ...],
    viewer: int | None,
    handover: int | None,
    thinking: dict[str, Any] | None,
    message: str | None,
    picture_for: Callable[[int | None], dict[str, Any]],
    legal_actions: Callable[[], list[dict[str, Any]]],
) -> dict[str, Any]:
    """Return the view for a browser that plays the seats `mine` and shows the cards of the seat `viewer`.

    If `viewer` is None, all cards are shown, which is only for browsers that play no seat. `handover` is the seat whose
    player must first take over the device; until then, the view has no picture.
    """
    game, turn = table.game, table.turn()
    acts = not game.done and handover is None and game.seat in mine and viewer == game.seat
    title, names = shown_names(table.title, table.chairs, game.spec.name)
    scores, ranks, sheets = game.scores().tolist(), game.ranks().tolist(), score_sheet(game)
    view: dict[str, Any] = {
        "type": "table",
        "table": table.name,
        "name": title,
        "game": game.spec.name,
        "number": table.number,
        "seat": game.seat,
        "phase": str(game.phase),
        "done": game.done,
        "mine": list(mine),
        "viewer": viewer,
        "handover": handover,
        "svg": "",
        "size": [0, 0],
        "spots": {},
        "decisions": legal_actions() if acts else [],
        "selection": selection_view(game) if acts else None,
        "turn": [{"number": d.number, "seat": d.seat, "words": d.said, "kind": _kind(game, d.action)} for d in turn],
        "undo": table.undoable() if acts else None,
        "takeback": table.may_take_back() if table.humans == mine else [],
        "thinking": thinking,
        "paused": table.paused,
        "from_position": bool(table.start),
        "rated": any(chair.rated for chair in table.chairs),
        "seats": [
            {
                "name": names[seat],
                "player": chair.player,
                "human": chair.player == HUMAN,
                "score": scores[seat],
                "place": ranks[seat],
                "sheet": sheets[seat],
                "to_move": not game.done and seat == game.seat,
            }
            for seat, chair in enumerate(table.chairs)
        ],
        "log": [{"number": d.number, "seat": d.seat, "words": d.said, "turn": d.turn} for d in table.decisions[-_LOG:]],
        "message": message,
    }
    if handover is None:
        view |= picture_for(viewer)
    return view


def encode_message(message: Mapping[str, Any]) -> str:
    """Encode a message as ASCII.

    Changes refer to string offsets, and JavaScript counts some other characters differently from Python.
    """
    return json.dumps(message, separators=(",", ":"))


def change_between(before: str, after: str) -> str:
    """Return the message that converts one view to the next, or the next view itself if it is shorter.

    The message depends only on the two texts, so it reveals nothing that they do not contain. Its `parts`, which are
    the input for `applied`, are texts, or the start and end of a range copied from the previous text.
    """
    change = encode_message({"type": "change", "parts": _parts(before, after)})
    return change if len(change) < len(after) else after


def applied(before: str, parts: Sequence[ChangePart]) -> str:
    """Apply the parts of a change to the previous text and return the resulting text."""
    return "".join(part if isinstance(part, str) else before[part[0] : part[1]] for part in parts)


@lru_cache(maxsize=64)  # the next text of a page is soon its previous one
def _pieces(text: str) -> list[str]:
    """Split an encoded message before each element of a picture and each JSON object and list."""
    for opening in "<{[":
        text = text.replace(opening, "\0" + opening)  # JSON escapes control characters, so the text has no other
    return text.split("\0")


def _parts(before: str, after: str) -> list[ChangePart]:
    """Split the next text into parts: long runs copied from the previous text, and new text."""
    old, new = _pieces(before), _pieces(after)
    starts = list(accumulate(map(len, old), initial=0))
    last = dict(zip(old, range(len(old)), strict=True))
    first = dict(zip(reversed(old), reversed(range(len(old))), strict=True))
    parts: list[ChangePart] = []
    now = near = 0
    while now < len(new):
        piece = new[now]
        # The piece after the last copy is the most likely match, because most of a picture does not change.
        continues = near < len(old) and old[near] == piece
        candidates = (near,) if continues else (first[piece], last[piece]) if piece in first else ()
        length, begin = max(((_equal_pieces(old, new, i, now), i) for i in candidates), default=(0, 0))
        start, end = starts[begin], starts[begin + length]
        if end - start < _MIN_COPY:
            length, near = 1, near + 1
            if parts and isinstance(parts[-1], str):
                parts[-1] += piece
            else:
                parts.append(piece)
        else:
            near = begin + length
            parts.append([start, end])
        now += length
    return parts


def _equal_pieces(old: list[str], new: list[str], first: int, now: int) -> int:
    """Return the length of the run of equal pieces that begins at the two positions."""
    length, step, longest = 0, 1, min(len(old) - first, len(new) - now)
    while step:  # comparing slices of growing length is many times faster than comparing pieces one by one
        end = length + step
        if end <= longest and old[first + length : first + end] == new[now + length : now + end]:
            length, step = end, 2 * step
        else:
            step //= 2
    return length
