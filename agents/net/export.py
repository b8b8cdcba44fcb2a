"""Export a checkpoint as an ONNX model, which runs without PyTorch, or as a float16 checkpoint of half the size.

An ONNX model is written only if it prefers the same actions as PyTorch in thousands of positions from real games. For a
float16 checkpoint, the result gives the number of positions in which the preferred action differs.
"""

from __future__ import annotations

import json
import logging
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.base import FloatArray, Int8Array, Int64Array
from helsinki_env.agents.heuristic import HeuristicPlayer
from helsinki_env.agents.net.afterstates import AfterstateEncoder
from helsinki_env.agents.net.description import COMPONENTS_KEY, DESCRIPTION_KEY, CheckpointError, measured_components
from helsinki_env.agents.net.features import feature_offsets
from helsinki_env.agents.net.make import network_path
from helsinki_env.agents.net.player import InferenceModel, choice_log_probs
from helsinki_env.data import Node, UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import config_from_dict, spec_of
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write

with requires_extra("export"):
    import onnx
    import onnxscript  # noqa: F401  # required by torch.onnx
    import torch

    from helsinki_env.agents.net.checkpoint import load_checkpoint, save_checkpoint
    from helsinki_env.agents.net.network import Network, TorchModel
    from helsinki_env.agents.net.onnx import INPUT_NAMES, OUTPUT_NAMES, PREFERENCE_KEY, OnnxModel, prepend_digest

__all__ = ["POSITIONS", "TIE", "Agreement", "compare_models", "export_network"]

#: ONNX operator set, supported by onnxruntime since 1.17.
_OPSET = 20
POSITIONS = 10_000
"""Default number of positions for the comparison of a new model."""
TIE = 1e-4
"""Smaller differences between log-probabilities are attributed to rounding."""
#: Number of parallel games, small enough that they are played to the end.
_GAMES = 64


@dataclass(frozen=True)
class Agreement:
    """Agreement between an exported model and PyTorch.

    Attributes:
        game: name of the game.
        decisions: number of positions compared, all with more than one legal action.
        differ: number of positions in which the model prefers an action that PyTorch rates lower by `TIE` or more.
        ties: number of other positions in which the preferred actions differ but are equally good up to rounding.
        largest: largest difference between the two log-probabilities of an action.
    """

    game: str
    decisions: int
    differ: int
    ties: int
    largest: float


Progress = Callable[[int], None] | None
"""Callback that receives the number of positions compared since the last call, or None."""


def export_network(
    checkpoint: str | Path, out: str | Path, positions: int = POSITIONS, seed: int = 0, progress: Progress = None
) -> Agreement:
    """Write a checkpoint as an ONNX model or with float16 weights; return its agreement with the original.

    An ONNX model is written only if it prefers the same actions (`compare_models`). The preferences of a float16
    checkpoint, which has half the size, may differ. An existing file is replaced only on success.

    Args:
        checkpoint: path of the checkpoint, or the folder of a training run.
        out: path of the file, ending in .onnx, or in .safetensors for a float16 checkpoint.
        positions: number of positions to compare.
        seed: random seed of the games.
        progress: callback, or None.

    Raises:
        CheckpointError: if the checkpoint cannot be used, the model prefers different actions, or float16 cannot
            represent the weights.
        ValueError: if an argument is invalid.
    """
    out, path = Path(out), network_path(str(checkpoint))
    if out.suffix not in (".onnx", ".safetensors"):
        raise UserError(f"out: found {out}, expected a file name that ends in .onnx or .safetensors")
    if out.resolve() == path.resolve():
        raise UserError(f"out: found {out}, expected a file other than the checkpoint")
    network, description = load_checkpoint(path)
    description[COMPONENTS_KEY] = measured_components(path, description)
    if out.suffix == ".safetensors":
        rounded = _round(network, checkpoint)
        agreement = _compare(network, description, TorchModel(rounded), positions, seed, progress)
        save_checkpoint(out, rounded, description, half=True)
        return agreement
    content = prepend_digest(_model(network, description).SerializeToString(deterministic=True))
    agreement = _compare(network, description, OnnxModel(out, content=content), positions, seed, progress)
    if agreement.differ or not math.isfinite(agreement.largest):
        raise CheckpointError(
            f"{checkpoint}: not exported: the model prefers another action in {agreement.differ:,} of "
            f"{agreement.decisions:,} positions, and log-probabilities differ by up to {agreement.largest:.3g}"
        )
    with atomic_write(out, follow=True) as file:
        file.write(content)
    return agreement


def compare_models(
    checkpoint: str | Path, model: str | Path, positions: int = POSITIONS, seed: int = 0, progress: Progress = None
) -> Agreement:
    """Compare an exported model with a checkpoint that PyTorch evaluates in float32.

    The positions come from games of the heuristic with 2, 3 and 4 players, with and without the expansion. Up to five
    board actions are disabled for all seats, and up to three are denied to each seat. For the arguments, see
    `export_network`.
    """
    network, description = load_checkpoint(network_path(str(checkpoint)))
    return _compare(network, description, OnnxModel(model), positions, seed, progress)


