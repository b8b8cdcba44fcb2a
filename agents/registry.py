"""Players by name, as they are written on a command line: ``random``, ``heuristic``, ``mc:200``, ``net:runs/best``.

A player of one's own gets a name by an entry point of the group ``helsinki.players`` in the package that brings it:

    [project.entry-points."helsinki.players"]
    mine = "my_package.players:make"

where ``make(argument: str, config)`` returns the player; the argument is what follows the colon, and the configuration
says which game it shall play.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agents.base import Player
from helsinki_env import GameConfig
from helsinki_env.data import one_of, shown
from helsinki_env.engine.spec import spec_of

__all__ = ["GROUP", "PlayerError", "make_player", "player_files", "player_names"]

GROUP = "helsinki.players"
"""The group of entry points by which packages bring players."""

#: More trials than anybody will wait for.
MOST_TRIALS = 1_000_000
#: Where the project's own players are made. By name, imported when asked for: PyTorch takes seconds.
_OWN = {
    "random": "agents.registry:_make_random",
    "greedy": "agents.registry:_make_greedy",
    "heuristic": "agents.registry:_make_heuristic",
    "mc": "agents.registry:_make_flat",
    "ismcts": "agents.registry:_make_tree",
    "net": "agents.net.make:make",
    "net+search": "agents.net.make:make_with_search",
    "forced": "agents.registry:_make_forced",
}


class PlayerError(ValueError):
    """A player that cannot be made; the message says which names there are."""


def _make_random(argument: str, config: Any) -> Player:
    from agents.random import RandomPlayer

    _no_argument("random", argument)
    return RandomPlayer()


def _make_greedy(argument: str, config: Any) -> Player:
    _no_argument("greedy", argument)
    player: Player = _of_game("greedy", config).GreedyPlayer(config)
    return player


def _of_game(name: str, config: Any) -> Any:
    """Return the module of a player that only the game of a configuration can have."""
    game = spec_of(config).name
    module = f"agents.{game}.{name}"
    if find_spec(f"agents.{game}") is None or find_spec(module) is None:
        raise PlayerError(f"player {name!r}: there is none for the game {game}")
    return import_module(module)


def _make_heuristic(argument: str, config: Any) -> Player:
    from agents.heuristic.player import HeuristicPlayer

    _no_argument("heuristic", argument)
    return HeuristicPlayer(config)


def _make_flat(argument: str, config: Any) -> Player:
    from agents.search.player import FlatPlayer

    return FlatPlayer(_budget("mc", argument), config)


def _make_tree(argument: str, config: Any) -> Player:
    from agents.search.player import TreePlayer

    return TreePlayer(_budget("ismcts", argument), config)


def _make_forced(argument: str, config: Any) -> Player:
    player: Player = _of_game("forced", config).make(argument, config)
    return player


def _budget(name: str, argument: str) -> int:
    trials = as_trials(argument)
    if trials is None:
        raise PlayerError(
            f"player {shown(name + ':' + argument)}: found the budget {shown(argument)}, expected a whole number from "
            f"1 to {MOST_TRIALS:,} of games tried for each decision, such as {name}:200"
        )
    return trials


def as_trials(text: str) -> int | None:
    """Return a number of trials that is written in digits; None if it is none that anybody would wait for."""
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(MOST_TRIALS))
    return int(text) if digits and 1 <= int(text) <= MOST_TRIALS else None


def _no_argument(name: str, argument: str) -> None:
    if argument:
        raise PlayerError(f"player {shown(name + ':' + argument)}: {name} takes nothing after a colon")


def _third_party() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in _OWN}


def player_names() -> list[str]:
    """Return the names of all players, the project's own first."""
    return [*_OWN, *sorted(_third_party())]


def make_player(spec: str, config: Any = None) -> Player:
    """Return the player that ``name`` or ``name:argument`` stands for.

    Args:
        spec: such as ``"random"``, ``"heuristic"``, ``"ismcts:400"`` or ``"net:runs/best"`` (a trained checkpoint).
        config: the games it shall play; default: two players, nothing covered.

    Raises:
        PlayerError: if there is no such name, or the player cannot be made from the argument.
        MissingExtraError: if it needs a package that is not installed, such as PyTorch.
    """
    if not isinstance(spec, str) or not spec.strip():
        raise PlayerError(f"player: found {shown(spec)}, expected a name: {', '.join(player_names())}")
    name, _, argument = spec.strip().partition(":")
    player = _factory(name)(argument, config or GameConfig())
    if not isinstance(player, Player):
        raise PlayerError(
            f"player {shown(spec)}: {type(player).__name__} has no name or no act(observation, mask, words)"
        )
    return player


def player_files(spec: str, config: Any = None) -> tuple[Path, ...]:
    """Return the files that a player is read from: who plays under a name depends on what is in them."""
    name, _, argument = spec.strip().partition(":")
    if name == "forced":
        return player_files(argument.partition(":")[2], config)
    if name not in ("net", "net+search"):
        return ()
    from agents.net.make import network_path

    return (network_path(argument.partition(":")[2] if name == "net+search" else argument, config),)


def _factory(name: str) -> Callable[[str, Any], Any]:
    if name in _OWN:
        module, _, attribute = _OWN[name].partition(":")
        found: Callable[[str, Any], Any] = getattr(import_module(module), attribute)
        return found
    third_party = _third_party()
    if name in third_party:
        try:
            loaded: Callable[[str, Any], Any] = third_party[name].load()
        except (ImportError, AttributeError) as problem:
            raise PlayerError(f"player {name!r}: {third_party[name].value} cannot be loaded: {problem}") from problem
        return loaded
    raise PlayerError(f"player {shown(name)}: there is no such player; expected {one_of(player_names(), name)}")
