"""What a network on disk says of itself, as a checkpoint or as an exported model; nothing here needs PyTorch.

The description names the kind of network, the environment that it was made for (version, action table, observation,
inputs) and how it was trained. A network that does not fit is refused with the reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.mlp.inputs import entries_of
from helsinki_env.agents.net.features import inputs_of
from helsinki_env.data import Entry, UserError, brief, parse_json, shown
from helsinki_env.engine.spec import game_names, spec_named, spec_of, usual_spec
from helsinki_env.utils.files import is_file

__all__ = ["COMPONENTS", "JUDGE", "KEY", "PLAIN", "CheckpointError", "ahead_of", "arrays_digest", "check_description",
           "check_exists", "describe", "environment_of", "interface_digests", "parse_description"]  # fmt: skip

KEY = "helsinki"
"""Where the description stands in a file: the name of an entry of its metadata."""
COMPONENTS = "components"
"""Which entry of the description names the component files that the network was trained with: digests by name."""
FORMAT = 2
JUDGE, PLAIN = "judge", "plain"
"""Kinds of networks: those that evaluate the ends of turns (`agents.net`, the default), and those that read the
observation (`agents.mlp`)."""
#: Card types that component files can have.
_TYPES = (5, 91)


class CheckpointError(UserError):
    """A checkpoint that cannot be used; the message names the file and the reason."""


def interface_digests(config: Any, types: int, kind: str = JUDGE, ahead: bool = False) -> dict[str, str]:
    """Return digests of action table, observation's layout and inputs: a network fits only those it was made for.

    Args:
        config: a configuration of the game.
        types: how many card types the games have.
        kind: of the network.
        ahead: whether it is told what the next turn can bring.
    """
    told = inputs_of(config)
    if kind == JUDGE:
        inputs = repr((told.of_seat(types, ahead), told.table_parts(types)))
    else:
        inputs = repr(entries_of(config, types))
    texts = told.interface(types) | {"inputs": inputs}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def ahead_of(description: Mapping[str, Any]) -> bool:
    """Return whether a network is told what the next turn can bring, by its description."""
    network = description.get("network")
    return isinstance(network, Mapping) and network.get("ahead") is True


def environment_of(config: Any) -> str:
    """Return the name of the environment of a game, with its version."""
    spec = spec_of(config)
    return f"{spec.name}_v{spec.version}"


def describe(config: Any, more: dict[str, Any], kind: str = JUDGE) -> str:
    """Return the description of a network for games like those of a configuration, as JSON.

    Args:
        config: of the games.
        more: how it was made.
        kind: of the network.
    """
    types = inputs_of(config).types(config)
    content = {
        "format": FORMAT,
        "environment": environment_of(config),
        "types": types,
        **({} if kind == JUDGE else {"kind": kind}),
        **interface_digests(config, types, kind, ahead_of(more)),
        COMPONENTS: {config.loaded.name: config.loaded.digest},
    }
    return json.dumps({**content, **more})


def arrays_digest(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return 16 hexadecimal digits that identify arrays by name, type, shape and content."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()[:16]


def parse_description(path: Path, text: str | None, kind: str) -> Entry:
    """Return the description that a file holds, checked as far as every network has it.

    Args:
        path: the file.
        text: its entry `KEY`; None: it has none.
        kind: of file, for the message.

    Raises:
        CheckpointError: if that is no description, or one of another environment.
    """
    try:
        content = parse_json(text or "", CheckpointError, str(path)).mapping()
        content["types"].integer(*_TYPES)
        content.get("kind", JUDGE).choice((JUDGE, PLAIN))
    except CheckpointError as problem:
        reason = str(problem).removeprefix(f"{brief(path)}: ")
        raise CheckpointError(
            f"{brief(path)}: {kind}, but not of this project: it has no description {KEY!r} ({reason})"
        ) from None
    check_description(path, content.value)
    return content


def check_description(path: Path, content: Mapping[str, Any]) -> None:
    """Check that a network fits this environment; CheckpointError with the reason if it does not."""
    game = content.get("game")
    named = game.get("game") if isinstance(game, Mapping) else None
    config = (spec_named(named) if named in game_names() else usual_spec()).config()
    expected = {
        "format": FORMAT,
        "environment": environment_of(config),
        **interface_digests(config, content["types"], content.get("kind", JUDGE), ahead_of(content)),
    }
    for key, value in expected.items():
        if content.get(key) != value:
            raise CheckpointError(
                f"{brief(path)}: {key} is {shown(content.get(key))}, this environment needs {value!r}: train the "
                "network again"
            )


def check_exists(path: Path, how: str) -> None:
    """Check that there is a file; CheckpointError that says how to make it if there is none."""
    if not is_file(path):
        raise CheckpointError(f"{brief(path)}: there is no such file; {how}")
