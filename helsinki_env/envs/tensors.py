"""Self-play on a batch of games with all data in tensors; on a GPU, no data is copied to the host.

Steps are those of `helsinki_env.envs.vector` with `AutoresetMode.NEXT_STEP`. The same seed and actions give the same
games, bit for bit, on every device:

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
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError, as_integer, seed_to_uint64
from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.playout import MOST_GAMES, random_keys
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.arguments import spaces
from helsinki_env.envs.kernels import REPORT, RUN, finish_one
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

    from helsinki_env.envs.cpu_backend import Backend, CpuBackend, Memory, bytes_of

__all__ = ["GameTorchEnv", "masked_sample"]

#: Tensors of the memory that form a state; all others are derived or constant.
SAVED = ("states", "runs", "reports", "keys", "illegal")
#: Fields of the report of a finished game.
_REPORTED = ("reward", "rewards", "scores", "places", "rounds")

TensorStepResult = tuple[dict[str, Tensor], Tensor, Tensor, Tensor, dict[str, Tensor]]


def masked_sample(logits: Tensor, masks: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Sample a legal action for each game, int64 (B,), from a masked softmax; 0 where no action is legal.

    Args:
        logits: (B, A), of any floating type; values of illegal actions may be anything but NaN.
        masks: legal actions, (B, A), 0 for illegal ones.
        generator: random generator; default: PyTorch's default generator of the device.

    Raises:
        ValueError: unless both are such tensors of the same shape on the same device.
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
    # Gumbel-max trick: the argmax of logits plus Gumbel noise is a softmax sample, without a sum or normalization.
    noise = torch.empty_like(legal).exponential_(generator=generator)
    return (legal - noise.log()).argmax(1)


class GameTorchEnv:
    """A batch of games for self-play of all seats, in tensors on one device.

    Observation: ``{"observation": int8 (B, F), "action_mask": int8 (B, A)}`` of the acting seats.
    Action: the id of a legal action for every game, integers (B,) on the same device.

    Returned by `step`: reward float32 (B,) of the seat that acted, zero unless its action ends the game; terminated
    bool (B,); truncated bool (B,), always false. ``info["seat"]`` int64 (B,) is the acting seat. ``info["rewards"]``
    float32, ``info["scores"]`` int16 and ``info["places"]`` int8, all (B, players) (rank 0 is first), and
    ``info["rounds"]`` int16 (B,) are zero where no game ended.

    The step that ends a game returns its last observation (no legal actions). The next call ignores the action for that
    game and deals a new one with reward 0.

    The next call overwrites all returned tensors: they are always the same ones, so that a step can be captured in a
    CUDA graph. Clone what you need later.

    Args:
        num_envs: number of games B.
        config: configuration of the game to play.
        device: "cuda", one of several GPUs ("cuda:1"), or "cpu".
        episodes: options to draw at random for each game (`GameSpec.episodes`).
        check: whether `step` first checks all actions and raises an error for an illegal one, with nothing stepped.
            This synchronizes with the GPU. Otherwise an illegal action changes nothing in its game, and
            `illegal_actions` counts it.

    Attributes:
        game_spec: specification of the game.
        config: configuration of the games.
        episodes: options drawn at random for each game.
        device: device of the tensors.
        memory: all tensors, see `Memory`; for tools.

    Raises:
        ValueError: for invalid arguments, or a missing GPU.
        MissingExtraError: if PyTorch, or on a GPU the CUDA compiler, is missing.
    """

    def __init__(
        self,
        num_envs: int,
        config: Any,
        device: str | torch.device = "cuda",
        episodes: Any = None,
        check: bool = False,
    ) -> None:
        count = as_integer(num_envs)
        if count is None or not 1 <= count <= MOST_GAMES:
            raise ValueError(f"num_envs: found {num_envs!r}, expected a whole number from 1 to {MOST_GAMES:,}")
        self.game_spec = spec = spec_of(config)
        episodes = spec.episodes() if episodes is None else episodes
        if not isinstance(episodes, spec.episodes):
            raise ValueError(f"episodes: found {episodes!r}, expected {spec.episodes.__name__}(...)")
        if episodes.num_players is not None and any(config.denied):
            raise ValueError("denied: found sets for each seat, expected None with a random number of players")
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
        self._most_players = config.num_players if episodes.num_players is None else max(episodes.num_players)
        self._attach()

    def _attach(self) -> None:
        """Create everything that refers to the tensors of the memory."""
        memory = self.memory
        self._backend = _make_backend(memory, self._dtypes, self.device)
        self._observation = {"observation": memory.observations, "action_mask": memory.masks}
        self._info = {"seat": memory.seats} | _reported(memory.reports, self._most_players)
        self._truncated = torch.zeros_like(memory.ended)

    def reset(self, seed: int | None = None) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Deal all games and return the observations of the acting seats.

        Args:
            seed: game b gets stream b of this seed, and `sample` uses `random_keys(num_envs, seed)`. None: each stream
                continues with its next episode (at the first reset: fresh entropy).

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
            ValueError: for anything but integers of shape (B,) on the device of the games.
            IllegalActionError: with `check`; names game, action, phase and the legal actions. No game has been stepped.
        """
        memory = self.memory
        memory.actions.copy_(self._checked(actions), non_blocking=True)
        if self.check:
            self._check_legal()
        self._backend.step(self._reward)
        return self._observation, memory.rewards, memory.ended, self._truncated, self._info

    def _checked(self, actions: object) -> Tensor:
        if not self._dealt:
            raise ValueError("no game is dealt yet: call reset() first")
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
            why = self.game_spec.why_illegal(self.to_cpu(b), int(self.memory.actions[b]))
            raise IllegalActionError(f"game {b}: {why}")

    @property
    def illegal_actions(self) -> Tensor:
        """Number of illegal actions so far, int64 (), on the device; none of them changed its game."""
        return self.memory.illegal[0]

    def sample(self) -> Tensor:
        """Return a uniformly random legal action for each game, int64 (B,); 0 where a game is over.

        The result equals that of `sample_actions` with ``random_keys(num_envs, seed)`` on the CPU.
        """
        self._backend.sample()
        return self.memory.chosen

    def sample_from(self, logits: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Sample a legal action for each game from the softmax of logits (B, A); see `masked_sample`."""
        return masked_sample(logits, self.memory.masks, generator)

    def to_cpu(self, b: int) -> Any:
        """Return a copy of game `b` as an object, to inspect, draw or save. ValueError for an invalid index."""
        number = as_integer(b)
        if number is None or not -self.num_envs <= number < self.num_envs:
            raise ValueError(f"game: found {b!r}, expected the number of one of {self.num_envs} games, from 0")
        if not self._dealt:
            raise ValueError("no game is dealt yet: call reset() first")
        state = self.memory.states[number].cpu().numpy().view(self._dtypes["states"])[0]
        return self.game_spec.game._from_valid_state(self.game_spec.config_of(self.config, state), state)

    @property
    def records(self) -> npt.NDArray[Any]:
        """A copy of the records of the games, (B,), for tools."""
        rows = self.memory.states.cpu().numpy().copy()
        records: npt.NDArray[Any] = rows.view(self._dtypes["states"])[:, 0]
        return records

    def get_state(self) -> dict[str, Tensor]:
        """Return a copy of all mutable state, on the device; `set_state` loads it."""
        return {name: getattr(self.memory, name).clone() for name in SAVED}

    def set_state(self, state: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Load a state from an environment of the same size and configuration, on any device.

        Raises:
            ValueError: if the state does not fit or is invalid; names game and field. Nothing has changed then.
        """
        taken = checked_state(state, self.memory, self._dtypes, self.config, self._most_players)
        for name in SAVED:
            getattr(self.memory, name).copy_(taken[name])
        return self._observe()

    def clone(self) -> Self:
        """Return an independent copy in the same state on the same device; both continue with the same games."""
        return copy.deepcopy(self)

    def __copy__(self) -> Self:
        """Return an independent copy, as `clone`: two environments cannot share one memory."""
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
        found = torch.device(device)  # type: ignore[call-overload]  # PyTorch checks the argument
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
    """Return fields of the reports, views of shape (B, players), and `rounds` (B,)."""

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
    """Return copies of the tensors of a state, on the CPU; ValueError unless it is valid and fits the environment."""
    if not isinstance(state, Mapping) or set(state) != set(SAVED):
        found = ", ".join(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise ValueError(f"state: found {found}, expected {', '.join(SAVED)}")
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
    """Return a copy of a state tensor, checked against the environment's own tensor."""
    if not isinstance(found, Tensor) or found.layout != torch.strided or found.device.type == "meta":
        raise ValueError(f"{name}: found {type(found).__name__}, expected a tensor with values")
    if found.shape != own.shape or found.dtype != own.dtype:
        raise ValueError(
            f"{name}: found {tuple(found.shape)} of {found.dtype}, expected {tuple(own.shape)} of {own.dtype}"
        )
    copied = torch.empty(own.shape, dtype=own.dtype)
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
