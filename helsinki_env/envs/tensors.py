"""Self-play on a batch of games with all data in tensors; on a GPU, steps do not copy any data to the host.

Steps work as in `helsinki_env.envs.vector` with `AutoresetMode.NEXT_STEP`. The same seed and actions produce
bit-identical games on every device:

    >>> from helsinki_env import HelsinkiTorchEnv
    >>> env = HelsinkiTorchEnv(64, num_players=3, device="cpu")
    >>> obs, info = env.reset(seed=0)
    >>> for _ in range(10):
    ...     obs, reward, terminated, truncated, info = env.step(env.sample())
    >>> obs["observation"].shape, obs["action_mask"].shape, info["seat"].shape
    (torch.Size([64, 1385]), torch.Size([64, 554]), torch.Size([64]))
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError, as_integer, seed_to_uint64, short_repr
from helsinki_env.engine import playout
from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.playout import random_keys
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs import tensor_kernels as kernels
from helsinki_env.envs.arguments import (
    check_episodes,
    check_index,
    check_num_envs,
    check_state_keys,
    player_range,
    spaces,
)
from helsinki_env.envs.kernels import REPORT, RUN, finish_one
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

__all__ = ["GameTorchEnv", "masked_sample"]

#: Fields of `Memory` that form a state; all others are derived or constant.
SAVED = ("states", "runs", "reports", "keys", "illegal")
#: Fields in the report of a finished game.
_REPORTED = ("reward", "rewards", "scores", "places", "rounds")

TensorStepResult = tuple[dict[str, Tensor], Tensor, Tensor, Tensor, dict[str, Tensor]]


def _rows(count: int, dtype: np.dtype[Any], device: torch.device) -> Tensor:
    return torch.zeros((count, dtype.itemsize), dtype=torch.uint8, device=device)


def bytes_of(records: Any, device: torch.device) -> Tensor:
    """Return a copy of contiguous records (count,) on a device, as uint8 (count, bytes per record)."""
    rows = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), -1)
    return torch.tensor(rows, device=device)


@dataclass
class Memory:
    """All tensors of a batch of B games with A actions and F observation entries, on one device.

    Records are stored as rows of bytes, which the kernels interpret.
    """

    tables: Tensor  # the component file, as one record
    states: Tensor  # records of the games
    runs: Tensor  # random streams of the games
    setup: Tensor  # game options, one record
    drawn: Tensor  # options of random episodes, one record per game
    reports: Tensor  # results of the games that ended in the last step
    masks: Tensor  # int8 (B, A)
    observations: Tensor  # int8 (B, F), of the acting seats
    seats: Tensor  # acting seats, int64 (B,)
    rewards: Tensor  # of the seats that acted, float32 (B,)
    ended: Tensor  # bool (B,)
    actions: Tensor  # for the next step, int64 (B,)
    illegal: Tensor  # number of illegal actions so far, int64 (1,)
    keys: Tensor  # random keys for `sample`, uint64 bits stored as int64 (B,)
    chosen: Tensor  # result of `sample`, int64 (B,)

    @classmethod
    def of(cls, spec: Any, config: Any, episodes: Any, count: int, device: torch.device) -> Memory:
        """Create the tensors for `count` games, before the first deal."""
        states, setup, drawn = spec.new_states(config, 1), spec.new_states(config, 1), episodes.record()
        spec.apply_setup(setup, config)

        def numbers(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.zeros(shape, dtype=dtype, device=device)

        return cls(
            tables=bytes_of(config.tables, device),
            states=bytes_of(states, device).repeat(count, 1),
            runs=_rows(count, RUN, device),
            setup=bytes_of(setup, device),
            drawn=bytes_of(drawn, device).repeat(count, 1),
            reports=_rows(count, REPORT, device),
            masks=numbers(count, spec.num_actions(config), dtype=torch.int8),
            observations=numbers(count, spec.observation_size(config), dtype=torch.int8),
            seats=numbers(count),
            rewards=numbers(count, dtype=torch.float32),
            ended=numbers(count, dtype=torch.bool),
            actions=numbers(count),
            illegal=numbers(1),
            keys=numbers(count),
            chosen=numbers(count),
        )


class Backend(Protocol):
    """Interface of a backend that runs the games in its memory; each call writes its results there."""

    def reset(self) -> None:
        """Deal all games."""

    def observe(self) -> None:
        """Write the masks, observations and acting seats."""

    def step(self, reward: int, observe: bool = True) -> None:
        """Apply `actions`, then write the masks, acting seats and, if `observe` is true, the observations.

        `reward` is the index of a reward type in `REWARDS`.
        """

    def first_illegal(self) -> int:
        """Return the index of the first game whose action in `actions` is illegal, or -1."""
        ...

    def sample(self) -> None:
        """Sample a uniformly random legal action for each game into `chosen`."""


class CpuBackend:
    """CPU backend, which uses the same kernels as the other batch environments."""

    def __init__(self, memory: Memory, dtypes: dict[str, np.dtype[Any]]) -> None:
        """Create views of the memory; `dtypes` maps tensor names to record dtypes."""
        self._memory = memory

        def records(name: str) -> Any:
            return getattr(memory, name).numpy().view(dtypes[name])[:, 0]

        self._games = tuple(map(records, ("tables", "states", "runs", "setup", "drawn")))
        self._reports = records("reports")
        self._looks = memory.masks.numpy(), memory.observations.numpy(), memory.seats.numpy()
        self._results = memory.rewards.numpy(), memory.ended.numpy(), memory.illegal.numpy()
        self._actions, self._chosen = memory.actions.numpy(), memory.chosen.numpy()
        self._keys = memory.keys.numpy().view(np.uint64)
        self._sets = np.empty(playout.num_blocks(memory.masks.shape[1]), np.uint64)

    def reset(self) -> None:
        """Deal all games."""
        kernels.reset_all(*self._games, self._reports)

    def observe(self) -> None:
        """Write the masks, observations and acting seats."""
        tables, states, *_ = self._games
        kernels.observe_games(tables, states, *self._looks)

    def step(self, reward: int, observe: bool = True) -> None:
        """Apply `actions`, then write the masks, acting seats and, if `observe` is true, the observations."""
        kernels.step_all(*self._games, self._actions, reward, *self._looks, self._reports, *self._results, observe)

    def first_illegal(self) -> int:
        """Return the index of the first game whose action in `actions` is illegal, or -1."""
        return int(kernels.first_illegal_tensor_game(self._games[1], self._actions, self._looks[0]))

    def sample(self) -> None:
        """Sample a uniformly random legal action for each game into `chosen`."""
        playout.sample_batch(self._looks[0], self._keys, self._chosen, self._sets)


def masked_sample(logits: Tensor, masks: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Sample a legal action for each game, int64 (B,), from a masked softmax; 0 if no action is legal.

    Args:
        logits: (B, A), of any floating-point type; the logits of illegal actions may have any value except NaN.
        masks: legal actions, (B, A), nonzero for legal ones.
        generator: random generator; None uses PyTorch's default generator for the device.

    Raises:
        ValueError: unless both are tensors of the same shape (B, A) on the same device.
    """
    for name, found in (("logits", logits), ("masks", masks)):
        if not isinstance(found, Tensor) or found.ndim != 2:
            shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise ValueError(f"{name}: found {shape}, expected a tensor of shape (B, A)")
    if not logits.is_floating_point():
        raise ValueError(f"logits: found {logits.dtype}, expected floating-point numbers")
    if logits.shape != masks.shape or logits.device != masks.device or not logits.shape[1]:
        both = f"{tuple(logits.shape)} on {logits.device} and {tuple(masks.shape)} on {masks.device}"
        raise ValueError(f"logits, masks: found {both}, expected the same shape (B, A) on the same device")
    legal = logits.float().masked_fill(masks == 0, -torch.inf)
    # Gumbel-max trick: the argmax of logits plus Gumbel noise is a softmax sample; this needs no sum or normalization.
    noise = torch.empty_like(legal).exponential_(generator=generator)
    return (legal - noise.log()).argmax(1)


