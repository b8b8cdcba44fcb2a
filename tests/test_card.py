"""Training on a device: random numbers, rollouts, learning, resumed runs, and several processes."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.mlp.network import MLPNetwork
from helsinki_env.agents.net.checkpoint import load_network
from helsinki_env.agents.net.network import NetworkConfig
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.training.checkpoint_io import read_state, write_state
from helsinki_env.training.gpu.distributed import ProcessGroup
from helsinki_env.training.gpu.ppo import GpuPPO
from helsinki_env.training.gpu.rollout import CudaGraph, GpuRolloutCollector, RolloutBuffer
from helsinki_env.training.gpu.tensors import (
    compute_gae,
    game_keys,
    hash_key,
    outcome_components,
    sample_categorical,
    shuffled_steps,
    to_seat_order,
    to_viewer_order,
    viewer_value,
)
from helsinki_env.training.matchups import MatchupConfig
from helsinki_env.training.ppo import PPOConfig
from helsinki_env.training.preset import Preset, PresetError
from helsinki_env.training.run import RunError, Training
from helsinki_env.training.values import VALUE_COMPONENTS
from helsinki_env.training.values import compute_gae as advantages_there
from helsinki_env.training.values import to_seat_order as by_seat_there
from helsinki_env.training.values import to_viewer_order as from_viewer_there
from helsinki_env.training.values import viewer_value as own_component_there
from tests.support.killed import signalled_after_save
from tests.support.networks import same_weights
from tests.support.riddle import riddle

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.thorough,
    pytest.mark.skipif(not JIT, reason="too slow"),
]

ROOT = Path(__file__).resolve().parent.parent
CPU = torch.device("cpu")
SMALL = NetworkConfig(seat_hidden=16, seat=8, width=32, blocks=1)
TABLES = (MatchupConfig(share=3, players=(2,)), MatchupConfig(players=(3, 4), denied=(0, 3)))


def plain(seed: int = 0, game: Any = None) -> MLPNetwork:
    """A network with an opinion on everything."""
    torch.manual_seed(seed)
    network = MLPNetwork(game, SMALL)
    for head in (network.policy, network.win, network.score):
        torch.nn.init.normal_(head.weight, std=0.4)
    return network


def stage(
    games: int = 16, steps: int = 8, apart: float = 0.5, seed: int = 3, rules: str = "helsinki"
) -> GpuRolloutCollector:
    return GpuRolloutCollector(spec_by_name(rules).config(), TABLES, games, steps, apart, seed, CPU)


# chance


def test_decisions_are_drawn_by_their_probabilities_and_never_others() -> None:
    games = 100_000
    log_probs = torch.log_softmax(torch.tensor([[0.0, 1.0, -1e9, 2.0, -1e9]]), 1)
    counts = torch.zeros(5)
    for number in range(4):
        word = torch.tensor(hash_key(7, number, 0), dtype=torch.int32)
        drawn = sample_categorical(log_probs.expand(games, -1), game_keys(word, torch.arange(games, dtype=torch.int32)))
        counts += torch.bincount(drawn, minlength=5)
    part = counts / counts.sum()
    assert part[2] == part[4] == 0
    torch.testing.assert_close(part, log_probs[0].exp(), atol=0.004, rtol=0)


def test_what_is_drawn_depends_on_word_and_game_alone() -> None:
    log_probs = torch.log_softmax(torch.randn(60, 40, generator=torch.Generator().manual_seed(1)), 1)
    games = torch.arange(60, dtype=torch.int32)
    words = [torch.tensor(hash_key(1, 2, t), dtype=torch.int32) for t in (3, 4)]
    whole, later = (sample_categorical(log_probs, game_keys(word, games)) for word in words)
    half = sample_categorical(log_probs[30:], game_keys(words[0], games[30:]))
    torch.testing.assert_close(half, whole[30:])
    assert (later != whole).any()
    assert len({hash_key(*numbers) for numbers in np.ndindex(9, 9, 9)}) == 729


def test_shuffled_steps_are_orders_of_their_own() -> None:
    order = shuffled_steps(game_keys(torch.tensor(5, dtype=torch.int32), torch.arange(50, dtype=torch.int32)), 12)
    assert (order.sort(0).values == torch.arange(12)[:, None]).all()
    assert len({tuple(column) for column in order.T.tolist()}) > 45
    assert 0.2 < (order[:6] < 6).float().mean() < 0.8


def test_on_a_processor_nothing_is_recorded() -> None:
    calls: list[int] = []
    work = CudaGraph(lambda: calls.append(1), CPU)
    for _ in range(6):
        work()
    assert len(calls) == 6


# trajectories


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_advantages_are_those_of_the_other_way_to_work_them_out(discount: float) -> None:
    rng = np.random.default_rng(1)
    steps, games = 40, 12
    seat = rng.integers(3, size=(steps, games))
    learnt, ended = rng.random((steps, games)) < 0.7, rng.random((steps, games)) < 0.08
    outcome, expected = rng.normal(size=(2, steps, games, VALUE_COMPONENTS)).astype(np.float32)
    last = rng.normal(size=(games, VALUE_COMPONENTS)).astype(np.float32)
    decision = np.where(learnt, np.cumsum(learnt.ravel()).reshape(steps, games) - 1, -1)
    after = np.broadcast_to(last, expected.shape)[learnt]
    wanted = advantages_there(decision, seat, ended, outcome, expected[learnt], after, 4, discount, 0.8)
    arrays: tuple[np.ndarray, ...] = (learnt, seat, ended, outcome, expected, last)
    asked: Any = [*(torch.from_numpy(array) for array in arrays), 4, discount, 0.8]
    found = compute_gae(*asked).numpy()
    np.testing.assert_allclose(found[learnt], wanted, rtol=1e-4, atol=1e-5)
    assert not found[~learnt].any()


def test_seats_are_turned_as_they_are_there() -> None:
    rng = np.random.default_rng(2)
    players = rng.integers(2, 5, size=60)
    viewer = rng.integers(0, 10, size=60) % players
    values = rng.normal(size=(60, 8)).astype(np.float32)
    one: Any = [torch.from_numpy(array) for array in (values, viewer, players)]
    half: Any = [torch.from_numpy(values[:, :4].copy()), *one[1:]]
    np.testing.assert_array_equal(to_seat_order(*half).numpy(), by_seat_there(values[:, :4], viewer, players))
    np.testing.assert_array_equal(to_viewer_order(*half).numpy(), from_viewer_there(values[:, :4], viewer, players))
    wanted: Any = own_component_there(values, viewer, players, 0.3)
    np.testing.assert_allclose(viewer_value(one[0], one[1], one[2], 0.3).numpy(), wanted, atol=1e-5)


def test_what_comes_of_a_game_is_shares_of_the_win_and_scores() -> None:
    scores = torch.tensor([[7, 9, 0], [5, 5, 3], [4, 4, 4]], dtype=torch.int16)
    places = torch.tensor([[1, 0, 0], [0, 0, 2], [0, 1, 2]], dtype=torch.int8)
    found = outcome_components(scores, places, torch.tensor([2, 3, 3]), torch.tensor([True, True, False]))
    assert found.tolist() == [[0, 1, 0, 0, 7, 9, 0, 0], [0.5, 0.5, 0, 0, 5, 5, 3, 0], [0] * 8]


# playing


@pytest.mark.parametrize("rules", ["helsinki", "copenhagen"])
def test_a_rollout_is_what_happened(rules: str) -> None:
    """Every game is played once more on environments of their own with the same seeds."""
    at, network = stage(12, 260, 0.5, rules=rules), plain(game=spec_by_name(rules).config())
    rival = plain(1, network.game)
    opposed = at.against_opponent
    assert opposed.sum() == 6
    kept = at.play(network, rival, 4, False)
    start, games, points, seats_had, mine_free, foreign = 0, 0, 0.0, set(), 0, 0
    for i, (table, size) in enumerate(((TABLES[0], 9), (TABLES[1], 3))):
        env = GameTorchEnv(size, network.game, CPU, table.episodes(network.game), check=True)
        obs, info = env.reset(seed=3 * 1009 + i)
        rows = slice(start, start + size)
        deals = torch.arange(size)
        for t in range(at.steps):
            mask, seat = obs["action_mask"], info["seat"]
            present = obs["observation"][:, network.present] != 0
            players = present.sum(1)
            own = torch.where(opposed[rows], deals % players, -1)  # the learner moves on by a seat in each deal
            assert torch.equal(kept.observation[t, rows], obs["observation"])
            assert torch.equal(kept.mask[t, rows], mask)
            assert torch.equal(kept.seat[t, rows], seat)
            assert torch.equal(kept.players[t, rows], players)
            mine, free = (own < 0) | (own == seat), mask.sum(1, dtype=torch.int64) > 1
            assert torch.equal(kept.trained[t, rows], mine & free)
            mine_free, foreign = mine_free + int((mine & free).sum()), foreign + int((~mine & free).sum())
            if t % 40 == 0:
                check_log_probs(kept, t, rows, network)
            seats_had |= {(int(n), int(s)) for n, s in zip(players, own, strict=True) if s >= 0}
            deals += mask.sum(1) == 0  # the step deals a new game
            obs, _, ended, _, info = env.step(kept.action[t, rows])  # it would refuse what is not legal
            assert torch.equal(kept.ended[t, rows], ended)
            for b in torch.nonzero(ended)[:, 0].tolist():
                n = int(players[b])
                assert kept.outcome[t, start + b, 4 : 4 + n].tolist() == info["scores"][b, :n].tolist()
                assert kept.outcome[t, start + b, :n].sum() == pytest.approx(1.0)
                games, points = games + 1, points + float(info["scores"][b, :n].float().mean())
            assert not kept.outcome[t, rows][~ended].any()
        start += size
    assert at.counted.tolist() == pytest.approx([games, points])
    assert games > 12
    assert len(seats_had) > 3
    assert min(mine_free, foreign) > 100


def check_log_probs(rollout: RolloutBuffer, t: int, rows: slice, network: MLPNetwork) -> None:
    with torch.no_grad():
        said = network(rollout.observation[t, rows])
    log_probs = said.log_probs(rollout.mask[t, rows]).gather(1, rollout.action[t, rows][:, None])[:, 0]
    torch.testing.assert_close(rollout.log_prob[t, rows], log_probs, atol=1e-4, rtol=0)
    seat, players = rollout.seat[t, rows], rollout.players[t, rows]
    torch.testing.assert_close(
        rollout.expected[t, rows, :4], to_seat_order(said.win_logits.softmax(1), seat, players), atol=1e-4, rtol=0
    )
    torch.testing.assert_close(
        rollout.expected[t, rows, 4:], to_seat_order(said.scores, seat, players), atol=1e-3, rtol=1e-4
    )


def test_the_learner_s_seat_is_its_own_and_the_others_are_the_rival_s() -> None:
    """A rival with probability 1 for the highest legal action takes it, in fixed-opponent games only."""
    at, network, rival = stage(12, 40, 0.5), plain(), plain(1)
    torch.nn.init.zeros_(rival.policy.weight)
    with torch.no_grad():
        rival.policy.bias.copy_(100.0 * torch.arange(len(rival.policy.bias)))
    kept = at.play(network, rival, 0, False)
    highest = (kept.mask * torch.arange(kept.mask.shape[2])).argmax(2)
    free = kept.mask.sum(2, dtype=torch.int64) > 1
    foreign = free & ~kept.trained
    assert foreign[:, ~at.against_opponent].sum() == 0
    assert foreign[:, at.against_opponent].sum() > 50
    assert torch.equal(kept.action[foreign], highest[foreign])
    assert (kept.action[kept.trained] != highest[kept.trained]).any()


def same(one: RolloutBuffer, other: RolloutBuffer) -> bool:
    return all(torch.equal(value, getattr(other, name)) for name, value in vars(one).items())


def test_a_rollout_depends_on_where_the_games_stand_weights_seed_and_number_alone() -> None:
    network, at = plain(), stage(steps=30)
    for number in range(8):
        at.play(network, network, number, False)
    assert at.counted[0] > 0
    stood = {name: array.copy() for name, array in at.state().items()}
    wanted = at.play(network, network, 9, False)
    elsewhere = stage(steps=30)
    elsewhere.restore(stood)
    assert same(elsewhere.play(network, network, 9, False), wanted)
    elsewhere.restore(stood)
    assert not same(elsewhere.play(network, network, 8, False), wanted)
    elsewhere.restore(stood)
    assert not same(elsewhere.play(plain(2), network, 9, False), wanted)


# learning


class Riddles(GpuRolloutCollector):
    """Games that begin with the same riddle in every rollout."""

    def __init__(self, games: int, steps: int) -> None:
        super().__init__(HelsinkiConfig(), [MatchupConfig()], games, steps, 0.0, 1, CPU)
        self.riddle = self.state()
        record = np.frombuffer(riddle()[0].state.tobytes(), np.uint8)
        self.riddle["env0.states"][:] = record

    def play(self, *args: Any) -> RolloutBuffer:
        self.restore(self.riddle)
        return super().play(*args)


@pytest.mark.nightly
def test_a_riddle_is_learnt_from_playing_alone() -> None:
    game, right, tempting = riddle()
    network = plain()
    observation, mask = (torch.from_numpy(x[None].copy()) for x in (game.observation(), game.action_mask()))

    def opinion() -> tuple[list[float], float]:
        """The probabilities of the right decision and of the tempting one, and the share of the win expected."""
        with torch.no_grad():
            said = network(observation)
        return said.log_probs(mask)[0, [right, tempting]].exp().tolist(), float(said.win_logits.softmax(1)[0, 0])

    config = PPOConfig(
        total_timesteps=10**9,
        num_envs=128,
        num_steps=10,
        minibatch_size=320,
        learning_rate=4e-3,
        ent_coef=0.01,
        margin_coef=0.0,
    )
    ppo = GpuPPO(network, Riddles(config.num_envs, config.num_steps), config, 1, lambda _: network, False)
    assert ppo.num_minibatches == 2  # of five steps of every game: the largest divisor of ten that is not above four
    assert opinion()[0][0] < 0.5
    for _ in range(60):
        progress = ppo.update()
        assert all(np.isfinite(loss) for loss in progress.losses.values())
    (probability, other), share = opinion()
    assert probability > 0.9
    assert other < 0.05
    assert share > 0.85
    assert (progress.decisions, progress.games) == (ppo.decisions, ppo.games)


@pytest.mark.parametrize("fast", [False, True], ids=["float32", "bfloat16"])
def test_updates_change_weights_count_and_leave_the_rival_alone(fast: bool) -> None:
    network, past, at = plain(), plain(1), stage(16, 8)
    config = PPOConfig(total_timesteps=500, num_envs=16, num_steps=8, minibatch_size=64, fixed_opponent_fraction=0.5)
    ppo, before, was = GpuPPO(network, at, config, 1, lambda _: past, fast), plain(), plain(1)
    learnt = 0
    for _ in range(3):
        progress = ppo.update()
        learnt += int(at.buffer.trained.sum())
        assert set(progress.losses) == {"entropy", "win_loss", "score_loss", "kl", "clipped"}
        assert all(np.isfinite(loss) for loss in progress.losses.values())
    assert progress.decisions == learnt
    assert progress.done == pytest.approx(min(1.0, learnt / 500))
    assert not same_weights(network, before)
    assert same_weights(ppo.rival, was)
    assert all(env.illegal_actions == 0 for env in at.envs)


# runs

TINY = """
learner: mlp
minutes: 60
precision: float32
matchups: [{players: [2, 3], denied: [0, 3]}]
network: {width: 32, seat: 16, seat_hidden: 16, blocks: 1}
ppo: {total_timesteps: 900, num_envs: 12, num_steps: 16, fixed_opponent_fraction: 0.25, minibatch_size: 96}
promotion: {deals: 16, parallel_deals: 16, players: [2]}
evaluation: {times: 2, games: 4, final_games: 4, opponents: [random], players: [2]}
"""


def preset_of(folder: Path, rules: str) -> Path:
    path = folder / "tiny.yaml"
    path.write_text(TINY + f"rules: {rules}\n")
    return path


@pytest.fixture(scope="module", params=[pytest.param("helsinki", marks=pytest.mark.nightly), "copenhagen"])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An uninterrupted run of each game: the file of its preset, and its folder."""
    folder = tmp_path_factory.mktemp("runs")
    path = preset_of(folder, request.param)
    assert Training(Preset.from_yaml(path), folder / "whole", 5).run()["finished"]
    return path, folder / "whole"


