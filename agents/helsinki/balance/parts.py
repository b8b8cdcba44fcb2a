"""What the file of a study of balance says of each part, as checked values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import Any

from agents.arena.designs import Screen
from agents.arena.plan import MOST_GAMES
from helsinki_env.data import Entry, UserError, read_json, read_yaml, shown
from helsinki_env.files import write_json
from helsinki_env.games.helsinki.components import ACTIONS
from helsinki_env.games.helsinki.config import GameConfig
from helsinki_env.yaml_files import find_yaml

__all__ = [
    "LEAST_DECKS",
    "Confirmation",
    "Covers",
    "Gate",
    "Population",
    "StudyError",
    "Variants",
    "begin",
    "check_design",
    "check_screen",
    "component_file",
    "counts_of",
    "entry_of",
    "read_asked",
]


LEAST_DECKS = 150
"""Of a screen. With fewer its intervals are narrower than they say: of 200 screens with random places and four players
all fifteen intervals, which state 95 %, hold in 108 with 12 decks, in 174 with 40, in 186 with 150; with two players in
108 with 24 decks, in 183 with 150."""


class StudyError(UserError):
    """A study that cannot be played or read. The message names what was found, what is expected and the remedy."""


@dataclass(frozen=True)
class Population:
    """Games in which all seats are taken by the same player.

    Attributes:
        player: as `agents.registry.make_player` takes it.
        games: by number of players; 0 or left out: none.
        quality: games of each kind of game as it is, see `StudyConfig.quality`; left out: as many as that says. Whoever
            thinks long may play fewer.
    """

    player: str
    games: Mapping[int, int]
    quality: int | None = None

    def __post_init__(self) -> None:
        """Check every value."""
        entry_of(self, "player").text("a player, such as greedy")
        object.__setattr__(self, "games", counts_of(self, "games"))
        if self.quality is not None:
            entry_of(self, "quality").integer(0, MOST_GAMES)


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
        entry_of(self, "reference").text("a player, such as greedy")
        entry_of(self, "games").integer(0, MOST_GAMES)
        entry_of(self, "lost").number(0.0, 10_000.0, inside=True)


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
        players = entry_of(self, "players").entries("players, the stronger first", length=2)
        object.__setattr__(self, "players", tuple(player.text("a player, such as greedy") for player in players))
        object.__setattr__(self, "decks", counts_of(self, "decks"))
        entry_of(self, "again").integer(1, comb(len(ACTIONS), 5))
        entry_of(self, "again_decks").integer(2, MOST_GAMES)


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
        names = entry_of(self, "components").entries("component files")
        object.__setattr__(self, "components", tuple(component_file(name) for name in names))
        entry_of(self, "player").text("a player, such as greedy")
        object.__setattr__(self, "games", counts_of(self, "games"))


@dataclass(frozen=True)
class Confirmation:
    """Fresh games about what the screen suspects, looked at one deck after the other until they decide.

    Attributes:
        suspects: how many for each number of players: those that lie farthest from the mean.
        decks: after which the test gives up.
        error: of either kind.
        player: one of the classes, whose suspects they are and who plays; left out: the strongest of them with each
            number of players.
    """

    suspects: int = 3
    decks: int = 4000
    error: float = 0.01
    player: str | None = None

    def __post_init__(self) -> None:
        """Check every value."""
        entry_of(self, "suspects").integer(0, len(ACTIONS))
        entry_of(self, "decks").integer(16, MOST_GAMES)
        entry_of(self, "error").number(0.0, 0.5, inside=True)


def entry_of(part: Any, name: str) -> Entry:
    """Return the value of a field, to be checked."""
    return Entry(getattr(part, name), StudyError, name)


def counts_of(part: Any, name: str) -> dict[int, int]:
    """Return numbers of games or decks by number of players, which is text in JSON."""
    data = entry_of(part, name)
    if not isinstance(data.value, Mapping):
        data.fail("how many by number of players, such as {2: 10000}")
    counts: dict[int, int] = {}
    for key, count in data.items():
        if str(key) not in ("2", "3", "4") or int(key) in counts:
            data.fail("numbers of players, each once: 2, 3 or 4", found=shown(key))
        counts[int(key)] = count.integer(0, MOST_GAMES)
    return counts


def check_screen(counts: Mapping[int, int], key: str) -> None:
    """See to it that a screen tells what is asked of it, before it is played.

    Args:
        counts: games by number of players; 0: none.
        key: where they stand in the file.

    Raises:
        StudyError: if they are too few.
    """
    for players, games in counts.items():
        if 0 < games < LEAST_DECKS * players:
            expected = f"at least {LEAST_DECKS * players:,}, {LEAST_DECKS} decks in all seats (0 leaves it out)"
            Entry(games, StudyError, f"{key}.{players}").fail(expected)


def check_design(design: Screen, key: str) -> None:
    """See to it that a design tells points of the game apart, too: seats of a game need sets of several sizes.

    Raises:
        StudyError: if it cannot.
    """
    if not design.loose:
        Entry(design.loose, StudyError, f"{key}.loose").fail("some decks with sets of random size, such as 0.2")
    if design.sizes[0] == design.sizes[1]:
        Entry(list(design.sizes), StudyError, f"{key}.sizes").fail("several sizes, such as [0, 10]")


def component_file(data: Entry) -> str:
    """Return the name of a component file that can be used."""
    name = data.text("the name of a component file, such as default, or a path")
    GameConfig(components=name)
    return name


def read_asked(name_or_path: str | Path, folder: str) -> Entry:
    """Return what a file asks, by the keys that are in it, and under the name of the file unless it says another one.

    Args:
        name_or_path: a name in that folder of ``configs``, or a path.
        folder: such as ``balance``.

    Raises:
        StudyError: if there is no such file, or it is none of YAML.
    """
    path = find_yaml(name_or_path, folder, StudyError)
    data = read_yaml(path, StudyError)
    data.value = {"name": path.stem, **data.mapping().value}
    return data


def begin(path: Path, asked: Mapping[str, Any], read: Callable[[Entry], Mapping[str, Any]], what: str) -> None:
    """Write down what is asked before the first game, or see that what was begun there asks the same.

    Args:
        path: the file, in the folder of everything that is played.
        asked: what it shall say.
        read: reads what it says, by the same keys.
        what: it is, such as "a study".

    Raises:
        StudyError: if something else was asked there.
        OSError: if the folder cannot be written.
    """
    played = path.parent.is_dir() and any(entry.is_dir() for entry in path.parent.iterdir())
    if not path.exists() or not played:  # nothing yet of what the file asks: it may ask something else
        write_json(path, asked)
        return
    there = read(read_json(path, StudyError))
    for key, value in asked.items():
        if there[key] != value:
            raise StudyError(
                f"{path.parent}: there is {what} with {key} {shown(there[key])}, found {shown(value)} now: what is "
                "asked stands before the first game; ask the same again, or choose another folder by --out"
            )
