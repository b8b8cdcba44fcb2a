"""Metadata of a network file (checkpoint or ONNX model): kind, environment and training. PyTorch is not needed."""

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
"""Name of the metadata entry that holds the description."""
COMPONENTS_KEY = "components"
"""Entry of the description with the component files of training: digests by name."""
FORMAT = 2
AFTERSTATE_KIND, PLAIN_KIND = "judge", "plain"
"""Kinds of networks: those that evaluate afterstates (`agents.net`, the default), and those that read the observation
(`agents.mlp`)."""
#: Minimum and maximum number of card types of component files.
_TYPES = (5, 91)


class CheckpointError(UserError):
    """A network file that cannot be used; the message names the file and the reason."""


def interface_digests(config: Any, types: int, kind: str = AFTERSTATE_KIND, ahead: bool = False) -> dict[str, str]:
    """Return the digests of action table, observation layout and network inputs; a network only fits equal ones."""
    features = game_features(config)
    if kind == AFTERSTATE_KIND:
        inputs = _hashed_text((features.of_seat(types, ahead), features.table_parts(types)))
    else:
        inputs = _hashed_text(input_spec(config, types))
    texts = features.interface(types) | {"inputs": inputs}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def _hashed_text(inputs: object) -> str:
    """Return the text of which the digest of network inputs is computed.

    It is part of the file format: it has the class names of the time when format 2 was defined.
    """
    text = repr(inputs)
    for name, in_format_2 in (("FeatureSpec", "Part"), ("InputColumns", "Entries"), ("InputSpec", "Told")):
        text = text.replace(f"{name}(", f"{in_format_2}(")
    return text


def uses_lookahead(description: Mapping[str, Any]) -> bool:
    """Return whether a network has look-ahead features, by its description."""
    network = description.get("network")
    return isinstance(network, Mapping) and network.get("ahead") is True


def environment_id(config: Any) -> str:
    """Return the versioned environment name of a configuration's game."""
    spec = spec_of(config)
    return f"{spec.name}_v{spec.version}"


def network_description(config: Any, more: dict[str, Any], kind: str = AFTERSTATE_KIND) -> str:
    """Return a network's description as JSON: the environment of `config`, and the entries of `more`."""
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
    """Return 16 hexadecimal digits that identify arrays by name, dtype, shape and content."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()[:16]


def parse_description(path: Path, text: str | None, kind: str) -> Node:
    """Parse the description of a file; CheckpointError if `text` is missing, invalid or of another environment."""
    try:
        content = parse_json(text or "", CheckpointError, str(path)).mapping()
        content["types"].integer(*_TYPES)
        content.get("kind", AFTERSTATE_KIND).choice((AFTERSTATE_KIND, PLAIN_KIND))
    except CheckpointError as problem:
        reason = str(problem).removeprefix(f"{shorten(path)}: ")
        raise CheckpointError(
            f"{shorten(path)}: found {kind} without the description {DESCRIPTION_KEY!r}, expected one of this project "
            f"({reason})"
        ) from None
    check_description(path, content.value)
    return content


def check_description(path: Path, content: Mapping[str, Any]) -> None:
    """Check that a network fits this environment; CheckpointError with the reason if not."""
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
                f"{shorten(path)}: {key}: found {short_repr(content.get(key))}, expected {value!r}; "
                "train the network again"
            )


def check_exists(path: Path, how: str) -> None:
    """Check that a file exists; CheckpointError with the command `how` that creates it if not."""
    if not is_file(path):
        raise CheckpointError(f"{shorten(path)}: found no such file; {how}")
