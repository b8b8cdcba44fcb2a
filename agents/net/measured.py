"""Component files with which a network was trained or measured, and a warning when it plays with another one.

The description names the component files of training by the digest of their content (`COMPONENTS_KEY`). A file
`NAME.measured.yaml` next to the network `NAME.safetensors` or `NAME.onnx` adds those of measurements:

    components:
      other_shapes: "4807a14e9c9e4b5b" # load_components("other_shapes").digest
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from helsinki_env.agents.net.description import COMPONENTS_KEY, CheckpointError
from helsinki_env.data import Node, read_yaml, short_repr
from helsinki_env.engine.spec import config_from_dict
from helsinki_env.utils.files import is_file

__all__ = ["UnmeasuredComponentsWarning", "measured_components", "set_warning_handler", "warn_once", "warn_unmeasured"]

_DIGEST = re.compile("[0-9a-f]{16}")


class UnmeasuredComponentsWarning(UserWarning):
    """A network plays with a component file with which it was neither trained nor measured."""


def _as_warning(text: str) -> None:
    warnings.warn(text, UnmeasuredComponentsWarning, stacklevel=2)


_warned = False
_handler: Callable[[str], object] = _as_warning


def set_warning_handler(handler: Callable[[str], object]) -> None:
    """Set the function that receives the warning of this process, so that only one worker prints it."""
    global _handler
    _handler = handler


def warn_once(text: str) -> None:
    """Warn on the first call in this process."""
    global _warned
    if not _warned:
        _handler(text)
        _warned = True  # after the call: a filter may turn every warning into an error


def measured_components(path: Path, description: Mapping[str, Any]) -> dict[str, str]:
    """Return the component files with which a network was trained or measured, digests by name.

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
    """Warn, once per process, if a network was neither trained nor measured with the components of a configuration.

    Args:
        player: display name of the player.
        path: path of the network file.
        description: its description.
        config: configuration of the games to play.
    """
    if config.component_set.digest in measured_components(path, description).values():
        return
    warn_once(
        f"{player}: neither trained nor measured with components {short_repr(config.components)}, so its strength and "
        f"its evaluations are unknown; compare it with ismcts:N first "
        f"(helsinki arena --players {player},ismcts:100 "
        f"--components {short_repr(config.components)}); docs/model-card.md lists the measurements"
    )
