"""The user's own players, from installed packages or the `checkpoints` folder next to the database.

A network is a safetensors file, which contains weights but no code. Its player name includes the digest of the file, as
in ``checkpoint:best@1f2e3d4c5b6a``, so that a game never continues with different weights.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

from helsinki_env.agents.net.description import AFTERSTATE_KIND, DESCRIPTION_KEY, MLP_KIND
from helsinki_env.agents.registry import ENTRY_POINT_GROUP
from helsinki_env.data import UserError, short_repr
from helsinki_env.engine.spec import GameSpec
from helsinki_env.utils.files import is_file

__all__ = ["CHECKPOINT", "CHECKPOINTS", "OwnPlayer", "OwnPlayers"]

CHECKPOINT = "checkpoint:"
"""Prefix of the player names of networks in the data folder."""
CHECKPOINTS = "checkpoints"
"""Subfolder of the data folder that contains these networks."""
_NAME = r"[\w.+-]{1,40}"
_PLAYER = re.compile(rf"{CHECKPOINT}({_NAME})@([0-9a-f]{{12}})")
_MAX_LISTED = 100
_MAX_HEADER = 2**24
_MAKERS = {AFTERSTATE_KIND: "net", MLP_KIND: "mlp"}


class OwnPlayer(NamedTuple):
    """A player offered on the pages."""

    player: str  # player name
    label: str  # displayed


class OwnPlayers:
    """The user's own players; `folder` is the data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = (folder / CHECKPOINTS).resolve()

    def offered(self, spec: GameSpec) -> list[OwnPlayer]:
        """Return the players available for a game: players from packages first, then networks by name."""
        packages = sorted({point.name for point in entry_points(group=ENTRY_POINT_GROUP)})
        found = [OwnPlayer(name, name) for name in packages]
        paths = self._files()[:_MAX_LISTED]
        names = [_name_of(path) for path in paths]
        for path, name in zip(paths, names, strict=True):
            with suppress(OSError, ValueError):  # deleted in the meantime, or not a network
                environment, _, digest = _read(path)
                if environment == spec.environment and re.fullmatch(_NAME, name):
                    label = name if names.count(name) == 1 else str(path.relative_to(self._folder))
                    found.append(OwnPlayer(f"{CHECKPOINT}{name}@{digest}", label))
        return found

    def _files(self) -> list[Path]:
        """Return the networks in the folder: files, and `best.safetensors` in training run folders."""
        return sorted((*self._folder.glob("*.safetensors"), *self._folder.glob("*/best.safetensors")))

    def resolve(self, player: str) -> str:
        """Replace the network's name in a player name with its path; return any other player name unchanged.

        Raises:
            UserError: if the network does not exist or has changed.
        """
        if not player.startswith(CHECKPOINT):
            return player
        match = _PLAYER.fullmatch(player)
        if match is None:
            raise UserError(f"player {short_repr(player)}: expected {CHECKPOINT}NAME@DIGEST")
        name, expected = match.groups()
        problem = f"found no network of this name in {self._folder}; copy it there again"
        for path in [path for path in self._files() if _name_of(path) == name]:
            try:
                _, kind, digest = _read(path)
            except (OSError, ValueError) as error:
                problem = f"{path} cannot be read: {error}"
                continue
            if digest == expected:
                return f"{CHECKPOINT}{digest}:{_MAKERS[kind]}:{path}"
            problem = f"found the digest {digest} of {path}, expected {expected}; restore the file"
        raise UserError(f"player {name}: {problem}")


def _name_of(path: Path) -> str:
    return path.stem if path.parent.name == CHECKPOINTS else path.parent.name


def _read(path: Path) -> tuple[str, str, str]:
    """Return the environment, kind and digest of a network; raise ValueError if the file is not a network."""
    if not is_file(path):
        raise ValueError("expected a file")
    changed = path.stat()
    return _read_once(path, changed.st_mtime_ns, changed.st_size)


@lru_cache(maxsize=2 * _MAX_LISTED)
def _read_once(path: Path, _changed_ns: int, _size: int) -> tuple[str, str, str]:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length <= _MAX_HEADER:
            raise ValueError("expected a safetensors file")
        try:
            header: Any = json.loads(file.read(length))
            description = json.loads(header["__metadata__"][DESCRIPTION_KEY]) if _has_description(header) else {}
        except RecursionError:
            raise ValueError("expected a safetensors file") from None
        kind = description.get("kind", AFTERSTATE_KIND) if isinstance(description, dict) else ""
        if not isinstance(kind, str) or kind not in _MAKERS:
            raise ValueError("expected a network of helsinki train")
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    return str(description.get("environment", "")), kind, digest


def _has_description(header: Any) -> bool:
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    return isinstance(metadata, dict) and isinstance(metadata.get(DESCRIPTION_KEY), str)
