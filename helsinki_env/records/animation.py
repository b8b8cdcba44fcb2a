"""Convert a game record to an animation (JSON-serializable data for the viewer) or a standalone page.

An animation stores each distinct picture element once, and each picture as the difference from the previous one. This
reduces its size from 35 MB to less than 1 MB.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from string import Template
from typing import Any

from helsinki_env.data import UserError
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.ui_actions import UIAction
from helsinki_env.records import Record, replay_steps
from helsinki_env.utils.markdown import printable

__all__ = ["VIEWER", "GameEvaluation", "make_animation", "page", "sandboxed_frame", "svg_frames"]

VIEWER = Path(__file__).resolve().parent / "viewer"
"""Folder of the viewer's scripts, for pages that import them."""
#: The viewer's scripts, each listed after the scripts that it imports. They are concatenated, so no name may be defined
#: twice.
_SCRIPTS = ("dom.js", "pictures.js", "graph.js", "lists.js", "viewer.js")
#: The last script on the page, which unpacks and shows the animation.
_START = """
if (!globalThis.DecompressionStream) {
  document.getElementById("viewer").textContent = "This browser cannot unpack the game; a newer one can.";
}
const text = atob(document.getElementById("animation").textContent);
const packed = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
new Viewer(document.getElementById("viewer"), await new Response(unpacked).json());
"""
#: The start of an element; a closing tag belongs to the text before it. In drawings, any other < is escaped as &lt;.
_ELEMENT_START = re.compile("<(?!/)")


@dataclass(frozen=True)
class GameEvaluation:
    """Evaluation of a game with D actions and n seats.

    Attributes:
        evaluator: name of the evaluator.
        shares: win probability of every seat before each action and at the end; D + 1 rows of n numbers from 0 to 1.
        costs: D values: the regret of each action in win probability of the acting seat, at least 0; None for forced or
            unevaluated actions.
        better: D values: the id of the best action if it differs from the action taken, otherwise None.
    """

    evaluator: str
    shares: tuple[tuple[float, ...], ...] = field(repr=False)
    costs: tuple[float | None, ...] = field(repr=False)
    better: tuple[int | None, ...] = field(repr=False)

    def to_dict(self, record: Record) -> dict[str, Any]:
        """Return the evaluation as JSON-serializable data; raise ValueError if the number of actions is wrong."""
        count = len(record.decisions)
        found, expected = (len(self.shares), len(self.costs), len(self.better)), (count + 1, count, count)
        if found != expected:
            raise UserError(f"evaluation: found {found} shares, costs and better actions, expected {expected}")
        steps = zip(replay_steps(record), (*self.better, None), strict=True)
        better = [None if best is None else _ui_action(game, best).words for (game, _), best in steps]
        return {
            "evaluator": self.evaluator,
            "shares": [[round(share, 4) for share in row] for row in self.shares],
            "costs": [None if cost is None else round(cost, 4) for cost in self.costs],
            "better": better[:-1],
        }


