"""Define game specifications: one object per game that connects its kernels with configurations, records and arrays.

Game-independent code (environments, records, search players, tournaments, training) accesses a game only through its
specification. `spec_of` returns the specification that belongs to a configuration.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Node, UserError, choices_text, read_yaml, short_repr
from helsinki_env.engine.configuration import ConfigError
from helsinki_env.engine.states import States
from helsinki_env.utils.streams import supports_color
from helsinki_env.utils.yaml_files import find_yaml

if TYPE_CHECKING:
    from helsinki_env.engine.game import BoardGame
    from helsinki_env.engine.ui_actions import ActionSelection, UIAction

__all__ = [
    "GameSpec",
    "NoEpisodeOptions",
    "RuleSection",
    "SetupOption",
    "config_from_dict",
    "config_from_yaml",
    "config_to_dict",
    "default_config",
    "default_spec",
    "game_names",
    "package_parts",
    "spec_by_name",
    "spec_of",
    "why_illegal",
]


@dataclass(frozen=True)
class NoEpisodeOptions:
    """The episode options of a game without random options."""

    num_players: ClassVar[None] = None

    def record(self) -> npt.NDArray[Any]:
        """Return the input of `contract.draw_setup`, an array of one record."""
        return np.zeros(1, np.dtype((np.record, [("chance", np.uint64)])))


def _accept_all(states: States, config: Any) -> None:
    """Accept any records without checks."""


@dataclass(frozen=True)
class SetupOption:
    """A game option that human players may choose before a game.

    Attributes:
        name: name of the option.
        key: configuration key that the option sets.
        label: short label for web pages.
        explanation: explanation in one sentence.
        value: value that a yes/no option sets if it is chosen.
        choices: possible elements of a list value; empty for a yes/no option.
    """

    name: str
    key: str
    label: str
    explanation: str
    value: Any = True
    choices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the option as a dict of JSON types for a web page."""
        kind = "several" if self.choices else "flag"
        return {
            "name": self.name,
            "label": self.label,
            "says": self.explanation,
            "type": kind,
            "choices": list(self.choices),
        }

    def config_values(self, answer: object) -> dict[str, Any]:
        """Return the configuration values for an answer, which is yes, no, or a selection of the choices.

        Raises:
            ConfigError: if the answer is invalid.
        """
        entry = Node(answer, ConfigError, self.name)
        if not self.choices:
            return {self.key: self.value} if entry.boolean() else {}
        names = [one.choice(self.choices) for one in entry.entries("names", most=len(self.choices))]
        return {self.key: names} if names else {}


def why_illegal(game: Any, action: Any) -> str:
    """Return an error message that names an illegal action, the phase and the legal actions."""
    to_string = game.spec.action_to_string
    try:
        what = f"action {action} ({to_string(action, game.config)})"
        problem = f"{what} is not legal in phase {game.phase} of seat {game.seat}"
    except ValueError as found:
        what = str(found)
        problem = f"{what}; this is phase {game.phase} of seat {game.seat}"
    if game.done:
        return f"{what}: the game is over; start a new one"
    legal = [to_string(int(i), game.config) for i in game.legal_actions()]
    listed = ", ".join(legal[:20]) + (f", ... ({len(legal)} in all)" if len(legal) > 20 else "")
    return f"{problem}. Legal: {listed}"


class RuleSection(NamedTuple):
    """A section of the rules in words, for one configuration.

    Attributes:
        title: title of the section.
        rules: sentences for all readers.
        details: additional lines for language models: exact cases, components, notation.
        page: additional sentences for web pages, which do not show the details.
    """

    title: str
    rules: Sequence[str] = ()
    details: Sequence[str] = ()
    page: Sequence[str] = ()


