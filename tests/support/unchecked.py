"""Games from positions that cannot be played, for drawings and for hand-made positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helsinki_env.games.copenhagen import position as copenhagen
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.helsinki import position as helsinki
from helsinki_env.games.helsinki.config import HelsinkiConfig

KINDS: dict[str, tuple[Any, type[Any]]] = {
    "helsinki": (helsinki.read_game, HelsinkiConfig),
    "copenhagen": (copenhagen.read_game, CopenhagenConfig),
}


def unchecked(position: Mapping[str, Any], components: Any = None) -> Any:
    """Return the game of a position with valid values, with its own or other component facts."""
    read, kind = KINDS[position["game"]]
    config = None
    if components is not None:
        options = {key: position[key] for key in ("covered", "denied", "dry_roads") if key in position}
        name = position["components"]
        config = kind(num_players=position["players"], components=name, _loaded=(name, components), **options)
    return read(position, config)
