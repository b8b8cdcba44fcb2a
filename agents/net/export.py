"""Export a checkpoint as an ONNX model, which plays without PyTorch, or as a checkpoint of half the size.

The model is checked before it is written: in thousands of decisions of real games it must prefer what PyTorch prefers.
A checkpoint of half the size is another network, if hardly: how often it prefers something else is told.
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
import numpy.typing as npt

from helsinki_env.agents.heuristic.player import HeuristicPlayer
from helsinki_env.agents.net.afterstates import AfterstateEncoder
from helsinki_env.agents.net.description import COMPONENTS_KEY, DESCRIPTION_KEY, CheckpointError
from helsinki_env.agents.net.features import feature_offsets
from helsinki_env.agents.net.make import network_path
from helsinki_env.agents.net.measured import measured_components
from helsinki_env.agents.net.player import InferenceModel, choice_log_probs
from helsinki_env.data import Node, UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import config_from_dict, spec_of
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write

with requires_extra("export"):
    import onnx
    import onnxscript  # noqa: F401  # what PyTorch exports with
    import torch

    from helsinki_env.agents.net.checkpoint import load_checkpoint, save_checkpoint
    from helsinki_env.agents.net.network import Network
    from helsinki_env.agents.net.onnx import INPUT_NAMES, OUTPUT_NAMES, PREFERENCE_KEY, OnnxModel, prepend_digest
    from helsinki_env.agents.net.pytorch import TorchModel

__all__ = ["POSITIONS", "TIE", "Agreement", "compare_models", "export_half", "export_onnx"]

#: Set of operators; every onnxruntime since 1.17 knows it.
_OPSET = 20
POSITIONS = 10_000
"""Decisions that a new model is compared in."""
TIE = 1e-4
"""Choices whose log-probabilities differ by less are as good as each other: that much is left to rounding."""
#: Games side by side from which decisions are taken. Few, so that they are played to their ends.
_GAMES = 64


@dataclass(frozen=True)
class Agreement:
    """How far a model decides as PyTorch does.

    Attributes:
        decisions: how many were compared, all with more than one choice.
        differ: in how many the model prefers a choice that is worse by `TIE` or more in PyTorch's eyes.
        ties: in how many more it prefers another choice, which PyTorch finds as good but for rounding.
        largest: difference between the two log-probabilities of the same choice, over all choices.
    """

    decisions: int
    differ: int
    ties: int
    largest: float


def export_onnx(
    checkpoint: str | Path,
    out: str | Path,
    positions: int = POSITIONS,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Agreement:
    """Write a checkpoint as an ONNX model, if it decides as the checkpoint does; see `compare_models`.

    Whatever goes wrong, a file that was there before stays as it was.

    Args:
        checkpoint: the checkpoint, or the folder of a training run.
        out: the model, a name that ends in .onnx.
        positions: decisions to compare.
        seed: of the games they are taken from.
        progress: called with the number of decisions that have been compared since the last call.

    Raises:
        CheckpointError: if the checkpoint cannot be used, or the model decides otherwise.
        ValueError: for arguments that are no such thing.
    """
    out = Path(out)
    if out.suffix != ".onnx":
        raise UserError(f"out: found {out}, expected a file name that ends in .onnx or .safetensors")
    path = network_path(str(checkpoint))
    network, description = load_checkpoint(path)
    description[COMPONENTS_KEY] = measured_components(path, description)
    content = prepend_digest(_model(network, description).SerializeToString(deterministic=True))
    agreement = _compare(network, description, OnnxModel(out, content=content), positions, seed, progress)
    if agreement.differ or not math.isfinite(agreement.largest):
        raise CheckpointError(
            f"{checkpoint}: not exported: the model prefers another choice in {agreement.differ:,} of "
            f"{agreement.decisions:,} decisions, and log-probabilities differ by up to {agreement.largest:.3g}"
        )
    with atomic_write(out, follow=True) as file:
        file.write(content)
    return agreement


def export_half(
    checkpoint: str | Path,
    out: str | Path,
    positions: int = POSITIONS,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Agreement:
    """Write a checkpoint with weights rounded to 16 bits, half the size; return how far it decides as the original.

    Whatever goes wrong, a file that was there before stays as it was.

    Args:
        checkpoint: the checkpoint, or the folder of a training run.
        out: the new checkpoint, a name that ends in .safetensors.
        positions: decisions to compare.
        seed: of the games they are taken from.
        progress: called with the number of decisions that have been compared since the last call.

    Raises:
        CheckpointError: if the checkpoint cannot be used, or has weights that 16 bits do not hold.
        ValueError: for arguments that are no such thing.
    """
    out = Path(out)
    if out.suffix != ".safetensors":
        raise UserError(f"out: found {out}, expected a file name that ends in .safetensors")
    path = network_path(str(checkpoint))
    if out.resolve() == path.resolve():
        raise UserError(f"out: found {out}, expected another file than the checkpoint itself")
    network, description = load_checkpoint(path)
    weights = {name: tensor.half() for name, tensor in network.state_dict().items()}
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise CheckpointError(f"{checkpoint}: not exported: {name} has weights beyond what 16 bits hold")
    rounded = Network(network.game, network.config)
    rounded.load_state_dict(weights)
    agreement = _compare(network, description, TorchModel(rounded.eval()), positions, seed, progress)
    measured = {COMPONENTS_KEY: measured_components(path, description)}
    save_checkpoint(out, rounded, description | measured, half=True)
    return agreement


def compare_models(
    checkpoint: str | Path,
    model: str | Path,
    positions: int = POSITIONS,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Agreement:
    """Return how far an exported model decides as a checkpoint does, computed by PyTorch in float32.

    The decisions are those of the heuristic's games with 2, 3 and 4 players, with and without the expansion, with up to
    five actions covered and up to three denied to each seat.

    Args:
        checkpoint: the checkpoint, or the folder of a training run.
        model: the exported model.
        positions: decisions to compare.
        seed: of the games they are taken from.
        progress: called with the number of decisions that have been compared since the last call.

    Raises:
        CheckpointError: if one of the files cannot be used.
        ValueError: if `positions` is no number of decisions.
    """
    network, description = load_checkpoint(network_path(str(checkpoint)))
    return _compare(network, description, OnnxModel(model), positions, seed, progress)


def _model(network: Network, description: dict[str, Any]) -> onnx.ModelProto:
    """Return a network as a model, valid in its form."""
    at = feature_offsets(network.game, network.config.ahead)
    example = (
        torch.zeros((2, MAX_SEATS - 1, int(at.seat[-1])), dtype=torch.int8),
        torch.zeros((2, int(at.table[-1])), dtype=torch.int8),
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
    assessor = TorchModel(network)
    entries = {
        DESCRIPTION_KEY: json.dumps(description),
        PREFERENCE_KEY: json.dumps({"sharpness": assessor.sharpness, "group": assessor.group.tolist()}),
    }
    onnx.helper.set_model_props(model, entries)
    onnx.checker.check_model(model, full_check=True)
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to itself what the exporter says of PyTorch's own code and of packages that are not there."""
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
    """Take out which line of which file every operator comes from: it names folders of the machine."""
    graph = model.graph
    for part in (graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def _compare(
    network: Network,
    description: dict[str, Any],
    model: InferenceModel,
    positions: int,
    seed: int,
    progress: Callable[[int], None] | None,
) -> Agreement:
    Node(positions, UserError, "positions").integer(1)
    config = config_from_dict(description["game"])
    original, writer = TorchModel(network), AfterstateEncoder(config, ahead=network.config.ahead)
    decisions, differ, ties, largest = 0, 0, 0, 0.0
    for observation, mask in _decisions(config, positions, seed):
        inputs = writer.write(observation, mask)
        expected, found = (choice_log_probs(inputs, x(inputs.seats, inputs.table), x) for x in (original, model))
        best, chosen = _favourites(expected, inputs.first), _favourites(found, inputs.first)
        worse = expected[best] - expected[chosen] >= TIE
        differ += int(worse.sum())
        ties += int(((best != chosen) & ~worse).sum())
        largest = float(np.maximum(largest, np.abs(expected - found).max()))  # no number stays no number
        decisions += len(inputs)
        if progress is not None:
            progress(len(inputs))
    return Agreement(decisions, differ, ties, largest)


def _favourites(log_probs: npt.NDArray[np.float64], first: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the preferred choice per decision, int64 (B,), the first of equals; see `net.choices.AfterstateBatch`."""
    spans = zip(first[:-1].tolist(), first[1:].tolist(), strict=True)
    return np.array([begin + int(log_probs[begin:end].argmax()) for begin, end in spans])


def _decisions(config: Any, count: int, seed: int) -> Iterator[tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]]:
    """Yield decisions with more than one choice, observations int8 (B, F) and masks int8 (B, A), `count` in all."""
    spec = spec_of(config)
    drawn = {"covered": (0, 5), "denied": (0, 3), "dry_roads": (False, True)}
    episodes = spec.episodes(
        num_players=(2, 3, 4), **{name: drawn[name] for name in drawn if name in spec.setup_fields}
    )
    env = GameVectorEnv(_GAMES, config, autoreset_mode="SameStep", episodes=episodes)
    obs, _ = env.reset(seed=seed)
    player, words = HeuristicPlayer(config), np.zeros(_GAMES, np.uint64)  # it leaves nothing to chance
    while count:
        observation, mask = obs["observation"], obs["action_mask"]
        rows = np.flatnonzero(mask.sum(axis=1, dtype=np.int64) > 1)[:count]
        if len(rows):
            yield observation[rows], mask[rows]
        count -= len(rows)
        obs, *_ = env.step(player.act(observation, mask, words))
    env.close()
