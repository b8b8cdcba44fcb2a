"""Create the players `net`, `net+search` and `response` by name, for the registry."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from helsinki_env.agents.net.description import CheckpointError, warn_unmeasured
from helsinki_env.agents.net.features import game_features
from helsinki_env.agents.net.player import InferenceModel, NetPlayer
from helsinki_env.agents.net.response import ResponsePlayer
from helsinki_env.agents.net.search import NetSearchPlayer
from helsinki_env.agents.registry import MAX_SIMULATIONS, PlayerError, make_player, parse_simulations
from helsinki_env.data import short_repr
from helsinki_env.engine.spec import default_spec, spec_of
from helsinki_env.utils.extras import MissingExtraError

__all__ = [
    "bundled_network",
    "bundled_networks",
    "check_network_game",
    "make_net_player",
    "make_net_search_player",
    "make_response_player",
    "network_path",
]

_DEFAULT = "shipped"


def bundled_networks(config: Any = None) -> dict[str, Path]:
    """Return the bundled networks for a configuration's game by name; see the model card.

    The network for all matchups has an empty name (``net``). The others are earlier networks, or
    for specific matchups (``net:NAME``).
    """
    folder = Path(__file__).parent.parent / (default_spec() if config is None else spec_of(config)).name
    named = {file.stem: file for file in sorted(folder.glob("*.safetensors"))}
    return {"" if name == _DEFAULT else name: file for name, file in named.items()}


def bundled_network(config: Any = None) -> Path:
    """Return the bundled network for all matchups of a configuration's game; raise CheckpointError if there is none."""
    found = bundled_networks(config).get("")
    if found is None:
        name = (default_spec() if config is None else spec_of(config)).name
        raise CheckpointError(
            f"player net: found no bundled network for {name}; train one with 'helsinki train --game {name} "
            "--preset quick' and play it as net:FOLDER"
        )
    return found


def make_net_player(argument: str, config: Any) -> NetPlayer:
    """Create the ``net:ARGUMENT`` player.

    The argument is the path of a checkpoint (``*.safetensors``), an exported model (``*.onnx``) or a training run's
    folder, or the name of a bundled network (`bundled_networks`). If it is empty, the network trained for all matchups
    is used. Raise CheckpointError if the network does not exist or does not fit the game configuration.
    """
    name = f"net:{argument}" if argument else "net"
    return NetPlayer(_load_model(name, argument, config, fast=False), config, name)


def make_net_search_player(argument: str, config: Any) -> NetSearchPlayer:
    """Create a ``net+search:N`` or ``net+search:N:NETWORK`` player.

    Raise the same errors as `make_net_player`.
    """
    budget, _, path = argument.partition(":")
    simulations = parse_simulations(budget)
    if simulations is None:
        raise CheckpointError(
            f"player {short_repr('net+search:' + argument)}: expected the number of simulations, "
            f"from 1 to {MAX_SIMULATIONS:,}, optionally with a network, "
            "such as net+search:100 or net+search:100:runs/quick"
        )
    name = f"net+search:{argument}"
    return NetSearchPlayer(simulations, _load_model(name, path, config, fast=True), config, name)


def make_response_player(argument: str, config: Any) -> ResponsePlayer:
    """Create a ``response:N:PLAYER`` player, which uses the network trained for all matchups.

    Raise PlayerError if the text is invalid, and the same errors as `make_net_player`.
    """
    budget, _, target = argument.partition(":")
    simulations = parse_simulations(budget)
    if simulations is None or not target:
        raise PlayerError(
            f"player {short_repr('response:' + argument)}: expected the number of simulations, from 1 to "
            f"{MAX_SIMULATIONS:,}, a colon and a player, such as response:16:heuristic"
        )
    name = f"response:{argument}"
    return ResponsePlayer(
        simulations, make_player(target, config), _load_model(name, "", config, fast=True), config, name
    )


def network_path(argument: str, config: Any = None) -> Path:
    """Return the path of a network for the `argument` of `make_net_player`.

    Write ``./NAME`` for a folder that has the name of a bundled network.
    """
    if not argument:
        return bundled_network(config)
    if (bundled := bundled_networks(config).get(argument)) is not None:
        return bundled
    path = Path(argument)
    return path / "best.safetensors" if os.path.isdir(path) else path  # Path.is_dir raises OSError for long names


def _load_model(player: str, argument: str, config: Any, fast: bool) -> InferenceModel:
    path = network_path(argument, config)
    model, description = _load(path, fast)
    check_network_game(path, description, config)
    warn_unmeasured(player, path, description, config)
    return model


def check_network_game(path: Path, description: dict[str, Any], config: Any) -> None:
    """Check that a network fits a configuration's game; raise CheckpointError if not."""
    if description["environment"] != spec_of(config).environment:
        raise CheckpointError(
            f"{path}: found a network for {description['environment']}, expected one for {spec_of(config).environment}"
        )
    if description["types"] != (types := game_features(config).types(config)):
        raise CheckpointError(
            f"{path}: found a network for {description['types']} card types, expected {types} as in these games; "
            "use the component file of its training"
        )


def _load(path: Path, fast: bool) -> tuple[InferenceModel, dict[str, Any]]:
    """Load a checkpoint or an exported model; without PyTorch, a bundled network is loaded from its exported model."""
    if path.suffix == ".onnx":
        from helsinki_env.agents.net.onnx import load_onnx

        return load_onnx(path)
    try:
        from helsinki_env.agents.net.checkpoint import load_checkpoint
        from helsinki_env.agents.net.network import TorchModel, supports_bfloat16
    except MissingExtraError:
        exported = path.with_suffix(".onnx")
        if path.parent.parent != Path(__file__).parent.parent or not exported.is_file():
            raise
        return _load(exported, fast)

    network, description = load_checkpoint(path)
    # Search gains more from additional simulations than it loses to the lower precision.
    return TorchModel(network, fast and supports_bfloat16()), description
