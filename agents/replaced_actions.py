"""Replaced actions: invalid actions of a player that were replaced by random legal ones and counted.

A player that counts them has an attribute `mishaps`. ``counted:PLAYER`` wraps any player so that its illegal actions
are replaced and counted. For other players an illegal action ends the match with an error that names the player.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Player, whole_numbers
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.arrays import action_masks, keys
from helsinki_env.engine.playout import choose_uniformly

__all__ = ["CountedPlayer", "Mishaps", "make", "mishaps_of", "replaced", "replaced_in"]


class Mishaps(NamedTuple):
    """Number of replaced actions.

    Attributes:
        illegal: illegal or unreadable actions.
        late: actions that exceeded the time limit.
        failed: actions that were due after the player's program had exited.
    """

    illegal: int = 0
    late: int = 0
    failed: int = 0

    def plus(self, other: Mishaps, sign: int = 1) -> Mishaps:
        """Return the sum of both, or the difference for sign -1."""
        return Mishaps(*(one + sign * more for one, more in zip(self, other, strict=True)))

    def told(self) -> dict[str, int]:
        """Return the nonzero counts as a dictionary."""
        return {kind: count for kind, count in self._asdict().items() if count}

    @classmethod
    def among(cls, data: Mapping[str, Any]) -> Mishaps:
        """Return the counts found in a mapping that may have other keys."""
        return cls(**{kind: data[kind] for kind in cls._fields if kind in data})

    @property
    def words(self) -> str:
        """The nonzero counts as text, such as "2 illegal, 10 late"."""
        return ", ".join(f"{count:,} {kind}" for kind, count in self.told().items())


def replaced(player: str, mishaps: Mishaps, where: str = "") -> list[str]:
    """Return a warning that actions were replaced, as a list of one line, or an empty list if none were.

    Args:
        player: name of the player.
        mishaps: its replaced actions.
        where: name of the matchup, if there are several.
    """
    if not any(mishaps):
        return []
    return [f"{where and where + ': '}decisions of {player} were replaced by any legal ones: {mishaps.words}"]


def replaced_in(times: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the warnings of a run, from its times (`helsinki_env.evaluation.arena.store.RunFolder.times`)."""
    return [line for one in times for line in replaced(one["player"], Mishaps.among(one), one["table"])]


def mishaps_of(player: Player) -> Mishaps:
    """Return the replaced actions of a player so far; zeros if it does not count them."""
    found = getattr(player, "mishaps", None)
    return found if isinstance(found, Mishaps) else Mishaps()


class CountedPlayer:
    """Wrap a player and replace its illegal actions by uniformly random legal ones.

    Args:
        player: the wrapped player.
    """

    def __init__(self, player: Player) -> None:
        self.player, self.name, self._illegal = player, player.name, 0
        if hasattr(player, "at_once"):
            self.at_once = player.at_once

    @property
    def mishaps(self) -> Mishaps:
        """Number of actions replaced so far."""
        return mishaps_of(self.player).plus(Mishaps(illegal=self._illegal))

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        mask = action_masks("mask", mask)
        words = keys("words", words, len(mask))
        # Pass copies, so that a player cannot make its action legal by writing to the mask.
        found = self.player.act(observation, mask.copy(), words.copy())
        actions = whole_numbers(self.name, found, len(mask)).astype(np.int64)
        inside = (actions >= 0) & (actions < mask.shape[1])
        wrong = np.flatnonzero(~inside | (mask[np.arange(len(mask)), np.where(inside, actions, 0)] == 0))
        if len(wrong):
            actions[wrong] = choose_uniformly(mask[wrong], words[wrong].copy())
            self._illegal += len(wrong)
        return actions


def make(argument: str, config: Any) -> CountedPlayer:
    """Return the player of ``counted:PLAYER``, given the text after the first colon.

    Raises:
        PlayerError: for an unknown player.
    """
    return CountedPlayer(make_player(argument, config))
