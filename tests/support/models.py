"""A local endpoint with the interface of language models."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Status, content and headers of an answer to a request, given its body and its number from 0.
Answer = tuple[int, bytes, dict[str, str]]
Respond = Callable[[dict[str, Any], int], Answer | None]
KEY = "sk-planted-key-0123456789"


def completion(text: Any, prompt: int = 100, written: int = 10) -> Answer:
    body = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": written},
    }
    return 200, json.dumps(body).encode(), {}


def last_choice(body: dict[str, Any]) -> str:
    """Return the notation of the last legal action in a conversation."""
    listed = re.findall(r"(?m)^\d+: .* \(([A-Z].*)\)$", body["messages"][1]["content"])
    return str(listed[-1])


class Endpoint:
    """The address of the server and the received requests."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()


@contextmanager
def endpoint(respond: Respond) -> Iterator[Endpoint]:
    """Run the server during the block; for the answer None it never replies."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(found.bodies)
                found.bodies.append(body)
                found.headers.append({**dict(self.headers.items()), "path": self.path})
            answer = respond(body, number)
            if answer is None:
                found.released.wait(60)
                return
            status, content, headers = answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        found.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