class GameTorchEnv:
    """Batch of games for self-play of all seats, in tensors on one device.

    Observation: ``{"observation": int8 (B, F), "action_mask": int8 (B, A)}`` of the acting seats.
    Action: the id of a legal action for every game, integers (B,) on the same device.

    Returned by `step`: reward float32 (B,) of the seat that acted, zero unless its action ends the game; terminated
    bool (B,); truncated bool (B,), always false. ``info["seat"]`` int64 (B,) is the acting seat. ``info["rewards"]``
    float32, ``info["scores"]`` int16 and ``info["places"]`` int8, all (B, players) (0 is the first rank), and
    ``info["rounds"]`` int16 (B,) are zero for games that did not end.

    The step that ends a game returns its last observation, with no legal actions. The next call ignores the action for
    that game and deals a new one with reward 0.

    Every call returns the same tensors and overwrites them, so that a step can be captured in a CUDA graph. Clone what
    you need later.

    Args:
        num_envs: number of games B.
        config: configuration of the game to play.
        device: "cuda", one of several GPUs ("cuda:1"), or "cpu".
        episodes: options drawn at random for each episode (`GameSpec.episodes`), not a number of episodes.
        check: whether `step` checks all actions and raises an error for an illegal one before any game is advanced.
            This synchronizes with the GPU. Without the check, an illegal action has no effect and is counted in
            `illegal_actions`.

    Attributes:
        game_spec: specification of the game.
        config: configuration of the games.
        episodes: options drawn at random for each episode, not a number of episodes.
        device: device of the tensors.
        memory: all tensors (see `Memory`), for tools.

    Raises:
        ValueError: for invalid arguments, or if the GPU is missing.
        MissingExtraError: if PyTorch is missing, or on a GPU the CUDA compiler.
    """

    def __init__(
        self, num_envs: int, config: Any, device: str | torch.device = "cuda", episodes: Any = None, check: bool = False
    ) -> None:
        count, spec = check_num_envs(num_envs), spec_of(config)
        episodes = spec.episodes() if episodes is None else check_episodes(spec, episodes)
        _, self._most_players = player_range(config, episodes)
        self.game_spec = spec
        self.num_envs, self.config, self.episodes, self.check = count, config, episodes, check
        self.device = _device(device)
        self.memory = Memory.of(spec, config, episodes, count, self.device)
        self._dtypes = {
            "tables": config.tables.dtype,
            "states": spec.new_states(config, 0).dtype,
            "setup": spec.new_states(config, 0).dtype,
            "runs": RUN,
            "drawn": episodes.record().dtype,
            "reports": REPORT,
        }
        self._reward = REWARDS.index(config.reward)
        self._dealt = False
        self.single_observation_space, self.single_action_space = spaces(
            spec.num_actions(config), spec.observation_size(config)
        )
        self._attach()

    def _attach(self) -> None:
        """Create the attributes that refer to tensors of the memory."""
        memory = self.memory
        self._backend = _make_backend(memory, self._dtypes, self.device)
        self._observation = {"observation": memory.observations, "action_mask": memory.masks}
        self._info = {"seat": memory.seats} | _reported(memory.reports, self._most_players)
        self._truncated = torch.zeros_like(memory.ended)

    def reset(self, seed: int | None = None) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Deal all games and return the observations of the acting seats.

        Args:
            seed: game b uses stream b of this seed, and `sample` uses `random_keys(num_envs, seed)`. None continues
                each stream with its next episode, or uses fresh entropy at the first reset.

        Raises:
            ValueError: for an invalid seed.
        """
        if seed is None and self._dealt:
            runs = self.memory.runs.cpu().numpy().view(RUN)[:, 0]
            runs["episode"] += np.uint64(1)
        else:
            key = seed_to_uint64(seed)
            runs = np.zeros(self.num_envs, RUN)
            runs["seed"], runs["stream"] = key, np.arange(self.num_envs, dtype=np.uint64)
            keys = random_keys(self.num_envs, int(key))
            self.memory.keys.copy_(torch.from_numpy(keys.view(np.int64)))
        self.memory.runs.copy_(bytes_of(runs, torch.device("cpu")))
        self._backend.reset()
        return self._observe()

    def _observe(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        self._backend.observe()
        self._dealt = True
        return self._observation, self._info

    def step(self, actions: Tensor) -> TensorStepResult:
        """Apply one action in every game; see the class for the returned values.

        Raises:
            ValueError: unless the actions are integers of shape (B,) on the device of the games.
            IllegalActionError: with `check`; names the game, action, phase and legal actions. No game is advanced.
        """
        memory = self.memory
        memory.actions.copy_(self._checked(actions), non_blocking=True)
        if self.check:
            self._check_legal()
        self._backend.step(self._reward)
        return self._result()

    def play_random(self, steps: int) -> TensorStepResult:
        """Take `steps` uniformly random actions in every game and return the result of the last step.

        This is the same as `steps` calls of ``step(sample())``, but writes the observations only once. The results of
        games that end before the last step are lost.

        Raises:
            ValueError: if `steps` is not a positive integer or no game is dealt.
        """
        count, memory = as_integer(steps), self.memory
        if count is None or count < 1:
            raise ValueError(f"steps: found {short_repr(steps)}, expected a positive integer")
        self._check_dealt()
        for left in reversed(range(count)):
            self._backend.sample()
            memory.actions.copy_(memory.chosen, non_blocking=True)
            self._backend.step(self._reward, observe=left == 0)
        return self._result()

    def _result(self) -> TensorStepResult:
        return self._observation, self.memory.rewards, self.memory.ended, self._truncated, self._info

    def _check_dealt(self) -> None:
        if not self._dealt:
            raise ValueError("no game is dealt yet: call reset() first")

    def _checked(self, actions: object) -> Tensor:
        self._check_dealt()
        if not isinstance(actions, Tensor):
            raise ValueError(f"actions: found {type(actions).__name__}, expected a tensor on {self.device}")
        whole = not actions.is_floating_point() and not actions.is_complex() and actions.dtype != torch.bool
        if actions.shape != (self.num_envs,) or not whole or actions.device != self.device:
            raise ValueError(
                f"actions: found {actions.dtype} of shape {tuple(actions.shape)} on {actions.device}, expected whole "
                f"numbers of shape ({self.num_envs},) on {self.device}"
            )
        return actions

    def _check_legal(self) -> None:
        b = self._backend.first_illegal()
        if b >= 0:
            why = self.game_spec.why_illegal(self.game(b), int(self.memory.actions[b]))
            raise IllegalActionError(f"game {b}: {why}")

    @property
    def illegal_actions(self) -> Tensor:
        """Number of illegal actions so far, int64 (), on the device; these actions had no effect."""
        return self.memory.illegal[0]

    def sample(self) -> Tensor:
        """Return a uniformly random legal action for each game, int64 (B,); 0 for games that are over.

        The result is the same as for `sample_actions` with ``random_keys(num_envs, seed)`` on the CPU.
        """
        self._backend.sample()
        return self.memory.chosen

    def sample_from(self, logits: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Sample a legal action for each game from the softmax of logits (B, A); see `masked_sample`."""
        return masked_sample(logits, self.memory.masks, generator)

    def game(self, b: int) -> Any:
        """Return a copy of game `b` as an object to inspect, draw or save. Raise ValueError for an invalid index."""
        number = check_index(b, self.num_envs)
        self._check_dealt()
        state = self.memory.states[number].cpu().numpy().view(self._dtypes["states"])[0]
        return self.game_spec.game._from_valid_state(self.game_spec.config_of(self.config, state), state)

    @property
    def states(self) -> npt.NDArray[Any]:
        """A copy of the game states, records of shape (B,), for tools."""
        rows = self.memory.states.cpu().numpy().copy()
        states: npt.NDArray[Any] = rows.view(self._dtypes["states"])[:, 0]
        return states

    def get_state(self) -> dict[str, Tensor]:
        """Return a copy of all mutable state, on the device; `set_state` loads it."""
        return {name: getattr(self.memory, name).clone() for name in SAVED}

    def set_state(self, state: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Load a state from an environment of the same size and configuration, on any device.

        Raises:
            ValueError: if the state is invalid or does not match; the message names game and field. The environment is
                left unchanged.
        """
        taken = checked_state(state, self.memory, self._dtypes, self.config, self._most_players)
        for name in SAVED:
            getattr(self.memory, name).copy_(taken[name])
        return self._observe()

    def clone(self) -> Self:
        """Return an independent copy in the same state on the same device; both deal the same subsequent games."""
        return copy.deepcopy(self)

    def __copy__(self) -> Self:
        """Return an independent copy, like `clone`: two environments cannot share one memory."""
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except references to the memory, which `__setstate__` recreates."""
        return {name: value for name, value in self.__dict__.items() if name not in _ATTACHED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state of the copy."""
        self.__dict__.update(state)
        self._attach()


#: Attributes that refer to the memory; see `GameTorchEnv._attach`.
_ATTACHED = ("_backend", "_observation", "_info", "_truncated")


def _device(device: object) -> torch.device:
    found = torch.device("meta")  # an unsupported device
    with contextlib.suppress(RuntimeError, TypeError):
        found = torch.device(device)  # type: ignore[call-overload]  # PyTorch validates the argument
    if found.type not in ("cpu", "cuda"):
        raise UserError(f"device: found {device!r}, expected cuda, one GPU such as cuda:1, or cpu")
    if found.type == "cuda" and not torch.cuda.is_available():
        raise UserError("device: found cuda, expected cpu: PyTorch finds no GPU")
    if str(found) == "cuda":
        found = torch.device("cuda", torch.cuda.current_device())
    return found


def _make_backend(memory: Memory, dtypes: dict[str, Any], device: torch.device) -> Backend:
    if device.type == "cpu":
        return CpuBackend(memory, dtypes)
    with requires_extra("cuda"):
        from helsinki_env.cuda.device import CudaBackend
    return CudaBackend(memory, dtypes)


def _reported(reports: Tensor, players: int) -> dict[str, Tensor]:
    """Return the fields of the reports as views of shape (B, players), and `rounds` of shape (B,)."""

    def column(name: str, dtype: torch.dtype) -> Tensor:
        kind, first = REPORT.fields[name][:2]  # type: ignore[index]  # it has fields
        numbers = reports.view(dtype)
        first //= dtype.itemsize
        return numbers[:, first : first + players] if kind.shape else numbers[:, first]

    return {
        "rewards": column("rewards", torch.float32),
        "scores": column("scores", torch.int16),
        "places": column("places", torch.int8),
        "rounds": column("rounds", torch.int16),
    }


def checked_state(
    state: Any, memory: Memory, dtypes: Mapping[str, np.dtype[Any]], config: Any, most_players: int
) -> dict[str, Tensor]:
    """Return CPU copies of a state's tensors.

    Raise ValueError if the state is invalid or from a different configuration.
    """
    check_state_keys(state, SAVED)
    taken = {name: _copy(name, state[name], getattr(memory, name)) for name in SAVED}
    states, reports = (taken[name].numpy().view(dtypes[name])[:, 0] for name in ("states", "reports"))
    spec_of(config).check(states, config)
    if (states["players"] > most_players).any():
        b = int((states["players"] > most_players).argmax())
        raise ValueError(f"states: game {b}: players: found {states['players'][b]}, expected at most {most_players}")
    _check_reports(reports, states, config)
    if int(taken["illegal"][0]) < 0:
        raise ValueError(f"illegal: found {int(taken['illegal'][0])}, expected a count of illegal actions")
    return taken


def _copy(name: str, found: object, own: Tensor) -> Tensor:
    """Return a copy of a state tensor after checking it against the environment's own tensor."""
    if not isinstance(found, Tensor) or found.layout != torch.strided or found.device.type == "meta":
        raise ValueError(f"{name}: found {type(found).__name__}, expected a tensor with values")
    if found.shape != own.shape or found.dtype != own.dtype:
        raise ValueError(
            f"{name}: found {tuple(found.shape)} of {found.dtype}, expected {tuple(own.shape)} of {own.dtype}"
        )
    copied = torch.empty(own.shape, dtype=own.dtype, device="cpu")
    copied.copy_(found)
    return copied


def _check_reports(reports: npt.NDArray[Any], states: npt.NDArray[Any], config: Any) -> None:
    """Check that finished games have correct reports and all other reports are blank."""
    expected = np.zeros(len(reports), REPORT)
    for b in np.flatnonzero(states["done"]).tolist():
        finish_one(config.tables, states[b : b + 1], REWARDS.index(config.reward), expected[b : b + 1])
    for name in ("ended", *_REPORTED):
        found, right = reports[name], expected[name]
        if name == "ended":
            found, right = found.view(np.uint8), right.view(np.uint8)
        wrong = ~np.isclose(found, right, rtol=1e-5) if right.dtype.kind == "f" else found != right
        wrong = wrong.reshape(len(reports), -1).any(axis=1)
        if wrong.any():
            b = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"reports: game {b}: {name}: found {found[b].tolist()}, expected {right[b].tolist()} as in `states`"
            )
