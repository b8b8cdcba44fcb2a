"""Metadata of network files (checkpoints and ONNX models): kind, environment, training and component files.

The description identifies the component files used in training by the digest of their content (`COMPONENTS_KEY`). A
file `NAME.measured.yaml` next to the network `NAME.safetensors` or `NAME.onnx` adds the component files with which the
network was evaluated:

    components:
      other_shapes: "4807a14e9c9e4b5b" # load_components("other_shapes").digest

A network that plays with any other component file emits a warning. This module does not need PyTorch.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.net.features import game_features, input_spec
from helsinki_env.data import Node, UserError, parse_json, read_yaml, short_repr, shorten
from helsinki_env.engine.spec import config_from_dict, default_spec, game_names, spec_by_name, spec_of
from helsinki_env.utils.files import is_file

__all__ = [
    "AFTERSTATE_KIND",
    "COMPONENTS_KEY",
    "DESCRIPTION_KEY",
    "MLP_KIND",
    "CheckpointError",
    "UnmeasuredComponentsWarning",
    "arrays_digest",
    "check_description",
    "check_readable",
    "interface_digests",
    "measured_components",
    "network_description",
    "parse_description",
    "set_warning_handler",
    "uses_lookahead",
    "warn_once",
    "warn_unmeasured",
]

DESCRIPTION_KEY = "helsinki"
"""Name of the metadata entry that holds the description."""
COMPONENTS_KEY = "components"
"""Entry of the description with the component files of training: digests by name."""
FORMAT = 2
AFTERSTATE_KIND = "afterstate"
"""Kind of the networks that evaluate afterstates (`agents.net`), the default."""
MLP_KIND = "mlp"
"""Kind of the networks that read the observation (`agents.mlp`)."""
#: Minimum and maximum number of card types in a component file.
_TYPES = (5, 91)


class CheckpointError(UserError):
    """Raised if a network file cannot be used; the message gives the file and the reason."""


def interface_digests(config: Any, types: int, kind: str = AFTERSTATE_KIND, ahead: bool = False) -> dict[str, str]:
    """Return the digests of the action table, observation layout and network inputs that a network must match."""
    features = game_features(config)
    if kind == AFTERSTATE_KIND:
        inputs = _hashed_text((features.of_seat(types, ahead), features.table_parts(types)))
    else:
        inputs = _hashed_text(input_spec(config, types))
    texts = features.interface(types) | {"inputs": inputs}
    # The digest is part of the file format and uses the original heading of the table.
    texts["observation"] = texts["observation"].replace("| field |", "| piece |", 1)
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def _hashed_text(inputs: object) -> str:
    """Return the text whose digest identifies network inputs; the file format uses the original class names."""
    text = repr(inputs)
    for name, in_format_2 in (("FeatureSpec", "Part"), ("InputColumns", "Entries"), ("InputSpec", "Told")):
        text = text.replace(f"{name}(", f"{in_format_2}(")
    return text


def uses_lookahead(description: Mapping[str, Any]) -> bool:
    """Return whether a network has look-ahead features, according to its description."""
    network = description.get("network")
    return isinstance(network, Mapping) and network.get("ahead") is True


def network_description(config: Any, more: dict[str, Any], kind: str = AFTERSTATE_KIND) -> str:
    """Return a network's description as JSON: the environment of `config` and the entries of `more`."""
    types = game_features(config).types(config)
    content = {
        "format": FORMAT,
        "environment": spec_of(config).environment,
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
    """Parse a file's description; raise CheckpointError if it is missing, invalid or for a different environment."""
    try:
        content = parse_json(text or "", CheckpointError, str(path)).mapping()
        content["types"].integer(*_TYPES)
        content.get("kind", AFTERSTATE_KIND).choice((AFTERSTATE_KIND, MLP_KIND))
    except CheckpointError as problem:
        reason = str(problem).removeprefix(f"{shorten(path)}: ")
        raise CheckpointError(
            f"{shorten(path)}: found {kind} without the description {DESCRIPTION_KEY!r}, expected one of this project "
            f"({reason})"
        ) from None
    check_description(path, content.value)
    return content


def check_description(path: Path, content: Mapping[str, Any]) -> None:
    """Check that a network fits this environment; raise CheckpointError with the reason if not."""
    game = content.get("game")
    named = game.get("game") if isinstance(game, Mapping) else None
    config = (spec_by_name(named) if named in game_names() else default_spec()).config()
    expected = {
        "format": FORMAT,
        "environment": spec_of(config).environment,
        **interface_digests(config, content["types"], content.get("kind", AFTERSTATE_KIND), uses_lookahead(content)),
    }
    for key, value in expected.items():
        if content.get(key) != value:
            raise CheckpointError(
                f"{shorten(path)}: {key}: found {short_repr(content.get(key))}, expected {value!r}; "
                "train the network again"
            )


def check_readable(path: Path, how: str) -> None:
    """Raise CheckpointError if a file cannot be read, or does not exist; `how` is the command that creates it."""
    if not is_file(path):
        raise CheckpointError(f"{shorten(path)}: found no such file; {how}")
    try:
        path.open("rb").close()
    except OSError as problem:
        raise CheckpointError(f"{shorten(path)}: cannot be read: {problem.strerror}") from None


_DIGEST = re.compile("[0-9a-f]{16}")


class UnmeasuredComponentsWarning(UserWarning):
    """Issued if a network plays with a component file on which it was neither trained nor evaluated."""


def _as_warning(text: str) -> None:
    warnings.warn(text, UnmeasuredComponentsWarning, stacklevel=2)


_warned = False
_handler: Callable[[str], object] = _as_warning


def set_warning_handler(handler: Callable[[str], object]) -> None:
    """Set the function that receives this process's warning, so that only one worker reports it."""
    global _handler
    _handler = handler


def warn_once(text: str) -> None:
    """Warn on the first call in this process."""
    global _warned
    if not _warned:
        _handler(text)
        _warned = True  # set after the call, because a filter may turn warnings into errors


def measured_components(path: Path, description: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests, by name, of the component files on which a network was trained or evaluated.

    Args:
        path: path of the network file.
        description: its description.

    Raises:
        CheckpointError: if the description or the file next to it has an invalid digest.
    """
    content = Node(description, CheckpointError, file=str(path))
    measured = path.with_suffix(".measured.yaml")
    if is_file(measured):
        more = _digests(read_yaml(measured, CheckpointError).mapping(["components"])["components"])
    else:
        more = {}
    if content[COMPONENTS_KEY].is_present:
        return _digests(content[COMPONENTS_KEY]) | more
    if more:
        return more
    trained = config_from_dict(content["game"])  # older files have no digests
    return {trained.components: trained.component_set.digest}


def _digests(data: Node) -> dict[str, str]:
    for _, digest in data.items():
        if not isinstance(digest.value, str) or not _DIGEST.fullmatch(digest.value):
            digest.fail("16 hexadecimal digits in quotes", "as load_components(FILE).digest gives them")
    return dict(data.value)


def warn_unmeasured(player: str, path: Path, description: Mapping[str, Any], config: Any) -> None:
    """Warn once per process if a network was neither trained nor evaluated with a configuration's components."""
    if config.component_set.digest in measured_components(path, description).values():
        return
    warn_once(
        f"{player}: neither trained nor measured with components {short_repr(config.components)}, so its strength and "
        f"its evaluations are unknown; compare it with ismcts:N first "
        f"(helsinki arena --players {player},ismcts:100 "
        f"--components {short_repr(config.components)}); docs/model-card.md lists the measurements"
    )
