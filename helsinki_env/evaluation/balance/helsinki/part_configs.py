"""Validated configuration of each part of a balance study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import Any

from helsinki_env.data import Node, UserError, read_json, read_yaml, short_repr
from helsinki_env.evaluation.arena.designs import ScreeningDesign
from helsinki_env.evaluation.arena.plan import MAX_MATCHUP_GAMES
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.utils.files import write_json
from helsinki_env.utils.yaml_files import find_yaml

__all__ = [
    "MIN_SCREENING_DEALS",
    "ConfirmationConfig",
    "CoversConfig",
    "Population",
    "QualificationConfig",
    "StudyError",
    "VariantsConfig",
    "check_design",
    "check_screen",
    "component_file",
    "field_entry",
    "game_counts",
    "read_config",
    "write_or_check_config",
]


MIN_SCREENING_DEALS = 150
"""Minimum number of deals of a screening experiment. With fewer deals the 95% intervals are too narrow. In 200
simulated screening experiments with random ranks and four players, all fifteen intervals hold in 108 with 12 deals, 174
with 40 and 186 with 150. With two players they hold in 108 with 24 deals and 183 with 150."""


class StudyError(UserError):
    """A study that cannot be played or read. The message names the value found, the expected value and the remedy."""


@dataclass(frozen=True)
class Population:
    """Games in which the same player takes all seats.

    Attributes:
        player: player name for `helsinki_env.agents.registry.make_player`.
        games: number of games by number of players; 0 or missing: none.
        quality: number of games of each kind of published game, see `StudyConfig.quality`; None: the number given
            there. Slow players may play fewer.
    """

    player: str
    games: Mapping[int, int]
    quality: int | None = None

    def __post_init__(self) -> None:
        """Check every value."""
        field_entry(self, "player").text("a player, such as greedy")
        object.__setattr__(self, "games", game_counts(self, "games"))
        if self.quality is not None:
            field_entry(self, "quality").integer(0, MAX_MATCHUP_GAMES)


@dataclass(frozen=True)
class QualificationConfig:
    """Qualification of evaluators: players that play as well with disabled actions as with all actions.

    Attributes:
        reference: reference player.
        games: number of games on the full board, and again with five actions disabled for each seat by the design.
        lost: largest accepted loss in Elo points relative to the reference. A player that surely loses more is
            rejected.
    """

    reference: str = "heuristic"
    games: int = 2000
    lost: float = 50.0

    def __post_init__(self) -> None:
        """Check every value."""
        field_entry(self, "reference").text("a player, such as greedy")
        field_entry(self, "games").integer(0, MAX_MATCHUP_GAMES)
        field_entry(self, "lost").number(0.0, 10_000.0, inside=True)


@dataclass(frozen=True)
class CoversConfig:
    """Effect of disabling five actions for all players.

    Attributes:
        players: the two players, the stronger first. The stronger player's win rate measures the room for skill.
        decks: number of deals for each of the 3,003 sets, by number of players; 0 or missing: none.
        again: number of sets at either end of every measure that are replayed on fresh deals. 50 random sets are added.
        again_decks: number of deals for each of these sets.
    """

    players: tuple[str, str] = ("heuristic", "greedy")
    decks: Mapping[int, int] = field(default_factory=dict)
    again: int = 20
    again_decks: int = 200

    def __post_init__(self) -> None:
        """Check every value."""
        players = field_entry(self, "players").entries("players, the stronger first", length=2)
        object.__setattr__(self, "players", tuple(player.text("a player, such as greedy") for player in players))
        object.__setattr__(self, "decks", game_counts(self, "decks"))
        field_entry(self, "again").integer(1, comb(len(BOARD_ACTIONS), 5))
        field_entry(self, "again_decks").integer(2, MAX_MATCHUP_GAMES)


@dataclass(frozen=True)
class VariantsConfig:
    """Repeated screening experiments that vary the reconstructed values of the component file.

    Attributes:
        components: names in configs/components or paths.
        player: player in all seats.
        games: number of games for each component file, by number of players.
    """

    components: tuple[str, ...] = ()
    player: str = "heuristic"
    games: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every value."""
        names = field_entry(self, "components").entries("component files")
        object.__setattr__(self, "components", tuple(component_file(name) for name in names))
        field_entry(self, "player").text("a player, such as greedy")
        object.__setattr__(self, "games", game_counts(self, "games"))


