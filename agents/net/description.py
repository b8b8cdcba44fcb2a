"""What a network on disk says of itself, as a checkpoint or as an exported model; nothing here needs PyTorch.

The description names the environment that the network was made for (version, action table, observation, inputs) and how
it was trained. A network that does not fit is refused with the reason.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from agents.net.inputs import seat_parts, table_parts
from helsinki_env import observation
from helsinki_env.game import action_table
from helsinki_env.position import VERSION

__all__ = ["KEY", "CheckpointError", "check_description", "check_exists", "describe", "interface_digests",
           "parse_description"]  # fmt: skip

KEY = "helsinki"
"""Where the description stands in a file: the name of an entry of its metadata."""
FORMAT = 2


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message names the file and the reason."""


def interface_digests(types: int) -> dict[str, str]:
    """Return digests of action table, observation's layout and inputs: a network fits only those it was made for."""
    texts = {
        "actions": repr((action_table(types).sizes, action_table(types).offsets)),
        "observation": observation.layout(types).markdown(),
        "inputs": repr((seat_parts(types), table_parts(types))),
    }
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def describe(types: int, more: dict[str, Any]) -> str:
    """Return the description of a network for a number of card types, as JSON; `more` says how it was made."""
    content = {"format": FORMAT, "environment": f"helsinki_v{VERSION}", "types": types, **interface_digests(types)}
    return json.dumps({**content, **more})


def parse_description(path: Path, text: str | None, kind: str) -> dict[str, Any]:
    """Return the description that a file holds, checked.

    Args:
        path: the file.
        text: its entry `KEY`; None: it has none.
        kind: of file, for the message.

    Raises:
        CheckpointError: if that is no description, or one of another environment.
    """
    try:
        content = json.loads(text or "")
    except ValueError:
        content = None
    if not isinstance(content, dict) or not isinstance(content.get("types"), int):
        raise CheckpointError(f"{path}: {kind}, but not of this project: it has no description {KEY!r}")
    check_description(path, content)
    return content


def check_description(path: Path, content: dict[str, Any]) -> None:
    """Check that a network fits this environment; CheckpointError with the reason if it does not."""
    expected = {"format": FORMAT, "environment": f"helsinki_v{VERSION}", **interface_digests(content["types"])}
    for key, value in expected.items():
        if content.get(key) != value:
            raise CheckpointError(
                f"{path}: {key} is {content.get(key)!r}, this environment needs {value!r}: train the network again"
            )


def check_exists(path: Path, how: str) -> None:
    """Check that there is a file; CheckpointError that says how to make it if there is none."""
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; {how}")
