"""Networks small enough for tests, and their files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.net.checkpoint import save_checkpoint
from helsinki_env.agents.net.network import Network, NetworkConfig

SMALL = NetworkConfig(seat_hidden=16, seat=8, width=32, blocks=1)


def untrained(components: str = "default", seed: int = 0) -> Network:
    """A network as training begins with it."""
    torch.manual_seed(seed)
    return Network(HelsinkiConfig(components=components), SMALL)


def opinionated(components: str = "default", seed: int = 0) -> Network:
    """A network with an opinion of its own on everything, however wrong."""
    network = untrained(components, seed)
    for head in (network.win, network.score, network.trust, network.liking):
        nn.init.normal_(head.weight, std=0.4)
    return network


def contrary() -> Network:
    """A network that takes what the heuristic likes least."""
    network = untrained()
    nn.init.constant_(network.trust.bias, -3.0)
    return network


def saved(path: Path, network: Network, components: str = "default", **more: Any) -> Path:
    """Write a network with the least that a description holds."""
    content = {"game": HelsinkiConfig(components=components).to_dict(), "network": asdict(network.config)}
    return save_checkpoint(path, network, content | more)
