"""Write a record as a standalone page that shows the game without a server or a network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

from helsinki_env.records import Record
from helsinki_env.records.animation import GameEvaluation, make_animation
from helsinki_env.utils.markdown import printable

__all__ = ["VIEWER", "page", "sandboxed_frame"]

VIEWER = Path(__file__).resolve().parent / "viewer"
"""The folder of the viewer's scripts, for pages that import them."""

#: The viewer's scripts, each after those that it imports. They are concatenated, so their names must be distinct.
_SCRIPTS = ("dom.js", "reel.js", "graph.js", "lists.js", "viewer.js")
#: The script after them, which unpacks and shows the animation.
_BEGIN = """
if (!globalThis.DecompressionStream) {
  document.getElementById("viewer").textContent = "This browser cannot unpack the game; a newer one can.";
}
const packed = Uint8Array.from(atob(document.getElementById("film").textContent), (letter) => letter.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
new Viewer(document.getElementById("viewer"), await new Response(unpacked).json());
"""


def page(
    record: Record,
    judgement: GameEvaluation | None = None,
    *,
    title: str = "",
    seat: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """Return a game as one HTML page without external resources, 100 to 300 KB.

    Args:
        record: the game; it may be unfinished.
        judgement: evaluation of the game.
        title: title of the page; if empty, game and players.
        seat: the viewing seat, which sees only its own observations; None sees all cards.
        progress: called after each picture with the number of pictures so far and their total.

    Raises:
        ValueError, RecordError: as in `make_animation.film`.
    """
    shown = make_animation(record, judgement, seat, progress=progress)
    style, script = _style(), _script()
    words = title or f"{record.spec.name.capitalize()}: {', '.join(record.players)}"
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'"
    template = Template((VIEWER.parent / "page.html").read_text(encoding="utf-8"))
    return template.substitute(
        policy=policy, title=html.escape(printable(words)), style=style, film=_packed(shown), script=script
    )


def sandboxed_frame(text: str) -> str:
    """Return a page as a sandboxed element for other pages, such as notebooks, to whose contents it has no access."""
    sizes = 'width="100%" height="900" frameborder="0"'
    return f'<iframe sandbox="allow-scripts" {sizes} srcdoc="{html.escape(text)}"></iframe>'


def _script() -> str:
    """Return the viewer's scripts as one script without imports."""
    lines = [line for name in _SCRIPTS for line in _text(name).splitlines() if not line.startswith("import ")]
    return "\n".join([*(line.removeprefix("export ") for line in lines), _BEGIN])


def _style() -> str:
    return _text("page.css") + _text("viewer.css")


def _text(name: str) -> str:
    return (VIEWER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of an inline text for the page's content security policy, which blocks other scripts."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _packed(data: Any) -> str:
    """Return data as compressed JSON in characters that are not markup."""
    return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()
