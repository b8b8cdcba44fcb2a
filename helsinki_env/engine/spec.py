"""What a game brings besides its kernels: one object that says how its configurations, records and arrays go together.

Whatever is written for any game (environments, records, players that search, tournaments, training) takes what it needs
of a game from here, and finds it by the configuration that it is given: `spec_of`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from helsinki_env.colors import shows_color
from helsinki_env.data import Entry, UserError, one_of, read_yaml, shown
from helsinki_env.engine.configuration import ConfigError
from helsinki_env.engine.states import States
from helsinki_env.yaml_files import find_yaml

if TYPE_CHECKING:
    from helsinki_env.engine.game import BoardGame
    from helsinki_env.engine.touch import Selection, Touch

__all__ = [
    "GameSpec",
    "NoEpisodes",
    "Setup",
    "config_from_dict",
    "config_from_yaml",
    "config_to_dict",
    "game_names",
    "spec_named",
    "spec_of",
    "usual_spec",
]


@dataclass(frozen=True)
class NoEpisodes:
    """What random episodes draw in a game that leaves nothing to be drawn."""

    num_players: ClassVar[None] = None

    def record(self) -> npt.NDArray[Any]:
        """Return what `contract.draw_setup` reads, an array of one record."""
        return np.zeros(1, np.dtype((np.record, [("chance", np.uint64)])))


def _anything(states: States, config: Any) -> None:
    """Take any records for sound."""


@dataclass(frozen=True)
class Setup:
    """Something about a game that people may choose before it begins.

    Attributes:
        name: of the choice.
        key: of the configuration that it is about.
        label: what pages call it, in a few words.
        says: what it means, in a sentence.
        value: of the key, if it is chosen.
        choices: what the value is a list of, if there is more to choose than yes or no.
    """

    name: str
    key: str
    label: str
    says: str
    value: Any = True
    choices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain data for a page."""
        kind = "several" if self.choices else "flag"
        return {"name": self.name, "label": self.label, "says": self.says, "type": kind, "choices": list(self.choices)}

    def chosen(self, answer: object) -> dict[str, Any]:
        """Return the keys of the configuration that follow from an answer: yes, no, or some of the choices.

        Raises:
            ConfigError: if it is none.
        """
        entry = Entry(answer, ConfigError, self.name)
        if not self.choices:
            return {self.key: self.value} if entry.flag() else {}
        names = [one.choice(self.choices) for one in entry.entries("names", most=len(self.choices))]
        return {self.key: names} if names else {}


