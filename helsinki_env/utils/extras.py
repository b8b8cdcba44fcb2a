"""Optional dependencies: the extras, and the error raised if one is missing.

Modules import optional packages inside `requires_extra`:

    with requires_extra("train"):
        import torch
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Extra(NamedTuple):
    """The packages and purpose of an extra, as Markdown for the tables in the documentation."""

    provides: str
    uses: str


#: The extras defined in pyproject.toml. Each extra is sufficient for its purpose in an otherwise empty environment.
EXTRAS = {
    "train": Extra(
        "PyTorch, safetensors, TensorBoard, Matplotlib",
        "`helsinki train`; players `net:RUN`, `net+search:N:RUN`, `mlp:FOLDER`",
    ),
    "cuda": Extra("`train`, numba-cuda, NVIDIA's compilers", 'tensor environments on an NVIDIA GPU: `device="cuda"`'),
    "play": Extra("`onnx`, SciPy, FastAPI, pydantic, Uvicorn, websockets", "`helsinki play`: the game in a browser"),
    "export": Extra("`train`, ONNX, ONNX Script, ONNX Runtime", "`helsinki export`"),
    "onnx": Extra("ONNX Runtime", "players `net`, `net+search:N`, `net:MODEL.onnx`, without PyTorch"),
    "stats": Extra(
        "PyArrow, SciPy, Matplotlib",
        "`helsinki arena` as Parquet, `rate`, `ladder`, `balance`, `dataset`; with `train` also `evaluate`, "
        "`balance retrain`",
    ),
    "ray": Extra("`stats`, Ray", "`--ray` of `helsinki arena` and `balance`; with `train` also of `evaluate`"),
    "render": Extra("resvg, Pillow", 'raster images: `helsinki replay --png`, `render_mode="rgb_array"`'),
    "cma": Extra("cma", "`python -m helsinki_env.training.tune_heuristic`"),
    "mcp": Extra("`play`, the SDK of the Model Context Protocol", "`helsinki mcp`: assistants play at your tables"),
    "openenv": Extra(
        "`onnx`, OpenEnv; not together with `mcp`", "`helsinki_env.openenv`: both games as OpenEnv environments"
    ),
    "openspiel": Extra(
        "OpenSpiel",
        "`import helsinki_env.openspiel`: both games as OpenSpiel games; with `stats` also `helsinki rate --payoff`",
    ),
    "minari": Extra("`stats`, Minari, h5py", "`helsinki dataset --minari`"),
    "sb3": Extra(
        "`train`, Stable-Baselines3, sb3-contrib",
        "`python -m helsinki_env.training.sb3`, in a clone `python benchmarks/training_speed.py`",
    ),
    "notebooks": Extra("`export`, `stats`, JupyterLab", "the notebooks"),
    "docs": Extra("MkDocs with Material, mkdocstrings", "this documentation as a site"),
    "all": Extra(
        "`export`, `play`, `mcp`, `ray`, `render`, `cma`, `sb3`",
        "every command, except `rate --payoff` and `dataset --minari`",
    ),
    "dev": Extra("`all`, `notebooks`, `docs`, `openspiel`, `minari`, pytest, mypy, Ruff", "working on the project"),
}

#: Parent folder of the package: a repository clone, or a folder of installed packages.
_FOLDER = Path(__file__).resolve().parents[2]


class MissingExtraError(ImportError):
    """Raised if an optional package is missing. The message states the extra to install and the command."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra, either from the current clone or for the installed wheel."""
    if all((_FOLDER / name).is_file() for name in ("constraints.txt", "pyproject.toml")):
        return f'{_pip()} install -c constraints.txt -e ".[{extra}]"'
    return f'{_pip()} install "helsinki-env[{extra}]"'


def _pip() -> str:
    """Return the command that runs pip for this Python. If its environment is not activated, `pip` is another one."""
    found = shutil.which("pip")
    folder = Path(sys.executable).parent
    return "pip" if found and Path(found).parent == folder else f"{shlex.quote(sys.executable)} -m pip"


@contextmanager
def requires_extra(extra: str, *, program: bool = False) -> Iterator[None]:
    """Raise MissingExtraError if an import in the block does not find a module.

    The extra is a key of `EXTRAS`. In nested blocks, the extra of the outermost block is reported, because it matches
    the user's request. With `program`, for modules started with ``python -m``, print one line and exit with status 2
    instead.
    """
    try:
        yield
    except (ModuleNotFoundError, MissingExtraError) as problem:
        module = (problem.name or "").partition(".")[0]
        if module == "helsinki_env":
            raise
        text = f"the module {module} is missing; the extra {extra!r} provides it: {install_command(extra)}"
        if not program:
            raise MissingExtraError(text, name=module) from problem
        print(text, file=sys.stderr)
        raise SystemExit(2) from None
