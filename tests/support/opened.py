"""Start a command that opens pages, look at the first one, and stop it by Ctrl-C: ``python -m tests.support.opened``.

For an environment that holds what the command needs and nothing else; so this needs nothing either.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

_STOPPED = 130
"""The exit status of what Ctrl-C has stopped."""


def main(command: list[str]) -> int:
    """Return 0 if the command says where its page is, the page is there, and Ctrl-C ends the command."""
    # A shell that starts this in the background has it ignore Ctrl-C, and all that it starts with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as data:
        options = ["--no-open", "--port", "0", "--data", data]
        running = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        try:
            assert running.stdout is not None
            address = next(found[1] for line in running.stdout if (found := re.search(r"(http://\S+)", line)))
            with urllib.request.urlopen(address, timeout=60) as answer:
                title = re.search("<title>.*</title>", answer.read().decode())
            print(address, title[0] if title else "has no title")
            running.send_signal(signal.SIGINT)
            status = running.wait(60)
        finally:
            running.kill()
    print(f"stopped with status {status}")
    return 0 if title and status == _STOPPED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
