"""Trained networks on disk: weights and a description in one safetensors file, nothing that could be executed.

The description says which environment the network was made for (version, action table, observation) and how it was
trained; a file that does not fit is refused with the reason. Files are written under a temporary name and renamed, so a
checkpoint that exists is whole.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from agents.network import ActorCritic, NetworkConfig
from helsinki_env import GameConfig, observation
from helsinki_env.files import replacing
from helsinki_env.game import action_table
from helsinki_env.position import VERSION

__all__ = ["CheckpointError", "interface_digests", "load_checkpoint", "save_checkpoint"]

FORMAT = 1


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message names the file and the reason."""


def interface_digests(types: int) -> dict[str, str]:
    """Return digests of the action table and of the observation's layout: a network fits only those it was made for."""
    texts = {
        "actions": repr((action_table(types).sizes, action_table(types).offsets)),
        "observation": observation.layout(types).markdown(),
    }
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def save_checkpoint(path: str | Path, model: ActorCritic, description: dict[str, Any]) -> Path:
    """Write weights and description; return the path. An existing file is replaced only by a whole new one."""
    path = Path(path)
    content = {
        "format": FORMAT,
        "environment": f"helsinki_v{VERSION}",
        "types": model.types,
        **interface_digests(model.types),
        **description,
    }
    data = save({k: v.contiguous() for k, v in model.state_dict().items()}, {"helsinki": json.dumps(content)})
    with replacing(path) as file:
        file.write(data)
    return path


def load_checkpoint(path: str | Path) -> tuple[ActorCritic, dict[str, Any]]:
    """Return the network, ready to play, and its description.

    Raises:
        CheckpointError: if the file is missing, broken, no such checkpoint, or of another environment.
    """
    path = Path(path)
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; train one with 'helsinki train --preset quick'")
    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get("helsinki")
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, OSError) as problem:
        raise CheckpointError(f"{path}: not a whole safetensors file ({problem}); copy or train it again") from None
    content = _description(path, text)
    types = content["types"]
    expected = {"format": FORMAT, "environment": f"helsinki_v{VERSION}", **interface_digests(types)}
    for key, value in expected.items():
        if content.get(key) != value:
            raise CheckpointError(
                f"{path}: {key} is {content.get(key)!r}, this environment needs {value!r}: train the network again"
            )
    try:
        model = ActorCritic(GameConfig.from_dict(content["game"]), NetworkConfig(**content["network"]))
        model.load_state_dict(weights)
    except (RuntimeError, TypeError, ValueError, KeyError) as problem:
        raise CheckpointError(f"{path}: the weights do not fit the network described: {problem}") from None
    return model.eval(), content


def _description(path: Path, text: str | None) -> dict[str, Any]:
    try:
        content = json.loads(text or "")
    except ValueError:
        content = None
    if not isinstance(content, dict) or not isinstance(content.get("types"), int):
        raise CheckpointError(f"{path}: a safetensors file, but not of this project: it has no description 'helsinki'")
    return content


def same_weights(a: ActorCritic, b: ActorCritic) -> bool:
    """Whether two networks have identical weights."""
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True))
