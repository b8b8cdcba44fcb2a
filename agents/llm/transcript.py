"""The transcript of a model: every conversation as a line of JSON, from which a run resumes or is replayed."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helsinki_env.agents.base import PlayerError
from helsinki_env.agents.llm.client import Completion
from helsinki_env.data import digest_of, parse_json, shorten

__all__ = ["OUTCOMES", "Transcript"]

OUTCOMES = ("answer", "silent", "forfeited")
"""What may come of a request: an answer, silence until the end of the time, or no call."""
#: A line after one that was cut off when its process was killed.
_CUT = b'{"cut": true}'


class Transcript:
    """Requests with their answers. The same request gets the same answer again, without a call.

    Threads and processes may share the file: a line is written by one call.

    Args:
        path: the file; it is created if it does not exist. None keeps the answers in memory.

    Raises:
        PlayerError: if the file cannot be read; names file and line. An unfinished last line is ignored.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock = path, threading.Lock()
        self._found: dict[str, Completion] = {}
        self._outcomes: dict[str, str] = {}
        self._unfinished = False
        if path is None:
            return
        try:
            content = path.read_bytes() if path.exists() else b""
        except OSError as problem:
            raise PlayerError(f"{shorten(path)}: cannot be read: {problem.strerror}") from None
        lines = content.split(b"\n")
        self._unfinished = bool(lines.pop())
        for number, line in enumerate(lines, 1):
            is_cut = lines[number : number + 1] == [_CUT]
            if line.strip() and line != _CUT and not is_cut:
                self._read(line, f"{shorten(path)}: line {number}")

    def _read(self, line: bytes, where: str) -> None:
        try:
            data = parse_json(line.decode(), PlayerError, where)
        except UnicodeDecodeError:
            raise PlayerError(f"{where}: found bytes that are not UTF-8, expected a line of a transcript") from None
        request = data["request"].text()
        self._outcomes[request] = outcome = data["outcome"].choice(OUTCOMES)
        if outcome == "answer":
            answer = data["answer"].value
            if not isinstance(answer, str):
                data["answer"].fail("text")
            tokens = (data[name].integer(0) for name in ("prompt_tokens", "completion_tokens"))
            self._found[request] = Completion(answer, *tokens)

    def find(self, body: Mapping[str, Any]) -> Completion | None:
        """Return the answer to a request, or None."""
        return self._found.get(digest_of(body))

    def outcome(self, body: Mapping[str, Any]) -> str | None:
        """Return the outcome of a request, one of `OUTCOMES`, or None for an unknown request."""
        return self._outcomes.get(digest_of(body))

    def add(self, body: Mapping[str, Any], found: Completion | str) -> None:
        """Add the answer to a request, or another outcome.

        Raises:
            PlayerError: if the file cannot be written.
        """
        request = digest_of(body)
        entry: dict[str, Any] = {"request": request, "outcome": "answer" if isinstance(found, Completion) else found}
        if isinstance(found, Completion):
            entry |= {
                "model": body["model"],
                "messages": body["messages"],
                "answer": found.text,
                "prompt_tokens": found.prompt_tokens,
                "completion_tokens": found.completion_tokens,
            }
        with self._lock:
            self._outcomes[request] = entry["outcome"]
            if isinstance(found, Completion):
                self._found[request] = found
            if self._path is None:
                return
            line = (b"\n" + _CUT + b"\n" if self._unfinished else b"") + json.dumps(entry).encode() + b"\n"
            try:
                file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                try:
                    while line:
                        line = line[os.write(file, line) :]
                finally:
                    os.close(file)
            except OSError as problem:
                raise PlayerError(f"{shorten(self._path)}: cannot be written: {problem.strerror}") from None
            self._unfinished = False
