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

from helsinki_env.agents.mlp.inputs import input_spec
from helsinki_env.agents.net.features import game_features
from helsinki_env.data import Node, UserError, parse_json, short_repr, shorten
from helsinki_env.engine.spec import default_spec, game_names, spec_by_name, spec_of
from helsinki_env.utils.files import is_file

__all__ = [
    "AFTERSTATE_KIND",
    "COMPONENTS_KEY",
    "DESCRIPTION_KEY",
    "PLAIN_KIND",
    "CheckpointError",
    "arrays_digest",
    "check_description",
    "check_exists",
    "environment_id",
    "interface_digests",
    "network_description",
    "parse_description",
    "uses_lookahead",
]  # fmt: skip

DESCRIPTION_KEY = "helsinki"
"""Where the description stands in a file: the name of an entry of its metadata."""
COMPONENTS_KEY = "components"
"""Which entry of the description names the component files that the network was trained with: digests by name."""
FORMAT = 2
AFTERSTATE_KIND, PLAIN_KIND = "judge", "plain"
"""Kinds of networks: those that evaluate the ends of turns (`agents.net`, the default), and those that read the
observation (`agents.mlp`)."""
#: Card types that component files can have.
_TYPES = (5, 91)


class CheckpointError(UserError):
    """A checkpoint that cannot be used; the message names the file and the reason."""


def interface_digests(config: Any, types: int, kind: str = AFTERSTATE_KIND, ahead: bool = False) -> dict[str, str]:
    """Return digests of action table, observation's layout and inputs: a network fits only those it was made for.

    Args:
        config: a configuration of the game.
        types: how many card types the games have.
        kind: of the network.
        ahead: whether it is told what the next turn can bring.
    """
    told = game_features(config)
    if kind == AFTERSTATE_KIND:
        inputs = _hashed_text((told.of_seat(types, ahead), told.table_parts(types)))
    else:
        inputs = _hashed_text(input_spec(config, types))
    texts = told.interface(types) | {"inputs": inputs}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def _hashed_text(inputs: object) -> str:
    """Return the text from which the digest of network inputs is computed.

    It is part of the file format, so it names the classes as they were when format 2 was defined.
    """
    text = repr(inputs)
    for name, in_format_2 in (("FeatureSpec", "Part"), ("InputColumns", "Entries"), ("InputSpec", "Told")):
        text = text.replace(f"{name}(", f"{in_format_2}(")
    return text


def uses_lookahead(description: Mapping[str, Any]) -> bool:
    """Return whether a network is told what the next turn can bring, by its description."""
    network = description.get("network")
    return isinstance(network, Mapping) and network.get("ahead") is True


def environment_id(config: Any) -> str:
    """Return the name of the environment of a game, with its version."""
    spec = spec_of(config)
    return f"{spec.name}_v{spec.version}"


def network_description(config: Any, more: dict[str, Any], kind: str = AFTERSTATE_KIND) -> str:
    """Return the description of a network for games like those of a configuration, as JSON.

    Args:
        config: of the games.
        more: how it was made.
        kind: of the network.
    """
    types = game_features(config).types(config)
    content = {
        "format": FORMAT,
        "environment": environment_id(config),
        "types": types,
        **({} if kind == AFTERSTATE_KIND else {"kind": kind}),
        **interface_digests(config, types, kind, uses_lookahead(more)),
        COMPONENTS_KEY: {config.component_set.name: config.component_set.digest},
    }
    return json.dumps({**content, **more})


def arrays_digest(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return 16 hexadecimal digits that identify arrays by name, type, shape and content."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()[:16]


def parse_description(path: Path, text: str | None, kind: str) -> Node:
    """Return the description that a file holds, checked as far as every network has it.

    Args:
        path: the file.
        text: its entry `DESCRIPTION_KEY`; None: it has none.
        kind: of file, for the message.

    Raises:
        CheckpointError: if that is no description, or one of another environment.
    """
    try:
        content = parse_json(text or "", CheckpointError, str(path)).mapping()
        content["types"].integer(*_TYPES)
        content.get("kind", AFTERSTATE_KIND).choice((AFTERSTATE_KIND, PLAIN_KIND))
    except CheckpointError as problem:
        reason = str(problem).removeprefix(f"{shorten(path)}: ")
        raise CheckpointError(
            f"{shorten(path)}: {kind}, but not of this project: it has no description {DESCRIPTION_KEY!r} ({reason})"
        ) from None
    check_description(path, content.value)
    return content


def check_description(path: Path, content: Mapping[str, Any]) -> None:
    """Check that a network fits this environment; CheckpointError with the reason if it does not."""
    game = content.get("game")
    named = game.get("game") if isinstance(game, Mapping) else None
    config = (spec_by_name(named) if named in game_names() else default_spec()).config()
    expected = {
        "format": FORMAT,
        "environment": environment_id(config),
        **interface_digests(config, content["types"], content.get("kind", AFTERSTATE_KIND), uses_lookahead(content)),
    }
    for key, value in expected.items():
        if content.get(key) != value:
            raise CheckpointError(
                f"{shorten(path)}: {key} is {short_repr(content.get(key))}, this environment needs {value!r}: "
                "train the network again"
            )


def check_exists(path: Path, how: str) -> None:
    """Check that there is a file; CheckpointError that says how to make it if there is none."""
    if not is_file(path):
        raise CheckpointError(f"{shorten(path)}: there is no such file; {how}")
