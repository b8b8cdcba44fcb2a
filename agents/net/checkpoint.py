"""Save and load trained networks: weights and a description in one safetensors file, without executable content.

The description identifies the network's environment (version, action table, observation), its training and the digest
of its weights. Files are written under a temporary name and then renamed, so an existing checkpoint is always complete.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from helsinki_env.agents.mlp.network import MLPNetwork
from helsinki_env.agents.net.description import (
    AFTERSTATE_KIND,
    DESCRIPTION_KEY,
    CheckpointError,
    arrays_digest,
    check_description,
    check_readable,
    interface_digests,
    network_description,
    parse_description,
)
from helsinki_env.agents.net.features import game_features
from helsinki_env.agents.net.network import Network, NetworkConfig
from helsinki_env.data import Node
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import config_from_dict
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write

with requires_extra("train"):
    import torch
    from safetensors import SafetensorError, safe_open
    from safetensors.torch import save

__all__ = ["CheckpointError", "check_description", "interface_digests", "load_checkpoint", "load_network",
           "save_checkpoint"]  # fmt: skip

#: First bytes of PyTorch's own files and of other pickles, which can execute code and are never opened.
_PICKLES = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")

StateDict = dict[str, torch.Tensor]
N = TypeVar("N", Network, MLPNetwork)


def save_checkpoint(
    path: str | Path, model: Network | MLPNetwork, description: dict[str, Any], half: bool = False
) -> Path:
    """Write weights and description and return the path; an existing file is replaced atomically.

    Args:
        path: path of the file.
        model: the network.
        description: metadata, a JSON object; loading the file requires its `game` and `network` keys.
        half: whether to round the weights to float16, which halves the file size.
    """
    path = Path(path)
    dtype = torch.float16 if half else torch.float32
    weights = {name: tensor.to(dtype).contiguous() for name, tensor in model.state_dict().items()}
    text = network_description(model.game, {**description, "weights": _digest(weights)}, model.kind)
    data = save(weights, {DESCRIPTION_KEY: text})
    with atomic_write(path) as file:
        file.write(data)
    return path


def load_checkpoint(path: str | Path) -> tuple[Network, dict[str, Any]]:
    """Load an afterstate network and its description; see `load_network`."""
    return load_network(path, Network)


def load_network(path: str | Path, make: type[N]) -> tuple[N, dict[str, Any]]:
    """Load a network, ready for inference, and its description.

    Args:
        path: path of the file.
        make: class of the network.

    Raises:
        CheckpointError: if the file is missing, damaged, invalid, or for a different kind of network or environment.
    """
    path = Path(path)
    check_readable(path, f"train one with 'helsinki train --preset {make.preset}'")
    with path.open("rb") as start:
        if start.read(4).startswith(_PICKLES):
            raise CheckpointError(
                f"{path}: found a pickle, which can execute code, as torch.save writes it; expected a safetensors file "
                "as 'helsinki train' writes it"
            )
    try:
        with safe_open(path, framework="pt") as file:
            text = (file.metadata() or {}).get(DESCRIPTION_KEY)
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, OSError) as problem:
        raise CheckpointError(
            f"{path}: found an incomplete safetensors file ({problem}), expected a checkpoint; copy it again"
        ) from None
    content = parse_description(path, text, "a safetensors file")
    if (kind := content.value.get("kind", AFTERSTATE_KIND)) != make.kind:
        other = Network if kind == AFTERSTATE_KIND else MLPNetwork
        raise CheckpointError(
            f"{path}: found a network of kind {kind!r}, expected {make.kind!r}; play it as {other.player}:{path}"
        )
    game, size = config_from_dict(content["game"]), content["network"].build(NetworkConfig)
    if (types := game_features(game).types(game)) != content["types"].value:
        content["types"].fail(f"{types}, which its component file {game.components!r} has")
    _check_weights(content, weights, size)
    with content["network"].prefix_errors():
        model = make(game, size)
    try:
        model.load_state_dict(weights)
    except RuntimeError as problem:
        raise CheckpointError(f"{path}: found weights of another network than described: {problem}") from None
    return model.eval(), dict(content.value)


def _check_weights(content: Node, weights: StateDict, size: NetworkConfig) -> None:
    """Check the weights before the network is built; reject a configuration that is larger than the weights."""
    width = (size.width, size.width)
    shapes = {
        "seat_out.weight": (size.seat, size.seat_hidden),
        "from_seats.weight": (size.width, MAX_SEATS * size.seat),
    }
    shapes |= {f"blocks.{i}.{layer}.weight": width for i in range(size.blocks) for layer in ("inner", "outer")}
    for name, shape in shapes.items():
        if name not in weights or tuple(weights[name].shape) != shape:
            found = tuple(weights[name].shape) if name in weights else "missing"
            content["network"].fail(f"the size of the saved weights: {name} is {found}, not {shape}")
    halved = all(tensor.dtype == torch.float16 for tensor in weights.values())
    expected = torch.float16 if halved else torch.float32
    for name, tensor in weights.items():
        if tensor.dtype != expected or not tensor.isfinite().all():
            problem = tensor.dtype if tensor.dtype != expected else "NaN or infinity"
            raise CheckpointError(
                f"{content.file}: {name}: found {problem}, expected finite float32, or float16 in all tensors"
            )
    if content["weights"].is_present and content["weights"].value != _digest(weights):
        content["weights"].fail(f"{_digest(weights)}, the digest of the weights, which were changed or damaged")


def _digest(weights: StateDict) -> str:
    return arrays_digest({name: tensor.detach().cpu().numpy() for name, tensor in weights.items()})