@dataclass(frozen=True)
class GameSpec:
    """A game specification. Creating it registers the game.

    Configurations must be frozen, hashable and picklable. Their attributes are `num_players`, `reward` (win, rank or
    margin), `denied` (a tuple for each seat), `components` (a name), `component_set` (the content of that component
    file), `tables` (the same content for kernels, an array of one record) and `digest`. Their methods are
    `replace(**options)`, `to_dict()` and `from_dict(data)`.

    Attributes:
        name: name of the game, in lower case.
        is_listed: whether `game_names` lists the game. Others are known by name once their module is imported.
        version: version of the game's environment, which increases with any change that an agent could observe.
        config: class of the game's configurations. Its constructor without arguments returns the standard game.
        options: configuration keys that may be changed when an environment is reset.
        phases: phase names, indexed by the `phase` field.
        setup_fields: record fields that define the game options and are unchanged by a new deal.
        new_states: returns the given number of blank records for a configuration.
        apply_setup: writes the game options of a configuration into blank records.
        config_of: returns the configuration of a record, given one with the same components.
        action_kinds: returns the action kinds, each with its number of ids, in id order.
        observation_size: returns the length of an observation, F.
        action_to_string: returns an action as text.
        why_illegal: returns a message that explains why an action is illegal and lists the legal actions.
        states_from_observations: returns records, with blank hidden cards, for observations of acting seats, int8
            (B, F). None: the game has no hidden information, and `contract.reconstruct_state` validates its input.
        scratch: dtype of the scratch record of `contract.determinize_state`.
        episodes: class of the random episode options. `record()` returns the input of `contract.draw_setup`. If
            `num_players` is None, the configured number of players is used.
        check: raises ValueError for invalid records. The message names the record and the field.
        render: returns the drawing module, which is imported on demand. `ansi` and `svg` draw a game, and `rgb_array`
            converts a picture. `svg` returns a `helsinki_env.drawing.canvas.Picture`. None: the game has no drawings.
        list_ui_actions: returns the legal actions of a seat in words, with the spots to click; empty if the seat is not
            acting. They reveal no hidden information. Raises ValueError if the seat does not exist. None: the game has
            no web page.
        available_selection: returns the actions that a seat may choose in any order (`ActionSelection`), or None if the
            next action is chosen alone. Arguments and errors are the same as for `list_ui_actions`. None: actions are
            never chosen together.
        scales: returns the divisors that normalize observations of a given length for networks, float32 (F,), or None
            for a length that the game does not use. None: no scales are defined.
        deniable: names of everything that can be disabled for a seat, by number from 0 to 14.
        used: returns, for each seat, the set of deniable actions or abilities that it had used or taken by the end,
            int16 (B, seats), bit i for number i. The inputs are the configuration, the observations of the last acting
            seats, int8 (B, F), and these seats, int64 (B,).
        to_dict: returns a game, or one seat's view of it, as a dict of JSON types.
        from_dict: returns the game for the output of `to_dict`, by default with the configuration given there.
        revealing_fields: record fields, at least one of which changes when an action reveals information that was
            hidden from all seats.
        hidden_fields: record fields with a row for each seat that only that seat sees; used for global states.
        hidden_piles: record fields that hold a pile of cards, with the next card last and the size in `NAME_size`.
        setup_options: options that human players may choose before a game.
        allows_ties: whether players can tie at the end. If not, `contract.rank_of` returns distinct ranks.
        ranks: returns the ranks, int64 (G, seats), for final points, (G, seats). None: points do not determine ranks.
        text: returns the module that describes rules, positions and events in words (`helsinki_env.text`), which is
            imported on demand. None: the game has no texts.
    """

    name: str
    version: int
    config: type[Any]
    options: tuple[str, ...]
    phases: tuple[str, ...]
    setup_fields: tuple[str, ...]
    new_states: Callable[[Any, int], States]
    apply_setup: Callable[[States, Any], None]
    config_of: Callable[[Any, Any], Any]
    action_kinds: Callable[[Any], tuple[tuple[str, int], ...]]
    observation_size: Callable[[Any], int]
    action_to_string: Callable[[int, Any], str]
    why_illegal: Callable[[Any, object], str] = why_illegal
    states_from_observations: Callable[[Any, npt.NDArray[np.int8]], States] | None = None
    scratch: np.dtype[Any] | None = None
    episodes: type[Any] = NoEpisodeOptions
    check: Callable[[States, Any], None] = _accept_all
    render: Callable[[], Any] | None = None
    list_ui_actions: Callable[[Any, int], list[UIAction]] | None = None
    available_selection: Callable[[Any, int], ActionSelection | None] | None = None
    scales: Callable[[int], npt.NDArray[np.float32] | None] | None = None
    deniable: Mapping[int, str] = field(default_factory=dict)
    used: Callable[[Any, npt.NDArray[np.int8], npt.NDArray[np.int64]], npt.NDArray[np.int16]] | None = None
    to_dict: Callable[..., dict[str, Any]] | None = None
    from_dict: Callable[..., Any] | None = None
    revealing_fields: tuple[str, ...] = ()
    hidden_fields: tuple[str, ...] = ()
    hidden_piles: tuple[str, ...] = ()
    setup_options: tuple[SetupOption, ...] = ()
    is_listed: bool = True
    allows_ties: bool = False
    ranks: Callable[[npt.NDArray[np.integer]], npt.NDArray[np.int64]] | None = None
    text: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        """Register the game."""
        _BY_CONFIG[self.config] = self
        _BY_NAME[self.name] = self

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle a specification as the registered object itself."""
        return _of_type, (self.config,)

    @property
    def is_default(self) -> bool:
        """Whether data without a game name belongs to this game."""
        return self.name == _games().DEFAULT

    @property
    def environment(self) -> str:
        """The name of the game's environment with its version, such as helsinki_v1."""
        return f"{self.name}_v{self.version}"

    @property
    def game(self) -> type[BoardGame]:
        """The class of single games."""
        from helsinki_env.engine.game import game_class

        return game_class(self)

    @property
    def render_modes(self) -> tuple[str, ...]:
        """The supported render modes."""
        return () if self.render is None else ("ansi", "rgb_array", "svg")

    def draw(
        self, game: Any, mode: str, last: int | None = None, viewer: int | None = None, width: int | None = None
    ) -> Any:
        """Return a drawing: text for svg and ansi, uint8 (height, width, 3) for rgb_array. For human, print the text.

        Terminal text is colored if standard output supports it (`helsinki_env.utils.streams.supports_color`).

        Args:
            game: the game to draw.
            mode: one of `render_modes`, or "human".
            last: the last action, which the drawing highlights.
            viewer: the seat for which the game is drawn; None shows all cards.
            width: width of an rgb_array in pixels; None uses the width of the picture.

        Raises:
            ValueError: if the game has no drawings.
        """
        if self.render is None:
            raise UserError(f"render_mode: found {mode!r}, expected None: {self.name} has no drawings")
        render = self.render()
        decision = None if last is None else self.action_to_string(last, game.config)
        if mode in ("human", "ansi"):
            text = render.ansi(game, last_decision=decision, viewer=viewer, color=supports_color(sys.stdout))
            if mode == "human":
                from helsinki_env.utils.terminal import make_encodable  # imports Rich, which is slow

                print(make_encodable(text, getattr(sys.stdout, "encoding", None) or "utf-8"), flush=True)
                return None
            return text
        picture = render.svg(game, last_decision=decision, viewer=viewer)
        if mode != "rgb_array":
            return picture
        return render.rgb_array(picture) if width is None else render.rgb_array(picture, width)

    def num_actions(self, config: Any) -> int:
        """Return the number of actions, A."""
        return sum(size for _, size in self.action_kinds(config))

    def check_config(self, config: object) -> Any:
        """Return a configuration of this game unchanged. Raise ValueError for any other object."""
        if not isinstance(config, self.config):
            name = self.config.__name__
            raise UserError(f"config: found {config!r}, expected a {name}, such as {name}(num_players=3)")
        return config

    def config_or(self, env: type, config: object, num_players: Any, /, **options: Any) -> Any:
        """Return `config` after checking it, or a new configuration with these options if it is None.

        Raises:
            ConfigError: for invalid options. UserError: for a configuration together with options. TypeError: for an
                unknown option; the message also lists the arguments of the environment class `env`.
        """
        if num_players is not None:
            options["num_players"] = num_players
        known = self.config.keys()
        for name in options:
            if name not in known:
                arguments = dict.fromkeys([*signature(env).parameters, *known])
                del arguments["options"]
                raise TypeError(f"found argument {name!r}, expected {choices_text(arguments, name)}")
        if config is None:
            return self.config(**options)
        if options:
            raise UserError(f"config: found {', '.join(options)} too, expected either a config or its options")
        return self.check_config(config)


