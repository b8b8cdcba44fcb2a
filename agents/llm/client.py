"""Client for an OpenAI-compatible chat endpoint, based on the standard library alone, and transcript of its requests.

The URL and the API key come from environment variables; there is no default URL. The key is sent only to this URL:
redirects are not followed, and the key is removed from the text of every response.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from helsinki_env.agents.base import PlayerError
from helsinki_env.data import digest_of, parse_json, short_repr, shorten

__all__ = ["KEY", "OUTCOMES", "URL", "ChatClient", "Completion", "EndpointError", "SilenceError", "Transcript",
           "UnusableError"]  # fmt: skip

URL = "HELSINKI_LLM_URL"
"""Environment variable with the address of the endpoint."""
KEY = "HELSINKI_LLM_KEY"
"""Environment variable with the key of the endpoint."""
OPTIONS = "HELSINKI_LLM_OPTIONS"
_MAX_BYTES = 2**22
_PIECE = 2**16
#: Number of attempts while the endpoint is busy or failing, and maximum wait between attempts in seconds.
_ATTEMPTS, _MAX_WAIT = 5, 60.0
_BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)


class EndpointError(Exception):
    """Raised if the endpoint cannot be reached or permanently rejects a request.

    Attributes:
        status: HTTP status of the response; 0 if there was no response.
    """

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


class SilenceError(Exception):
    """Raised if the endpoint did not respond within the time limit or stayed busy."""


class UnusableError(Exception):
    """Raised if a response contains no completion text."""


@dataclass(frozen=True)
class Completion:
    """A model's answer and the number of tokens that it used."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    estimated: bool = False  # the endpoint did not report the tokens

    @property
    def tokens(self) -> int:
        """The total number of tokens."""
        return self.prompt_tokens + self.completion_tokens


