"""Generate the bundled puzzles: `python -m helsinki_env.web.make_puzzles` overwrites `puzzles.json`.

A puzzle is a position from a game of `heuristic` against itself. The action taken has a large regret, the network and a
search agree on the best action, and `reasons` can explain that action in words.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.evaluation import evaluate_actions
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.spec import config_to_dict, spec_by_name
from helsinki_env.utils.files import atomic_write
from helsinki_env.web.reasons import reasons
from helsinki_env.web.setups import browser_games

_SEED = 100
_REGRET = 0.12
_MAX_PER_GAME, _MAX_PER_KIND = 2, 4


def find_puzzles(name: str, count: int) -> list[dict[str, Any]]:
    """Return `count` puzzles for a game, with a maximum number for each kind of action."""
    spec = spec_by_name(name)
    config = spec.config(num_players=2)
    net, guide, deep = (make_player(player, config) for player in ("net", "heuristic", "net+search:100"))
    found: list[dict[str, Any]] = []
    kinds: Counter[str] = Counter()
    seed = _SEED
    while len(found) < count:
        game, actions, here = spec.game(config, seed=seed), list[int](), 0
        while not game.done:
            inputs = game.observation()[None], game.action_mask()[None], np.array([len(actions)], np.uint64)
            taken = int(guide.act(*inputs)[0])
            evaluation = evaluate_actions(net, config, *inputs, np.array([taken]))[0]
            regret = evaluation.regret(taken) or 0.0
            kind = spec.action_to_string(evaluation.best, config).split()[0]
            wanted = regret > _REGRET and here < _MAX_PER_GAME and kinds[kind] < _MAX_PER_KIND
            if wanted and reasons(game, evaluation.best, taken):
                agrees = evaluate_actions(deep, config, *inputs, np.array([taken]))[0].best == evaluation.best
                if agrees:
                    position = {"seed": seed, "actions": [*actions], "taken": taken}
                    found.append({"game": name, "config": config_to_dict(config), **position})
                    here += 1
                    kinds[kind] += 1
            actions.append(taken)
            game.step(taken)
        seed += 1
    return found[:count]


def main(count: int = 12) -> int:
    """Generate the puzzles and return the exit status."""
    lines = []
    for spec in browser_games():
        lines += [json.dumps(one, separators=(",", ":")) for one in find_puzzles(spec.name, count)]
    with atomic_write(Path(__file__).with_name("puzzles.json")) as file:
        file.write(("[\n" + ",\n".join(lines) + "\n]\n").encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
