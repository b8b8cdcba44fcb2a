"""The players `net` and `net+search` by name, for the registry."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from helsinki_env.agents.net.description import CheckpointError, environment_of
from helsinki_env.agents.net.features import inputs_of
from helsinki_env.agents.net.measured import warn_unmeasured
from helsinki_env.agents.net.player import Assessor, NetPlayer
from helsinki_env.agents.net.search import NetSearchPlayer
from helsinki_env.agents.registry import MOST_TRIALS, as_trials
from helsinki_env.data import shown
from helsinki_env.engine.spec import spec_of, usual_spec

__all__ = ["check_games", "in_the_box", "make", "make_with_search", "network_path", "shipped"]

_USUAL = "shipped"


def in_the_box(config: Any = None) -> dict[str, Path]:
    """Return the trained networks that come with the package for the game of a configuration; see the model card.

    The one for all tables has no name: that is ``net``. The others are for some tables alone, and are ``net:NAME``.
    """
    name = (usual_spec() if config is None else spec_of(config)).name
    files = sorted((Path(__file__).parent.parent / name).glob("*.safetensors"))
    return {"" if file.stem == _USUAL else file.stem: file for file in files}


def shipped(config: Any = None) -> Path:
    """Return the trained network that comes with the package for all tables of the game of a configuration.

    Raises:
        CheckpointError: if there is none for the game.
    """
    found = in_the_box(config).get("")
    if found is None:
        name = (usual_spec() if config is None else spec_of(config)).name
        raise CheckpointError(
            f"player net: no network comes with the package for {name}; train one with 'helsinki train --game {name} "
            "--preset quick' and play it as net:FOLDER"
        )
    return found


def make(argument: str, config: Any) -> NetPlayer:
    """Return the player of a network.

    Args:
        argument: path of a checkpoint (``*.safetensors``), of an exported model (``*.onnx``) or of the folder of a
            training run; or the name of a network in the box (`in_the_box`); empty: the one for all tables.
        config: the games it shall play.

    Raises:
        CheckpointError: if there is no such network or it does not fit the games.
    """
    name = f"net:{argument}" if argument else "net"
    return NetPlayer(_assessor(name, argument, config, fast=False), config, name)


def make_with_search(argument: str, config: Any) -> NetSearchPlayer:
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
    name = f"net+search:{argument}"
    return NetSearchPlayer(trials, _assessor(name, path, config, fast=True), config, name)


def network_path(argument: str, config: Any = None) -> Path:
    """Return the file of a network, by an argument as for `make`; a folder that is called like one is ``./NAME``."""
    if not argument:
        return shipped(config)
    if (boxed := in_the_box(config).get(argument)) is not None:
        return boxed
    path = Path(argument)
    return path / "best.safetensors" if os.path.isdir(path) else path  # unlike Path's own, it takes names of any length


def _assessor(player: str, argument: str, config: Any, fast: bool) -> Assessor:
    path = network_path(argument, config)
    assessor, description = _load_onnx(path) if path.suffix == ".onnx" else _load(path, fast)
    check_games(path, description, config)
    warn_unmeasured(player, path, description, config)
    return assessor


def check_games(path: Path, description: dict[str, Any], config: Any) -> None:
    """Check that a network was made for games like those of a configuration; CheckpointError if not."""
    if description["environment"] != environment_of(config):
        raise CheckpointError(
            f"{path}: trained for {description['environment']}, these are games of {environment_of(config)}"
        )
    if description["types"] != (types := inputs_of(config).types(config)):
        raise CheckpointError(
            f"{path}: trained with {description['types']} card types, these games have {types}: "
            "use the component file it was trained with"
        )


def _load(path: Path, fast: bool) -> tuple[Assessor, dict[str, Any]]:
    """Where the processor multiplies bfloat16 natively, a search takes it: what it needs is many trials."""
    from helsinki_env.agents.net.checkpoint import load_checkpoint
    from helsinki_env.agents.net.pytorch import TorchAssessor, knows_bfloat16

    network, description = load_checkpoint(path)
    return TorchAssessor(network, fast and knows_bfloat16()), description


def _load_onnx(path: Path) -> tuple[Assessor, dict[str, Any]]:
    from helsinki_env.agents.net.onnx import load_onnx

    return load_onnx(path)
