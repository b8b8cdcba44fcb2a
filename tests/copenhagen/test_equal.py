"""The kernels and the reference of Copenhagen agree on every field, mask and observation after every action.

The short version runs with the other tests. The long one, 20,000 whole games, 60,000 built positions and at least a
thousand of everything that is rare, takes some tens of minutes on two cores:

    python -m pytest -m nightly tests/copenhagen/test_equal.py -s
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from helsinki_env.games.copenhagen.components import ABILITIES
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.utils.yaml_files import find_yaml
from tests.copenhagen.positions import Position, built_position, choose_rare, choose_uniformly, position
from tests.oracles.copenhagen import (
    COLUMNS,
    END_CARD,
    ROWS,
    SIZES_OF_KINDS,
    ReferenceGame,
    brute_force_legal_actions,
    column_cells,
    decode,
    row_cells,
)
from tests.support.pair import DisagreementError, GamePair, play_in_processes, too_rare, what_was_seen

USUAL = ("copenhagen",)

Choose = Callable[[random.Random, ReferenceGame], int]

BASICS = ("dealt games", "built positions", "decisions", "masks searched", "positions read back")
SETTINGS = ("2 players", "3 players", "4 players", "denied abilities", "another box")
RARE = (
    *(kind for kind in SIZES_OF_KINDS if kind not in ("USE", "ABILITY")),
    *(f"use {name}" for name in ABILITIES),
    *(f"reward: {name}" for name in ABILITIES[1:]),
    "reward: several at once",
    "reward: one made by a white tile",
    "reward: none to choose",
    "additional card while too many are held",
    "both abilities for one tile",
    "paid with two colours",
    "tile for nothing",
    "tile touches its own colour",
    "both actions after a discard",
    "row",
    "row of windows",
    "column",
    "column of windows",
    "several lines at once",
    "reshuffle",
    "over by points",
    "over by the End of Game card",
    "slot left empty by the End of Game card",
    "shared place",
)
"""Rare events that the comparison must include."""


class Pair(GamePair):
    """A game of Copenhagen in both implementations."""

    def __init__(self, game: Any, reference: ReferenceGame, seen: Counter[str], origin: str) -> None:
        seen["denied abilities"] += any(reference.config.denied)
        seen["another box"] += reference.config.components != "copenhagen"
        self._before = reference
        super().__init__(game, reference, seen, origin)

    @classmethod
    def dealt(cls, config: CopenhagenConfig, seed: int, stream: int, seen: Counter[str]) -> Pair:
        """A new game."""
        seen["dealt games"] += 1
        game, reference = (
            CopenhagenGame(config, seed=seed, stream=stream),
            ReferenceGame(config, seed=seed, stream=stream),
        )
        return cls(game, reference, seen, f"seed {seed}, stream {stream}, {config}")

    @classmethod
    def at(cls, written: Position, seen: Counter[str]) -> Pair:
        """A game at a position."""
        seen["built positions"] += 1
        return cls(CopenhagenGame.from_dict(written), ReferenceGame.from_dict(written), seen, json.dumps(written))

    def observations(self, position: Position) -> Iterator[bytes]:
        for seat in range(self.reference.players):
            yield np.array(self.reference.observation(seat), np.int8).tobytes()

    def differing(self, seat: int, expected: bytes) -> str:
        found, seen = self.game.observation(seat), np.frombuffer(expected, np.int8)
        if len(found) != len(seen):
            return f"its length: kernel {len(found)}, plain {len(seen)}"
        return f"as (index, kernel, plain): {[(int(i), found[i], seen[i]) for i in np.flatnonzero(found != seen)[:20]]}"

    def compare_scores(self) -> None:
        self.compare_numbers("scores", "ranks")

    def compare_at_length(self) -> None:
        """Compare the mask with a search, compare the copies for seats, and continue with a game read from data."""
        self.compare_search(brute_force_legal_actions(self.reference))
        self.compare_seat_copies()
        self.seen["positions read back"] += 1
        self.game = CopenhagenGame.from_dict(self.position)
        self.compare()

    def step(self, action: int) -> None:
        self._before = self.reference.clone()
        super().step(action)

    def count(self, before: Position, action: int) -> None:
        _count(self.seen, self._before, self.reference, action)

    def play(self, choose: Choose, rng: random.Random, most: int = 100_000, look_closely: float = 0.0) -> None:
        """Play at most `most` actions; `look_closely` is the probability of a detailed comparison."""
        for _ in range(most):
            if rng.random() < look_closely:
                self.compare_at_length()
            if self.reference.done:
                return
            self.step(choose(rng, self.reference))


def _count(seen: Counter[str], before: ReferenceGame, after: ReferenceGame, action: int) -> None:
    kind, argument = decode(action)
    number = before.seat
    then, now = before.seats[number], after.seats[number]
    if kind == "USE":
        seen[f"use {ABILITIES[argument]}"] += 1
        too_many = before.phase == "DISCARD"
        seen["additional card while too many are held"] += too_many
        seen["both abilities for one tile"] += {2, 3} <= after.pending.using
        seen["both actions after a discard"] += argument == 4 and before.pending.last_discard is not None
    elif kind == "ABILITY":
        seen[f"reward: {ABILITIES[argument]}"] += 1
    else:
        seen[kind] += 1
    if len(now.tiles) > len(then.tiles):
        built = now.tiles[-1]
        seen["tile touches its own colour"] += not built.cells.isdisjoint(then.beside_colour(built.colour))
        seen["tile for nothing"] += kind == "PLACE" and sum(now.hand) == sum(then.hand)
        seen["paid with two colours"] += kind == "PAY" and sum(map(bool, before.pending.paid)) == 2
    _count_lines(seen, before, after)
    made = after.pending.rewards - before.pending.rewards
    seen["reward: several at once"] += made >= 2
    seen["reward: one made by a white tile"] += kind == "WHITE" and made >= 0 and after.phase == "COAT"
    seen["reshuffle"] += before.players > 2 and END_CARD in after.draw_pile and END_CARD not in before.draw_pile
    if after.done:
        by_points = max(after.scores()) >= after.components.goal
        seen["over by points" if by_points else "over by the End of Game card"] += 1
        seen["slot left empty by the End of Game card"] += not by_points and None in after.display
        seen["shared place"] += len(set(after.ranks())) < after.players


def _count_lines(seen: Counter[str], before: ReferenceGame, after: ReferenceGame) -> None:
    """Count completed lines and rewards without a choice of the acting player."""
    then, now = before.seats[before.seat], after.seats[before.seat]
    filled_then, filled_now = then.filled(), now.filled()
    if filled_then == filled_now:
        lapsed = before.phase == "COAT" and before.pending.rewards > 1 and after.phase != "COAT"
        seen["reward: none to choose"] += lapsed
        return
    names = {"row": [row_cells(y) for y in range(ROWS)], "column": [column_cells(x) for x in range(COLUMNS)]}
    lines = 0
    for name, all_cells in names.items():
        for cells in all_cells:
            if cells <= filled_now and not cells <= filled_then:
                lines += 1
                seen[f"{name} of windows" if now.bricks().isdisjoint(cells) else name] += 1
    seen["several lines at once"] += lines >= 2
    data = before.components
    new = filled_now - filled_then
    made = sum(c in new for c in data.coats)
    made += sum(row_cells(y) <= filled_now and not row_cells(y) <= filled_then for y in data.coat_rows)
    due = made + max(0, before.pending.rewards - 1)
    seen["reward: none to choose"] += due > 0 and after.phase != "COAT" and not after.done


# -- what is played ------------------------------------------------------------------------------------------


def another_box(folder: Path) -> str:
    """Write a component file with other tiles, supplies, cards, coats of arms and points; return its path."""
    box = yaml.safe_load(find_yaml("copenhagen", "components", ValueError).read_text(encoding="utf-8"))
    box["tiles"]["drawings"] |= {"purple": ["W/B", "BW/W.", "BW/WW", "WWW/W../B.."]}
    box["tiles"]["copies"] = {"players_2": [3, 1, 4, 0], "players_3": [1, 1, 5, 2], "players_4": [0, 6, 2, 2]}
    box["tiles"]["white"] = 1
    box["cards"] = {"copies": {"players_2": 9, "players_3": 10, "players_4": 8}, "hands": [1, 0, 4, 2], "last": 4}
    box["board"] = {"coats": [[0, 1], [1, 0], [2, 2], [3, 4], [4, 0]], "coat_rows": [0, 2]}
    box["rules"] |= {"hand_limit": 5, "goal": 9, "points_row": 3, "points_row_windows": 1, "points_column": 4}
    path = folder / "another.yaml"
    path.write_text(yaml.safe_dump(box), encoding="utf-8")
    return str(path)


def random_config(rng: random.Random, components: Sequence[str]) -> CopenhagenConfig:
    """Return a configuration of two to four players, sometimes with denied abilities."""
    players = rng.choice((2, 3, 4))
    denied = None
    if rng.random() < 0.25:
        often = rng.choice((0.3, 1.0, 1.0))
        denied = [[ability for ability in (1, 2, 3, 4) if rng.random() < often] for _ in range(players)]
    return CopenhagenConfig(num_players=players, denied=denied, components=rng.choice(components))


def random_game(number: int, components: Sequence[str], look_closely: float, seen: Counter[str]) -> None:
    """Compare one whole game, from the deal to the end."""
    rng = random.Random(f"copenhagen game {number}")
    pair = Pair.dealt(random_config(rng, components), rng.getrandbits(64), rng.getrandbits(8), seen)
    pair.play(rng.choice((choose_uniformly, choose_rare)), rng, look_closely=look_closely)


def turns_from_a_built_position(
    number: int, components: Sequence[str], look_closely: float, seen: Counter[str]
) -> None:
    """Compare a built position and the turns after it."""
    rng = random.Random(f"copenhagen position {number}")
    pair = Pair.at(built_position(random_config(rng, components), rng), seen)
    pair.play(choose_rare, rng, rng.choice((6, 15, 40)), look_closely)


PLAYS = {"random": random_game, "built": turns_from_a_built_position}


def run_batch(kind: str, numbers: Iterable[int], components: Sequence[str], look_closely: float) -> Counter[str]:
    """Play a batch of one kind and return what was seen."""
    seen: Counter[str] = Counter()
    for number in numbers:
        PLAYS[kind](number, components, look_closely, seen)
    return seen


def table(seen: Counter[str], least: int) -> str:
    """Return what was seen as text."""
    return what_was_seen(seen, {"compared": BASICS, "settings": SETTINGS}, RARE, least)


# -- tests ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_deal_agrees(players: int) -> None:
    for seed in (0, 1, 2**63, 2**64 - 1, 12345678901234567890):
        for stream in (0, 1, 2**32):
            Pair.dealt(CopenhagenConfig(num_players=players), seed, stream, Counter())


def test_games_and_turns_after_built_positions_agree() -> None:
    seen = run_batch("random", range(100, 107), USUAL, look_closely=0.02)
    seen += run_batch("built", range(1000, 1040), USUAL, look_closely=0.08)
    assert (seen["dealt games"], seen["built positions"]) == (7, 40), table(seen, 1)
    assert seen["masks searched"] > 20, table(seen, 1)


@pytest.mark.thorough
def test_more_games_and_turns_agree_and_everything_rare_occurs(tmp_path: Path) -> None:
    """Some games use another component file: the kernels contain none of its facts."""
    boxes = [*USUAL * 3, another_box(tmp_path)]
    seen = run_batch("random", range(30), boxes, look_closely=0.02)
    seen += run_batch("built", range(200), boxes, look_closely=0.05)
    assert not too_rare(seen, RARE, 1), table(seen, 1)


@pytest.mark.parametrize(
    "refused", [position(display=(None, 1, 2, 3, 4, 0, 1)), position(draw_pile=[0, 1])], ids=["display", "end card"]
)
def test_both_refuse_what_the_rules_page_names(refused: Position) -> None:
    for implementation in (CopenhagenGame, ReferenceGame):
        with pytest.raises(ValueError, match=r"display|draw_pile"):
            implementation.from_dict(refused)


def test_both_refuse_what_is_illegal() -> None:
    pair = Pair.dealt(CopenhagenConfig(), 5, 0, Counter())
    for action in range(459):
        if action not in pair.reference.legal_actions():
            for game in (pair.game, pair.reference):
                with pytest.raises(ValueError, match="legal"):
                    game.step(action)
    pair.compare()


def test_a_disagreement_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReferenceGame, "scores", lambda self: [1] * self.players)
    with pytest.raises(DisagreementError, match=r"scores: kernel \[0, 0\], plain \[1, 1\]\nbegan as: seed 7"):
        Pair.dealt(CopenhagenConfig(), 7, 0, Counter())


@pytest.mark.nightly
@pytest.mark.timeout(4 * 3600)
def test_twenty_thousand_games_and_positions_agree_and_everything_rare_occurs_a_thousand_times(tmp_path: Path) -> None:
    chunk, plan = 50, {"random": 20_000, "built": 60_000}
    boxes = [*USUAL * 3, another_box(tmp_path)]
    jobs = [(kind, range(n, n + chunk), boxes, 0.02) for kind, count in plan.items() for n in range(0, count, chunk)]
    seen = play_in_processes(run_batch, jobs, table)
    assert seen["dealt games"] >= 20_000
    assert seen["built positions"] >= 20_000
    assert not too_rare(seen, RARE, 1000)
