"""Text games with the interface of TextArena (`reset`, `get_observation`, `step` and `close`) for all seats.

>>> env = TextGameEnv()
>>> env.reset(num_players=2, seed=1)
>>> done = False
>>> while not done:
...     player, observation = env.get_observation()
...     done, info = env.step(str(env.legal_actions[0].id))
>>> rewards, game_info = env.close()
>>> sorted(rewards)
[0, 1]
"""

from __future__ import annotations

from typing import Any

from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import default_config
from helsinki_env.envs.aec import GameAECEnv
from helsinki_env.envs.arguments import PENALTIES
from helsinki_env.text.parsing import ActionTextError, parse_action
from helsinki_env.text.words import GameHistory, WrittenAction, legal_actions, legal_text, position_text, rules

__all__ = ["TextGameEnv"]


class TextGameEnv:
    """A text game for all seats, which does not require TextArena.

    An observation contains the events since the seat's last observation, the position and, with `listed`, the legal
    actions. A seat's first observation also contains the rules. An answer that names no legal action changes nothing;
    the next observation of the same player is the error message. After too many such answers in a row, the player
    forfeits: the game ends with the reward of an illegal action for this player
    (`helsinki_env.envs.arguments.PENALTIES`) and 0 for the others.

    Args:
        config: game configuration; `reset` replaces its number of players.
        listed: whether observations and errors list the legal actions.
        retries: number of additional attempts after an answer that names no legal action.

    Attributes:
        illegal: number of answers in this game that named no legal action.
        forfeited: the seat that forfeited the game, or None.
    """

    def __init__(self, config: Any = None, *, listed: bool = True, retries: int = 2) -> None:
        self.config, self.listed, self.retries = config or default_config(), listed, retries
        self.illegal = 0
        self.forfeited: int | None = None

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Deal a new game.

        Raises:
            ValueError: if the number of players or the seed is invalid.
        """
        config = self.config.replace(num_players=num_players)
        self._env = GameAECEnv(config, illegal_action="raise")
        self._env.reset(seed=seed)
        self._history = GameHistory(self.game)
        self._read = [0] * num_players  # number of events that each seat has received
        self._error, self._failed = "", 0
        self.illegal, self.forfeited = 0, None

    @property
    def game(self) -> BoardGame:
        """A copy of the current game."""
        if not hasattr(self, "_env"):
            raise ValueError("no game is dealt yet; call reset() first")
        game: BoardGame = self._env.game
        return game

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.forfeited is not None or bool(self.game.done)

    @property
    def actions(self) -> int:
        """Number of actions taken in this game."""
        return self._history.actions

    @property
    def legal_actions(self) -> tuple[WrittenAction, ...]:
        """Legal actions of the player to move; empty if the game is over."""
        return () if self.done else legal_actions(self.game)

    def events(self, seat: int) -> list[str]:
        """Return the events that a seat has not received yet, and mark them as received."""
        lines = self._history.lines(seat)
        first, self._read[seat] = self._read[seat], len(lines)
        return lines[first:]

    def get_observation(self) -> tuple[int, str]:
        """Return the player to move and that player's observation."""
        seat = self.game.seat
        if self._error:
            return seat, self._error
        parts = [] if self._read[seat] else [rules(self._env.config), ""]
        parts += [*self.events(seat), "", position_text(self.game, seat)]
        if self.listed:
            parts += ["", "The legal actions, as id: words (notation):", legal_text(self.legal_actions)]
        return seat, "\n".join(parts)

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Apply the action named in an answer.

        Args:
            action: answer of the player to move, in any form that `parse_action` accepts.

        Returns:
            Whether the game is over, and a dict that has an ``error`` key if the answer names no legal action.

        Raises:
            ValueError: if the game is over.
        """
        if self.done:
            raise ValueError("step: the game is over; call reset()")
        game = self.game
        try:
            chosen = parse_action(action, legal_actions(game))
        except ActionTextError as problem:
            self._error = str(problem) if self.listed else problem.problem
            self.illegal, self._failed = self.illegal + 1, self._failed + 1
            if self._failed > self.retries:
                self.forfeited = game.seat
            return self.done, {"error": self._error}
        self._error, self._failed = "", 0
        self._history.step(chosen)
        self._env.step(chosen)
        return self.done, {}

    def close(self) -> tuple[dict[int, float], dict[int, dict[str, Any]]]:
        """Return, for each player, the reward, and a dict with the keys ``score``, ``rank`` and ``forfeited``."""
        game, rewards = self.game, self._env.rewards
        seats = range(game.num_players)
        if self.forfeited is not None:
            found = {seat: PENALTIES[self.config.reward] if seat == self.forfeited else 0.0 for seat in seats}
        else:
            found = {seat: float(rewards[f"player_{seat}"]) for seat in seats}
        scores, ranks = game.scores().tolist(), game.ranks().tolist()
        if self.forfeited is not None:  # the seat is last, and the seats behind it move up
            ranks = [rank - (rank > ranks[self.forfeited]) for rank in ranks]
            ranks[self.forfeited] = game.num_players - 1
        return found, {
            seat: {"score": scores[seat], "rank": ranks[seat], "forfeited": seat == self.forfeited} for seat in seats
        }