def package_parts(package: str) -> dict[str, Any]:
    """Return the fields of a specification that the modules of a package provide. They are imported on demand.

    The modules are `position` (`to_dict`, `from_dict`), `render`, `text` and `ui_actions` (`ui_action`, `selection`).
    """

    def module(name: str) -> Any:
        return import_module(f"{package}.{name}")

    def is_acting(game: Any, seat: int) -> bool:
        return game.validate_seat(seat) == game.seat and not game.done

    def list_ui_actions(game: Any, seat: int) -> list[UIAction]:
        actions = game.legal_actions() if is_acting(game, seat) else ()
        return [module("ui_actions").ui_action(game, int(action)) for action in actions]

    return {
        "render": lambda: module("render"),
        "text": lambda: module("text"),
        "to_dict": lambda game, seat=None: module("position").to_dict(game, seat),
        "from_dict": lambda data, config=None: module("position").from_dict(data, config),
        "list_ui_actions": list_ui_actions,
        "available_selection": lambda game, seat: (
            module("ui_actions").selection(game) if is_acting(game, seat) else None
        ),
    }


_BY_CONFIG: dict[type[Any], GameSpec] = {}
_BY_NAME: dict[str, GameSpec] = {}


def _games() -> Any:
    return import_module("helsinki_env.games")


