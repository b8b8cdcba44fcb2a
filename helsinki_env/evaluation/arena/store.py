"""The folder of a run: the plan, files for each work unit, and finally one file with all games.

=============  =====================================================================================================
run.json       the plan and its digest; written first
work_units/    two files per work unit: NAME.games and NAME.json
games.parquet  all games in the order of the plan (or games.jsonl: records for ``helsinki replay``)
digests.json   the digest of the plan whose games are in games.parquet, and the checksum of games.parquet
times.json     the players' times (not reproducible)
=============  =====================================================================================================

Every file is written atomically, so a run can be killed at any time. Missing or damaged work units are played again
with the same result. If a run was started with fewer games, the last work unit of a line-up may contain only its first
blocks. Only games.parquet requires PyArrow.

NAME.games holds the game results of a work unit (`encode_results`). NAME.json is written first and holds the metadata:
blocks, plan, checksum of the games, and times of the players. The plan determines deals, seating and disabled actions
(`helsinki_env.evaluation.arena.work_unit.schedule_games`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.llm.usage import ModelUsage
from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.data import Node, check_same_settings, read_json, read_stored_settings, shorten
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.designs import with_disabled
from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, Plan, WorkUnit, without_game_counts
from helsinki_env.evaluation.arena.work_unit import (
    ThinkingTime,
    WorkUnitGames,
    player_file_digests,
    schedule_games,
    validate_games,
)
from helsinki_env.evaluation.play import GameResults
from helsinki_env.records import Record, RecordWriter
from helsinki_env.utils.files import atomic_write, check_no_link, hold_lock_file, is_file, remove_leftovers, write_json

GAMES_SUFFIX = ".games"
"""File name extension of the games of a work unit."""
_METADATA_SUFFIX = ".json"
#: Maximum number of actions that a seat takes in a game.
_MAX_ACTIONS = 2**15 - 1


@dataclass(frozen=True)
class WorkUnitMetadata:
    """The metadata of a work unit."""

    unit: str  # name of the work unit
    first: int  # first block
    end: int  # last played block plus 1
    basis: str  # `Plan.basis`
    sha256: str  # checksum of the games file in hexadecimal digits
    times: tuple[ThinkingTime, ...]  # one for each player in the line-up


@dataclass(frozen=True)
class SavedWorkUnit:
    """The content of a work unit's games file, with metadata."""

    unit: WorkUnit  # work unit with the played blocks only
    content: bytes
    times: tuple[ThinkingTime, ...]  # one for each player in the line-up


class WorkUnitFiles:
    """The folder with the work units of a run."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan

    def path(self, unit: WorkUnit, ending: str = GAMES_SUFFIX) -> Path:
        """Return the path of a work unit's file with the given extension."""
        return self.folder / f"{unit.name}{ending}"

    def write(self, unit: WorkUnit, played: GameResults, times: Sequence[ThinkingTime]) -> None:
        """Write the games and the metadata of a work unit."""
        content = encode_results(played)
        metadata = {
            "work_unit": unit.name,
            "blocks": [unit.first, unit.end],
            "basis": self.plan.basis,
            "sha256": hashlib.sha256(content).hexdigest(),
            "times": [{"player": time.player, **time.to_dict()} for time in times],
        }
        write_json(self.path(unit, _METADATA_SUFFIX), metadata)
        with atomic_write(self.path(unit)) as file:
            file.write(content)

    def load_saved(self, unit: WorkUnit) -> SavedWorkUnit | None:
        """Return the saved games of a work unit, or None if they are missing or damaged."""
        metadata = self._metadata(unit)
        if metadata is None or (metadata.unit, metadata.basis) != (unit.name, self.plan.basis):
            return None
        if metadata.first != unit.first or not unit.first < metadata.end <= unit.end:
            return None
        played, path = replace(unit, end=metadata.end), self.path(unit)
        seats = self.plan.matchups[unit.matchup].seats
        max_bytes = self.plan.games_of([played]) * (_columns(seats).itemsize + 2 * _MAX_ACTIONS * seats)
        try:
            if path.stat().st_size > max_bytes:
                return None
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        if metadata.sha256 != hashlib.sha256(content).hexdigest():
            return None
        return SavedWorkUnit(played, content, metadata.times)

    def games(self, saved: SavedWorkUnit) -> WorkUnitGames:
        """Decode the games of a work unit; raise ArenaError if they are invalid or contradict the plan."""
        unit, matchup = saved.unit, self.plan.matchups[saved.unit.matchup]
        try:
            played = decode_results(saved.content, self.plan.games_of([unit]), matchup.seats)
            games = WorkUnitGames(schedule_games(matchup, self.plan.seed, unit), played, saved.times)
            validate_games(games, matchup.config)
        except ArenaError as problem:
            raise ArenaError(
                f"{self.path(unit)}: {self.plan.describe(unit)}: {problem}; remove the file and run helsinki arena "
                "again"
            ) from None
        return games

    def times(self, unit: WorkUnit) -> tuple[ThinkingTime, ...]:
        """Return the players' times in a work unit, or an empty tuple if they are unknown."""
        metadata = self._metadata(unit)
        return () if metadata is None else metadata.times

    def _metadata(self, unit: WorkUnit) -> WorkUnitMetadata | None:
        return read_metadata(self.path(unit, _METADATA_SUFFIX), len(self.plan.matchups[unit.matchup].players))


