"""The report on ratings and the command that writes it: numbers, figures, and the same bytes every time."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.cli.main import main
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.evaluation.rating.report import (
    budget_families,
    draw_budgets,
    draw_pairs,
    matchup_rating_data,
    rating_report_files,
    ratings_data,
    read_report,
    shorten_name,
)
from tests.support.rankings import simulate

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("same_workers")]

Output = pytest.CaptureFixture[str]

NAMES = ("random", "greedy", "mc:50", "mc:200", "net:runs/a-folder/with-a-long-name/checkpoint")
PROVENANCE = {
    "games": 1,
    "seed": 2,
    "environment": "helsinki_v0",
    "package": "0",
    "matchups": {"2 players": {"x": "y"}},
}
TINY = """
seed: 1
unit_games: 20
matchups:
  - {name: two, seats: 2, players: [random, greedy], games: 40}
  - {name: three, seats: 3, players: [random, greedy], games: 6}
"""


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("HELSINKI_DEBUG", raising=False)


def files(seed: int = 0) -> dict[Path, bytes]:
    tables = [
        simulate((0, 1, 2, 3, 2), np.zeros(seats), 12, np.random.default_rng(seats), names=NAMES) for seats in (2, 4)
    ]
    rated = [rate(table, resamples=200, seed=seed) for table in tables]
    return rating_report_files(ratings_data(rated, PROVENANCE, "helsinki rate X"), images="images")


def test_equal_games_and_seeds_give_equal_bytes() -> None:
    one = files()
    assert one == files()
    assert sorted(str(path) for path in one) == [
        "images/ladder-budgets.svg",
        "images/ladder-pairs-1.svg",
        "images/ladder-pairs-2.svg",
        "images/ladder-ratings.svg",
        "ladder.json",
        "ladder.md",
    ]
    other = files(seed=1)
    assert one[Path("ladder.json")] != other[Path("ladder.json")]
    assert one[Path("images/ladder-pairs-1.svg")] == other[Path("images/ladder-pairs-1.svg")]
    for path, content in one.items():
        if path.suffix == ".svg":
            assert content.startswith(b"<?xml")
            assert b"dc:date" not in content


def test_the_page_shows_what_the_data_say() -> None:
    written = files()
    page, data = written[Path("ladder.md")].decode(), json.loads(written[Path("ladder.json")])
    assert [table["seats"] for table in data["matchups"]] == [2, 4]
    two = data["matchups"][0]
    assert two["players"][-1]["player"] == two["reference"] == "random"
    assert [row["rank"] for row in two["players"]] == [1, 2, 3, 4, 5]
    ratings = [row["rating"] for row in two["players"]]
    assert ratings == sorted(ratings, reverse=True)
    for row in two["players"]:
        assert row["low"] <= row["rating"] <= row["high"]
        assert sum(row["rank_probabilities"]) == pytest.approx(1, abs=1e-4)
        assert f"| {row['rank']} | `{row['player']}` | {row['rating']:.0f} |" in page
    assert len(two["pairs"]) == 20
    assert sum(seat["effect"] for seat in two["seat_effects"]) == pytest.approx(0, abs=1e-4)
    assert "2 players, 240 games of 12 deals, x y." in page
    assert "the predicted score lies outside the measured 95% interval" in page
    for path in written:
        assert path.suffix == ".md" or path.as_posix() in page


def test_families_are_players_that_differ_in_a_budget() -> None:
    players = ("mc:200", "mc:50", "random", "net:3/x", "ismcts:100", "ismcts:100:wide", "ismcts:400:wide", "mc:x")
    assert budget_families(players) == {"ismcts:wide": [(100, 5), (400, 6)], "mc": [(50, 1), (200, 0)]}
    alone = simulate((0, 1), (0, 0), 5, np.random.default_rng(0), names=("random", "mc:50"))
    assert draw_budgets([matchup_rating_data(rate(alone, resamples=100))]) is None


def test_a_heat_map_needs_more_than_two_numbers() -> None:
    def of(players: int) -> dict[str, Any]:
        names = NAMES[:players]
        table = simulate((0, 1, 2)[:players], (0, 0), 6, np.random.default_rng(0), names=names)
        return matchup_rating_data(rate(table, resamples=100))

    assert draw_pairs(of(2)) is None
    three = of(3)
    assert draw_pairs(three) is not None
    for pair in three["pairs"]:  # as if two of them had never met
        if {pair["player"], pair["opponent"]} == {"random", "greedy"}:
            pair |= {"ahead": None, "games": 0}
    assert draw_pairs(three) is None


def test_long_names_are_shortened_in_the_middle() -> None:
    assert shorten_name("greedy") == "greedy"
    assert len(shorten_name(NAMES[-1])) == 30
    assert shorten_name(NAMES[-1]).startswith("net:runs/")
    assert shorten_name(NAMES[-1]).endswith("checkpoint")


@pytest.fixture(scope="module")
def folder(same_workers: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a small tournament was played and written up."""
    path = tmp_path_factory.mktemp("ladder")
    (path / "tiny.yaml").write_text(TINY)
    arguments = ["ladder", path / "tiny.yaml", "--run", path / "run", "--out", path / "docs" / "page.md"]
    assert main([str(argument) for argument in [*arguments, "--processes", 1, "--resamples", 100]]) == 0
    return path


