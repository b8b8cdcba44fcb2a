"""A player that waits at a certain moment, so that a run can be stopped there however fast or slow the machine is.

    python -m helsinki_env.cli.main arena --players pausing,random ...

It takes the first legal decision, but as long as the folder HELSINKI_TEST_FOLDER holds at least HELSINKI_TEST_PAUSE
files of games it does not decide. `environment` makes the name known to processes that are started with it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent.parent


class PausingPlayer:
    """Takes the first legal decision, when it may."""

    name = "pausing"

    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the first legal decision of every row."""
        folder, most = os.environ.get("HELSINKI_TEST_FOLDER"), int(os.environ.get("HELSINKI_TEST_PAUSE", "0"))
        while folder and len(list(Path(folder).glob("*.games"))) >= most:
            time.sleep(0.01)
        first: npt.NDArray[np.int64] = np.argmax(action_mask, axis=1)
        return first


def make(argument: str, config: Any) -> PausingPlayer:
    """Return the player, as an entry point does."""
    return PausingPlayer()


def environment(scratch: Path, folder: Path | None = None, chunks: int = 0) -> dict[str, str]:
    """Return the environment of a process that knows the player.

    Args:
        scratch: where the entry point is written.
        folder: whose files of games the player counts; None: it never waits.
        chunks: how many files there must be for it to wait.
    """
    info = scratch / "pausing-1.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Name: pausing\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[helsinki.players]\npausing = tests.support.pausing:make\n")
    known = os.environ | {"PYTHONPATH": os.pathsep.join([str(scratch), str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return known | ({"HELSINKI_TEST_FOLDER": str(folder), "HELSINKI_TEST_PAUSE": str(chunks)} if folder else {})
