"""Where a training run stands, in one file: arrays and a description, nothing that could be executed.

The file is a safetensors file, written under a temporary name and renamed: whoever is stopped while writing leaves
what was there before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.extras import needs
from helsinki_env.files import replacing

with needs("train"):
    import torch
    from safetensors import SafetensorError, safe_open
    from safetensors.numpy import save
    from torch import nn

__all__ = ["StateError", "load_module", "load_optimiser", "module_arrays", "optimiser_arrays", "read", "write"]

Arrays = dict[str, npt.NDArray[Any]]


class StateError(ValueError):
    """A saved state that cannot be used; the message names the file and the reason."""


def write(path: Path, arrays: Mapping[str, npt.NDArray[Any]], description: Mapping[str, Any]) -> None:
    """Write arrays (records as bytes) and a description to a file, see `replacing`."""
    plain = {
        name: np.require(array.view(np.uint8) if array.dtype.names else array, requirements="C")
        for name, array in arrays.items()
    }
    data = save(plain, {"run": json.dumps(description)})
    with replacing(path) as file:
        file.write(data)


def read(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Return what `write` wrote; records come back as bytes.

    Raises:
        StateError: if the file is missing, broken or something else.
    """
    try:
        with safe_open(path, framework="np") as file:
            description = json.loads((file.metadata() or {})["run"])
            return {name: file.get_tensor(name) for name in file.keys()}, description  # noqa: SIM118  # no mapping
    except (SafetensorError, OSError, KeyError, ValueError) as problem:
        raise StateError(
            f"{path}: not the state of a training run ({problem}); begin anew in another folder (--out)"
        ) from None


def module_arrays(name: str, module: nn.Module) -> Arrays:
    """Return the weights of a module, by name."""
    return {f"{name}.{key}": value.detach().cpu().numpy().copy() for key, value in module.state_dict().items()}


def load_module(name: str, module: nn.Module, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Bring back the weights of a module."""
    module.load_state_dict({key: torch.from_numpy(arrays[f"{name}.{key}"].copy()) for key in module.state_dict()})


def optimiser_arrays(name: str, optimiser: torch.optim.Optimizer) -> Arrays:
    """Return what an optimiser remembers, by number of the parameter."""
    state = optimiser.state_dict()["state"]
    return {
        f"{name}.{number}.{key}": torch.as_tensor(value).cpu().numpy().copy()
        for number, remembered in state.items()
        for key, value in remembered.items()
    }


def load_optimiser(name: str, optimiser: torch.optim.Optimizer, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Bring back what an optimiser remembers."""
    remembered: dict[int, dict[str, torch.Tensor]] = {}
    for key, array in arrays.items():
        if key.startswith(f"{name}."):
            number, item = key.removeprefix(f"{name}.").split(".", 1)
            remembered.setdefault(int(number), {})[item] = torch.from_numpy(array.copy())
    optimiser.load_state_dict({"state": remembered, "param_groups": optimiser.state_dict()["param_groups"]})
