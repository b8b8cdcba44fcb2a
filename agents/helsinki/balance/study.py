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

from agents.arena.config import plan_from_dict
from agents.arena.designs import Screen
from agents.arena.plan import MOST_GAMES, Plan
from helsinki_env.data import Entry, read_yaml, shown
from helsinki_env.games.helsinki.components import ACTIONS
from helsinki_env.games.helsinki.config import GameConfig
from helsinki_env.yaml_files import find_yaml

__all__ = ["GAMES_AS_THEY_ARE", "PARTS", "Confirmation", "Covers", "Gate", "Population", "StudyConfig", "StudyError",
           "Suspect", "Variants", "cover_table", "gate_table", "quality_table", "screen_table", "skill_table",
           "variant_table"]  # fmt: skip

PARTS = ("gate", "screen", "variants", "quality", "covers", "again", "confirm")
"""The parts in the order in which they are played."""
GAMES_AS_THEY_ARE: dict[str, dict[str, Any]] = {
    "base game": {},
    "first game": {"covered": "first_game"},
    "dry roads": {"dry_roads": True},
}
"""What the rulebook offers, as keys of a game configuration."""
_PLAYERS = (2, 3, 4)
#: Games of a chunk: studies have so many that larger batches pay, which networks like.
_CHUNK_GAMES = 480
#: Every part makes a seed of its own of it.
_MOST_SEED = 2**56


class StudyError(ValueError):
    """A study that cannot be played or read. The message names what was found, what is expected and the remedy."""


@dataclass(frozen=True)
class Population:
    """Games in which all seats are taken by the same player.

    Attributes:
        player: as `agents.registry.make_player` takes it.
        games: by number of players; 0 or left out: none.
    """

    player: str
    games: Mapping[int, int]

    def __post_init__(self) -> None:
        """Check every value."""
        _entry(self, "player").text("a player, such as greedy")
        object.__setattr__(self, "games", _counts(self, "games"))


@dataclass(frozen=True)
class Gate:
    """Which players may judge balance: those that play as well when actions are missing as when all are there.

    Attributes:
        reference: whom they meet.
        games: on the full board, and as many in which every seat is denied five actions of its own, by the design.
        lost: a player is refused whose rating above the reference falls by surely more Elo points than this.
    """

    reference: str = "heuristic"
    games: int = 2000
    lost: float = 50.0

    def __post_init__(self) -> None:
        """Check every value."""
        _entry(self, "reference").text("a player, such as greedy")
        _entry(self, "games").integer(0, MOST_GAMES)
        _entry(self, "lost").number(0.0, 10_000.0, inside=True)


@dataclass(frozen=True)
class Covers:
    """What covering five actions for all does to the game.

    Attributes:
        players: who plays, the stronger first: how often it wins says how much room there is for skill.
        decks: for each of the 3,003 sets, by number of players; 0 or left out: none.
        again: how many sets at either end of every measure, and how many random ones, are played again on fresh decks.
        again_decks: for each of those.
    """

    players: tuple[str, str] = ("heuristic", "greedy")
    decks: Mapping[int, int] = field(default_factory=dict)
    again: int = 20
    again_decks: int = 200

    def __post_init__(self) -> None:
        """Check every value."""
        players = _entry(self, "players").entries("players, the stronger first", length=2)
        object.__setattr__(self, "players", tuple(player.text("a player, such as greedy") for player in players))
        object.__setattr__(self, "decks", _counts(self, "decks"))
        _entry(self, "again").integer(1, comb(len(ACTIONS), 5))
        _entry(self, "again_decks").integer(2, MOST_GAMES)


