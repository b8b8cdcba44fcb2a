"""Modules that need not exist, such as the players that are specific to a game."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def import_if_exists(name: str) -> ModuleType | None:
    """Import a module, or return None if it or its package does not exist."""
    package = name.rpartition(".")[0]
    if (package and import_if_exists(package) is None) or find_spec(name) is None:
        return None
    return import_module(name)
