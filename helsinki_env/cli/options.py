"""Options shared by several commands: their ranges, and the game configuration."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args

import tyro

from helsinki_env.data import Node, UserError, shorten
from helsinki_env.engine.configuration import ConfigError, read_num_players
from helsinki_env.engine.spec import config_from_yaml, default_spec, spec_by_name, spec_of
from helsinki_env.utils.files import atomic_write, check_writable, check_writable_folder
from helsinki_env.utils.markdown import replace_section
from helsinki_env.utils.yaml_files import find_yaml

#: Minimum and maximum of integer options, by name; None is the 64-bit limit.
_INTEGER_RANGES: dict[str, tuple[int, int | None]] = {
    "seed": (0, None),
    "games": (1, 1_000_000_000),
    "unit_games": (1, 1_000_000_000),
    "shard_games": (1, 1_000_000),
    "positions": (1, 1_000_000_000),
    "resamples": (1, 1_000_000),
    "cap": (16, None),  # as `helsinki_env.evaluation.rating.sprt.Hypotheses`
    "batches": (1, 1_000_000),
    "pairs": (1, 10_000),
    "processes": (1, 1024),
    "rows": (1, 10_000),
    "determinizations": (2, 1_000_000),
    "version": (1, 1_000_000),
    "threads": (1, 1024),
}
#: Minimum and maximum of other numeric options.
_NUMBER_RANGES: dict[str, tuple[float, float | None]] = {
    "minutes": (0, None),
    "seconds": (0, None),
    "at_most": (-10_000, 10_000),
    "at_least": (-10_000, 10_000),
}


def checked(main: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function of a command in the form that tyro parses.

    The wrapper rejects invalid and out-of-range numbers, and its help shows the type of an optional value instead of
    None.
    """

    @wraps(main)
    def run(*values: Any, **named: Any) -> Any:
        given = inspect.signature(main).bind(*values, **named).arguments
        for name, parameter in inspect.signature(main).parameters.items():
            if given.get(name) == "" != parameter.default:
                remedy = "" if parameter.default is parameter.empty else "; omit it for the default"
                raise UserError(f"--{name.replace('_', '-')}: found '', expected a value{remedy}")
        for group in [value for value in given.values() if is_dataclass(value)]:
            given |= vars(group)
        for name, value in given.items():
            for one in value if isinstance(value, tuple) else (value,):
                option = Node(one, UserError, f"--{name.replace('_', '-')}")
                if isinstance(one, int) and name in _INTEGER_RANGES:
                    option.integer(*_INTEGER_RANGES[name])
                if isinstance(one, int | float) and name in _NUMBER_RANGES:
                    option.number(*_NUMBER_RANGES[name], inside=True)
        return main(*values, **named)

    signature, kinds = inspect.signature(main), inspect.get_annotations(main, eval_str=True)
    parameters = [
        one.replace(annotation=_shown(name, kinds[name], one.default)) for name, one in signature.parameters.items()
    ]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # allowed
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    del run.__wrapped__  # otherwise tyro would read the annotations of the wrapped function
    # One line for each argument, because the help keeps line breaks.
    run.__doc__ = re.sub(r"\n {12}(?=\S)", " ", main.__doc__ or "")
    return run


def _shown(name: str, kind: Any, default: object) -> Any:
    """Return the annotation of an option, so that the help shows the type of an optional value instead of None.

    A positional argument is shown by its name, in brackets if it is optional.
    """
    if tyro.conf.Positional in getattr(kind, "__metadata__", ()):
        shown = name.upper() if default is inspect.Parameter.empty else f"[{name.upper()}]"
        return Annotated[kind, tyro.conf.arg(metavar=shown, help_behavior_hint=None if default else "")]
    if default is not None:
        return kind
    inner = [
        part for part in get_args(kind.__origin__ if hasattr(kind, "__metadata__") else kind) if part is not NoneType
    ]
    metavar = inner[0].__name__.upper() if isinstance(inner[0], type) else None
    return Annotated[kind, tyro.conf.arg(metavar=metavar, help_behavior_hint="")]


OptionalText = Annotated[str | None, tyro.conf.arg(metavar="STR", help_behavior_hint="")]


@dataclass(frozen=True)
class GameOptions:
    """Game configuration options, shared by several commands."""

    game: OptionalText = None
    """name of the game, such as copenhagen; default: the game in --game-config, or helsinki."""
    game_config: OptionalText = None
    """a name in configs/game or the path to a YAML file; the other options override its values."""
    covered: OptionalText = None
    """comma-separated actions disabled for all seats, or first_game for the bottom row."""
    dry_roads: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """play with the expansion."""
    components: OptionalText = None
    """a name in configs/components or the path to a YAML file."""

    def config(self, num_players: int | None, default_players: int, counted_by: str = "--num-players") -> Any:
        """Return the game configuration. Takes the same arguments and raises the same errors as `read_game_config`."""
        settings = self.game_config, num_players, self.covered, self.dry_roads, self.components
        return read_game_config(*settings, default_players, self.game, counted_by)