@dataclass(frozen=True)
class ConfirmationConfig:
    """Sequential confirmatory test of the candidates on fresh games, one deal at a time.

    Attributes:
        suspects: number of candidates for each number of players: the actions farthest from the mean.
        decks: maximum number of deals.
        error: rate of either type of error.
        player: class that selects the candidates and plays the games; None: the strongest class with each number of
            players.
    """

    suspects: int = 3
    decks: int = 4000
    error: float = 0.01
    player: str | None = None

    def __post_init__(self) -> None:
        """Check every value."""
        field_entry(self, "suspects").integer(0, len(BOARD_ACTIONS))
        field_entry(self, "decks").integer(16, MAX_MATCHUP_GAMES)
        field_entry(self, "error").number(0.0, 0.5, inside=True)


def field_entry(part: Any, name: str) -> Node:
    """Return the value of a field as an unchecked `Node`."""
    return Node(getattr(part, name), StudyError, name)


def game_counts(part: Any, name: str) -> dict[int, int]:
    """Return the number of games or deals by number of players. JSON stores these keys as text."""
    data = field_entry(part, name)
    if not isinstance(data.value, Mapping):
        data.fail("how many by number of players, such as {2: 10000}")
    counts: dict[int, int] = {}
    for key, count in data.items():
        if str(key) not in ("2", "3", "4") or int(key) in counts:
            data.fail("numbers of players, each once: 2, 3 or 4", found=short_repr(key))
        counts[int(key)] = count.integer(0, MAX_MATCHUP_GAMES)
    return counts


def check_screen(counts: Mapping[int, int], key: str) -> None:
    """Check that a screening experiment has enough games, before any is played.

    Args:
        counts: number of games by number of players; 0: none.
        key: key of `counts` in the file.

    Raises:
        StudyError: if there are too few games.
    """
    for players, games in counts.items():
        if 0 < games < MIN_SCREENING_DEALS * players:
            expected = (
                f"at least {MIN_SCREENING_DEALS * players:,}, {MIN_SCREENING_DEALS} decks in all seats "
                "(0 leaves it out)"
            )
            Node(games, StudyError, f"{key}.{players}").fail(expected)


def check_design(design: ScreeningDesign, key: str) -> None:
    """Check that a design can also separate effects on points: the seats of a game need sets of several sizes.

    Raises:
        StudyError: if it cannot.
    """
    if not design.loose:
        Node(design.loose, StudyError, f"{key}.loose").fail("some decks with sets of random size, such as 0.2")
    if design.sizes[0] == design.sizes[1]:
        Node(list(design.sizes), StudyError, f"{key}.sizes").fail("several sizes, such as [0, 10]")


def component_file(data: Node) -> str:
    """Return the name of a valid component file."""
    name = data.text("the name of a component file, such as default, or a path")
    HelsinkiConfig(components=name)
    return name


def read_config(name_or_path: str | Path, folder: str) -> Node:
    """Read a configuration file; its name defaults to the file name.

    Args:
        name_or_path: name in that folder of ``configs``, or a path.
        folder: folder name, such as ``balance``.

    Raises:
        StudyError: if the file does not exist or is not valid YAML.
    """
    path = find_yaml(name_or_path, folder, StudyError)
    data = read_yaml(path, StudyError)
    data.value = {"name": path.stem, **data.mapping().value}
    return data


def write_or_check_config(
    path: Path, asked: Mapping[str, Any], read: Callable[[Node], Mapping[str, Any]], what: str
) -> None:
    """Write the configuration before the first game, or check that an existing one is the same.

    Args:
        path: configuration file, in the folder of all games.
        asked: configuration.
        read: reader for the existing configuration, with the same keys.
        what: description for messages, such as "a study".

    Raises:
        StudyError: if the existing configuration differs.
        OSError: if the folder cannot be written.
    """
    played = path.parent.is_dir() and any(entry.is_dir() for entry in path.parent.iterdir())
    if not path.exists() or not played:  # no games yet: the configuration may change
        write_json(path, asked)
        return
    there = read(read_json(path, StudyError))
    for key, value in asked.items():
        if there[key] != value:
            raise StudyError(
                f"{path.parent}: there is {what} with {key} {short_repr(there[key])}, found {short_repr(value)} now: "
                "what is asked stands before the first game; ask the same again, or choose another folder by --out"
            )
