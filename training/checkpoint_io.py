"""Save and load the state of a training run, which consists of arrays and a description without executable content.

The state is a safetensors file. It is written to a temporary file and then renamed, so an interrupted write leaves the
previous file intact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.net.description import arrays_digest
from helsinki_env.data import Node, UserError, parse_json
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write

with requires_extra("train"):
    import torch
    from safetensors import SafetensorError, safe_open
    from safetensors.numpy import save
    from torch import nn

Arrays = dict[str, npt.NDArray[Any]]

_REMEDY = "start a new run in another folder (--out)"


class StateError(UserError):
    """An invalid saved state; the message names the file and the reason."""


def write_state(path: Path, arrays: Mapping[str, npt.NDArray[Any]], description: Mapping[str, Any]) -> None:
    """Write arrays (structured arrays as bytes) and a description to a file; see `atomic_write`."""
    plain = {
        name: np.require(array.view(np.uint8) if array.dtype.names else array, requirements="C")
        for name, array in arrays.items()
    }
    data = save(plain, {"run": json.dumps({**description, "digest": arrays_digest(plain)})})
    with atomic_write(path) as file:
        file.write(data)


def read_state(path: Path) -> tuple[Arrays, Node]:
    """Read a file written by `write_state`, with structured arrays as bytes; raise StateError if it is invalid."""
    try:
        with safe_open(path, framework="np") as file:
            text = (file.metadata() or {}).get("run", "")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        description = parse_json(text, StateError, what="its description").mapping()
        if description["digest"].value != arrays_digest(arrays):
            description["digest"].fail("the digest of the arrays: they were changed or damaged")
    except (SafetensorError, OSError, ValueError) as problem:
        raise StateError(f"{path}: not the state of a training run ({problem}); {_REMEDY}") from None
    description.value = {key: value for key, value in description.value.items() if key != "digest"}
    return arrays, description


def state_array(arrays: Mapping[str, npt.NDArray[Any]], name: str, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of a state with the dtype and shape of `like`; raise StateError if it does not match."""
    array = arrays.get(name)
    stored = np.dtype(np.uint8) if like.dtype.names else like.dtype
    if array is None or array.dtype not in (stored, like.dtype) or array.nbytes != like.nbytes:
        shown = "nothing" if array is None else f"{array.dtype} of shape {array.shape}"
        raise StateError(f"{name}: found {shown}, expected {like.nbytes:,} bytes of {stored} for shape {like.shape}")
    return array.view(like.dtype).reshape(like.shape)


def check_curve(curve: Node) -> list[dict[str, Any]]:
    """Validate and return the learning curve of a run; raise the error class of the node if it is invalid."""
    for entry in curve.entries("measurements"):
        for count in ("positions", "decisions"):
            entry[count].integer(0)
        for result in entry["results"].entries("results", least=1):
            result["players"].integer(2, 4)
            result["opponent"].text("a player")
            result["games"].integer(1)
            for share in ("share", "low", "high"):
                result[share].number(0, 1)
    measured: list[dict[str, Any]] = curve.value
    return measured


@dataclass
class RunState:
    """Progress and evaluation results of a run, saved as part of its state."""

    part: str = "pretraining"
    measured: int = 0
    best_at: int = 0
    selected: bool = False  # whether the best network of a finished best response is known
    halving: list[float] = field(default_factory=list)  # results of the selection so far, in the order of its matches
    past: list[tuple[str, int]] = field(default_factory=list)
    curve: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        """Validate all values."""
        data = Node(vars(self), UserError)
        data["part"].choice(("pretraining", "ppo"))
        data["seconds"].number(0)
        data["selected"].boolean()
        for rate in data["halving"].entries("win rates"):
            rate.number(0)
        count = len(check_curve(data["curve"]))
        data["measured"].integer(count, count)
        data["best_at"].integer(0, max(0, count - 1))
        past = [one.entries("file and rollout", length=2) for one in data["past"].entries("past selves")]
        self.past = [
            (name.choice([f"{i:04d}.safetensors" for i in range(count)]), since.integer(0)) for name, since in past
        ]


def module_arrays(name: str, module: nn.Module) -> Arrays:
    """Return copies of the weights of a module as arrays, by name."""
    return {f"{name}.{key}": value.detach().cpu().numpy().copy() for key, value in module.state_dict().items()}


def load_module(name: str, module: nn.Module, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Load the weights of a module; raise StateError if they do not match."""
    own = module.state_dict()
    weights = {key: state_array(arrays, f"{name}.{key}", value.cpu().numpy()) for key, value in own.items()}
    module.load_state_dict({key: torch.from_numpy(array.copy()) for key, array in weights.items()})


def optimizer_arrays(name: str, optimizer: torch.optim.Optimizer) -> Arrays:
    """Return the state of an optimizer as arrays, named by parameter index and entry."""
    state = optimizer.state_dict()["state"]
    return {
        f"{name}.{number}.{key}": torch.as_tensor(value).cpu().numpy().copy()
        for number, values in state.items()
        for key, value in values.items()
    }


def load_optimizer(name: str, optimizer: torch.optim.Optimizer, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Load the state of an optimizer; raise StateError if it does not match."""
    weights = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    states: dict[int, dict[str, torch.Tensor]] = {}
    for key in arrays:
        if not key.startswith(f"{name}."):
            continue
        number, _, item = key.removeprefix(f"{name}.").partition(".")
        if not number.isdecimal() or int(number) >= len(weights) or item not in ("step", "exp_avg", "exp_avg_sq"):
            raise StateError(f"{key}: found an unexpected entry, expected the optimizer state of this run")
        like = np.zeros((), np.float32) if item == "step" else weights[int(number)].detach().cpu().numpy()
        states.setdefault(int(number), {})[item] = torch.from_numpy(state_array(arrays, key, like).copy())
    # Weights that were never updated have no state: supervised pretraining leaves some weights unchanged.
    if any(len(items) != 3 for items in states.values()):
        raise StateError(f"{name}: found an incomplete optimizer state, expected step, exp_avg and exp_avg_sq")
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})
