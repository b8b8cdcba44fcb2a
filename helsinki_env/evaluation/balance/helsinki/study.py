"""Configuration of a balance study: the games of each part, which are fixed before the first game.

Each part is a tournament (`helsinki_env.evaluation.arena`) with its own folder and deals:

- `qualification`: qualification of players by their strength with disabled actions;
- `screening`: screening experiment, in which a balanced design denies actions to every seat;
- `variants`: the screening experiment with other component files;
- `quality`: the game variants in the rulebook;
- `covers`: games with each set of five covered actions;
- `again`: fresh games with the most extreme sets in `covers`, so its games depend on those of `covers`.

Results are matched to games by matchup name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any, ClassVar

from helsinki_env.data import Node, short_repr
from helsinki_env.evaluation.arena.designs import ScreeningDesign
from helsinki_env.evaluation.arena.plan import MAX_MATCHUP_GAMES, Plan
from helsinki_env.evaluation.balance.helsinki.base import (
    ConfigFile,
    StudyError,
    check_design,
    check_screening,
    component_file,
    field_entry,
    game_counts,
    plan_from_matchups,
)
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

__all__ = [
    "CoversConfig",
    "Population",
    "QualificationConfig",
    "StudyConfig",
    "StudyError",
    "VariantsConfig",
]

STUDY_PARTS = ("qualification", "screening", "variants", "quality", "covers", "again")
"""The parts in playing order."""
DEPENDENT = "again"
"""The part whose games depend on the results of another part."""
#: Distance between the seeds of consecutive studies, at least the number of parts. The published study used 7.
_SEEDS_PER_STUDY = 7
PUBLISHED_GAMES: dict[str, dict[str, Any]] = {
    "base game": {},
    "first game": {"covered": "first_game"},
    "dry roads": {"dry_roads": True},
}
"""Game variants in the rulebook, each with its changes to the game configuration."""
#: Minimum number of games for a rating, which ensures several deals at each player count.
_LEAST_GAMES = 24
#: Number of deals with nothing covered (the baseline of all sets), as a multiple of the deals for one set.
_BARE = 20


@dataclass(frozen=True)
class Population:
    """Games in which the same player takes all seats.

    Attributes:
        player: player name for `helsinki_env.agents.registry.make_player`.
        games: number of games by player count; no games if 0 or missing.
        quality: number of games of each variant, or None to use `StudyConfig.quality`.
    """

    player: str
    games: Mapping[int, int]
    quality: int | None = None

    def __post_init__(self) -> None:
        """Validate all values."""
        field_entry(self, "player").text("a player, such as greedy")
        object.__setattr__(self, "games", game_counts(self, "games"))
        if self.quality is not None:
            field_entry(self, "quality").integer(0, MAX_MATCHUP_GAMES)


@dataclass(frozen=True)
class QualificationConfig:
    """Qualification of study players: a study player must be about as strong with disabled actions as with all actions.

    Attributes:
        reference: reference player for the ratings.
        games: number of games on the full board, and the same number with five actions denied to each seat by the
            design.
        lost: maximum loss of rating relative to the reference, in Elo points. Players that lose significantly more are
            rejected.
    """

    reference: str = "heuristic"
    games: int = 2000
    lost: float = 50.0

    def __post_init__(self) -> None:
        """Validate all values."""
        field_entry(self, "reference").text("a player, such as greedy")
        field_entry(self, "games").integer(0, MAX_MATCHUP_GAMES)
        field_entry(self, "lost").number(0.0, 10_000.0, inside=True)


@dataclass(frozen=True)
class CoversConfig:
    """Games that measure the effect of disabling five actions for all players.

    Attributes:
        players: the two players, the stronger first. The win rate of the stronger player measures the skill gap.
        deals: number of deals for each of the 3,003 sets, by player count; no deals if 0 or missing.
        again: number of sets at each end of every measure that are played again on fresh deals, along with 50 random
            sets.
        again_deals: number of fresh deals on which each of these sets is played again.
    """

    players: tuple[str, str] = ("heuristic", "greedy")
    deals: Mapping[int, int] = field(default_factory=dict)
    again: int = 20
    again_deals: int = 200

    def __post_init__(self) -> None:
        """Validate all values."""
        players = field_entry(self, "players").entries("players, the stronger first", length=2)
        object.__setattr__(self, "players", tuple(player.text("a player, such as greedy") for player in players))
        object.__setattr__(self, "deals", game_counts(self, "deals"))
        field_entry(self, "again").integer(1, comb(len(BOARD_ACTIONS), 5))
        field_entry(self, "again_deals").integer(2, MAX_MATCHUP_GAMES)


@dataclass(frozen=True)
class VariantsConfig:
    """Screening experiments that vary reconstructed values of the component file.

    Attributes:
        components: component files, as names in ``configs/components`` or paths.
        player: player in all seats.
        games: number of games for each component file, by player count.
    """

    components: tuple[str, ...] = ()
    player: str = "heuristic"
    games: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Validate all values."""
        names = field_entry(self, "components").entries("component files")
        object.__setattr__(self, "components", tuple(component_file(name) for name in names))
        field_entry(self, "player").text("a player, such as greedy")
        object.__setattr__(self, "games", game_counts(self, "games"))


