"""Computation of the golden data of Copenhagen; see `tests.support.golden`.

Perft files contain their position and depth. A playthrough is one game, action by action. The signature is a digest of
thousands of games of the batch kernels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.games.copenhagen.actions import KIND_OF, KINDS
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import COPENHAGEN, CopenhagenGame
from tests.support.golden import (
    digest_of,
    files_of,
    followed,
    pick_batch,
    play_games,
    position_digest,
)

Position = dict[str, Any]

FOLDER = Path(__file__).resolve().parent
PERFT = FOLDER / "perft"
PLAYTHROUGHS = FOLDER / "playthroughs"
SIGNATURE = FOLDER / "signature.json"
NAMES = {"two_players": 2, "three_players": 3, "four_players": 4}
"""The playthroughs, with the number of players, which is also the seed."""


def playthrough(name: str) -> str:
    """Return a game as text: each action with the mask, the observation and the changes."""
    game = CopenhagenGame(CopenhagenConfig(NAMES[name]), seed=NAMES[name])

    def pick(word: int) -> int:
        return int(pick_batch(game.action_mask()[None], np.array([word], np.uint64), KIND_OF, _LIKED)[0])

    first = game.to_dict()
    lines = [f"# {name}", f"# first: {json.dumps(first['chance'])}, display {first['display']}"]
    lines += followed(game, pick, _changes)
    return "\n".join([*lines, f"# places {game.ranks().tolist()}, position {position_digest(game)}"]) + "\n"


def _changes(before: Position, after: Position) -> Iterator[str]:
    for key, old in before.items():
        if key == "seats":
            for number, (was, now) in enumerate(zip(old, after[key], strict=True)):
                yield from (f"seat {number} {change}" for change in _changes(was, now))
        elif old != after[key]:
            pile = key == "draw_pile"
            told = (
                f"{len(cards)} cards, next {cards[:1]}" if pile else json.dumps(cards) for cards in (old, after[key])
            )
            yield f"{key}: {' to '.join(told)}"


_LIKED = [KINDS.index(kind) for kind in ("BUILD", "USE")]

GROUPS: dict[str, tuple[int, CopenhagenConfig]] = {
    "two players": (1000, CopenhagenConfig(2)),
    "three players": (500, CopenhagenConfig(3)),
    "three players, denied abilities": (500, CopenhagenConfig(3, denied=[[1, 4], [], [2, 3]])),
    "four players": (1000, CopenhagenConfig(4)),
}
"""Number of games, and what is played."""


def signature(games: int | None = None) -> dict[str, Any]:
    """Play the fixed games with the batch kernels, at most `games` of each group."""
    groups = {name: _play_group(min(count, games or count), config) for name, (count, config) in GROUPS.items()}
    return {
        "environment": f"{COPENHAGEN.name}_v{COPENHAGEN.version}",
        "games": sum(group["games"] for group in groups.values()),
        "digest": digest_of(group["digest"].encode() for group in groups.values()),
        "groups": groups,
    }


def _play_group(games: int, config: CopenhagenConfig) -> dict[str, Any]:
    found, _, places, kinds = play_games(games, config, KIND_OF, _LIKED)
    shared = int(((places[:, : config.num_players] == 0).sum(axis=1) > 1).sum())
    return found | {"shared wins": shared, "kinds": dict(zip(KINDS, kinds.tolist(), strict=True))}


def golden_files() -> Iterator[tuple[Path, Callable[[], str]]]:
    """Yield every golden file of Copenhagen with a function that returns its text."""
    return files_of(FOLDER, "copenhagen", {name: partial(playthrough, name) for name in NAMES}, signature)