@dataclass(frozen=True)
class GameSpec:
    """A game.

    A configuration is frozen, hashable and picklable, and has the attributes `num_players`, `reward` (win, rank or
    margin), `denied` (a tuple for each seat), `components` (a name), `loaded` (what stands in that component file),
    `tables` (the same for kernels, an array of one record) and `digest`, and the methods `changed(**options)`,
    `to_dict()` and `from_dict(data)`.

    Attributes:
        name: of the game, in small letters.
        unnamed: whether data that names no game is of this one: the first that there was.
        version: of its environment; goes up with whatever an agent could notice.
        config: the type of its configurations; made without arguments it is the usual game.
        options: what of a configuration a reset of a batch may change.
        phases: their names, in the order of the numbers in the field `phase`.
        setup: the fields of a record that say which game is played, and survive a new deal.
        new_states: blank records of a configuration, as many as are asked for.
        apply_setup: writes into blank records which game a configuration plays.
        config_of: the configuration of a record, made from one of the same components.
        kinds: the kinds of decisions and how many ids each has, in the order of the ids.
        features: the length of an observation, F.
        why_illegal: says of a decision in a game why it is none, and what is legal.
        describe: a decision as text.
        restore: records from observations int8 (B, F) of the seats to move, hidden cards blank; None if nothing is ever
            hidden and `contract.restore` checks by itself what it reads.
        scratch: the type of the scratch record of `contract.redeal`.
        episodes: the type of what random episodes draw; its `record()` is what `contract.draw_setup` reads, and None in
            `num_players` leaves the number of players as configured.
        check: raises ValueError for records that cannot be played, naming record and field.
        render: returns the module of drawings, with `ansi`, `svg` and `rgb_array`, which draw plain data, `spots`,
            which says where things lie in the picture, and `svg_and_spots`, both from one drawing; so that who draws
            nothing need not wait for it. None: there are none.
        touches: what a seat may decide in a game, in words, and which spots are clicked for it. None: no page plays it.
        selection: the actions in a row that a seat may choose in any order now (`touch.Selection`), or None if the next
            action is chosen alone. None: no action is ever chosen together with others.
        scales: what the entries of an observation of a length are divided by for networks of other libraries, float32
            (F,); None for a length that no observation of the game has. None: nothing is said.
        deniable: what can be denied to a seat, names by number, 0 to 14.
        used: which of the things that can be denied each seat had used or taken by the end, int16 (B, seats), bit i for
            number i, from what the seats that moved last see, int8 (B, F), and who they are, int64 (B,).
        to_dict: a game as plain data, or what one seat may see of it.
        from_dict: the game that `to_dict` wrote.
        reveals: fields of a record of which one changes whenever a decision shows anybody what was hidden from all.
        setups: what people may choose before a game.
        shared_places: whether places may be shared at the end; if not, `contract.place_of` gives each seat its own.
        places: the places, int64 (G, seats), that points at the end make, (G, seats). None: they depend on more.
    """

    name: str
    version: int
    config: type[Any]
    options: tuple[str, ...]
    phases: tuple[str, ...]
    setup: tuple[str, ...]
    new_states: Callable[[Any, int], States]
    apply_setup: Callable[[States, Any], None]
    config_of: Callable[[Any, Any], Any]
    kinds: Callable[[Any], tuple[tuple[str, int], ...]]
    features: Callable[[Any], int]
    why_illegal: Callable[[Any, object], str]
    describe: Callable[[int, Any], str]
    restore: Callable[[Any, npt.NDArray[np.int8]], States] | None = None
    scratch: np.dtype[Any] | None = None
    episodes: type[Any] = NoEpisodes
    check: Callable[[States, Any], None] = _anything
    render: Callable[[], Any] | None = None
    touches: Callable[[Any, int], list[Touch]] | None = None
    selection: Callable[[Any, int], Selection | None] | None = None
    scales: Callable[[int], npt.NDArray[np.float32] | None] | None = None
    deniable: Mapping[int, str] = field(default_factory=dict)
    used: Callable[[Any, npt.NDArray[np.int8], npt.NDArray[np.int64]], npt.NDArray[np.int16]] | None = None
    to_dict: Callable[..., dict[str, Any]] | None = None
    from_dict: Callable[[Mapping[str, Any]], Any] | None = None
    reveals: tuple[str, ...] = ()
    setups: tuple[Setup, ...] = ()
    unnamed: bool = False
    shared_places: bool = False
    places: Callable[[npt.NDArray[np.integer]], npt.NDArray[np.int64]] | None = None

    def __post_init__(self) -> None:
        """Make the game known."""
        _BY_CONFIG[self.config] = self
        _BY_NAME[self.name] = self

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are the game itself."""
        return _of_type, (self.config,)

    @property
    def game(self) -> type[BoardGame]:
        """The class of one game."""
        from helsinki_env.engine.game import class_of

        return class_of(self)

    @property
    def render_modes(self) -> tuple[str, ...]:
        """What a game can be drawn as."""
        return () if self.render is None else ("ansi", "rgb_array", "svg")

    def draw(
        self, game: Any, mode: str, last: int | None = None, viewer: int | None = None, width: int | None = None
    ) -> Any:
        """Draw a game: svg and ansi as text, rgb_array as uint8 (height, width, 3); human prints and returns None.

        Text has colors where standard output shows them (`helsinki_env.colors.shows_color`).

        Args:
            game: what is drawn.
            mode: one of `render_modes`, or "human".
            last: the decision taken last, which is named too.
            viewer: the seat that looks; None shows all cards.
            width: of an rgb_array, in pixels; None: as wide as the picture.

        Raises:
            ValueError: if the game has no drawings.
        """
        if self.render is None or self.to_dict is None:
            raise UserError(f"render_mode: found {mode!r}, but {self.name} has no drawings")
        render, position, components = self.render(), self.to_dict(game), game.config.loaded
        decision = None if last is None else self.describe(last, game.config)
        if mode in ("human", "ansi"):
            text = render.ansi(
                position, components, last_decision=decision, viewer=viewer, color=shows_color(sys.stdout)
            )
            if mode == "human":
                from helsinki_env.terminal import written_in  # imports Rich, which takes a while

                print(written_in(text, getattr(sys.stdout, "encoding", None) or "utf-8"), flush=True)
                return None
            return text
        picture = render.svg(position, components, last_decision=decision, viewer=viewer)
        if mode != "rgb_array":
            return picture
        return render.rgb_array(picture) if width is None else render.rgb_array(picture, width)

    def ids(self, config: Any) -> int:
        """Return how many decisions there are, A."""
        return sum(size for _, size in self.kinds(config))

    def checked(self, config: object) -> Any:
        """Return what was given as a configuration; ValueError if it is none of this game."""
        if not isinstance(config, self.config):
            name = self.config.__name__
            raise UserError(f"config: found {config!r}, expected a {name}, such as {name}(num_players=3)")
        return config


_BY_CONFIG: dict[type[Any], GameSpec] = {}
_BY_NAME: dict[str, GameSpec] = {}


def _of_type(config: type[Any]) -> GameSpec:
    return _BY_CONFIG[config]


def spec_of(config: object) -> GameSpec:
    """Return the game that a configuration is of; ValueError if it is of none."""
    spec = _BY_CONFIG.get(type(config))
    if spec is None:
        kinds = ", ".join(kind.__name__ for kind in _BY_CONFIG)
        raise UserError(f"config: found {config!r}, expected the configuration of a game: {kinds}")
    return spec


def spec_named(name: object) -> GameSpec:
    """Return the game of a name; ValueError if there is none."""
    if not isinstance(name, str) or name not in _BY_NAME:
        found = one_of(game_names(), name) if isinstance(name, str) else ", ".join(game_names())
        raise UserError(f"game: found {shown(name)}, expected {found}")
    return _BY_NAME[name]


def usual_spec() -> GameSpec:
    """Return the game that is meant where none is named."""
    return next(spec for spec in _BY_NAME.values() if spec.unnamed)


def game_names() -> list[str]:
    """Return the names of all games that are known."""
    return list(_BY_NAME)


def config_to_dict(config: Any) -> dict[str, Any]:
    """Return a configuration as plain data that says of which game it is; `config_from_dict` reads it."""
    spec = spec_of(config)
    values: dict[str, Any] = config.to_dict()
    return values if spec.unnamed else {"game": spec.name, **values}


def config_from_dict(data: Mapping[str, Any] | Entry) -> Any:
    """Return the configuration in plain data: the keys of the game's own, and ``game``, its name.

    Raises:
        ConfigError: for a game that is none, an unknown key or a value that cannot be used.
    """
    data = Entry.of(data, ConfigError, "the configuration")
    usual = usual_spec()
    if not isinstance(data.value, Mapping):
        data.mapping(("game", *usual.config.keys()))
    name = data.get("game", usual.name).choice(game_names())
    data.value = {key: value for key, value in data.value.items() if key != "game"}
    return spec_named(name).config.from_dict(data)


def config_from_yaml(name_or_path: str | Path) -> Any:
    """Return the configuration in a YAML file with the keys of `config_from_dict`.

    Args:
        name_or_path: the name of a file in ``configs/game`` or a path.

    Raises:
        ConfigError: as in `config_from_dict`, naming the file too.
    """
    return config_from_dict(read_yaml(find_yaml(name_or_path, "game", ConfigError), ConfigError))