def matchup_name(players: int, *parts: str) -> str:
    """Return the name of a matchup, such as "greedy, 2 players"."""
    return ", ".join([*parts, f"{players} players"])


def qualification_matchup(player: str, players: int, denied: bool) -> str:
    """Return the name of a qualification matchup, with the full board or with five actions denied to every seat."""
    return f"{matchup_name(players, player)}, {'five denied' if denied else 'full board'}"


@dataclass(frozen=True)
class StudyConfig(ConfigFile):
    """Configuration of a study, see ``configs/balance/standard.yaml``.

    Attributes:
        name: name of the study.
        seed: seed of the whole study.
        components: component file for all parts except `variants`.
        classes: player classes, weakest first.
        equivalence_margin: half-width of the equivalence margin, win %.
        level: simultaneous confidence level of all intervals of the study.
        screening: design of the screening experiment.
        qualification, covers, variants: configurations of these parts.
        quality: number of games of each variant at each player count. Every class plays against itself. Every class
            except the weakest also plays one seat against the next weaker class. `Population.quality` overrides this
            number.
    """

    WHAT, FOLDER, FILE, MAX_SEED = "study", "balance", "study.json", 2**56
    PARTS: ClassVar[Mapping[str, type]] = {
        "screening": ScreeningDesign,
        "qualification": QualificationConfig,
        "covers": CoversConfig,
        "variants": VariantsConfig,
    }

    name: str
    seed: int
    classes: tuple[Population, ...]
    components: str = "default"
    equivalence_margin: float = 1.0
    level: float = 0.95
    screening: ScreeningDesign = field(default_factory=ScreeningDesign)
    qualification: QualificationConfig = field(default_factory=QualificationConfig)
    covers: CoversConfig = field(default_factory=CoversConfig)
    variants: VariantsConfig = field(default_factory=VariantsConfig)
    quality: int = 0

    def __post_init__(self) -> None:
        """Validate all values."""
        self._check_common()
        field_entry(self, "quality").integer(0, MAX_MATCHUP_GAMES)
        component_file(field_entry(self, "components"))
        names = [entry.player for entry in self.classes]
        if len(set(names)) < len(names):
            field_entry(self, "classes").fail("every player once", found=short_repr(names))
        if not self.players:
            field_entry(self, "classes").fail(
                "games of at least one class for 2, 3 or 4 players", found=short_repr(names)
            )

    @property
    def players(self) -> tuple[int, ...]:
        """Player counts of the screening experiment, ascending."""
        return tuple(n for n in (2, 3, 4) if any(entry.games.get(n) for entry in self.classes))

    def names(self, players: int) -> list[str]:
        """Return the names of the player classes that have games at this player count, weakest first."""
        return [entry.player for entry in self.classes if entry.games.get(players)]

    @property
    def player_names(self) -> tuple[str, ...]:
        """Names of all players in the games."""
        classes = (entry.player for entry in self.classes)
        return (*classes, self.qualification.reference, *self.covers.players, self.variants.player)

    def check_size(self) -> None:
        """Raise StudyError if the study has too few games for a report."""
        check_design(self.screening, "screening")
        for i, entry in enumerate(self.classes):
            check_screening(entry.games, f"classes[{i}].games")
            if entry.quality:
                field_entry(entry, "quality").integer(_LEAST_GAMES)
        check_screening(self.variants.games, "variants.games")
        for games, key in ((self.qualification.games, "qualification.games"), (self.quality, "quality")):
            if games:
                Node(games, StudyError, key).integer(_LEAST_GAMES)

    @property
    def known_plans(self) -> list[Plan]:
        """Plans of all parts that do not depend on other parts."""
        plans = [self.plan(part) for part in STUDY_PARTS if part != DEPENDENT]
        return [plan for plan in plans if plan is not None]

    @classmethod
    def _build_parts(cls, data: Node) -> dict[str, Any]:
        classes = data["classes"].entries("at least one player with its games", least=1)
        return super()._build_parts(data) | {"classes": tuple(entry.build(Population) for entry in classes)}

    def plan(self, part: str, found: Sequence[Any] = ()) -> Plan | None:
        """Return the tournament of a part, or None if the study omits it.

        Args:
            part: one of `STUDY_PARTS`.
            found: for ``again``, the indices of the covered sets for each player count.
        """
        matchups = getattr(self, f"_{part}")(*((found,) if part == DEPENDENT else ()))
        return plan_from_matchups(self.seed_of(part), matchups) if matchups else None

    def seed_of(self, part: str) -> int:
        """Return the seed of a part."""
        return self.seed * _SEEDS_PER_STUDY + STUDY_PARTS.index(part)

    def _game(self, players: int, **changes: Any) -> dict[str, Any]:
        return {"num_players": players, "components": self.components, **changes}

    def _qualification(self) -> list[dict[str, Any]]:
        matchups = []
        for entry in self.classes:
            if entry.player == self.qualification.reference or not self.qualification.games:
                continue
            for n in self.players:
                if entry.games.get(n):
                    matchup: dict[str, Any] = {
                        "players": [entry.player, self.qualification.reference],
                        "games": -(-self.qualification.games // (1 if n == 2 else n - 1)),
                        "game": self._game(n),
                    }
                    missing = {"screening": {"copies": 1, "loose": 0.0}}
                    matchups.append(matchup | {"name": qualification_matchup(entry.player, n, False)})
                    matchups.append(matchup | {"name": qualification_matchup(entry.player, n, True)} | missing)
        return matchups

    def _screening_matchup(self, name: str, player: str, games: int, game: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "players": [player], "games": games, "game": game, "screening": asdict(self.screening)}

    def _screening(self) -> list[dict[str, Any]]:
        return [
            self._screening_matchup(matchup_name(n, entry.player), entry.player, entry.games[n], self._game(n))
            for entry in self.classes
            for n in self.players
            if entry.games.get(n)
        ]

    def _variants(self) -> list[dict[str, Any]]:
        v = self.variants
        return [
            self._screening_matchup(
                matchup_name(n, Path(path).stem), v.player, v.games[n], self._game(n, components=path)
            )
            for path in v.components
            for n in self.players
            if v.games.get(n)
        ]

    def _quality(self) -> list[dict[str, Any]]:
        matchups = []
        for kind, changes in PUBLISHED_GAMES.items():
            for n in self.players:
                game, names = self._game(n, **changes), self.names(n)
                played = {
                    entry.player: {"games": self.quality if entry.quality is None else entry.quality, "game": game}
                    for entry in self.classes
                }
                matchups += [{"name": matchup_name(n, kind, one), "players": [one], **played[one]} for one in names]
                for one, other in pairwise(names):
                    name, lineups = matchup_name(n, kind, f"{other} against {one}"), [[one] * (n - 1) + [other]]
                    matchups.append({"name": name, "lineups": lineups, **played[other]})
        return [matchup for matchup in matchups if matchup["games"]]

    def _covered(self, n: int, games: int, **design: Any) -> dict[str, Any]:
        players = list(self.covers.players)
        return {"name": matchup_name(n), "players": players, "games": n * games, "game": self._game(n), **design}

    @property
    def cover_counts(self) -> list[int]:
        """Player counts at which sets of actions are covered."""
        return [n for n in self.players if self.covers.deals.get(n)]

    def _covers(self) -> list[dict[str, Any]]:
        sets = comb(len(BOARD_ACTIONS), 5)
        return [self._covered(n, sets * self.covers.deals[n], cover={"size": 5}) for n in self.cover_counts]

    def _again(self, chosen: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
        deals, counts = self.covers.again_deals, self.cover_counts
        return [
            self._covered(n, len(numbers) * deals, cover={"size": 5, "only": list(numbers)})
            for n, numbers in zip(counts, chosen, strict=True)
        ] + [self._covered(n, deals * _BARE) | {"name": matchup_name(n, "nothing covered")} for n in counts]
