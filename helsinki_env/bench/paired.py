"""Compare the project's speed with that of an earlier revision by paired measurements.

The revision is checked out as a git worktree in a temporary folder. Because the speed of a machine varies, two
processes run side by side, one for each revision. Each row is measured in the order A, B, B, A within seconds, so that
slow changes affect both revisions equally. These measurements form a pair. The next pair starts with the other revision
and uses new processes, because memory layout is also random. A row reports the median, minimum and maximum of the
ratios of its pairs. The confidence interval of the median is based on order statistics and assumes only that pairs are
independent.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import helsinki_env
from helsinki_env.agents.base import choose_action
from helsinki_env.agents.registry import make_player
from helsinki_env.bench import measures
from helsinki_env.bench.measures import MEASUREMENT_KINDS, MeasurementRequest, row_of
from helsinki_env.bench.speed import machine
from helsinki_env.data import UserError, shorten
from helsinki_env.engine.spec import spec_of
from helsinki_env.utils.stopping import defer_interrupt

#: The folder of the running project.
ROOT = Path(helsinki_env.__file__).resolve().parent.parent


def _git(*words: str) -> str | None:
    """Run git in the project without hooks, isolated from Ctrl-C; return its output, or None if it fails."""
    command = ["git", "-C", str(ROOT), "-c", "core.hooksPath=/dev/null", *words]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, start_new_session=True
        )
    except FileNotFoundError:
        raise UserError("--against: found no git, which is needed to check a revision out") from None
    return done.stdout.strip() if done.returncode == 0 else None


def described() -> str:
    """Describe the running revision."""
    commit = _git("rev-parse", "--short=7", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{commit} with changes" if changed else f"{commit}"


class Checkout:
    """Context manager that checks out a git revision into a temporary folder, which may hold other files too.

    Raise ValueError if the project is not a git checkout, or if the revision does not exist or lacks the package.
    """

    def __init__(self, revision: str) -> None:
        top = _git("rev-parse", "--show-toplevel")
        if top is None or Path(top).resolve() != ROOT:
            raise UserError(
                f"--against: found {shorten(ROOT)}, expected a git checkout of the project; clone it, install the "
                "clone with pip install -e, and run the command there"
            )
        # A revision that begins with a dash is not an option.
        commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if commit is None:
            raise UserError(f"--against: found {shorten(revision)}, expected a revision that git knows, such as HEAD~1")
        if _git("cat-file", "-e", f"{commit}:helsinki_env/__init__.py") is None:
            raise UserError(f"--against: found {shorten(revision)}, expected a revision with the package helsinki_env")
        self.commit, self._full = commit[:7], commit
        self.date = _git("show", "--no-patch", "--format=%cs", commit) or ""
        self.scratch = Path()

    @property
    def folder(self) -> Path:
        """The folder of the checkout."""
        return self.scratch / self.commit

    def __enter__(self) -> Checkout:
        """Check out the revision."""
        with defer_interrupt():
            self.scratch = Path(tempfile.mkdtemp(prefix="helsinki-env-bench-")).resolve()
            if _git("worktree", "add", "--quiet", "--detach", str(self.folder), self._full) is None:
                self.remove()
                raise UserError(f"--against: git could not check {self.commit} out into {shorten(self.scratch)}")
        return self

    def remove(self) -> None:
        """Remove the checkout if it exists."""
        if self.scratch.exists():
            _git("worktree", "remove", "--force", str(self.folder))
            shutil.rmtree(self.scratch, ignore_errors=True)

    def __exit__(self, *_: object) -> None:
        """Remove the checkout."""
        self.remove()


class Worker:
    """A process that measures the checkout in a folder and restarts on demand; `cache` is its cache folder."""

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
        if cache is not None:
            self._environment["HELSINKI_CACHE_DIR"] = str(cache)
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: MeasurementRequest) -> float | str:
        """Return the measured rate, or the reason why there is none."""
        if self._process is None and (why := self._start()):
            return why
        answer = self._answer(json.dumps(request._asdict()))
        return answer["rate"] if "rate" in answer else str(answer["why"])

    def _start(self) -> str:
        """Start the process; return the reason why it cannot measure, or an empty string."""
        # -P excludes modules in the script's folder. A new session isolates the process from Ctrl-C.
        self._process = subprocess.Popen(
            [sys.executable, "-P", measures.__file__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=self._environment, start_new_session=True,
        )  # fmt: skip
        answer = self._answer()
        package = Path(answer.get("package") or self._folder)
        if not package.resolve().is_relative_to(self._folder.resolve()):
            answer = {"why": f"Python imports the package from {package.parent}, not from {self._folder}"}
        if "why" in answer:
            self.stop()
        return str(answer.get("why", ""))

    def _answer(self, question: str = "") -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if question:
            with suppress(BrokenPipeError):
                print(question, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        status = self._process.wait()
        self.stop()
        return {"why": f"the measuring process ended with status {status}"}

    def stop(self) -> None:
        """Terminate the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(BrokenPipeError):
                process.communicate()

    def __enter__(self) -> Worker:
        """Return the worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """Terminate the process."""
        self.stop()


#: Time for each row during warm-up, in seconds; only compilation matters there.
_GLANCE = 0.01


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return a confidence interval for the population median, or None for too few values (6 suffice for 95%).

    The interval inverts a sign test: it extends from the kth smallest to the kth largest of n values. k is the largest
    number for which fewer than k heads in n coin flips are sufficiently rare.
    """
    ordered, throws, fewer, k = sorted(values), len(values), 0, 0
    while 2 * (fewer + math.comb(throws, k)) <= (1 - confidence) * 2**throws:
        fewer += math.comb(throws, k)
        k += 1
    return (ordered[k - 1], ordered[-k]) if k else None


