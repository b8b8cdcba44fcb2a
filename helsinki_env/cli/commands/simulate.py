"""The ``helsinki simulate`` command: play games between players, show win rates, and save the games."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rich.table import Table

from helsinki_env.cli.options import AS_PUBLISHED, GameVariant, game_text, read_list
from helsinki_env.cli.precompile import groups_for, precompile_groups
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.data import UserError, parse_json
from helsinki_env.records import Record, RecordError, RecordWriter, record_digest
from helsinki_env.utils.files import replacement_target
from helsinki_env.utils.stopping import defer_interrupt, rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console, results_table

if TYPE_CHECKING:
    from helsinki_env.evaluation.match import Match, Results


class MatchFile:
    """Collects the games of a match as they end, and writes them in order of their indices.

    The file is replaced when the block ends or `keep` is called, but not after an error. Without a path, games are only
    counted. With `append` or `resume`, the existing contents are preserved. With `resume`, the games at the end of the
    file belong to the match, and `before` holds their results. Raises RecordError.
    """

    def __init__(
        self, path: Path | None, match: Match, games: int, *, append: bool = False, resume: bool = False
    ) -> None:
        self.path, self.match, self.games, self.resume = path, match, games, resume
        self.before: Results | None = None
        self._writer = None if path is None else RecordWriter(path, append=append)
        #: Finished games that are not written yet because an earlier game is still running.
        self._waiting: dict[int, Record] = {}
        self._next = 0
        self._count = 0
        self._closed = False
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of finished games of the match."""
        return self._count

    def __enter__(self) -> MatchFile:
        """Open the file and read its contents."""
        if self._writer is None:
            return self
        self._writer.__enter__()
        if self.resume:
            try:
                self._read(self._writer)
            except BaseException:
                self._writer.discard()
                raise
        return self

    def _read(self, writer: RecordWriter) -> None:
        """Read the games of the match at the end of the file, and copy the lines before them."""
        assert self.path is not None
        if not self.path.exists():
            raise RecordError(f"--resume: found no file {self.path}, expected one; leave out --resume to start")
        if replacement_target(self.path, follow=True) is None:
            raise RecordError(f"--resume: found {self.path}, expected a regular file; leave out --resume to start")
        lines = self.path.read_bytes().splitlines(keepends=True)
        numbers, config = self.match.numbers(self.games), self.match.config
        records: dict[int, Record] = {}
        first, ours = self.match.round_up_games(self.games), len(lines)
        for at in reversed(range(len(lines))):
            if not lines[at].strip():
                continue
            try:
                record = self._record(lines[at], at + 1)
            except RecordError:
                if records and _is_undamaged(lines[at]):
                    break  # it belongs to an earlier match, of another version or component file
                raise
            same = record.config == config or record.config.digest == config.digest
            number = numbers.get((record.seed, record.players)) if same and record.finished else None
            if number is None or number >= first:
                break
            records[number] = record
            first, ours = number, at
        if not records:
            raise RecordError(
                f"--resume: {self.path} does not end with a game of this match: expected {', '.join(self.match.names)} "
                f"in turn, seed {self.match.seed}, at most {self.match.round_up_games(self.games):,} games and the "
                "same rules (repeat the options of the interrupted command, or use --append for another match)"
            )
        self.before = self.match.results_from_records(sorted(records.items()))
        if not self.match.reproduces(self.before, 0):
            raise RecordError(
                f"--resume: {self.path}, line {ours + 1}: found a game that these players play differently, expected "
                "the players of the interrupted command, unchanged and in the same order"
            )
        writer.copy(lines[:ours])
        self.add(self.before)

    def _record(self, line: bytes, number: int) -> Record:
        try:
            return Record.from_json(line.decode())
        except ValueError as problem:
            raise RecordError(f"{self.path}, line {number}: {problem}") from None

    def add(self, results: Results) -> None:
        """Add finished games; called from several threads."""
        with defer_interrupt(), self._lock:
            if self._closed:
                return  # the command is stopping
            self._count += len(results)
            if self._writer is not None:
                self._waiting |= dict(zip(results.numbers.tolist(), results.records(), strict=True))
                while self._next in self._waiting:
                    self._writer.write(self._waiting.pop(self._next))
                    self._next += 1

    def keep(self) -> str:
        """Save the games so far, and return a message with the number of saved games and how to resume."""
        with defer_interrupt(), self._lock:
            total = f"{self.match.round_up_games(self.games):,} games"
            if self._writer is None:
                return (
                    f"{self._count:,} of {total} played, none saved without --out; start again with: "
                    f"{rerun_command_line()}"
                )
            if not self._count:
                self._close(self._writer.discard)
                return f"no finished games; start again with: {rerun_command_line()}"
            for _, record in sorted(self._waiting.items()):
                self._writer.write(record)
            self._close(self._writer.finish)
            resume_command = rerun_command_line("--resume", without=("--append",))
            return f"{self._count:,} of {total} saved in {self.path}; resume with: {resume_command}"

    def _close(self, how: Callable[[], None]) -> None:
        if not self._closed:
            self._closed = True
            how()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Save the file; after an error or if a game is missing, leave the previous file unchanged."""
        if self._writer is None:
            return
        with defer_interrupt(), self._lock:
            total = self.match.round_up_games(self.games)
            if kind is None and self._next < total and not self._closed:
                self._close(self._writer.discard)
                raise RecordError(f"{self.path}: found {self._next:,} games, expected {total:,}; start again")
            self._close(self._writer.finish if kind is None else self._writer.discard)


def _is_undamaged(line: bytes) -> bool:
    """Return whether the digest of a record agrees with its content, for any version and component file."""
    try:
        data = parse_json(line.decode(), RecordError).mapping().value
        return bool(data.get("digest") == record_digest(data))
    except ValueError:
        return False


def play_into(file: MatchFile, threads: int | None = 1) -> Results:
    """Play the games that are missing in the file of a match, save them, show the progress, and return all games."""
    with ProgressDisplay(file.match.round_up_games(file.games)) as display:
        display.resume(len(file))

        def ended(part: Results) -> None:
            file.add(part)
            display.advance(len(part))

        return file.match.play(file.games, threads=threads, batch=None, resume_from=file.before, on_games_end=ended)


def main(
    players: str = "random,greedy",
    games: int = 1000,
    num_players: int | None = None,
    variant: GameVariant = AS_PUBLISHED,
    seed: int = 0,
    threads: int | None = None,
    out: Path | None = None,
    append: bool = False,
    resume: bool = False,
) -> None:
    """Play games between players and show their win rates.

    Each deal is played once in every rotation of the seats. The table shows win rates with 95% confidence intervals.
    The same seed produces the same games with any number of threads.

    Example: helsinki simulate --players greedy,heuristic --games 10000 --out games.jsonl

    Example: helsinki simulate --game copenhagen --players greedy,heuristic --games 1000

    Ctrl-C saves the finished games. The same command with --resume plays the missing games and produces the same file
    as an uninterrupted run.

    Args:
        players: comma-separated players, one for each seat, or one for all seats: random, greedy, heuristic, mc:N or
            ismcts:N (search with N simulations per action), net (the bundled network), net:CHECKPOINT, net+search:N,
            mlp:FOLDER (a network of the gpu preset), program:COMMAND (any language, JSON), llm:listed:MODEL or
            llm:unlisted:MODEL (a language model), MODULE:ATTRIBUTE (your own Python code), or the name of a player from
            an installed package. forced:ACTION:PLAYER, epsilon:P:PLAYER, response:N:PLAYER and counted:PLAYER change
            another player. docs/players.md describes all.
        games: number of games, rounded up to whole rotations of the seats.
        num_players: number of players: 2, 3 or 4; default: the number of names in --players.
        variant: game configuration.
        seed: random seed for deals and players.
        threads: number of threads, each of which plays a batch of games; default: one per CPU core.
        out: output file for the games, one record per line.
        append: add the games to the file instead of replacing its contents.
        resume: resume the match whose games are at the end of the file; earlier contents are preserved.
    """
    from helsinki_env.agents.replaced_actions import replaced_actions_of, replacement_warnings
    from helsinki_env.evaluation.match import Match

    names = read_list(players)
    default_players = len(names) if len(names) > 1 else 2
    counted_by = "number of --players" if num_players is None else "--num-players"
    chosen = variant.config(num_players, default_players, counted_by)
    if len(names) == 1:
        names *= chosen.num_players
    if len(names) != chosen.num_players:
        raise UserError(
            f"--players: found {len(names)} ({players}), expected {chosen.num_players}, one for each seat, or "
            "one for all seats"
        )
    for option, given in (("--append", append), ("--resume", resume)):
        if given and out is None:
            raise UserError(f"{option}: found without --out, expected the file to add to")
    if append and resume:
        raise UserError(
            "--append: found with --resume, which also keeps the contents of the file; leave one of them out"
        )
    match, console = Match(names, chosen, seed), plain_console()
    precompile_groups(groups_for(names, chosen))
    with MatchFile(out, match, games, append=append, resume=resume) as file:
        before = len(file)
        started = time.monotonic()
        with save_on_interrupt(file.keep):
            results = play_into(file, threads)
    seconds = time.monotonic() - started
    console.print(_table(results))
    for player in match.players:
        for line in replacement_warnings(player.name, replaced_actions_of(player)):
            console.print(line)
        if report := getattr(player, "cost_report", ""):
            console.print(report)
    lengths = [len(game) for game in results.decisions]
    earlier = f", {before:,} of them from an earlier run" if before else ""
    now = sum(lengths) - (0 if file.before is None else sum(len(game) for game in file.before.decisions))
    console.print(
        f"{len(results):,} games with seed {seed}{earlier}, {sum(lengths) / len(results):.1f} actions and "
        f"{results.rounds.mean():.1f} rounds per game; {seconds:.1f} s, {now / seconds:,.0f} actions/s"
    )
    if out is not None:
        console.print(f"Wrote {out}; see a game with: helsinki replay {out} --record 1")


def _table(results: Results) -> Table:
    config = results.config
    columns = ("player", "seat", "games", "games won", "95% interval", "points", "rank")
    table = results_table(columns, "player", game_text(config))
    for result in results.player_results():
        table.add_row(
            result.player if result.seat is None else "",
            "all" if result.seat is None else str(result.seat),
            f"{result.games:,}",
            f"{result.share:.1%}",
            f"{result.low:.1%} to {result.high:.1%}",
            f"{result.score:.1f}",
            f"{result.place:.2f}",
            style="bold" if result.seat is None else None,
            end_section=result.seat == config.num_players - 1,
        )
    return table
