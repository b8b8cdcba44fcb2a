"""Convert games to dataset rows, with one transition per action, and to OpenSpiel trajectories."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.analysis import analysis_inputs
from helsinki_env.agents.evaluation import evaluate_actions
from helsinki_env.agents.registry import make_player
from helsinki_env.data import UserError
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.rewards import final_rewards
from helsinki_env.records import Record, replay_steps

__all__ = ["DatasetError", "dataset_columns", "openspiel_trajectory", "record_transitions"]


class DatasetError(UserError):
    """Raised if a dataset cannot be written or read.

    The message states the value found, the value expected and the remedy.
    """


def dataset_columns(config: Any, evaluator: str | None = None) -> list[dict[str, Any]]:
    """Return the columns of a dataset for a configuration, including those of an evaluator if there is one.

    Each column has a ``name``, a NumPy ``dtype`` (or ``str``), the ``shape`` of one row, and its ``content`` in words.
    """
    features, ids = spec_of(config).observation_size(config), spec_of(config).num_actions(config)
    columns: tuple[tuple[str, str, list[int], str], ...] = (
        ("game", "int64", [], "number of the game in the dataset"),
        ("step", "int32", [], "number of the action in the game"),
        ("seat", "int8", [], "the acting seat"),
        ("player", "str", [], "name of the player in that seat"),
        ("observation", "int8", [features], "what the seat observes before the action"),
        ("action_mask", "int8", [ids], "1 for each legal action"),
        ("action", "int16", [], "id of the action"),
        ("reward", "float32", [], "reward of the seat until its next action: 0 until its last one"),
        ("terminated", "bool", [], "whether this is the seat's last action in the game"),
        ("policy", "float32", [ids], f"probability of each action by {evaluator}; 0 for illegal actions"),
        ("values", "float32", [ids], f"win probability of the seat by {evaluator}; NaN where not evaluated"),
    )
    keys = ("name", "dtype", "shape", "content")
    return [dict(zip(keys, column, strict=True)) for column in (columns if evaluator else columns[:-2])]


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
    config = record.config
    *steps, (final, _) = replay_steps(record)
    rows: dict[str, npt.NDArray[Any]] = {
        column["name"]: np.zeros((len(steps), *column["shape"]), "O" if column["dtype"] == "str" else column["dtype"])
        for column in dataset_columns(config, evaluator)
    }
    rows["game"][:], rows["step"][:], rows["action"][:] = number, np.arange(len(steps)), record.decisions
    for i, (game, _) in enumerate(steps):
        rows["seat"][i], rows["player"][i] = game.seat, record.players[game.seat]
        rows["observation"][i], rows["action_mask"][i] = game.observation(), game.action_mask()
    for seat, reward in enumerate(final_rewards(final)):
        last = np.flatnonzero(rows["seat"] == seat)[-1:]
        rows["terminated"][last], rows["reward"][last] = True, reward
    if evaluator:
        player, actions = _make_evaluator(evaluator, config), np.array(record.decisions, np.int64)
        rows["values"][:] = np.nan
        for i, found in enumerate(evaluate_actions(player, config, *analysis_inputs(record), actions)):
            rows["policy"][i, found.actions] = found.probabilities
            rows["values"][i, found.actions] = found.shares[:, found.seat]
    return rows


_make_evaluator = lru_cache(maxsize=8)(make_player)


def openspiel_trajectory(record: Record) -> str:
    """Convert a finished game to the JSON format of ``pyspiel.Trajectory``, without a trailing newline.

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
    *steps, (final, _) = replay_steps(record)
    transitions: list[dict[str, Any]] = [{"player": -1, "action": 0, "legal_actions": [0]}]  # the deal
    for game, action in steps:
        transitions.append({"player": game.seat, "action": action, "legal_actions": game.legal_actions().tolist()})
    header = {
        "game_string": f"{spec.name}({','.join(f'{key}={value}' for key, value in sorted(given.items()))})",
        "terminal": True,
        "returns": final_rewards(final).tolist(),
        "meta_data": json.dumps({"players": record.players}),
    }
    return json.dumps({"header": header, "transitions": transitions}, separators=(",", ":"))
