"""Networks small enough for tests, and their files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.net.afterstates import AfterstateBatch
from helsinki_env.agents.net.checkpoint import save_checkpoint
from helsinki_env.agents.net.network import Network, NetworkConfig

SMALL = NetworkConfig(seat_hidden=16, seat=8, width=32, blocks=1)


def same_weights(a: nn.Module, b: nn.Module) -> bool:
    """Return whether two networks have identical weights."""
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True))


def assert_only_adds_features(with_it: AfterstateBatch, without: AfterstateBatch, added: int) -> None:
    """Check that the first batch has `added` more features per seat, and is otherwise the same."""
    width = without.seats.shape[2]
    assert with_it.seats.shape[2] == width + added
    np.testing.assert_array_equal(with_it.seats[..., :width], without.seats)
    for name in ("first", "action", "advice", "position", "begin", "table", "ended"):
        np.testing.assert_array_equal(getattr(with_it, name), getattr(without, name))


def untrained(components: str = "default", seed: int = 0) -> Network:
    """Return a network with initial weights."""
    torch.manual_seed(seed)
    return Network(HelsinkiConfig(components=components), SMALL)


def opinionated(components: str = "default", seed: int = 0) -> Network:
    """Return a network with random preferences."""
    network = untrained(components, seed)
    for head in (network.win, network.score, network.trust, network.liking):
        nn.init.normal_(head.weight, std=0.4)
    return network


def contrary() -> Network:
    """Return a network that prefers the heuristic's worst action."""
    network = untrained()
    nn.init.constant_(network.trust.bias, -3.0)
    return network


def saved(path: Path, network: Network, components: str = "default", **more: Any) -> Path:
    """Write a network with a minimal description and return its path."""
    content = {"game": HelsinkiConfig(components=components).to_dict(), "network": asdict(network.config)}
    return save_checkpoint(path, network, content | more)
