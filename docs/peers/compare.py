"""Measure helsinki-env and other game libraries in one run on one CPU core, for the table of docs/speed.md.

    python docs/peers/compare.py --write docs/speed.md

Other libraries are installed in a temporary environment with the versions of requirements.txt. Each figure comes from a
separate process (peer.py). The table lists the libraries that could not be installed or measured. Ctrl-C ends the
measurement and writes the figures so far. Without --write, the table is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from helsinki_env.bench.speed import machine, machine_text
from helsinki_env.utils import markdown

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Time limit of one measurement, compilation included, in seconds.
PATIENCE = 400


class Library(NamedTuple):
    """A library."""

    name: str  # of its distribution
    title: str  # displayed name
    packages: tuple[str, ...]  # requirements for pip
    games: tuple[tuple[str, str, tuple[int, ...]], ...]  # each (game, displayed name, numbers of parallel games)


# fmt: off
LIBRARIES = (
    Library("helsinki-env", "helsinki-env", (), (
        ("helsinki", "Helsinki, AEC", (1,)),
        ("helsinki:Game", "Helsinki, Game", (1,)),
        ("helsinki", "Helsinki, vector", (1024, 4096)),
        ("copenhagen", "Copenhagen, AEC", (1,)),
        ("copenhagen:Game", "Copenhagen, Game", (1,)),
        ("copenhagen", "Copenhagen, vector", (1024, 4096)),
    )),
    Library("pettingzoo", "PettingZoo", ("pettingzoo[classic]",), (
        ("tictactoe_v3", "tic-tac-toe", (1,)),
        ("connect_four_v3", "connect four", (1,)),
        ("chess_v6", "chess", (1,)),
        ("go_v5:9", "go, 9 x 9", (1,)),
    )),
    Library("rlcard", "RLCard", ("rlcard",), (
        ("leduc-holdem", "Leduc hold'em", (1,)),
        ("uno", "Uno", (1,)),
        ("gin-rummy", "gin rummy", (1,)),
    )),
    Library("open_spiel", "OpenSpiel", ("open_spiel",), (
        ("connect_four", "connect four", (1,)),
        ("backgammon", "backgammon", (1,)),
        ("chess", "chess", (1,)),
        ("go(board_size=9)", "go, 9 x 9", (1,)),
        ("gin_rummy", "gin rummy", (1,)),
    )),
    Library("pgx", "pgx", ("pgx", "jax", "jaxlib"), (
        ("go_9x9", "go, 9 x 9", (64, 1024, 4096)),
        ("shogi", "shogi", (1024,)),
        ("chess", "chess", (1024,)),
    )),
)
# fmt: on


def _last(text: str) -> str:
    """Return the last line of a program's output."""
    return (text.strip().splitlines() or ["no output"])[-1]


def _install(library: Library, python: Path) -> str:
    """Install a library; return the reason for a failure, or an empty string."""
    command = [str(python), "-m", "pip", "install", "--quiet", "-c", str(HERE / "requirements.txt"), *library.packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"not installed: {_last(done.stderr)}"


def _measure(library: Library, python: Path, game: str, games: int, seconds: float) -> dict[str, Any]:
    """Return rates and version, or the reason why they are missing."""
    command = [str(python), "-P", str(HERE / "peer.py"), library.name, game, str(games), f"{seconds}"]
    environment = dict(os.environ)
    environment.pop("PYTHONPATH", None)
    if not library.packages:
        environment["PYTHONPATH"] = str(ROOT)
    else:
        environment["JAX_PLATFORMS"] = "cpu"
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment, cwd=HERE
        )
    except subprocess.TimeoutExpired:
        return {"why": f"no figure within {PATIENCE} seconds"}
    if done.returncode:
        return {"why": _last(done.stderr)}
    found: dict[str, Any] = json.loads(_last(done.stdout))
    return found


class Table:
    """The measurements so far."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.versions: list[str] = []  # of the libraries
        self.reasons: list[str] = []  # for missing rows

    def measure(self, library: Library, python: Path, seconds: float) -> None:
        """Measure the games of an installed library."""
        for game, title, games in ((game, title, one) for game, title, counts in library.games for one in counts):
            found = _measure(library, python, game, games, seconds)
            if "why" in found:
                self.reasons.append(f"{library.title}, {title}: {found['why']}")
                continue
            self.versions.append(f"{library.title} {found['version']}")
            alone, both = found["rates"]
            self.rows.append([library.title, title, f"{games:,}", f"{alone:,.0f}", f"{both:,.0f}"])
            print(*self.rows[-1], sep="  ", flush=True)

    def part(self) -> str:
        """Return the table as a section of a page."""
        head = ("library", "game", "parallel games", "actions/s", "with sampling")
        table = markdown.markdown_table(
            head, [[markdown.escape_markdown(cell) for cell in row] for row in self.rows], left=2
        )
        intro = f"{', '.join(dict.fromkeys(self.versions))}; one CPU core of: {machine_text(machine())}"
        missing = [markdown.escape_markdown(f"Not measured: {'; '.join(self.reasons)}.")] if self.reasons else []
        return "\n" + "\n\n".join([intro, table, *missing]) + "\n\n"


def compare(seconds: float) -> str:
    """Measure all libraries, until Ctrl-C, and return the section of the page."""
    table = Table()
    with tempfile.TemporaryDirectory(prefix="helsinki-peers-") as folder:
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            for library in LIBRARIES:
                theirs = Path(folder) / "bin" / "python"
                why = _install(library, theirs) if library.packages else ""
                if why:
                    table.reasons.append(f"{library.title}: {why}")
                else:
                    table.measure(library, theirs if library.packages else Path(sys.executable), seconds)
        except KeyboardInterrupt:
            table.reasons.append("all later rows: stopped by Ctrl-C")
    return table.part()


def main() -> None:
    """Read the options, measure and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", type=Path, help="page whose section 'peers' is replaced")
    parser.add_argument("--seconds", type=float, default=2.0, help="duration of each measurement")
    options = parser.parse_args()
    if options.write is not None:
        markdown.replace_section(options.write.read_text(encoding="utf-8"), "peers")  # before anything is measured
    content = compare(options.seconds)
    if options.write is None:
        print(content)
    else:
        page = options.write.read_text(encoding="utf-8")
        options.write.write_text(markdown.replace_section(page, "peers", content), encoding="utf-8")


if __name__ == "__main__":
    main()
