"""Where a network was trained or measured: by component file, and a warning where it plays with another one.

A description names the component files that a network was trained with by the digest of what they hold
(`COMPONENTS_KEY`). A file `NAME.measured.yaml` next to a network `NAME.safetensors` or `NAME.onnx` adds those it was
measured with:

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
    """A network plays with a component file on which nobody trained or measured it."""


def _as_warning(text: str) -> None:
    warnings.warn(text, UnmeasuredComponentsWarning, stacklevel=2)


_warned = False
_tell: Callable[[str], object] = _as_warning


def set_warning_handler(tell: Callable[[str], object]) -> None:
    """Let a worker process hand its warning to `tell` instead: one process prints it for all of them."""
    global _tell
    _tell = tell


def warn_once(text: str) -> None:
    """Warn, the first time in this process."""
    global _warned
    if not _warned:
        _tell(text)
        _warned = True  # not before: a filter may turn the warning into an error, every time


def measured_components(path: Path, description: Mapping[str, Any]) -> dict[str, str]:
    """Return the component files that a network was trained or measured with, digests by name.

    Args:
        path: the network's file.
        description: what it says of itself.

    Raises:
        CheckpointError: if the description or the file next to the network holds anything but digests.
    """
    content = Node(description, CheckpointError, file=str(path))
    beside = path.with_suffix(".measured.yaml")
    if is_file(beside):
        more = _digests(read_yaml(beside, CheckpointError).mapping(["components"])["components"])
    else:
        more = {}
    if content[COMPONENTS_KEY].is_present:
        return _digests(content[COMPONENTS_KEY]) | more
    if more:
        return more
    trained = config_from_dict(content["game"])  # files written before descriptions had digests name it only
    return {trained.components: trained.component_set.digest}


def _digests(data: Node) -> dict[str, str]:
    for _, digest in data.items():
        if not isinstance(digest.value, str) or not _DIGEST.fullmatch(digest.value):
            digest.fail("16 hexadecimal digits in quotes", "as load_components(FILE).digest gives them")
    return dict(data.value)


def warn_unmeasured(player: str, path: Path, description: Mapping[str, Any], config: Any) -> None:
    """Warn, once in a process, if a network was neither trained nor measured with the components of a configuration.

    Args:
        player: the name it plays under.
        path: the network's file.
        description: what it says of itself.
        config: the games it is to play.
    """
    if config.component_set.digest in measured_components(path, description).values():
        return
    warn_once(
        f"{player}: neither trained nor measured with components {short_repr(config.components)}, so its strength and "
        f"its evaluations there are unknown: compare it with ismcts:N first "
        f"(helsinki arena --players {player},ismcts:100 "
        f"--components {short_repr(config.components)}); docs/model-card.md lists what was measured"
    )
