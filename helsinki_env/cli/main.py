"""The ``helsinki`` command, with one subcommand per task, each in its own module.

Modules are imported on demand, so that ``helsinki --help`` is fast and only training imports PyTorch. Each module has a
function ``main`` whose parameters become the command's options (tyro reads their names, types, defaults and
descriptions).

User errors (`helsinki_env.data.UserError`), missing extras and system errors are printed as one line, with exit status
2; HELSINKI_DEBUG=1 prints the traceback. Any other error is a bug: the command prints the traceback, asks the user to
report it, and exits with status 1.
"""

from __future__ import annotations

import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import helsinki_env.registration  # noqa: F401  # players of the user may make environments by id
from helsinki_env.data import UserError, choices_text
from helsinki_env.utils.extras import MissingExtraError
from helsinki_env.utils.stopping import StoppableCommand, stoppable
from helsinki_env.utils.terminal import prepare_output

#: Command lines that do not name a command.
_WITHOUT_COMMAND: tuple[list[str], ...] = ([], ["-h"], ["--help"], ["help"], ["--version"])


@dataclass(frozen=True)
class Command:
    """A subcommand."""

    #: Module that defines a `main` function, or a `main` mapping from names to functions; imported on demand.
    module: str
    summary: str
    example: str

    def load(self) -> Callable[..., Any] | dict[str, Callable[..., Any]]:
        """Import the module and return its function or functions."""
        main: Callable[..., Any] | dict[str, Callable[..., Any]] = import_module(self.module).main
        return main


COMMANDS = {
    name: Command(f"helsinki_env.cli.commands.{name}", summary, f"helsinki {name} {example}".rstrip())
    for name, summary, example in (
        ("simulate", "Play games between players and show their win rates.",
         "--players greedy,heuristic --games 1000 --out games.jsonl"),
        ("play", "Play in a browser, alone or with others.", "--players human,heuristic"),
        ("mcp", "Let assistants play over the Model Context Protocol.", "--http --port 8001"),
        ("replay", "Show a recorded game in the terminal, as pictures or as a page.",
         "games.jsonl --record 3 --svg game.svg"),
        ("train", "Train a player by self-play.", "--preset quick --out runs/first"),
        ("export", "Export a trained network to ONNX, to play without PyTorch.", "runs/quick --out model.onnx"),
        ("arena", "Play a tournament that can be stopped and resumed.",
         "--players random,greedy --games 200 --num-players 3 --out runs/arena"),
        ("rate", "Rate the players of a tournament, with intervals and figures.",
         "runs/arena --out runs/arena/report"),
        ("ladder", "Play a tournament and write the page with its ratings.",
         "configs/arena/ladder.yaml --run runs/ladder --out runs/ladder/ladder.md"),
        ("evaluate", "Rate any player against fixed opponents, with a certificate.",
         "run heuristic --out runs/evaluate"),
        ("dataset", "Write the transitions of games for offline learning.",
         "--players net --games 1000 --out runs/dataset"),
        ("check", "Check whether a player follows the protocol, before it is rated.", "heuristic"),
        ("balance", "Study which actions are too strong or too weak.", "run quick --out runs/balance"),
        ("mini", "Measure exact exploitability in a small game.",
         "--components small --num-players 2 --out runs/mini"),
        ("compile", "Precompile all kernels.", ""),
        ("bench", "Measure how fast the environment is on this machine.", "--json bench.json"),
    )
}  # fmt: skip


