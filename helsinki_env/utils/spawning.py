"""Check that the main script allows worker processes to start, and explain why they ended."""

from __future__ import annotations

import multiprocessing
import multiprocessing.process
import os
import signal
import sys
from collections.abc import Iterable

_REMEDY = 'start them under `if __name__ == "__main__":`'


def check_main(error: type[ValueError]) -> None:
    """Raise `error` if worker processes cannot start, because each of them imports the main script."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise error(f"a worker process runs this script again and would start worker processes itself: {_REMEDY}")
    script = _script()
    if script is not None and not os.path.isfile(script):
        name = os.path.basename(script)
        raise error(f"worker processes cannot run the script {name} again: save it to a file, and {_REMEDY}")


def exit_reason(processes: Iterable[multiprocessing.process.BaseProcess], began: bool) -> str:
    """Explain why the workers ended unexpectedly; `began` states whether any worker has imported the main script."""
    codes = {process.exitcode or 0 for process in processes}
    if not began and max(codes, default=0) > 0:
        script = _script() or "that started it"
        return f"a worker process could not run the script {script} again, see its error above: {_REMEDY}"
    if -getattr(signal, "SIGKILL", 9) in codes:
        return "a worker process was killed, perhaps because the memory was full: try fewer processes"
    found = next((code for code in sorted(codes, reverse=True) if code not in (0, -signal.SIGTERM)), None)
    return "a worker process ended" if found is None else f"a worker process ended with the exit status {found}"


def _script() -> str | None:
    """Return the script that workers run when they start, or None if they run no script or import a module."""
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    if path is None or getattr(main, "__spec__", None) is not None:
        return None
    return os.path.join(getattr(multiprocessing.process, "ORIGINAL_DIR", None) or "", path)
