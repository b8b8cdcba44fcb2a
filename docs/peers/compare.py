"""Measure helsinki-env and other game libraries in one run on one CPU core, for the table of docs/speed.md.

    python docs/peers/compare.py --write docs/speed.md

Other libraries are installed in a temporary environment with the versions of requirements.txt. Each figure comes from a
separate process (peer.py). The table names what could not be installed or measured, with the reason. Ctrl-C ends the
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
    """A library.

    Attributes:
        name: name of its distribution.
        title: displayed name.
        packages: requirements for pip.
        games: measured games, each (game, number of parallel games, displayed name).
    """

    name: str
    title: str
    packages: tuple[str, ...]
    games: tuple[tuple[str, int, str], ...]


LIBRARIES = (
    Library(
        "helsinki-env",
        "helsinki-env",
        (),
        (
            ("helsinki", 1, "Helsinki, AEC"),
            ("helsinki:Game", 1, "Helsinki, Game"),
            ("helsinki", 1024, "Helsinki, vector"),
            ("helsinki", 4096, "Helsinki, vector"),
            ("copenhagen", 1, "Copenhagen, AEC"),
            ("copenhagen:Game", 1, "Copenhagen, Game"),
            ("copenhagen", 1024, "Copenhagen, vector"),
            ("copenhagen", 4096, "Copenhagen, vector"),
        ),
    ),
    Library(
        "pettingzoo",
        "PettingZoo",
        ("pettingzoo[classic]",),
        (
            ("tictactoe_v3", 1, "tic-tac-toe"),
            ("connect_four_v3", 1, "connect four"),
            ("chess_v6", 1, "chess"),
            ("go_v5:9", 1, "go, 9 x 9"),
        ),
    ),
    Library(
        "rlcard",
        "RLCard",
        ("rlcard",),
        (("leduc-holdem", 1, "Leduc hold'em"), ("uno", 1, "Uno"), ("gin-rummy", 1, "gin rummy")),
    ),
    Library(
        "open_spiel",
        "OpenSpiel",
        ("open_spiel",),
        (
            ("connect_four", 1, "connect four"),
            ("backgammon", 1, "backgammon"),
            ("chess", 1, "chess"),
            ("go(board_size=9)", 1, "go, 9 x 9"),
            ("gin_rummy", 1, "gin rummy"),
        ),
    ),
    Library(
        "pgx",
        "pgx",
        ("pgx", "jax", "jaxlib"),
        (
            ("go_9x9", 64, "go, 9 x 9"),
            ("go_9x9", 1024, "go, 9 x 9"),
            ("go_9x9", 4096, "go, 9 x 9"),
            ("shogi", 1024, "shogi"),
            ("chess", 1024, "chess"),
        ),
    ),
)


def _last(text: str) -> str:
    """Return the last line of a program's output."""
    return (text.strip().splitlines() or ["it says nothing"])[-1]


def _install(library: Library, python: Path) -> str:
    """Install a library; return the reason of a failure, or an empty string."""
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
    """The measurements so far.

    Attributes:
        rows: of the table.
        versions: of the libraries.
        reasons: reasons for missing rows.
    """

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.versions: list[str] = []
        self.reasons: list[str] = []

    def measure(self, library: Library, python: Path, seconds: float) -> None:
        """Measure the games of an installed library."""
        for game, games, title in library.games:
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
        head = ("library", "game", "games at once", "decisions/s", "with choosing")
        table = markdown.markdown_table(
            head, [[markdown.escape_markdown(cell) for cell in row] for row in self.rows], left=2
        )
        intro = f"{', '.join(dict.fromkeys(self.versions))}; one processor of: {machine_text(machine())}"
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
