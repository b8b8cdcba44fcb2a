"""A real browser for tests: Chromium, and a user."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.server import Reader, Server

__all__ = ["Player", "chromium", "decide_by_key", "one_by_one", "pick_by_key", "pick_by_mouse", "sit", "until"]

#: The first has no window and needs less CPU time than the others.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
#: For root, without a screen and without prompts.
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@contextmanager
def chromium() -> Iterator[Any]:
    """Run a browser while the block runs; without one, skip the test unless CI is set."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None and "CI" not in os.environ:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as started:
        yield started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)


#: Counts the messages of each connection after the page's scripts have handled them.
_COUNTS = """
WebSocket = class extends WebSocket {
  constructor(...address) {
    super(...address);
    window.line = this;
    this.heard = 0;
    this.addEventListener("message", () => setTimeout(() => (this.heard += 1)));
  }
};
"""


class Player:
    """A user of a browser: console errors (`wrong`), WebSocket messages (`frames`), `views`, HTTP `responses`."""

    def __init__(
        self,
        browser: Any,
        address: str,
        width: int = 1300,
        height: int = 900,
        touch: bool = False,
        motion: bool = False,
        **settings: str,
    ) -> None:
        # Pictures that move take half of a browser's time, so whole games move only where `motion` asks for it.
        preference = "no-preference" if motion else "reduce"
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, has_touch=touch, reduced_motion=preference
        )
        kept = {"confirm": "no", "pace": "0", "look": "all", "rules": "seen"} | settings
        self.context.add_init_script(
            f"for (const [name, value] of Object.entries({json.dumps(kept)})) localStorage[`table.${{name}}`] ??= value"
        )
        self.context.add_init_script(_COUNTS)
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.wrong: list[str] = []
        self.frames: list[str] = []
        self.views: list[dict[str, Any]] = []
        self.evaluations: list[dict[str, Any]] = []
        self.responses: list[Any] = []
        self.answers: list[dict[str, Any]] = []
        self.clocks: list[dict[str, Any]] = []
        self._heard_by_line, self._reader = 0, Reader()
        self.page.on(
            "console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("websocket", self._connected)
        self.page.on("response", lambda response: self.responses.append(response))
        self.page.goto(address)

    def _connected(self, line: Any) -> None:
        self._heard_by_line, self._reader = 0, Reader()
        line.on("framereceived", self._heard)

    def _heard(self, text: str) -> None:
        message = json.loads(self._reader.read(text))
        self._heard_by_line += 1
        self.frames.append(text)
        if message["type"] in ("clock", "done", "pong"):
            return
        if message["type"] == "clocks":
            self.clocks.append(message)
            return
        if message["type"] == "practice":
            return
        if message["type"] in ("explained", "rules", "lesson", "graded", "taught"):
            self.answers.append(message)
            return
        assert message["type"] in ("table", "evaluation"), message
        (self.views if message["type"] == "table" else self.evaluations).append(message)

    @property
    def view(self) -> dict[str, Any]:
        return self.views[-1]

    def wait(self, wanted: Any) -> dict[str, Any]:
        """Wait until the newest view satisfies a condition and is displayed."""
        for _ in range(12_000):
            if self.views and wanted(self.view) and self._has_shown_all():
                return self.view
            self.page.wait_for_timeout(10)
        raise AssertionError(f"not seen within two minutes; wrong: {self.wrong}")

    def _has_shown_all(self) -> bool:
        return bool(self.page.evaluate("line.heard") == self._heard_by_line)

    def turn(self) -> dict[str, Any]:
        return self.wait(lambda view: view["decisions"] or view["done"])

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def key_of(self, decision: dict[str, Any]) -> str:
        """The key that the page shows for an action."""
        found = self.page.locator("#choices button").get_by_text(decision["words"], exact=True)
        return str(found.locator("..").get_attribute("aria-keyshortcuts") or "")

    def tile(self) -> set[str]:
        """The position of the current tile: centers of cells in pixels of the picture."""
        boxes = self.page.eval_on_selector_all(
            ".ghost .tile", "all => all.map(r => ['x', 'y', 'width', 'height'].map(n => +r.getAttribute(n)))"
        )
        return {self.cell_at(x + w / 2, y + h / 2) for x, y, w, h in boxes}

    def held(self) -> int:
        """The orientation of the current tile."""
        return int(self.page.get_attribute("#held", "data-turn"))

    def cell_at(self, x: float, y: float) -> str:
        for name, (left, top, width, height) in self.view["spots"].items():
            if name.startswith("cell ") and left <= x <= left + width and top <= y <= top + height:
                return str(name)
        raise AssertionError(f"no cell at {x}, {y}")

    def point(self, *spots: str) -> tuple[float, float]:
        """The center of spots in pixels of the window."""
        boxes = [self.view["spots"][name] for name in spots]
        x = sum(box[0] + box[2] / 2 for box in boxes) / len(boxes)
        y = sum(box[1] + box[3] / 2 for box in boxes) / len(boxes)
        found = self.page.evaluate(
            "([x, y]) => { const m = document.querySelector('#picture > svg').getScreenCTM();"
            " const p = new DOMPoint(x, y).matrixTransform(m); return [p.x, p.y] }",
            [x, y],
        )
        return found[0], found[1]


def sit(browser: Any, server: Server, *players: str, game: str, seed: int = 1, **settings: Any) -> Player:
    made = server.make(*players, game=game, seed=seed)
    player = Player(browser, f"{server.address}/tables/{made['table']}", **settings)
    player.wait(lambda view: True)
    return player


def until(player: Player, phase: str, rng: random.Random) -> dict[str, Any]:
    """Play by keyboard until a phase, building whenever possible."""
    while True:
        view = player.turn()
        assert not view["done"], f"{phase} did not come"
        if view["phase"] == phase:
            return view
        decide_by_key(player, rng)


def one_by_one(view: dict[str, Any]) -> list[dict[str, Any]]:
    """The actions that are not part of a selection."""
    together = view["selection"]["kind"] if view["selection"] else ""
    return [one for one in view["decisions"] if one["kind"] != together]


def decide_by_key(player: Player, rng: random.Random) -> None:
    view = player.view
    alone = one_by_one(view)
    named = [one for one in alone if one["turn"] is None]
    builds = [one for one in named if one["kind"] == "BUILD"]
    if len(named) < len(alone) and (not named or rng.random() >= 0.1):
        player.press(*rng.choices(("r", "f", "ArrowRight", "ArrowDown", "ArrowLeft"), k=4), "ArrowUp", "Enter")
    elif view["selection"] and (not named or (not builds and rng.random() < 0.5)):
        pick_by_key(player, rng)
        player.press("Enter")
    else:
        player.press(player.key_of(rng.choice(builds or named)))
    player.wait(lambda new: new["number"] > view["number"])


def pick_by_key(player: Player, rng: random.Random) -> None:
    """Select items in any order."""
    keys = [key for item in player.view["selection"]["items"] if (key := player.key_of(item))]
    while player.page.is_disabled("#settle"):
        player.press(rng.choice(keys))


def pick_by_mouse(player: Player, rng: random.Random) -> None:
    """Select items in the picture in any order."""
    while player.page.is_disabled("#settle"):
        item = rng.choice(player.view["selection"]["items"])
        player.page.mouse.click(*player.point(item["at"][0]))
