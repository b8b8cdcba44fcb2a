"""Create players by name, as written on a command line: ``random``, ``heuristic``, ``mc:200``, ``net:runs/best``.

A package registers its own player with an entry point in the group ``helsinki.players``:

    [project.entry-points."helsinki.players"]
    mine = "my_package.players:make"

``make(argument: str, config)`` returns the player, given the text after the colon and the game configuration. Without a
package, use ``my_module:make:ARGUMENT`` or ``my_module:Player:ARGUMENT``. The attribute is such a function, a player,
or a player class, whose constructor gets the argument if there is one. The module must be importable or in the working
directory.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from os import getcwd
from pathlib import Path
from typing import Any

from helsinki_env.agents.base import Player, PlayerError, converted_player_errors
from helsinki_env.data import choices_text, short_repr, shorten
from helsinki_env.engine.spec import default_config, spec_of
from helsinki_env.utils.files import is_file
from helsinki_env.utils.modules import import_if_exists

__all__ = ["ENTRY_POINT_GROUP", "PlayerError", "check_code", "files_digest", "innermost_name", "is_code", "make_player",
           "player_files", "player_names", "unknown_player", "wrapper_names"]  # fmt: skip

ENTRY_POINT_GROUP = "helsinki.players"
"""The entry point group of packages that provide players."""

#: Maximum number of simulations per action.
MAX_SIMULATIONS = 1_000_000
#: Factories of the built-in players, imported on first use because importing PyTorch takes seconds.
_OWN = {
    "random": "helsinki_env.agents.registry:_make_random",
    "greedy": "helsinki_env.agents.registry:_make_greedy",
    "heuristic": "helsinki_env.agents.registry:_make_heuristic",
    "mc": "helsinki_env.agents.registry:_make_flat",
    "ismcts": "helsinki_env.agents.registry:_make_tree",
    "net": "helsinki_env.agents.net.make:make_net_player",
    "net+search": "helsinki_env.agents.net.make:make_net_search_player",
    "mlp": "helsinki_env.agents.mlp.player:make_mlp_player",
    "forced": "helsinki_env.agents.registry:_make_forced",
    "counted": "helsinki_env.agents.replaced_actions:make_counted_player",
    "program": "helsinki_env.agents.program.player:make",
    "llm": "helsinki_env.agents.llm.player:make",
    "epsilon": "helsinki_env.agents.random:make_epsilon_player",
    "response": "helsinki_env.agents.net.make:make_response_player",
}


_RUNS_CODE = "runs code on this machine"
#: Built-in players that third-party files must not select without the user's consent, each with the reason.
_GUARDED = {"program": _RUNS_CODE, "llm": "calls a language model at your expense"}
#: Number of words before the inner player's name in wrappers, such as ``forced:ACTION:PLAYER``.
_WRAPPING = {"forced": 2, "counted": 1, "epsilon": 2, "response": 2}
#: Maximum depth of nested wrappers.
_MAX_WRAPPING = 16


def _make_random(argument: str, config: Any) -> Player:
    from helsinki_env.agents.random import RandomPlayer

    _no_argument("random", argument)
    return RandomPlayer()


def _make_greedy(argument: str, config: Any) -> Player:
    _no_argument("greedy", argument)
    player: Player = _game_module("greedy", config).GreedyPlayer(config)
    return player


def _game_module(name: str, config: Any) -> Any:
    """Import a player's module for the configuration's game."""
    game = spec_of(config).name
    module = import_if_exists(f"helsinki_env.agents.{game}.{name}")
    if module is None:
        raise PlayerError(f"player {name!r}: found none for the game {game}, expected a player of any game")
    return module


def _make_heuristic(argument: str, config: Any) -> Player:
    from helsinki_env.agents.heuristic import HeuristicPlayer

    _no_argument("heuristic", argument)
    return HeuristicPlayer(config)


def _make_flat(argument: str, config: Any) -> Player:
    from helsinki_env.agents.search.player import FlatPlayer

    return FlatPlayer(_budget("mc", argument), config)


def _make_tree(argument: str, config: Any) -> Player:
    from helsinki_env.agents.search.player import TreePlayer

    return TreePlayer(_budget("ismcts", argument), config)


def _make_forced(argument: str, config: Any) -> Player:
    player: Player = _game_module("forced", config).make_forced_player(argument, config)
    return player


def _budget(name: str, argument: str) -> int:
    simulations = parse_simulations(argument)
    if simulations is None:
        raise PlayerError(
            f"player {short_repr(name + ':' + argument)}: found the budget {short_repr(argument)}, expected a whole "
            f"number from 1 to {MAX_SIMULATIONS:,} of simulations per action, such as {name}:200"
        )
    return simulations


def parse_simulations(text: str) -> int | None:
    """Parse a decimal number of simulations; return None if it is invalid or above the limit."""
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_SIMULATIONS))
    return int(text) if digits and 1 <= int(text) <= MAX_SIMULATIONS else None


def _no_argument(name: str, argument: str) -> None:
    if argument:
        raise PlayerError(f"player {short_repr(name + ':' + argument)}: {name} takes no argument after the colon")


def _third_party() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name not in _OWN}


def player_names() -> list[str]:
    """Return the names of all players, built-in players first."""
    return [*_OWN, *sorted(_third_party())]


def make_player(spec: str, config: Any = None) -> Player:
    """Create a player from its spec, ``name`` or ``name:argument``.

    Args:
        spec: player spec, such as ``"random"``, ``"heuristic"``, ``"ismcts:400"``, ``"net:runs/best"`` (a trained
            checkpoint), ``"program:./bot"`` or ``"my_module:Player"``.
        config: game configuration; None uses the default configuration.

    Raises:
        PlayerError: if the name is unknown or the argument is invalid.
        MissingExtraError: if the player needs an optional dependency that is not installed, such as PyTorch.
    """
    if not isinstance(spec, str) or not spec.strip():
        raise PlayerError(f"player: found {short_repr(spec)}, expected a name: {', '.join(player_names())}")
    if any("\ud800" <= letter <= "\udfff" for letter in spec):
        raise PlayerError(f"player {short_repr(spec)}: found bytes that are not UTF-8, expected text")
    if (count := len(wrapper_names(spec))) > _MAX_WRAPPING:
        raise PlayerError(
            f"player {short_repr(spec)}: found {count:,} nested wrappers, expected at most {_MAX_WRAPPING} "
            f"of {', '.join(_WRAPPING)}"
        )
    name, _, argument = spec.strip().partition(":")
    config = config or default_config()
    if name in _OWN:
        player = _factory(name, argument)(argument, config)
    else:
        with converted_player_errors(short_repr(spec.strip()), "cannot be made"):
            player = _factory(name, argument)(argument, config)
    if not isinstance(player, Player):
        raise PlayerError(
            f"player {short_repr(spec)}: found {type(player).__name__}, expected an object with a name and act"
        )
    return player


def is_code(spec: str) -> bool:
    """Return whether a player spec runs code: a program, or an attribute of a module outside a registered package.

    A language model counts as code, because it spends the user's money. Accept such specs only from the user, not from
    third-party files.
    """
    name = innermost_name(spec).partition(":")[0]
    return name in _GUARDED or name not in player_names()


def check_code(players: Iterable[object], file: str | Path, *, trust: bool) -> None:
    """Check, before players are created, that a file references no code that the user has not allowed to run.

    Args:
        players: player specs in the file.
        file: path of the file.
        trust: whether the user has allowed the code to run.

    Raises:
        PlayerError: if a spec runs code without permission; the message names the file, the player and the option that
            allows it.
    """
    for player in players:
        if trust or not isinstance(player, str) or not is_code(player):
            continue
        name, _, argument = innermost_name(player).partition(":")
        # Look up only the first part of a module's name: looking up `a.b` imports `a`.
        if name in _GUARDED or (argument and _find_module(name.partition(".")[0]) is not None):
            does = _GUARDED.get(name, _RUNS_CODE)
            raise PlayerError(
                f"{shorten(file)}: found the player {short_repr(player)}, which {does}, "
                "expected players that come with a package "
                "(read the code first; then --trust, or trust=True in Python, runs it)"
            )


def innermost_name(spec: str) -> str:
    """Return the name of the innermost player, without wrappers such as ``counted:``."""
    return _unwrapped(spec)[0]


def wrapper_names(spec: str) -> list[str]:
    """Return the names of a player's wrappers, such as ``counted``, outermost first."""
    return _unwrapped(spec)[1]


