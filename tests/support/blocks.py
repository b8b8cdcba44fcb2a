"""The code blocks of the documentation, and where they run: a copy of the repository, a new environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PAGES", "ROOT", "SHORTER", "Block", "blocks", "clone", "run_shell", "shortened"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "AGENTS.md",
    ROOT / "llms.txt",
    ROOT / "notebooks" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
#: Commands of the documentation as they are checked: less of it, by options that a user has as well.
SHORTER = (
    (r"--games \d+", "--games 12"),
    (r"--total-timesteps \d+", "--total-timesteps 4000"),
    (r"--stage \w+", "--stage glance"),
    (r"(tune\w* .*)--minutes \d+", r"\1--minutes 0.1 --deals 20"),
    (r"(train (?:--game \w+ )?--preset \w+)", r"\1 --minutes 0.2"),
    (r"(train --against \w+)", r"\1 --minutes 0.2"),
    (r"--device cuda", "--device auto"),
    (r"helsinki balance tune covered", "helsinki balance tune --help; #"),  # half an hour, and no option makes it less
    (r"helsinki balance retrain quick", "helsinki balance retrain --help; #"),  # ten minutes, likewise
    # what runs there is a copy without a history to compare with
    (r"helsinki bench --against \S+ --write", "helsinki bench --batches 64 --players none --write"),
    (r"helsinki bench(?: --seconds [\d.]+)? --against \S+", "helsinki bench --help; #"),
    (r"helsinki bench(?: --seconds [\d.]+)?", "helsinki bench --seconds 0.02"),
    (r"tensorboard --logdir", "tensorboard --inspect --logdir"),  # what is there, instead of a server
    # a server still runs after 20 seconds
    (r"(?m)^helsinki play\b([^#\n]*).*$", r"timeout 20 helsinki play --no-open --port 0\1 || test $? = 124"),
)
_FENCE = re.compile(r"^```(\w*).*\n((?:.*\n)*?)```$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: its page, relative to the repository.
        line: where it begins.
        language: what stands after the fence; empty if nothing does.
        text: what stands in it.
    """

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        """Return where it is found."""
        return f"{self.page}:{self.line}"


def blocks(path: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    text = path.read_text(encoding="utf-8")
    page = path.relative_to(ROOT).as_posix()
    return [Block(page, text.count("\n", 0, m.start()) + 1, m[1], m[2]) for m in _FENCE.finditer(text)]


def shortened(commands: str) -> str:
    """Return commands that say the same of less."""
    for pattern, replacement in SHORTER:
        commands = re.sub(pattern, replacement, commands)
    return commands


@contextmanager
def clone(folder: Path) -> Iterator[Path]:
    """Give a copy of the repository, in a new folder, with a `.venv` environment in which nothing is installed.

    It has what is tracked, or would be. It is removed in the end: it may have two gigabytes.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file() or source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def run_shell(commands: str, folder: Path, status: int = 0) -> tuple[str, str]:
    """Run commands in a folder as a shell that stops at the first error, with the folder's `.venv` environment.

    Args:
        commands: what is typed.
        folder: where.
        status: with which it should end.

    Returns:
        What they print, and what they write to standard error.

    Raises:
        AssertionError: if they end otherwise; the message holds what was printed.
    """
    mine = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    mine |= {"PATH": f"{folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder, env=mine, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, f"{commands}\n{done.stdout}\n{done.stderr}"
    return done.stdout, done.stderr
