"""Configuration of a balance study: the games of each part, fixed before the first game.

The parts are tournaments (`helsinki_env.evaluation.arena`), each in its own folder with its own deals:

- the qualification (`gate`): does a player cope with disabled actions?
- the screening experiment (`screen`): every seat is denied actions by a balanced design;
- its repetition with other component files (`variants`);
- the games that the rulebook offers (`quality`);
- all sets of five covered actions (`covers`), and again the sets at the ends (`again`);
- the confirmatory test of the candidates (`confirm`).

The games of `again` and `confirm` depend on the results of earlier parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

from helsinki_env.agents.registry import check_code
from helsinki_env.data import Node, short_repr
from helsinki_env.evaluation.arena.designs import ScreeningDesign
from helsinki_env.evaluation.arena.plan import MAX_MATCHUP_GAMES, Plan
from helsinki_env.evaluation.balance.helsinki.matchups import (
    Candidate,
    cover_matchup,
    qualification_matchup,
    quality_matchup,
    screening_matchup,
    skill_matchup,
    uncovered_matchup,
    variant_matchup,
)
from helsinki_env.evaluation.balance.helsinki.part_configs import (
    ConfirmationConfig,
    CoversConfig,
    Population,
    QualificationConfig,
    StudyError,
    VariantsConfig,
    check_design,
    check_screen,
    component_file,
    field_entry,
    read_config,
)
from helsinki_env.evaluation.balance.helsinki.tournaments import plan_from_matchups
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

__all__ = [
    "DEPENDENT",
    "PUBLISHED_GAMES",
    "STUDY_PARTS",
    "Candidate",
    "ConfirmationConfig",
    "CoversConfig",
    "Population",
    "QualificationConfig",
    "StudyConfig",
    "StudyError",
    "VariantsConfig",
    "cover_matchup",
    "qualification_matchup",
    "quality_matchup",
    "screening_matchup",
    "skill_matchup",
    "uncovered_matchup",
    "variant_matchup",
]  # fmt: skip

STUDY_PARTS = ("gate", "screen", "variants", "quality", "covers", "again", "confirm")
"""The parts, in playing order."""
DEPENDENT = ("again", "confirm")
"""Parts whose games depend on the results of other parts."""
PUBLISHED_GAMES: dict[str, dict[str, Any]] = {
    "base game": {},
    "first game": {"covered": "first_game"},
    "dry roads": {"dry_roads": True},
}
"""Games that the rulebook offers, as keys of a game configuration."""
_PLAYERS = (2, 3, 4)
#: Minimum number of games for a rating, so that every number of players has several deals.
_LEAST_GAMES = 24
#: Deals with nothing covered, as a multiple of those of a covered set: every set is compared with these games.
_BARE = 20
#: Every part derives its own seed from it.
_MOST_SEED = 2**56
_PARTS: Mapping[str, type] = {
    "screen": ScreeningDesign,
    "gate": QualificationConfig,
    "covers": CoversConfig,
    "variants": VariantsConfig,
    "confirm": ConfirmationConfig,
}


@dataclass(frozen=True)
class StudyConfig:
    """Configuration of a study.

    Attributes:
        name: name of the study.
        seed: seed of the whole study.
        components: component file of all parts except the variants.
        classes: classes of player, weakest first.
        band: half width of the equivalence margin, win %.
        level: simultaneous coverage of all intervals of the study.
        screen: design of the screening experiment.
        gate, covers, variants, confirm: configuration of these parts.
        quality: games of each kind of published game, for every number of players. Every class plays against itself,
            and every class but the weakest plays in one seat against the next weaker. Classes may override it.
    """

    name: str
    seed: int
    classes: tuple[Population, ...]
    components: str = "default"
    band: float = 1.0
    level: float = 0.95
    screen: ScreeningDesign = field(default_factory=ScreeningDesign)
    gate: QualificationConfig = field(default_factory=QualificationConfig)
    covers: CoversConfig = field(default_factory=CoversConfig)
    variants: VariantsConfig = field(default_factory=VariantsConfig)
    confirm: ConfirmationConfig = field(default_factory=ConfirmationConfig)
    quality: int = 0

    def __post_init__(self) -> None:
        """Check every value."""
        field_entry(self, "name").text("a name")
        field_entry(self, "seed").integer(0, _MOST_SEED)
        field_entry(self, "quality").integer(0, MAX_MATCHUP_GAMES)
        field_entry(self, "band").number(0.0, 100.0, inside=True)
        field_entry(self, "level").number(0.5, 1.0, inside=True)
        component_file(field_entry(self, "components"))
        names = [entry.player for entry in self.classes]
        if len(set(names)) < len(names):
            field_entry(self, "classes").fail("every player once", found=short_repr(names))
        if self.confirm.player is not None:
            playing = [entry.player for entry in self.classes if all(entry.games.get(n) for n in self.players)]
            Node(self.confirm.player, StudyError, "confirm.player").choice(playing)
        if not self.players:
            field_entry(self, "classes").fail(
                "games of at least one class for 2, 3 or 4 players", found=short_repr(names)
            )

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of players of the screening experiment, ascending."""
        return tuple(n for n in _PLAYERS if any(entry.games.get(n) for entry in self.classes))

    def names(self, players: int) -> list[str]:
        """Return the names of the classes that play with this number of players, weakest first."""
        return [entry.player for entry in self.classes if entry.games.get(players)]

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> StudyConfig:
        """Read a study from a file (a name in ``configs/balance``, or a path).

        Args:
            name_or_path: name or path of the file.
            trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

        Raises:
            StudyError: for an invalid file; names file, key, value found and expected value.
            PlayerError: if the file names code and is not trusted.
        """
        data = read_config(name_or_path, "balance")
        found = cls.from_dict(data)
        players = [entry.player for entry in found.classes]
        players += [found.gate.reference, *found.covers.players, found.variants.player]
        check_code(players, data.file, trust=trust)
        with data.prefix_errors():
            found._check_enough()
        return found

    def _check_enough(self) -> None:
        """Reject a study that could not be reported after hours of games."""
        check_design(self.screen, "screen")
        for i, entry in enumerate(self.classes):
            check_screen(entry.games, f"classes[{i}].games")
            if entry.quality:
                field_entry(entry, "quality").integer(_LEAST_GAMES)
        check_screen(self.variants.games, "variants.games")
        for games, key in ((self.gate.games, "gate.games"), (self.quality, "quality")):
            if games:
                Node(games, StudyError, key).integer(_LEAST_GAMES)

    @property
    def known_plans(self) -> list[Plan]:
        """Check the plans of all parts that do not depend on others."""
        plans = [self.plan(part) for part in STUDY_PARTS if part not in DEPENDENT]
        return [plan for plan in plans if plan is not None]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> StudyConfig:
        """Return the study with the keys of a file, see ``configs/balance/standard.yaml``.

        Raises:
            StudyError: for an invalid value; names key, value found and expected value.
        """
        data = Node.of(data, StudyError, "the study").mapping([item.name for item in fields(cls)])
        classes = data["classes"].entries("at least one player with its games", least=1)
        parts: dict[str, Any] = {name: data[name].build(kind) for name, kind in _PARTS.items() if data[name].is_present}
        data.value = {**data.value, "classes": tuple(entry.build(Population) for entry in classes), **parts}
        return data.build(cls)

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain data for `from_dict`."""
        data = asdict(self)
        data["classes"] = list(data["classes"])
        data["covers"]["players"] = list(self.covers.players)
        data["screen"]["sizes"] = list(self.screen.sizes)
        data["variants"]["components"] = list(self.variants.components)
        return data

    def plan(self, part: str, found: Sequence[Any] = ()) -> Plan | None:
        """Return the tournament of a part, or None if the study omits it.

        Args:
            part: one of `STUDY_PARTS`.
            found: results of earlier parts: the indices of the covered sets to replay, by number of players
                (``again``), or the `Candidate` list (``confirm``).
        """
        tables = getattr(self, f"_{part}")(*((found,) if part in DEPENDENT else ()))
        return plan_from_matchups(self.seed_of(part), tables) if tables else None

    def seed_of(self, part: str) -> int:
        """Return the seed of a part; every part has its own deals."""
        return self.seed * len(STUDY_PARTS) + STUDY_PARTS.index(part)

    def _game(self, players: int, **changes: Any) -> dict[str, Any]:
        return {"num_players": players, "components": self.components, **changes}

    def _gate(self) -> list[dict[str, Any]]:
        tables = []
        for entry in self.classes:
            if entry.player == self.gate.reference or not self.gate.games:
                continue
            for n in self.players:
                if entry.games.get(n):
                    table: dict[str, Any] = {
                        "players": [entry.player, self.gate.reference],
                        "games": -(-self.gate.games // (1 if n == 2 else n - 1)),
                        "game": self._game(n),
                    }
                    missing = {"screen": {"copies": 1, "loose": 0.0}}
                    tables.append(table | {"name": qualification_matchup(entry.player, n, False)})
                    tables.append(table | {"name": qualification_matchup(entry.player, n, True)} | missing)
        return tables

    def _screen(self) -> list[dict[str, Any]]:
        return [
            {
                "name": screening_matchup(entry.player, n),
                "players": [entry.player],
                "games": entry.games[n],
                "game": self._game(n),
                "screen": asdict(self.screen),
            }
            for entry in self.classes
            for n in self.players
            if entry.games.get(n)
        ]

    def _variants(self) -> list[dict[str, Any]]:
        v = self.variants
        return [
            {
                "name": variant_matchup(components, n),
                "players": [v.player],
                "games": v.games[n],
                "game": self._game(n, components=components),
                "screen": asdict(self.screen),
            }
            for components in v.components
            for n in self.players
            if v.games.get(n)
        ]

    def _quality(self) -> list[dict[str, Any]]:
        tables = []
        for kind, changes in PUBLISHED_GAMES.items():
            for n in self.players:
                game, names = self._game(n, **changes), self.names(n)
                played = {
                    entry.player: {"games": self.quality if entry.quality is None else entry.quality, "game": game}
                    for entry in self.classes
                }
                tables += [{"name": quality_matchup(kind, one, n), "players": [one], **played[one]} for one in names]
                tables += [
                    {
                        "name": skill_matchup(kind, one, other, n),
                        "lineups": [[one] * (n - 1) + [other]],
                        **played[other],
                    }
                    for one, other in pairwise(names)
                ]
        return [table for table in tables if table["games"]]

    def _covers(self) -> list[dict[str, Any]]:
        c, sets = self.covers, comb(len(BOARD_ACTIONS), 5)
        return [
            {
                "name": cover_matchup(n),
                "players": list(c.players),
                "games": sets * n * c.decks[n],
                "game": self._game(n),
                "cover": {"size": 5},
            }
            for n in self.players
            if c.decks.get(n)
        ]

    def _again(self, chosen: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
        c = self.covers
        counts = [n for n in self.players if c.decks.get(n)]
        common = [{"players": list(c.players), "game": self._game(n)} for n in counts]
        return [
            {
                **table,
                "name": cover_matchup(n),
                "games": len(numbers) * n * c.again_decks,
                "cover": {"size": 5, "only": list(numbers)},
            }
            for n, numbers, table in zip(counts, chosen, common, strict=True)
        ] + [
            {**table, "name": uncovered_matchup(n), "games": n * c.again_decks * _BARE}
            for n, table in zip(counts, common, strict=True)
        ]

    def _confirm(self, suspects: Sequence[Candidate]) -> list[dict[str, Any]]:
        tables = []
        for suspect in suspects:
            n, player = suspect.players, suspect.player
            forced = f"forced:{suspect.action}:{player}"
            common = {"games": n * self.confirm.decks, "game": self._game(n)}
            others: list[list[str]] = [[] for _ in range(n - 1)]
            alone = [[], *([suspect.action] for _ in range(n - 1))]
            ways: tuple[tuple[str, dict[str, Any]], ...] = (
                ("denied", {"players": [player], "handicap": {"denied": [[suspect.action], *others]}}),
                ("alone", {"players": [player], "handicap": {"denied": alone}}),
                ("forced", {"lineups": [[forced, *[player] * (n - 1)]]}),
            )
            for way, entry in ways:
                if n == 2 and way == "alone":
                    continue  # the other seat is denied it: the same games
                tables.append({"name": suspect.table(way), **entry, **common})
        return tables
