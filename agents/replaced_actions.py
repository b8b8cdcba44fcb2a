"""Replaced actions: a player's illegal, late or missing actions, which are counted and replaced by random legal ones.

A player that counts them has a `replaced_actions` attribute. ``counted:PLAYER`` replaces and counts the illegal
actions of any player. For other players, an illegal action ends the match with an error that names the player.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from helsinki_env.agents.base import Histories, Int8Array, Int64Array, KeyArray, Player, PlayerWrapper
from helsinki_env.agents.counts import Counts
from helsinki_env.agents.registry import innermost_name, make_player
from helsinki_env.engine.arrays import action_masks, key_array
from helsinki_env.engine.playout import sample_actions

__all__ = [
    "CountedPlayer",
    "ReplacedActions",
    "make_counted_player",
    "replaced_actions_of",
    "replacement_warnings",
    "run_replacement_warnings",
]


@dataclass(frozen=True)
class ReplacedActions(Counts):
    """Number of replaced actions.

    Attributes:
        illegal: illegal or unreadable actions.
        late: actions that exceeded the time limit.
        failed: missing actions, for example after the player's program has exited.
    """

    illegal: int = 0
    late: int = 0
    failed: int = 0

    @property
    def summary(self) -> str:
        """The nonzero counts as text, such as "2 illegal, 10 late"."""
        return ", ".join(f"{count:,} {kind}" for kind, count in self.to_dict().items())


def replacement_warnings(player: str, counts: ReplacedActions, where: str = "") -> list[str]:
    """Return a warning about replaced actions in a list; the list is empty if no action was replaced.

    For a language model, it is always empty, because the line with the model's costs has these numbers.

    Args:
        player: name of the player.
        counts: its replaced actions.
        where: name of the matchup, if there are several.
    """
    if not counts or innermost_name(player).startswith("llm:"):
        return []
    return [f"{where and where + ': '}actions of {player} were replaced by random legal ones: {counts.summary}"]


def run_replacement_warnings(times: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the warnings of a run, given its times (`helsinki_env.evaluation.arena.store.RunFolder.times`)."""
    return [
        line
        for one in times
        for line in replacement_warnings(one["player"], ReplacedActions.from_mapping(one), one["matchup"])
    ]


def replaced_actions_of(player: Player) -> ReplacedActions:
    """Return the replaced actions of a player so far; zeros for a player that does not count them."""
    found = getattr(player, "replaced_actions", None)
    return found if isinstance(found, ReplacedActions) else ReplacedActions()


class CountedPlayer(PlayerWrapper):
    """Wrapper that replaces a player's illegal actions with uniformly random legal ones.

    Args:
        player: the wrapped player.
    """

    def __init__(self, player: Player) -> None:
        super().__init__(player, player.name)
        self._illegal = 0

    @property
    def replaced_actions(self) -> ReplacedActions:
        """Number of actions replaced so far."""
        return replaced_actions_of(self.player).add(ReplacedActions(illegal=self._illegal))

    def act(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, histories: Histories = None
    ) -> Int64Array:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        action_mask = action_masks("action_mask", action_mask)
        keys = key_array("keys", keys, len(action_mask))
        # Pass copies, so that a player cannot make its action legal by writing to the mask.
        actions = self.wrapped_actions(observation, action_mask, keys, histories)
        inside = (actions >= 0) & (actions < action_mask.shape[1])
        wrong = np.flatnonzero(~inside | (action_mask[np.arange(len(action_mask)), np.where(inside, actions, 0)] == 0))
        if len(wrong):
            actions[wrong] = sample_actions(action_mask[wrong], keys[wrong].copy())
            self._illegal += len(wrong)
        return actions


def make_counted_player(argument: str, config: Any) -> CountedPlayer:
    """Create the ``counted:PLAYER`` player from the text after the first colon."""
    return CountedPlayer(make_player(argument, config))
