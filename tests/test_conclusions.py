"""The rule that turns estimates into conclusions: every branch, and the error rates."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from helsinki_env.evaluation.arena.designs import MAX_DENIABLE_IDS, ScreeningDesign
from helsinki_env.evaluation.balance.effects import AblationGames, deviations, estimate_win_effects
from helsinki_env.evaluation.balance.helsinki.conclusions import (
    Conclusion,
    ConclusionError,
    EffectEstimates,
    Finding,
    draw_conclusions,
    findings,
    summarize_conclusions,
)
from helsinki_env.games.helsinki.components import BOARD_ACTIONS as NAMES

Array = npt.NDArray[np.float64]


def finding(
    player: str, strength: int, deviation: float, half: float = 0.6, action: str = "two_points", players: int = 2
) -> Finding:
    """A finding with an interval of three standard errors on either side."""
    return Finding(
        players=players,
        player=player,
        strength=strength,
        action=action,
        power=deviation + 1.0,
        deviation=deviation,
        error=half / 3,
        low=deviation - half,
        high=deviation + half,
    )


def one_conclusion(*of: tuple[float, float], equivalence_margin: float = 1.0, level: float = 0.95) -> Conclusion:
    """The conclusion on deviations with half widths of their intervals, from the weakest class to the strongest."""
    names = ("greedy", "search", "net")[-len(of) :]
    group = [finding(name, i, *numbers) for i, (name, numbers) in enumerate(zip(names, of, strict=True))]
    (conclusion,) = draw_conclusions(group, equivalence_margin, level)
    return conclusion


def test_deviations_are_from_the_mean_of_all_actions() -> None:
    generator = np.random.default_rng(0)
    power = generator.normal(2, 1, MAX_DENIABLE_IDS)
    root = generator.normal(size=(MAX_DENIABLE_IDS, MAX_DENIABLE_IDS))
    deviation, covariance = deviations(power, root @ root.T)
    assert deviation == pytest.approx(power - power.mean())
    draws = generator.multivariate_normal(power, root @ root.T, 200_000)
    expected = np.cov((draws - draws.mean(axis=1, keepdims=True)).T)
    assert covariance == pytest.approx(expected, abs=0.03 * expected.max())
    assert covariance.sum(axis=0) == pytest.approx(np.zeros(MAX_DENIABLE_IDS), abs=1e-9)
    # all equally strong: no action is stronger than the others, however much they are worth
    assert deviations(np.full(MAX_DENIABLE_IDS, 7.0), np.eye(MAX_DENIABLE_IDS))[0] == pytest.approx(
        np.zeros(MAX_DENIABLE_IDS)
    )


def test_findings_hold_all_at_once() -> None:
    power = np.linspace(0, 3, MAX_DENIABLE_IDS)
    study = [
        EffectEstimates(players, player, strength, power, np.eye(MAX_DENIABLE_IDS) * 0.04)
        for players in (2, 3, 4)
        for strength, player in enumerate(("search", "net"))
    ]
    found = findings(study)
    assert len(found) == 6 * MAX_DENIABLE_IDS
    assert [one.action for one in found[:MAX_DENIABLE_IDS]] == list(NAMES)
    widths = {round((one.high - one.low) / 2 / one.error, 6) for one in found}
    assert len(widths) == 1
    # Sidak's for 90 independent ones is 3.46; deviations depend on each other a little
    assert 3.40 < widths.pop() < 3.50
    assert found[3].power == pytest.approx(power[3])
    assert found[3].deviation == pytest.approx(power[3] - 1.5)
    assert found[3].error == pytest.approx(0.2 * np.sqrt(14 / 15))


def test_too_strong() -> None:
    conclusion = one_conclusion((0.2, 0.6), (3.0, 0.6), (4.1, 0.6))
    assert conclusion.label == "overpowered"
    assert conclusion.why == (
        "above the margin of 1 for both of the strongest players; games per 100, compared with the average action: "
        "net +4.1 (+3.5 to +4.7), search +3.0 (+2.4 to +3.6)"
    )
    # search is 10 errors beyond the margin, net 15.5: the larger p value counts
    assert conclusion.p == pytest.approx(7.62e-24, rel=1e-2, abs=0.0)
    assert conclusion.adjusted == conclusion.p


def test_too_weak() -> None:
    conclusion = one_conclusion((-0.2, 0.6), (-3.0, 0.6), (-4.1, 0.6))
    assert conclusion.label == "underpowered"
    assert conclusion.why.startswith("below the margin of 1 for both of the strongest players; ")


def test_balanced() -> None:
    conclusion = one_conclusion((9.0, 0.6), (-0.3, 0.6), (0.3, 0.6))
    assert conclusion.label == "balanced"
    assert conclusion.why.startswith("within the margin of 1 for both of the strongest players; ")
    # the limits of the margin belong to it
    assert one_conclusion((0.5, 0.5), (-0.5, 0.5)).label == "balanced"
    assert one_conclusion((1.5, 0.5), (1.5, 0.5)).label == "undecided"


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (((3.0, 0.6), (1.5, 0.6)), "for net the interval contains an edge of the margin of 1; "),
        (((-1.0, 0.6), (0.0, 0.6)), "for search the interval contains an edge of the margin of 1; "),
        (((0.0, 2.0), (0.0, 2.0)), "for net and search the interval contains an edge"),
        (
            ((3.0, 0.6), (0.0, 0.6)),
            "the strongest players disagree whether the action is above, within or below the margin of 1; ",
        ),
        (
            ((3.0, 0.6), (-3.0, 0.6)),
            "the strongest players disagree whether the action is above, within or below the margin of 1; ",
        ),
        (
            ((-0.1, 0.6), (3.0, 0.6), (3.0, 0.6)),
            "above the margin of 1 for both of the strongest players, but on the other side for greedy -0.1; ",
        ),
        (
            ((0.1, 0.6), (-3.0, 0.6), (-3.0, 0.6)),
            "below the margin of 1 for both of the strongest players, but on the other side for greedy +0.1; ",
        ),
    ],
)
def test_undecided(of: tuple[tuple[float, float], ...], why: str) -> None:
    conclusion = one_conclusion(*of)
    assert conclusion.label == "undecided"
    assert conclusion.why.startswith(why)


def test_p_values_of_many_actions_are_adjusted() -> None:
    # An interval of three errors just beyond the margin is p = 0.0012 for one action, too much for 45 of them.
    group = [
        finding(player, strength, 1.61 if action == "two_points" else 0.0, action=action, players=players)
        for players in (2, 3, 4)
        for strength, player in enumerate(("search", "net"))
        for action in NAMES
    ]
    conclusions = draw_conclusions(group)
    found = next(conclusion for conclusion in conclusions if conclusion.action == "two_points")
    assert found.p == pytest.approx(0.00114, rel=1e-2)
    # three alike: Holm multiplies by 45 for the first, and the others are no smaller
    assert found.adjusted == pytest.approx(45 * found.p)
    assert found.label == "undecided"
    assert "but not significantly among all actions (adjusted p 0.051, expected at most 0.05); " in found.why
    assert [conclusion.label for conclusion in conclusions].count("undecided") == 3
    assert {
        conclusion.label for conclusion in draw_conclusions(group, level=0.94) if conclusion.action == "two_points"
    } == {"overpowered"}


def test_p_values() -> None:
    # against the nearer edge, with the chance to be as far out on the other side
    assert one_conclusion((2.0, 3.0), (2.0, 3.0)).p == pytest.approx(0.158655 + 0.00135, abs=1e-5)
    # with a margin of 0, it is the usual two-sided p value
    assert one_conclusion((1.96, 3.0), (1.96, 3.0), equivalence_margin=0.0).p == pytest.approx(0.05, abs=1e-4)
    # the p value of an estimate of 0 is 1, not more, despite rounding
    for half in np.linspace(0.1, 9, 1000).tolist():
        assert one_conclusion((0.0, half), (0.0, half)).p == pytest.approx(1.0)
    # on different sides no direction is supported at all
    assert one_conclusion((9.0, 0.6), (-9.0, 0.6)).p == 1.0


def test_other_bands_and_orders() -> None:
    assert one_conclusion((3.0, 0.6), (3.0, 0.6), equivalence_margin=5.0).label == "balanced"
    group = [finding("net", 5, 3.0), finding("greedy", 1, -9.0, half=30.0), finding("search", 2, 0.0)]
    # the strongest are known by their rank, not by their order
    assert draw_conclusions(group)[0].why.startswith("the strongest players disagree")
    assert draw_conclusions(group[::-1]) == draw_conclusions(group)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([finding("net", 1, 3.0)], r"2 players: found classes \['net'\], expected at least 2"),
        ([finding("net", 1, 3.0), finding("search", 1, 3.0)], "found strengths .*, expected all different"),
        ([finding("net", 1, 3.0), finding("net", 1, 3.0)], "'two_points', 2 players, 'net': found twice"),
        (
            [finding("net", 1, 3.0), finding("net", 2, 3.0, action="any_side"), finding("search", 0, 3.0)],
            "found strength 2, expected the same strength",
        ),
        (
            [finding("net", 1, 3.0), finding("search", 0, 3.0), finding("net", 1, 3.0, action="any_side")],
            r"2 players, 'search': found no any_side",
        ),
        ([finding("net", 1, float("nan"))], "expected finite numbers"),
        ([replace(finding("net", 1, 3.0), high=float("inf"))], "expected finite numbers"),
        ([replace(finding("net", 1, 3.0), error=0.0)], "a positive error"),
        ([replace(finding("net", 1, 3.0), low=3.5)], "an estimate within its interval"),
    ],
)
def test_what_cannot_be_judged_is_refused(wrong: list[Finding], message: str) -> None:
    with pytest.raises(ConclusionError, match=message):
        draw_conclusions(wrong)


def test_bad_bands_and_levels_are_refused() -> None:
    with pytest.raises(ConclusionError, match="equivalence_margin: found -1"):
        one_conclusion((3.0, 0.6), (3.0, 0.6), equivalence_margin=-1)
    for level in (0.0, 1.0, 95.0):
        with pytest.raises(ConclusionError, match="level: found"):
            one_conclusion((3.0, 0.6), (3.0, 0.6), level=level)


def some_findings() -> list[Finding]:
    """Two numbers of players, two classes, five actions: of every conclusion one, of balanced two."""
    middle = {"two_points": 4.1, "move_back": -2.2, "any_side": 0.1, "extra_card": -0.2, "move_1_to_6": 1.2}
    return [
        finding(player, strength, value + 0.2 * (1 - strength), action=action, players=players)
        for players in (2, 3)
        for strength, player in enumerate(("search", "net"))
        for action, value in middle.items()
    ]


def read(found: Any) -> Any:
    """What is left of plain dataclasses when they have been written as JSON and read."""
    return json.loads(json.dumps([asdict(one) for one in found], allow_nan=False))


def test_conclusions_follow_from_the_json() -> None:
    given = some_findings()
    conclusions = draw_conclusions(given, 1.0, 0.95)
    again = [Finding(**row) for row in read(given)]
    assert again == list(given)
    assert draw_conclusions(again, 1.0, 0.95) == conclusions
    assert summarize_conclusions(conclusions, again) == summarize_conclusions(conclusions, given)
    assert {type(value) for row in read(conclusions) for value in row.values()} <= {int, float, str}
    # a table that was tampered with is found out
    wrong = replace(again[0], low=-9.0)
    assert draw_conclusions([wrong, *again[1:]], 1.0, 0.95) != conclusions


def test_measured_findings_are_plain_numbers() -> None:
    measured = [EffectEstimates(2, player, i, np.linspace(0, 9, 15), np.eye(15)) for i, player in enumerate(("a", "b"))]
    found = findings(measured)
    assert [Finding(**row) for row in read(found)] == found


def test_the_summary_can_be_read_without_statistics() -> None:
    given = [one for one in some_findings() if (one.players, one.action) != (3, "move_back")]
    given += [finding(p, i, 0.1, action="move_back", players=3) for i, p in enumerate(("search", "net"))]
    strong, weak, balanced, only_three, open_question, what = summarize_conclusions(draw_conclusions(given), given)
    assert strong == "Too strong with two and three players: 'two points' (+4.1 ± 0.6, +4.1 ± 0.6)."
    assert weak == "Too weak with two players: 'move back' (-2.2 ± 0.6)."
    assert balanced == (
        "Balanced with two and three players: "
        "'extra card' (-0.2 ± 0.6, -0.2 ± 0.6), 'any side' (+0.1 ± 0.6, +0.1 ± 0.6)."
    )
    assert only_three == "Balanced with three players: 'move back' (+0.1 ± 0.6)."
    assert open_question == (
        "Undecided, because estimates are uncertain or differ between players, with two and three players: "
        "'move 1 to 6' (+1.2 ± 0.6, +1.2 ± 0.6)."
    )
    assert what.startswith("In brackets: ")
    assert summarize_conclusions([], []) == []


def test_false_verdicts_at_the_edge_of_the_band() -> None:
    """At the edge of the margin, the worst case, one class decides: the other is far beyond."""
    generator = np.random.default_rng(2)
    covariance = np.eye(MAX_DENIABLE_IDS) * 0.09
    sure = (
        np.where(np.arange(MAX_DENIABLE_IDS) % 2, 9.0, -9.0)
        - np.where(np.arange(MAX_DENIABLE_IDS) % 2, 9.0, -9.0).mean()
    )
    edge = np.sign(sure)
    edge[0] = -edge[1:].sum()  # deviations add up to zero; the first is beyond the margin and does not count
    template = findings(
        [EffectEstimates(2, "net", 2, edge, covariance), EffectEstimates(2, "search", 1, sure, covariance)]
    )
    wrong, repetitions = 0, 1000
    for _ in range(repetitions):
        noise, _ = deviations(generator.normal(0, 0.3, MAX_DENIABLE_IDS), covariance)
        moved = [
            replace(one, deviation=one.deviation + move, low=one.low + move, high=one.high + move)
            for one, move in zip(template, [*noise.tolist(), *[0.0] * MAX_DENIABLE_IDS], strict=True)
        ]
        wrong += any(
            conclusion.label in ("overpowered", "underpowered")
            for conclusion in draw_conclusions(moved)
            if conclusion.action != NAMES[0]
        )
    print(f"false conclusions in {wrong / repetitions:.1%} of studies with all actions at the edge of the margin")
    # one side of 14 intervals out of 30 that hold at once with 95 %
    assert 0.002 < wrong / repetitions < 0.03


def played(seats: int, power: Array, seed: int, blocks: int = 1200) -> tuple[Array, Array]:
    """Powers with covariance from simulated games of a screen; all rotations of a block share the luck of the deck."""
    generator = np.random.default_rng(seed)
    sets = ScreeningDesign().action_sets(0, np.arange(blocks), seats)
    deck = generator.normal(0, 0.3, (blocks, seats))
    denied = np.concatenate([np.roll(sets, turn, axis=1) for turn in range(seats)])
    luck = np.concatenate([np.roll(deck, turn, axis=1) for turn in range(seats)])
    worth = luck - denied @ power + generator.gumbel(size=luck.shape)
    places = (-worth).argsort(axis=1).argsort(axis=1)
    found = estimate_win_effects(AblationGames(denied, places, np.tile(np.arange(blocks), seats)))
    return found.power, found.covariance


def studied(power: Array, seed: int) -> list[Finding]:
    """Findings of a small study: two and three players, two classes."""
    measured = []
    for i, (players, player) in enumerate((n, name) for n in (2, 3) for name in ("search", "net")):
        measured.append(EffectEstimates(players, player, i % 2, *played(players, power, seed * 4 + i)))
    return findings(measured)


def test_a_planted_action_is_found_and_no_other() -> None:
    power = np.full(MAX_DENIABLE_IDS, 0.1)
    power[6] = 0.9
    conclusions = draw_conclusions(studied(power, 1))
    assert [(one.players, one.action) for one in conclusions if one.label == "overpowered"] == [
        (2, NAMES[6]),
        (3, NAMES[6]),
    ]
    assert not [one for one in conclusions if one.label == "underpowered"]


@pytest.mark.nightly
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_intervals_of_deviations_hold_all_at_once(seats: int) -> None:
    """Fifteen equal actions, worth something but no more than each other."""
    runs = [deviations(*played(seats, np.full(MAX_DENIABLE_IDS, 0.2), seed, blocks=500)) for seed in range(300)]
    # the design is the same in all of them, and with it, nearly, how estimates depend on each other
    template = findings([EffectEstimates(seats, "net", 1, *played(seats, np.full(MAX_DENIABLE_IDS, 0.2), 0))])[0]
    width = (template.high - template.low) / 2 / template.error
    errors = np.array([np.abs(deviation) / np.sqrt(np.diag(covariance)) for deviation, covariance in runs])
    single, together = (errors < 1.96).mean(), (errors < width).all(axis=1).mean()
    print(
        f"{seats} seats: single intervals cover {single:.1%}, all fifteen at once ({width:.2f} errors) {together:.1%}"
    )
    assert 0.93 < single < 0.97
    assert together > 0.95 - 3 * np.sqrt(0.05 * 0.95 / len(runs))


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_null_studies_find_something_as_rarely_as_stated() -> None:
    """In 200 studies of fifteen equal actions with a margin of 0, every significant conclusion is false."""
    repetitions = 200
    outside, conclusions = 0, 0
    for seed in range(repetitions):
        found = studied(np.full(MAX_DENIABLE_IDS, 0.2), 1000 + seed)
        outside += any(not one.low <= 0 <= one.high for one in found)
        conclusions += any(
            one.label in ("overpowered", "underpowered") for one in draw_conclusions(found, equivalence_margin=0.0)
        )
    print(
        f"of {repetitions} null studies {outside} have an interval beside the truth (5 % is stated), "
        f"{conclusions} a false conclusion"
    )
    stated = 0.05 + 3 * np.sqrt(0.05 * 0.95 / repetitions)
    assert 0 < outside / repetitions < stated
    assert conclusions / repetitions <= 0.05
