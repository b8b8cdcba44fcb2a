"""Simulated games in which a formula gives the effect of each action from its cost and strength."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import ScreeningDesign
from helsinki_env.evaluation.balance.effects import AblationGames
from helsinki_env.evaluation.balance.helsinki.tune.config import BoardNumber, BoardValues, TuneConfig
from helsinki_env.evaluation.balance.helsinki.tune.estimates import ScreeningGames
from helsinki_env.evaluation.balance.helsinki.tune.search import Play, ScreeningRequest
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS

Array = npt.NDArray[np.float64]
#: Worth of every action, as the logarithm of the odds, for the costs and strengths of a board.
Worth = Callable[[dict[tuple[str, str], int]], Array]

GAMES = {"screening": {2: 4000}, "slopes": {2: 12000}, "halving": {2: 6000}, "proof": {2: 12000}}
ASKED: dict[str, Any] = {
    "name": "tiny",
    "seed": 5,
    "games": GAMES,
    "boards": 40,
    "candidates": 8,
    "finalists": 2,
    "most": 2,
    "floor": 0,
}


def asked(**changes: Any) -> TuneConfig:
    return TuneConfig.from_dict({**ASKED, **changes})


def values(numbers: Sequence[BoardNumber], board: BoardValues) -> dict[tuple[str, str], int]:
    """How far every number is from what it was, by action and kind."""
    return {
        (BOARD_ACTIONS[number.action], number.kind): value - number.was
        for number, value in zip(numbers, board, strict=True)
    }


def simulated(config: TuneConfig, worth: Worth, seed: int, heard: list[str] | None = None) -> Play:
    """Return a function that plays screening experiments and calls `heard` for each part."""

    def play(part: str, screens: Sequence[ScreeningRequest]) -> list[ScreeningGames]:
        if heard is not None:
            heard.append(part)
        words = [seed, zlib.crc32(part.encode())]
        return [_games(one, worth(values(config.free, one.board)), [*words, i]) for i, one in enumerate(screens)]

    return play


def _games(screen: ScreeningRequest, power: Array, seed: list[int]) -> ScreeningGames:
    """All rotations of a block share the luck of the deck; actions are used as often as their effects are large."""
    generator, seats = np.random.default_rng(seed), screen.players
    blocks = np.arange(-(-screen.games // seats))
    sets = ScreeningDesign().action_sets(int(generator.integers(2**50)), blocks, seats)
    deck = generator.normal(0, 0.3, (len(blocks), seats))
    denied = np.concatenate([np.roll(sets, turn, axis=1) for turn in range(seats)])
    luck = np.concatenate([np.roll(deck, turn, axis=1) for turn in range(seats)])
    score = luck - denied @ power + generator.gumbel(size=luck.shape)
    study = AblationGames(denied, (-score).argsort(axis=1).argsort(axis=1), np.tile(blocks, seats))
    used = ~denied & (generator.random(denied.shape) < np.clip(power, 0.0, 1.0))
    return ScreeningGames(study, used)