def check_same(folder: Path, whole: Path) -> None:
    """States and networks but for the time it took."""
    (arrays, told), (expected, expected_told) = (read_state(path / "state.safetensors") for path in (folder, whole))
    assert arrays.keys() == expected.keys()
    for name, array in expected.items():
        assert arrays[name].tobytes() == array.tobytes(), name
    assert told.value["ppo"] == expected_told.value["ppo"]
    for name in ("best.safetensors", "latest.safetensors", *(f"past/{n:04d}.safetensors" for n in range(3))):
        one, other = (load_network(path / name, MLPNetwork)[0] for path in (folder, whole))
        assert same_weights(one, other), name


def test_what_a_run_leaves(finished: tuple[Path, Path]) -> None:
    path, whole = finished
    preset = Preset.from_yaml(path)
    summary = json.loads((whole / "summary.json").read_text())
    assert summary["finished"]
    assert Preset.from_dict(summary["preset"]) == preset
    assert "pretraining" not in summary["preset"]
    assert summary["results"][0]["opponent"] == "random"
    curve = json.loads((whole / "curve.json").read_text())
    assert [entry["positions"] for entry in curve] == [0, 0, 0]
    assert curve[0]["decisions"] == 0
    assert curve[0]["promotion_test"] is None
    assert curve[1]["promotion_test"]["deals"] == 16
    assert 450 <= curve[1]["decisions"] < curve[2]["decisions"]
    best, description = load_network(whole / "best.safetensors", MLPNetwork)
    assert description["preset"] == preset.to_dict()
    assert not same_weights(best, MLPNetwork(preset.game, preset.network))
    past = [load_network(whole / "past" / f"{n:04d}.safetensors", MLPNetwork)[0] for n in range(3)]
    assert not same_weights(past[0], past[2])
    latest = load_network(whole / "latest.safetensors", MLPNetwork)[0]
    assert same_weights(latest, past[2])


