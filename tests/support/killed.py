"""Commands that are killed or stopped while they run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

#: Seconds: long enough for the busiest machine.
_PATIENCE = 240.0


def killed_once(
    words: Sequence[str], folder: Path, pattern: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> None:
    """Run a command and kill it once a file in the folder matches the pattern."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd, env=env) as process:
        until = time.monotonic() + _PATIENCE
        while not any(folder.glob(pattern)):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def killed_while_it_plays(command: list[str], folder: Path) -> None:
    """Run a command of the arena's kind and kill it once there are games in the folder of a run or part."""
    words = [sys.executable, "-m", "helsinki_env.cli.main", *command, "--processes", "1"]
    killed_once(words, folder, "work_units/*.games")


def signalled_after_save(
    words: Sequence[str], state: Path, number: int | None, wait: float, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command and send it a signal, if any, `wait` seconds after it has written `state`."""
    before = state.stat().st_mtime_ns if state.exists() else 0
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        if number is not None:
            until = time.monotonic() + _PATIENCE
            while process.poll() is None and (not state.exists() or state.stat().st_mtime_ns == before):
                assert time.monotonic() < until
                time.sleep(0.02)
            time.sleep(wait)
            process.send_signal(number)
        shown, errors = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, shown, errors)
