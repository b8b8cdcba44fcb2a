"""The versions that a measurement on a graphics card depends on."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import torch

from helsinki_env.machine import processors

_PACKAGES = ("numpy", "numba", "numba-cuda", "torch", "triton")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def main() -> None:
    """Print Python, packages, processors and card."""
    print(f"Python {sys.version.split()[0]}, {platform.platform()}, {processors()} processors")
    for package in _PACKAGES:
        print(package, _version(package))
    print(torch.cuda.get_device_name() if torch.cuda.is_available() else "no graphics card")


if __name__ == "__main__":
    main()
