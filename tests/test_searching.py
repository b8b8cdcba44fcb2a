"""Learning from search: the targets of a rollout, the error of a network, and its decrease."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

import helsinki_env.training.search_targets as searching
from helsinki_env import HelsinkiConfig, HelsinkiVectorEnv
from helsinki_env.agents.net.afterstates import AfterstateEncoder
from helsinki_env.agents.net.network import ABSENT, AfterstateTensors, Network, TorchModel
from helsinki_env.agents.net.player import NetPlayer, choice_index
from helsinki_env.agents.net.search import HalvingResult, NetSearchPlayer
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.engine.kernel import JIT
from helsinki_env.training.matchups import MatchupConfig
from helsinki_env.training.ppo import PPO, PPOConfig
from helsinki_env.training.preset import Preset
from helsinki_env.training.rollout import Rollout, RolloutCollector
from helsinki_env.training.search_targets import SearchTargetConfig, SearchTargets, TargetSearcher, search_losses
from tests.support.networks import opinionated

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

GAME = HelsinkiConfig()


def positions(games: int = 60, steps: int = 50) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Observations and masks of random games, those with a choice."""
    env = HelsinkiVectorEnv(games, num_players=3)
    obs, _ = env.reset(seed=5)
    player = RandomPlayer()
    words = np.random.default_rng(0)
    for _ in range(steps):
        drawn = words.integers(0, 2**64, games, dtype=np.uint64)
        obs = env.step(player.act(obs["observation"], obs["action_mask"], drawn))[0]
    free = obs["action_mask"].sum(axis=1, dtype=np.int64) > 1
    return obs["observation"][free], obs["action_mask"][free]


def asked(network: Network, most: int = 5) -> tuple[Any, Any, npt.NDArray[np.int8]]:
    """Inputs of positions, the logarithms of a network's probabilities, and the observations."""
    observation, mask = positions()
    player = NetPlayer(TorchModel(network), GAME)
    player.encoder = AfterstateEncoder(GAME, most)
    return *player.policy(observation, mask), observation


def test_preferences_are_priors_and_trials_in_proportion() -> None:
    race = HalvingResult(
        arms=np.array([[4, 9, 2]]),
        priors=np.array([[0.0, -0.02, -np.inf]]),
        shares=np.array([[[3.0, 0, 0, 0], [8.0, 0, 0, 0], [0, 0, 0, 0]]]),
        trials=np.array([[10, 10, 0]]),
    )
    trust, width = 20.0, 48.0
    # The favourite's level is such that both together won what they won: 0.56 of the win a trial, the other 0.02 below.
    level = (3.0 + 8.0 + 0.02 * 10) / 20
    worth = [(trust * level + 3.0) / (trust + 10), (trust * (level - 0.02) + 8.0) / (trust + 10)]
    odds = math.exp(width * (worth[1] - worth[0]))
    np.testing.assert_allclose(race.preferences(trust, width), [[1 / (1 + odds), odds / (1 + odds), 0.0]], rtol=1e-12)
    # Who trusts opinion alone takes the network's own policy, who trusts trials alone what they found.
    alone = race.preferences(1e12, width)[0]
    assert alone[0] / alone[1] == pytest.approx(math.exp(0.02 * width))
    assert race.preferences(1e-9, width)[0, 1] > 1 - 1e-9


def test_search_tells_of_some_decisions_what_its_player_finds() -> None:
    network = opinionated()
    inputs, log_probs, observation = asked(network)
    searcher = TargetSearcher(network, SearchTargetConfig(share=0.5, trials=16), GAME, False)
    found = searcher.search(inputs, log_probs, observation, np.random.default_rng(1))
    chosen = (found.arms >= 0).any(axis=1)
    assert 0.3 * len(inputs) < chosen.sum() < 0.7 * len(inputs)
    assert (found.policy_target[~chosen] == 0).all()
    np.testing.assert_allclose(found.policy_target[chosen].sum(axis=1), 1.0, rtol=1e-6)
    assert (found.policy_target[found.arms < 0] == 0).all()
    row, arm = np.nonzero(found.arms >= 0)
    at = choice_index(inputs, row, found.arms[row, arm])
    np.testing.assert_array_equal(inputs.action[at], found.arms[row, arm])
    np.testing.assert_array_equal(inputs.row[at], row)
    worth = found.value_target[row, arm]
    seen = (inputs.position[at] != inputs.begin[row]) | (inputs.advice[at] == 0)
    assert np.isnan(worth[~seen]).all()
    np.testing.assert_allclose(worth[seen].sum(axis=1), 1.0, rtol=1e-5)
    assert (worth[seen] >= 0).all()
    # The same random keys give every player of this search the same race.
    words = np.random.default_rng(1)
    rows = np.flatnonzero(words.random(len(inputs)) < 0.5)
    drawn = words.integers(0, 2**64, len(rows), dtype=np.uint64)
    k = int(rows[3])
    one = slice(inputs.first[k], inputs.first[k + 1])
    player = NetSearchPlayer(16, TorchModel(network), GAME)
    race = player.search_choices(inputs.take(rows[3:4]), log_probs[one], observation[rows[3:4]], drawn[3:4])
    best = race.arms[0, 0]
    assert best in found.arms[k]
    at_best = list(found.arms[k]).index(best)
    if seen[(row == k) & (found.arms[row, arm] == best)].all():
        np.testing.assert_allclose(found.value_target[k, at_best], race.shares[0, 0] / race.trials[0, 0], rtol=1e-6)


