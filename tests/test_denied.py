"""The marginal effects of actions, from simulated games whose true effects are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from helsinki_env import HelsinkiConfig
from helsinki_env.cli.main import main
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.evaluation.balance.denied import ablation_effects, ablation_report_files
from helsinki_env.evaluation.rating import RatingError

#: Of the two that are denied: the one that is worth something, and one that is not.
GOOD, IDLE = 14, 5
SEATS = 2
PROVENANCE = {
    "environment": "copenhagen_v0",
    "package": "0.1.0",
    "seed": 3,
    "plan": "0123456789abcdef",
    "command": "helsinki balance effects runs/some",
}


def made_up(deals: int, covered: float = 0.0, seed: int = 0) -> MatchupGames:
    """Return games in which who is denied `GOOD` has odds of one to e; in a part of the deals it is covered for all.

    Where it is covered the sets of the seats hold it all the same, as sets are drawn without looking.
    """
    rng = np.random.default_rng(seed)
    games = deals * SEATS
    deal = np.repeat(np.arange(deals), SEATS)
    own = rng.random((deals, SEATS, 2)) < 0.5
    rotation = (np.arange(SEATS)[None, :] + np.arange(SEATS)[:, None]) % SEATS
    sets = own[:, rotation].reshape(games, SEATS, 2)
    barred = np.repeat(rng.random(deals) < covered, SEATS)
    lost = sets[..., 0] & ~barred[:, None]
    places = (rng.gumbel(size=(games, SEATS)) - lost).argsort(axis=1)[:, ::-1].argsort(axis=1)
    could = ~sets & ~np.stack([barred, np.zeros_like(barred)], axis=1)[:, None]
    return MatchupGames(
        name="made up",
        config=HelsinkiConfig(num_players=SEATS),
        players=("one",),
        seating=np.zeros((games, SEATS), np.int64),
        block=deal,
        deal=deal,
        places=places.astype(np.int8),
        scores=(10 - 2 * places).astype(np.int16),
        rounds=np.full(games, 15, np.int16),
        covered=(barred * (1 << GOOD)).astype(np.int16),
        denied=(sets @ np.array([1 << GOOD, 1 << IDLE])).astype(np.int16),
        used=(could @ np.array([1 << GOOD, 1 << IDLE])).astype(np.int16),
    )


def stacked(tables: list[MatchupGames]) -> MatchupGames:
    """Return line-ups that played the same deals as one table."""
    names = ("seating", "deal", "places", "scores", "rounds", "covered", "denied", "used")
    columns: dict[str, Any] = {name: np.concatenate([getattr(table, name) for table in tables]) for name in names}
    block = np.concatenate([table.block + 1_000_000 * i for i, table in enumerate(tables)])
    return replace(tables[0], block=block, **columns)


def test_what_is_worth_something_stands_out_and_the_rest_does_not() -> None:
    idle, good = ablation_effects(made_up(2000))
    assert (idle.name, good.name) == ("move_1_to_5", "two_points")
    assert good.power[1] > 10  # the half of tanh(1/2) is 23 games of a hundred
    assert good.power[1] < 100 * (1 / (1 + np.exp(-1)) - 0.5) < good.power[2]
    assert idle.power[1] < 0 < idle.power[2]
    assert idle.points[1] < 0 < idle.points[2]
    assert good.points[1] > 0


def test_line_ups_with_the_same_deals_count_once() -> None:
    one = made_up(300)
    alone, thrice = ablation_effects(one)[1], ablation_effects(stacked([one, one, one]))[1]
    assert thrice.power[0] == pytest.approx(alone.power[0], abs=0.3)  # but for a little that draws towards zero
    for single, several in ((alone.power, thrice.power), (alone.points, thrice.points)):
        assert several[2] - several[1] == pytest.approx(single[2] - single[1], rel=0.02)


def test_what_is_covered_for_all_is_denied_to_nobody() -> None:
    half = made_up(4000, covered=0.5)
    good = ablation_effects(half)[1]
    assert good.denied == int(((half.denied >> GOOD & 1) & ~(half.covered >> GOOD & 1)[:, None]).sum())
    assert good.used == 1.0, "whoever could use it did"
    assert good.power[1] < 100 * (1 / (1 + np.exp(-1)) - 0.5) < good.power[2]


def test_tables_without_games_are_left_out_and_unfinished_ones_say_so() -> None:
    table = replace(made_up(200), missing=100)
    names = ("seating", "block", "deal", "places", "scores", "rounds", "covered", "denied", "used")
    empty: dict[str, Any] = {name: getattr(table, name)[:0] for name in names}
    nothing = replace(table, name="not yet", missing=900, **empty)
    files, data = ablation_report_files([table, nothing], "denied", "Worth", PROVENANCE)
    page = files[Path("denied.md")].decode()
    assert data["provenance"] == PROVENANCE
    assert list(data["tables"]) == ["made up"]
    assert "400 games with seed 3, plan `0123456789abcdef`; copenhagen_v0, helsinki-env 0.1.0. Made by" in page
    assert "\n    helsinki balance effects runs/some\n" in page
    assert "400 games, `one` in all seats; 100 more are planned and not played yet." in page
    assert "not yet" not in page
    with pytest.raises(RatingError, match=r"table 'not yet': found no games yet"):
        ablation_report_files([nothing], "denied", "Worth", PROVENANCE)


def test_the_command_says_which_games_it_tells_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {
        "seed": 5,
        "tables": [
            {
                "name": "two at random",
                "game": {"game": "copenhagen", "num_players": 2},
                "games": 120,
                "players": ["random"],
                "boards": {"denied": [0, 3]},
            }
        ],
    }
    (tmp_path / "asked.yaml").write_text(yaml.safe_dump(asked))
    run, page = tmp_path / "run", tmp_path / "page.md"
    assert main(["arena", str(tmp_path / "asked.yaml"), "--out", str(run), "--processes", "1"]) == 0
    assert main(["balance", "effects", str(run), "--out", str(page), "--title", "What it costs"]) == 0
    assert f"Wrote {page}" in capsys.readouterr().out
    told = json.loads(page.with_suffix(".json").read_text())
    plan = RunFolder.open(run).plan
    assert told["provenance"]["seed"] == 5
    assert told["provenance"]["plan"] == plan.digest
    assert told["tables"]["two at random"]["games"] == 120
    text = page.read_text()
    assert text.startswith("# What it costs\n\n120 games with seed 5, ")
    assert f"helsinki balance effects {run} --out {page} --title 'What it costs'" in text
    assert (tmp_path / "images" / "page.svg").is_file()


def test_games_in_which_nothing_is_denied_tell_nothing() -> None:
    table = made_up(50)
    with pytest.raises(RatingError, match="found nothing denied to any seat"):
        ablation_effects(replace(table, denied=np.zeros_like(table.denied)))
    everywhere = np.full(len(table), 1 << GOOD | 1 << IDLE, np.int16)
    with pytest.raises(RatingError, match="found nothing denied to any seat"):
        ablation_effects(replace(table, covered=everywhere))