def _unwrapped(spec: str) -> tuple[str, list[str]]:
    """Return the name of the innermost player and the names of its wrappers."""
    wrapped, names = spec.strip(), []
    while (name := wrapped.partition(":")[0]) in _WRAPPING:
        wrapped = ":".join(wrapped.split(":", _WRAPPING[name])[_WRAPPING[name] :]).strip()
        names.append(name)
    return wrapped, names


def player_files(spec: str, config: Any = None) -> tuple[Path, ...]:
    """Return the files that a player is loaded from and whose content determines its actions."""
    inner, wrappers = _unwrapped(spec)
    if "response" in wrappers:  # it searches with the bundled network
        return tuple(dict.fromkeys((*player_files("net", config), *player_files(inner, config))))
    name, _, argument = inner.partition(":")
    if name == "program":
        from helsinki_env.agents.program.player import program_files

        return program_files(argument)
    if name not in player_names():
        module, path = _find_module(name), Path(argument.partition(":")[2])  # the argument may name a file of weights
        files = () if module is None or module.origin is None else (Path(module.origin),)
        return (*files, path) if is_file(path) else files
    if name not in ("net", "net+search", "mlp") or (name == "mlp" and not argument):
        return ()
    from helsinki_env.agents.net.make import network_path

    return (network_path(argument.partition(":")[2] if name == "net+search" else argument, config),)