def _round(network: Network, checkpoint: str | Path) -> Network:
    """Return a copy of a network with weights rounded to float16; raise CheckpointError if one is out of range."""
    weights = {name: tensor.half() for name, tensor in network.state_dict().items()}
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise CheckpointError(f"{checkpoint}: {name}: found weights outside the range of float16; not exported")
    rounded = Network(network.game, network.config)
    rounded.load_state_dict(weights)
    return rounded


def _model(network: Network, description: dict[str, Any]) -> onnx.ModelProto:
    """Convert a network to a validated ONNX model."""
    at = feature_offsets(network.game, network.config.ahead)
    example = (
        torch.zeros((2, MAX_SEATS - 1, int(at.seat[-1])), dtype=torch.int8, device="cpu"),
        torch.zeros((2, int(at.table[-1])), dtype=torch.int8, device="cpu"),
    )
    rows, seats = torch.export.Dim("N"), torch.export.Dim("P", max=MAX_SEATS)
    with _quiet(), torch.no_grad():
        program = torch.onnx.export(
            network,
            example,
            dynamo=True,
            input_names=INPUT_NAMES,
            output_names=OUTPUT_NAMES,
            dynamic_shapes={"seats": {0: rows, 1: seats}, "table": {0: rows}},
            opset_version=_OPSET,
            verbose=False,
        )
    assert program is not None
    model = program.model_proto
    _forget_origin(model)
    pytorch = TorchModel(network)
    entries = {
        DESCRIPTION_KEY: json.dumps(description),
        PREFERENCE_KEY: json.dumps({"sharpness": pytorch.sharpness, "group": pytorch.group.tolist()}),
    }
    onnx.helper.set_model_props(model, entries)
    onnx.checker.check_model(model, full_check=True)
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's warnings about PyTorch's own code and about missing packages."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _forget_origin(model: onnx.ModelProto) -> None:
    """Remove source locations from all operators, because they contain paths on this machine."""
    graph = model.graph
    for part in (graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def _compare(
    network: Network, description: dict[str, Any], model: InferenceModel, positions: int, seed: int, progress: Progress
) -> Agreement:
    Node(positions, UserError, "positions").integer(1)
    config = config_from_dict(description["game"])
    original, encoder = TorchModel(network), AfterstateEncoder(config, ahead=network.config.ahead)
    decisions, differ, ties, largest = 0, 0, 0, 0.0
    for observation, mask in _decisions(config, positions, seed):
        inputs = encoder.write(observation, mask)
        expected, found = (choice_log_probs(inputs, x(inputs.seats, inputs.table), x) for x in (original, model))
        best, chosen = _best(expected, inputs.first), _best(found, inputs.first)
        worse = expected[best] - expected[chosen] >= TIE
        differ += int(worse.sum())
        ties += int(((best != chosen) & ~worse).sum())
        largest = float(np.maximum(largest, np.abs(expected - found).max()))  # NaN stays NaN
        decisions += len(inputs)
        if progress is not None:
            progress(len(inputs))
    return Agreement(spec_of(config).name, decisions, differ, ties, largest)


def _best(log_probs: FloatArray, first: Int64Array) -> Int64Array:
    """Return the index of the preferred action in each row, int64 (B,); the first one on ties."""
    spans = zip(first[:-1].tolist(), first[1:].tolist(), strict=True)
    return np.array([begin + int(log_probs[begin:end].argmax()) for begin, end in spans])


def _decisions(config: Any, count: int, seed: int) -> Iterator[tuple[Int8Array, Int8Array]]:
    """Yield `count` positions with more than one legal action: observations int8 (B, F) and masks int8 (B, A)."""
    spec = spec_of(config)
    drawn = {"covered": (0, 5), "denied": (0, 3), "dry_roads": (False, True)}
    episodes = spec.episodes(
        num_players=(2, 3, 4), **{name: drawn[name] for name in drawn if name in spec.setup_fields}
    )
    env = GameVectorEnv(_GAMES, config, autoreset_mode="SameStep", episodes=episodes)
    obs, _ = env.reset(seed=seed)
    player, keys = HeuristicPlayer(config), np.zeros(_GAMES, np.uint64)  # the heuristic is deterministic
    while count:
        observation, mask = obs["observation"], obs["action_mask"]
        rows = np.flatnonzero(mask.sum(axis=1, dtype=np.int64) > 1)[:count]
        if len(rows):
            yield observation[rows], mask[rows]
        count -= len(rows)
        obs, *_ = env.step(player.act(observation, mask, keys))
    env.close()
