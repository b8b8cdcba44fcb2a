"""Training presets: files in ``configs/training`` with game, network and learning in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from agents.network import NetworkConfig
from helsinki_env.config import GameConfig
from helsinki_env.yaml_files import find_yaml, one_of, read_yaml
from training.ppo import PPOConfig

__all__ = ["Preset", "PresetError"]


class PresetError(ValueError):
    """A preset that cannot be used; the message names file, key, value found and what is expected."""


@dataclass(frozen=True)
class Preset:
    """What a training run does.

    Args:
        game: what is played.
        ppo: how to learn.
        network: size of the network.
        minutes: the training stops here at the latest.
        evaluation_games: games against each baseline at the end.
    """

    game: GameConfig = field(default_factory=GameConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    minutes: float = 60.0
    evaluation_games: int = 2000

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> Preset:
        """Return the preset in a file (a name in ``configs/training``, or a path).

        Raises:
            PresetError: naming file, key, value and remedy.
        """
        path = find_yaml(name_or_path, "training", PresetError)
        data = read_yaml(path, PresetError)
        try:
            _known(data, cls, "")
            values: dict[str, Any] = dict(data)
            game = values.pop("game", "default")
            values["game"] = GameConfig.from_yaml(game) if isinstance(game, str) else GameConfig.from_dict(game)
            for name, part in (("ppo", PPOConfig), ("network", NetworkConfig)):
                content = values.get(name, {})
                _known(content, part, f"{name}.")
                values[name] = part(**content)
            for name in ("minutes", "evaluation_games"):
                value = values.get(name, 1)
                if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                    raise PresetError(f"{name}: found {value!r}, expected a number above 0")
            return cls(**values)
        except (PresetError, ValueError, TypeError) as problem:
            raise PresetError(f"{path}: {problem}") from None


def _known(data: object, part: Any, path: str) -> None:
    names = [item.name for item in fields(part)]
    if not isinstance(data, Mapping):
        raise PresetError(f"{path or 'the file'}: found {data!r}, expected a mapping of some of {', '.join(names)}")
    for key in data:
        if key not in names:
            raise PresetError(f"{path}{key}: found {data[key]!r}, no such key; expected {one_of(names, key)}")
