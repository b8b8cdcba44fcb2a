"""OpenSpiel versions of both games: importing this module registers `helsinki` and `copenhagen` with pyspiel.

    import pyspiel
    import helsinki_env.openspiel

    game = pyspiel.load_game("helsinki(players=2)")
    state = game.new_initial_state()
    state.apply_action(7)  # the chance node at the start: deal number 7
    print(state.legal_actions(), state.observation_string(0))

A game starts with a single chance node, which draws one of `deals` deals uniformly. The deal fixes the order of the
draw pile, and its random state fixes all later reshuffles, so the game is explicitly stochastic.

The parameters are `players` (2 to 4), `reward` ("win", "rank" or "margin"), `components` (a component file), `deals`
(default 10,000), `deal` ("seed_7" always uses the deal of seed 7), and `history` (default 0, described below).
Helsinki also has `dry_roads` and `covered` ("first_game", or names of board actions joined by "+").

- **Observation**: `observation_string` is the position as seen by the player, in JSON; `observation_tensor` is the
  environment's observation vector, float32 (F,). Both are empty before the deal.
- **Information state**: `information_state_string` is the list of all actions since the deal, which are public, a
  checksum of all observations of the player, and the current observation. List and checksum start with the position in
  a state from ``game.new_initial_state(text)``. With the `history` parameter, `information_state_tensor` is the
  observation followed by the last `history` actions, oldest first. Each action is its id plus 1, divided by the number
  of ids; 0 means none. Games between random players take fewer than 1,000 actions.
- **Positions**: `str(state)` is the whole position in JSON, and ``game.new_initial_state(text)`` continues from it.
- **Determinization**: `resample_from_infostate(player, rng)` samples the cards that are hidden from the player. The
  checksums of the other seats remain those of their real observations.

The ``openspiel`` extra installs pyspiel.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from zlib import crc32

import numpy as np

from helsinki_env.engine.determinization import sample_determinizations
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import GameSpec, spec_by_name
from helsinki_env.envs.rewards import final_rewards
from helsinki_env.notation import from_dict, to_dict
from helsinki_env.utils.extras import requires_extra

with requires_extra("openspiel"):
    import pyspiel

__all__ = ["OpenSpielGame", "OpenSpielObserver", "OpenSpielState"]

#: Upper bound on the number of actions: random games of four players take fewer than 1,000.
_MAX_ACTIONS = 20_000
#: Upper bound on the points of a player board.
_MAX_POINTS = 1000.0


def _game_type(spec: GameSpec, history: bool = False) -> Any:
    """Return the OpenSpiel game type with its parameters; `history`: whether to provide an information state tensor."""
    config = spec.config()
    parameters = {"players": 2, "reward": config.reward, "components": config.components, "deals": 10_000, "deal": ""}
    parameters["history"] = 0
    if "covered" in spec.options:
        parameters |= {"covered": "", "dry_roads": False}
    return pyspiel.GameType(
        short_name=spec.name,
        long_name=spec.name.capitalize(),
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=4,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=history,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameters,
    )


class OpenSpielGame(pyspiel.Game):  # type: ignore[misc]  # an untyped base class
    """OpenSpiel game with a fixed configuration.

    Args:
        spec: specification of the game.
        game_type: game type in OpenSpiel.
        parameters: game parameters; see the module docstring for names and defaults.

    Attributes:
        spec: specification of the game. config: game configuration.
        deals: number of deals from which the chance node chooses.
        first_seed: seed of the first deal; the other deals have consecutive seeds.
        history: number of actions in the information state tensor; 0 means that there is no such tensor.

    Raises:
        ConfigError: (a ValueError) for an invalid parameter.
    """

    def __init__(self, spec: GameSpec, game_type: Any, parameters: Mapping[str, Any] | None = None) -> None:
        options = {**game_type.parameter_specification, **(parameters or {})}
        self.spec, self.deals = spec, int(options.pop("deals"))
        if self.deals < 1:
            raise ValueError(f"deals: found {self.deals}, expected at least 1")
        self.history = int(options.pop("history"))
        if not 0 <= self.history <= _MAX_ACTIONS:
            raise ValueError(f"history: found {self.history}, expected 0 to {_MAX_ACTIONS} actions")
        deal, self.first_seed = options.pop("deal"), 0
        if deal:
            if not re.fullmatch(r"seed_\d{1,20}", deal, re.ASCII) or int(deal[5:]) >= 2**64:
                raise ValueError(f"deal: found {deal!r}, expected 'seed_' and a seed, such as seed_7")
            self.first_seed, self.deals = int(deal[5:]), 1
        covered = options.pop("covered", "")
        if covered:
            options["covered"] = covered if covered == "first_game" else covered.split("+")
        self.config = spec.config.from_dict({"num_players": options.pop("players"), **options})
        players = self.config.num_players
        least, most = {
            "win": (-1 / (players - 1), 1.0),
            "rank": (-1.0, 1.0),
            "margin": (-_MAX_POINTS, _MAX_POINTS),
        }[self.config.reward]
        info = pyspiel.GameInfo(
            num_distinct_actions=spec.num_actions(self.config),
            max_chance_outcomes=self.deals,
            num_players=players,
            min_utility=least,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=_MAX_ACTIONS,
        )
        super().__init__(_game_type(spec, True) if self.history else game_type, info, dict(parameters or {}))
        self.undealt = spec.game(self.config, seed=0)

    def new_initial_state(self, position: str | Mapping[str, Any] | None = None) -> OpenSpielState:
        """Return the state before the deal, or the state for a given position.

        Args:
            position: a position as JSON text, such as ``str(state)``, or as the data that it encodes.

        Raises:
            PositionError: (a ValueError) for an invalid position.
            ValueError: for a position with a different configuration.
        """
        state = OpenSpielState(self)
        if position is not None:
            board = from_dict(json.loads(position) if isinstance(position, str) else position)
            expected = self.config.replace(reward=board.config.reward)
            if board.config != expected:
                raise ValueError(f"position: found {board.config}, expected one of {expected}")
            state.board = type(board)._from_valid_state(self.config, board.state)  # positions lack the reward type
            state.dealt = True
            state._observe()
        return state

    def make_py_observer(self, kind: Any = None, parameters: Any = None) -> OpenSpielObserver | None:
        """Return an observer, or None (as OpenSpiel expects) if only public or only private information is requested.

        Args:
            kind: an `IIGObservationType`; None means no perfect recall.
            parameters: must be empty.

        Raises:
            ValueError: if parameters are given.
        """
        if parameters:
            raise ValueError(f"parameters: found {parameters}, expected none")
        kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        whole = kind.public_info and kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        return OpenSpielObserver(self, kind.perfect_recall) if whole else None

    def max_chance_nodes_in_history(self) -> int:
        """Return 1, because the deal is the only chance node."""
        return 1


class OpenSpielState(pyspiel.State):  # type: ignore[misc]  # an untyped base class
    """State before the deal, or of a game in progress or finished.

    OpenSpiel copies and pickles the attributes.

    Attributes:
        board: the game after the deal.
        dealt: whether the game has been dealt.
        first_seed: seed of the first deal.
        checksums: CRC-32 checksum of all observations of each seat.
    """

    board: BoardGame
    dealt: bool
    first_seed: int
    checksums: tuple[int, ...]

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self.board = game.undealt  # placeholder shared by all states before the deal
        self.dealt, self.first_seed = False, game.first_seed
        self.checksums = (0,) * self.board.num_players

    def current_player(self) -> int:
        """Return the acting seat, or OpenSpiel's id for the chance player or the terminal state."""
        if not self.dealt:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.board.done else self.board.seat

    def _legal_actions(self, player: int) -> list[int]:
        legal: list[int] = self.board.legal_actions().tolist()
        return legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return all deals, with equal probabilities."""
        deals = self.get_game().max_chance_outcomes()
        return [(deal, 1 / deals) for deal in range(deals)]

    def _apply_action(self, action: int) -> None:
        if self.dealt:
            self.board.step(action)
        else:
            deals = self.get_game().max_chance_outcomes()
            if not 0 <= action < deals:
                raise ValueError(f"action: found deal {action}, expected 0 to {deals - 1}")
            self.board = self.board.spec.game(self.board.config, seed=self.first_seed + action)
            self.dealt = True
        self._observe()

    def _observe(self) -> None:
        """Add the observations of all seats to their checksums."""
        self.checksums = tuple(
            crc32(self.board.observation(seat).data, checksum) for seat, checksum in enumerate(self.checksums)
        )

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"Deal {action}"
        return self.board.spec.action_to_string(action, self.board.config)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.dealt and self.board.done

    def returns(self) -> list[float]:
        """Return the reward of every seat, zero until the game ends."""
        rewards: list[float] = [0.0] * self.board.num_players
        if self.is_terminal():
            rewards = final_rewards(self.board).tolist()
        return rewards

    def resample_from_infostate(self, player: int, rng: Any) -> OpenSpielState:
        """Return a copy with newly sampled hidden cards that are consistent with a player's observation.

        Args:
            player: the observing seat.
            rng: a function that returns a random number between 0 and 1, such as `pyspiel.UniformProbabilitySampler`.
        """
        copy: OpenSpielState = self.clone()
        if self.dealt:
            states = sample_determinizations(self.board, 1, player, seed=int(rng() * 2**53))
            copy.board = type(self.board)._from_valid_state(self.board.config, states[0])
        return copy

    def _to_struct(self) -> dict[str, Any]:
        return to_dict(self.board) if self.dealt else {}

    def _to_observation_struct(self, player: int) -> dict[str, Any]:
        return to_dict(self.board, player) if self.dealt else {}

    def __str__(self) -> str:
        """Return the whole position in JSON, or an empty string before the deal."""
        return json.dumps(to_dict(self.board)) if self.dealt else ""


class OpenSpielObserver:
    """OpenSpiel observer of the game from one seat.

    Args:
        game: the game.
        perfect_recall: whether the string includes all public actions and a checksum of all observations, and the
            tensor the most recent actions.

    Attributes:
        tensor: the observation and the last `history` actions, float32, or None; see the module docstring.
        dict: views of the parts of the tensor, by name.
    """

    def __init__(self, game: OpenSpielGame, perfect_recall: bool) -> None:
        self.perfect_recall = perfect_recall
        self._size, self._ids = game.spec.observation_size(game.config), game.spec.num_actions(game.config)
        actions = game.history if perfect_recall else 0
        self.tensor = None if perfect_recall and not actions else np.zeros(self._size + actions, np.float32)
        self.dict = {} if self.tensor is None else {"observation": self.tensor[: self._size]}
        if actions and self.tensor is not None:
            self.dict["history"] = self.tensor[self._size :]

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Write the observation of a seat to `tensor`."""
        if self.tensor is None:
            return
        self.tensor[:] = 0
        if state.dealt:
            self.tensor[: self._size] = state.board.observation(player)
            if self.perfect_recall:
                actions = _public_actions(state)[self._size - len(self.tensor) :]
                self.tensor[self._size : self._size + len(actions)] = [(action + 1) / self._ids for action in actions]

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """Return the position as seen by a seat, as JSON text; with perfect recall, the history comes first."""
        if not state.dealt:
            return ""
        seen = json.dumps(to_dict(state.board, player))
        if not self.perfect_recall:
            return seen
        return f"{player} {' '.join(map(str, _public_actions(state)))} {state.checksums[player]:08x} {seen}"


def _public_actions(state: OpenSpielState) -> list[int]:
    """Return the actions since the deal."""
    return [one.action for one in state.full_history() if one.player >= 0]


def _register(name: str) -> None:
    """Register a game with OpenSpiel unless it is already registered."""
    if name in pyspiel.registered_names():
        return
    spec = spec_by_name(name)
    game_type = _game_type(spec)

    # Register a class instead of a function, because OpenSpiel releases the object after interpreter shutdown.
    class RegisteredGame(OpenSpielGame):
        """Game created by `pyspiel.load_game` with its parameters."""

        def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
            super().__init__(spec, game_type, parameters)

        def __reduce__(self) -> tuple[Any, ...]:
            """Support pickling, for example for worker processes."""
            return pyspiel.load_game, (name, self.get_parameters())

    pyspiel.register_game(game_type, RegisteredGame)


for _name in ("helsinki", "copenhagen"):
    _register(_name)
