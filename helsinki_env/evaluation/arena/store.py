"""The folder of a run: the plan, a file for each chunk, and one file with all games at the end.

=============  =====================================================================================================
run.json       the plan and its digest; written first
chunks/        results and checksums of each chunk, see `helsinki_env.evaluation.arena.files`
games.parquet  all games in the order of the plan (or games.jsonl: records that ``helsinki replay`` reads)
digests.json   the plan whose games are in games.parquet, and the checksum of that file
times.json     the players' times, the only file that another run would not reproduce byte for byte
=============  =====================================================================================================

Every file is written atomically. A chunk is valid if its name and plan match and its games have the recorded checksum.
A run may therefore be killed at any moment: missing chunks are played again with the same result. The last chunk of a
line-up may hold only its first blocks, if the run began with fewer games.

PyArrow is required only to write or read games.parquet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.data import read_json, shorten
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.designs import decode_action_sets
from helsinki_env.evaluation.arena.files import GAMES_SUFFIX, WorkUnitFiles
from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, Plan, WorkUnit, without_game_counts
from helsinki_env.evaluation.arena.work_unit import ThinkingTime, WorkUnitGames, player_file_digests
from helsinki_env.evaluation.play import GameResults
from helsinki_env.records import Record, RecordWriter
from helsinki_env.utils.files import atomic_write, check_no_link, hold_lock_file, is_file, remove_leftovers, write_json

__all__ = ["RunFolder", "has_games", "records_of"]

_NETWORKS = "networks.json"
_CHUNKS = "chunks"
_GAMES = "games.parquet"
_DIGESTS = "digests.json"
_TIMES = "times.json"
#: Files derived from the chunks, which a plan with more games invalidates.
_JOINED = (_GAMES, _DIGESTS, "games.jsonl", _TIMES)


def has_games(path: Path) -> bool:
    """Return whether a folder holds a run with at least one file of games, complete or not."""
    return (path / "run.json").is_file() and (
        (path / _GAMES).is_file() or any((path / _CHUNKS).glob(f"*{GAMES_SUFFIX}"))
    )


class RunFolder:
    """The folder of a run.

    Args:
        path: path of the folder.
        plan: the tournament.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.plan = path, plan
        self._chunks = WorkUnitFiles(path / _CHUNKS, plan)

    @classmethod
    @contextmanager
    def create(cls, path: Path, plan: Plan) -> Iterator[RunFolder]:
        """Create the folder of a run, or resume one, and lock it for the duration of the block.

        A run can be resumed with the same plan, or with the same plan and more games.

        Raises:
            ArenaError: if the folder holds another run, or another process uses it.
            OSError: if the folder is not writable.
        """
        busy = ArenaError(f"{path}: found another process that plays this run (wait for it, or choose another --out)")
        with hold_lock_file(path / ".lock", busy):
            cls._begin(path, plan)
            yield cls(path, plan)

    @classmethod
    def _begin(cls, path: Path, plan: Plan) -> None:
        check_no_link(path / _CHUNKS)
        manifest = path / "run.json"
        before = None
        if manifest.exists():
            before = cls.open(path)
            _check_extends(path, before.plan, plan)
        elif (path / _CHUNKS).exists():
            raise ArenaError(f"{path}: found chunks but no run.json, expected both or none (choose another --out)")
        for folder in (path, path / _CHUNKS):
            remove_leftovers(folder)
        # If a player failed before any game was saved, its fixed version may resume the run.
        now, known = _networks(plan), cls(path, plan).networks if has_games(path) else {}
        for player, digest in now.items():
            if known.get(player, digest) != digest:
                raise ArenaError(
                    f"{path}: {player} was read from files of digest {known[player]} here, found {digest} now (bring "
                    "the former back, or choose another --out)"
                )
        if known | now != known:
            write_json(path / _NETWORKS, known | now)
        if before is not None:
            before._restore()
            if before.plan.digest == plan.digest:
                return
            for name in _JOINED:
                (path / name).unlink(missing_ok=True)
        write_json(manifest, plan.to_dict())

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open the folder of a run for reading.

        Raises:
            ArenaError: if there is no run, its plan was modified, or this version cannot read it.
        """
        manifest = path / "run.json"
        if not is_file(manifest):
            raise ArenaError(
                f"{shorten(path)}: found no run, expected the folder of one, with run.json (helsinki arena makes it)"
            )
        return cls(path, Plan.from_dict(read_json(manifest, ArenaError)))

    @property
    def networks(self) -> dict[str, str]:
        """The network of each player: 16 hexadecimal digits of the digest of its file."""
        path = self.path / _NETWORKS
        if not path.exists():
            return {}
        try:
            return {player: digest.text("a digest") for player, digest in read_json(path, ArenaError).items()}
        except ArenaError as problem:
            raise ArenaError(f"{problem} (remove the file to go on without)") from None

    def save(self, chunk: WorkUnit, games: WorkUnitGames) -> None:
        """Save the games of a chunk, appended to its earlier blocks if `chunk` holds only the remaining ones.

        Raises:
            ArenaError: if the earlier blocks have disappeared.
        """
        whole, parts = self.plan.whole(chunk), [games]
        if chunk.first > whole.first:
            kept = self._chunks.load_saved(whole)
            if kept is None or kept.chunk.end != chunk.first:
                raise ArenaError(
                    f"{self._chunks.path(whole)}: found its first games gone while the others were played (start "
                    "again with the same arguments)"
                )
            parts.insert(0, self._chunks.games(kept))
        times = [spent for part in parts for spent in part.times]
        self._chunks.write(replace(chunk, first=whole.first), _joined([part.played for part in parts]), times)

    def missing(self) -> list[WorkUnit]:
        """Return the chunks to play: missing, damaged or incomplete ones."""
        found = []
        for chunk in self.plan.chunks:
            kept = self._chunks.load_saved(chunk)
            if kept is None:
                found.append(chunk)
            elif kept.chunk.end < chunk.end:
                found.append(replace(chunk, first=kept.chunk.end))
        return found

    def games(self, *, whole: bool = False) -> Iterator[tuple[WorkUnit, WorkUnitGames]]:
        """Yield the chunks that have been played with their games, in the order of the plan.

        The games are read from the file with all games if there is one, so a copy of a run may omit the chunks.

        Args:
            whole: raise an error if a game of the plan is missing.

        Raises:
            ArenaError: if that file was modified, or games contradict the plan.
            MissingExtraError: if the file exists but PyArrow is not installed.
        """
        return self._games_of_joined() if (self.path / _GAMES).exists() else self._games_of_chunks(whole)

    def _games_of_joined(self) -> Iterator[tuple[WorkUnit, WorkUnitGames]]:
        from helsinki_env.evaluation.arena.bounded_parquet import BoundedParquetFile
        from helsinki_env.evaluation.arena.parquet import SCHEMA, games_from_arrow

        joined = self.path / _GAMES
        remedy = "bring the files back as they were written, or remove it and start helsinki arena again"
        if (changed := self._not_as_written()) is not None:
            raise ArenaError(f"{joined}: {changed} ({remedy})")
        chunks = self.plan.chunks
        try:
            file = BoundedParquetFile(joined, SCHEMA, len(chunks) + 1)
        except ArenaError as problem:
            raise ArenaError(f"{joined}: {problem} ({remedy})") from None
        with file:
            if (count := len(file.rows)) != len(chunks):
                raise ArenaError(
                    f"{joined}: found {'fewer' if count < len(chunks) else 'more'} row groups than there are chunks, "
                    f"{len(chunks)} ({remedy})"
                )
            for number, chunk in enumerate(chunks):
                try:
                    rows = file.group(number, self.plan.games_of([chunk]))
                    games = games_from_arrow(self.plan.tables[chunk.table], self.plan.seed, chunk, rows)
                except ArenaError as problem:
                    raise ArenaError(f"{joined}: {self.plan.describe(chunk)}: {problem} ({remedy})") from None
                yield chunk, games

    def _not_as_written(self) -> str | None:
        """Return what is wrong with the file of all games, or None."""
        path = self.path / _DIGESTS
        if not path.exists():
            return f"found no {_DIGESTS} beside it, expected the file with its checksum"
        digests = read_json(path, ArenaError)
        plan, expected = (digests[key].text("a digest") for key in ("plan", _GAMES))
        if plan != self.plan.digest:
            return f"found games of the plan {plan!r}, expected {self.plan.digest!r}, that of run.json"
        with (self.path / _GAMES).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            return f"found the checksum {found[:16]}…, expected {expected:.16}… as {_DIGESTS} says"
        return None

    def _games_of_chunks(self, whole: bool) -> Iterator[tuple[WorkUnit, WorkUnitGames]]:
        for chunk in self.plan.chunks:
            kept = self._chunks.load_saved(chunk)
            if whole and (kept is None or kept.chunk != chunk):
                raise ArenaError(
                    f"{self._chunks.path(chunk)}: found {'no valid games' if kept is None else 'some games'} of "
                    f"{self.plan.describe(chunk)}, expected all (start again with the same arguments, which plays the "
                    "missing games)"
                )
            if kept is not None:
                yield kept.chunk, self._chunks.games(kept)

    def _restore(self) -> None:
        """Restore chunks that exist only in the file with all games, if that file is intact."""
        lacking = {self.plan.whole(chunk) for chunk in self.missing()}
        if lacking and (self.path / _GAMES).exists():
            with suppress(ArenaError):  # chunks that cannot be restored are played again
                for chunk, games in self._games_of_joined():
                    if chunk in lacking:
                        self._chunks.write(chunk, games.played, games.times)

    def records(self) -> Iterator[Record]:
        """Yield the record of every game played so far, in the order of the plan."""
        return records_of(self.plan, self.games())

    def join(self, form: str) -> Path:
        """Write all games to one file and the times to another, and return the path of the former.

        Args:
            form: "parquet" or "jsonl".

        Raises:
            ArenaError: if a chunk of the plan is missing, incomplete or damaged; then no file is written.
            MissingExtraError: if PyArrow is required and not installed.
        """
        path = self.path / f"games.{form}"
        if form == "jsonl":
            with RecordWriter(path, follow=False) as writer:
                for record in records_of(self.plan, self._games_of_chunks(whole=True)):
                    writer.write(record)
        else:
            from helsinki_env.evaluation.arena.parquet import games_to_arrow, write_parquet

            tables, played = self.plan.tables, self._games_of_chunks(whole=True)
            with atomic_write(path) as file:
                digest = write_parquet(
                    file, (games_to_arrow(tables[chunk.table], chunk, games) for chunk, games in played)
                )
                write_json(self.path / _DIGESTS, {"plan": self.plan.digest, _GAMES: digest})
        write_json(self.path / _TIMES, self.times())
        return path

    def times(self) -> list[dict[str, Any]]:
        """Return the number of actions and the thinking time of each player in each matchup.

        Entries include replaced actions, if any, see `helsinki_env.agents.replaced_actions.ReplacedActions`. If chunks
        were removed after all games were joined in one file, the times written with that file are used.
        """
        known = [(chunk.table, self._chunks.times(chunk)) for chunk in self.plan.chunks]
        if (self.path / _TIMES).exists() and not all(times for _, times in known):
            return [dict(one.value) for one in read_json(self.path / _TIMES, ArenaError).entries("players' times")]
        sums: dict[tuple[int, int], ThinkingTime] = {}
        for number, times in known:
            for spent in times:
                key = number, spent.player
                sums[key] = sums[key].add(spent) if key in sums else spent
        tables = self.plan.tables
        return [
            {"table": tables[table].name, "player": tables[table].players[player], **spent.to_dict()}
            for (table, player), spent in sorted(sums.items())
        ]


def _joined(parts: Sequence[GameResults]) -> GameResults:
    """Concatenate results."""
    columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(GameResults)}
    decisions = tuple(each for part in columns.pop("decisions") for each in part)
    return GameResults(decisions=decisions, **{name: np.concatenate(values) for name, values in columns.items()})


def records_of(plan: Plan, chunks: Iterable[tuple[WorkUnit, WorkUnitGames]]) -> Iterator[Record]:
    """Yield the game record of every game of some chunks."""
    for chunk, games in chunks:
        table, planned, played = plan.tables[chunk.table], games.schedule, games.played
        denied, scores, places = planned.disabled.denied.tolist(), played.scores.tolist(), played.places.tolist()
        for g, seed in enumerate(planned.seeds.tolist()):
            yield Record(
                config=_config_of(table, int(planned.disabled.covered[g]), tuple(denied[g])),
                seed=seed,
                players=tuple(table.players[i] for i in planned.seating[g].tolist()),
                decisions=tuple(played.decisions[g].tolist()),
                scores=tuple(scores[g]),
                places=tuple(places[g]),
            )


@lru_cache(maxsize=4096)
def _config_of(table: MatchupPlan, covered: int, denied: tuple[int, ...]) -> Any:
    """Return the configuration of a game with these disabled actions, bit i for action i."""
    for_all, *by_seat = (np.flatnonzero(found).tolist() for found in decode_action_sets(np.array([covered, *denied])))
    changes = {"covered": for_all, "denied": by_seat}
    config = table.config.replace(
        **{name: changes[name] for name in spec_of(table.config).setup_fields if name in changes}
    )
    return table.config if config == table.config else config


def _networks(plan: Plan) -> dict[str, str]:
    """Return the current digests of the players' files, mostly networks."""
    found = {player: digest for table in plan.tables for player, digest in player_file_digests(table).items()}
    return {player: digest[:16] for player, digest in sorted(found.items())}