def test_the_ladder_is_written_next_to_its_numbers(folder: Path) -> None:
    docs = folder / "docs"
    page, data = (docs / "page.md").read_text(), json.loads((docs / "page.json").read_text())
    assert "![Ratings](images/page-ratings.svg)" in page
    assert [path.name for path in (docs / "images").iterdir()] == ["page-ratings.svg"], "no heat map of two players"
    assert re.search(r"Of all pairings, `greedy` finished ahead of `random` in \d+.\d% \(\d", page)
    assert "[page.json](page.json)" in page
    assert data["provenance"]["seed"] == 1
    assert data["provenance"]["games"] == 40 + 2 * 6
    assert data["provenance"]["missing_games"] == 0
    assert [table["deals"] for table in data["matchups"]] == [20, 2]
    assert data["matchups"][0]["players"][0]["player"] == "greedy"


def test_a_page_elsewhere_is_replaced_only_when_told(folder: Path, capsys: Output) -> None:
    page = folder / "docs" / "page.md"
    before = page.read_bytes()
    words = [
        "ladder",
        str(folder / "tiny.yaml"),
        "--run",
        str(folder / "run"),
        "--processes",
        "1",
        "--resamples",
        "100",
    ]
    assert main([*words, "--out", str(page)]) == 2
    assert f"--out: found {page} there already, expected a new page; --overwrite replaces it" in capsys.readouterr().err
    assert page.read_bytes() == before
    assert main([*words, "--out", str(page), "--overwrite"]) == 0
    assert page.read_bytes() == before
    for _ in range(2):  # in the folder of the run it is its own
        assert main(words) == 0
    assert (folder / "run" / "ladder.md").is_file()


def test_a_page_is_made_again_from_its_numbers_alone(folder: Path, tmp_path: Path, capsys: Output) -> None:
    docs = folder / "docs"
    written = {path.relative_to(docs): path.read_bytes() for path in docs.rglob("*") if path.is_file()}
    shutil.copy(docs / "page.json", tmp_path)
    assert main(["ladder", "--from-json", str(tmp_path / "page.json")]) == 0
    assert {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == written
    (tmp_path / "page.json").write_text((tmp_path / "page.json").read_text().replace('"seed": 1', '"seed": 2'))
    assert main(["ladder", "--from-json", str(tmp_path / "page.json")]) == 2
    assert "page.json: digest: found '" in capsys.readouterr().err
    # of another report
    shutil.copy(Path(__file__).resolve().parent.parent / "docs" / "balance" / "balance.json", tmp_path)
    assert main(["ladder", "--from-json", str(tmp_path / "balance.json")]) == 2
    assert "balance.json: provenance.games: found" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    [
        "ladder",
        "ladder-copenhagen",
        *(pytest.param(f"ladder-{of}", marks=pytest.mark.nightly) for of in ("generations", "trained", "denied")),
    ],
)
def test_pages_follow_from_their_numbers_and_say_which_networks_played(name: str) -> None:
    docs = Path(__file__).resolve().parent.parent / "docs"
    data = read_report(docs / f"{name}.json")
    page = rating_report_files(data, name=name, images="images")[Path(f"{name}.md")].decode()
    assert page == (docs / f"{name}.md").read_text(encoding="utf-8")
    networks = data["provenance"].get("networks", {})
    players = {row["player"] for table in data["matchups"] for row in table["players"]}
    assert set(networks) == {player for player in players if player.startswith("net")}
    assert all(f"`{player}` `{digest}`" in page for player, digest in networks.items())


def test_rating_the_run_gives_the_same_numbers(folder: Path, capsys: Output) -> None:
    out = folder / "report"
    assert main(["rate", str(folder / "run"), "--out", str(out), "--resamples", "100"]) == 0
    shown = capsys.readouterr().out
    assert "two: 40 games of 20 deals" in shown
    assert "greedy" in shown
    assert "Elo points by seat: 0: " in shown
    data, page = (json.loads(path.read_text()) for path in (out / "ladder.json", folder / "docs" / "page.json"))
    assert data["matchups"] == page["matchups"]
    assert (out / "ladder-ratings.svg").exists()


def test_the_sequential_test_says_where_it_stopped(folder: Path, capsys: Output) -> None:
    arguments = ["rate", str(folder / "run"), "--better", "greedy,random", "--at-least", "20", "--unit", "points"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "two: greedy is better than random (50.0% or less against 70.0% or more of pairings ahead)" in shown
    assert "of 20 deals used" in shown
    assert "three: undecided so far: play more deals" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rate", "RUN", "--better", "greedy"], "--better: found 'greedy', expected two players, A,B"),
        (["rate", "RUN", "--better", "greedy,x"], "expected two players of one matchup (two: random, greedy; three:"),
        (["rate", "RUN", "--better", "greedy,random", "--at-most", "10"], "expected 0 < low < high < 1"),
        (["rate", "RUN", "--better", "greedy,random", "--out", "x"], "--out: found with --better"),
        (["rate", "RUN", "--reference", "x"], "reference: found 'x', expected one of random, greedy"),
        (["rate", "RUN/x"], "found no run"),
        (["ladder", "--out", "x.html"], "--out: found x.html, expected a file name that ends in .md"),
    ],
)
def test_wrong_requests_are_explained(arguments: list[str], message: str, folder: Path, capsys: Output) -> None:
    assert main([argument.replace("RUN", str(folder / "run")) for argument in arguments]) == 2
    assert message in capsys.readouterr().err