def read_metadata(path: Path, players: int) -> WorkUnitMetadata | None:
    """Return the metadata of a work unit whose matchup has `players` players, or None if it cannot be read."""
    try:
        data = read_json(path, ArenaError)
        first, end = (block.integer(0) for block in data["blocks"].entries("numbers of blocks", length=2))
        times = tuple(
            _read_time(entry, entry["player"].integer(0, players - 1))
            for entry in data["times"].entries("players' times")
        )
        return WorkUnitMetadata(
            data["work_unit"].text(), first, end, data["basis"].text(), data["sha256"].text(), times
        )
    except ArenaError:
        return None


def _read_time(entry: Node, player: int) -> ThinkingTime:
    """Return the time of a player from `ThinkingTime.to_dict`."""
    return ThinkingTime(
        player=player,
        seconds=entry["seconds"].number(0),
        decisions=entry["decisions"].integer(0),
        replaced_actions=ReplacedActions.read(entry),
        usage=ModelUsage.read(entry),
    )


def _sum_by_player(times: Iterable[ThinkingTime]) -> tuple[ThinkingTime, ...]:
    """Return the sum of the times of each player."""
    sums: dict[int, ThinkingTime] = {}
    for time in times:
        sums[time.player] = sums[time.player].add(time) if time.player in sums else time
    return tuple(sums[player] for player in sorted(sums))


def _columns(seats: int) -> np.dtype[np.void]:
    """Return the dtype of a game's results without its actions. The field names are those of `GameResults`."""
    return np.dtype(
        [
            ("scores", "<i2", (seats,)),
            ("places", "<i1", (seats,)),
            ("rounds", "<i2"),
            ("used", "<i2", (seats,)),
            ("seat_decisions", "<i2", (seats,)),
        ]
    )


def encode_results(played: GameResults) -> bytes:
    """Encode the results of games as bytes. Equal games result in equal bytes.

    The little-endian format has one record per game (`_columns`), followed by the actions of all games as int16. The
    number of actions in a game is the sum of its seat_decisions.
    """
    columns = np.zeros(len(played.rounds), _columns(played.scores.shape[1]))
    for name in columns.dtype.names or ():
        columns[name] = getattr(played, name)
    return columns.tobytes() + np.concatenate(played.decisions).astype("<i2").tobytes()


def decode_results(content: bytes, games: int, seats: int) -> GameResults:
    """Decode bytes from `encode_results`; raise ArenaError if they do not encode `games` games."""
    columns = _columns(seats)
    start = games * columns.itemsize
    if len(content) < start:
        raise ArenaError(f"found {len(content):,} bytes, expected {start:,} and the actions of {games} games")
    found = np.frombuffer(content, columns, games)
    if (found["seat_decisions"] < 0).any():
        raise ArenaError("seat_decisions: found a negative number of actions")
    lengths = found["seat_decisions"].sum(axis=1, dtype=np.int64)
    expected = start + 2 * int(lengths.sum())
    if len(content) != expected:
        raise ArenaError(f"found {len(content):,} bytes, expected {expected:,} according to seat_decisions")
    decisions = np.frombuffer(content, "<i2", offset=start).astype(np.int16)
    others: dict[str, Any] = {
        name: found[name].astype(found[name].dtype.newbyteorder("=")) for name in columns.names or ()
    }
    return GameResults(decisions=tuple(np.split(decisions, lengths.cumsum()[:-1])), **others)