def _check_extends(path: Path, there: Plan, plan: Plan) -> None:
    """Check that a plan equals the existing one, or extends it with more games.

    Raises:
        ArenaError: names the difference.
    """
    different = _difference(without_game_counts(there.to_dict()), without_game_counts(plan.to_dict()))
    if different:
        raise ArenaError(f"{path}: holds another run: {different} (choose another --out, or remove {path})")
    for before, now in zip(there.tables, plan.tables, strict=True):
        if now.blocks < before.blocks:
            raise ArenaError(
                f"{path}: games: found {now.blocks * now.seats:,} of each line-up of table {now.name!r}, expected at "
                f"least the {before.blocks * before.seats:,} of the run that is there (ask for as many or more, or "
                "choose another --out)"
            )


def _difference(found: Any, expected: Any, where: str = "") -> str:
    """Describe the first difference of two plans; empty if they are equal."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        keys: Iterable[Any] = [*expected, *(key for key in found if key not in expected)]
        pairs = [(f"{where}.{key}" if where else str(key), found.get(key), expected.get(key)) for key in keys]
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = [(f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(found, expected, strict=True))]
    else:
        return "" if found == expected else f"{where}: found {found!r:.100} there, expected {expected!r:.100}"
    return next((text for key, a, b in pairs if (text := _difference(a, b, key))), "")