@pytest.mark.parametrize("simulated", ["heuristic", "net"])
def test_lots_and_threads_change_nothing(simulated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = opinionated()
    told = asked(network)
    found = []
    for lot, threads in ((32, 2), (5, 1), (1, 2)):
        monkeypatch.setattr(searching, "_BATCH", lot)
        monkeypatch.setattr(searching, "_THREADS", threads)
        searcher = TargetSearcher(network, SearchTargetConfig(share=0.6, trials=12, player=simulated), GAME, False)
        found.append(searcher.search(*told, np.random.default_rng(2)))
    for other in found[1:]:
        for name in SearchTargets._fields:
            np.testing.assert_array_equal(getattr(found[0], name), getattr(other, name))


def test_losses_are_those_of_what_was_tried() -> None:
    network = opinionated()
    inputs, log_probs, observation = asked(network)
    found = TargetSearcher(network, SearchTargetConfig(share=0.5, trials=16), GAME, False).search(
        inputs, log_probs, observation, np.random.default_rng(3)
    )
    x = AfterstateTensors.of(inputs)
    with torch.no_grad():
        said = network(x.seats, x.table)
        likely = network.log_probs(x, said)
        policy, values = search_losses(x, said, likely, *(torch.from_numpy(part) for part in found))
    shares = torch.log_softmax(said.win_logits, 1).clamp_min(-50.0).numpy()
    policies, errors = [], []
    for k in range(len(inputs)):
        arms = [arm for arm in range(found.arms.shape[1]) if found.arms[k, arm] >= 0]
        if not arms:
            continue
        at = [
            next(c for c in range(inputs.first[k], inputs.first[k + 1]) if inputs.action[c] == found.arms[k, arm])
            for arm in arms
        ]
        among = likely.numpy()[at] - math.log(sum(math.exp(likely[c]) for c in at))
        policies.append(-sum(found.policy_target[k, arm] * among[i] for i, arm in enumerate(arms)))
        for arm, c in zip(arms, at, strict=True):
            worth = found.value_target[k, arm]
            if not np.isnan(worth).any():
                sits = said.win_logits[inputs.position[c]].numpy() > ABSENT / 2
                errors.append(-float((worth * shares[inputs.position[c]])[sits].sum()))
    assert policy.item() == pytest.approx(np.mean(policies), rel=1e-4)
    assert values.item() == pytest.approx(np.mean(errors), rel=1e-4)


def test_where_nothing_was_searched_there_is_nothing_to_lose() -> None:
    network = opinionated()
    inputs, _, _ = asked(network)
    x = AfterstateTensors.of(inputs)
    said = network(x.seats, x.table)
    nothing = [torch.from_numpy(part) for part in SearchTargets.none(len(inputs), 3)]
    policy, values = search_losses(x, said, network.log_probs(x, said), *nothing)
    assert (policy.item(), values.item()) == (0.0, 0.0)
    tried = SearchTargets.none(len(inputs), 3)
    tried.arms[0, 0], tried.policy_target[0, 0] = inputs.action[0], 1.0  # but nobody knows what it is worth
    policy, values = search_losses(x, said, network.log_probs(x, said), *map(torch.from_numpy, tried))
    assert policy.isfinite()
    assert values.item() == 0.0


def stage(search: SearchTargetConfig) -> RolloutCollector:
    return RolloutCollector(GAME, (MatchupConfig(),), 48, 0.0, 3, torch.device("cpu"), search)


def test_a_rollout_keeps_every_decision_that_was_tried() -> None:
    network = opinionated()
    rollout = stage(SearchTargetConfig(share=0.4, trials=16)).play(network, (RandomPlayer(),), 6, 0, False)
    row, arm = np.nonzero(rollout.arms >= 0)
    assert len(row) > 20
    at = choice_index(rollout.inputs, row, rollout.arms[row, arm])
    np.testing.assert_array_equal(rollout.inputs.action[at], rollout.arms[row, arm])
    np.testing.assert_array_equal(rollout.inputs.row[at], row)
    assert stage(SearchTargetConfig()).play(network, (RandomPlayer(),), 2, 0, False).arms.shape[1] == 0


def test_a_network_learns_to_prefer_and_to_expect_what_search_found(monkeypatch: pytest.MonkeyPatch) -> None:
    network = opinionated()
    search = SearchTargetConfig(share=1.0, trials=16, policy=1.0, values=1.0)
    config = PPOConfig(
        num_envs=48,
        num_steps=4,
        learning_rate=3e-3,
        update_epochs=1,
        minibatch_size=64,
        vf_coef=0.0,
        ent_coef=0.0,
        policy_coef=0.0,
    )
    ppo = PPO(network, stage(search), config, 0, lambda number: (RandomPlayer(),), False)
    rollout = ppo.collector.play(network, (RandomPlayer(),), 4, 0, False)

    def fixed_rollout(*_: Any) -> Rollout:
        return rollout

    monkeypatch.setattr(ppo.collector, "play", fixed_rollout)
    losses = [ppo.update().losses for _ in range(12)]
    ppo.close()
    assert losses[-1]["search_policy"] < 0.8 * losses[0]["search_policy"]
    assert losses[-1]["search_values"] < 0.97 * losses[0]["search_values"]


def test_presets_say_how_to_search_and_older_ones_stay_as_they_were() -> None:
    assert "search" not in Preset().to_dict()
    told = {"search": {"share": 0.1, "trials": 8}}
    preset = Preset.from_dict(told)
    assert preset.search == SearchTargetConfig(share=0.1, trials=8)
    assert Preset.from_dict(preset.to_dict()) == preset
    with pytest.raises(ValueError, match="trials: found 1, expected"):
        Preset.from_dict({"search": {"trials": 1}})
