"""A study of balance from its file: who plays what, part by part, written down before the first game.

The parts are tournaments (`agents.arena`), each in a folder of its own with decks of its own: the gate (does a player
know what to do when actions are missing?), the screen (every seat is denied actions by a balanced design), its
repetition with other component files, the games of the rulebook as they are, all sets of five covered actions, those
sets again that came out at the ends, and the confirmation of what the screen suspects. The last two are known only when
the parts before them are played.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

from agents.arena.designs import Screen
from agents.arena.plan import MOST_GAMES, Plan
from agents.helsinki.balance.parts import (
    Confirmation,
    Covers,
    Gate,
    Population,
    StudyError,
    Variants,
    check_design,
    check_screen,
    component_file,
    entry_of,
    read_asked,
)
from agents.helsinki.balance.tables import (
    Suspect,
    bare_table,
    cover_table,
    gate_table,
    quality_table,
    screen_table,
    skill_table,
    variant_table,
)
from agents.helsinki.balance.tournaments import planned
from agents.registry import check_code
from helsinki_env.data import Entry, shown
from helsinki_env.games.helsinki.components import ACTIONS

__all__ = ["DEPENDENT", "GAMES_AS_THEY_ARE", "PARTS", "Confirmation", "Covers", "Gate", "Population", "StudyConfig",
           "StudyError", "Suspect", "Variants", "bare_table", "cover_table", "gate_table", "quality_table",
           "screen_table", "skill_table", "variant_table"]  # fmt: skip

PARTS = ("gate", "screen", "variants", "quality", "covers", "again", "confirm")
"""The parts in the order in which they are played."""
DEPENDENT = ("again", "confirm")
"""Those whose games depend on what other parts have found."""
GAMES_AS_THEY_ARE: dict[str, dict[str, Any]] = {
    "base game": {},
    "first game": {"covered": "first_game"},
    "dry roads": {"dry_roads": True},
}
"""What the rulebook offers, as keys of a game configuration."""
_PLAYERS = (2, 3, 4)
#: Of what players are rated by: so many that every number of players has several decks.
_LEAST_GAMES = 24
#: Deals with nothing covered, as a multiple of those of a covered set: every set is compared with these games.
_BARE = 20
#: Every part makes a seed of its own of it.
_MOST_SEED = 2**56
_PARTS: Mapping[str, type] = {
    "screen": Screen,
    "gate": Gate,
    "covers": Covers,
    "variants": Variants,
    "confirm": Confirmation,
}


@dataclass(frozen=True)
class StudyConfig:
    """A study as its file says it.

    Attributes:
        name: of the study.
        seed: of everything.
        components: of all parts but the variants.
        classes: who plays, weakest first.
        band: points of the share of wins, of a hundred, within which actions count as equally strong.
        level: probability that all intervals of the study hold together.
        screen: the design.
        gate, covers, variants, confirm: see there.
        quality: games of each kind of game as it is, for every number of players: of every class against itself, and of
            every class but the weakest in one seat against the next weaker in the others. Classes may say otherwise.
    """

    name: str
    seed: int
    classes: tuple[Population, ...]
    components: str = "default"
    band: float = 1.0
    level: float = 0.95
    screen: Screen = field(default_factory=Screen)
    gate: Gate = field(default_factory=Gate)
    covers: Covers = field(default_factory=Covers)
    variants: Variants = field(default_factory=Variants)
    confirm: Confirmation = field(default_factory=Confirmation)
    quality: int = 0

    def __post_init__(self) -> None:
        """Check every value."""
        entry_of(self, "name").text("a name")
        entry_of(self, "seed").integer(0, _MOST_SEED)
        entry_of(self, "quality").integer(0, MOST_GAMES)
        entry_of(self, "band").number(0.0, 100.0, inside=True)
        entry_of(self, "level").number(0.5, 1.0, inside=True)
        component_file(entry_of(self, "components"))
        names = [entry.player for entry in self.classes]
        if len(set(names)) < len(names):
            entry_of(self, "classes").fail("every player once", found=shown(names))
        if self.confirm.player is not None:
            playing = [entry.player for entry in self.classes if all(entry.games.get(n) for n in self.players)]
            Entry(self.confirm.player, StudyError, "confirm.player").choice(playing)
        if not self.players:
            entry_of(self, "classes").fail("games of at least one class for 2, 3 or 4 players", found=shown(names))

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of players that the screen is played with, ascending."""
        return tuple(n for n in _PLAYERS if any(entry.games.get(n) for entry in self.classes))

    def names(self, players: int) -> list[str]:
        """Return who plays with so many players, weakest first."""
        return [entry.player for entry in self.classes if entry.games.get(players)]

    @classmethod
    def from_yaml(cls, name_or_path: str | Path, *, trust: bool = False) -> StudyConfig:
        """Return the study in a file (a name in ``configs/balance``, or a path).

        Args:
            name_or_path: the file.
            trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

        Raises:
            StudyError: naming file, key, value found and what is expected.
            PlayerError: if the file names code and is not trusted.
        """
        data = read_asked(name_or_path, "balance")
        found = cls.from_dict(data)
        players = [entry.player for entry in found.classes]
        players += [found.gate.reference, *found.covers.players, found.variants.player]
        check_code(players, data.file, trust=trust)
        with data.blamed():
            found._check_enough()
        return found

    def _check_enough(self) -> None:
        """What could not be reported after hours of games is not begun."""
        check_design(self.screen, "screen")
        for i, entry in enumerate(self.classes):
            check_screen(entry.games, f"classes[{i}].games")
            if entry.quality:
                entry_of(entry, "quality").integer(_LEAST_GAMES)
        check_screen(self.variants.games, "variants.games")
        for games, key in ((self.gate.games, "gate.games"), (self.quality, "quality")):
            if games:
                Entry(games, StudyError, key).integer(_LEAST_GAMES)

    @property
    def known_plans(self) -> list[Plan]:
        """What is played whatever comes of it: the parts that do not depend on others."""
        plans = [self.plan(part) for part in PARTS if part not in DEPENDENT]
        return [plan for plan in plans if plan is not None]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Entry) -> StudyConfig:
        """Return the study with the keys of a file, see ``configs/balance/standard.yaml``.

        Raises:
            StudyError: naming key, value found and what is expected.
        """
        data = Entry.of(data, StudyError, "the study").mapping([item.name for item in fields(cls)])
        classes = data["classes"].entries("at least one player with its games", least=1)
        parts: dict[str, Any] = {name: data[name].build(kind) for name, kind in _PARTS.items() if data[name].given}
        data.value = {**data.value, "classes": tuple(entry.build(Population) for entry in classes), **parts}
        return data.build(cls)

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain data; `from_dict` reads it."""
        data = asdict(self)
        data["classes"] = list(data["classes"])
        data["covers"]["players"] = list(self.covers.players)
        data["screen"]["sizes"] = list(self.screen.sizes)
        data["variants"]["components"] = list(self.variants.components)
        return data

    def plan(self, part: str, found: Sequence[Any] = ()) -> Plan | None:
        """Return the tournament of a part; None if the study leaves it out.

        Args:
            part: one of `PARTS`.
            found: what the parts before have found: the numbers of the covered sets to play again by number of players
                (``again``), or the `Suspect` list (``confirm``).
        """
        tables = getattr(self, f"_{part}")(*((found,) if part in DEPENDENT else ()))
        return planned(self.seed_of(part), tables) if tables else None

    def seed_of(self, part: str) -> int:
        """Return the seed of a part: every part has decks of its own."""
        return self.seed * len(PARTS) + PARTS.index(part)

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
                    tables.append(table | {"name": gate_table(entry.player, n, False)})
                    tables.append(table | {"name": gate_table(entry.player, n, True)} | missing)
        return tables

    def _screen(self) -> list[dict[str, Any]]:
        return [
            {
                "name": screen_table(entry.player, n),
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
                "name": variant_table(components, n),
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
        for kind, changes in GAMES_AS_THEY_ARE.items():
            for n in self.players:
                game, names = self._game(n, **changes), self.names(n)
                played = {
                    entry.player: {"games": self.quality if entry.quality is None else entry.quality, "game": game}
                    for entry in self.classes
                }
                tables += [{"name": quality_table(kind, one, n), "players": [one], **played[one]} for one in names]
                tables += [
                    {"name": skill_table(kind, one, other, n), "lineups": [[one] * (n - 1) + [other]], **played[other]}
                    for one, other in pairwise(names)
                ]
        return [table for table in tables if table["games"]]

    def _covers(self) -> list[dict[str, Any]]:
        c, sets = self.covers, comb(len(ACTIONS), 5)
        return [
            {
                "name": cover_table(n),
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
                "name": cover_table(n),
                "games": len(numbers) * n * c.again_decks,
                "cover": {"size": 5, "only": list(numbers)},
            }
            for n, numbers, table in zip(counts, chosen, common, strict=True)
        ] + [
            {**table, "name": bare_table(n), "games": n * c.again_decks * _BARE}
            for n, table in zip(counts, common, strict=True)
        ]

    def _confirm(self, suspects: Sequence[Suspect]) -> list[dict[str, Any]]:
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
