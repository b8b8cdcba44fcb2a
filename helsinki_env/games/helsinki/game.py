"""A single game as an object, for interactive use, search and tests.

    >>> from helsinki_env import HelsinkiGame, HelsinkiConfig
    >>> game = HelsinkiGame(HelsinkiConfig(num_players=2), seed=0)
    >>> game.phase, game.legal_actions().tolist()
    (<Phase.START: 'START'>, [0, 1, 2, 3, 4, 5, 6, 7])
    >>> game.step(3)
    >>> game.phase
    <Phase.MOVE: 'MOVE'>

For many games, use `HelsinkiVectorEnv`, which returns all masks and observations with every step.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.game import BoardGame, IllegalActionError
from helsinki_env.engine.layout import ActionTable, unpack_seat_sets
from helsinki_env.engine.positions import check_states
from helsinki_env.engine.spec import GameSpec, SetupOption, package_parts
from helsinki_env.engine.states import States
from helsinki_env.games.helsinki import (
    observation,
    turn,  # noqa: F401  # registers the rules that the engine's loops call
)
from helsinki_env.games.helsinki.actions import KINDS, action_table
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.determinization import SCRATCH
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.state import PHASES, RECORD, new_states
from helsinki_env.games.helsinki.state_checks import are_consistent
from helsinki_env.games.helsinki.state_from_observation import states_from_observations

__all__ = [
    "HELSINKI",
    "HelsinkiGame",
    "IllegalActionError",
    "Phase",
    "action_table",
    "apply_setup",
]

ENV_VERSION = 0
"""Version of the environment, `helsinki_v0`."""


class Phase(StrEnum):
    """Phase of a game, equal to its name; it determines the possible kinds of actions (rules page, section 3)."""

    START = "START"
    MOVE = "MOVE"
    MAIN = "MAIN"
    PAY = "PAY"
    PLACE = "PLACE"
    WILD = "WILD"
    LIFT = "LIFT"
    ROOF = "ROOF"
    DISCARD = "DISCARD"
    END = "END"


def apply_setup(states: States, config: HelsinkiConfig) -> None:
    """Write the game options (players, covered and denied board actions, expansion) into blank records."""
    states["players"] = config.num_players
    states["covered"] = sum(1 << action for action in config.covered)
    states["denied"] = 0
    for seat, denied in enumerate(config.denied):
        states["denied"][:, seat] = sum(1 << action for action in denied)
    states["dry_roads"] = config.dry_roads


def _new_states(config: HelsinkiConfig, count: int) -> States:
    return new_states(count, config.component_set.types)


def _config_of(config: HelsinkiConfig, state: Any) -> HelsinkiConfig:
    return config.replace(
        num_players=int(state.players),
        covered=[a for a in range(15) if state.covered >> a & 1],
        denied=[[a for a in range(15) if state.denied[seat] >> a & 1] for seat in range(state.players)],
        dry_roads=bool(state.dry_roads),
    )


def _used(
    config: HelsinkiConfig, observations: npt.NDArray[np.int8], viewers: npt.NDArray[np.int64]
) -> npt.NDArray[np.int16]:
    used = observation.observation_layout(config.component_set.types)["used"]
    return unpack_seat_sets(observations[:, used.slice], used.shape, viewers, config.num_players)


def _kinds(config: HelsinkiConfig) -> tuple[tuple[str, int], ...]:
    return tuple(zip(KINDS, action_table(config.component_set.types).sizes, strict=True))


def _places(scores: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return the ranks for scores, both (G, seats). Ties are broken in favor of the later player (section 5)."""
    seats = scores.shape[1]
    order = np.argsort(-scores[:, ::-1].astype(np.int64), axis=1, kind="stable")
    places = np.empty(scores.shape, np.int64)
    np.put_along_axis(places, seats - 1 - order, np.arange(seats)[None, :], axis=1)
    return places


def _check(states: States, config: HelsinkiConfig) -> None:
    if not are_consistent(states, config):
        check_states(HELSINKI, states, config)


def _action_to_string(action: int, config: HelsinkiConfig) -> str:
    from helsinki_env.games.helsinki.notation import action_to_string  # imports this module

    return action_to_string(action, config.component_set)


HELSINKI: GameSpec = GameSpec(
    name="helsinki",
    version=ENV_VERSION,
    config=HelsinkiConfig,
    options=("num_players", "covered", "denied", "dry_roads", "reward"),
    phases=tuple(Phase[name] for name in PHASES),
    setup_fields=RECORD.setup,
    new_states=_new_states,
    apply_setup=apply_setup,
    config_of=_config_of,
    action_kinds=_kinds,
    observation_size=lambda config: observation.observation_layout(config.component_set.types).size,
    action_to_string=_action_to_string,
    states_from_observations=states_from_observations,
    scratch=SCRATCH,
    episodes=RandomEpisodes,
    check=_check,
    scales=observation.scales,
    deniable=dict(enumerate(BOARD_ACTIONS)),
    used=_used,
    **package_parts(__package__),
    ranks=_places,
    revealing_fields=("pile_size",),
    hidden_fields=("hand", "unseen"),
    hidden_piles=("pile",),
    setup_options=(
        SetupOption(
            "first_game", "covered", "First game", "The bottom row of the action board is covered.", "first_game"
        ),
        SetupOption("dry_roads", "dry_roads", "Dry roads", "The expansion with crosswalks and bonus cards is played."),
        SetupOption("covered", "covered", "Covered actions", "No seat may use these.", choices=BOARD_ACTIONS),
    ),
)
"""Specification of Helsinki for game-independent code."""


class HelsinkiGame(BoardGame):
    """A game in progress.

    Args:
        config: the game configuration. The default has two players and no covered board actions.
        seed: any integer >= 0; the same seed deals the same game. None draws fresh entropy.
        stream: index of the game among independent games with the same seed, as numbered by `HelsinkiVectorEnv`.

    Attributes:
        config: the game configuration.
        state: a view of the game's record, for tools; agents use `observation()`.
    """

    __slots__ = ()

    spec = HELSINKI
    config: HelsinkiConfig

    @property
    def actions(self) -> ActionTable:
        """The action table, which maps integers to actions."""
        return action_table(self.config.component_set.types)

    def ranking(self) -> list[int]:
        """Return the seats from best to worst, as if the game ended now; ties are broken in favor of the later seat."""
        return [int(seat) for seat in self.ranks().argsort()]
