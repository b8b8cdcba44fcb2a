"""What a game brings besides its kernels: one object that says how its configurations, records and arrays go together.

A class that is written for any game, such as an environment, takes what it needs of a game from here, and a subclass
for one game does nothing but name its specification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from helsinki_env.engine.states import States

__all__ = ["GameSpec"]


@dataclass(frozen=True)
class GameSpec:
    """A game.

    A configuration is frozen, and has the attributes `num_players`, `reward` (win, rank or margin), `denied`,
    `tables` (what kernels look up, an array of one record) and a method `changed(**options)`.

    Attributes:
        name: of the game, in small letters.
        version: of its environment; goes up with whatever an agent could notice.
        config: the type of its configurations; made without arguments it is the usual game.
        options: what of a configuration a reset of a batch may change.
        phases: their names, in the order of the numbers in the field `phase`.
        new_states: blank records of a configuration, as many as are asked for.
        apply_setup: writes into blank records which game a configuration plays.
        config_of: the configuration of a record, made from one of the same components.
        ids: how many decisions there are, A.
        features: the length of an observation, F.
        why_illegal: says of a decision in a game why it is none, and what is legal.
    """

    name: str
    version: int
    config: type[Any]
    options: tuple[str, ...]
    phases: tuple[str, ...]
    new_states: Callable[[Any, int], States]
    apply_setup: Callable[[States, Any], None]
    config_of: Callable[[Any, Any], Any]
    ids: Callable[[Any], int]
    features: Callable[[Any], int]
    why_illegal: Callable[[Any, object], str]

    def checked(self, config: object) -> Any:
        """Return what was given as a configuration; ValueError if it is none of this game."""
        if not isinstance(config, self.config):
            name = self.config.__name__
            raise ValueError(f"config: found {config!r}, expected a {name}, such as {name}(num_players=3)")
        return config