def _summary(ratios: Sequence[float]) -> dict[str, Any]:
    """Return summary statistics of ratios; an empty list gives an empty dictionary."""
    if not ratios:
        return {}
    found = {"median": statistics.median(ratios), "lowest": min(ratios), "highest": max(ratios)}
    return {**found, "interval_95": median_interval(ratios)}


@dataclass
class ComparisonRow:
    """A row of the comparison."""

    game: str  # name of the game
    row: str  # key of the measurement, as for `measures.row_of`
    name: str  # description for users
    games: int  # batch size
    threads: int  # number of threads for a step
    #: Actions per second in each pair, for the running project (now) and the other revision (then).
    rates: dict[str, list[float]] = field(default_factory=lambda: {"now": [], "then": []})
    lacks: dict[str, str] = field(default_factory=dict)  # reasons why a revision cannot be measured

    def against(self, other: list[float]) -> list[float]:
        """Return the ratios of the running project's rates to other rates, pair by pair."""
        return [one / two for one, two in zip(self.rates["now"], other, strict=False)]

    def data(self) -> dict[str, Any]:
        """Return the row as JSON-serializable data, with statistics of the rates."""
        medians = {f"{side}_median": statistics.median(rates) for side, rates in self.rates.items() if rates}
        ratios = self.against(self.rates["then"])
        return {**self.__dict__, **medians, "ratios": ratios, **_summary(ratios)}


class Comparison:
    """A comparison and its current results; `rows` are keys of `measures.MEASUREMENT_KINDS` or names of players."""

    def __init__(
        self, checkout: Checkout, configs: Sequence[Any], rows: Sequence[str], games: int, threads: int, seconds: float
    ) -> None:
        self.checkout, self.pairs, self._revision = checkout, 0, described()
        self._request = MeasurementRequest("", "", games, threads, [], 0, seconds)
        self._lines: dict[str, list[int]] = {}
        self.rows: list[ComparisonRow] = []
        for config in configs:
            game = spec_of(config).name
            self._lines[game] = _line(config) if set(rows) - set(MEASUREMENT_KINDS) else []
            for key in rows:
                row = row_of(key)
                shape = 1 if row.single else games, threads if row.threaded else 1
                self.rows.append(ComparisonRow(game, key, row.name, *shape))

    def warm(self, advance: Callable[[int], None]) -> None:
        """Compile the measured code and detect missing rows; call `advance` after each row."""
        with self._workers() as workers:
            for row in self.rows:
                self._measure(row, workers, ("then", "now"), _GLANCE)
                row.rates = {"now": [], "then": []}
                advance(1)

    def measure_pair(self, advance: Callable[[int], None]) -> None:
        """Measure one pair of every row; call `advance` after each row."""
        with self._workers() as workers:
            for place, row in enumerate(self.rows):
                sides = ("now", "then") if (self.pairs + place) % 2 else ("then", "now")
                self._measure(row, workers, (*sides, *reversed(sides)), self._request.seconds / 2)
                advance(1)
        self.pairs += 1

    @contextmanager
    def _workers(self) -> Iterator[dict[str, Worker]]:
        cache = self.checkout.scratch / "kernels"
        with Worker(ROOT) as now, Worker(self.checkout.folder, cache) as then:
            yield {"now": now, "then": then}

    def _measure(self, row: ComparisonRow, workers: dict[str, Worker], order: Sequence[str], seconds: float) -> None:
        """Measure a row in both processes in the given order, and average each revision's rates."""
        request = self._request._replace(
            row=row.row, game=row.game, line=self._lines[row.game], turn=self.pairs, seconds=seconds
        )
        found: dict[str, list[float]] = {"now": [], "then": []}
        for side in order:
            if side not in row.lacks:
                answer = workers[side].ask(request)
                if isinstance(answer, str):
                    row.lacks[side] = answer
                else:
                    found[side].append(answer)
        for side, rates in found.items():
            if side not in row.lacks:
                row.rates[side].append(statistics.mean(rates))

    def within(self) -> list[dict[str, Any]]:
        """Return ratios within the running project: several threads to one thread, and other games to the first."""
        rows = {(row.game, row.row): row for row in self.rows}
        pairs = []
        first = self.rows[0].game
        for (game, key), row in rows.items():
            title = row.game.capitalize()
            if row.threads > 1 and (game, "env") in rows:
                pairs.append((f"{title}: {row.threads} threads to one", row, rows[game, "env"]))
            elif game != first and (first, key) in rows and key in MEASUREMENT_KINDS:
                pairs.append((f"{title} to {first.capitalize()}: {row.name}", row, rows[first, key]))
        return [{"name": name, **_summary(row.against(other.rates["now"]))} for name, row, other in pairs]

    def data(self) -> dict[str, Any]:
        """Return all results as JSON-serializable data."""
        return {
            "helsinki_env": helsinki_env.__version__,
            "machine": machine(),
            "revision": self._revision,
            "against": {"revision": self.checkout.commit, "date": self.checkout.date},
            "pairs": self.pairs,
            "seconds": self._request.seconds,
            "rows": [row.data() for row in self.rows],
            "within": self.within(),
        }


def _line(config: Any) -> list[int]:
    """Return the actions of a game with seed 0 in which the heuristic plays against itself."""
    game, player = spec_of(config).game(config, seed=0), make_player("heuristic", config)
    line: list[int] = []
    while not game.done:
        line.append(int(choose_action(player, game, len(line))))
        game.step(line[-1])
    return line
