"""Levels on the rating scale: players, measured ratings, their calibration, and the rating of a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.engine.spec import spec_by_name
from helsinki_env.evaluation.match import play_match
from helsinki_env.web import calibrate
from helsinki_env.web.levels import (
    MIXTURES,
    ZERO,
    level,
    level_data,
    level_name,
    level_number,
    measured_ratings,
    own_rating,
    player_rating,
)
from helsinki_env.web.player_workers import _player
from tests.games import EACH_GAME, TestedGame


def test_names_of_levels() -> None:
    assert [level_number(level_name(number)) for number in range(1, len(MIXTURES) + 1)] == [
        *range(1, len(MIXTURES) + 1)
    ]
    for wrong in ("level:0", f"level:{len(MIXTURES) + 1}", "level:", "level:x", "level:00041", "greedy"):
        assert level_number(wrong) is None
    with pytest.raises(ValueError, match="expected a number from 1 to"):
        level("12", spec_by_name("helsinki").config())


@EACH_GAME
def test_a_mixture_is_between_its_players_and_depends_on_the_keys_alone(game: TestedGame) -> None:
    config = game.spec.config(num_players=2)
    weak = play_match([level("1", config), "greedy"], config, games=60, seed=2).result(0)
    assert 0.02 < weak.share < 0.45
    assert play_match([level("1", config), "random"], config, games=60, seed=2).result(0).share > 0.6
    one = game.spec.game(config, seed=1)
    inputs = one.observation()[None].repeat(64, 0), one.action_mask()[None].repeat(64, 0)
    keys = np.arange(64, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    player = level("2", config)
    assert (player.act(*inputs, keys) == player.act(*inputs, keys)).all()


def test_processes_make_levels() -> None:
    from helsinki_env.engine.spec import config_to_dict

    config = json.dumps(config_to_dict(spec_by_name("helsinki").config()), sort_keys=True)
    assert _player(config, "level:3").name == "level:3"


@EACH_GAME
def test_committed_ratings_have_intervals_and_increase(game: TestedGame) -> None:
    measured = measured_ratings()[game.name]
    assert "helsinki_env.web.calibrate" in measured["command"]
    levels = measured["levels"]
    assert [one["level"] for one in levels] == list(range(1, len(MIXTURES) + 1))
    for one in levels:
        assert one["low"] <= one["rating"] <= one["high"]
        assert one["games"] >= 2000
    zero = levels[ZERO - 1]
    assert zero["rating"] == zero["low"] == zero["high"] == 0
    ratings = [one["rating"] for one in levels]
    assert ratings[0] < 0 < ratings[5] < ratings[8]
    assert player_rating(game.name, "heuristic") == ratings[5]
    assert player_rating(game.name, "level:9") == player_rating(game.name, "net") == ratings[8]
    assert player_rating(game.name, "ismcts:100") is None
    assert [one["rating"] for one in level_data(game.name)] == ratings


def test_ratings_are_sums_of_log_odds() -> None:
    even = [1.0, 2.0, 0.0, 1.0] * 50
    wins: dict[int, list[float]] = dict.fromkeys(range(1, len(MIXTURES)), even)
    wins[3] = [2.0, 1.0] * 100  # 3 of 4
    levels = {one["level"]: one for one in calibrate.ratings_of(wins)}
    assert levels[1]["rating"] == pytest.approx(0, abs=1)
    assert levels[4]["rating"] == pytest.approx(400 * np.log10(3), abs=2)
    assert levels[5]["rating"] == pytest.approx(levels[4]["rating"], abs=1)
    assert levels[5]["high"] - levels[5]["low"] > levels[4]["high"] - levels[4]["low"]


def test_the_calibration_resumes(tmp_path: Path, monkeypatch: Any) -> None:
    played: list[tuple[int, int]] = []

    def fake(game: str, lower: int, block: int, games: int) -> list[float]:
        played.append((lower, block))
        if len(played) == 5:
            raise KeyboardInterrupt
        return [1.0] * (games // 2)

    monkeypatch.setattr(calibrate, "block_wins", fake)
    arguments = ["helsinki", "--games", "100", "--out", str(tmp_path)]
    with pytest.raises(KeyboardInterrupt):
        calibrate.main(arguments)
    done = played[:4]
    assert calibrate.main(arguments) == 0
    assert len(set(played)) == len(played) - 1, "only the interrupted block is played again"
    assert not set(done) & set(played[5:])


def test_blocks_of_other_players_are_not_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = calibrate.block_file("helsinki", 6, 0, 50)
    assert calibrate.block_file("helsinki", 6, 0, 50) == before
    monkeypatch.setattr(calibrate, "files_digest", lambda name, config: "other weights" if name == "net" else None)
    assert calibrate.block_file("helsinki", 6, 0, 50) != before


def test_games_fill_both_seats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        calibrate.main(["helsinki", "--games", "50", "--out", str(tmp_path)])
    assert "--games: found 50" in capsys.readouterr().err


def test_a_block_has_every_deal_from_both_seats() -> None:
    wins = calibrate.block_wins("copenhagen", 1, 0, 12)
    assert len(wins) == 6
    assert all(0 <= one <= 2 for one in wins)


def test_the_rating_of_a_person() -> None:
    rng = np.random.default_rng(0)
    true, games = 250.0, []
    for opponent in rng.choice([0.0, 200.0, 400.0], 200):
        won = rng.random() < 1 / (1 + 10 ** ((opponent - true) / 400))
        seat = int(rng.integers(2))
        ranks = [int(not won), int(won)] if seat == 0 else [int(won), int(not won)]
        ratings = [0.0, opponent] if seat == 0 else [opponent, 0.0]
        games.append((ratings, seat, ranks))
    estimate = own_rating(games)
    assert estimate is not None
    assert estimate.low < true < estimate.high
    assert estimate.games == 200
    assert abs(estimate.rating - true) < 80
    few = own_rating(games[:5])
    assert few is not None
    assert few.high - few.low > 2 * (estimate.high - estimate.low)
    assert own_rating([]) is None


def test_a_tie_is_half_a_win() -> None:
    won, tied, lost = (own_rating([([0.0, 0.0], 0, ranks)]) for ranks in ([0, 1], [0, 0], [1, 0]))
    assert won is not None
    assert tied is not None
    assert lost is not None
    assert won.rating > tied.rating > lost.rating
    half = own_rating([([0.0, 0.0], 0, [0, 1]), ([0.0, 0.0], 0, [1, 0])])
    assert half is not None
    assert tied.rating == pytest.approx(half.rating, abs=60)


def test_ranks_of_several_opponents_count() -> None:
    ratings = [0.0, 0.0, 0.0, 0.0]
    order = [own_rating([(ratings, 0, ranks)] * 10) for ranks in ([0, 1, 2, 3], [1, 0, 2, 3], [3, 0, 1, 2])]
    found = [one.rating for one in order if one is not None]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0 > found[2]
