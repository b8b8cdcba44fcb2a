"""The kernels and the reference agree on every field, mask, observation and score after every action.

The short version runs with the other tests. The long one, at least 20,000 whole games and a thousand of everything that
is rare, takes up to half an hour on two cores:

    python -m pytest -m nightly tests/test_agreement.py -s
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from helsinki_env.engine.kernel import JIT
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.config import HelsinkiConfig
from tests.oracles.helsinki import ReferenceGame
from tests.support import policies, positions
from tests.support.agreement import RARE, Choice, Pair, run_batch, table
from tests.support.pair import DisagreementError, play_in_processes, too_rare

# Interpreted kernels are slower by far: fewer games then, and no counting.
SCALE = 1.0 if JIT else 0.05
LEAST = 12 if JIT else 0

actions = st.sets(st.integers(0, len(BOARD_ACTIONS) - 1), max_size=6)


@st.composite
def configs(draw: st.DrawFn, components: str) -> HelsinkiConfig:
    players = draw(st.integers(2, 4))
    return HelsinkiConfig(
        num_players=players,
        covered=draw(actions),
        denied=draw(st.none() | st.lists(actions, min_size=players, max_size=players)),
        dry_roads=draw(st.booleans()),
        components=components,
    )


def choosing(choices: bytes, style: str, word: int) -> Choice:
    """Decide by these numbers, and then by a policy: what fails shrinks to few and small numbers."""
    left = list(choices)
    rng = random.Random(word)

    def choose(game: ReferenceGame, legal: list[int]) -> int:
        if left:
            return legal[left.pop(0) % len(legal)]
        return policies.choose(rng, style, game, legal)

    return choose


words = st.integers(0, 2**64 - 1)
chosen = st.builds(choosing, st.binary(max_size=120), st.sampled_from(policies.STYLES), words)


@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
@given(st.data(), words, chosen)
@settings(max_examples=max(3, int(25 * SCALE)))
def test_any_game_agrees(components: str, data: st.DataObject, word: int, choose: Choice) -> None:
    Pair.dealt(data.draw(configs(components)), word, Counter()).play(choose, search_every=20)


@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
@given(st.integers(0, 10**9), st.sampled_from(positions.THEMES), chosen)
@settings(max_examples=max(3, int(60 * SCALE)))
def test_any_built_position_agrees(components: str, number: int, theme: str, choose: Choice) -> None:
    position = positions.build(random.Random(number), theme, components=components)
    Pair.at(position, Counter()).play(choose, most=40, search_every=4)


@pytest.mark.parametrize("components", positions.EACH_LAYOUT)
@pytest.mark.parametrize("kind", ["random", "rich"])
def test_whole_games_agree(kind: str, components: str) -> None:
    seen = run_batch(kind, range(max(2, int(12 * SCALE))), search_every=15, components=lambda _: components)
    assert seen["game over"] >= 2


@pytest.mark.thorough
def test_turns_after_built_positions_agree_and_everything_rare_occurs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen = run_batch("built", range(480 if JIT else 90), search_every=10 if JIT else 20)
    with capsys.disabled():
        print(f"\n{table(seen, LEAST)}")
    assert not too_rare(seen, RARE, LEAST)
    assert seen["masks searched"] > LEAST * 100


@pytest.mark.nightly
@pytest.mark.timeout(4 * 3600)
def test_twenty_thousand_games_agree_and_everything_rare_occurs_a_thousand_times() -> None:
    plan = {"random": 18_000, "hypothesis": 2_000, "rich": 2_000, "built": 36_000}
    chunk = 50
    jobs = [(kind, range(n, n + chunk)) for kind, count in plan.items() for n in range(0, count, chunk)]
    seen = play_in_processes(_nightly_batch, jobs, table)
    assert seen["dealt games"] >= 20_000
    assert seen["masks searched"] >= 50_000
    assert not too_rare(seen, RARE, 1000)


def _nightly_batch(kind: str, numbers: range) -> Counter[str]:
    if kind != "hypothesis":
        return run_batch(kind, numbers, search_every=50 if kind == "random" else 10)
    seen: Counter[str] = Counter()

    @seed(numbers.start)
    @given(st.sampled_from(positions.COMPONENTS).flatmap(configs), words, chosen)
    @settings(
        max_examples=len(numbers),
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    def play(config: HelsinkiConfig, word: int, choose: Choice) -> None:
        Pair.dealt(config, word, seen).play(choose, search_every=50)

    play()
    return seen


def test_a_disagreement_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReferenceGame, "scores", lambda self: [1] * self.players)
    with pytest.raises(DisagreementError, match=r"scores: kernel \[0, 0\], plain \[1, 1\]\nbegan as: seed 7"):
        Pair.dealt(HelsinkiConfig(), 7, Counter())
