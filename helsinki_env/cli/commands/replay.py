"""The command ``helsinki replay``: show a recorded game in the terminal, as pictures or as a page, and check it."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from helsinki_env.cli.options import out_file, out_folder
from helsinki_env.cli.record_page import check_page, write_page
from helsinki_env.data import UserError
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_of
from helsinki_env.records import Record, RecordError, read_records, replay_steps
from helsinki_env.utils.colors import supports_color
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write

__all__ = ["main"]


def main(
    file: Annotated[Path, tyro.conf.Positional],
    game: int = 1,
    each: Literal["turn", "decision", "game"] = "turn",
    seat: int | None = None,
    step: bool = False,
    svg: Path | None = None,
    png: Path | None = None,
    html: Path | None = None,
    judge: str | None = None,
    color: Literal["auto", "always", "never"] = "auto",
) -> None:
    """Show a recorded game in the terminal, as pictures, or as a page to step through.

    The game is played again from its record, and the result is checked against it.

    Example: helsinki replay games.jsonl --game 3 --step

    Example: helsinki replay games.jsonl --game 3 --html game.html

    Args:
        file: a file of records, as helsinki simulate --out writes it.
        game: which game of the file, from 1.
        each: show the table after each turn, after each decision, or once, at the end of the game.
        seat: show only what this seat may see.
        step: wait for Enter after each view.
        svg: write pictures instead: a file name ending in .svg for the end of the game, else a folder for all views.
        png: the same as PNG.
        html: write one file for a browser instead, which needs nothing else: the game to step through, with a graph of
            its course and the decisions that cost the most.
        judge: who says there what decisions cost: net, net+search:N, mc:N or none; default: net, if there is one.
        color: colours in the terminal.
    """
    record = _find(file, game)
    if seat is not None and not 0 <= seat < record.config.num_players:
        raise UserError(f"--seat: found {seat}, expected 0 to {record.config.num_players - 1}")
    for path, suffix in ((svg, ".svg"), (png, ".png")):
        if path is not None:
            _check(path, suffix)
    check_page(html, judge, seat)
    if html is not None:
        write_page(record, html, judge, seat)
        if svg is None and png is None:
            return
    views = list(_views(record, each)) if each != "game" else [_last(record)]
    if svg is None and png is None:
        _print(record, views, seat, step, color == "always" or (color == "auto" and supports_color(sys.stdout)))
        return
    for path, suffix in ((svg, ".svg"), (png, ".png")):
        if path is not None:
            _draw(record, views, seat, path, suffix)


def _find(file: Path, game: int) -> Record:
    if game < 1:
        raise UserError(f"--game: found {game}, expected a number from 1")
    record = next(itertools.islice(read_records(file), game - 1, game), None)
    if record is None:
        count = sum(1 for _ in read_records(file))
        raise RecordError(f"{file}: found {count} games, so there is no --game {game}")
    return record


View = tuple[BoardGame, list[str]]


def _views(record: Record, each: str) -> Iterator[View]:
    """Yield the table at the start and after each turn or action, with the actions that led to it."""
    so_far: list[str] = []
    mover: tuple[int, int] | None = None
    describe = spec_of(record.config).action_to_string
    for game, action in replay_steps(record):
        now = (game.round, game.seat)
        if mover is None or each == "decision" or now != mover or action is None:
            yield game, so_far
            so_far = []
        mover = now
        if action is not None:
            so_far.append(f"{record.players[game.seat]} ({game.seat}): {describe(action, game.config)}")


def _last(record: Record) -> View:
    *_, (game, _) = replay_steps(record)
    return game, []


def _print(record: Record, views: list[View], seat: int | None, step: bool, color: bool) -> None:
    components, (to_dict, render) = record.config.component_set, _drawings(record)
    for number, (game, decisions) in enumerate(views):
        for decision in decisions:
            print(decision)
        print(render.ansi(to_dict(game, seat), components, viewer=seat, color=color))
        if step and number + 1 < len(views):
            try:
                input("Enter for more, Ctrl-C to leave ")
            except EOFError:
                return
    if record.finished:
        print("Result: " + _result(record))
    else:
        print("The record ends here; the game was not played to its end.")


def _result(record: Record) -> str:
    """Return the players with their points, best first; an equals sign separates ties."""
    places, scores = record.places or (), record.scores or ()
    text, before = "", None
    for seat in sorted(range(len(places)), key=places.__getitem__):
        text += "" if before is None else " = " if places[seat] == before else ", "
        text += f"{record.players[seat]} ({seat}) {scores[seat]}"
        before = places[seat]
    return text


def _check(path: Path, suffix: str) -> None:
    """Check that pictures can be written to a path."""
    option = f"--{suffix[1:]}"
    if path.suffix.lower() == suffix:
        out_file(path, option)
    elif path.suffix.lower() in (".svg", ".png"):
        raise UserError(f"{option}: found {path}, expected a name ending in {suffix} or a folder")
    else:
        out_folder(path, option)


def _draw(record: Record, views: list[View], seat: int | None, path: Path, suffix: str) -> None:
    """Write a picture of the last view, or all views into a folder."""
    single = path.suffix.lower() == suffix
    folder = path.parent if single else path
    folder.mkdir(parents=True, exist_ok=True)
    digits = len(str(len(views)))
    to_dict, render = _drawings(record)
    for number, (game, decisions) in enumerate(views):
        if single and number + 1 < len(views):
            continue
        last = decisions[-1] if decisions else None
        text = render.svg(to_dict(game, seat), record.config.component_set, viewer=seat, last_decision=last)
        target = path if single else folder / f"{number:0{digits}}{suffix}"
        content = text.encode() if suffix == ".svg" else _png(render.rgb_array(text))
        with atomic_write(target, follow=single) as file:
            file.write(content)
    print(f"Wrote {path if single else f'{len(views)} pictures to {folder}'}")


def _drawings(record: Record) -> tuple[Callable[..., Any], Any]:
    """Return the functions that convert a game to plain data and draw it."""
    spec = spec_of(record.config)
    if spec.to_dict is None or spec.render is None:
        raise UserError(f"helsinki replay: found a game of {spec.name}, which has no drawings")
    return spec.to_dict, spec.render()


def _png(pixels: Any) -> bytes:
    with requires_extra("render"):
        from PIL import Image
    content = BytesIO()
    Image.fromarray(pixels).save(content, "png")
    return content.getvalue()
