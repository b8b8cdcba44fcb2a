"""The players `net` and `net+search` by name, for the registry."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from agents.net.description import CheckpointError
from agents.net.player import Assessor, NetPlayer
from agents.net.search import NetSearchPlayer
from agents.registry import MOST_TRIALS, as_trials
from helsinki_env import GameConfig
from helsinki_env.data import shown

__all__ = ["SHIPPED", "make", "make_with_search", "network_path"]

SHIPPED = Path(__file__).parent / "shipped.safetensors"
"""The trained network that comes with the package; docs/model-card.md says what it is."""


def make(argument: str, config: GameConfig) -> NetPlayer:
    """Return the player of a network.

    Args:
        argument: path of a checkpoint (``*.safetensors``), of an exported model (``*.onnx``) or of the folder of a
            training run; empty: the network that comes with the package.
        config: the games it shall play.

    Raises:
        CheckpointError: if there is no such network or it does not fit the games.
    """
    return NetPlayer(_assessor(argument, config, fast=False), config, f"net:{argument}" if argument else "net")


def make_with_search(argument: str, config: GameConfig) -> NetSearchPlayer:
    """Return a network that searches.

    Args:
        argument: ``N`` or ``N:PATH``: trials for each decision, and the network as for `make`.
        config: the games it shall play.

    Raises:
        CheckpointError: as in `make`, and for an argument of another form.
    """
    budget, _, path = argument.partition(":")
    trials = as_trials(budget)
    if trials is None:
        raise CheckpointError(
            f"player {shown('net+search:' + argument)}: expected the number of trials, from 1 to {MOST_TRIALS:,}, and "
            "perhaps a network, such as net+search:100 or net+search:100:runs/quick"
        )
    return NetSearchPlayer(trials, _assessor(path, config, fast=True), config, f"net+search:{argument}")


def network_path(argument: str) -> Path:
    """Return the file of a network, by an argument as for `make`."""
    path = Path(argument) if argument else SHIPPED
    return path / "best.safetensors" if os.path.isdir(path) else path  # unlike Path's own, it takes names of any length


def _assessor(argument: str, config: GameConfig, fast: bool) -> Assessor:
    path = network_path(argument)
    assessor, description = _load_onnx(path) if path.suffix == ".onnx" else _load(path, fast)
    if description["types"] != config.loaded.types:
        raise CheckpointError(
            f"{path}: trained with {description['types']} card types, these games have {config.loaded.types}: "
            "use the component file it was trained with"
        )
    return assessor


def _load(path: Path, fast: bool) -> tuple[Assessor, dict[str, Any]]:
    """Where the processor multiplies bfloat16 natively, a search takes it: what it needs is many trials."""
    from agents.net.checkpoint import load_checkpoint
    from agents.net.pytorch import TorchAssessor, knows_bfloat16

    network, description = load_checkpoint(path)
    return TorchAssessor(network, fast and knows_bfloat16()), description


def _load_onnx(path: Path) -> tuple[Assessor, dict[str, Any]]:
    from agents.net.onnx import load_onnx

    return load_onnx(path)
