"""Golden files of what users see: help texts, exit codes, public names, observations, positions, records, drawings.

A renaming or a rewrite shows its effect here, in the difference of a file that people can read.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import os
import pkgutil
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from helsinki_env.cli.main import COMMANDS, main
from tests.games import GAMES, TestedGame
from tests.support.golden import TESTS, digest_of

GOLDEN = TESTS / "golden"
PACKAGES = ("helsinki_env",)
#: Modules that need an extra which the tests do without, and that run something where they are imported.
LEFT_OUT = (
    "helsinki_env.cuda.",
    "helsinki_env.dataset.minari",
    "helsinki_env.mcp",
    "helsinki_env.openenv",
    "helsinki_env.openspiel",
    "helsinki_env.mini.openspiel",
    "__main__",
)
#: Positions of each game: every seventh of random games.
POSITIONS, EVERY = 1000, 7
#: Commands with arguments that are wrong, one for each kind of mistake.
WRONG = (
    "simulate --players nobody",
    "simulate --games 0",
    "simulate --unknown",
    "arena nowhere.yaml",
    "balance report nowhere",
    "balance tune nothing --out {folder}/tune",
    "evaluate run nobody",
    "export nowhere --out {folder}/model.onnx",
    "ladder nowhere.yaml --run {folder}/run",
    "rate nowhere",
    "replay nowhere.jsonl",
    "train --preset nothing",
    "unknown",
)


def answer(words: list[str]) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command, for a terminal of 80 columns."""
    out, err = io.StringIO(), io.StringIO()
    plain = {"COLUMNS": "80", "NO_COLOR": "1", "HELSINKI_DEBUG": ""}
    with (
        patch.dict(os.environ, plain),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = main(words)
    return status, out.getvalue(), err.getvalue()


def _commands() -> Iterator[list[str]]:
    yield []
    for name, command in COMMANDS.items():
        loaded = command.load()
        yield [name]
        if isinstance(loaded, dict):
            yield from ([name, sub] for sub in loaded)


def help_texts() -> str:
    """Return the help text of every command."""
    parts = []
    for words in _commands():
        status, out, err = answer([*words, "--help"])
        parts.append(f"$ helsinki {' '.join([*words, '--help'])}\n{out}{err}[exit status {status}]\n")
    return "\n".join(re.sub(r"[ \t]+\n", "\n", part) for part in parts)


def errors() -> str:
    """Return what commands answer to wrong arguments, with the exit status."""
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for line in WRONG:
            status, out, err = answer(line.format(folder=folder).split())
            told = (out + err).replace(folder, "{folder}")
            parts.append(f"$ helsinki {line}\n{told}[exit status {status}]\n")
    return "\n".join(re.sub(r"[ \t]+\n", "\n", part) for part in parts)


def _modules() -> Iterator[Any]:
    for package in PACKAGES:
        found = importlib.import_module(package)
        yield found
        for info in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not any(part in info.name for part in LEFT_OUT):
                yield importlib.import_module(info.name)


def _signature(thing: Any) -> str:
    if inspect.ismodule(thing) or not callable(thing):
        return f": {type(thing).__name__}"
    try:
        return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(thing)))
    except (TypeError, ValueError):
        return "(...)"


def public_names() -> str:
    """Return every public name of every module with its signature, one a line."""
    lines = []
    for module in _modules():
        for name in sorted(getattr(module, "__all__", ())):
            lines.append(f"{module.__name__}.{name}{_signature(getattr(module, name))}")
    return "\n".join(lines) + "\n"


def positions_of(game: TestedGame, count: int) -> Iterator[Any]:
    """Yield games at every seventh position of random games, of all configurations in turn."""
    rng, number = random.Random(game.name), 0
    while number < count:
        config = game.configs[number % len(game.configs)]
        played = game.spec.game(config, seed=number)
        step = 0
        while not played.done and number < count:
            if step % EVERY == 0:
                yield played
                number += 1
            played.step(int(rng.choice(played.legal_actions())))
            step += 1


def seen(game: TestedGame) -> str:
    """Return digests of what a thousand positions show: observations, masks and positions as data, a hundred a line."""
    assert game.spec.to_dict is not None
    lines, parts = [], []
    for number, played in enumerate(positions_of(game, POSITIONS), start=1):
        position = game.spec.to_dict(played)
        parts.append((played.observation().tobytes(), played.action_mask().tobytes(), json.dumps(position).encode()))
        if number % 100 == 0:
            names = ("observations", "masks", "positions")
            found = [
                f"{name} {digest_of(column)[:16]}" for name, column in zip(names, zip(*parts, strict=True), strict=True)
            ]
            lines.append(f"{number - 99:4} to {number:4}: {', '.join(found)}")
            parts = []
    first = next(positions_of(game, 1))
    return "\n".join([*lines, json.dumps(game.spec.to_dict(first), indent=1)]) + "\n"


def drawings(game: TestedGame) -> str:
    """Return one drawing as text and digests of twenty as SVG."""
    assert game.spec.render is not None
    render, lines, text = game.spec.render(), [], ""
    for number, played in enumerate(positions_of(game, 200)):
        if number % 10 == 0:
            lines.append(f"position {number:3}: svg {digest_of([render.svg(played).encode()])[:16]}")
            text = text or render.ansi(played)
    return "\n".join([*lines, text]) + "\n"


def records(game: TestedGame) -> str:
    """Return two recorded games, as `helsinki simulate` writes them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.jsonl"
        command = f"simulate --game {game.name} --players greedy,heuristic --games 2 --seed 5 --out {path}"
        status, _, err = answer(command.split())
        assert status == 0, err
        return path.read_text()


STUDY = """\
seed: 1
classes:
  - {player: greedy, games: {2: 400}}
  - {player: heuristic, games: {2: 400}}
qualification: {reference: greedy, games: 100}
quality: 40
"""


def study() -> str:
    """Return the report of a small study, without version numbers and the digests that follow from them."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("small.yaml").write_text(STUDY)
        for line in ("balance run small.yaml --out played", "balance report played --out report"):
            status, _, err = answer(line.split())
            assert status == 0, err
        report = Path("report/balance.md").read_text()
    report = re.sub(r"helsinki-env \S+, NumPy \S+, SciPy [^\s;]+[.]$", "VERSIONS.", report, flags=re.MULTILINE)
    return re.sub(r"\b[0-9a-f]{16}\b", "DIGEST", report)


def golden_files() -> Iterator[tuple[Path, Callable[[], str]]]:
    """Every golden file of this kind, and what makes its text."""
    yield GOLDEN / "help.txt", help_texts
    yield GOLDEN / "errors.txt", errors
    yield GOLDEN / "names.txt", public_names
    yield GOLDEN / "study.md", study
    for game in GAMES:
        for make in (seen, drawings, records):
            suffix = "jsonl" if make is records else "txt"
            yield GOLDEN / f"{game.name}_{make.__name__}.{suffix}", partial(make, game)