def _help() -> str:
    width = max(len(name) for name in COMMANDS)
    lines = ["usage: helsinki COMMAND [OPTIONS]", "", "Board games for self-play agents and studies.", ""]
    lines += ["commands:", *(f"  {name:{width}}  {command.summary}" for name, command in COMMANDS.items()), ""]
    lines += ["examples:", *(f"  {command.example}" for command in COMMANDS.values()), ""]
    lines += ["helsinki COMMAND --help lists a command's options; helsinki --version the version."]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None, on_ready: Callable[[], object] | None = None) -> int:
    """Run a command and return its exit status: 0, 1 for a bug, 2 for a user or system error, or 130 after Ctrl-C.

    Without `arguments`, run the command line of this process; the process then ends as soon as a signal stops the
    command. `on_ready` is called once Ctrl-C is handled, so that the caller can remove its own handlers.
    """
    command_line = list(sys.argv[1:] if arguments is None else arguments)
    prepare_output()
    try:
        if command_line[:1] in _WITHOUT_COMMAND:
            return _print_help(command_line)
        return _command(command_line, arguments is None, on_ready)
    except BrokenPipeError:  # the reading end of the pipe is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _print_help(command_line: Sequence[str]) -> int:
    """Print the help text or version for a command line without a command."""
    if command_line == ["--version"]:
        import helsinki_env

        print(f"helsinki-env {helsinki_env.__version__}")
        return 0
    print(_help(), file=sys.stdout if command_line else sys.stderr)
    return 0 if command_line else 2


def _command(command_line: Sequence[str], exits: bool, on_ready: Callable[[], object] | None) -> int:
    """Run a command (see `main`). With `exits`, the process ends if a signal stops the command."""
    name, rest = command_line[0], list(command_line[1:])
    if name not in COMMANDS:
        return _complain("helsinki", f"found command {name!r}, expected {choices_text(COMMANDS, name)}")
    stopping = StoppableCommand(command_line)
    try:
        if on_ready is not None:
            on_ready()
        with stoppable(stopping), _warnings_in_a_line(f"helsinki {name}"):
            return _run(name, rest)
    except KeyboardInterrupt:
        # If a KeyboardInterrupt has passed through an exec of source text (as in dataclasses), Python ends the process
        # with the signal and ignores the return value. Another exec resets that state.
        exec("")
        stopping.report()
        if exits:
            stopping.exit_process()
        return stopping.status
    except BrokenPipeError:
        raise
    except Exception as problem:
        if os.environ.get("HELSINKI_DEBUG", "0") not in ("", "0"):
            raise
        if isinstance(problem, UserError | MissingExtraError | OSError):
            return _complain(f"helsinki {name}", str(problem))
        if isinstance(problem, MemoryError):
            return _complain(f"helsinki {name}", f"found too little memory, expected a smaller task ({problem})")
        return _report(command_line)


@contextmanager
def _warnings_in_a_line(command: str) -> Iterator[None]:
    """Print the project's own warnings in the same form as its errors: as one line, without the code location."""
    original = warnings.formatwarning

    def in_a_line(message: Warning | str, category: type[Warning], *location: Any, **line: Any) -> str:
        if category.__module__.partition(".")[0] != "helsinki_env":
            return original(message, category, *location, **line)
        return f"{command}: warning: {' '.join(str(message).split())}\n"

    warnings.formatwarning = in_a_line
    try:
        yield
    finally:
        warnings.formatwarning = original


def _complain(command: str, text: str) -> int:
    print(f"{command}: {' '.join(text.split())}", file=sys.stderr)
    return 2


def _report(command_line: Sequence[str]) -> int:
    """Print the traceback of an unexpected error, and ask the user to report it."""
    import helsinki_env

    traceback.print_exc()
    print(
        f"helsinki {command_line[0]}: this is a bug in helsinki-env {helsinki_env.__version__}, or in a player or "
        f"package named above. Please report it to the project, with these lines and the command: "
        f"{shlex.join(['helsinki', *command_line])}",
        file=sys.stderr,
    )
    return 1


def _run(name: str, words: list[str]) -> int:
    import tyro

    from helsinki_env.cli.options import checked

    command = COMMANDS[name]
    main, prog = command.load(), f"helsinki {name}"
    try:
        if isinstance(main, dict):
            commands = {part: checked(function) for part, function in main.items()}
            status = tyro.extras.subcommand_cli_from_dict(commands, prog=prog, args=words)
        else:
            status = tyro.cli(checked(main), prog=prog, args=words)
    except SystemExit as leaving:  # tyro has already printed the help or an error
        return leaving.code if isinstance(leaving.code, int) else 2
    return status if isinstance(status, int) else 0


if __name__ == "__main__":
    from helsinki_env.cli.program import main as program

    sys.exit(program())
