"""Client for a process that measures a checkout of the project (`helsinki_env.bench.measures`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from helsinki_env.bench import measures
from helsinki_env.bench.measures import MeasurementRequest


class Worker:
    """A measuring process, restarted if it has ended.

    Args:
        folder: the checkout.
        cache: folder for its machine code; by default, that of this process.
    """

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
        if cache is not None:
            self._environment["HELSINKI_CACHE_DIR"] = str(cache)
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def ask(self, asked: MeasurementRequest) -> float | str:
        """Return a rate, or the reason why there is none."""
        if self._process is None and (why := self._start()):
            return why
        answer = self._answer(json.dumps(asked._asdict()))
        return answer["rate"] if "rate" in answer else str(answer["why"])

    def _start(self) -> str:
        """Start the process; return the reason why it cannot measure, or an empty string."""
        # -P: modules in the program's folder must not be imported. A new session isolates it from Ctrl-C.
        self._process = subprocess.Popen(
            [sys.executable, "-P", measures.__file__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=self._environment, start_new_session=True,
        )  # fmt: skip
        answer = self._answer()
        package = Path(answer.get("package") or self._folder)
        if not package.resolve().is_relative_to(self._folder.resolve()):
            answer = {"why": f"Python finds the package in {package.parent}, not in {self._folder}"}
        if "why" in answer:
            self.stop()
        return str(answer.get("why", ""))

    def _answer(self, question: str = "") -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if question:
            with suppress(BrokenPipeError):  # then there is no answer
                print(question, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        status = self._process.wait()
        self.stop()
        return {"why": f"the process that measured it ended with status {status}"}

    def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(BrokenPipeError):
                process.communicate()

    def __enter__(self) -> Worker:
        """Return the worker; the process starts on demand."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.stop()
