"""OpenSpiel version of the mini game: importing this module registers `helsinki_mini` with pyspiel.

    import pyspiel
    import helsinki_env.mini.openspiel

    game = pyspiel.load_game("helsinki_mini(players=2,components=small)")

Chance deals the display and all hands at the start. Later, it draws the color of each card that refills the display.
An information state is the dealt hand and display, and all actions and cards since then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from helsinki_env.mini.game import ACTIONS, MINI, OBSERVATION, MiniConfig
from helsinki_env.mini.tree import deals, rewards, set_pile
from helsinki_env.utils.extras import requires_extra

with requires_extra("openspiel"):
    import pyspiel

__all__ = ["MiniObserver", "MiniSpielGame", "MiniState"]

_TYPE = pyspiel.GameType(
    short_name="helsinki_mini",
    long_name="Helsinki mini",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=3,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"players": 2, "components": "standard", "reward": "win"},
)


class MiniSpielGame(pyspiel.Game):  # type: ignore[misc]  # an untyped base class
    """OpenSpiel game.

    Args:
        parameters: `players` (2 or 3), `components` ("standard" or "small") and `reward` ("win", "rank" or "margin").

    Attributes:
        config: configuration of the game.
        deals: a record for each deal. odds: their probabilities, float64.

    Raises:
        ConfigError: (a ValueError) for an invalid parameter.
    """

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        options = {**_TYPE.parameter_specification, **(parameters or {})}
        self.config = MiniConfig(options["players"], components=options["components"], reward=options["reward"])
        self.deals, self.odds, _ = deals(self.config)
        rounds = self.config.component_set.rounds[self.config.num_players - 2]
        info = pyspiel.GameInfo(
            num_distinct_actions=len(ACTIONS),
            max_chance_outcomes=len(self.odds),
            num_players=self.config.num_players,
            min_utility=-100.0 if self.config.reward == "margin" else -1.0,
            max_utility=100.0 if self.config.reward == "margin" else 1.0,
            utility_sum=0.0,
            max_game_length=rounds * self.config.num_players,
        )
        super().__init__(_TYPE, info, dict(parameters or {}))

    def new_initial_state(self) -> MiniState:
        """Return the state before the deal."""
        return MiniState(self)

    def make_py_observer(self, kind: Any = None, parameters: Any = None) -> MiniObserver:
        """Return an observer; with perfect recall, it has only strings."""
        return MiniObserver(kind is not None and kind.perfect_recall)


class MiniState(pyspiel.State):  # type: ignore[misc]  # an untyped base class
    """State of a game.

    Attributes:
        config: configuration of the game.
        board: the game after the deal, or None.
        taking: action that takes a card and waits for the color of the next one, or -1.
        events: deal of the display, then actions and colors of new cards, all of which are public.
        dealt: hand of each player at the start.
    """

    def __init__(self, game: MiniSpielGame) -> None:
        super().__init__(game)
        self.config, self.taking = game.config, -1
        self.board: Any = None
        self.events: list[int] = []
        self.dealt: list[list[int]] = []

    def current_player(self) -> int:
        """Return the acting seat, or OpenSpiel's id for the chance player or the terminal state."""
        if self.board is None or self.taking >= 0:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.board.done else int(self.board.seat)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.board is not None and bool(self.board.done)

    def _legal_actions(self, player: int) -> list[int]:
        legal: list[int] = [] if self.board is None else self.board.legal_actions().tolist()
        return legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the deals, or the colors of the next card, with their probabilities."""
        if self.board is None:
            return list(enumerate(self.get_game().odds.tolist()))
        size, ones = int(self.board.state["pile_size"]), int(self.board.state["pile"].sum())
        return [(color, part / size) for color, part in ((0, size - ones), (1, ones)) if part]

    def _apply_action(self, action: int) -> None:
        if self.board is None:
            state = self.get_game().deals[action]
            self.board = MINI.game.from_state(self.config, state)
            self.dealt = state["hand"].tolist()
            self.events = state["display"].tolist()
        elif self.taking >= 0:
            record = self.board.state.reshape(1)
            set_pile(record, record["pile"].sum(1), np.array([action]))
            self.board.step(self.taking)
            self.events += [self.taking, action]
            self.taking = -1
        elif action < 2 and self.board.state["pile_size"]:
            self.taking = action
        else:
            self.board.step(action)
            self.events.append(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return ACTIONS[action] if player >= 0 else f"Deal {action}"

    def returns(self) -> list[float]:
        """Return the reward of every seat, zero until the game ends."""
        if not self.is_terminal():
            return [0.0] * self.config.num_players
        found: list[float] = rewards(self.config, self.board.state.reshape(1))[:, 0].tolist()
        return found

    def __str__(self) -> str:
        """Return the dealt hands and all events."""
        return f"{self.dealt} {self.events} {self.taking}"


class MiniObserver:
    """OpenSpiel observer.

    Args:
        perfect_recall: whether strings contain the dealt hand and all events; the tensor is then None.

    Attributes:
        tensor: the observation of the environment, float32, or None. dict: the same by name.
    """

    def __init__(self, perfect_recall: bool) -> None:
        self.perfect_recall = perfect_recall
        self.tensor = None if perfect_recall else np.zeros(len(OBSERVATION), np.float32)
        self.dict = {} if self.tensor is None else {"observation": self.tensor}

    def set_from(self, state: MiniState, player: int) -> None:
        """Write the observation of a seat to `tensor`."""
        if self.tensor is not None:
            self.tensor[:] = 0 if state.board is None else state.board.observation(player)

    def string_from(self, state: MiniState, player: int) -> str:
        """Return what a seat knows, with perfect recall, or its observation."""
        if state.board is None:
            return ""
        if self.perfect_recall:
            return f"{player} {state.dealt[player]} {state.events}"
        return " ".join(map(str, state.board.observation(player).tolist()))


if _TYPE.short_name not in pyspiel.registered_names():
    pyspiel.register_game(_TYPE, MiniSpielGame)
