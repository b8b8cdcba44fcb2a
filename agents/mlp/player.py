"""An observation network as a player, and its factory for the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray
from helsinki_env.agents.mlp.network import MLPNetwork
from helsinki_env.agents.net.checkpoint import load_network
from helsinki_env.agents.net.description import CheckpointError, warn_unmeasured
from helsinki_env.agents.net.make import check_network_game, network_path
from helsinki_env.agents.net.network import single_torch_thread
from helsinki_env.agents.net.player import inference_batches
from helsinki_env.agents.rows import forced_and_open, validate_arrays
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

__all__ = ["MLPPlayer", "make_mlp_player"]


class MLPPlayer:
    """Player that takes the preferred action of an observation network.

    Args:
        network: the network, on its device; it is set to evaluation mode.
        name: display name.
        fast: whether to compute in bfloat16.
    """

    def __init__(self, network: MLPNetwork, name: str = "mlp", fast: bool = False) -> None:
        self.network, self.name, self.fast = network.eval(), name, fast
        self._device = network.present.device

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        observation, action_mask, _ = validate_arrays(self.network.game, observation, action_mask, keys)
        actions, open_rows = forced_and_open(action_mask)
        if len(open_rows):
            preferred = np.where(action_mask[open_rows] != 0, self.logits(observation[open_rows]), -np.inf)
            actions[open_rows] = np.argmax(preferred, axis=1)
        return actions

    @torch.no_grad()
    def logits(self, observation: Int8Array) -> npt.NDArray[np.float32]:
        """Return the logit of every action, float32 (B, A); each row is independent of the others."""
        parts = []
        with single_torch_thread(), torch.autocast(self._device.type, torch.bfloat16, enabled=self.fast):
            for rows in inference_batches(len(observation)):
                output = self.network(torch.from_numpy(observation[rows]).to(self._device))
                parts.append(output.logits.cpu().numpy())
        logits: npt.NDArray[np.float32] = np.concatenate(parts)[: len(observation)]
        return logits


def make_mlp_player(argument: str, config: Any) -> MLPPlayer:
    """Create a player from a checkpoint or the folder of a training run; raise CheckpointError if it does not fit."""
    if not argument:
        raise CheckpointError(
            "player mlp: found no bundled network; train one with 'helsinki train --preset gpu' and "
            "play it as mlp:FOLDER"
        )
    path: Path = network_path(argument)
    network, description = load_network(path, MLPNetwork)
    check_network_game(path, description, config)
    warn_unmeasured(f"mlp:{argument}", path, description, config)
    return MLPPlayer(network, f"mlp:{argument}")
