"""Helsinki mini: its rules equal a plain statement of them, and its exact figures those of OpenSpiel."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.agents.base import choose_action
from helsinki_env.agents.registry import make_player
from helsinki_env.cli.main import main
from helsinki_env.data import UserError
from helsinki_env.engine.determinization import ObservationError, determinize, determinize_observation
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import config_from_dict, game_names, spec_by_name
from helsinki_env.mini.game import ACTIONS, COMPONENTS, MINI, OBSERVATION, MiniComponents, MiniConfig
from helsinki_env.mini.players import (
    GreedyPlayer,
    PolicyGradient,
    QLearner,
    policy_of,
    rollout_response,
    sample_games,
)
from helsinki_env.mini.solve import CFRPlus, best_response, exploitability, gains, values
from helsinki_env.mini.study import RESPONSES, MiniStudy, _Runner, run_study, study_tables
from helsinki_env.mini.tree import FloatArray, GameTree, build_tree
from helsinki_env.utils.markdown import replace_section
from tests.oracles import mini as oracle

ROOT = Path(__file__).resolve().parent.parent
#: A few thousand histories, so that plain Python enumerates them. With two players, a card is drawn.
TINY = MiniComponents("tiny", ((3, 2), (3, 2)), 1, (2, 2))


@pytest.fixture(scope="module", params=[2, 3])
def tiny(request: pytest.FixtureRequest) -> GameTree:
    return build_tree(MiniConfig(request.param, components="tiny", _loaded=("tiny", TINY)))


@pytest.fixture(scope="module")
def small() -> GameTree:
    return build_tree(MiniConfig(2, components="small"))


def position(game: BoardGame) -> oracle.Mini:
    """The record of a game in the terms of the plain rules."""
    g, config = game.state, game.config
    seats = tuple(
        oracle.Seat(
            int(g.side[i]), tuple(g.hand[i].tolist()), tuple(g.known[i].tolist()),
            frozenset(cell for cell in range(9) if int(g.built[i]) >> cell & 1), int(g.coats[i]), int(g.bonus[i]),
        )
        for i in range(config.num_players)
    )  # fmt: skip
    display = tuple(None if card < 0 else card for card in g.display.tolist())
    rounds = config.component_set.rounds[config.num_players - 2]
    pile, discard = tuple(g.pile[: g.pile_size].tolist()), tuple(g.discard.tolist())
    return oracle.Mini(seats, rounds, pile, display, discard, game.seat, game.round, game.done)


def observed(at: oracle.Mini, viewer: int) -> list[int]:
    """What a seat sees, by the names of the entries."""
    n = len(at.seats)
    seen = {
        "players": n, "seat": viewer, "acting": (at.seat - viewer) % n, "round": at.round, "pile_size": len(at.pile)
    }  # fmt: skip
    for color in range(2):
        card = at.display[color]
        seen |= {f"display_{color}": 0 if card is None else card + 1, f"discard_{color}": at.discard[color]}
        seen[f"hand_{color}"] = at.seats[viewer].hand[color]
    for turn in range(n):
        seat = at.seats[(viewer + turn) % n]
        seen |= {f"side_{turn}": seat.space, f"hand_size_{turn}": sum(seat.hand), f"coats_{turn}": seat.coats}
        seen |= {f"known_{color}_{turn}": seat.known[color] for color in range(2)} | {f"bonus_{turn}": seat.bonus}
        seen |= {f"cell_{cell}_{turn}": int(cell in seat.built) for cell in range(9)}
    return [seen.get(entry, 0) for entry in OBSERVATION]


@pytest.mark.parametrize("components", COMPONENTS)
@pytest.mark.parametrize("num_players", [2, 3])
def test_the_rules_agree_with_a_plain_statement_of_them(components: str, num_players: int) -> None:
    config, rng = MiniConfig(num_players, components=components), random.Random(components)
    played = set()
    for seed in range(60):
        game = MINI.game(config, seed)
        at = position(game)
        order = (*at.pile, *(c for s in reversed(at.seats) for c in [0] * s.hand[0] + [1] * s.hand[1]))
        shown = [card for card in at.display[::-1] if card is not None]
        started = oracle.start((*order, *shown), num_players, config.component_set.hand, at.rounds)
        assert started == at
        while not game.done:
            assert game.legal_actions().tolist() == at.legal()
            for viewer in range(num_players):
                assert game.observation(viewer).tolist() == observed(at, viewer)
            action = rng.choice(at.legal())
            played.add(ACTIONS[action].split()[0])
            at = at.play(action)
            game.step(action)
            assert position(game) == at
            assert game.scores().tolist() == at.points()
            assert game.ranks().tolist() == at.ranks()
    assert played >= {"TAKE", "BUILD", "FREE"}


@pytest.mark.thorough
def test_hidden_cards_are_sampled_from_observations() -> None:
    for num_players in (2, 3):
        config, rng = MiniConfig(num_players), random.Random(num_players)
        for seed in range(20):
            game = MINI.game(config, seed)
            while not game.done:
                for copy in (
                    MINI.game.from_state(config, determinize_observation(config, game.observation(), 1, seed)[0]),
                    determinize(game, seed=seed),
                ):
                    assert copy.observation().tolist() == game.observation().tolist()
                    cards = copy.state.hand.sum(0) + np.bincount(copy.state.pile[: copy.state.pile_size], minlength=2)
                    cards += [sum(copy.state.display == color) for color in range(2)] + copy.state.discard
                    assert cards.tolist() == list(config.component_set.cards[num_players - 2])
                game.step(rng.choice(game.legal_actions().tolist()))
    with pytest.raises(ObservationError, match="expected an observation of mini"):
        determinize_observation(MiniConfig(), np.zeros(len(OBSERVATION), np.int8), 1)


def test_invalid_settings_are_rejected() -> None:
    for options in ({"num_players": 4}, {"components": "large"}, {"reward": "most"}):
        with pytest.raises(UserError, match=next(iter(options))):
            MiniConfig.from_dict(options)


# -- exact figures


def enumerate_values(at: oracle.Mini, policy: Any) -> Any:
    """The expected rewards by plain enumeration, in which all seats use one policy of legal actions and history."""
    if at.done:
        n = len(at.seats)
        return np.array([1.0 if rank == 0 else -1 / (n - 1) for rank in at.ranks()])
    legal = at.legal()
    return sum(p * enumerate_values(at.play(a), policy) for a, p in zip(legal, policy(at), strict=True))


def test_values_are_those_of_a_plain_enumeration(tiny: GameTree) -> None:
    config = tiny.config
    low, high = TINY.cards[config.num_players - 2]
    rng, found = random.Random(1), np.zeros(config.num_players)
    orders = {tuple(rng.sample([0] * low + [1] * high, low + high)) for _ in range(2000)}  # all of them
    for order in orders:
        at = oracle.start(order, config.num_players, TINY.hand, TINY.rounds[config.num_players - 2])
        found += enumerate_values(at, lambda at: [1 / len(at.legal())] * len(at.legal())) / len(orders)
    np.testing.assert_allclose(values(tiny, [one.uniform() for one in tiny.players]), found, atol=1e-12)


def by_observation(observation: Any, mask: Any) -> FloatArray:
    """Probabilities of the legal actions that depend on the observation in an arbitrary way."""
    weights = 1.0 + (int(observation @ np.arange(1, len(observation) + 1)) + 3 * np.flatnonzero(mask)) % 7
    return np.asarray(weights / weights.sum())


def some_policies(tree: GameTree) -> list[FloatArray]:
    return [
        np.concatenate([[1.0], *(by_observation(*seen) for seen in zip(one.observation, one.mask, strict=True))])
        for one in tree.players
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("tiny", [2, pytest.param(3, marks=pytest.mark.nightly)], indirect=True)
def test_exact_figures_are_those_of_openspiel(tiny: GameTree, monkeypatch: pytest.MonkeyPatch) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")
    from open_spiel.python import policy
    from open_spiel.python.algorithms import best_response as responses
    from open_spiel.python.algorithms import expected_game_score
    from open_spiel.python.algorithms import exploitability as spiel

    import helsinki_env.mini.openspiel  # noqa: F401  # registers the game

    monkeypatch.setitem(COMPONENTS, "tiny", TINY)
    n = tiny.config.num_players
    game = pyspiel.load_game(f"helsinki_mini(players={n},components=tiny)")

    class Some(policy.Policy):  # type: ignore[misc]  # an untyped base class
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            board = state.board
            legal = board.legal_actions().tolist()
            return dict(zip(legal, by_observation(board.observation(), board.action_mask()).tolist(), strict=True))

    theirs, ours = Some(game, list(range(n))), some_policies(tiny)
    score = expected_game_score.policy_value(game.new_initial_state(), [theirs] * n)
    np.testing.assert_allclose(values(tiny, ours), score, atol=1e-9)
    for seat in range(n):
        best = responses.BestResponsePolicy(game, seat, theirs).value(game.new_initial_state())
        value, response = best_response(tiny, ours, seat)
        assert value == pytest.approx(best, abs=1e-9)
        assert values(tiny, [*ours[:seat], response, *ours[seat + 1 :]])[seat] == pytest.approx(best, abs=1e-9)
    assert gains(tiny, ours).sum() == pytest.approx(spiel.nash_conv(game, theirs), abs=1e-9)
    assert gains(tiny, ours).min() >= 0
    if n == 2:
        assert exploitability(tiny, ours) == pytest.approx(spiel.exploitability(game, theirs), abs=1e-9)


@pytest.mark.thorough
def test_openspiel_checks_the_game() -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="needs the extra openspiel")
    import helsinki_env.mini.openspiel  # noqa: F401  # registers the game

    for text in ("helsinki_mini", "helsinki_mini(players=3,reward=margin,components=small)"):
        pyspiel.random_sim_test(pyspiel.load_game(text), num_sims=3, serialize=True, verbose=False)


def test_the_equilibrium_of_the_small_game(small: GameTree) -> None:
    """The first seat wins 20% of games between perfect players."""
    solver = CFRPlus(small)
    found = []
    for _ in range(4):
        solver.run(32)
        found.append(exploitability(small, solver.policies()))
    assert found == sorted(found, reverse=True)
    assert 0 <= found[-1] < 1e-4
    assert values(small, solver.policies())[0] == pytest.approx(-0.6, abs=2 * found[-1])


def test_a_player_that_never_builds_loses_every_game_to_its_best_response(small: GameTree) -> None:
    """Without points, the later seat wins; each seat can always build and complete a line."""
    takes = [one.of_actions(one.mask.argmax(1)) for one in small.players]
    assert values(small, takes).tolist() == pytest.approx([-1, 1], abs=1e-12)
    assert gains(small, takes).tolist() == pytest.approx([2, 0], abs=1e-12)
    assert exploitability(small, takes) == pytest.approx(1, abs=1e-12)


def test_the_policy_of_a_player_is_what_it_plays(small: GameTree) -> None:
    player = GreedyPlayer(small.config)
    policy = policy_of(small, player, 0)
    own, game = small.players[0], MINI.game(small.config, seed=3)
    infoset = int(np.flatnonzero((own.observation == game.observation()).all(1))[0])
    chosen = own.action[(own.infoset == infoset) & (policy == 1)]
    assert chosen.tolist() == [choose_action(player, game)]
    half = policy_of(small, make_player("random", small.config), 0, samples=500)
    assert np.abs(half - own.uniform()).max() < 0.15


def test_learners_find_responses_and_approach_the_equilibrium(small: GameTree) -> None:
    greedy = [policy_of(small, GreedyPlayer(small.config), seat) for seat in (0, 1)]
    learner, selfplay = QLearner(small, greedy, 1, seed=1), PolicyGradient(small, seed=1)
    for _ in range(30):
        learner.learn(1000)
    found = values(small, [greedy[0], learner.greedy()]) - values(small, greedy)
    assert found[1] == pytest.approx(gains(small, greedy)[1], rel=0.02)
    before = exploitability(small, selfplay.policies())
    for _ in range(60):
        selfplay.learn(500)
    assert exploitability(small, selfplay.policies()) < before / 3
    games = sample_games(small, greedy, 4000, np.random.default_rng(1))
    assert games.utility.mean(1) == pytest.approx(values(small, greedy), abs=0.1)


def test_rollouts_of_actions_that_are_hardly_ever_played(small: GameTree) -> None:
    """Weights of sequences differ by many orders of magnitude, up to the limit of the learners' logits."""
    own = small.players[1]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        policies = [one.normalized(np.exp(rng.uniform(-15, 15, len(one.action)))) for one in small.players]
        found = rollout_response(small, policies, 1, 16, rng)
        assert np.array_equal(np.add.reduceat(found[1:], own.first - 1), np.ones(len(own.first)))
        assert values(small, [policies[0], found])[1] > values(small, policies)[1]