@dataclass(frozen=True)
class Variants:
    """The screen once more with other facts where the component file is a reconstruction.

    Attributes:
        components: names in configs/components or paths.
        player: who plays.
        games: for each of them, by number of players.
    """

    components: tuple[str, ...] = ()
    player: str = "heuristic"
    games: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every value."""
        names = _entry(self, "components").entries("component files")
        object.__setattr__(self, "components", tuple(_components(name) for name in names))
        _entry(self, "player").text("a player, such as greedy")
        object.__setattr__(self, "games", _counts(self, "games"))


@dataclass(frozen=True)
class Confirmation:
    """Fresh games about what the screen suspects, looked at one deck after the other until they decide.

    Attributes:
        suspects: how many for each number of players: those that lie farthest from the mean.
        decks: after which the test gives up.
        error: of either kind.
    """

    suspects: int = 3
    decks: int = 4000
    error: float = 0.01

    def __post_init__(self) -> None:
        """Check every value."""
        _entry(self, "suspects").integer(0, len(ACTIONS))
        _entry(self, "decks").integer(16, MOST_GAMES)
        _entry(self, "error").number(0.0, 0.5, inside=True)


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
            every class but the weakest in one seat against the next weaker in the others.
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
        _entry(self, "name").text("a name")
        _entry(self, "seed").integer(0, _MOST_SEED)
        _entry(self, "quality").integer(0, MOST_GAMES)
        _entry(self, "band").number(0.0, 100.0, inside=True)
        _entry(self, "level").number(0.5, 1.0, inside=True)
        _components(_entry(self, "components"))
        names = [entry.player for entry in self.classes]
        if len(set(names)) < len(names):
            _entry(self, "classes").fail("every player once", found=shown(names))
        if not self.players:
            _entry(self, "classes").fail("games of at least one class for 2, 3 or 4 players", found=shown(names))

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of players that the screen is played with, ascending."""
        return tuple(n for n in _PLAYERS if any(entry.games.get(n) for entry in self.classes))

    def names(self, players: int) -> list[str]:
        """Return who plays with so many players, weakest first."""
        return [entry.player for entry in self.classes if entry.games.get(players)]

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> StudyConfig:
        """Return the study in a file (a name in ``configs/balance``, or a path).

        Raises:
            StudyError: naming file, key, value found and what is expected.
        """
        path = find_yaml(name_or_path, "balance", StudyError)
        data = read_yaml(path, StudyError)
        data.value = {"name": path.stem, **data.mapping().value}
        return cls.from_dict(data)

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
        tables = getattr(self, f"_{part}")(*((found,) if part in ("again", "confirm") else ()))
        if not tables:
            return None
        # Every part has decks of its own.
        return plan_from_dict(
            {"seed": self.seed * len(PARTS) + PARTS.index(part), "chunk": _CHUNK_GAMES, "tables": tables}
        )

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
            for n in self.players if self.quality else ():
                common = {"games": self.quality, "game": self._game(n, **changes)}
                names = self.names(n)
                tables += [{"name": quality_table(kind, name, n), "players": [name], **common} for name in names]
                tables += [
                    {"name": skill_table(kind, one, other, n), "lineups": [[one] * (n - 1) + [other]], **common}
                    for one, other in pairwise(names)
                ]
        return tables

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
        return [
            {
                "name": cover_table(n),
                "players": list(c.players),
                "games": len(numbers) * n * c.again_decks,
                "game": self._game(n),
                "cover": {"size": 5, "only": list(numbers)},
            }
            for n, numbers in zip(counts, chosen, strict=True)
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


@dataclass(frozen=True)
class Suspect:
    """An action that the screen finds far from the mean.

    Attributes:
        players: of the game.
        player: who plays.
        action: its name.
        above: whether it seems stronger than the mean, not weaker.
        mean: the mean power of all actions, in points of the share of wins.
    """

    players: int
    player: str
    action: str
    above: bool
    mean: float

    def table(self, way: str) -> str:
        """Name of the table at which it is confirmed in a way: "denied", "alone" or "forced"."""
        return f"{self.action} {way}, {self.player}, {self.players} players"


def screen_table(player: str, players: int) -> str:
    """Name of a table of the screen."""
    return f"{player}, {players} players"


def gate_table(player: str, players: int, denied: bool) -> str:
    """Name of a table of the gate: with the full board, or with five actions denied to every seat."""
    return f"{player}, {players} players, {'five denied' if denied else 'full board'}"


def variant_table(components: str, players: int) -> str:
    """Name of a table of the variants."""
    return f"{Path(components).stem}, {players} players"


def quality_table(kind: str, player: str, players: int) -> str:
    """Name of a table of games as they are."""
    return f"{kind}, {player}, {players} players"


def skill_table(kind: str, weaker: str, stronger: str, players: int) -> str:
    """Name of a table of games as they are, with a stronger player in one seat."""
    return f"{kind}, {stronger} against {weaker}, {players} players"


def cover_table(players: int) -> str:
    """Name of a table of covered sets."""
    return f"{players} players"


_PARTS: Mapping[str, type] = {
    "screen": Screen,
    "gate": Gate,
    "covers": Covers,
    "variants": Variants,
    "confirm": Confirmation,
}


def _entry(part: Any, name: str) -> Entry:
    return Entry(getattr(part, name), StudyError, name)


def _counts(part: Any, name: str) -> dict[int, int]:
    """Return numbers of games or decks by number of players, which is text in JSON."""
    data = _entry(part, name)
    if not isinstance(data.value, Mapping):
        data.fail("how many by number of players, such as {2: 10000}")
    counts: dict[int, int] = {}
    for key, count in data.items():
        if str(key) not in ("2", "3", "4") or int(key) in counts:
            data.fail("numbers of players, each once: 2, 3 or 4", found=shown(key))
        counts[int(key)] = count.integer(0, MOST_GAMES)
    return counts


def _components(data: Entry) -> str:
    """Return the name of a component file that can be used."""
    name = data.text("the name of a component file, such as default, or a path")
    GameConfig(components=name)
    return name
