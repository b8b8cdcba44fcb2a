"""Opponent pool of self-play training: baselines and past versions of the learner.

Pure self-play can cycle and forget how to beat earlier opponents (Vinyals and others 2019,
"Grandmaster level in StarCraft II using multi-agent reinforcement learning", on leagues).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.net.checkpoint import load_checkpoint
from helsinki_env.agents.net.network import TorchModel
from helsinki_env.agents.net.player import NetPlayer
from helsinki_env.agents.registry import make_player
from helsinki_env.data import UserError

__all__ = ["PAST_SELVES", "OpponentPool"]

PAST_SELVES = 8
"""How many past selves there are to choose from."""


class OpponentPool:
    """Players to meet, and the rollout after which each may be met.

    Args:
        game: the games; only the component file matters.
        baselines: names of players who are there from the beginning.
        folder: where past selves are kept.
        seed: of the choice.
        fast: past selves compute in bfloat16.
        most: past selves to choose from; the oldest but one are dropped. 0: none are met.
    """

    def __init__(
        self, game: Any, baselines: Sequence[str], folder: Path, seed: int, fast: bool, most: int = PAST_SELVES
    ) -> None:
        self.game, self.folder, self.seed, self.fast, self.most = game, folder, seed, fast, most
        self.baselines = [make_player(name, game) for name in baselines]
        #: Past selves: name of the file, and number of the rollout after which it may be met.
        self.past: list[tuple[str, int]] = []
        self._loaded: dict[str, Any] = {}

    def add(self, name: str, network: Any, rollout: int) -> None:
        """Let the learner as it is now be met in rollouts after the given one."""
        if self.most:
            self._loaded[name] = self._player(name, network)
        self.past.append((name, rollout))
        # Cache only candidates that can still be sampled; reload the rest on demand.
        kept = {known for known, _ in self.past[:1] + self.past[-2 * self.most :]}
        self._loaded = {known: player for known, player in self._loaded.items() if known in kept}

    def choose(self, rollout: int) -> Any:
        """Return who is met in a rollout: a baseline half of the time, else a past self; ValueError if nobody is there.

        It depends on the seed, the number and who was there.
        """
        past = [name for name, since in self.past if since < rollout]
        past = past[:1] + past[1:][-(self.most - 1) :] if self.most else []
        if not past and not self.baselines:
            raise UserError("opponents: found nobody to meet yet; name a baseline such as heuristic")
        generator = np.random.default_rng([self.seed, rollout, 1])
        if self.baselines and (not past or generator.random() < 0.5):
            return self.baselines[int(generator.integers(len(self.baselines)))]
        return self._get(past[int(generator.integers(len(past)))])

    def _get(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._player(name, self.load(name))
        return self._loaded[name]

    def load(self, name: str) -> Any:
        """Return the network that a past self was."""
        return load_checkpoint(self.folder / name)[0]

    def _player(self, name: str, network: Any) -> Any:
        """Return what is met of a past self."""
        return NetPlayer(TorchModel(network, self.fast), self.game, name, sample=True)
