"""Convert games to dataset rows, with one transition per action, and to OpenSpiel trajectories."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import seat_key
from helsinki_env.agents.evaluation import evaluate_actions
from helsinki_env.agents.registry import make_player
from helsinki_env.data import UserError
from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.kernels import reward_of
from helsinki_env.records import Record, replay_steps

__all__ = ["Column", "DatasetError", "dataset_columns", "openspiel_trajectory", "record_transitions"]


class DatasetError(UserError):
    """Raised if a dataset cannot be written or read.

    The message states the value found, the value expected and the remedy.
    """


class Column(NamedTuple):
    """A column of a dataset."""

    name: str
    dtype: str  # NumPy dtype name; str for text
    shape: tuple[int, ...]  # of one row
    content: str


def dataset_columns(config: Any, evaluator: str | None = None) -> tuple[Column, ...]:
    """Return the columns of a dataset for a configuration, including those of an evaluator if there is one."""
    features, ids = spec_of(config).observation_size(config), spec_of(config).num_actions(config)
    columns = (
        Column("game", "int64", (), "number of the game in the dataset"),
        Column("step", "int32", (), "number of the action in the game"),
        Column("seat", "int8", (), "the acting seat"),
        Column("player", "str", (), "name of the player in that seat"),
        Column("observation", "int8", (features,), "what the seat observes before the action"),
        Column("action_mask", "int8", (ids,), "1 for each legal action"),
        Column("action", "int16", (), "id of the action"),
        Column("reward", "float32", (), "reward of the seat until its next action: 0 until its last one"),
        Column("terminated", "bool", (), "whether this is the seat's last action in the game"),
        Column("policy", "float32", (ids,), f"probability of each action by {evaluator}; 0 for illegal actions"),
        Column("values", "float32", (ids,), f"win probability of the seat by {evaluator}; NaN where not evaluated"),
    )
    return columns if evaluator else columns[:-2]


@kernel
def _write_rewards(t: Any, states: Any, reward: Any, out: Any) -> None:
    """Write the reward of each seat at the end of the game into `out`, float32 (P,)."""
    for seat in range(len(out)):
        out[seat] = reward_of(t, states[0], seat, reward)


def record_transitions(record: Record, number: int = 0, evaluator: str | None = None) -> dict[str, npt.NDArray[Any]]:
    """Return the transitions of a finished game: an array with one row per action for each of `dataset_columns`.

    Args:
        record: record of the game.
        number: index of the game in the dataset.
        evaluator: name of the player that evaluates the actions, such as ``"net+search:100"``; None adds no
            evaluations.

    Raises:
        RecordError: if the record cannot be replayed.
        ValueError: if the evaluator cannot evaluate the game.
    """
    *steps, (final, _) = replay_steps(record)
    seats = np.array([game.seat for game, _ in steps], np.int8)
    rewards = np.zeros(len(record.players), np.float32)
    _write_rewards(final._tables[0], final._states, REWARDS.index(record.config.reward), rewards)
    last = np.array([seat not in seats[i + 1 :] for i, seat in enumerate(seats)])
    rows: dict[str, npt.NDArray[Any]] = {
        "game": np.full(len(seats), number, np.int64),
        "step": np.arange(len(seats), dtype=np.int32),
        "seat": seats,
        "player": np.array(record.players, object)[seats],
        "observation": np.stack([game.observation() for game, _ in steps]),
        "action_mask": np.stack([game.action_mask() for game, _ in steps]),
        "action": np.array(record.decisions, np.int16),
        "reward": np.where(last, rewards[seats], np.float32(0)),
        "terminated": last,
    }
    return rows | _evaluations(record, rows, evaluator) if evaluator else rows


_make_evaluator = lru_cache(maxsize=8)(make_player)


def _evaluations(record: Record, rows: dict[str, Any], evaluator: str) -> dict[str, npt.NDArray[np.float32]]:
    """Return the evaluator's columns. Its random keys are the ones that `helsinki play` uses for the same seed."""
    seats = rows["seat"].tolist()
    keys = np.array([seat_key(record.seed, seat, seats[:i].count(seat)) for i, seat in enumerate(seats)], np.uint64)
    player, actions = _make_evaluator(evaluator, record.config), rows["action"].astype(np.int64)
    policy = np.zeros(rows["action_mask"].shape, np.float32)
    values = np.full(policy.shape, np.nan, np.float32)
    found = evaluate_actions(player, record.config, rows["observation"], rows["action_mask"], keys, actions)
    for i, evaluation in enumerate(found):
        policy[i, evaluation.actions] = evaluation.probabilities
        values[i, evaluation.actions] = evaluation.shares[:, evaluation.seat]
    return {"policy": policy, "values": values}


def openspiel_trajectory(record: Record, rows: dict[str, npt.NDArray[Any]]) -> str:
    """Convert a game's transitions to the JSON format of ``pyspiel.Trajectory``, without a trailing newline.

    Raises:
        DatasetError: if `helsinki_env.openspiel` cannot represent the game.
    """
    config, spec = record.config, record.spec
    if any(config.denied) or record.stream or record.episode:
        raise DatasetError(
            "found a game with denied actions or of a later episode, expected neither for OpenSpiel, which has no "
            "parameter for them; leave out --openspiel"
        )
    default = spec.config(num_players=config.num_players).to_dict()
    given = {"players": config.num_players, "deal": f"seed_{record.seed}"}
    for name, value in config.to_dict().items():
        if value != default[name]:
            given[name] = "+".join(value) if isinstance(value, list) else str(value).lower() if value is True else value
    transitions: list[dict[str, Any]] = [{"player": -1, "action": 0, "legal_actions": [0]}]  # the deal
    for seat, action, mask in zip(rows["seat"].tolist(), record.decisions, rows["action_mask"], strict=True):
        transitions.append({"player": seat, "action": action, "legal_actions": np.flatnonzero(mask).tolist()})
    header = {
        "game_string": f"{spec.name}({','.join(f'{key}={value}' for key, value in sorted(given.items()))})",
        "terminal": True,
        "returns": [float(rows["reward"][rows["seat"] == seat].sum()) for seat in range(config.num_players)],
        "meta_data": json.dumps({"players": record.players}),
    }
    return json.dumps({"header": header, "transitions": transitions}, separators=(",", ":"))
