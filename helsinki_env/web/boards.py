"""Custom boards: component files with changed costs and strengths of board actions, saved next to the tables."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import yaml

from helsinki_env.data import short_repr
from helsinki_env.engine.spec import GameSpec
from helsinki_env.utils.files import atomic_write
from helsinki_env.utils.yaml_files import find_yaml

_PREFIX = "own-"
_MAX_BOARDS = 1000


class Boards:
    """The component files of a folder. A file never changes, because saved games refer to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = (folder / "boards").resolve()  # games store the path

    @staticmethod
    def _published(spec: GameSpec) -> dict[str, Any]:
        name = spec.config().components
        data: dict[str, Any] = yaml.safe_load(find_yaml(name, "components", ValueError).read_text(encoding="utf-8"))
        return data

    def fields(self, spec: GameSpec) -> list[dict[str, Any]]:
        """Return the board actions of a game: `name`, `cost`, and `strength` or None; empty if the game has none."""
        actions = self._published(spec).get("actions", {})
        return [{"name": name, "cost": one["cost"], "strength": one.get("strength")} for name, one in actions.items()]

    def save(self, spec: GameSpec, actions: dict[str, dict[str, int]]) -> str:
        """Save a component file with other costs and strengths and return its name.

        Raises:
            ValueError: for an invalid value; the message begins with its key, such as ``actions.two_points.cost``.
        """
        data = self._published(spec)
        if "actions" not in data:
            raise ValueError(f"game: found {spec.name}, expected a game with board actions")
        data["actions"] = actions
        content = yaml.safe_dump(data, sort_keys=True).encode()
        name = _PREFIX + hashlib.sha256(content).hexdigest()[:12]
        path = self._folder / f"{name}.yaml"
        new = not path.exists()
        if new:
            if self._folder.exists() and len(list(self._folder.iterdir())) >= _MAX_BOARDS:
                raise ValueError(f"boards: found {_MAX_BOARDS:,}, expected fewer; delete some in {self._folder}")
            with atomic_write(path) as file:
                file.write(content)
        try:
            spec.config(components=str(path))
        except ValueError as problem:
            if new:
                path.unlink(missing_ok=True)
            raise ValueError(str(problem).removeprefix(f"{path}: ")) from None
        return name

    def config_values(self, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Split options into options of the game and the configuration value of a component file of this folder."""
        name = options.get("components")
        if not isinstance(name, str) or not name.startswith(_PREFIX):
            return options, {}
        path = self._folder / f"{name}.yaml"
        if not re.fullmatch(_PREFIX + "[0-9a-f]{12}", name) or not path.exists():
            raise ValueError(f"options.components: found {short_repr(name)}, expected a saved board")
        return {key: value for key, value in options.items() if key != "components"}, {"components": str(path)}
