"""A trained network as a player, alone and with search.

``net:PATH`` of a checkpoint plays the most likely legal decision; ``net+search:N:PATH`` searches with N trials in a
tree whose root tries decisions as the network thinks them likely.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from agents.checkpoint import CheckpointError, load_checkpoint
from agents.network import ActorCritic
from agents.search.player import TreePlayer
from helsinki_env import GameConfig

__all__ = ["NetPlayer", "make", "make_with_search"]

#: Rows that go through the network together, always exactly so many: the last bits of a matrix product depend on its
#: shape, and a decision must not depend on the batch it is made in.
_CHUNK = 128


class NetPlayer:
    """Plays the decision to which a network gives the highest probability.

    Args:
        model: the network.
        name: how the player is called.
        sample: draw from the probabilities instead, with the row's random number.
    """

    def __init__(self, model: ActorCritic, name: str = "net", sample: bool = False) -> None:
        self.model, self.name, self.sample = model.eval(), name, sample
        self._device = next(model.parameters()).device

    @torch.no_grad()
    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return one legal decision for each row, int64 (B,); see `agents.base.Player`."""
        actions: npt.NDArray[np.int64] = np.argmax(mask, axis=1)
        asked = np.flatnonzero(mask.sum(axis=1, dtype=np.int64) > 1)  # the others have no choice
        for start in range(0, len(asked), _CHUNK):
            rows = asked[start : start + _CHUNK]
            actions[rows] = self._decide(observation[rows], mask[rows], words[rows])
        return actions

    @torch.no_grad()
    def log_probs(self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Return the logarithm of the probability of every decision, float32 (B, A); very low where it is not legal."""
        parts = [
            self._forward(observation[start : start + _CHUNK], mask[start : start + _CHUNK])
            for start in range(0, len(mask), _CHUNK)
        ]
        return np.concatenate([part.cpu().numpy() for part in parts]) if parts else np.zeros(mask.shape, np.float32)

    def _forward(self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]) -> torch.Tensor:
        size = len(observation)
        filled = np.arange(_CHUNK) % size
        obs = torch.from_numpy(observation[filled]).to(self._device)
        log_probs: torch.Tensor = self.model(obs, torch.from_numpy(mask[filled]).to(self._device))[0]
        return log_probs[:size]

    def _decide(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        log_probs = self._forward(observation, mask)
        if not self.sample:
            return np.asarray(log_probs.argmax(1).cpu().numpy())
        cumulated = log_probs.double().exp().cumsum(1).cpu().numpy()
        wanted = (words >> np.uint64(11)).astype(np.float64) / 2.0**53 * cumulated[:, -1]
        return np.asarray((cumulated > wanted[:, None]).argmax(axis=1))


def make_with_search(argument: str, config: GameConfig) -> TreePlayer:
    """Return the tree search whose root follows the policy of a checkpoint; for the registry.

    Args:
        argument: ``N:PATH``: trials for each decision, and the checkpoint as for `make`.
        config: the games it shall play.

    Raises:
        CheckpointError: as in `make`, and for an argument of another form.
    """
    budget, colon, path = argument.partition(":")
    if not colon or not budget.isascii() or not budget.isdigit() or int(budget) < 1:
        raise CheckpointError(
            f"player {'net+search:' + argument!r}: expected the number of trials and a checkpoint, such as "
            "net+search:100:runs/quick"
        )
    net = make(path, config)
    return TreePlayer(int(budget), config, policy=net.log_probs, name=f"net+search:{argument}")


def make(argument: str, config: GameConfig) -> NetPlayer:
    """Return the player of a checkpoint; for the registry.

    Args:
        argument: path of a checkpoint (``*.safetensors``), or of the folder of a training run.
        config: the games it shall play.

    Raises:
        CheckpointError: if there is no such checkpoint or it does not fit the games.
    """
    if not argument:
        raise CheckpointError("player 'net': expected a checkpoint after the colon, such as net:runs/quick")
    path = Path(argument)
    if path.is_dir():
        path = path / "best.safetensors"
    model, _ = load_checkpoint(path)
    if model.types != config.loaded.types:
        raise CheckpointError(
            f"{path}: trained with {model.types} card types, these games have {config.loaded.types}: "
            "use the component file it was trained with"
        )
    return NetPlayer(model, f"net:{argument}")