@dataclass
class ChatClient:
    """Client for a model's endpoint.

    Attributes:
        model: name of the model.
        seconds: time limit for a request.
        url: base URL, such as ``http://localhost:8000/v1``.
        key: API key, or None; not shown in the representation.
        options: additional request fields, such as a temperature.
        wait: initial waiting time after a busy response, in seconds; it doubles each time.
    """

    model: str
    seconds: float
    url: str
    key: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    wait: float = 1.0

    @classmethod
    def from_environment(cls, model: str, seconds: float) -> ChatClient:
        """Create a client from the environment variables.

        Raises:
            PlayerError: if the URL is missing or invalid.
        """
        url, key = os.environ.get(URL, "").strip(), os.environ.get(KEY, "").strip()
        if not url:
            raise PlayerError(f"{URL}: found nothing, expected the base address of an OpenAI-compatible endpoint")
        try:
            parts = urlsplit(url)
            valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            valid = False
        if not valid or "@" in parts.netloc or parts.query or not url.isascii() or any(one <= " " for one in url):
            expected = f"http:// or https:// with host and path, without user, query or key (the key goes into {KEY})"
            raise PlayerError(f"{URL}: found an invalid address, expected {expected}")
        if not key.isascii() or not key.isprintable():
            raise PlayerError(f"{KEY}: found characters that no key has, expected printable ASCII")
        options = parse_json(os.environ.get(OPTIONS) or "{}", PlayerError, OPTIONS).mapping().value
        if {"model", "messages", "stream"}.intersection(options):
            raise PlayerError(f"{OPTIONS}: found model, messages or stream, expected other keys of a request")
        return cls(model, seconds, url.rstrip("/"), key or None, options)

    def body(self, messages: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """Return the body of a request."""
        return {"model": self.model, "messages": list(messages), **self.options}

    def complete(self, messages: Sequence[Mapping[str, str]]) -> Completion:
        """Return the model's answer to a conversation, repeating the request while the endpoint is busy.

        Raises:
            EndpointError: if the endpoint cannot be reached or rejects the request; the message states the reason.
            SilenceError: if the endpoint does not respond or is busy at every attempt.
            UnusableError: if the response contains no text.
        """
        sent, wait = json.dumps(self.body(messages)).encode(), self.wait
        for attempt in range(_ATTEMPTS):
            status, content, after = self._post(sent)
            if status == 200:
                return self._completion(content, sent)
            if status not in _BUSY:
                reason = shorten(" ".join(self.without_key(content.decode(errors="replace")).split()), 200)
                raise EndpointError(
                    f"status {status} of {self.without_key(self.url)}/chat/completions: {reason}", status
                )
            if attempt < _ATTEMPTS - 1:
                time.sleep(min(max(wait, after), _MAX_WAIT))
                wait *= 2
        raise SilenceError(f"status {status} at {_ATTEMPTS} attempts")

    def without_key(self, text: str) -> str:
        """Return a text with the API key replaced."""
        return text.replace(self.key, "***") if self.key else text

    def _post(self, body: bytes) -> tuple[int, bytes, float]:
        """Send a request; return the response's status and content, and the requested waiting time in seconds."""
        parts, until = urlsplit(self.url), time.monotonic() + self.seconds
        secure = parts.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connect(parts.hostname or "", parts.port, timeout=self.seconds)
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "helsinki-env"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            connection.request("POST", f"{parts.path}/chat/completions", body, headers)
            answer, content = connection.getresponse(), b""
            while piece := answer.read1(_PIECE):
                content += piece
                if len(content) > _MAX_BYTES:
                    raise UnusableError(f"over {_MAX_BYTES:,} bytes")
                if time.monotonic() > until:
                    raise SilenceError("the end of the answer did not come in time")
        except TimeoutError:
            raise SilenceError("nothing came in time") from None
        except (OSError, http.client.HTTPException) as problem:
            reason = shorten(" ".join(self.without_key(str(problem)).split()), 200)
            raise EndpointError(f"{type(problem).__name__}: {reason}") from None
        finally:
            connection.close()
        return answer.status, content, _seconds(answer.getheader("Retry-After"))

    def _completion(self, content: bytes, sent: bytes) -> Completion:
        """Return the completion in a response with status 200."""
        try:
            data = parse_json(self.without_key(content.decode()), ValueError).mapping()
            text = data["choices"].entries("choices", least=1)[0]["message"]["content"].value
            usage = data.get("usage", None).value
        except ValueError as problem:  # includes UnicodeDecodeError
            raise UnusableError(shorten(str(problem))) from None
        if not isinstance(text, str):
            raise UnusableError(f"content: found {short_repr(text)}, expected text")
        used = usage if isinstance(usage, dict) else {}
        prompt, completion = _reported(used.get("prompt_tokens")), _reported(used.get("completion_tokens"))
        return Completion(
            text,
            len(sent) // 4 if prompt is None else prompt,
            len(text.encode()) // 4 if completion is None else completion,
            estimated=prompt is None or completion is None,
        )


def _reported(count: object) -> int | None:
    """Return the reported number of tokens, or None if it is missing or invalid."""
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 10**9 else None


def _seconds(text: str | None) -> float:
    """Return the number of seconds in a Retry-After header; 0 if it holds no number."""
    try:
        seconds = float(text or 0)
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < 1e6 else 0.0


OUTCOMES = ("answer", "silent", "forfeited")
"""Outcomes of a request: an answer, no response within the time limit, or no call."""
#: Marker after a line that was truncated when its process was killed.
_CUT = b'{"cut": true}'


class Transcript:
    """Requests and their answers; a repeated request is answered from the transcript, without a call.

    Threads and processes may share the file, because each line is appended.

    Args:
        path: path of the file, which is created if it does not exist. None keeps the answers in memory.

    Raises:
        PlayerError: if the file cannot be read; the message gives the file and line. An unfinished last line is
            ignored.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._lock = path, threading.Lock()
        self._found: dict[str, Completion] = {}
        self._outcomes: dict[str, str] = {}
        if path is None:
            return
        try:
            content = path.read_bytes() if path.exists() else b""
        except OSError as problem:
            raise PlayerError(f"{shorten(path)}: cannot be read: {problem.strerror}") from None
        lines = content.split(b"\n")[:-1]
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
            prompt, completion = (data[name].integer(0) for name in ("prompt_tokens", "completion_tokens"))
            self._found[request] = Completion(answer, prompt, completion)

    @property
    def has_answers(self) -> bool:
        """Whether the transcript contains an answer to any request."""
        return bool(self._found)

    def find(self, body: Mapping[str, Any]) -> Completion | None:
        """Return the stored answer to a request, or None."""
        return self._found.get(digest_of(body))

    def outcome(self, body: Mapping[str, Any]) -> str | None:
        """Return the outcome of a request, one of `OUTCOMES`, or None for an unknown request."""
        return self._outcomes.get(digest_of(body))

    def add(self, body: Mapping[str, Any], found: Completion | str) -> None:
        """Add the answer to a request, or another outcome of it.

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
            line = json.dumps(entry).encode() + b"\n"
            try:
                file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
                try:
                    if not _ends_with_newline(file):
                        line = b"\n" + _CUT + b"\n" + line
                    while line:
                        line = line[os.write(file, line) :]
                finally:
                    os.close(file)
            except OSError as problem:
                raise PlayerError(f"{shorten(self._path)}: cannot be written: {problem.strerror}") from None


def _ends_with_newline(file: int) -> bool:
    """Return whether an open file is empty or ends with a newline. If not, a process was killed while it wrote."""
    if os.lseek(file, 0, os.SEEK_END) == 0:
        return True
    os.lseek(file, -1, os.SEEK_END)
    return os.read(file, 1) == b"\n"
