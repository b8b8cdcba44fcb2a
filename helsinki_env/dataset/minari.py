"""Convert a dataset to a Minari dataset for the single-agent environment, with one episode per seat and game."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import gymnasium
import numpy as np

import helsinki_env.registration  # noqa: F401  # the environments' ids
from helsinki_env.agents.registry import is_code
from helsinki_env.data import short_repr
from helsinki_env.dataset.reading import Dataset
from helsinki_env.dataset.transitions import DatasetError, record_transitions
from helsinki_env.records import Record, replay
from helsinki_env.utils.extras import requires_extra

with requires_extra("minari"):
    import h5py  # noqa: F401  # Minari's storage
    import minari
    from minari.data_collector.episode_buffer import EpisodeBuffer
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage import get_dataset_path

__all__ = ["check_dataset_id", "write_minari"]


def check_dataset_id(dataset_id: str) -> None:
    """Raise DatasetError if an id is invalid or a Minari dataset with this id already exists."""
    try:
        parse_dataset_id(dataset_id)
    except (TypeError, ValueError):  # Minari converts a missing version to a number
        raise DatasetError(
            f"--minari: found {short_repr(dataset_id)}, expected namespaces, name and version such as 'games/net-v0'"
        ) from None
    if Path(get_dataset_path(dataset_id)).exists():
        raise DatasetError(f"--minari: found the dataset {dataset_id}, expected a new id; 'minari delete' removes it")


def write_minari(folder: str | Path, dataset_id: str, progress: Callable[[int], None] = lambda games: None) -> int:
    """Convert a dataset to a Minari dataset, game by game, and return the number of episodes.

    If a single player played all games and its name runs no code, it is the opponent in the environment of the Minari
    dataset; otherwise, the opponents are random. If the function is interrupted, it deletes the incomplete dataset.

    Args:
        folder: folder of a complete dataset.
        dataset_id: a new id, such as ``"games/net-v0"``; Minari determines the folder.
        progress: called with 1 after each game.

    Raises:
        DatasetError: if the id is invalid or already exists, or a file is missing or has changed.
    """
    if "MINARI_DATASETS_PATH" in os.environ:  # Minari 0.5 does not find its own files in a relative folder
        os.environ["MINARI_DATASETS_PATH"] = str(Path(os.environ["MINARI_DATASETS_PATH"]).absolute())
    check_dataset_id(dataset_id)
    dataset = Dataset(folder)
    players, module = dataset.card["players"], f"helsinki_env.{dataset.card['environment']}:"
    options = {name: value for name, value in dataset.card["config"].items() if name != "denied"}
    named = len(players) == 1 and not is_code(players[0])  # names in files of others may run code
    options["opponents"] = players[0] if named else "random"
    name = next(name for name, spec in gymnasium.registry.items() if str(spec.entry_point).startswith(module))

    def episodes() -> Iterator[EpisodeBuffer]:
        for record in dataset.records():
            yield from _episodes(record)
            progress(1)

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="minari", category=UserWarning)  # no author, no scores
            env, algorithm = gymnasium.make(name, **options), ", ".join(players)
            written = minari.create_dataset_from_buffers(
                dataset_id, [], env, algorithm_name=algorithm, data_format="hdf5"
            )
            written.storage.update_episodes(episodes())
    except BaseException:
        shutil.rmtree(get_dataset_path(dataset_id), ignore_errors=True)
        raise
    return int(written.storage.total_episodes)


def _episodes(record: Record) -> Iterator[EpisodeBuffer]:
    """Yield the episode of each seat: its actions, and its final observation, whose mask is all ones."""
    rows, final = record_transitions(record), replay(record)
    for seat in range(len(record.players)):
        mine = rows["seat"] == seat
        masks = np.pad(rows["action_mask"][mine], ((0, 1), (0, 0)), constant_values=1)
        observations = np.concatenate([rows["observation"][mine], final.observation(seat)[None]])
        yield EpisodeBuffer(
            observations={"observation": observations, "action_mask": masks},
            actions=rows["action"][mine].astype(np.int64),
            rewards=rows["reward"][mine],
            terminations=rows["terminated"][mine],
            truncations=np.zeros(mine.sum(), np.bool_),
            infos={},
        )
