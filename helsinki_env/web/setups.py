"""Settings for tables and tournaments: game options, component files, opponents and difficulty levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from helsinki_env.data import Node, choices_text, short_repr
from helsinki_env.engine.configuration import ConfigError
from helsinki_env.engine.spec import GameSpec, default_spec, game_names, spec_by_name
from helsinki_env.utils.modules import import_if_exists
from helsinki_env.utils.yaml_files import list_yaml

_COMPONENTS = "components"
_OTHER_PLAYERS = ("random", "mc:100", "mc:400", "ismcts:100", "ismcts:400", "net+search:20", "net+search:400")


class Level(NamedTuple):
    """The difficulty level of an opponent."""

    player: str  # player name
    label: str  # one word
    says: str  # description of the player's strength


def levels_of(spec: GameSpec) -> tuple[Level, ...]:
    """Return the levels defined by a game's agents package (`LEVELS`), or a random player if there are none."""
    levels = getattr(import_if_exists(f"helsinki_env.agents.{spec.name}"), "LEVELS", ())
    return tuple(Level(*level) for level in levels) or (Level("random", "Chance", "chooses at random"),)


def offered_players(spec: GameSpec, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the players to offer: the players of the levels, players for any game, and `more`."""
    return tuple(dict.fromkeys((*(level.player for level in levels_of(spec)), *_OTHER_PLAYERS, *more)))


def browser_games() -> list[GameSpec]:
    """Return the games that can be played in a browser, with the default game first."""
    specs = [spec for spec in map(spec_by_name, game_names()) if spec.list_ui_actions is not None]
    return sorted(specs, key=lambda spec: not spec.is_default)


def browser_game(name: str) -> GameSpec:
    """Return a game by name (empty for the default game); raise ValueError if it cannot be played in a browser."""
    spec = spec_by_name(name or default_spec().name)
    if spec.list_ui_actions is None:
        raise ValueError(f"game: {spec.name} cannot be played in a browser")
    return spec


@lru_cache(maxsize=8)
def _component_files(game: str) -> tuple[str, ...]:
    """Return the names of the game's bundled component files, with the published game first."""
    spec = spec_by_name(game)
    default = spec.config().components
    return (default, *(name for name in list_yaml(_COMPONENTS) if name != default and _fits(spec, name)))


def _fits(spec: GameSpec, name: str) -> bool:
    try:
        spec.config(components=name)
    except ValueError:  # a component file for another game
        return False
    return True


def offered_options(spec: GameSpec) -> list[dict[str, Any]]:
    """Return the options as dicts: `GameSpec.setup_options`, and the component file if there are several."""
    files = _component_files(spec.name)
    offered = [setup.to_dict() for setup in spec.setup_options]
    if len(files) > 1:
        says = "Defines the printed values of tiles, cards and boards."
        offered.append(
            {"name": _COMPONENTS, "label": "Component file", "says": says, "type": "one", "choices": list(files)}
        )
    return offered


def chosen_options(spec: GameSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration arguments for the chosen options; raise ValueError if an option is not offered."""
    setups = {setup.name: setup for setup in spec.setup_options}
    known = [option["name"] for option in offered_options(spec)]
    chosen: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"options: found {short_repr(key)}, expected {choices_text(known, key) or 'none'}")
        if key in setups:
            chosen |= setups[key].config_values(value)
        else:
            chosen[key] = Node(value, ConfigError, key).choice(_component_files(spec.name))
    return chosen


def labels_of(spec: GameSpec, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the labels of the chosen options."""
    labels = [setup.label for setup in spec.setup_options if given.get(setup.name)]
    default = _component_files(spec.name)[0]
    file = given.get(_COMPONENTS, default)
    return (*labels, *([f"component file {file}"] if file != default else []))