GameVariant = Annotated[GameOptions, tyro.conf.arg(name="")]
AS_PUBLISHED = GameOptions()


def game_option(name: str) -> list[str]:
    """Return the words of a command line that choose a game; empty for the default game."""
    return [] if name == default_spec().name else ["--game", name]


def read_list(text: str) -> list[str]:
    """Return the values of a comma-separated option."""
    return [value.strip() for value in text.split(",") if value.strip()]


def read_integers(text: str, option: str) -> list[int]:
    """Return the integers of a comma-separated option; raise UserError if one is invalid or the list is empty."""
    values = read_list(text)
    if not values or not all(re.fullmatch(r"-?[0-9]{1,18}", value) for value in values):
        raise UserError(f"{option}: found {shorten(text)!r}, expected whole numbers, separated by commas")
    low, high = _INTEGER_RANGES[option.removeprefix("--").replace("-", "_")]
    return [Node(int(value), UserError, option).integer(low, high) for value in values]


def read_game_config(
    path: str | None,
    num_players: int | None,
    covered: str | None,
    dry_roads: bool,
    components: str | None,
    default_players: int,
    game: str | None = None,
    counted_by: str = "--num-players",
) -> Any:
    """Return the configuration from the file, overridden by the options; raise UserError if a value is invalid.

    In error messages, `counted_by` is the name of the option for the number of players.
    """
    players = default_players if num_players is None else num_players
    if path is None or num_players is not None:
        read_num_players(Node(players, ConfigError, counted_by))
    kind = (default_spec() if game is None else spec_by_name(game)).config
    chosen = kind(num_players=players) if path is None else config_from_yaml(config_file(path, "game", "--game-config"))
    if game is not None and not isinstance(chosen, kind):
        raise UserError(f"--game: found {game}, expected {spec_of(chosen).name}, the game of {path}")
    changes: dict[str, Any] = {}
    if num_players is not None:
        changes["num_players"] = num_players
    if covered is not None:
        changes["covered"] = read_list(covered)
    if dry_roads:
        changes["dry_roads"] = True
    if components is not None:
        changes["components"] = components
    return chosen.replace(**changes)


def config_file(name_or_path: str, kind: str, option: str) -> Path:
    """Return the path of the YAML file that an option names (see `find_yaml`); raise UserError if there is none."""
    return find_yaml(name_or_path, kind, UserError, option)


def out_file(path: Path, option: str = "--out") -> None:
    """Raise UserError if the output file of an option cannot be written."""
    _out(check_writable, path, option, "a file that can be written")


def out_folder(path: Path, option: str = "--out") -> None:
    """Raise UserError if files cannot be written to the output folder of an option."""
    _out(check_writable_folder, path, option, "a folder that can be written to")


def _out(check: Callable[[Path], None], path: Path, option: str, expected: str) -> None:
    try:
        check(path)
    except OSError as problem:
        where = f" ({shorten(problem.filename)})" if problem.filename not in (None, str(path)) else ""
        raise UserError(f"{option}: found {shorten(path)}, expected {expected}: {problem.strerror}{where}") from None


def game_text(config: Any) -> str:
    """Return a short description of the game configuration, for titles."""
    spec = spec_of(config)
    default = spec.config(num_players=config.num_players)
    extras = [] if spec.is_default else [spec.name.capitalize()]
    extras += [f"{len(config.covered)} actions covered"] if getattr(config, "covered", ()) else []
    extras += ["Dry roads"] if getattr(config, "dry_roads", False) else []
    extras += [f"components {config.components}"] if config.components != default.components else []
    return ", ".join([f"{config.num_players} players", *extras])


class SectionPage:
    """A page with marked sections for results. Raises UserError if it is unreadable or lacks a section in `parts`."""

    def __init__(self, path: Path, parts: Sequence[str]) -> None:
        self.path = path
        out_file(path, "--write")
        self._with(dict.fromkeys(parts))

    def write(self, contents: dict[str, str]) -> None:
        """Write results to the sections of the page. The page is read again because it may have been edited."""
        text = self._with(contents)
        with atomic_write(self.path, follow=True) as file:
            file.write(text.encode())

    def _with(self, contents: Mapping[str, str | None]) -> str:
        """Return the page with new section contents; None leaves a section unchanged."""
        try:
            with self.path.open(encoding="utf-8", newline="") as file:
                text = file.read()
            ends = "\r\n" if "\r\n" in text else "\n"
            text = text.replace("\r\n", "\n")
            for part, content in contents.items():
                now = replace_section(text, part)
                text = replace_section(text, part, now if content is None else content)
        except OSError as problem:
            raise UserError(f"--write: found {shorten(self.path)}, expected a page: {problem.strerror}") from None
        except ValueError as problem:
            raise UserError(f"--write: {shorten(self.path)}: {problem}") from None
        return text.replace("\n", ends)