@cache
def _bundled_games() -> tuple[str, ...]:
    """Return the names of the package's games. The module `game` of each registers its specification."""
    return tuple(found.name for found in iter_modules(_games().__path__))


def _load_game(name: object) -> None:
    """Import a game of the package, if there is one with this name."""
    if name in _bundled_games():
        import_module(f"{_games().__name__}.{name}.game")


def _load_game_of(config: type[Any]) -> None:
    _load_game(config.__module__.removeprefix(f"{_games().__name__}.").partition(".")[0])


def _of_type(config: type[Any]) -> GameSpec:
    _load_game_of(config)
    return _BY_CONFIG[config]


def spec_of(config: object) -> GameSpec:
    """Return the specification for a configuration. Raise ValueError if the object is not a configuration."""
    kind = type(config)
    if kind not in _BY_CONFIG:
        _load_game_of(kind)
    spec = _BY_CONFIG.get(kind)
    if spec is None:
        kinds = ", ".join(spec_by_name(name).config.__name__ for name in game_names())
        raise UserError(f"config: found {config!r}, expected the configuration of a game: {kinds}")
    return spec


def spec_by_name(name: object) -> GameSpec:
    """Return the specification of the game with a name. Raise ValueError if the name is unknown."""
    if not isinstance(name, str) or name not in (*_BY_NAME, *_bundled_games()):
        expected = choices_text(game_names(), name) if isinstance(name, str) else ", ".join(game_names())
        raise UserError(f"game: found {short_repr(name)}, expected {expected}")
    _load_game(name)
    return _BY_NAME[name]


def default_spec() -> GameSpec:
    """Return the specification of the default game, for data that does not name a game."""
    return spec_by_name(_games().DEFAULT)


def default_config(**options: Any) -> Any:
    """Return a configuration of the default game.

    Raises:
        ConfigError: if a key is unknown or a value is invalid.
    """
    return default_spec().config.from_dict(options)


def game_names() -> list[str]:
    """Return the sorted names of all listed games."""
    return sorted({*_bundled_games(), *(name for name, spec in _BY_NAME.items() if spec.is_listed)})


def config_to_dict(config: Any) -> dict[str, Any]:
    """Return a configuration, with the name of its game, as a dict of JSON types for `config_from_dict`."""
    spec = spec_of(config)
    values: dict[str, Any] = config.to_dict()
    return values if spec.is_default else {"game": spec.name, **values}


def config_from_dict(data: Mapping[str, Any] | Node) -> Any:
    """Return a configuration for a dict with the keys of a game's configuration and ``game``, the name of the game.

    Raises:
        ConfigError: if the game or a key is unknown, or if a value is invalid.
    """
    data = Node.of(data, ConfigError, "the configuration")
    default = default_spec()
    if not isinstance(data.value, Mapping):
        data.mapping(("game", *default.config.keys()))
    entry = data.get("game", default.name)
    known = isinstance(entry.value, str) and entry.value in _BY_NAME
    name = entry.value if known else entry.choice(game_names())
    data.value = {key: value for key, value in data.value.items() if key != "game"}
    return spec_by_name(name).config.from_dict(data)


def config_from_yaml(name_or_path: str | Path) -> Any:
    """Return the configuration in a YAML file with the keys of `config_from_dict`.

    Args:
        name_or_path: name of a file in ``configs/game``, or a path.

    Raises:
        ConfigError: as for `config_from_dict`; the message also names the file.
    """
    return config_from_dict(read_yaml(find_yaml(name_or_path, "game", ConfigError), ConfigError))
