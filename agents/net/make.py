"""The players `net` and `net+search` by name, for the registry."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from helsinki_env.agents.net.description import CheckpointError, environment_id
from helsinki_env.agents.net.features import game_features
from helsinki_env.agents.net.measured import warn_unmeasured
from helsinki_env.agents.net.player import InferenceModel, NetPlayer
from helsinki_env.agents.net.search import NetSearchPlayer
from helsinki_env.agents.registry import MAX_SIMULATIONS, parse_simulations
from helsinki_env.data import short_repr
from helsinki_env.engine.spec import default_spec, spec_of
from helsinki_env.utils.extras import MissingExtraError

__all__ = [
    "bundled_network",
    "bundled_networks",
    "check_network_game",
    "make_net_player",
    "make_net_search_player",
    "network_path",
]

_USUAL = "shipped"


def bundled_networks(config: Any = None) -> dict[str, Path]:
    """Return the trained networks that come with the package for the game of a configuration; see the model card.

    The one for all tables has no name: that is ``net``. The others are for some tables alone, and are ``net:NAME``.
    """
    name = (default_spec() if config is None else spec_of(config)).name
    files = sorted((Path(__file__).parent.parent / name).glob("*.safetensors"))
    return {"" if file.stem == _USUAL else file.stem: file for file in files}


def bundled_network(config: Any = None) -> Path:
    """Return the trained network that comes with the package for all tables of the game of a configuration.

    Raises:
        CheckpointError: if there is none for the game.
    """
    found = bundled_networks(config).get("")
    if found is None:
        name = (default_spec() if config is None else spec_of(config)).name
        raise CheckpointError(
            f"player net: no network comes with the package for {name}; train one with 'helsinki train --game {name} "
            "--preset quick' and play it as net:FOLDER"
        )
    return found


def make_net_player(argument: str, config: Any) -> NetPlayer:
    """Return the player of a network.

    Args:
        argument: path of a checkpoint (``*.safetensors``), of an exported model (``*.onnx``) or of the folder of a
            training run; or the name of a network in the box (`bundled_networks`); empty: the one for all tables.
        config: the games it shall play.

    Raises:
        CheckpointError: if there is no such network or it does not fit the games.
    """
    name = f"net:{argument}" if argument else "net"
    return NetPlayer(_assessor(name, argument, config, fast=False), config, name)


def make_net_search_player(argument: str, config: Any) -> NetSearchPlayer:
    """Return a network that searches.

    Args:
        argument: ``N`` or ``N:PATH``: trials for each decision, and the network as for `make_net_player`.
        config: the games it shall play.

    Raises:
        CheckpointError: as in `make_net_player`, and for an argument of another form.
    """
    budget, _, path = argument.partition(":")
    trials = parse_simulations(budget)
    if trials is None:
        raise CheckpointError(
            f"player {short_repr('net+search:' + argument)}: expected the number of trials, "
            f"from 1 to {MAX_SIMULATIONS:,}, and perhaps a network, such as net+search:100 or net+search:100:runs/quick"
        )
    name = f"net+search:{argument}"
    return NetSearchPlayer(trials, _assessor(name, path, config, fast=True), config, name)


def network_path(argument: str, config: Any = None) -> Path:
    """Return the file of a network, by an argument as for `make_net_player`; a folder of that name is ``./NAME``."""
    if not argument:
        return bundled_network(config)
    if (boxed := bundled_networks(config).get(argument)) is not None:
        return boxed
    path = Path(argument)
    return path / "best.safetensors" if os.path.isdir(path) else path  # unlike Path's own, it takes names of any length


def _assessor(player: str, argument: str, config: Any, fast: bool) -> InferenceModel:
    path = network_path(argument, config)
    assessor, description = _load_onnx(path) if path.suffix == ".onnx" else _load(path, fast)
    check_network_game(path, description, config)
    warn_unmeasured(player, path, description, config)
    return assessor


def check_network_game(path: Path, description: dict[str, Any], config: Any) -> None:
    """Check that a network was made for games like those of a configuration; CheckpointError if not."""
    if description["environment"] != environment_id(config):
        raise CheckpointError(
            f"{path}: trained for {description['environment']}, these are games of {environment_id(config)}"
        )
    if description["types"] != (types := game_features(config).types(config)):
        raise CheckpointError(
            f"{path}: trained with {description['types']} card types, these games have {types}: "
            "use the component file it was trained with"
        )


def _load(path: Path, fast: bool) -> tuple[InferenceModel, dict[str, Any]]:
    """Load a checkpoint. Without PyTorch, a bundled network is read from the exported model next to it.

    A search uses bfloat16 where the CPU multiplies it natively, as it needs many evaluations.
    """
    try:
        from helsinki_env.agents.net.checkpoint import load_checkpoint
        from helsinki_env.agents.net.pytorch import TorchModel, supports_bfloat16
    except MissingExtraError:
        exported = path.with_suffix(".onnx")
        if path.parent.parent != Path(__file__).parent.parent or not exported.is_file():
            raise
        return _load_onnx(exported)

    network, description = load_checkpoint(path)
    return TorchModel(network, fast and supports_bfloat16()), description


def _load_onnx(path: Path) -> tuple[InferenceModel, dict[str, Any]]:
    from helsinki_env.agents.net.onnx import load_onnx

    return load_onnx(path)
