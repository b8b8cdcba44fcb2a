"""Game options on the setup page: those that the game declares (`GameSpec.setup_options`), and its component file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from helsinki_env.data import Node, choices_text, short_repr
from helsinki_env.engine.configuration import ConfigError
from helsinki_env.engine.spec import GameSpec, spec_by_name
from helsinki_env.utils.yaml_files import list_yaml

__all__ = ["chosen_options", "labels_of", "offered_options"]

_COMPONENTS = "components"


@lru_cache(maxsize=8)
def _files_of(game: str) -> tuple[str, ...]:
    spec = spec_by_name(game)
    usual = spec.config().components
    return (usual, *(name for name in list_yaml(_COMPONENTS) if name != usual and _fits(spec, name)))


def _component_files(spec: GameSpec) -> tuple[str, ...]:
    """Return the names of the game's bundled component files, that of the published game first."""
    return _files_of(spec.name)


def _fits(spec: GameSpec, name: str) -> bool:
    try:
        spec.config(components=name)
    except ValueError:  # a component file of another game
        return False
    return True


def offered_options(spec: GameSpec) -> list[dict[str, Any]]:
    """Return the options as plain data: a switch, a selection of several choices, or a selection of one."""
    files = _component_files(spec)
    offered = [setup.to_dict() for setup in spec.setup_options]
    if len(files) > 1:
        says = "What is printed on tiles, cards and boards."
        offered.append(
            {"name": _COMPONENTS, "label": "Component file", "says": says, "type": "one", "choices": list(files)}
        )
    return offered


def chosen_options(spec: GameSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration arguments for the chosen options; ValueError for an option that is not offered."""
    setups = {setup.name: setup for setup in spec.setup_options}
    known = [option["name"] for option in offered_options(spec)]
    chosen: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"options: found {short_repr(key)}, expected {choices_text(known, key) or 'none'}")
        if key in setups:
            chosen |= setups[key].config_values(value)
        else:
            chosen[key] = Node(value, ConfigError, key).choice(_component_files(spec))
    return chosen


def labels_of(spec: GameSpec, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the labels of the chosen options."""
    labels = [setup.label for setup in spec.setup_options if given.get(setup.name)]
    file = given.get(_COMPONENTS, _component_files(spec)[0])
    return (*labels, *([f"component file {file}"] if file != _component_files(spec)[0] else []))
