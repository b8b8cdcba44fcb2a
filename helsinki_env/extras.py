"""What is optional: which extra brings what a command needs, and the error that names it where something is missing.

Modules that use an optional package import it under `needs`:

    with needs("train"):
        import torch
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

__all__ = ["EXTRAS", "Extra", "MissingExtraError", "install_line", "needs"]


class Extra(NamedTuple):
    """What an extra brings, and for what; both as Markdown, for the tables of the documentation."""

    brings: str
    uses: str


#: The extras of pyproject.toml. Each is enough for its uses in an environment that has nothing else.
EXTRAS = {
    "train": Extra(
        "PyTorch, safetensors, TensorBoard, Matplotlib", "`helsinki train`; players `net`, `net+search:N`, `plain:PATH`"
    ),
    "cuda": Extra("`train`, numba-cuda, NVIDIA's compilers", 'games in tensors on a graphics card: `device="cuda"`'),
    "play": Extra("`train`, SciPy, FastAPI, pydantic, Uvicorn, websockets", "`helsinki play`: the game in a browser"),
    "export": Extra("`train`, ONNX, ONNX Script, ONNX Runtime", "`helsinki export`"),
    "onnx": Extra("ONNX Runtime", "players `net:MODEL.onnx`, `net+search:N:MODEL.onnx`, without PyTorch"),
    "arena": Extra(
        "PyArrow, SciPy, Matplotlib",
        "`helsinki arena` as Parquet, `rate`, `ladder`, `balance`; with `train` also `evaluate`, `balance retrain`, "
        "and whatever plays `net`",
    ),
    "ray": Extra("`arena`, Ray", "`--ray` of `helsinki arena` and `balance`; with `train` also of `evaluate`"),
    "render": Extra("resvg, Pillow", 'pictures as pixels: `helsinki replay --png`, `render_mode="rgb_array"`'),
    "tune": Extra("cma", "`python -m agents.heuristic.tune`"),
    "sb3": Extra("`train`, Stable-Baselines3, sb3-contrib", "`python -m training.sb3`, `python -m training.bench`"),
    "notebooks": Extra("`export`, `arena`, JupyterLab", "the notebooks"),
    "docs": Extra("MkDocs with Material, mkdocstrings", "this documentation as a site"),
    "all": Extra("`export`, `play`, `ray`, `render`, `tune`, `sb3`", "every command"),
    "dev": Extra("`all`, `notebooks`, `docs`, pytest, mypy, Ruff", "working on the project"),
}

#: Where the package is: the folder of a clone, or one of installed packages.
_FOLDER = Path(__file__).resolve().parent.parent
#: Top-level packages of this project: if one of their modules is missing, no extra brings it.
_OWN = ("agents", "helsinki_env", "training")


class MissingExtraError(ImportError):
    """A package is not installed; the message names the extra that brings it, and how to install that here."""


def install_line(extra: str) -> str:
    """Return the command that installs an extra: in the clone that the package runs from, or beside a wheel of it."""
    if all((_FOLDER / name).is_file() for name in ("constraints.txt", "pyproject.toml")):
        return f'pip install -c constraints.txt -e ".[{extra}]"'
    return f'pip install "helsinki-env[{extra}]"'


@contextmanager
def needs(extra: str, *, program: bool = False) -> Iterator[None]:
    """Say which extra is missing if an import of the block finds no module.

    Blocks may lie within each other: the outermost one knows what the user asked for, and names its extra.

    Args:
        extra: a key of `EXTRAS`.
        program: whether the module was started by ``python -m``, where nobody is there to catch the error: it becomes
            one line and the exit status 2.

    Raises:
        MissingExtraError: if a module of another project is missing.
        SystemExit: the same for a program.
    """
    try:
        yield
    except (ModuleNotFoundError, MissingExtraError) as problem:
        module = (problem.name or "").partition(".")[0]
        if module in _OWN:
            raise
        text = f"the module {module} is missing, which the extra {extra!r} brings: {install_line(extra)}"
        if not program:
            raise MissingExtraError(text, name=module) from problem
        print(text, file=sys.stderr)
        raise SystemExit(2) from None