def make_animation(
    record: Record,
    evaluation: GameEvaluation | None = None,
    seat: int | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return a game as JSON-serializable data for the viewer (`viewer/viewer.js`).

    Args:
        record: record of a finished or unfinished game with D actions and n seats.
        evaluation: evaluation of the game, or None.
        seat: the viewing seat, whose observations are shown; None shows all cards.
        progress: called after each picture with the number of completed pictures and the total, D + 1.

    Returns:
        A dict with these keys:

        - ``game``: name of the game.
        - ``players``: names of the n players.
        - ``result``: a dict with ``scores`` and ``places``, or null.
        - ``steps``: D dicts with ``seat``, ``round``, ``turn`` (from 0), ``said`` (the action in words), and
            ``forced`` (whether the action was the only legal one).
        - ``scores``: D + 1 rows of n scores, as if the game had ended at that point.
        - ``elements``: the distinct texts of all pictures.
        - ``frames``: D + 1 lists of ``[at, gone, [elements]]``, the changes in the element numbers since the previous
            picture. The elements of a picture, concatenated, form its SVG.
        - ``evaluation``: the result of `GameEvaluation.to_dict`, or null.

    Raises:
        ValueError: if the game has no drawings, if the seat does not exist, or if both `evaluation` and `seat` are
            given. An evaluation uses the observations of all seats.
        RecordError: if an action is illegal, or the result differs from the one in the record.
    """
    if seat is not None and not 0 <= seat < record.config.num_players:
        raise UserError(f"seat: found {seat}, expected 0 to {record.config.num_players - 1}")
    if seat is not None and evaluation is not None:
        raise UserError(f"evaluation: found one for seat {seat}, expected None, because it reveals hidden cards")
    elements, frames = _encode_frames(_counted(svg_frames(record, seat), len(record.decisions) + 1, progress))
    result = {"scores": list(record.scores), "places": list(record.places or ())} if record.scores else None
    return {
        "game": record.spec.name,
        "players": list(record.players),
        "result": result,
        "steps": list(_steps(record, seat)),
        "scores": [game.scores().tolist() for game, _ in replay_steps(record)],
        "elements": elements,
        "frames": frames,
        "evaluation": None if evaluation is None else evaluation.to_dict(record),
    }


def svg_frames(record: Record, seat: int | None = None) -> Iterator[str]:
    """Yield the SVG of the game before the first action and after each action; see `make_animation`."""
    spec, config = record.spec, record.config
    if spec.render is None:
        raise UserError(f"record: found a game of {spec.name}, expected a game with drawings")
    render, last = spec.render(), None
    for game, action in replay_steps(record):
        yield render.svg(game, last_decision=last, viewer=seat)
        last = None if action is None else spec.action_to_string(action, config)


def _counted(svgs: Iterable[str], count: int, progress: Callable[[int, int], None] | None) -> Iterator[str]:
    for number, svg in enumerate(svgs, 1):
        yield svg
        if progress is not None:
            progress(number, count)


def _steps(record: Record, seat: int | None) -> Iterator[dict[str, Any]]:
    """Yield each action; if there is a viewing seat, only its own actions can be marked as forced."""
    turn, before = -1, None
    for game, action in replay_steps(record):
        if action is None:
            return
        mover = (game.round, game.seat)
        turn, before = turn + (mover != before), mover
        yield {
            "seat": game.seat,
            "round": game.round,
            "turn": turn,
            "said": _ui_action(game, action).said,
            "forced": seat in (None, game.seat) and len(game.legal_actions()) == 1,
        }


def _ui_action(game: BoardGame, action: int) -> UIAction:
    """Describe a legal action in words, or in its notation if the game provides no words."""
    spec = game.spec
    text = spec.action_to_string(action, game.config)
    actions = () if spec.list_ui_actions is None else spec.list_ui_actions(game, game.seat)
    return next((shown for shown in actions if shown.id == action), UIAction(action, "", text, text, text))


Splice = tuple[int, int, list[int]]
"""A replacement: index of the first element, number of removed elements, and numbers of the inserted elements."""


def _encode_frames(svgs: Iterable[str]) -> tuple[list[str], list[list[Splice]]]:
    """Return the texts of all distinct elements, and the difference of each picture from the previous one."""
    numbers: dict[str, int] = {}
    frames, before = [], list[int]()
    for svg in svgs:
        # Every picture begins with an element, so no text precedes the first element.
        now = [numbers.setdefault(f"<{text}", len(numbers)) for text in _ELEMENT_START.split(svg)[1:]]
        frames.append(_differences(before, now))
        before = now
    return list(numbers), frames


def _differences(before: Sequence[int], now: Sequence[int]) -> list[Splice]:
    """Return the replacements in descending order of index, so that earlier indices remain valid."""
    changes = SequenceMatcher(None, before, now, autojunk=False).get_opcodes()
    return [(start, end - start, list(now[i:j])) for kind, start, end, i, j in reversed(changes) if kind != "equal"]


def page(
    record: Record,
    evaluation: GameEvaluation | None = None,
    *,
    title: str = "",
    seat: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """Return a game as a single HTML page of 100 to 300 KB, without external resources.

    Args:
        record: record of a finished or unfinished game.
        evaluation: evaluation of the game, or None.
        title: title of the page; if empty, the names of the game and the players.
        seat: the viewing seat, whose observations are shown; None shows all cards.
        progress: called after each picture with the number of completed pictures and the total.

    Raises:
        ValueError, RecordError: as in `make_animation`.
    """
    animation = make_animation(record, evaluation, seat, progress=progress)
    # The page has one script without imports and one style sheet.
    lines = [line for name in _SCRIPTS for line in _text(name).splitlines() if not line.startswith("import ")]
    script = "\n".join([*(line.removeprefix("export ") for line in lines), _START])
    style = _text("page.css") + _text("viewer.css")
    title = title or f"{record.spec.name.capitalize()}: {', '.join(record.players)}"
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'"
    template = Template((VIEWER.parent / "page.html").read_text(encoding="utf-8"))
    return template.substitute(
        policy=policy, title=html.escape(printable(title)), style=style, animation=_packed(animation), script=script
    )


def sandboxed_frame(text: str) -> str:
    """Return an element that embeds a page in another page, such as a notebook, without access to its contents."""
    sizes = 'width="100%" height="900" frameborder="0"'
    return f'<iframe sandbox="allow-scripts" {sizes} srcdoc="{html.escape(text)}"></iframe>'


def _text(name: str) -> str:
    return (VIEWER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of an inline script or style for the content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _packed(data: Any) -> str:
    """Return data as compressed, base64-encoded JSON."""
    return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()
