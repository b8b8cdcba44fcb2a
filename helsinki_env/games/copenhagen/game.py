"""Provide a single game of Copenhagen as an object, for interactive use, search and tests.

>>> from helsinki_env.games.copenhagen.game import CopenhagenConfig, CopenhagenGame
>>> game = CopenhagenGame(CopenhagenConfig(num_players=2), seed=0)
>>> game.phase
<Phase.MAIN: 'MAIN'>
>>> game.step(3)
>>> game.phase, game.legal_actions().tolist()
(<Phase.TAKE: 'TAKE'>, [4, 397])
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.game import BoardGame, IllegalActionError
from helsinki_env.engine.layout import unpack_seat_sets
from helsinki_env.engine.positions import check_states
from helsinki_env.engine.spec import GameSpec, package_parts
from helsinki_env.engine.states import States
from helsinki_env.games.copenhagen import (
    actions,
    observation,
    turn,  # noqa: F401  # registers the rules for the loops
)
from helsinki_env.games.copenhagen.components import ABILITIES
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.determinization import SCRATCH
from helsinki_env.games.copenhagen.episodes import RandomEpisodes
from helsinki_env.games.copenhagen.state import PHASES, RECORD, new_states
from helsinki_env.games.copenhagen.state_from_observation import states_from_observations

__all__ = ["COPENHAGEN", "CopenhagenConfig", "CopenhagenGame", "IllegalActionError", "Phase", "apply_setup"]


class Phase(StrEnum):
    """The phase of a game, which determines the possible action kinds (rules, section 3). It is equal to its name."""

    MAIN = "MAIN"
    TAKE = "TAKE"
    DISCARD = "DISCARD"
    END = "END"
    PLACE = "PLACE"
    RECOLOUR = "RECOLOUR"
    PAY = "PAY"
    COAT = "COAT"


def apply_setup(states: States, config: CopenhagenConfig) -> None:
    """Write the game options (players and denied abilities) into blank records."""
    states["players"] = config.num_players
    states["denied"] = 0
    for seat, denied in enumerate(config.denied):
        states["denied"][:, seat] = sum(1 << ability for ability in denied)


def _config_of(config: CopenhagenConfig, state: Any) -> CopenhagenConfig:
    denied = [[a for a in range(5) if state.denied[seat] >> a & 1] for seat in range(state.players)]
    return config.replace(num_players=int(state.players), denied=denied)


def _used(
    config: CopenhagenConfig, observations: npt.NDArray[np.int8], viewers: npt.NDArray[np.int64]
) -> npt.NDArray[np.int16]:
    owned = observation.LAYOUT["abilities"]
    return unpack_seat_sets(observations[:, owned.slice], owned.shape, viewers, config.num_players)


def _action_to_string(action: int, config: CopenhagenConfig) -> str:
    from helsinki_env.games.copenhagen.notation import action_to_string  # imports this module

    return action_to_string(action)


COPENHAGEN: GameSpec = GameSpec(
    name="copenhagen",
    version=0,
    config=CopenhagenConfig,
    options=("num_players", "denied", "reward"),
    phases=tuple(Phase[name] for name in PHASES),
    setup_fields=RECORD.setup,
    new_states=lambda config, count: new_states(count),
    apply_setup=apply_setup,
    config_of=_config_of,
    action_kinds=lambda config: tuple(zip(actions.KINDS, actions.KIND_SIZES, strict=True)),
    observation_size=lambda config: observation.OBSERVATION_SIZE,
    action_to_string=_action_to_string,
    states_from_observations=states_from_observations,
    scratch=SCRATCH,
    episodes=RandomEpisodes,
    check=lambda states, config: check_states(COPENHAGEN, states, config),
    scales=observation.scales,
    deniable=dict(enumerate(ABILITIES[1:], 1)),
    used=_used,
    **package_parts(__package__),
    allows_ties=True,
    revealing_fields=("pile_size",),
    hidden_fields=("hand",),
    hidden_piles=("pile",),
)
"""The specification of Copenhagen for game-independent code."""


class CopenhagenGame(BoardGame):
    """A game in progress. The default game has two players. See `BoardGame` for the arguments."""

    __slots__ = ()

    spec = COPENHAGEN
    config: CopenhagenConfig