def test_ppo_finds_more_than_the_policy_gradient_in_the_same_games(small: GameTree) -> None:
    policies = [one.uniform() for one in small.players]
    found = []
    for epochs in (1, 4):
        learner = PolicyGradient(small, 1, {1: policies[1]}, entropy_coef=0.01, update_epochs=epochs)
        for _ in range(40):
            learner.learn(1000)
        found.append(values(small, learner.policies())[0] - values(small, policies)[0])
    assert found[0] < found[1] < gains(small, policies)[0]


def test_rollouts_find_the_best_action_if_all_seats_follow_their_policies(small: GameTree) -> None:
    rng = np.random.default_rng(5)
    policies = [one.normalized(rng.random(len(one.action)) ** 2) for one in small.players]
    for seat, own in enumerate(small.players):
        found = rollout_response(small, policies, seat, 3000, np.random.default_rng(1))
        assert np.array_equal(found, rollout_response(small, policies, seat, 3000, np.random.default_rng(1)))
        before, compared = values(small, policies)[seat], 0
        assert values(small, [*policies[:seat], found, *policies[seat + 1 :]])[seat] - before > 0
        for infoset in range(0, len(own.first), len(own.first) // 250):
            sequences = np.flatnonzero(own.infoset == infoset)
            worth = []
            for sequence in sequences:  # the exact value of one action at this information set
                policy = policies[seat].copy()
                policy[sequences] = sequences == sequence
                worth.append(values(small, [*policies[:seat], policy, *policies[seat + 1 :]])[seat])
            best, *others = sorted(worth, reverse=True)
            if others and best - others[0] > 2e-4:  # rare information sets change the value little
                assert found[sequences].tolist() == [value == best for value in worth]
                compared += 1
        assert compared > 5


# -- the study


@pytest.fixture
def fast_players(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies without search players, which take half a minute with three players."""
    monkeypatch.setattr("helsinki_env.mini.study.PLAYERS", ("random", "greedy"))


def test_the_documented_figures_come_from_the_command() -> None:
    page = ROOT / "docs" / "mini.md"
    data = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    assert replace_section(page.read_text(encoding="utf-8"), "exact") == f"\n{study_tables(data)}\n"
    tree = build_tree(MiniConfig(2, components="small"))  # the cheapest results are computed again
    for player in ("greedy", "random"):
        about = {"kind": "player", "components": "small", "num_players": 2, "player": player}
        (found,) = (one for one in data["results"] if one.items() >= about.items())
        policies = [one.uniform() for one in tree.players]
        if player == "greedy":
            policies = [policy_of(tree, GreedyPlayer(tree.config), seat) for seat in (0, 1)]
        assert found["exploitability"] == pytest.approx(exploitability(tree, policies), abs=1e-6)
    study, runner = MiniStudy(), _Runner(tree)
    units = [unit for unit in study.units() if unit.get("player") == "greedy" and unit.get("seed") == 1]
    assert [unit["response"] for unit in units] == list(RESPONSES)
    for unit in units:
        (found,) = (one for one in data["results"] if one.items() >= unit.items())
        short = unit if ":" in unit["response"] else {**unit, "batches": 16}
        for seat, curve in enumerate(runner.run(short)["curves"]):
            assert curve == found["curves"][seat][: len(curve)]


@pytest.mark.usefixtures("fast_players")
def test_an_interrupted_study_resumes_and_gives_the_same_bytes(tmp_path: Path) -> None:
    quick, whole, parts = MiniStudy(("small",), (3,), iterations=16), tmp_path / "whole", tmp_path / "parts"
    run_study(quick, whole, "command")
    done: list[int] = []

    def stop(count: int) -> None:
        done.append(count)
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(quick, parts, "command", progress=stop)
    assert not (parts / "mini.json").exists()
    saved: list[int] = []
    next((parts / "units").iterdir()).write_text("{")  # a damaged result is computed again
    run_study(quick, parts, "command", saved.append)
    assert saved == [1]
    assert (parts / "mini.json").read_bytes() == (whole / "mini.json").read_bytes()


@pytest.mark.usefixtures("fast_players")
def test_units_of_other_code_are_not_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick, saved = MiniStudy(("small",), (3,), iterations=4), list[int]()
    run_study(quick, tmp_path, "command")
    run_study(quick, tmp_path, "command", saved.append)
    monkeypatch.setattr("helsinki_env.mini.study._code_digest", lambda: "of other code")
    run_study(quick, tmp_path, "command", saved.append)
    assert saved == [len(quick.units()), 0]


@pytest.mark.usefixtures("fast_players")
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n<!-- written: exact -->\n<!-- end: exact -->\n", encoding="utf-8")
    line = ["mini", "--components", "small", "--num-players", "3", "--iterations", "8", "--out", str(tmp_path / "run")]
    assert main([*line, "--write", str(page)]) == 0
    assert "| small | 3 | `greedy` |" in capsys.readouterr().out
    assert "| small | 3 | `greedy` |" in page.read_text(encoding="utf-8")
    assert json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))["command"].startswith("helsinki mini ")
    for wrong, message in ((tmp_path / "page.json", "that ends in .md"), (tmp_path / "none.md", "expected a page")):
        assert main([*line, "--out", str(tmp_path / "none"), "--write", str(wrong)]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "none").exists()  # before anything is computed
    assert main(["mini", "--num-players", ","]) == 2
    assert "--num-players: found [], expected a list of at least one of 2, 3" in capsys.readouterr().err
    assert main(["mini", "--components", "large"]) == 2
    assert "--components: found 'large'" in capsys.readouterr().err
    for option, value in (
        ("--batches", "0"),
        ("--games", "0"),
        ("--seeds", "0"),
        ("--iterations", "0"),
        ("--seed", "-1"),
    ):
        assert main(["mini", option, value, "--out", str(tmp_path / "none")]) == 2
        assert f"{option}: found {value}" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_it_is_known_only_to_those_who_import_it() -> None:
    assert spec_by_name("mini") is MINI
    assert config_from_dict({"game": "mini", "num_players": 3}) == MiniConfig(3)
    assert "mini" not in game_names()
    code = "import sys, helsinki_env.cli.commands.mini; print('helsinki_env.mini' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout == "False\n"


def test_nothing_can_be_denied() -> None:
    with pytest.raises(ValueError, match=r"denied\[0\]: found \[1\], expected \[\]: this game has nothing to disable"):
        MiniConfig(denied=[[1], []])  # type: ignore[arg-type]
