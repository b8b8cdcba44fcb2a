"""Commands that are killed on the way, as a machine does that goes down."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

#: Seconds: long enough for the busiest machine.
_PATIENCE = 240.0


def killed_while_it_plays(command: list[str], folder: Path) -> None:
    """Run a command of the arena's kind and kill it once there are games in the folder of a run or part."""
    words = [sys.executable, "-m", "helsinki_env.cli.main", *command, "--processes", "1"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + _PATIENCE
        while not list((folder / "chunks").glob("*.games")):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
