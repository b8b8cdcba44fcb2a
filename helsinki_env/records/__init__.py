"""Game records, which store the deal, players, actions and result of a game as one line of JSON.

The seed determines the deal, and the actions (ids of the action table) determine everything else, so that a record can
be replayed exactly. Every registered game (`helsinki_env.engine.spec`) supports records. A line has these keys:

============  ==========================================================================================
(a game)      name of the game in lower case; the value is the version of its environment
config        the configuration, as its `to_dict` writes it
config_digest `digest` of the configuration, which includes the contents of the component file
seed, stream  identify the deal, as in `HelsinkiGame`
episode       index of the game in that stream, as counted by a batch environment; usually 0
players       name of the player in each seat
decisions     actions in order, as ids of the action table
scores        points of each seat; null if the game is unfinished
ranking       seats, best first; null if unfinished; absent in games with shared ranks
places        for games with shared ranks: number of seats that did better, such as [0, 0, 2]
digest        16 hexadecimal digits computed from all other keys
============  ==========================================================================================

    >>> from helsinki_env import HelsinkiGame
    >>> game = HelsinkiGame(seed=5)
    >>> decisions = []
    >>> while not game.done:
    ...     decisions.append(int(game.legal_actions()[0]))
    ...     game.step(decisions[-1])
    >>> record = Record.of(game, seed=5, players=["first", "first"], decisions=decisions)
    >>> replay(Record.from_json(record.to_json())) == game
    True

Files contain one record per line (JSON Lines). A file is written under a temporary name and then renamed, so an
existing file is always complete, and an interrupted run leaves the previous file unchanged.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from helsinki_env.data import Node, UserError, parse_json, seed_to_uint64, short_repr, shorten
from helsinki_env.engine import loops
from helsinki_env.engine.contract import apply_action
from helsinki_env.engine.game import BoardGame, IllegalActionError
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.spec import GameSpec, game_names, spec_by_name, spec_of
from helsinki_env.utils.files import atomic_write, hold_lock_file, remove_leftovers, replacement_target

__all__ = [
    "MAX_LINE",
    "Record",
    "RecordError",
    "RecordWriter",
    "initial_game",
    "read_records",
    "replay",
    "replay_steps",
    "write_records",
]

#: The keys between the name of the game and the result.
_KEYS = ("config", "config_digest", "seed", "stream", "episode", "players", "decisions")


class RecordError(UserError):
    """Raised if a record is invalid. The message states the key, the value found, the value expected and the remedy.

    For records from a file, the message begins with the file name and line number.
    """


@dataclass(frozen=True)
class Record:
    """A recorded game; the module docstring describes the keys.

    Attributes:
        config: configuration of any registered game.
        seed: seed for the deal, from 0 to 2^64 - 1.
        players: name of the player in each seat.
        decisions: actions in order, as ids of the action table.
        scores: points of each seat, or None if the game is unfinished.
        ranking: seats, best first, or None if the game is unfinished or has shared ranks.
        stream: see `HelsinkiGame`.
        episode: index of the game in the stream.
        places: number of seats that did better than each seat, or None if the game is unfinished. Equivalent to the
            ranking, if there is one: if only one of the two is given, the other is derived from it.

    Raises:
        RecordError: if a value is invalid. Only `replay` checks whether the actions are legal.
    """

    config: Any
    seed: int
    players: tuple[str, ...]
    decisions: tuple[int, ...]
    scores: tuple[int, ...] | None = None
    ranking: tuple[int, ...] | None = None
    stream: int = 0
    episode: int = 0
    places: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Validate all values."""
        try:
            spec = self.spec
        except ValueError as problem:
            raise RecordError(str(problem)) from None
        seats = self.config.num_players
        for key in ("seed", "stream", "episode"):
            object.__setattr__(self, key, self._entry(key).integer(0, 2**64 - 1))
        names = self._entry("players").entries("names, one for each seat", length=seats)
        object.__setattr__(self, "players", tuple(name.text("a name") for name in names))
        object.__setattr__(self, "decisions", self._decisions())
        if spec.allows_ties and self.ranking is not None:
            self._entry("ranking").fail(f"None, because {spec.name} has ties", "give places instead")
        given = [key for key in ("ranking", "places") if getattr(self, key) is not None]
        if (self.scores is None) != (not given):
            self._entry(given[0] if given else _result_key(spec)).fail("null exactly if scores is null")
        if self.scores is not None:
            scores = self._entry("scores").entries("whole numbers", length=seats)
            object.__setattr__(self, "scores", tuple(points.integer(0, 10_000) for points in scores))
            if self.places is not None:
                object.__setattr__(self, "places", self._places(spec))
            if not spec.allows_ties:
                object.__setattr__(self, "ranking", self._ranking())

    @property
    def spec(self) -> GameSpec:
        """Specification of the recorded game."""
        return spec_of(self.config)

    def _places(self, spec: GameSpec) -> tuple[int, ...]:
        seats = self.config.num_players
        entries = self._entry("places").entries("ranks, one for each seat", length=seats)
        places = tuple(rank.integer(0, seats - 1) for rank in entries)
        if any(place != sum(other < place for other in places) for place in places):
            self._entry("places").fail("for each seat the number of seats that did better")
        if not spec.allows_ties and len(set(places)) != seats:
            self._entry("places").fail(f"each of 0 to {seats - 1} once, because {spec.name} has no ties")
        return places

    def _ranking(self) -> tuple[int, ...]:
        """Return the seats in order of rank; set `places` if only the ranking is given."""
        if self.ranking is None:
            return tuple(seats_by_rank(self.places or ()))
        seats = range(self.config.num_players)
        entries = self._entry("ranking").entries("seats, best first", length=len(seats))
        ranking = tuple(seat.integer(0, len(seats) - 1) for seat in entries)
        if len(set(ranking)) != len(seats):
            self._entry("ranking").fail(f"each of the seats 0 to {len(seats) - 1} once, best first")
        places = tuple(ranking.index(seat) for seat in seats)
        if self.places not in (None, places):
            self._entry("places").fail(f"{list(places)} by the ranking", "give only one of both")
        object.__setattr__(self, "places", places)
        return ranking

    def _entry(self, key: str) -> Node:
        return Node(getattr(self, key), RecordError, key)

    def _decisions(self) -> tuple[int, ...]:
        last = self.spec.num_actions(self.config) - 1
        decisions = self._entry("decisions")
        actions = decisions.value
        if isinstance(actions, list | tuple) and all(type(action) is int and 0 <= action <= last for action in actions):
            return tuple(actions)  # the fast path
        return tuple(action.integer(0, last) for action in decisions.entries("ids of the action table"))

    @classmethod
    def of(
        cls,
        game: BoardGame,
        seed: int,
        players: Sequence[str],
        decisions: Iterable[int],
        *,
        stream: int = 0,
        episode: int = 0,
    ) -> Record:
        """Create the record of a game from its seed and actions.

        Args:
            game: the game in its current state; if it is over, the record includes the scores and ranks.
            seed: seed for the deal, together with `stream` and `episode`.
            players: name of the player in each seat.
            decisions: all actions taken so far, in order.
            stream: see `HelsinkiGame`.
            episode: index of the game in the stream.
        """
        return cls(
            config=game.config,
            seed=seed,
            stream=stream,
            episode=episode,
            players=tuple(players),
            decisions=tuple(int(action) for action in decisions),
            scores=tuple(game.scores().tolist()) if game.done else None,
            places=tuple(game.ranks().tolist()) if game.done else None,
        )

    @property
    def finished(self) -> bool:
        """Whether the game was played to the end."""
        return self.scores is not None

    def _repr_html_(self) -> str | None:
        """Return the game viewer for notebooks, or None (which shows text) if the game has no drawings."""
        from helsinki_env.records.animation import page, sandboxed_frame  # animation imports this module

        return None if self.spec.render is None else sandboxed_frame(page(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a JSON-serializable dict; the module docstring describes the keys."""
        spec = self.spec
        key = _result_key(spec)
        result = getattr(self, key)
        data: dict[str, Any] = {
            spec.name: spec.version,
            "config": self.config.to_dict(),
            "config_digest": _config_digest(self.config),
            "seed": self.seed,
            "stream": self.stream,
            "episode": self.episode,
            "players": list(self.players),
            "decisions": list(self.decisions),
            "scores": None if self.scores is None else list(self.scores),
            key: None if result is None else list(result),
        }
        data["digest"] = record_digest(data)
        return data

    def to_json(self) -> str:
        """Return the record as one line of JSON, without a trailing newline. `from_json` is the inverse."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> Record:
        """Create a record from the output of `to_dict`.

        Raises:
            RecordError: if the data is invalid. The message states the key, the value found, the value expected and the
                remedy.
        """
        data = Node.of(data, RecordError, "record").mapping()
        spec = _game_of(data)
        version = data[spec.name]
        if type(version.value) is not int or version.value != spec.version:
            remedy = "replay it with the version that played it, because rules differ between versions"
            version.fail(f"{spec.version}, the version of this environment", remedy)
        keys = (spec.name, *_KEYS, "scores", _result_key(spec), "digest")
        data.mapping(keys)
        for key in keys:
            if not data[key].is_present:
                data[key].fail("this key", "write records with Record.to_json")
        digest = record_digest(data.value)
        if data["digest"].value != digest:
            remedy = "the record was changed or damaged; Record(...).to_json() writes a valid digest"
            data["digest"].fail(digest, remedy)
        text = json.dumps({"config": data["config"].value})
        config = _read_config(spec.name, text, str(data["config_digest"].value))
        return cls(config, **{key: data.value[key] for key in keys[3:-1]})

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Create a record from the output of `to_json`.

        Raises:
            RecordError: if the text is not valid JSON, or as in `from_dict`.
        """
        try:
            data = parse_json(line, RecordError, what="record")
        except RecordError as problem:
            raise RecordError(f"{problem}; if the file was truncated, remove this line") from None
        return cls.from_dict(data)


def _result_key(spec: GameSpec) -> str:
    """Return the result key in records of this game: ``places`` if ranks may be shared, otherwise ``ranking``."""
    return "places" if spec.allows_ties else "ranking"


def seats_by_rank(places: Sequence[int]) -> list[int]:
    """Return the seats in order of rank."""
    return sorted(range(len(places)), key=places.__getitem__)


def _game_of(data: Node) -> GameSpec:
    """Return the game of a record; its name is one of the record's keys."""
    known = sorted(game_names())
    names = [name for name in known if data[name].is_present]
    if len(names) != 1:
        found = f"the keys {', '.join(map(short_repr, names or data.value))}" if data.value else "no keys"
        data.fail(f"exactly one of the keys {' and '.join(known)}", found=shorten(found))
    return spec_by_name(names[0])


def record_digest(data: Mapping[str, Any]) -> str:
    """Return the value of a record's key `digest`."""
    content = {key: value for key, value in data.items() if key != "digest"}
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        Node(data, RecordError, what="record").fail("values that JSON supports: text, numbers, lists and mappings")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


_config_digest = lru_cache(maxsize=32)(lambda config: config.digest)


@lru_cache(maxsize=32)
def _read_config(game: str, text: str, digest: str) -> Any:
    """Return the configuration of a game. Results are cached, because a file has few distinct configurations."""
    config = spec_by_name(game).config.from_dict(parse_json(text, RecordError)["config"])
    if config.digest != digest:
        remedy = f"the component file {config.components!r} has changed; restore it"
        Node(digest, RecordError, "config_digest").fail(f"{config.digest}, the digest of this configuration", remedy)
    return config


def initial_game(record: Record) -> Any:
    """Return the game of a record before its first action, as a `BoardGame`."""
    game = record.spec.game(record.config, seed=record.seed, stream=record.stream)
    if record.episode:
        keys = (np.array([seed_to_uint64(n)], np.uint64) for n in (record.seed, record.stream, record.episode))
        loops.batch_deal(game._tables[0], game._states, *keys)
    return game


def replay_steps(record: Record) -> Iterator[tuple[Any, int | None]]:
    """Yield (game, action) pairs: a copy of the game before each action, then the final game with None.

    Raises:
        RecordError: if an action is illegal, or the result differs from the one in the record.
    """
    game = initial_game(record)
    for i, action in enumerate(record.decisions):
        yield game.clone(), action
        _step(game, i, action)
    _check_result(record, game)
    yield game, None


@kernel
def _play(t: Any, states: Any, decisions: Any, mask: Any) -> Any:
    """Apply the actions, int64 (n,), to the game in `states`; return the index of the first illegal action, or n."""
    g = states[0]
    for i in range(len(decisions)):
        write_mask(t, g, mask)
        if mask[decisions[i]] == 0:
            return i
        apply_action(t, g, decisions[i])
    return len(decisions)


def replay(record: Record) -> Any:
    """Return the game after the last action of a record, as a `BoardGame`.

    Raises:
        RecordError: if an action is illegal, or the result differs from the one in the record.
    """
    game = initial_game(record)
    decisions = np.array(record.decisions, np.int64)
    mask = np.zeros(record.spec.num_actions(record.config), np.int8)
    legal = int(_play(record.config.tables[0], game._states, decisions, mask))
    if legal < len(decisions):
        _step(game, legal, int(decisions[legal]))
    _check_result(record, game)
    return game


def _step(game: BoardGame, i: int, action: int) -> None:
    try:
        game.step(action)
    except IllegalActionError as problem:
        raise RecordError(f"decisions[{i}]: {problem}; seed, configuration or decisions may be wrong") from None


def _check_result(record: Record, game: BoardGame) -> None:
    if game.done != record.finished:
        state = "over" if game.done else f"unfinished after {len(record.decisions)} decisions"
        remedy = "add the missing decisions, or remove the result" if record.finished else "add the result"
        expected = f"{'scores' if game.done else 'null'}, because the game is {state}"
        Node(record.scores, RecordError, "scores").fail(expected, remedy)
    if record.finished:
        scores, places = game.scores().tolist(), game.ranks().tolist()
        last = ("places", places) if record.spec.allows_ties else ("ranking", seats_by_rank(places))
        for key, replayed in (("scores", scores), last):
            entry = Node(getattr(record, key), RecordError, key)
            if list(entry.value) != replayed:
                entry.fail(f"{replayed}, the result of the replay")


MAX_LINE = 2**20
"""Maximum number of characters in a record; a long game has a few thousand."""


def read_records(path: str | Path) -> Iterator[Record]:
    """Yield the records in a file, one per line; blank lines are skipped.

    Raises:
        RecordError: if the file does not exist or a record is invalid. The message states the file, line, key, value
            found, value expected and the remedy.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if not line.strip():
                    continue
                try:
                    if len(line) > MAX_LINE:
                        raise RecordError(f"record: found more than {MAX_LINE:,} characters, expected fewer")
                    record = Record.from_json(line.rstrip("\n"))
                except RecordError as problem:
                    raise RecordError(f"{shorten(path)}, line {number}: {problem}") from None
                yield record
    except RecordError:
        raise
    except UnicodeDecodeError:
        raise RecordError(f"{shorten(path)}: found binary data, expected one record in JSON per line") from None
    except (OSError, ValueError) as problem:  # ValueError: the file name is invalid
        reason = getattr(problem, "strerror", None) or problem
        raise RecordError(
            f"{shorten(path)}: cannot be read: {reason}; helsinki simulate --out writes records"
        ) from None


def write_records(path: str | Path, records: Iterable[Record], *, append: bool = False) -> int:
    """Write records to a file, one per line, either all or none; return the number of records.

    Args:
        path: the file to write; its folder is created if it does not exist.
        records: the records to write.
        append: whether to append to the file instead of replacing it.

    Raises:
        RecordError: if the file cannot be written, another process is writing to it, or its last line is incomplete.
    """
    count = 0
    with RecordWriter(path, append=append) as writer:
        for record in records:
            writer.write(record)
            count += 1
    return count


class _Discarded(Exception):  # noqa: N818  # not an error
    """Raised to discard the records written so far."""


class RecordWriter:
    """Writes records one by one, and replaces the previous file when the block ends without an error.

    Only one writer at a time may use a file. For the other arguments and the errors, see `write_records`.

        with RecordWriter("games.jsonl") as writer:
            writer.write(record)

    Args:
        follow: whether to replace the target of a symbolic link instead of the link itself.
    """

    def __init__(self, path: str | Path, *, append: bool = False, follow: bool = True) -> None:
        self.path = Path(path)
        self.append, self.follow = append, follow
        self._stack = ExitStack()

    def __enter__(self) -> RecordWriter:
        """Open the temporary file."""
        with ExitStack() as stack:
            try:
                target = replacement_target(self.path, follow=self.follow)
                if target is not None:
                    busy = RecordError(f"{self.path}: another process is writing to it; wait, or choose another file")
                    stack.enter_context(hold_lock_file(target.parent / f".{target.name}.lock", busy))
                    remove_leftovers(target.parent)
                self._file = stack.enter_context(atomic_write(self.path, follow=self.follow))
                if self.append and target is not None and target.exists():
                    self._copy()
            except OSError as problem:
                raise self._failed(problem) from None
            self._stack = stack.pop_all()
        return self

    def _copy(self) -> None:
        with self.path.open("rb") as old:
            shutil.copyfileobj(old, self._file)
            if old.tell() > 0:
                old.seek(-1, os.SEEK_END)
                if old.read(1) != b"\n":
                    raise RecordError(
                        f"{self.path}: found a truncated last line, expected a line end; remove that line first"
                    )

    def _failed(self, problem: OSError) -> RecordError:
        return RecordError(f"{self.path}: cannot be written: {problem.strerror}")

    def write(self, record: Record) -> None:
        """Write one record."""
        self.copy([record.to_json().encode() + b"\n"])

    def copy(self, lines: Iterable[bytes]) -> None:
        """Write records that are already JSON lines."""
        try:
            self._file.writelines(lines)
        except OSError as problem:
            raise self._failed(problem) from None

    def finish(self) -> None:
        """Save and close the file."""
        self.__exit__(None, None, None)

    def discard(self) -> None:
        """Close the file without saving, which leaves the previous file unchanged."""
        with suppress(_Discarded), self._stack:
            raise _Discarded

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Save the file or, after an error, remove the temporary file."""
        try:
            self._stack.__exit__(kind, error, trace)
        except OSError as problem:
            if problem is error:
                raise
            raise self._failed(problem) from None
