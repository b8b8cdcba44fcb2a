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
from helsinki_env.mini.game import ACTIONS, COMPONENTS, MINI, OBSERVATION, MiniComponents, MiniConfig
from helsinki_env.mini.players import GreedyPlayer, PolicyGradient, QLearner, policy_of, sample_games
from helsinki_env.mini.solve import CFRPlus, best_response, exploitability, gains, values
from helsinki_env.mini.study import MiniStudy, run_study
from helsinki_env.mini.tree import FloatArray, GameTree, build_tree
from tests.oracles import mini as oracle

ROOT = Path(__file__).resolve().parent.parent
#: A few hundred histories, so that plain Python enumerates them at once.
TINY = MiniComponents("tiny", ((2, 2), (3, 2)), 1, (2, 1))


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
        started = oracle.start((*order, *at.display[::-1]), num_players, config.component_set.hand, at.rounds)
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
