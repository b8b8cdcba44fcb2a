"""Wrong arrays, given to every public function and method that takes arrays; run in a process of its own.

    python -m tests.support.wrong_arrays [PLAYER ...]

Each function is called in a forked process, with each of its arrays replaced by each wrong one. A call must raise one
of the package's errors, which names the value found and the expected one, or return the result for the right array.
Each printed line names a call that does neither.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from helsinki_env import CopenhagenConfig, HelsinkiConfig
from helsinki_env.agents.base import init_streams, next_keys
from helsinki_env.agents.evaluation import evaluate_actions
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.determinization import determinize_batch, determinize_observation, states_from_observations
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.playout import play_out, random_keys, sample_actions
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import copy_states, repeat_state
from helsinki_env.envs.seat import GameSeatVectorEnv
from helsinki_env.envs.tensors import GameTorchEnv, masked_sample
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.evaluation.play import DisabledActions, deal_seeds, play_games

N = 3


class Called(NamedTuple):
    """Something public that takes arrays.

    Attributes:
        call: with the arrays by name; returns what can be compared.
        arrays: returns new valid arrays.
    """

    call: Callable[..., Any]
    arrays: Callable[[], dict[str, Any]]


def wrong(right: Any) -> Iterator[tuple[str, Any]]:
    """Yield wrong values for an array, each with a name."""
    n = len(right)
    plain = right.dtype.names is None
    yield "None", None
    yield "a number", 5
    yield "text", "text"
    yield "bytes", b"\x01" * right.nbytes
    yield "a mapping", {"a": 1}
    yield "an object", object()
    yield "an empty list", []
    yield "a list of lists that differ", [[0], [0, 1]]
    yield "a list of None", [None] * n
    yield "a list of text", ["1"] * n
    yield "a generator", (i for i in range(n))
    yield "no dimension", np.asarray(right).flat[0] if plain else right[0]
    yield "one dimension more", right.copy()[None]
    yield "one dimension less", right.copy()[0]
    yield "all in a row", np.tile(right.reshape(-1), 2)
    yield "no rows", right.copy()[:0]
    yield "a row less", right.copy()[:-1]
    yield "a row more", np.concatenate([right, right[:1]])
    yield "many rows", np.repeat(right, 2000, axis=0)
    yield "objects", right.astype(object) if plain else np.array([None] * n)
    yield "a masked array of other length", np.ma.masked_array(np.zeros(n + 2))
    yield "dates", np.zeros(right.shape, "M8[s]")
    yield "time spans", np.zeros(right.shape, "m8[s]")
    yield "bytes of text", np.full(right.shape, b"1", "S1")
    yield "complex", np.ones(right.shape, complex)
    yield "halves", np.full(right.shape, 0.5)
    yield "no numbers", np.full(right.shape, np.nan)
    yield "infinite", np.full(right.shape, np.inf)
    yield "float32", np.ones(right.shape, np.float32)
    yield "float16", np.ones(right.shape, np.float16)
    yield "negative", np.full(right.shape, -1)
    yield "negative of a byte", np.full(right.shape, -1, np.int8)
    yield "the least byte", np.full(right.shape, -128, np.int8)
    yield "256", np.full(right.shape, 256)
    yield "127 as bytes", np.full(right.shape, 127, np.int8)
    yield "2 ** 31", np.full(right.shape, 2**31)
    yield "the least of 64 bits", np.full(right.shape, -(2**63))
    yield "the most of 64 bits", np.full(right.shape, 2**64 - 1, np.uint64)
    yield "booleans", np.ones(right.shape, np.bool_)
    yield "a record of another kind", np.zeros(right.shape, [("a", np.int64)])
    yield "a tensor", torch.full(right.shape, -1)
    if plain and right.ndim == 2:
        yield "a column less", right.copy()[:, :-1]
        yield "a column more", np.concatenate([right, right[:, :1]], axis=1)
        yield "no columns", right.copy()[:, :0]
        yield "nothing but 0", np.zeros_like(right)


def other_forms(right: Any) -> Iterator[tuple[str, Any]]:
    """Yield what holds the same in another form: rejected, or as good as the right one."""
    yield "every second of an array", np.repeat(right, 2, axis=0)[::2]
    yield "in Fortran's order", np.asfortranarray(right.copy())
    yield "backwards twice", right[::-1].copy()[::-1]
    yield "read-only", _locked(right)
    yield "a subclass", right.copy().view(type("Own", (np.ndarray,), {}))
    if right.dtype.names is None:
        yield "the other byte order", right.astype(right.dtype.newbyteorder())
        yield "wider numbers", right.astype(np.int64 if right.dtype != np.uint64 else np.uint64)
        yield "a list", right.tolist()
        shifted = np.zeros(right.nbytes + 1, np.uint8)
        odd = shifted[1:].view(right.dtype).reshape(right.shape)
        odd[...] = right
        yield "unaligned", odd


def _locked(array: Any) -> Any:
    copied = array.copy()
    copied.flags.writeable = False
    return copied


def is_ours(problem: BaseException) -> bool:
    """Whether an error says what was found and what is expected, in our words."""
    text = str(problem)
    said = "found" in text or isinstance(problem, IllegalActionError)
    return isinstance(problem, ValueError | TypeError) and said and len(text) < 900


def functions(config: Any, players: Sequence[str]) -> dict[str, Called]:
    """Everything public that takes arrays, for one game, and these players."""
    spec = spec_of(config)
    env = GameVectorEnv(N, config)
    obs, info = env.reset(seed=3)
    keys = random_keys(N, 3)
    for _ in range(30):
        obs, *_, info = env.step(sample_actions(obs["action_mask"], keys))
    states, seats = env.states.copy(), info["seat"].copy()
    seen = {"observation": obs["observation"].copy(), "mask": obs["action_mask"].copy()}
    ids, tables = spec.num_actions(config), config.tables[0]

    def chosen(masks: Any, keys: Any, out: Any) -> Any:
        return sample_actions(masks, keys, out), keys, out

    def played_out(states: Any, keys: Any) -> Any:
        return play_out(tables, states, keys, ids), states, keys

    def dealt(states: Any, viewers: Any, keys: Any) -> Any:
        determinize_batch(config, states, viewers, keys)
        return states

    def asked() -> dict[str, Any]:
        return {name: array.copy() for name, array in seen.items()} | {"words": random_keys(N)}

    def stepped(actions: Any) -> Any:
        other = env.clone()
        return other.step(actions)[0]

    seat_env = GameSeatVectorEnv(N, config, seat=0, illegal_action="raise")
    legal = seat_env.reset(seed=1)[0]["action_mask"].argmax(axis=1)
    tensors = GameTorchEnv(N, config, "cpu", check=True)
    tensors.reset(seed=1)
    saved = tensors.get_state()

    def in_tensors(actions: Any) -> Any:
        tensors.set_state(saved)
        return tensors.step(_tensor(actions))[0]

    def sampled(logits: Any, masks: Any) -> Any:
        masked_sample(_tensor(logits), _tensor(masks))

    def restored(saved: str) -> Callable[..., Any]:
        def call(array: Any) -> Any:
            other = env.clone()
            return other.set_state(env.get_state() | {saved: array})[0]

        return call

    def matched(**arrays: Any) -> Any:
        both = [RandomPlayer()] * 2
        barred = DisabledActions(arrays.pop("covered"), arrays.pop("denied"))
        return play_games(both, config, disabled=barred, **arrays).scores

    found = {
        "choose_uniformly": Called(
            chosen,
            lambda: {"masks": seen["mask"].copy(), "keys": random_keys(N), "out": np.zeros(N, np.int64)},
        ),
        "play_out": Called(played_out, lambda: {"states": states.copy(), "keys": random_keys(N)}),
        "batch_redeal": Called(
            dealt, lambda: {"states": states.copy(), "viewers": seats.copy(), "keys": random_keys(N)}
        ),
        "restore": Called(
            lambda observations: states_from_observations(config, observations),
            lambda: {"observations": seen["observation"].copy()},
        ),
        "deals": Called(
            lambda observation: determinize_observation(config, observation, 2, seed=1),
            lambda: {"observation": seen["observation"][0].copy()},
        ),
        "copy_states": Called(lambda states: copy_states(states), lambda: {"states": states.copy()}),
        "copies_of": Called(lambda states: repeat_state(states, 2), lambda: {"states": states[:1].copy()}),
        "GameSpec.check": Called(lambda states: spec.check(states, config), lambda: {"states": states.copy()}),
        "vector step": Called(stepped, lambda: {"actions": seen["mask"].argmax(axis=1)}),
        "vector observe": Called(lambda seats: env.observe(seats), lambda: {"seats": seats.copy()}),
        "vector set_state": Called(restored("states"), lambda: {"array": states.copy()}),
        "seat step": Called(lambda actions: seat_env.clone().step(actions)[0], lambda: {"actions": legal.copy()}),
        "tensor step": Called(in_tensors, lambda: {"actions": saved_actions(tensors, saved)}),
        "masked_sample": Called(
            sampled, lambda: {"logits": np.zeros(seen["mask"].shape, np.float32), "masks": seen["mask"].copy()}
        ),
        "first_words": Called(lambda games: init_streams(1, games, 0), lambda: {"games": np.arange(N)}),
        "deal_seeds": Called(lambda deals: deal_seeds(1, deals), lambda: {"deals": np.arange(N)}),
        "next_words": Called(lambda streams: (next_keys(streams), streams), lambda: {"streams": random_keys(N)}),
        "play_games": Called(
            matched,
            lambda: {
                "seating": np.array([[0, 1]] * N),
                "seeds": np.arange(N, dtype=np.uint64),
                "streams": random_keys(2 * N).reshape(N, 2),
                "covered": np.zeros(N, np.int16),
                "denied": np.zeros((N, 2), np.int16),
            },
        ),
    }
    for name in players:
        player = make_player(name, config)
        found[f"{name}: act"] = Called(lambda player=player, **arrays: player.act(*arrays.values()), asked)
        if hasattr(player, "evaluate_actions"):
            found[f"{name}: evaluations"] = Called(
                lambda player=player, **arrays: [
                    (one.best, one.actions) for one in evaluate_actions(player, config, *arrays.values())
                ],
                lambda: asked() | {"also": seen["mask"].argmax(axis=1)},
            )
    return found


def _tensor(array: Any) -> Any:
    """The same as a tensor; what PyTorch makes none of stays as it is."""
    try:
        return torch.as_tensor(array) if isinstance(array, np.ndarray) else array
    except (TypeError, ValueError):
        return array


def saved_actions(env: GameTorchEnv, state: Any) -> Any:
    env.set_state(state)
    return env.memory.masks.numpy().argmax(axis=1)


def _plain(result: Any) -> bytes:
    """Return a result in a form that can be compared."""
    if isinstance(result, dict):
        return b"".join(_plain(result[key]) for key in sorted(result))
    if isinstance(result, list | tuple):
        return b"".join(map(_plain, result))
    if isinstance(result, torch.Tensor):
        result = result.numpy()
    if isinstance(result, np.ndarray) and result.dtype.names:
        return pickle.dumps(result.tolist())  # without what pads a record
    return np.asarray(result).tobytes() if isinstance(result, np.ndarray) else pickle.dumps(result)


def check(name: str, called: Called) -> Iterator[str]:
    """Yield the wrong results of a function."""
    expected = _plain(called.call(**called.arrays()))
    for argument in called.arrays():
        right = called.arrays()[argument]
        for alike, makers in ((False, wrong(right)), (True, other_forms(right))):
            for what, array in makers:
                print(f"{name}({argument}={what})", file=sys.stderr, flush=True)
                try:
                    result = called.call(**called.arrays() | {argument: array})
                except Exception as problem:
                    if not is_ours(problem):
                        yield f"{name}({argument}={what}): {type(problem).__name__}: {str(problem)[:200]}"
                    continue
                if _plain(result) != expected and (alike or not may_be(name, argument, what)):
                    yield f"{name}({argument}={what}): returned something else"


def may_be(name: str, argument: str, what: str) -> bool:
    """Whether another value is a right one for an argument as well, with a result of its own."""
    any_number = argument in ("words", "keys", "streams", "deals", "seeds", "games") or (
        argument == "logits" and "number" not in what
    )
    if what in ("the most of 64 bits", "256", "2 ** 31", "127 as bytes", "negative") and any_number:
        return True
    if name in ("masked_sample", "first_words", "deal_seeds", "restore", "copy_states", "copies_of", "GameSpec.check"):
        return True  # of another size, or nothing comes back: what it is has been checked
    if (argument, what) == ("out", "None"):
        return True
    if name == "random: act" and argument == "mask" and "column" in what:
        return True  # it does not know the game
    if (name, argument) == ("choose_uniformly", "masks") and ("column" in what or what == "nothing but 0"):
        return True
    if name == "play_games" and what in ("nothing but 0", "127 as bytes"):
        return True
    return what == "booleans" or (name == "next_words" and ("row" in what or "list" in what))


def forked(name: str, called: Called) -> list[str]:
    """Check a function in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            for line in check(name, called):
                out.write(line.replace("\n", " ") + "\n")
                out.flush()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        found = lines.read().splitlines()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return found if status == 0 else [*found, f"{name}: the process ended with {status}"]


def main() -> None:
    torch.set_num_threads(1)
    count = 0
    for config in (HelsinkiConfig(), CopenhagenConfig()):
        for name, called in functions(config, sys.argv[1:]).items():
            called.call(**called.arrays())  # compiles
            count += 1
            with contextlib.suppress(BrokenPipeError):
                for line in forked(name, called):
                    print(spec_of(config).name, line, flush=True)
    print(f"{count} functions")


if __name__ == "__main__":
    main()
