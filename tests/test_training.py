"""Training: each seat's own trajectory, checkpoints that cannot harm, presets, and that learning learns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from agents.base import decide
from agents.checkpoint import CheckpointError, load_checkpoint, same_weights, save_checkpoint
from agents.landings import NO_CELL, landings
from agents.network import ActorCritic, NetworkConfig
from agents.neural import NetPlayer
from agents.registry import make_player
from helsinki_env import Game, GameConfig, HelsinkiVectorEnv, notation
from helsinki_env.core.kernel import JIT
from training.ppo import Learner, PPOConfig
from training.preset import Preset, PresetError
from training.segments import Rollout, advantages

TINY = PPOConfig(decisions=2048, games=32, steps=32, batch=512, epochs=1)
SMALL = NetworkConfig(width=32, depth=1)


def naive_advantages(rollout: Rollout, last_value: np.ndarray, discount: float, decay: float) -> np.ndarray:
    """Collect the decisions of each seat of each game in a list of its own, then follow the definition."""
    steps, games = rollout.action.shape
    result = np.zeros((steps, games))
    for b in range(games):
        for seat in range(last_value.shape[1]):
            own = [t for t in range(steps) if rollout.seat[t, b] == seat]
            ends = [t for t in range(steps) if rollout.ended[t, b]]
            for i, t in enumerate(own):
                total, weight = 0.0, 1.0
                for j in range(i, len(own)):
                    now = own[j]
                    later = own[j + 1] if j + 1 < len(own) else None
                    end = next((e for e in ends if e >= now and (later is None or e < later)), None)
                    reward = rollout.rewards[end, b, seat] if end is not None else 0.0
                    if end is not None:
                        following = 0.0
                    elif later is None:
                        following = last_value[b, seat]
                    else:
                        following = rollout.value[later, b]
                    total += weight * (reward + discount * following - rollout.value[now, b])
                    weight *= discount * decay
                    if end is not None:
                        break
                result[t, b] = total
    return result


@pytest.mark.parametrize("players", [2, 3, 4])
def test_advantages_follow_each_seat_through_repeated_turns_and_ends(players: int) -> None:
    rng = np.random.default_rng(players)
    rollout = Rollout.empty(60, 7, 1, 1, players)
    rollout.seat[:] = rng.integers(players, size=(60, 7))  # seats in any order, often several times in a row
    rollout.value[:] = rng.normal(size=(60, 7))
    rollout.ended[:] = rng.random((60, 7)) < 0.1
    rollout.rewards[rollout.ended] = rng.normal(size=(int(rollout.ended.sum()), players))
    last = rng.normal(size=(7, players)).astype(np.float32)
    found, returns = advantages(rollout, last, 0.97, 0.9)
    np.testing.assert_allclose(found, naive_advantages(rollout, last, 0.97, 0.9), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(returns, found + rollout.value, rtol=1e-6)


def test_without_discount_a_return_is_the_reward_of_the_own_seat() -> None:
    """With lambda = 1 and values of zero, every decision of a finished game returns what its seat got at the end."""
    learner = Learner(GameConfig(num_players=3), replace(TINY, games=16, steps=300), SMALL, num_threads=1)
    learner._play()
    r = learner.rollout
    r.value[:] = 0.0
    _, returns = advantages(r, np.zeros((16, 3), np.float32), 1.0, 1.0)
    assert r.ended.sum() >= 16
    for b in range(16):
        end = int(np.argmax(r.ended[:, b]))
        for t in range(end + 1):
            assert returns[t, b] == pytest.approx(r.rewards[end, b, r.seat[t, b]], abs=1e-5)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rewards_sum_to_zero_over_the_seats(players: int) -> None:
    learner = Learner(GameConfig(num_players=players), TINY, SMALL, num_threads=1)
    scores = np.array([[3, 9, 4, 4][:players], [0, 0, 7, 1][:players]])
    places = np.array([np.argsort(np.argsort(-row)) for row in scores])
    rewards = learner._rewards(scores, places)
    np.testing.assert_allclose(rewards.sum(axis=1), 0.0, atol=1e-5)
    assert (rewards.argmax(axis=1) == places.argmin(axis=1)).all()


def test_same_seed_gives_the_same_weights_and_another_seed_does_not() -> None:
    runs = []
    for seed in (3, 3, 4):
        learner = Learner(GameConfig(), TINY, SMALL, seed=seed, num_threads=1)
        for _ in learner.updates():
            pass
        runs.append(learner.model)
    assert same_weights(runs[0], runs[1])
    assert not same_weights(runs[0], runs[2])


def test_illegal_decisions_get_no_probability_and_no_nan() -> None:
    model = ActorCritic(config=SMALL)
    env = HelsinkiVectorEnv(8)
    obs, _ = env.reset(seed=0)
    mask = obs["action_mask"].copy()
    mask[0] = 0  # a game that is over offers nothing
    log_probs, values = model(torch.from_numpy(obs["observation"]), torch.from_numpy(mask))
    probabilities = log_probs.exp().detach().numpy()
    assert np.isfinite(log_probs.detach().numpy()).all()
    assert np.isfinite(values.detach().numpy()).all()
    assert (probabilities[1:][mask[1:] == 0] == 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-5)


def test_learning_finds_the_better_of_two_decisions() -> None:
    """A one-decision problem with a known answer: the policy must come to prefer the rewarded decision."""
    learner = Learner(GameConfig(), replace(TINY, learning_rate=0.01), SMALL, num_threads=1)
    r = learner.rollout
    good, bad = 9, 10  # MOVE 2 and MOVE 3
    rng = np.random.default_rng(0)
    r.mask[:] = 0
    r.mask[:, :, [good, bad]] = 1
    r.observation[:] = learner.obs["observation"][0]
    r.ended[:] = True
    for _ in range(30):
        log_probs, values = learner.model(torch.from_numpy(r.observation[0]), torch.from_numpy(r.mask[0]))
        p = min(float(log_probs[0, good].exp().detach()), 0.999)
        r.action[:] = np.where(rng.random(r.action.shape) < p, good, bad)
        r.log_prob[:] = np.where(r.action == good, np.log(p), np.log1p(-p))
        r.value[:] = float(values[0].detach())
        r.rewards[:] = 0.0
        r.rewards[..., 0] = np.where(r.action == good, 1.0, -1.0)
        r.seat[:] = 0
        learner._learn(0.0)
    log_probs, values = learner.model(torch.from_numpy(r.observation[0]), torch.from_numpy(r.mask[0]))
    assert float(log_probs[0, good].exp().detach()) > 0.95
    assert float(values[0].detach()) == pytest.approx(1.0, abs=0.3)


# checkpoints


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    learner = Learner(GameConfig(), TINY, SMALL, num_threads=1)
    return save_checkpoint(tmp_path / "net.safetensors", learner.model, learner.describe())


def test_a_checkpoint_brings_back_the_weights_and_says_how_it_was_made(checkpoint: Path) -> None:
    learner = Learner(GameConfig(), TINY, SMALL, num_threads=1)
    model, content = load_checkpoint(checkpoint)
    assert same_weights(model, learner.model)
    assert content["environment"] == "helsinki_v0"
    assert content["network"] == {"width": 32, "depth": 1}
    assert content["game"]["num_players"] == 2
    assert [p.name for p in checkpoint.parent.iterdir()] == ["net.safetensors"]  # no temporary file is left


def rewrite(path: Path, **changes: object) -> None:
    model, content = load_checkpoint(path)
    save_file(model.state_dict(), path, {"helsinki": json.dumps(content | changes)})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda p: p.unlink(), "there is no such file"),
        (lambda p: p.write_bytes(p.read_bytes()[:-100]), "not a whole safetensors file"),
        (lambda p: torch.save({"weights": torch.zeros(3)}, p), "not a whole safetensors file"),
        (lambda p: save_file({"a": torch.zeros(1)}, p), "no description 'helsinki'"),
        (lambda p: rewrite(p, environment="helsinki_v9"), "environment is 'helsinki_v9'"),
        (lambda p: rewrite(p, observation="0" * 16), "observation is '0000000000000000'"),
        (lambda p: rewrite(p, actions="0" * 16), "actions is '0000000000000000'"),
        (lambda p: rewrite(p, format=99), "format is 99"),
        (lambda p: rewrite(p, network={"width": 64, "depth": 1}), "do not fit the network described"),
        (lambda p: rewrite(p, network={"breadth": 64}), "do not fit the network described"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused_with_the_reason(checkpoint, damage, message) -> None:
    damage(checkpoint)
    with pytest.raises(CheckpointError, match=message) as caught:
        load_checkpoint(checkpoint)
    assert str(checkpoint) in str(caught.value)


def test_a_network_plays_the_same_in_any_batch(checkpoint: Path) -> None:
    player = make_player(f"net:{checkpoint}")
    env = HelsinkiVectorEnv(200)
    obs, _ = env.reset(seed=0)
    words = np.arange(200, dtype=np.uint64) << np.uint64(40)
    for _ in range(6):
        together = player.act(obs["observation"], obs["action_mask"], words)
        for rows in (slice(0, 1), slice(7, 90), slice(199, 200)):
            alone = player.act(obs["observation"][rows], obs["action_mask"][rows], words[rows])
            np.testing.assert_array_equal(alone, together[rows])
        assert (obs["action_mask"][np.arange(200), together] == 1).all()
        obs, *_ = env.step(together)


def test_a_sampling_network_follows_its_probabilities() -> None:
    model = ActorCritic(config=SMALL)
    game = Game(seed=0)
    obs, mask = game.observation()[None], game.legal_mask()[None]
    expected = model(torch.from_numpy(obs), torch.from_numpy(mask))[0].exp()[0].detach().numpy()
    words = np.random.default_rng(0).integers(2**64, size=4000, dtype=np.uint64)
    chosen = NetPlayer(model, sample=True).act(obs.repeat(4000, 0), mask.repeat(4000, 0), words)
    counts = np.bincount(chosen, minlength=554) / 4000
    np.testing.assert_allclose(counts, expected, atol=0.04)


def test_a_network_for_other_components_is_refused(checkpoint: Path) -> None:
    with pytest.raises(CheckpointError, match="51 card types, these games have 46"):
        make_player(f"net:{checkpoint}", GameConfig(components="alternative"))


@pytest.mark.skipif(not JIT, reason="too slow")
def test_a_network_guides_a_search(checkpoint: Path) -> None:
    """With one trial the search plays what the network thinks likeliest, with more of them it makes up its own mind."""
    env = HelsinkiVectorEnv(100)
    obs, _ = env.reset(seed=1)
    words = np.arange(100, dtype=np.uint64)
    alone = make_player(f"net:{checkpoint}").act(obs["observation"], obs["action_mask"], words)
    once = make_player(f"net+search:1:{checkpoint}").act(obs["observation"], obs["action_mask"], words)
    np.testing.assert_array_equal(once, alone)
    player = make_player(f"net+search:30:{checkpoint}")
    often = player.act(obs["observation"], obs["action_mask"], words)
    assert player.name == f"net+search:30:{checkpoint}"
    assert (often != alone).any()
    assert (obs["action_mask"][np.arange(100), often] == 1).all()


@pytest.mark.parametrize("argument", ["", "30", "x:net", "0:net", ":net"])
def test_a_search_by_a_network_says_what_it_needs(argument: str) -> None:
    with pytest.raises(
        CheckpointError, match=r"expected the number of trials and a checkpoint, such as net\+search:100"
    ):
        make_player(f"net+search:{argument}")


def test_a_network_plays_a_whole_game(checkpoint: Path) -> None:
    player, game = make_player(f"net:{checkpoint.parent / 'net.safetensors'}"), Game(seed=5)
    while not game.done:
        game.step(decide(player, game))
    assert game.scores().min() >= 0


# presets


def test_the_quick_preset_is_valid_and_stops_in_time() -> None:
    preset = Preset.from_yaml("quick")
    assert preset.minutes <= 5
    assert preset.game == GameConfig()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minuets: 3", r"minuets: found 3, no such key.*did you mean 'minutes'"),
        ("minutes: -1", "minutes: found -1, expected a number above 0"),
        ("ppo: {epochs: 0}", "epochs: found 0, expected at least 1"),
        ("ppo: {clip: high}", "clip: found 'high', expected a number"),
        ("ppo: {rate: 1}", r"ppo\.rate: found 1, no such key"),
        ("ppo: 5", r"found 5, expected a mapping"),
        ("network: {width: 64, heads: 2}", r"network\.heads: found 2, no such key"),
        ("game: {num_players: 7}", "num_players: found 7"),
        ("game: nowhere", "nowhere"),
    ],
)
def test_a_preset_with_a_mistake_names_it(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(PresetError, match=message) as caught:
        Preset.from_yaml(path)
    assert "mine.yaml" in str(caught.value)


@pytest.mark.parametrize("components", ["default", "alternative"])
def test_landings_are_where_the_rules_put_the_tile(components: str) -> None:
    rng, checked = np.random.default_rng(1), 0
    for seed in range(6):
        config = GameConfig(components=components)
        game = Game(config, seed=seed)
        while not game.done:
            legal = game.legal_actions()
            rows, actions, cells = landings(config.tables, game.observation()[None], game.legal_mask()[None])
            if game.phase == "PLACE":
                before = notation.to_dict(game)["seats"][game.seat]["pavilions"]
                for action, covered in zip(actions, cells, strict=True):
                    after = game.clone()
                    seat = game.seat
                    after.step(int(action))
                    built = notation.to_dict(after)["seats"][seat]["pavilions"]
                    assert built[: len(before)] == before
                    assert built[-1]["cells"] == sorted(cell for cell in covered.tolist() if cell != NO_CELL)
                    checked += 1
            else:
                assert len(rows) == 0
            builds = [a for a in legal.tolist() if config.tables[0].kind_of[a] == 3]
            game.step(int(rng.choice(builds or legal)))
    assert checked > 500
