"""Stable-Baselines3 support: a `VecEnv` with action masks for `MaskablePPO`, and a player that uses its models.

    from helsinki_env.training.sb3 import DEFAULTS, SB3Player, make_sb3_env, evaluate_sb3_player  # before torch
    from sb3_contrib import MaskablePPO

    env = make_sb3_env(128, opponents="random", reward="margin")
    model = MaskablePPO("MlpPolicy", env, **DEFAULTS, seed=1).learn(150_000)
    print(evaluate_sb3_player(SB3Player(model), "random"))

``python -m helsinki_env.training.sb3`` trains and evaluates in one command. One seat learns and opponents play the
other seats (see `GameSeatVectorEnv`). A step processes all games as arrays; only finished games are processed one by
one.

The module requires the ``sb3`` extra: ``pip install -c constraints.txt -e ".[sb3]"`` in a clone. Models saved by
Stable-Baselines3 are pickles and can execute code when loaded, so load only files that you trust.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode

from helsinki_env.agents.registry import make_player
from helsinki_env.agents.rows import forced_and_open
from helsinki_env.data import Node, UserError
from helsinki_env.engine.arrays import action_masks
from helsinki_env.engine.spec import default_config, spec_of
from helsinki_env.envs.flat import scale_observation
from helsinki_env.envs.seat import GameSeatVectorEnv
from helsinki_env.evaluation.match import play_match
from helsinki_env.evaluation.match_stats import PlayerResult, fractional_wins
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write, check_writable
from helsinki_env.utils.terminal import prepare_output

with requires_extra("sb3", program=__name__ == "__main__"):
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.utils import LinearSchedule
    from stable_baselines3.common.vec_env import VecEnv, VecMonitor
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

__all__ = ["DEFAULTS", "GamesVecEnv", "SB3Player", "evaluate_sb3_player", "make_sb3_env", "train"]

DEFAULTS: dict[str, Any] = {
    "learning_rate": LinearSchedule(1e-3, 0.0, 1.0),
    "n_steps": 32,
    "batch_size": 512,
    "n_epochs": 4,
    "gamma": 1.0,
    "gae_lambda": 0.95,
    "ent_coef": 0.01,
    "policy_kwargs": {"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
}
"""Hyperparameters of `MaskablePPO`. A game has its only reward at the end, after about 60 actions: do not discount."""
#: Options of the environment that are not part of the configuration.
_SEAT_OPTIONS = ("opponents", "seat", "illegal_action", "episodes", "render_mode", "render_width")
#: Fixed number of rows per model call, because the last bits of a matrix product depend on its shape.
_CHUNK = 128
#: Seed offset that makes evaluation games independent of training games.
_MATCH_SEED = 1_000_000


class GamesVecEnv(VecEnv):
    """Stable-Baselines3 `VecEnv` for games with one learning seat.

    Observations are those of the learner, scaled with `scale_observation`, float32 (B, F); rewards are float32 (B,).
    Masks come from ``env_method("action_masks")``, as `MaskablePPO` expects: one bool (A,) array per game, never all
    False. Every step returns new arrays.

    The info dict of a game is empty until the game ends. At the end, it contains:

    - ``terminal_observation``: the learner's observation of the finished game, float32 (F,);
    - ``TimeLimit.truncated``: always False;
    - ``is_success``: 1 if the learner wins, or 1 / k if k players tie for first; logged as ``rollout/success_rate``;
    - ``seat``: the learner's seat;
    - ``rewards``, ``scores`` and ``places`` of all seats, and ``episode`` if created with `make_sb3_env`.

    The games form a single environment: seeds, options, attributes and methods other than ``action_masks`` apply to all
    games. After ``seed(n)``, the next reset deals game b from stream b of seed n, so runs with different seeds have
    different games.

    Args:
        env: batch of games with autoreset mode SAME_STEP.

    Raises:
        ValueError: for a different autoreset mode. `set_options`, `set_attr` and `env_method` also raise it if they are
            called for only some of the games.
    """

    def __init__(self, env: GameSeatVectorEnv) -> None:
        if env.metadata["autoreset_mode"] != AutoresetMode.SAME_STEP:
            raise UserError("env: Stable-Baselines3 needs GameSeatVectorEnv(..., autoreset_mode='SameStep')")
        self.env = env
        self._chosen = np.zeros(env.num_envs, np.int64)
        size = spec_of(env.config).observation_size(env.config)
        super().__init__(env.num_envs, Box(0.0, 127.0, (size,), np.float32), env.single_action_space)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seed for the next reset; None draws a seed from NumPy's global generator."""
        self._seeds = [super().seed(seed)[0]] * self.num_envs
        return self._seeds

    def reset(self) -> npt.NDArray[np.float32]:
        """Reset all games and return the learners' first observations, float32 (B, F)."""
        options = self._options[0]
        if any(other != options for other in self._options):
            raise UserError("set_options: the games are one environment; pass one dict for all")
        obs, info = self.env.reset(seed=self._seeds[0], options=options)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{"seat": seat} for seat in info["seat"].tolist()]
        return scale_observation(obs["observation"])

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Store the actions, int (B,), for `step_wait`."""
        self._chosen = actions

    def step_wait(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[Any]]:
        """Step all games; return observations float32 (B, F), rewards float32 (B,), dones bool (B,) and infos.

        Raises:
            IllegalActionError: for an illegal action; names the game, action, phase and legal actions.
        """
        players = self.env.states["players"].copy()  # copy, because the step may reset finished games
        obs, reward, ended, _, info = self.env.step(self._chosen)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        games = np.flatnonzero(ended)
        if len(games):
            self._report(infos, info, games, players)
        return scale_observation(obs["observation"]), reward, ended, infos

    def _report(
        self,
        infos: list[dict[str, Any]],
        info: dict[str, Any],
        games: npt.NDArray[np.int64],
        players: npt.NDArray[np.integer],
    ) -> None:
        final = info["final_info"]
        last = scale_observation(np.stack([obs["observation"] for obs in info["final_obs"][games]]))
        for row, b in zip(last, games.tolist(), strict=True):
            seat = int(final["seat"][b])
            results = {name: final[name][b, : players[b]].copy() for name in ("rewards", "scores", "places")}
            infos[b] = results | {
                "terminal_observation": row,
                "TimeLimit.truncated": False,
                "is_success": float(fractional_wins(results["places"])[seat]),
                "seat": seat,
            }

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learners' action masks, bool (B, A)."""
        return self.env.action_masks()

    def _mask(self, b: int) -> npt.NDArray[np.bool_]:
        mask: npt.NDArray[np.bool_] = self.env.action_masks()[b]
        return mask

    def _all(self, indices: VecEnvIndices, what: str) -> None:
        if len(set(self._get_indices(indices))) != self.num_envs:
            raise UserError(f"{what}: the games are one environment; leave indices out")

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        """Call an environment method once and repeat its result for each game; ``action_masks`` are per game."""
        if method_name == "action_masks":
            return list(self.env.action_masks()[list(self._get_indices(indices))])
        self._all(indices, method_name)
        return [getattr(self.env, method_name)(*args, **kwargs)] * self.num_envs

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an environment attribute, repeated for each game; ``action_masks`` are per game."""
        if attr_name == "action_masks":
            return [partial(self._mask, b) for b in self._get_indices(indices)]
        return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the environment."""
        self._all(indices, attr_name)
        setattr(self.env, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Return False for each game, because single games have no wrappers."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[npt.NDArray[Any] | None]:
        """Return an image of every game as seen by its learner, uint8 (height, width, 3)."""
        images: list[npt.NDArray[Any]] = self.env.render() or []  # type: ignore[assignment]
        height = max((len(image) for image in images), default=0)  # it depends on the number of players
        return [np.pad(image, ((0, height - len(image)), (0, 0), (0, 0)), constant_values=255) for image in images]

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def make_sb3_env(num_envs: int = 128, *, seed: int | None = None, **options: Any) -> VecMonitor:
    """Create games for Stable-Baselines3, with ``episode`` (r, l, t) in the info of finished games.

    Args:
        num_envs: number of parallel games; large batches are faster.
        seed: random seed for the next reset; a model with its own seed overrides it.
        options: options of `GameSeatVectorEnv`, such as `opponents` (default "random"), `seat` and `episodes`. Here,
            `illegal_action` defaults to "raise", because MaskablePPO takes only legal actions. Pass either `config` or
            options of the game configuration, such as `num_players` and `reward`.
    """
    config = options.pop("config", None)
    seated = {"illegal_action": "raise"} | {name: options.pop(name) for name in _SEAT_OPTIONS if name in options}
    if config is None:
        config = default_config(**options)
    elif options:
        raise UserError(f"config: found {', '.join(options)} too, expected either a config or its options")
    games = GameSeatVectorEnv(num_envs, config, autoreset_mode=AutoresetMode.SAME_STEP, copy=False, **seated)
    env = GamesVecEnv(games)
    if seed is not None:
        env.seed(seed)
    return VecMonitor(env)


class SB3Player:
    """Player that takes the most probable legal action of a model; see `helsinki_env.agents.base.Player`.

    Args:
        model: model trained with `make_sb3_env`, or the path of its file.
        name: name of the player; default: "sb3", or "sb3:" followed by the path.

    Raises:
        ValueError: if the observation space of the model is not a Box.
    """

    def __init__(self, model: MaskablePPO | str | Path, name: str | None = None) -> None:
        self.name = name or ("sb3" if isinstance(model, MaskablePPO) else f"sb3:{model}")
        self.model = model if isinstance(model, MaskablePPO) else MaskablePPO.load(model, device="cpu")
        if not isinstance(self.model.observation_space, Box):
            raise UserError(f"{self.name}: learned from {self.model.observation_space}, expected make_sb3_env(...)")

    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return one legal action per row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        expected = self.model.observation_space.shape
        if observation.shape[1:] != expected:
            raise UserError(
                f"{self.name}: learned from observations of shape {expected}, these are {observation.shape[1:]}: use "
                "the component file it was trained with"
            )
        action_mask = action_masks("action_mask", action_mask, len(observation))
        actions, open_rows = forced_and_open(action_mask)
        for start in range(0, len(open_rows), _CHUNK):
            rows = open_rows[start : start + _CHUNK]
            filled = rows[np.arange(_CHUNK) % len(rows)]
            predicted, _ = self.model.predict(
                scale_observation(observation[filled]),
                deterministic=True,
                action_masks=action_mask[filled].astype(np.bool_),
            )
            actions[rows] = predicted[: len(rows)]
        return actions


def evaluate_sb3_player(
    player: SB3Player, opponent: str = "random", config: Any = None, games: int = 1000, seed: int = 0
) -> PlayerResult:
    """Evaluate a player against a named opponent in the other seats; the player plays every deal once in each seat."""
    config = config or default_config()
    others = [make_player(opponent, config)] * (config.num_players - 1)
    return play_match([player, *others], config, games=games, seed=_MATCH_SEED + seed).result(0)


class _Progress(BaseCallback):
    """Callback that calls a function after each rollout."""

    def __init__(self, report: Callable[[MaskablePPO], None]) -> None:
        super().__init__()
        self.report = report

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        if isinstance(self.model, MaskablePPO):
            self.report(self.model)


def train(
    total_timesteps: int = 400_000,
    opponents: str = "random",
    config: Any = None,
    *,
    num_envs: int = 128,
    seed: int = 0,
    report: Callable[[MaskablePPO], None] | None = None,
) -> MaskablePPO:
    """Train a `MaskablePPO` with `DEFAULTS`.

    Args:
        total_timesteps: total number of learner steps over all games, rounded up to whole rollouts.
        opponents: players for the other seats, as in `GameSeatVectorEnv`.
        config: game configuration; default: two players with the lead in points as the reward, which is more
            informative than winning or losing.
        num_envs: number of parallel games.
        seed: random seed for network and games.
        report: function that is called with the model after each rollout.

    Raises:
        ValueError: for invalid numbers; see also `GameSeatVectorEnv`.
    """
    for name, value, least in (("total_timesteps", total_timesteps, 1), ("num_envs", num_envs, 1), ("seed", seed, 0)):
        Node(value, UserError, name).integer(least, 2**31)
    env = make_sb3_env(num_envs, opponents=opponents, config=config or default_config(reward="margin"))
    model = MaskablePPO("MlpPolicy", env, **DEFAULTS, seed=seed, device="cpu")
    model.learn(total_timesteps, callback=None if report is None else _Progress(report))
    env.close()
    return model


def main(
    out: Path = Path("runs/sb3.zip"),
    total_timesteps: int = 400_000,
    opponents: str = "random",
    players: int = 2,
    num_envs: int = 128,
    seed: int = 0,
    games: int = 1000,
) -> None:
    """Train MaskablePPO from Stable-Baselines3 and evaluate it against random and greedy.

    Examples: python -m helsinki_env.training.sb3 --total-timesteps 150000 --seed 1
    / python -m helsinki_env.training.sb3 --opponents greedy --players 3 --out runs/three.zip

    Args:
        out: file in which to save the model, for MaskablePPO.load and SB3Player.
        total_timesteps: number of learner steps.
        opponents: player for the other seats during training, such as random, greedy or heuristic.
        players: number of players, 2 to 4.
        num_envs: number of parallel games.
        seed: random seed for network, games and evaluation.
        games: number of evaluation games against each opponent.
    """
    try:
        check_writable(out)  # before the training, which takes minutes
    except OSError as problem:
        raise UserError(f"--out: {problem}") from None
    Node(games, UserError, "--games").integer(1, 2**31)
    config = default_config(num_players=players, reward="margin")
    tenths = iter(range(1, 11))
    following = next(tenths)

    def report(model: MaskablePPO) -> None:
        """Print a line after each tenth of the training."""
        nonlocal following
        if 10 * model.num_timesteps < following * total_timesteps or not model.ep_info_buffer:
            return
        following = next(tenths, sys.maxsize)
        ahead = np.mean([episode["r"] for episode in model.ep_info_buffer])
        won = np.mean(list(model.ep_success_buffer or (0,)))
        print(f"{model.num_timesteps:9,} steps, {ahead:+.1f} points ahead, {won:.0%} won", flush=True)

    model = train(total_timesteps, opponents, config, num_envs=num_envs, seed=seed, report=report)
    with atomic_write(out, follow=True) as file:
        model.save(file)  # type: ignore[arg-type]  # accepts a writable file
    print(f"saved {out}")
    for name in ("random", "greedy"):
        s = evaluate_sb3_player(SB3Player(model), name, config, games, seed)
        print(f"against {name}: won {s.share:.1%} ({s.low:.1%} to {s.high:.1%}) of {s.games}, {s.score:.1f} points")


if __name__ == "__main__":
    import tyro

    prepare_output()
    try:
        tyro.cli(main, prog="python -m helsinki_env.training.sb3")
    except UserError as problem:
        sys.exit(f"helsinki_env.training.sb3: {problem}")