@pytest.mark.nightly
def test_the_same_seed_makes_the_same_player_and_another_one_another(
    finished: tuple[Path, Path], tmp_path: Path
) -> None:
    path, whole = finished
    assert Training(Preset.from_yaml(path), tmp_path / "again", 5).run()["finished"]
    check_same(tmp_path / "again", whole)
    other = Training(Preset.from_yaml(path), tmp_path / "other", 6)
    other.learner.pool.add("0", other.network, -1)
    other.learner.phases["ppo"].update()
    assert not same_weights(other.network, load_network(whole / "past" / "0001.safetensors", MLPNetwork)[0])


DRIVER = """
import sys
import helsinki_env.training.run
from helsinki_env.cli.main import main
helsinki_env.training.run._SAVE_INTERVAL = -1.0  # save after every update
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.nightly
def test_a_run_that_is_killed_goes_on_as_if_nothing_had_happened(finished: tuple[Path, Path], tmp_path: Path) -> None:
    """The real command, killed as soon as it has saved something, and then left alone."""
    path, whole = finished
    state, killed = tmp_path / "run" / "state.safetensors", 0
    command = [sys.executable, "-c", DRIVER, "train", "--preset", str(path), "--out", str(state.parent), "--seed", "5"]
    rng, environment = random.Random(1), os.environ | {"COLUMNS": "300", "PYTHONPATH": str(ROOT)}
    for attempt in range(3):
        words = [*command, "--device", "cpu", *(["--resume"] if state.exists() else [])]
        number = signal.SIGKILL if attempt < 2 else None
        done = signalled_after_save(words, state, number, 0.5 * rng.random(), environment)
        killed += done.returncode == -signal.SIGKILL
    assert killed >= 1
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"play it as mlp:{state.parent}" in done.stdout + done.stderr
    check_same(state.parent, whole)


def test_a_run_of_another_kind_is_not_gone_on_with(finished: tuple[Path, Path]) -> None:
    path, whole = finished
    data = json.loads((whole / "summary.json").read_text())["preset"]
    other = Preset.from_dict({key: data[key] for key in data if key != "learner"} | {"opponents": ["random"]})
    with pytest.raises(RunError, match=r"preset\.learner: found nothing, expected 'mlp'"):
        Training(other, whole, 5, resume=True)
    with pytest.raises(RunError, match="seed: found 6, expected 5 as for the earlier results"):
        Training(Preset.from_yaml(path), whole, 6, resume=True)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("states", lambda array: np.full_like(array, 255), r"states: game 0: \w+.*: found"),
        ("states", np.zeros_like, "states: game 0: .*: found"),
        ("reports", lambda array: np.full_like(array, 2), "reports: game 0: ended: found"),
        ("illegal", lambda array: array - 9, "illegal: found -"),
    ],
)
def test_a_run_is_not_resumed_from_games_that_cannot_be(
    finished: tuple[Path, Path], tmp_path: Path, name: str, change: Callable[[Any], Any], message: str
) -> None:
    path, whole = finished
    folder = shutil.copytree(whole, tmp_path / "run")
    arrays, told = read_state(folder / "state.safetensors")
    key = f"stage.env0.{name}"
    arrays[key] = change(arrays[key])
    write_state(folder / "state.safetensors", arrays, told.value)
    with pytest.raises(RunError, match=message):
        Training(Preset.from_yaml(path), folder, 5, resume=True)


# presets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learner: plane", "learner: found 'plane', expected one of afterstate, mlp"),
        (
            "learner: mlp\npretraining: {samples: 5}",
            "pretraining: found .* an MLP is trained only by self-play",
        ),
        ("learner: mlp\nopponents: [random]", "opponents: found random, expected none: an MLP meets"),
        ("learner: mlp\nnetwork: {heads: 2}", r"network\.heads: no such key"),
    ],
)
def test_a_preset_with_a_mistake_names_it(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(PresetError, match=message):
        Preset.from_yaml(path)


@pytest.mark.parametrize("rules", ["helsinki", "copenhagen"])
def test_the_preset_for_a_card_is_valid_for_both_games(rules: str) -> None:
    preset = Preset.from_yaml("gpu")
    preset = preset if rules == preset.rules else preset.for_game(rules, "gpu")
    assert preset.learner == "mlp"
    assert preset.ppo.num_envs >= 4096
    assert Preset.from_dict(json.loads(json.dumps(preset.to_dict()))) == preset


# several processes


def test_games_are_shared_out_by_their_numbers() -> None:
    whole = stage(16)
    halves = [
        GpuRolloutCollector(HelsinkiConfig(), TABLES, 16, 8, 0.5, 3, CPU, ProcessGroup(rank, 2)) for rank in range(2)
    ]
    for name in ("against_opponent", "numbers"):
        found = np.concatenate([np.asarray(getattr(half, name)) for half in halves])
        order = np.concatenate([half.numbers for half in halves]).argsort()
        np.testing.assert_array_equal(found[order], np.asarray(getattr(whole, name)))

    def check_games() -> None:
        for i, env in enumerate(whole.envs):
            both = torch.cat([half.envs[i].memory.observations for half in halves])
            assert torch.equal(both, env.memory.observations)

    check_games()
    network = plain()
    whole.play(network, network, 1, False)
    for half in halves:  # a run may be resumed with another number of processes
        half.restore(whole.state())
    check_games()
    with pytest.raises(ValueError, match=r"ppo\.num_envs: found 13 games .* multiple of the 2 processes"):
        GpuRolloutCollector(HelsinkiConfig(), [MatchupConfig()], 13, 8, 0.5, 3, CPU, ProcessGroup(0, 2))


WORKER = """
import sys
from pathlib import Path
from dataclasses import replace
import torch
from helsinki_env.training.gpu.distributed import ProcessGroup
from helsinki_env.training.preset import Preset
from helsinki_env.training.run import Training
torch.set_num_threads(1)
group = ProcessGroup.from_torchrun("cpu")
summary = Training(Preset.from_yaml(sys.argv[1]), sys.argv[2], 5, group=group).run()
assert summary["finished"]
assert group.is_main == ("results" in summary)
group.close()
threads = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]  # empty outside Linux
assert not [name for name in threads if "gloo" in name], threads  # such a thread can abort the interpreter at its end
"""


@pytest.mark.nightly
def test_two_processes_learn_what_one_does_with_all_games(finished: tuple[Path, Path], tmp_path: Path) -> None:
    path, whole = finished
    (tmp_path / "worker.py").write_text(WORKER)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, str(tmp_path / "worker.py"), str(path), str(tmp_path / "run")],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (arrays, told), (wanted, wanted_told) = (read_state(f / "state.safetensors") for f in (tmp_path / "run", whole))
    assert told.value["ppo"] == wanted_told.value["ppo"]
    for name, array in wanted.items():
        if name.startswith(("network.", "best.")):
            np.testing.assert_allclose(arrays[name], array, atol=2e-4, err_msg=name)
        if name.startswith("stage."):
            assert arrays[name].tobytes() == array.tobytes(), name
