"""The games and their environments, for tests that run for each of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from helsinki_env import (
    CopenhagenSeatEnv,
    CopenhagenSeatVectorEnv,
    CopenhagenVectorEnv,
    HelsinkiSeatEnv,
    HelsinkiSeatVectorEnv,
    HelsinkiVectorEnv,
    copenhagen_v0,
    helsinki_v0,
)
from helsinki_env.engine.spec import GameSpec, spec_by_name, spec_of
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame as Copenhagen
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.config import HelsinkiConfig
from tests.copenhagen.positions import built_position
from tests.support import positions

__all__ = [
    "EACH_GAME",
    "EACH_LAYOUT",
    "GAMES",
    "ONE_GAME_OR_EACH_NIGHTLY",
    "TestedGame",
    "rare_action",
]


@dataclass(frozen=True)
class TestedGame:
    """A game and its environments.

    Attributes:
        name: name of its specification.
        module: its PettingZoo module.
        seat_env: environment with one learning seat.
        seat_vector_env: batch of such environments.
        vector_env: batch of games for self-play.
        seat_id: id for `gymnasium.make`.
        configs: configurations with two, three and four players and with options.
        built: returns a game at a position from which rare events are near.
    """

    __test__ = False

    name: str
    module: ModuleType
    seat_env: type[Any]
    seat_vector_env: type[Any]
    vector_env: type[Any]
    seat_id: str
    configs: tuple[Any, ...]
    built: Callable[[random.Random], Any]

    def __str__(self) -> str:
        return self.name  # the id of a parametrised test

    @property
    def spec(self) -> GameSpec:
        return spec_by_name(self.name)

    def start(self, rng: random.Random) -> Any:
        """Return a game to play, most often with well-filled boards."""
        if rng.random() < 0.8:
            return self.built(rng)
        return self.spec.game(rng.choice(self.configs), seed=rng.getrandbits(32))


@cache
def _kinds(config: Any) -> list[str]:
    """The kind of each action id."""
    return [kind for kind, size in spec_of(config).action_kinds(config) for _ in range(size)]


def rare_action(game: Any, rng: random.Random) -> int:
    """Return a legal action of a random kind, so that rare kinds occur as often as others."""
    kinds = _kinds(game.config)
    legal = game.legal_actions().tolist()
    kind = rng.choice(sorted({kinds[action] for action in legal}))
    return int(rng.choice([action for action in legal if kinds[action] == kind]))


def _helsinki(rng: random.Random) -> Any:
    return notation.from_dict(positions.build(rng, rng.choice(positions.THEMES), components="default"))


def _further_layout(rng: random.Random) -> Any:
    return notation.from_dict(positions.build(rng, rng.choice(positions.THEMES), components="alternative"))


def _copenhagen(rng: random.Random) -> Any:
    return Copenhagen.from_dict(built_position(CopenhagenConfig(rng.choice((2, 3, 4))), rng))


GAMES = (
    TestedGame(
        "helsinki",
        helsinki_v0,
        HelsinkiSeatEnv,
        HelsinkiSeatVectorEnv,
        HelsinkiVectorEnv,
        "helsinki/Helsinki-v0",
        (HelsinkiConfig(2), HelsinkiConfig(3, dry_roads=True), HelsinkiConfig(4, covered="first_game")),
        _helsinki,
    ),
    TestedGame(
        "copenhagen",
        copenhagen_v0,
        CopenhagenSeatEnv,
        CopenhagenSeatVectorEnv,
        CopenhagenVectorEnv,
        "helsinki/Copenhagen-v0",
        (CopenhagenConfig(2), CopenhagenConfig(3, denied=[[1], [], [4]]), CopenhagenConfig(4, reward="margin")),
        _copenhagen,
    ),
)
_FURTHER = replace(
    GAMES[0],
    configs=tuple(config.replace(components="alternative") for config in GAMES[0].configs),
    built=_further_layout,
)
EACH_GAME = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
#: The same and, nightly, a further layout of records, for which rules and players are compiled again.
EACH_LAYOUT = pytest.mark.parametrize(
    "game",
    [*GAMES, pytest.param(_FURTHER, marks=pytest.mark.nightly)],
    ids=[*(game.name for game in GAMES), "further layout"],
)
#: For long tests of code that all games share: every run tests the first game, nightly runs test all.
ONE_GAME_OR_EACH_NIGHTLY = pytest.mark.parametrize(
    "game",
    [pytest.param(game, marks=[pytest.mark.nightly] if number else []) for number, game in enumerate(GAMES)],
    ids=lambda game: game.name,
)