def files_digest(spec: str, config: Any = None) -> str | None:
    """Return the digest (64 hexadecimal digits) of the files that a player is loaded from; None if it has none."""
    contents = [path.read_bytes() for path in player_files(spec, config) if is_file(path)]
    return hashlib.sha256(b"".join(contents)).hexdigest() if contents else None


def _factory(name: str, argument: str) -> Callable[[str, Any], Any]:
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
    if argument and _find_module(name) is not None:
        return partial(_make_from_module, name)
    if name == "human":
        raise PlayerError("player 'human': found a person, expected a player; people play only in helsinki play")
    missing = " and no module of this name in the current folder or the installed packages" if argument else ""
    raise unknown_player(name, player_names(), missing)


def unknown_player(name: str, known: Iterable[str], missing: str = "") -> PlayerError:
    """Return the error for an unknown name of a player; `missing` says what else was not found."""
    return PlayerError(
        f"player {short_repr(name)}: found an unknown name{missing}, expected {choices_text(known, name)}"
    )


def _find_module(module: str) -> ModuleSpec | None:
    """Return the spec of a module, which may be in the working directory; None if it does not exist."""
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    if getcwd() not in sys.path:
        sys.path.append(getcwd())  # last, so that nothing in the working directory shadows an installed module
    try:
        return find_spec(module)
    except (ImportError, ValueError):
        return None


def _make_from_module(module: str, argument: str, config: Any) -> Player:
    """Create a ``MODULE:ATTRIBUTE`` or ``MODULE:ATTRIBUTE:ARGUMENT`` player."""
    attribute, _, rest = argument.partition(":")
    called = short_repr(module + ":" + argument)
    with converted_player_errors(called, "cannot be loaded"):
        import_module("helsinki_env.registration")  # the module may make environments by id
        found = getattr(import_module(module), attribute)
    made: Player
    if isinstance(found, type):  # tested first: a player class is itself an instance of the protocol `Player`
        made = found(rest) if rest else found()
    elif isinstance(found, Player):
        _no_argument(f"{module}:{attribute}", rest)
        made = found
    elif callable(found):
        made = found(rest, config)
    else:
        raise PlayerError(
            f"player {called}: found {type(found).__name__}, expected a player, a class of players or a function that "
            "makes one from an argument and a configuration"
        )
    return made