_NETWORKS = "networks.json"
_WORK_UNITS = "work_units"
_GAMES = "games.parquet"
_DIGESTS = "digests.json"
_TIMES = "times.json"
#: Files derived from the work units. A plan with more games invalidates them.
_JOINED = (_GAMES, _DIGESTS, "games.jsonl", _TIMES)


def has_games(path: Path) -> bool:
    """Return whether a folder contains a run with at least one played game."""
    return (path / "run.json").is_file() and (
        (path / _GAMES).is_file() or any((path / _WORK_UNITS).glob(f"*{GAMES_SUFFIX}"))
    )


class RunFolder:
    """The folder of a run."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.plan = path, plan
        self._units = WorkUnitFiles(path / _WORK_UNITS, plan)

    @classmethod
    @contextmanager
    def create(cls, path: Path, plan: Plan) -> Iterator[RunFolder]:
        """Create a run folder or reopen an existing one, and lock it for the duration of the block.

        Raises:
            ArenaError: if the folder contains a run with another plan or more games, or another process is using it.
        """
        busy = ArenaError(f"{path}: found another process that plays this run; wait for it, or choose another --out")
        with hold_lock_file(path / ".lock", busy):
            cls._begin(path, plan)
            yield cls(path, plan)

    @classmethod
    def _begin(cls, path: Path, plan: Plan) -> None:
        check_no_link(path / _WORK_UNITS)
        manifest = path / "run.json"
        before = None
        if manifest.exists():
            before = cls.open(path)
            _check_extends(path, before.plan, plan)
        elif found := [name for name in (_WORK_UNITS, *_JOINED) if (path / name).exists()]:
            raise ArenaError(f"{path}: found {found[0]} but no run.json, expected both or none; choose another --out")
        for folder in (path, path / _WORK_UNITS):
            remove_leftovers(folder)
        # While no games are saved, a player's files may change, for example to fix an error.
        now, known = _networks(plan), cls(path, plan).networks if has_games(path) else {}
        for player, digest in now.items():
            if known.get(player, digest) != digest:
                raise ArenaError(
                    f"{path}: files of {player}: found digest {digest}, expected {known[player]} as at the start of "
                    "the run; restore the files, or choose another --out"
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
        """Open a run folder for reading; raise ArenaError if the run is missing, invalid or from another version."""
        manifest = path / "run.json"
        if not is_file(manifest):
            raise ArenaError(
                f"{shorten(path)}: found no run.json, expected the folder of a run; helsinki arena creates one"
            )
        return cls(path, Plan.from_dict(read_stored_settings(manifest, ArenaError)))

    @property
    def networks(self) -> dict[str, str]:
        """Digest of the files of each player, 16 hexadecimal digits."""
        path = self.path / _NETWORKS
        if not path.exists():
            return {}
        try:
            return {player: digest.text("a digest") for player, digest in read_json(path, ArenaError).items()}
        except ArenaError as problem:
            raise ArenaError(f"{problem}; remove the file to continue without it") from None

    def save(self, unit: WorkUnit, games: WorkUnitGames) -> None:
        """Save the games of a work unit. If `unit` begins after its saved blocks, the games are appended to them."""
        whole, parts = self.plan.whole(unit), [games]
        if unit.first > whole.first:
            saved = self._units.load_saved(whole)
            if saved is None or saved.unit.end != unit.first:
                raise ArenaError(
                    f"{self._units.path(whole)}: found no earlier blocks, expected the saved ones; run the same "
                    "command again"
                )
            parts.insert(0, self._units.games(saved))
        times = _sum_by_player(time for part in parts for time in part.times)
        self._units.write(replace(unit, first=whole.first), _joined([part.played for part in parts]), times)

    def missing(self) -> list[WorkUnit]:
        """Return the work units that still have to be played: missing, damaged or incomplete ones."""
        units = []
        for unit in self.plan.work_units:
            saved = self._units.load_saved(unit)
            first = unit.first if saved is None else saved.unit.end
            if first < unit.end:
                units.append(replace(unit, first=first))
        return units

    def games(self, *, whole: bool = False) -> Iterator[tuple[WorkUnit, WorkUnitGames]]:
        """Yield the played work units with their games, read from games.parquet if it exists.

        If `whole` is True, raises ArenaError if games are missing.
        """
        return self._games_of_joined() if (self.path / _GAMES).exists() else self._games_of_units(whole)

    def _games_of_joined(self) -> Iterator[tuple[WorkUnit, WorkUnitGames]]:
        from helsinki_env.evaluation.arena.parquet import SCHEMA, BoundedParquetFile, games_from_arrow

        joined = self.path / _GAMES
        remedy = "restore the original files, or remove this one and run helsinki arena again"
        if (difference := self._joined_difference()) is not None:
            raise ArenaError(f"{joined}: {difference}; {remedy}")
        units = self.plan.work_units
        try:
            file = BoundedParquetFile(joined, SCHEMA, len(units) + 1)
        except ArenaError as problem:
            raise ArenaError(f"{joined}: {problem}; {remedy}") from None
        with file:
            if (count := len(file.rows)) != len(units):
                raise ArenaError(f"{joined}: found {count} row groups, expected {len(units)}; {remedy}")
            for number, unit in enumerate(units):
                try:
                    rows = file.group(number, self.plan.games_of([unit]))
                    games = games_from_arrow(self.plan.matchups[unit.matchup], self.plan.seed, unit, rows)
                except ArenaError as problem:
                    raise ArenaError(f"{joined}: {self.plan.describe(unit)}: {problem}; {remedy}") from None
                yield unit, games

    def _joined_difference(self) -> str | None:
        """Describe how games.parquet differs from the file that was written, or return None if it does not."""
        path = self.path / _DIGESTS
        if not path.exists():
            return f"found no {_DIGESTS}, expected the file with its checksum"
        digests = read_json(path, ArenaError)
        plan, expected = (digests[key].text("a digest") for key in ("plan", _GAMES))
        if plan != self.plan.digest:
            return f"found games of the plan {plan!r}, expected {self.plan.digest!r} as in run.json"
        with (self.path / _GAMES).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            return f"found the checksum {found[:16]}…, expected {expected:.16}… as in {_DIGESTS}"
        return None

    def _games_of_units(self, whole: bool) -> Iterator[tuple[WorkUnit, WorkUnitGames]]:
        for unit in self.plan.work_units:
            saved = self._units.load_saved(unit)
            if whole and (saved is None or saved.unit != unit):
                raise ArenaError(
                    f"{self._units.path(unit)}: found {'no valid' if saved is None else 'only some'} games of "
                    f"{self.plan.describe(unit)}, expected all; run the same command again to play the missing games"
                )
            if saved is not None:
                yield saved.unit, self._units.games(saved)

    def _restore(self) -> None:
        """Restore work units that exist only in games.parquet, provided that this file is intact.

        The first restored work unit of a matchup gets the times of all of them, which times.json has only in total.
        """
        missing = {self.plan.whole(unit) for unit in self.missing()}
        if missing and (self.path / _GAMES).exists():
            with suppress(ArenaError):  # if the file is damaged, the games are played again
                times = self._times_of_removed(missing)
                for unit, games in self._games_of_joined():
                    if unit in missing:
                        self._units.write(unit, games.played, times.pop(unit.matchup, ()))

    def _times_of_removed(self, missing: Collection[WorkUnit]) -> dict[int, tuple[ThinkingTime, ...]]:
        """Return the times in times.json without those of the work units that are not missing, by matchup."""
        found: dict[int, list[ThinkingTime]] = {}
        if (self.path / _TIMES).exists():
            names = [matchup.name for matchup in self.plan.matchups]
            for entry in read_json(self.path / _TIMES, ArenaError).entries("players' times"):
                matchup = names.index(entry["matchup"].choice(names))
                players = self.plan.matchups[matchup].players
                player = players.index(entry["player"].choice(players))
                found.setdefault(matchup, []).append(_read_time(entry, player))
        for unit in self.plan.work_units:
            if unit.matchup in found and unit not in missing:
                found[unit.matchup] += [time.negative for time in self._units.times(unit)]
        return {matchup: _sum_by_player(times) for matchup, times in found.items()}

    def join(self, form: str) -> Path:
        """Write all games to one file and the players' times to another, and return the path of the games.

        Args:
            form: format of the games file, "parquet" or "jsonl".

        Raises:
            ArenaError: if a work unit is missing, incomplete or damaged. In this case no file is written.
        """
        path = self.path / f"games.{form}"
        if form == "jsonl":
            with RecordWriter(path, follow=False) as writer:
                for record in records_of(self.plan, self._games_of_units(whole=True)):
                    writer.write(record)
        else:
            from helsinki_env.evaluation.arena.parquet import games_to_arrow, write_parquet

            matchups, played = self.plan.matchups, self._games_of_units(whole=True)
            with atomic_write(path) as file:
                digest = write_parquet(
                    file, (games_to_arrow(matchups[unit.matchup], unit, games) for unit, games in played)
                )
                write_json(self.path / _DIGESTS, {"plan": self.plan.digest, _GAMES: digest})
        write_json(self.path / _TIMES, self.times())
        return path

    def times(self) -> list[dict[str, Any]]:
        """Return the times of each player in each matchup.

        They are read from the work units, or from times.json if work units were removed.
        """
        known = [(unit.matchup, self._units.times(unit)) for unit in self.plan.work_units]
        if (self.path / _TIMES).exists() and not all(times for _, times in known):
            entries = read_json(self.path / _TIMES, ArenaError).entries("players' times")
            for entry in entries:
                for name in ("matchup", "player"):
                    entry[name].text()
                _read_time(entry, 0)
            return [dict(entry.value) for entry in entries]
        by_matchup: dict[int, list[ThinkingTime]] = {}
        for number, times in known:
            by_matchup.setdefault(number, []).extend(times)
        matchups = self.plan.matchups
        return [
            {"matchup": matchups[number].name, "player": matchups[number].players[time.player], **time.to_dict()}
            for number, times in sorted(by_matchup.items())
            for time in _sum_by_player(times)
        ]


def _joined(parts: Sequence[GameResults]) -> GameResults:
    columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(GameResults)}
    decisions = tuple(each for part in columns.pop("decisions") for each in part)
    return GameResults(decisions=decisions, **{name: np.concatenate(values) for name, values in columns.items()})


def records_of(plan: Plan, units: Iterable[tuple[WorkUnit, WorkUnitGames]]) -> Iterator[Record]:
    """Yield the record of every game in work units."""
    for unit, games in units:
        matchup, planned, played = plan.matchups[unit.matchup], games.schedule, games.played
        denied, scores, places = planned.disabled.denied.tolist(), played.scores.tolist(), played.places.tolist()
        for g, seed in enumerate(planned.seeds.tolist()):
            yield Record(
                config=_config_of(matchup, int(planned.disabled.covered[g]), tuple(denied[g])),
                seed=seed,
                players=tuple(matchup.players[i] for i in planned.seating[g].tolist()),
                decisions=tuple(played.decisions[g].tolist()),
                scores=tuple(scores[g]),
                places=tuple(places[g]),
            )


@lru_cache(maxsize=4096)
def _config_of(matchup: MatchupPlan, covered: int, denied: tuple[int, ...]) -> Any:
    """Return the configuration of a game with the given disabled actions. Equal configurations share one object."""
    config = with_disabled(matchup.config, covered, denied)
    return matchup.config if config == matchup.config else config


def _networks(plan: Plan) -> dict[str, str]:
    """Return the current digest of the files of each player, 16 hexadecimal digits.

    A player with other files in each game has one entry per game.
    """
    found: dict[str, dict[str, str]] = {}
    for matchup in plan.matchups:
        for player, digest in player_file_digests(matchup).items():
            found.setdefault(player, {})[spec_of(matchup.config).name] = digest[:16]
    return {
        player if len(set(by_game.values())) == 1 else f"{player} ({game})": digest
        for player, by_game in sorted(found.items())
        for game, digest in by_game.items()
    }


def _check_extends(path: Path, existing: Plan, plan: Plan) -> None:
    """Raise ArenaError unless a plan is equal to the existing plan or extends it with more games."""
    check_same_settings(path, without_game_counts(plan.to_dict()), without_game_counts(existing.to_dict()), ArenaError)
    for before, now in zip(existing.matchups, plan.matchups, strict=True):
        if now.blocks < before.blocks:
            raise ArenaError(
                f"{path}: games: found {now.blocks * now.seats:,} in each line-up of matchup {now.name!r}, expected at "
                f"least {before.blocks * before.seats:,} as in the existing run; request more games, or choose another "
                "--out"
            )
