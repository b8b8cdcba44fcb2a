"""Matchups of a training run, allocation of games to matchups, and validation of settings."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Node, UserError, short_repr
from helsinki_env.engine.spec import spec_of

__all__ = ["GamePart", "MatchupConfig", "divide_games"]

_MAX_COMPONENTS = 1000
_MAX_SHARE = 1e6


def check_numbers(
    config: Any, least: Mapping[str, float], most: Mapping[str, float], positive: Container[str] = ()
) -> None:
    """Raise ValueError if a numeric field of a dataclass is out of bounds; the default minimum is 0.

    Fields in `positive` are above their minimum.
    """
    for item in fields(config):
        if item.type not in ("int", "float"):
            continue
        data = Node(getattr(config, item.name), UserError, item.name)
        low, high = least.get(item.name, 0), most.get(item.name)
        if item.type == "int":
            data.integer(int(low), None if high is None else int(high))
        else:
            data.number(low, high, inside=item.name in positive)


def player_counts(value: Any) -> tuple[int, ...]:
    """Return player counts as a tuple; raise ValueError unless they are some of 2, 3 and 4, each at most once."""
    counts = value if isinstance(value, list | tuple) else ()
    if not counts or any(type(n) is not int or n not in (2, 3, 4) or counts.count(n) > 1 for n in counts):
        Node(value, UserError, "players").fail("some of 2, 3 and 4, each at most once")
    return tuple(counts)


def component_names(value: Any) -> tuple[str, ...]:
    """Return names of component files as a tuple; raise ValueError unless they are texts."""
    names = Node(value, UserError, "components").entries("component files", most=_MAX_COMPONENTS)
    return tuple(name.text("a component file") for name in names)


def component_configs(names: Sequence[str], game: Any) -> tuple[Any, ...]:
    """Return the configuration for each component file, given that of the preset, or this one if there are no files.

    Raises:
        ValueError: if a component file is invalid, or has another number of card types.
    """
    configs = tuple(game.replace(components=name) for name in names) or (game,)
    spec = spec_of(game)
    for i, config in enumerate(configs):
        if spec.num_actions(config) != spec.num_actions(game):
            raise UserError(
                f"components[{i}]: found {short_repr(config.components)} with {spec.num_actions(config)} actions, "
                f"expected {spec.num_actions(game)} as with {short_repr(game.components)}, because a network has a "
                "fixed number of card types"
            )
    return configs


@dataclass(frozen=True)
class MatchupConfig:
    """A matchup, whose settings are sampled for every game.

    Args:
        share: relative share of the games.
        players: player counts from which to sample.
        covered: range (low, high) of the number of board actions disabled for all seats.
        denied: range (low, high) of the number of board actions denied to each seat.
        dry_roads: values from which to sample whether the expansion is used.
        components: component files, among which the games are divided evenly; default: that of the preset.
    """

    share: float = 1.0
    players: tuple[int, ...] = (2,)
    covered: tuple[int, int] = (0, 0)
    denied: tuple[int, int] = (0, 0)
    dry_roads: tuple[bool, ...] = (False,)
    components: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Validate all values."""
        Node(self.share, UserError, "share").number(0, _MAX_SHARE, inside=True)
        for name, times in (("players", 1), ("covered", 2), ("denied", 2), ("dry_roads", 1)):
            value = getattr(self, name)
            object.__setattr__(self, name, tuple(value) if isinstance(value, list | tuple) else (value,) * times)
        player_counts(self.players)
        object.__setattr__(self, "components", component_names(self.components))

    def configs(self, game: Any) -> tuple[Any, ...]:
        """Return the configuration for each component file; see `component_configs`."""
        return component_configs(self.components, game)

    def episodes(self, game: Any) -> Any:
        """Return the settings that are sampled for each deal; board actions covered in `game` stay covered.

        Raises:
            ValueError: if values cannot be sampled or are not supported by the game.
        """
        always = getattr(game, "covered", ())
        if always and any(self.covered):
            raise UserError(
                f"covered: found {short_repr(list(self.covered))}, expected none: covered of the preset "
                "applies to all games"
            )
        spec, settings = spec_of(game), {"covered": self.covered, "denied": self.denied, "dry_roads": self.dry_roads}
        for name, value in settings.items():
            if name not in spec.setup_fields and any(value):
                raise UserError(
                    f"{name}: found {short_repr(list(value))}, expected none: the game {spec.name} has no such setting"
                )
        if always:
            del settings["covered"]
        try:
            return spec.episodes(
                num_players=self.players,
                **{name: value for name, value in settings.items() if name in spec.setup_fields},
            )
        except ValueError as problem:
            raise UserError(str(problem).removeprefix("num_")) from None


def fixed_opponent_games(games: int, fraction: float) -> npt.NDArray[np.bool_]:
    """Mark an evenly spread fraction of the games, in which the learner has only one seat, bool (games,)."""
    spread = np.arange(games) * fraction
    chosen: npt.NDArray[np.bool_] = np.floor(spread + fraction) > np.floor(spread)
    return chosen


class GamePart(NamedTuple):
    """Games of a matchup with one component file."""

    matchup: MatchupConfig
    config: Any  # game configuration
    games: int  # number of games


def divide_games(matchups: Sequence[MatchupConfig], game: Any, games: int) -> list[GamePart]:
    """Allocate games to matchups by share, and evenly to their component files; omit parts without games.

    Parts with the same component file are adjacent.
    """
    parts = []
    for matchup in matchups:
        configs = matchup.configs(game)
        parts += [(config, matchup, matchup.share / len(configs)) for config in configs]
    order = {config.components: i for i, (config, *_) in reversed(list(enumerate(parts)))}
    parts.sort(key=lambda part: order[part[0].components])
    shares = np.cumsum([share for *_, share in parts])
    ends = np.rint(games * shares / shares[-1]).astype(np.int64)
    sizes = np.diff([0, *ends]).tolist()
    return [
        GamePart(matchup, config, size) for (config, matchup, _), size in zip(parts, sizes, strict=True) if size > 0
    ]
