"""One request to an OpenAI-compatible chat endpoint, by the standard library alone.

The address and the key come from the environment; there is no default address. The key is sent to this address only:
redirects are not followed, and the key is removed from every text that comes back.
"""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from helsinki_env.agents.base import PlayerError
from helsinki_env.data import parse_json, short_repr, shorten

__all__ = ["KEY", "URL", "ChatClient", "Completion", "EndpointError", "SilenceError", "UnusableError"]

URL, KEY, OPTIONS = "HELSINKI_LLM_URL", "HELSINKI_LLM_KEY", "HELSINKI_LLM_OPTIONS"
_MOST_BYTES = 2**22
_PIECE = 2**16
#: Attempts while the endpoint is busy or broken, and the most seconds to wait between two of them.
_ATTEMPTS, _MOST_WAIT = 5, 60.0
_BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)


class EndpointError(Exception):
    """The endpoint cannot be reached, or rejects a request for good.

    Attributes:
        status: HTTP status of the answer; 0 without one.
    """

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


class SilenceError(Exception):
    """The endpoint did not answer within the time limit, or stayed busy."""


class UnusableError(Exception):
    """The endpoint answered without the text of a completion."""


@dataclass(frozen=True)
class Completion:
    """An answer of the model with the tokens that it used."""

    text: str
    prompt_tokens: int
    completion_tokens: int

    @property
    def tokens(self) -> int:
        """Number of tokens in all."""
        return self.prompt_tokens + self.completion_tokens


@dataclass
class ChatClient:
    """The endpoint of a model.

    Attributes:
        model: name of the model.
        seconds: time limit for one request.
        url: base address, such as ``http://localhost:8000/v1``.
        key: key to send, or None. It is not part of the representation.
        options: further keys of the request, such as a temperature.
        wait: shortest waiting time after a busy answer, seconds; it doubles.
    """

    model: str
    seconds: float
    url: str
    key: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    wait: float = 1.0

    @classmethod
    def from_environment(cls, model: str, seconds: float) -> ChatClient:
        """Return the client that the environment describes.

        Raises:
            PlayerError: without an address, or with an invalid one.
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
        """Return the answer to a conversation; wait and repeat the request while the endpoint is busy.

        Raises:
            EndpointError: if the endpoint cannot be reached or rejects the request; it names the reason.
            SilenceError: if the endpoint is silent, or busy at every attempt.
            UnusableError: if the answer has no text.
        """
        sent, wait = json.dumps(self.body(messages)).encode(), self.wait
        for attempt in range(_ATTEMPTS):
            status, content, after = self._post(sent)
            if status == 200:
                return self._completion(content, sent)
            if status not in _BUSY:
                reason = self.without_key(shorten(" ".join(content.decode(errors="replace").split()), 200))
                raise EndpointError(f"status {status}: {reason}", status)
            if attempt < _ATTEMPTS - 1:
                time.sleep(min(max(wait, after), _MOST_WAIT))
                wait *= 2
        raise SilenceError(f"status {status} at {_ATTEMPTS} attempts")

    def without_key(self, text: str) -> str:
        """Return a text with the key replaced."""
        return text.replace(self.key, "***") if self.key else text

    def _post(self, body: bytes) -> tuple[int, bytes, float]:
        """Return status and content of the answer to a request, and the seconds that it asks to wait."""
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
                if len(content) > _MOST_BYTES:
                    raise UnusableError(f"over {_MOST_BYTES:,} bytes")
                if time.monotonic() > until:
                    raise SilenceError("the end of the answer did not come in time")
        except TimeoutError:
            raise SilenceError("nothing came in time") from None
        except (OSError, http.client.HTTPException) as problem:
            reason = self.without_key(shorten(" ".join(str(problem).split()), 200))
            raise EndpointError(f"{type(problem).__name__}: {reason}") from None
        finally:
            connection.close()
        return answer.status, content, _seconds(answer.getheader("Retry-After"))

    def _completion(self, content: bytes, sent: bytes) -> Completion:
        """Return the completion of an answer with status 200."""
        try:
            data = parse_json(content.decode(), ValueError).mapping()
            text = data["choices"].entries("choices", least=1)[0]["message"]["content"].value
            usage = data.get("usage", None).value
        except ValueError as problem:  # UnicodeDecodeError as well
            raise UnusableError(shorten(str(problem))) from None
        if not isinstance(text, str):
            raise UnusableError(f"content: found {short_repr(text)}, expected text")
        used = usage if isinstance(usage, dict) else {}
        prompt, completion = used.get("prompt_tokens"), used.get("completion_tokens")
        return Completion(self.without_key(text), _tokens(prompt, sent), _tokens(completion, content))


def _tokens(count: object, content: bytes) -> int:
    """Return a number of tokens; if the endpoint gives none, a quarter of the bytes."""
    if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 10**9:
        return count
    return len(content) // 4


def _seconds(text: str | None) -> float:
    """Return the seconds of a header Retry-After; 0 without a number."""
    try:
        seconds = float(text or 0)
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < 1e6 else 0.0
