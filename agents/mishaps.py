"""Decisions that a player did not take as it should, and that were replaced by any legal one: counted, not fatal.

A player that counts them has an attribute `mishaps`. ``counted:PLAYER`` is any player whose illegal decisions are
replaced and counted; other players that decide illegally end a match with an error that names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.base import Player, whole_numbers
from agents.registry import make_player
from helsinki_env.engine.arrays import action_masks, keys
from helsinki_env.engine.playout import choose_uniformly

__all__ = ["CountedPlayer", "Mishaps", "make", "mishaps_of", "replaced", "replaced_in"]


class Mishaps(NamedTuple):
    """How many decisions were replaced.

    Attributes:
        illegal: because the player named one that is not legal, or none that can be read.
        late: because it took too long.
        failed: because the program behind it had ended.
    """

    illegal: int = 0
    late: int = 0
    failed: int = 0

    def plus(self, other: Mishaps, sign: int = 1) -> Mishaps:
        """Return the sum of both, or with sign -1 the difference."""
        return Mishaps(*(one + sign * more for one, more in zip(self, other, strict=True)))

    def told(self) -> dict[str, int]:
        """Return as plain data what there is any of."""
        return {kind: count for kind, count in self._asdict().items() if count}

    @classmethod
    def among(cls, data: Mapping[str, Any]) -> Mishaps:
        """Return what plain data tell among other things."""
        return cls(**{kind: data[kind] for kind in cls._fields if kind in data})

    @property
    def words(self) -> str:
        """What there is any of, such as "2 illegal, 10 late"."""
        return ", ".join(f"{count:,} {kind}" for kind, count in self.told().items())


def replaced(player: str, mishaps: Mishaps, where: str = "") -> list[str]:
    """Return what a reader of results must know: a line that says how much of them was chance; none if nothing was.

    Args:
        player: whose decisions were replaced.
        mishaps: how many.
        where: at which table, if there are several.
    """
    if not any(mishaps):
        return []
    return [f"{where and where + ': '}decisions of {player} were replaced by any legal ones: {mishaps.words}"]


def replaced_in(times: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return such lines of a run, from its times (`agents.arena.store.RunFolder.times`)."""
    return [line for one in times for line in replaced(one["player"], Mishaps.among(one), one["table"])]


def mishaps_of(player: Player) -> Mishaps:
    """Return what a player has counted so far; nothing for those that do not count."""
    found = getattr(player, "mishaps", None)
    return found if isinstance(found, Mishaps) else Mishaps()


class CountedPlayer:
    """Decides as another player does, and at random, all legal decisions equally likely, where that decides illegally.

    Args:
        player: the other.
    """

    def __init__(self, player: Player) -> None:
        self.player, self.name, self._illegal = player, player.name, 0
        if hasattr(player, "at_once"):
            self.at_once = player.at_once

    @property
    def mishaps(self) -> Mishaps:
        """How many decisions were replaced so far."""
        return mishaps_of(self.player).plus(Mishaps(illegal=self._illegal))

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return one legal decision for each row, int64 (B,); see `agents.base.Player`."""
        mask = action_masks("mask", mask)
        words = keys("words", words, len(mask))
        # Copies: what a player writes into them shall not make its decision legal.
        found = self.player.act(observation, mask.copy(), words.copy())
        actions = whole_numbers(self.name, found, len(mask)).astype(np.int64)
        inside = (actions >= 0) & (actions < mask.shape[1])
        wrong = np.flatnonzero(~inside | (mask[np.arange(len(mask)), np.where(inside, actions, 0)] == 0))
        if len(wrong):
            actions[wrong] = choose_uniformly(mask[wrong], words[wrong].copy())
            self._illegal += len(wrong)
        return actions


def make(argument: str, config: Any) -> CountedPlayer:
    """Return the player that ``counted:PLAYER`` stands for, given what follows the first colon.

    Raises:
        PlayerError: if there is no such player.
    """
    return CountedPlayer(make_player(argument, config))
