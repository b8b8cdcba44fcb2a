"""The ``helsinki replay`` command: check a recorded game and show it in the terminal, as pictures or as a page."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from helsinki_env.cli.options import out_file, out_folder
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.data import UserError
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_of
from helsinki_env.records import Record, RecordError, read_records, replay_steps, seats_by_rank
from helsinki_env.records import replay as replay_record
from helsinki_env.records.animation import GameEvaluation, page
from helsinki_env.utils.extras import MissingExtraError, requires_extra
from helsinki_env.utils.files import atomic_write
from helsinki_env.utils.markdown import printable
from helsinki_env.utils.streams import supports_color

#: Evaluator name that disables evaluation.
_NO_EVALUATOR = "none"


def main(
    file: Annotated[Path, tyro.conf.Positional],
    record: int = 1,
    each: Literal["turn", "action", "game"] = "turn",
    seat: int | None = None,
    step: bool = False,
    svg: Path | None = None,
    png: Path | None = None,
    html: Path | None = None,
    evaluator: str | None = None,
    color: Literal["auto", "always", "never"] = "auto",
) -> None:
    """Show a recorded game in the terminal, as pictures, or as a page to step through.

    The command replays the game and checks that the result matches the record.

    Example: helsinki replay games.jsonl --record 3 --step

    Example: helsinki replay games.jsonl --record 3 --html game.html

    Args:
        file: file of records, as written by helsinki simulate --out.
        record: number of the record in the file, starting at 1.
        each: when to show the game: after each turn, after each action, or only at the end.
        seat: viewing seat; information hidden from it is not shown.
        step: wait for Enter after each view.
        svg: SVG output instead of text: a file name ending in .svg for the end of the game, or a folder for all views.
        png: PNG output, with a .png file or a folder as for --svg.
        html: self-contained HTML page with the game step by step, a graph of win probabilities, and the actions with
            the largest regret.
        evaluator: player that evaluates the actions for the page: net, net+search:N, mc:N or none; default: net, if
            available.
        color: use colors in the terminal.
    """
    if step and (svg, png, html) != (None, None, None):
        raise UserError("--step: found with --svg, --png or --html, which do not wait; leave one of them out")
    chosen = _read_record(file, record)
    if seat is not None and not 0 <= seat < chosen.config.num_players:
        raise UserError(f"--seat: found {seat}, expected 0 to {chosen.config.num_players - 1}")
    for path, suffix in ((svg, ".svg"), (png, ".png")):
        if path is not None:
            _check_pictures(path, suffix)
    _check_page(html, evaluator, seat)
    if html is not None and (svg, png) == (None, None) and each != "turn":
        raise UserError(f"--each: found {each} with --html, whose page shows each action; leave it out")
    if html is not None:
        _write_page(chosen, html, evaluator, seat)
        if svg is None and png is None:
            return
    views = list(_views(chosen, each))
    if svg is None and png is None:
        _print(chosen, views, seat, step, color == "always" or (color == "auto" and supports_color(sys.stdout)))
        return
    for path, suffix in ((svg, ".svg"), (png, ".png")):
        if path is not None:
            _draw(chosen, views, seat, path, suffix)


def _read_record(file: Path, number: int) -> Record:
    if number < 1:
        raise UserError(f"--record: found {number}, expected a number from 1")
    count = 0
    for count, record in enumerate(read_records(file), 1):
        if count == number:
            return record
    raise RecordError(f"{file}: found {count} records, expected at least {number} for --record {number}")


def _check_page(path: Path | None, evaluator: str | None, seat: int | None) -> None:
    """Check the page options before starting any work."""
    if path is None:
        if evaluator is not None:
            raise UserError(f"--evaluator: found {evaluator} without --html; only that page shows an evaluation")
        return
    if path.suffix.lower() != ".html":
        raise UserError(f"--html: found {path}, expected a name ending in .html")
    if seat is not None and evaluator not in (None, _NO_EVALUATOR):
        raise UserError(
            f"--evaluator: found {evaluator} with --seat {seat}, expected none; an evaluation reveals what other "
            "seats see"
        )
    out_file(path, "--html")


def _write_page(record: Record, path: Path, evaluator: str | None, seat: int | None) -> None:
    """Write a record as a page; if there is a viewing seat, the page has no evaluation."""
    replay_record(record)  # report an invalid record before the evaluation starts
    evaluation = None if evaluator == _NO_EVALUATOR or seat is not None else _evaluate(record, evaluator)
    with ProgressDisplay(len(record.decisions) + 1, "pictures") as display:
        text = page(record, evaluation, seat=seat, progress=lambda done, _: display.advance(done - display.done))
    with atomic_write(path, follow=True) as file:
        file.write(text.encode())
    print(f"Wrote {path}")


def _evaluate(record: Record, evaluator: str | None) -> GameEvaluation | None:
    from helsinki_env.agents.analysis import analyze  # slow to import
    from helsinki_env.agents.evaluation import DEFAULT_EVALUATOR
    from helsinki_env.agents.registry import make_player

    if evaluator is None:
        try:
            make_player(DEFAULT_EVALUATOR, record.config)
        except (MissingExtraError, UserError) as problem:
            print(f"helsinki replay: the page has no evaluation: {problem}", file=sys.stderr)
            return None
    with ProgressDisplay(len(record.decisions), "actions") as display:
        return analyze(
            record, evaluator or DEFAULT_EVALUATOR, progress=lambda done, _: display.advance(done - display.done)
        ).evaluation


View = tuple[BoardGame, list[str]]


def _views(record: Record, each: str) -> Iterator[View]:
    """Yield the views of a game, each with the actions taken since the previous view."""
    if each == "game":
        yield replay_record(record), []
        return
    so_far: list[str] = []
    mover: tuple[int, int] | None = None
    describe = spec_of(record.config).action_to_string
    for game, action in replay_steps(record):
        now = (game.round, game.seat)
        if mover is None or each == "action" or now != mover or action is None:
            yield game, so_far
            so_far = []
        mover = now
        if action is not None:
            so_far.append(f"{printable(record.players[game.seat])} ({game.seat}): {describe(action, game.config)}")


def _print(record: Record, views: list[View], seat: int | None, step: bool, color: bool) -> None:
    render = _drawings(record)
    for number, (game, decisions) in enumerate(views):
        for decision in decisions:
            print(decision)
        print(render.ansi(game, viewer=seat, color=color))
        if step and number + 1 < len(views):
            try:
                input("Enter for more, Ctrl-C to leave ")
            except EOFError:
                return
    if record.finished:
        print("Result: " + _result(record))
    else:
        print("The record ends here; the game is unfinished.")


def _result(record: Record) -> str:
    """Return the players with their points, best first; tied players are separated by an equals sign."""
    places, scores = record.places or (), record.scores or ()
    text, before = "", None
    for seat in seats_by_rank(places):
        text += "" if before is None else " = " if places[seat] == before else ", "
        text += f"{printable(record.players[seat])} ({seat}) {scores[seat]}"
        before = places[seat]
    return text


def _check_pictures(path: Path, suffix: str) -> None:
    """Check that pictures can be written to this path."""
    option = f"--{suffix[1:]}"
    if path.suffix.lower() == suffix:
        out_file(path, option)
    elif path.suffix.lower() in (".svg", ".png"):
        raise UserError(f"{option}: found {path}, expected a name ending in {suffix} or a folder")
    else:
        out_folder(path, option)


def _draw(record: Record, views: list[View], seat: int | None, path: Path, suffix: str) -> None:
    """Write a picture of the last view to a file, or pictures of all views to a folder."""
    single = path.suffix.lower() == suffix
    folder = path.parent if single else path
    folder.mkdir(parents=True, exist_ok=True)
    digits = len(str(len(views)))
    render = _drawings(record)
    for number, (game, decisions) in enumerate(views):
        if single and number + 1 < len(views):
            continue
        last = decisions[-1] if decisions else None
        text = render.svg(game, viewer=seat, last_decision=last)
        target = path if single else folder / f"{number:0{digits}}{suffix}"
        content = text.encode() if suffix == ".svg" else _png(render.rgb_array(text))
        with atomic_write(target, follow=single) as file:
            file.write(content)
    print(f"Wrote {path if single else f'{len(views)} pictures to {folder}'}")


def _drawings(record: Record) -> Any:
    """Return the module that draws the game."""
    spec = spec_of(record.config)
    if spec.render is None:
        raise UserError(f"helsinki replay: found a game of {spec.name}, which has no drawings")
    return spec.render()


def _png(pixels: Any) -> bytes:
    with requires_extra("render"):
        from PIL import Image
    content = BytesIO()
    Image.fromarray(pixels).save(content, "png")
    return content.getvalue()
