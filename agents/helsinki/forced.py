"""Player that uses one board action as soon as it is legal, and otherwise plays like another player."""

from __future__ import annotations

import numpy as np

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.base import Histories, Int8Array, Int64Array, KeyArray, Player, PlayerWrapper
from helsinki_env.agents.registry import PlayerError, make_player
from helsinki_env.data import UserError, choices_text, short_repr
from helsinki_env.engine.arrays import action_masks, key_array
from helsinki_env.games.helsinki.actions import KIND_USE
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.game import action_table

__all__ = ["ForcedPlayer", "make_forced_player"]


class ForcedPlayer(PlayerWrapper):
    """Use a board action as soon as it is legal, regardless of its value.

    Args:
        action: name of the board action.
        player: player that takes all other actions.
        config: game configuration; only its component file is used.

    Raises:
        ValueError: if the action does not exist.
    """

    def __init__(self, action: str, player: Player, config: HelsinkiConfig | None = None) -> None:
        if action not in BOARD_ACTIONS:
            raise UserError(f"action: found {action!r}, expected one of {', '.join(BOARD_ACTIONS)}")
        super().__init__(player, f"forced:{action}:{player.name}")
        table = action_table((config or HelsinkiConfig()).component_set.types)
        self._use, self._ids = int(table.offsets[KIND_USE]) + BOARD_ACTIONS.index(action), table.size

    def act(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, histories: Histories = None
    ) -> Int64Array:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        action_mask = action_masks("action_mask", action_mask, None, self._ids)
        keys = key_array("keys", keys, len(action_mask))
        actions = np.full(len(action_mask), self._use, np.int64)
        free = np.flatnonzero(action_mask[:, self._use] == 0)
        if len(free):
            seen = None if histories is None else [histories[row] for row in free.tolist()]
            actions[free] = self.wrapped_actions(observation[free], action_mask[free], keys[free], seen)
        return actions


def make_forced_player(argument: str, config: HelsinkiConfig) -> ForcedPlayer:
    """Create the ``forced:ACTION:PLAYER`` player from the text after the first colon.

    Raise PlayerError if the text is invalid.
    """
    action, _, player = argument.partition(":")
    if action not in BOARD_ACTIONS or not player:
        raise PlayerError(
            f"player {short_repr('forced:' + argument)}: found {short_repr(action)}, expected an action, "
            f"{choices_text(BOARD_ACTIONS, action)}, and after another colon a player, "
            "such as forced:two_points:heuristic"
        )
    return ForcedPlayer(action, make_player(player, config), config)
