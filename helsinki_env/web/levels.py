"""Difficulty levels: mixtures of players, their measured ratings, and the estimated rating of a person.

For each action, a level uses the stronger of two players with a fixed probability, and otherwise the weaker one. Its
rating is in Elo points on the scale of `helsinki evaluate`, where greedy has 0 points. `calibrate` measures the ratings
and writes them with their confidence intervals to `level_ratings.json`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray, Player, uniforms
from helsinki_env.agents.registry import make_player
from helsinki_env.data import UserError, short_repr
from helsinki_env.engine.rng import GOLDEN

ELO = 400 / math.log(10)
"""Elo points per unit of log odds."""
LEVEL = "level:"
"""Prefix of the player names of levels, such as ``level:4``."""
_PRIOR_MEAN, _PRIOR_DEVIATION = 0.0, 600.0
"""Mean and standard deviation, in Elo points, of the normal prior for a person's rating."""
_GRID = np.arange(-2500.0, 2500.5, 1.0)


class Mixture(NamedTuple):
    """The mixture of two players that defines a level."""

    weaker: str
    stronger: str
    probability: float  # probability that the stronger player acts


#: The levels, weakest first.
MIXTURES = (
    Mixture("random", "greedy", 0.6),
    Mixture("random", "greedy", 0.85),
    Mixture("greedy", "greedy", 1.0),
    Mixture("greedy", "heuristic", 0.5),
    Mixture("greedy", "heuristic", 0.8),
    Mixture("heuristic", "heuristic", 1.0),
    Mixture("heuristic", "net", 0.5),
    Mixture("heuristic", "net", 0.8),
    Mixture("net", "net", 1.0),
    Mixture("net+search:25", "net+search:25", 1.0),
    Mixture("net+search:100", "net+search:100", 1.0),
)
ZERO = 3
"""The level with a rating of 0, which is greedy, as in `helsinki evaluate`."""


class LevelPlayer:
    """A player that delegates each action to one of two players, selected by the random key."""

    def __init__(self, weaker: Player, stronger: Player, probability: float, name: str) -> None:
        self.name, self._players, self._probability = name, (weaker, stronger), probability

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return one legal action per row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        actions: Int64Array = np.argmax(action_mask, axis=1).astype(np.int64)
        # The players use the same keys, so other bits select between them.
        mixed = (keys ^ (keys >> np.uint64(29))) * GOLDEN
        strong = uniforms(mixed) < self._probability
        for player, rows in zip(self._players, (np.flatnonzero(~strong), np.flatnonzero(strong)), strict=True):
            if len(rows):
                actions[rows] = player.act(observation[rows], action_mask[rows], keys[rows])
        return actions


def level_name(number: int) -> str:
    """Return the player name of a level; levels are numbered from 1."""
    return f"{LEVEL}{number}"


def level_number(player: str) -> int | None:
    """Return the number of a level, given its player name, or None for any other player."""
    text = player.removeprefix(LEVEL)
    valid = player.startswith(LEVEL) and text.isascii() and text.isdigit() and len(text) < 4
    return int(text) if valid and 1 <= int(text) <= len(MIXTURES) else None


def level(argument: str, config: Any) -> Player:
    """Create the ``helsinki_env.web.levels:level:NUMBER`` player; raise UserError if the level does not exist."""
    number = level_number(f"{LEVEL}{argument}")
    if number is None:
        raise UserError(f"level: found {short_repr(argument)}, expected a number from 1 to {len(MIXTURES)}")
    mixture = MIXTURES[number - 1]
    stronger = make_player(mixture.stronger, config)
    if mixture.weaker == mixture.stronger:
        return LevelPlayer(stronger, stronger, 1.0, level_name(number))
    return LevelPlayer(make_player(mixture.weaker, config), stronger, mixture.probability, level_name(number))


# measured ratings


@cache
def measured_ratings() -> dict[str, Any]:
    """Return the measured ratings of each game: `command`, `seed` and `levels` (level, rating, low, high, games)."""
    path = files("helsinki_env.web") / "level_ratings.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def level_data(game: str) -> list[dict[str, Any]]:
    """Return the levels of a game for the start page; the rating of a level is None if it was not measured."""
    measured = {one["level"]: one for one in measured_ratings().get(game, {}).get("levels", [])}
    fields = ("rating", "low", "high", "games")
    return [
        {
            "player": level_name(number),
            "says": _described(mixture),
            **{field: measured.get(number, {}).get(field) for field in fields},
        }
        for number, mixture in enumerate(MIXTURES, 1)
    ]


def _described(mixture: Mixture) -> str:
    """Describe the players of a level."""
    if mixture.weaker == mixture.stronger:
        return mixture.stronger
    return f"{mixture.stronger} for {round(100 * mixture.probability)}% of the actions, otherwise {mixture.weaker}"


def player_rating(game: str, player: str) -> float | None:
    """Return the measured rating of a player, or None if the player is not equivalent to a level."""
    number = level_number(player)
    if number is None:
        pure = [i for i, one in enumerate(MIXTURES, 1) if one.weaker == one.stronger == player]
        number = pure[0] if pure else None
    levels = measured_ratings().get(game, {}).get("levels", [])
    return next((float(one["rating"]) for one in levels if one["level"] == number), None)


# the rating of a person


class Estimate(NamedTuple):
    """A rating in Elo points with the limits of its 95% credible interval."""

    rating: float
    low: float
    high: float
    games: int


def own_rating(games: Iterable[tuple[Sequence[float], int, Sequence[int]]]) -> Estimate | None:
    """Estimate the rating of a person from finished games; return None if there are no games.

    A game consists of the ratings of all seats (the person's own is ignored), the person's seat, and the ranks, which
    start at 0. The likelihood is Plackett-Luce, with a tie counted as half a win, and the prior is normal. The estimate
    is the posterior mean with its 95% credible interval.
    """
    log_density = -0.5 * ((_GRID - _PRIOR_MEAN) / _PRIOR_DEVIATION) ** 2
    count = 0
    for ratings, seat, ranks in games:
        count += 1
        others = [other for other in range(len(ranks)) if other != seat]
        for stage in sorted({ranks[other] for other in others} | {ranks[seat]}):
            if stage > ranks[seat]:
                break
            remaining = [other for other in others if ranks[other] >= stage]
            if not remaining:
                continue
            strength = np.logaddexp.reduce([ratings[other] / ELO for other in remaining])
            margin = _GRID / ELO - strength
            tied = ranks[seat] == stage and any(ranks[other] == stage for other in remaining)
            won = 0.5 if tied else float(ranks[seat] == stage)
            log_density = log_density - won * np.logaddexp(0.0, -margin) - (1 - won) * np.logaddexp(0.0, margin)
    if not count:
        return None
    density = np.exp(log_density - log_density.max())
    cumulative = np.cumsum(density) / density.sum()
    low, high = (float(_GRID[np.searchsorted(cumulative, part)]) for part in (0.025, 0.975))
    return Estimate(float(_GRID @ density / density.sum()), low, high, count)
