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

from agents.net.inputs import seat_parts, table_parts
from agents.net.network import Network, NetworkConfig
from helsinki_env import GameConfig, observation
from helsinki_env.files import replacing
from helsinki_env.game import action_table
from helsinki_env.position import VERSION

__all__ = ["CheckpointError", "check_description", "interface_digests", "load_checkpoint", "same_weights", "save_checkpoint"]

FORMAT = 2
#: What PyTorch's own files, and pickles in general, begin with: they can execute code and are never opened.
_PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message names the file and the reason."""


def interface_digests(types: int) -> dict[str, str]:
    """Return digests of action table, observation's layout and inputs: a network fits only those it was made for."""
    texts = {
        "actions": repr((action_table(types).sizes, action_table(types).offsets)),
        "observation": observation.layout(types).markdown(),
        "inputs": repr((seat_parts(types), table_parts(types))),
    }
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def save_checkpoint(path: str | Path, model: Network, description: dict[str, Any]) -> Path:
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


def load_checkpoint(path: str | Path) -> tuple[Network, dict[str, Any]]:
    """Return the network, ready to play, and its description.

    Raises:
        CheckpointError: if the file is missing, broken, no such checkpoint, or of another environment.
    """
    path = Path(path)
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; train one with 'helsinki train --preset quick'")
    with path.open("rb") as start:
        if start.read(4).startswith(_PICKLES):
            raise CheckpointError(
                f"{path}: a pickle (as torch.save writes it), which could execute code when it is opened, so it is not; "
                "expected a safetensors file as 'helsinki train' writes it"
            )
    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get("helsinki")
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, OSError) as problem:
        raise CheckpointError(f"{path}: not a whole safetensors file ({problem}); copy or train it again") from None
    content = _description(path, text)
    check_description(path, content)
    try:
        model = Network(GameConfig.from_dict(content["game"]), NetworkConfig(**content["network"]))
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


def check_description(path: Path, content: dict[str, Any]) -> None:
    """Check that a network fits this environment; CheckpointError with the reason if it does not."""
    expected = {"format": FORMAT, "environment": f"helsinki_v{VERSION}", **interface_digests(content["types"])}
    for key, value in expected.items():
        if content.get(key) != value:
            raise CheckpointError(
                f"{path}: {key} is {content.get(key)!r}, this environment needs {value!r}: train the network again"
            )


def same_weights(a: Network, b: Network) -> bool:
    """Whether two networks have identical weights."""
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True))
