"""OpenEnv environment in which a model plays one seat and the project's players play the others."""

from __future__ import annotations

import secrets
import uuid
from typing import Any

from helsinki_env.agents.base import Player, choose_action, seat_key
from helsinki_env.agents.registry import make_player
from helsinki_env.data import Node, UserError
from helsinki_env.engine.spec import config_from_dict, default_spec, game_names, spec_by_name
from helsinki_env.openenv.client import TextGameAction, TextGameObservation, TextGameState
from helsinki_env.text import legal_text
from helsinki_env.text.environment import TextGameEnv
from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.setups import chosen_options, offered_players

with requires_extra("openenv"):
    from openenv.core.env_server.interfaces import Environment

_KEYS = ("game", "opponents", "player", "options", "reward", "listed")
_REWARDS = ("win", "rank", "margin")


class TextGameEnvironment(Environment[TextGameAction, TextGameObservation, TextGameState]):
    """A text game against players, in which each step applies one action of the model.

    The arguments of `reset` select the game and its settings. The reward is 0 until the game ends. The final reward is
    the environment's reward, or that of an illegal action if the model forfeits (see `TextGameEnv`).
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._env: TextGameEnv | None = None
        self._players: list[Player | None] = []
        self._state = TextGameState(episode_id=str(uuid.uuid4()))

    def reset(self, seed: int | None = None, episode_id: str | None = None, **settings: Any) -> TextGameObservation:
        """Start a game and return the first observation of the model.

        Args:
            seed: seed for the deal and the opponents; None selects a random seed.
            episode_id: id of the episode; None generates a new id.
            settings: ``game``, ``opponents`` (names of players, default ``["heuristic"]``), ``player`` (seat of the
                model, default 0), ``options`` (game options), ``reward`` ("win", "rank" or "margin") and ``listed``
                (whether observations list the legal actions).

        Raises:
            UserError: for invalid settings; the previous game continues.
        """
        data = Node(settings, UserError, what="settings").mapping(_KEYS)
        spec = spec_by_name(data.get("game", default_spec().name).choice(sorted(game_names())))
        others = [
            one.choice(offered_players(spec))
            for one in data.get("opponents", ["heuristic"]).entries("players", least=1, most=3)
        ]
        seat, listed = data.get("player", 0).integer(0, len(others)), data.get("listed", True).boolean()
        reward = data.get("reward", _REWARDS[0]).choice(_REWARDS)
        options = chosen_options(spec, data.get("options", {}).mapping().value)
        config = config_from_dict(options | {"game": spec.name, "num_players": len(others) + 1, "reward": reward})
        players: list[Player | None] = [make_player(name, config) for name in others]
        players.insert(seat, None)
        env = TextGameEnv(config, listed=listed)
        self._seed = secrets.randbits(63) if seed is None else Node(seed, UserError, "seed").integer(0)
        env.reset(len(players), self._seed)
        self._env, self._players, self._taken = env, players, [0] * len(players)
        self._state = TextGameState(
            episode_id=episode_id or str(uuid.uuid4()), game=spec.name, player=seat, opponents=others, listed=listed
        )
        return self._observe({})

    def step(self, action: TextGameAction, timeout_s: float | None = None, **settings: Any) -> TextGameObservation:
        """Apply the model's answer, let the opponents act, and return the next observation.

        Raises:
            UserError: if called before the first reset or after the end of a game.
        """
        if self._env is None or self._env.done:
            raise UserError("step: found no game, expected one that is not over; call reset()")
        self._state.step_count += 1
        return self._observe(self._env.step(action.text)[1])

    @property
    def state(self) -> TextGameState:
        """The state of the episode, without cards."""
        if self._env is not None:
            self._state.illegal = self._env.illegal
            self._state.forfeited = self._env.forfeited is not None
            self._state.actions = self._env.actions
        return self._state

    def _observe(self, info: dict[str, Any]) -> TextGameObservation:
        """Let the opponents act until it is the model's turn, and return the model's observation."""
        env, seat = self._env, self._state.player
        assert env is not None
        while not env.done and (player := self._players[acting := env.game.seat]) is not None:
            env.step(str(choose_action(player, env.game, int(seat_key(self._seed, acting, self._taken[acting])))))
            self._taken[acting] += 1
        if env.done:
            rewards, known = env.close()
            lines = [*env.events(seat), *(f"Player {i}: {one['score']} points" for i, one in known.items())]
            if env.forfeited is not None:
                lines = [info["error"], f"Player {seat} forfeits the game. The game is over."]
            text = "\n".join(lines)
            return TextGameObservation(text=text, error=info.get("error", ""), done=True, reward=rewards[seat])
        listed = legal_text(env.legal_actions).splitlines() if env.listed else []
        text = env.get_observation()[1]
        return TextGameObservation(text=text, legal_actions=listed, error=info.get("error", ""), reward=0.0)
