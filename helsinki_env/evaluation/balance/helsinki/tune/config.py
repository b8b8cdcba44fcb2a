"""Configuration of a search for a balanced board, fixed before the first game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from helsinki_env.data import Node
from helsinki_env.evaluation.balance.helsinki.base import (
    ConfigFile,
    StudyError,
    check_screen,
    component_file,
    field_entry,
    game_counts,
)
from helsinki_env.evaluation.balance.helsinki.tune.numbers import COVERED, BoardNumber, read_numbers, searches_covers
from helsinki_env.games.helsinki.components import load_components
from helsinki_env.utils.files import check_no_link, remove_leftovers

__all__ = ["BALANCE", "BOARDS", "LEAST_GAMES", "LIFT", "TuneConfig", "TuneGames"]

BALANCE = "balance"
"""The default aim of a search, see `TuneConfig.aim`."""
LIFT = "lift"
"""The other aim of a search, see `TuneConfig.aim`."""

BOARDS = "boards"
"""Folder of the files with which boards are played."""
_MOST_BOARDS = 300
LEAST_GAMES = 48
"""Minimum number of games of a screening experiment; fewer carry no information, even combined with others."""


@dataclass(frozen=True)
class TuneGames:
    """Numbers of games by number of players; all fields have the same numbers of players.

    Attributes:
        screen: games on the published board.
        slopes: games on boards with random numbers, in total.
        halving: games of each halving round, over all remaining boards.
        proof: games on the published board, and on each finalist.
    """

    screen: Mapping[int, int] = field(default_factory=dict)
    slopes: Mapping[int, int] = field(default_factory=dict)
    halving: Mapping[int, int] = field(default_factory=dict)
    proof: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every value."""
        first: tuple[int, ...] = ()
        for item in fields(self):
            counts = {n: games for n, games in sorted(game_counts(self, item.name).items()) if games}
            first = first or tuple(counts)
            if not counts or tuple(counts) != first:
                same = f"games for {', '.join(map(str, first))} players, as for screen"
                field_entry(self, item.name).fail(same if first else "games for at least one number of players")
            object.__setattr__(self, item.name, counts)


@dataclass(frozen=True)
class TuneConfig(ConfigFile):
    """Configuration of a search for a balanced board, see ``configs/tune/standard.yaml``.

    Attributes:
        name: name of the search.
        seed: seed of the whole search.
        games: numbers of games of each part.
        components: component file of the published board.
        player: player in all seats.
        band: half width of the equivalence margin, win %.
        level: simultaneous coverage of all intervals of the proof.
        aim: what the search minimizes. "balance": the largest distance of an action beyond the margin, above or below
            the mean effect of its board. "lift": the average shortfall of the effects below the published board's mean
            effect less the margin. Effects above it count as 0, so weaker strong actions gain nothing.
        floor: smallest mean effect of a proposed board, as a fraction of the mean effect of the published board, for
            every number of players; 0 for no floor.
        numbers: numbers that may change, or "covered", see
            `helsinki_env.evaluation.balance.helsinki.tune.numbers.read_numbers`.
        most: maximum number of changes; the number of covered actions if actions are covered.
        boards: number of boards with random numbers.
        candidates: number of boards at the start of the halving.
        finalists: number of boards left for the proof.
        quality: games of each kind that measure length, scores and win rates, on the published and on the proposed
            board, for each number of players.
        weaker: weaker opponent that measures the room for skill.
    """

    WHAT, FOLDER, FILE, MAX_SEED = "tuning", "tune", "tuning.json", 2**50
    PARTS: ClassVar[Mapping[str, type]] = {"games": TuneGames}

    name: str
    seed: int
    games: TuneGames
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
        self._check_common()
        for key in ("player", "weaker"):
            field_entry(self, key).text("a name")
        field_entry(self, "aim").choice((BALANCE, LIFT), "an aim: ")
        field_entry(self, "floor").number(
            0.0, 1.0, expected="a fraction of the level of the published board, from 0 (no floor) to 1"
        )
        component_file(field_entry(self, "components"))
        if not searches_covers(self.free):
            field_entry(self, "most").integer(1, len(self.free))
        elif self.most != COVERED:
            field_entry(self, "most").fail(f"{COVERED}, as many as the rulebook's variant covers")
        field_entry(self, "boards").integer(3, _MOST_BOARDS)
        field_entry(self, "candidates").integer(1, _MOST_BOARDS)
        field_entry(self, "finalists").integer(1, 10)
        field_entry(self, "quality").integer(0, 10**9)
        if self.weaker == self.player:
            field_entry(self, "weaker").fail("another player than the main player")
        parts = {"screen": 1, "slopes": self.boards, "halving": self.candidates, "proof": 1}
        for part, boards in parts.items():
            for n, games in getattr(self.games, part).items():
                if games < LEAST_GAMES * boards:
                    expected = f"at least {LEAST_GAMES * boards:,}, {LEAST_GAMES} for each of {boards} boards"
                    Node(games, StudyError, f"games.{part}.{n}").fail(expected)
        for part in ("screen", "proof"):
            check_screen(getattr(self.games, part), f"games.{part}")

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of players, ascending."""
        return tuple(self.games.screen)

    @cached_property
    def free(self) -> tuple[BoardNumber, ...]:
        """Numbers that may change."""
        return read_numbers(field_entry(self, "numbers"), load_components(self.components))

    @property
    def player_names(self) -> tuple[str, ...]:
        """Names of all players of the games."""
        return self.player, self.weaker

    def open(self, folder: Path) -> None:
        """Store the configuration in the folder of the games, or check that the stored one is the same."""
        check_no_link(folder / BOARDS)
        remove_leftovers(folder / BOARDS)
        super().open(folder)

    def only(self, players: tuple[int, ...]) -> TuneConfig:
        """Return the configuration for some of its numbers of players; StudyError if it lacks one of them."""
        for n in players:
            if n not in self.players:
                Node(n, StudyError, "players").fail(f"some of {', '.join(map(str, self.players))}, which have games")
        games = {
            part: {n: count for n, count in counts.items() if n in players} for part, counts in vars(self.games).items()
        }
        return replace(self, games=TuneGames(**games))
