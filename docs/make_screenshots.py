"""Draw the boards and take the pictures of pages that the documentation shows: `net` plays `heuristic`.

python docs/make_screenshots.py docs/images
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))  # the browser and the server of the tests

from helsinki_env.engine.spec import spec_by_name
from helsinki_env.utils.files import atomic_write
from tests.support.browser import Player, chromium
from tests.support.server import Server, serving


def save_game(server: Server, game: str, seed: int, drawing: Path) -> tuple[str, int]:
    """Save and draw a game, and return its name and the number of actions before seat 0 places its third tile."""
    table = server.make_over("net", "heuristic", game=game, seed=seed)
    record = server.ask("POST", "/api/records", {"table": table})[1]["record"]
    actions: list[int] = server.ask("GET", f"/api/records/{record}/file")[1]["decisions"]
    spec, placing = spec_by_name(game), list[int]()
    position = spec.game(spec.config(num_players=2), seed=seed)
    for number, action in enumerate(actions):
        if position.seat == 0 and str(position.phase) == "PLACE":
            placing.append(number)
        position.step(action)
    with atomic_write(drawing) as file:
        file.write(spec.render().svg(position).encode())
    return record, placing[2]


def play_on(server: Server, browser: Any, saved: tuple[str, int], **more: Any) -> Any:
    """Return the page of a person who continues a saved game as seat 0."""
    chairs = [{"player": player, "name": ""} for player in ("human", "heuristic")]
    begin = {"record": saved[0], "decisions": saved[1]}
    made = server.ask("POST", "/api/tables", {"chairs": chairs, "from": begin})[1]
    player = Player(browser, f"{server.address}/tables/{made['table']}", **more)
    player.turn()
    player.press("ArrowDown", "ArrowRight")  # looks at a place for the tile
    return player.page


def save_picture(page: Any, path: Path) -> None:
    """Save what a page shows with 256 colors, a third of the size."""
    page.wait_for_timeout(2000)
    picture = Image.open(io.BytesIO(page.screenshot()))
    with atomic_write(path) as temporary:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(temporary, format="PNG", optimize=True)


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder of the pictures")
    out: Path = parser.parse_args().out
    with tempfile.TemporaryDirectory() as data, serving(Path(data)) as server, chromium() as browser:
        saved = save_game(server, "helsinki", 5, out / "finished.svg")
        page = play_on(server, browser, saved, width=1600, height=900)
        page.check("text=Network evaluation")
        save_picture(page, out / "play.png")
        page = Player(browser, f"{server.address}/analysis/{saved[0]}", width=1600, height=1000).page
        page.wait_for_selector(".costliest:not([hidden])")
        for _ in range(60):
            page.keyboard.press("ArrowRight")
        save_picture(page, out / "analysis.png")
        saved = save_game(server, "copenhagen", 7, out / "copenhagen.svg")
        page = play_on(server, browser, saved, width=390, height=844, touch=True, look="follow")
        save_picture(page, out / "play-phone.png")
        server.end()


if __name__ == "__main__":
    main()
