"""What is asked when a board is put in balance, from its file: written down before the first game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from agents.helsinki.balance.parts import StudyError, check_screen, component_file, counts_of, entry_of, read_asked
from agents.helsinki.balance.tune.numbers import COVERED, Number, covers, read_numbers
from agents.registry import check_code
from helsinki_env.data import Entry
from helsinki_env.games.helsinki.components import load_components

__all__ = ["BALANCE", "LEAST_GAMES", "LIFT", "Games", "TuneConfig"]

BALANCE, LIFT = "balance", "lift"
"""The aims of a search, see `TuneConfig.aim`."""

#: Every part makes a seed of its own of it.
_MOST_SEED = 2**50
_MOST_BOARDS = 300
LEAST_GAMES = 48
"""A screen of fewer games tells nothing, not even together with others."""


@dataclass(frozen=True)
class Games:
    """How many games are played, by number of players; the same numbers of players everywhere.

    Attributes:
        screen: on the board as it is.
        slopes: on boards with random numbers, all of them together.
        halving: of each round, all boards that are left together.
        proof: on the board as it is once more, and on each of those that are left.
    """

    screen: Mapping[int, int] = field(default_factory=dict)
    slopes: Mapping[int, int] = field(default_factory=dict)
    halving: Mapping[int, int] = field(default_factory=dict)
    proof: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every value."""
        first: tuple[int, ...] = ()
        for item in fields(self):
            counts = {n: games for n, games in sorted(counts_of(self, item.name).items()) if games}
            first = first or tuple(counts)
            if not counts or tuple(counts) != first:
                some = "games for at least one number of players"
                entry_of(self, item.name).fail(f"games for {_listed(first)} players, as for screen" if first else some)
            object.__setattr__(self, item.name, counts)


def _listed(players: tuple[int, ...]) -> str:
    return ", ".join(map(str, players))


@dataclass(frozen=True)
class TuneConfig:
    """How a board is put in balance, as a file says it.

    Attributes:
        name: of it all.
        seed: of everything.
        games: how many are played of what.
        components: the board as it is.
        player: who plays, in all seats.
        band: points of the share of wins, of a hundred, within which actions count as equally strong.
        level: probability that all intervals of the proof hold together.
        aim: what the search minimizes. "balance": how far the farthest action lies beyond the band, above or below the
            mean effect of its board. "lift": how far the actions fall short of the mean effect on the published board
            less the band, on average; effects above it count as 0, so weaker strong actions gain nothing.
        floor: smallest mean effect of a proposed board, as a fraction of the mean effect of the published board, for
            every number of players; 0 for no floor.
        numbers: which numbers may change, or that actions are covered, see
            `agents.helsinki.balance.tune.numbers.read_numbers`.
        most: how many of them at most; of actions that are covered, how many.
        boards: with random numbers.
        candidates: boards with which the halving begins.
        finalists: boards that it leaves for the proof.
        quality: games of each kind that tell how long games are, what is scored, who wins, on the board as it is and on
            the one that is proposed; for each number of players.
        weaker: against whom the player shows how much room for skill there is.
    """

    name: str
    seed: int
    games: Games
    components: str = "default"
    player: str = "heuristic"
    band: float = 1.0
    level: float = 0.95
    aim: str = BALANCE
    floor: float = 0.8
    numbers: Any = "all"
    most: int = 4
    boards: int = 60
    candidates: int = 16
    finalists: int = 2
    quality: int = 0
    weaker: str = "greedy"

    def __post_init__(self) -> None:
        """Check every value."""
        for key in ("name", "player", "weaker"):
            entry_of(self, key).text("a name")
        entry_of(self, "seed").integer(0, _MOST_SEED)
        entry_of(self, "band").number(0.0, 100.0, inside=True)
        entry_of(self, "level").number(0.5, 1.0, inside=True)
        entry_of(self, "aim").choice((BALANCE, LIFT), "an aim: ")
        entry_of(self, "floor").number(
            0.0, 1.0, expected="a fraction of the level of the published board, from 0 (no floor) to 1"
        )
        component_file(entry_of(self, "components"))
        if not covers(self.free):
            entry_of(self, "most").integer(1, len(self.free))
        elif self.most != COVERED:
            entry_of(self, "most").fail(f"{COVERED}, as many as the rulebook's variant covers")
        entry_of(self, "boards").integer(3, _MOST_BOARDS)
        entry_of(self, "candidates").integer(1, _MOST_BOARDS)
        entry_of(self, "finalists").integer(1, 10)
        entry_of(self, "quality").integer(0, 10**9)
        if self.weaker == self.player:
            entry_of(self, "weaker").fail("another player than the one who plays")
        parts = {"screen": 1, "slopes": self.boards, "halving": self.candidates, "proof": 1}
        for part, boards in parts.items():
            for n, games in getattr(self.games, part).items():
                if games < LEAST_GAMES * boards:
                    expected = f"at least {LEAST_GAMES * boards:,}, {LEAST_GAMES} for each of {boards} boards"
                    Entry(games, StudyError, f"games.{part}.{n}").fail(expected)
        for part in ("screen", "proof"):
            check_screen(getattr(self.games, part), f"games.{part}")

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of players, ascending."""
        return tuple(self.games.screen)

    @cached_property
    def free(self) -> tuple[Number, ...]:
        """The numbers that may change."""
        return read_numbers(entry_of(self, "numbers"), load_components(self.components))

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> TuneConfig:
        """Return what a file asks (a name in ``configs/tune``, or a path).

        Args:
            name_or_path: the file.
            trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

        Raises:
            StudyError: naming file, key, value found and what is expected.
            PlayerError: if the file names code and is not trusted.
        """
        return cls.from_dict(read_asked(name_or_path, "tune")).allowed(name_or_path, trust=trust)

    def allowed(self, file: str | Path, *, trust: bool) -> TuneConfig:
        """Return the same; PlayerError if the players are code of a file that is not trusted."""
        check_code((self.player, self.weaker), file, trust=trust)
        return self

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Entry) -> TuneConfig:
        """Return what is asked, with the keys of a file, see ``configs/tune/standard.yaml``.

        Raises:
            StudyError: naming key, value found and what is expected.
        """
        data = Entry.of(data, StudyError, "the tuning").mapping([item.name for item in fields(cls)])
        games = data["games"]
        if not games.given:
            games.fail(f"games of {', '.join(item.name for item in fields(Games))}, by number of players")
        data.value = {**data.value, "games": games.build(Games)}
        return data.build(cls)

    def to_dict(self) -> dict[str, Any]:
        """Return what is asked as plain data, as JSON gives it back; `from_dict` reads it."""
        data = asdict(self)
        data["games"] = {part: {str(n): games for n, games in counts.items()} for part, counts in data["games"].items()}
        return data

    def only(self, players: tuple[int, ...]) -> TuneConfig:
        """Return the same for some of its numbers of players.

        Raises:
            StudyError: if it says nothing of one of them.
        """
        for n in players:
            if n not in self.players:
                Entry(n, StudyError, "players").fail(f"some of {_listed(self.players)}, of which it says the games")
        kept = {
            part: {n: games for n, games in counts.items() if int(n) in players}
            for part, counts in asdict(self.games).items()
        }
        return replace(self, games=Games(**kept))
