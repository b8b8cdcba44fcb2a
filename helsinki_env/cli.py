"""The command line: ``helsinki COMMAND``. Each command is a function in a module of its own; here they get their names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

__all__ = ["COMMANDS", "main"]

#: Name of each command, and the function that carries it out.
COMMANDS = {
    "simulate": "helsinki_env.commands.simulate:main",
    "replay": "helsinki_env.commands.replay:main",
    "train": "training.command:main",
    "bench": "helsinki_env.bench:main",
}


def _function(name: str) -> Callable[..., Any]:
    module, _, attribute = COMMANDS[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0, or 2 for input that cannot be used, with one line that says why."""
    import tyro

    given = list(sys.argv[1:] if arguments is None else arguments)
    # One command is enough to import; only the overview needs them all.
    names = [given[0]] if given and given[0] in COMMANDS else list(COMMANDS)
    commands = {name: _function(name) for name in names}
    if len(commands) == 1:
        commands["help"] = _no_command  # tyro drops the command's name if there is but one
    try:
        tyro.extras.subcommand_cli_from_dict(
            commands,
            prog="helsinki",
            description="The board game Helsinki for self-play, benchmarks and studies. "
            "Example: helsinki simulate --players random,greedy --games 1000",
            args=given,
        )
    except (ValueError, ImportError, OSError) as problem:
        print(f"helsinki: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("helsinki: stopped", file=sys.stderr)
        return 130
    return 0


def _no_command() -> None:
    """Show what commands there are: helsinki --help."""


if __name__ == "__main__":
    sys.exit(main())
