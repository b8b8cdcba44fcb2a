"""Training presets: files in ``configs/training`` with what is played, the network and the learning in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from agents.net.network import NetworkConfig
from agents.registry import make_player
from helsinki_env.config import GameConfig
from helsinki_env.yaml_files import find_yaml, one_of, read_yaml
from training.checks import check_numbers
from training.evaluate import GateConfig
from training.ppo import PPOConfig
from training.tables import TableConfig
from training.warm import WarmConfig

__all__ = ["EvaluationConfig", "Preset", "PresetError"]


class PresetError(ValueError):
    """A preset that cannot be used; the message names file, key, value found and what is expected."""


@dataclass(frozen=True)
class EvaluationConfig:
    """How the learner is measured on the way and at the end.

    Args:
        times: how often during self-play.
        games: each time, against each opponent with each player count.
        final_games: the same at the end.
        opponents: names of players.
        players: player counts.
    """

    times: int = 10
    games: int = 400
    final_games: int = 2000
    opponents: tuple[str, ...] = ("random", "greedy", "heuristic")
    players: tuple[int, ...] = (2,)

    def __post_init__(self) -> None:
        """Check every value."""
        check_numbers(self, {"times": 1, "games": 2, "final_games": 2})
        object.__setattr__(self, "opponents", _listed(self.opponents))
        object.__setattr__(self, "players", _listed(self.players))
        if any(isinstance(count, bool) or count not in (2, 3, 4) for count in self.players):
            raise ValueError(f"players: found {self.players!r}, expected some of 2, 3 and 4")


@dataclass(frozen=True)
class Preset:
    """What a training run does.

    Args:
        components: component file of the games, name or path.
        tables: what is played.
        network: size of the network.
        warm: how to learn from the heuristic's games, to begin with.
        ppo: how to learn by playing.
        opponents: baselines in the pool of opponents, which past selves join.
        gate: when a candidate counts as better than the best so far.
        evaluation: how the learner is measured.
        minutes: the run stops here at the latest and can be resumed.
        precision: "float32", "bfloat16", or "auto": bfloat16 where the processor knows it.
    """

    components: str = "default"
    tables: tuple[TableConfig, ...] = (TableConfig(),)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    warm: WarmConfig = field(default_factory=WarmConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    opponents: tuple[str, ...] = ("heuristic",)
    gate: GateConfig = field(default_factory=GateConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    minutes: float = 90.0
    precision: str = "auto"

    @property
    def game(self) -> GameConfig:
        """The games, as far as they are the same at all tables."""
        return GameConfig(components=self.components)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as it could stand in a file."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> Preset:
        """Return the preset in a file (a name in ``configs/training``, or a path).

        Raises:
            PresetError: naming file, key, value and remedy.
        """
        path = find_yaml(name_or_path, "training", PresetError)
        content = read_yaml(path, PresetError)
        try:
            return cls.from_dict(content)
        except (PresetError, ValueError, TypeError) as problem:
            raise PresetError(f"{path}: {problem}") from None

    @classmethod
    def from_dict(cls, data: Any) -> Preset:
        """Return the preset in plain data; PresetError if something is wrong with it."""
        _known(data, cls, "")
        values = dict(data)
        for name, part in _PARTS.items():
            content = values.get(name, {})
            _known(content, part, f"{name}.")
            values[name] = _made(part, content, name)
        tables = values.get("tables", [{}])
        if not isinstance(tables, list) or not tables:
            raise PresetError(f"tables: found {tables!r}, expected a list of kinds of tables")
        for i, table in enumerate(tables):
            _known(table, TableConfig, f"tables[{i}].")
        values["tables"] = tuple(_made(TableConfig, table, f"tables[{i}]") for i, table in enumerate(tables))
        values["opponents"] = _listed(values.get("opponents", ("heuristic",)))
        minutes, precision = values.get("minutes", 90.0), values.get("precision", "auto")
        if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not minutes > 0:
            raise PresetError(f"minutes: found {minutes!r}, expected a number above 0")
        if precision not in ("auto", "float32", "bfloat16"):
            raise PresetError(f"precision: found {precision!r}, expected auto, float32 or bfloat16")
        preset = cls(**values)
        preset._check_players()
        return preset

    def _check_players(self) -> None:
        """Make every player once: a mistake in a name shall not come to light after an hour."""
        game = self.game
        for path, names in (("opponents", self.opponents), ("evaluation.opponents", self.evaluation.opponents)):
            for name in names:
                try:
                    make_player(name, game)
                except ValueError as problem:
                    raise PresetError(f"{path}: {problem}") from None
        if self.ppo.apart and not self.opponents:
            raise PresetError(
                "opponents: found none, expected at least one: ppo.apart wants somebody to play against before there "
                "are past selves"
            )


_PARTS: dict[str, Any] = {
    "network": NetworkConfig,
    "warm": WarmConfig,
    "ppo": PPOConfig,
    "gate": GateConfig,
    "evaluation": EvaluationConfig,
}


def _made(part: Any, content: Mapping[str, Any], path: str) -> Any:
    try:
        return part(**content)
    except (ValueError, TypeError) as problem:
        raise PresetError(f"{path}.{problem}") from None


def _listed(value: Any) -> tuple[Any, ...]:
    """A single value stands for a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _plain(value: Any) -> Any:
    """Tuples as lists, as in a file."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _known(data: object, part: Any, path: str) -> None:
    names = [item.name for item in fields(part)]
    if not isinstance(data, Mapping):
        where = path.rstrip(".") or "the preset"
        raise PresetError(f"{where}: found {data!r}, expected a mapping of some of {', '.join(names)}")
    for key in data:
        if key not in names:
            raise PresetError(f"{path}{key}: found {data[key]!r}, no such key; expected {one_of(names, key)}")
