"""Gauntlets: a player's rating on a fixed scale, its certificate, and changes to certificates."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.llm.usage import BUDGET_FOLDER
from helsinki_env.agents.registry import PlayerError, make_player
from helsinki_env.cli.main import main
from helsinki_env.data import with_digest
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.arena.plan import ArenaError, Plan
from helsinki_env.evaluation.arena.store import RunFolder, encode_results
from helsinki_env.evaluation.arena.work_unit import play_work_unit, schedule_games
from helsinki_env.evaluation.gauntlet import GauntletError
from helsinki_env.evaluation.gauntlet.certificate import (
    COUNTED_PREFIX,
    expected_opponent_scores,
    games_digest,
    gauntlet_results,
    make_certificate,
    read_certificate,
    read_unverified_certificate,
)
from helsinki_env.evaluation.gauntlet.gauntlet import (
    Gauntlet,
    ReferenceRatings,
    estimate_reference_ratings,
    reference_ratings_path,
)
from helsinki_env.evaluation.gauntlet.leaderboard import Leaderboard, certificate_row, opponents_table, rated_table
from helsinki_env.evaluation.rating.ratings import ELO
from helsinki_env.utils.files import write_json
from helsinki_env.utils.markdown import replace_section
from helsinki_env.utils.yaml_files import list_yaml
from tests.support.killed import killed_while_it_plays
from tests.support.models import completion, endpoint, last_choice

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.usefixtures("same_workers"),
    pytest.mark.skipif(not JIT, reason="says nothing more without the compiler, and takes long"),
]

ROOT = Path(__file__).resolve().parent.parent
#: Long enough for the busiest machine.
PATIENCE = 240.0
TINY = """
version: 3
seed: 7
unit_games: 4
stages: {quick: 3, full: 5}
zero: greedy
matchups:
  - name: two
    seats: 2
    opponents: [[random], [greedy]]
    reference: [{deals: 12, lineups: [[random, greedy]]}]
  - name: three, five covered
    seats: 3
    boards: {covered: [5, 5], denied: [0, 0]}
    opponents: [[random, greedy]]
    reference:
      - {deals: 4, lineups: [[random, random, greedy]]}
      - {deals: 3, lineups: [[random, greedy, greedy]]}
"""


def play_here(plan: Plan, folder: Path, most: int | None = None) -> None:
    """Play the missing work units of a run, or some of them, in this process."""
    with RunFolder.create(folder, plan) as run:
        for chunk in run.missing()[:most]:
            run.save(chunk, play_work_unit(plan.matchups[chunk.matchup], plan.seed, chunk))
        if not run.missing():
            run.join("parquet")


@pytest.fixture(scope="module")
def gauntlet(tmp_path_factory: pytest.TempPathFactory) -> Gauntlet:
    folder = tmp_path_factory.mktemp("gauntlet")
    (folder / "tiny.yaml").write_text(TINY)
    found = Gauntlet.from_yaml(folder / "tiny.yaml")
    play_here(found.reference, folder / "reference")
    write_json(
        reference_ratings_path(found),
        estimate_reference_ratings(found, folder / "reference", "helsinki evaluate reference"),
    )
    return found


@pytest.fixture(scope="module")
def pins(gauntlet: Gauntlet) -> ReferenceRatings:
    return ReferenceRatings.of(gauntlet)


@pytest.fixture(scope="module")
def rated(gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rated")
    play_here(gauntlet.plan(COUNTED_PREFIX + "heuristic", "quick"), folder)
    write_json(folder / "certificate.json", make_certificate(gauntlet, pins, "heuristic", "quick", folder))
    return folder / "certificate.json"


def read(path: Path) -> Any:
    return json.loads(path.read_text())


# what is played


@pytest.mark.nightly
def test_a_certificate_states_what_a_model_cost(
    gauntlet: Gauntlet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HELSINKI_LLM_CALLS", "50")
    monkeypatch.setenv(BUDGET_FOLDER, "")
    words = ["evaluate", "run", "llm:listed:small", "--gauntlet", str(gauntlet.path), "--processes", "2"]
    with endpoint(lambda body, number: completion(json.dumps({"action": last_choice(body)}))) as server:
        monkeypatch.setenv("HELSINKI_LLM_URL", server.url)
        assert main([*words, "--out", str(tmp_path / "run")]) == 0
        assert len(server.bodies) == 50
    measured = read(tmp_path / "run" / "certificate.json")["measured"]
    assert (measured["calls"], measured["prompt_tokens"], measured["completion_tokens"]) == (50, 5000, 500)
    assert measured["failed"] == measured["decisions"] - 50 - measured.get("reused", 0)
    expected = "llm:listed:small: legal actions listed; 50 calls, 5,000 prompt tokens, 500 completion tokens"
    assert expected in capsys.readouterr().out
    pins = ReferenceRatings.of(gauntlet)
    assert read_certificate(tmp_path / "run" / "certificate.json", gauntlet, pins)["measured"] == measured


def test_the_short_stage_is_the_beginning_of_the_full_one(
    gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path
) -> None:
    quick, full = (gauntlet.plan(COUNTED_PREFIX + "random", stage) for stage in gauntlet.stages)
    assert (quick.games, full.games) == (2 * 3 * 2 + 3 * 3, 2 * 5 * 2 + 5 * 3)
    assert quick.basis == full.basis
    play_here(quick, tmp_path)
    before = make_certificate(gauntlet, pins, "random", "quick", tmp_path)["certified"]
    play_here(full, tmp_path)
    after = make_certificate(gauntlet, pins, "random", "full", tmp_path)["certified"]
    assert after["rating"]["games"] == 35
    games = [[one["places"].split() for one in found["work_units"]] for found in (before, after)]
    flat = [list(chain.from_iterable(found)) for found in games]
    assert flat[0][:6] == flat[1][:6]


def test_the_player_meets_its_opponents_from_every_seat(gauntlet: Gauntlet) -> None:
    plan = gauntlet.plan("mine", "quick")
    assert [table.players for table in plan.matchups] == [("mine", "random", "greedy")] * 2
    assert [table.lineups for table in plan.matchups] == [((0, 1), (0, 2)), ((0, 1, 2),)]
    assert plan.seed == 7
    assert plan.matchups[1].boards is not None


@pytest.mark.parametrize("name", list_yaml("gauntlets"))
def test_shipped_gauntlets_have_their_opponents_ratings_and_networks(name: str) -> None:
    """The pinned ratings equal those of their file, and the networks are the bundled ones."""
    gauntlet = Gauntlet.from_yaml(name)
    gauntlet.check_networks()
    found = ReferenceRatings.of(gauntlet)
    networks = {"net:first", "net+search:100:first"}
    players = {"random", "greedy", "heuristic", "mc:100", "ismcts:100", *networks}
    assert {player for table in found.matchups.values() for player in table.players} == players
    assert set(found.matchups["2 players"].players) == players
    assert all(table.players["greedy"] == 0 and abs(sum(table.seats)) < 0.2 for table in found.matchups.values())
    assert found.data["games"] == gauntlet.reference.games
    assert found.data["command"].startswith("helsinki evaluate ")
    assert found.mean("random") < 0 < found.mean("heuristic") < min(map(found.mean, networks))
    page = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    assert replace_section(page, name) == opponents_table(gauntlet, found)
    for table in gauntlet.plan(COUNTED_PREFIX + "random", "full").matchups:
        for player in table.players:
            make_player(player, table.config)


@pytest.mark.parametrize("name", list_yaml("gauntlets"))
def test_rows_of_the_leaderboard_are_what_their_certificates_say(name: str) -> None:
    """Each of them fits together, is of this version's scale and of the network in the box, and has its row."""
    gauntlet = Gauntlet.from_yaml(name)
    pins = ReferenceRatings.of(gauntlet)
    page = Leaderboard(ROOT / "docs" / "leaderboard.md", gauntlet)
    for path in page.folder.glob("*.json"):
        player = json.loads(path.read_text(encoding="utf-8"))["certified"]["player"]
        assert path == page.file_of(player)
        read_unverified_certificate(path, gauntlet, pins, player)
    certificates, problems = page._certificates(pins)
    assert problems == []
    written = replace_section(page.path.read_text(encoding="utf-8"), f"{name}, rated")
    assert written == rated_table(pins, certificates.values())


def test_every_certificate_of_the_leaderboard_is_of_a_gauntlet() -> None:
    folder = ROOT / "docs" / "leaderboard"
    found = {path.relative_to(folder).parts[0] for path in folder.rglob("*") if path.is_file()}
    assert "helsinki" in found
    assert found <= set(list_yaml("gauntlets"))


@pytest.mark.nightly
@pytest.mark.parametrize("name", list_yaml("gauntlets"))
def test_opponents_decide_as_when_they_were_measured(name: str) -> None:
    """Whoever changes a player that is an opponent changes the scale: raise the version, and measure them anew.

    Networks are held by their digest; their sums differ from machine to machine.
    """
    gauntlet = Gauntlet.from_yaml(name)
    plan, expected, tried = gauntlet.reference, ReferenceRatings.of(gauntlet).data["first_work_units"], set[str]()
    for unit in plan.work_units:
        matchup = plan.matchups[unit.matchup]
        players = {matchup.players[i] for i in matchup.lineups[unit.lineup]}
        if unit.first == 0 and players - tried and not any(player.startswith("net") for player in players):
            tried |= players
            digest = hashlib.sha256(encode_results(play_work_unit(matchup, plan.seed, unit).played)).hexdigest()
            assert digest == expected[unit.name], f"{plan.describe(unit)}: {', '.join(sorted(players))}"
    assert tried == {"random", "greedy", "heuristic", "mc:100", "ismcts:100"}


def half_width(name: str, stage: str, planted: float, seed: int) -> float:
    """The median of five intervals: games as the model has them, by the pinned ratings and that of a planted player."""
    gauntlet = Gauntlet.from_yaml(name)
    pins, plan, rng = ReferenceRatings.of(gauntlet), gauntlet.plan("planted", stage), np.random.default_rng(seed)
    scheduled = [
        (chunk, schedule_games(plan.matchups[chunk.matchup], plan.seed, chunk).seating) for chunk in plan.work_units
    ]
    widths = []
    for _ in range(5):
        played = []
        for chunk, seating in scheduled:
            table = plan.matchups[chunk.matchup]
            fixed = pins.matchups[table.name]
            elo = np.array([planted, *(fixed.players[player] for player in table.players[1:])])[seating] + fixed.seats
            drawn = elo / ELO + rng.gumbel(size=seating.shape)
            played.append((chunk, (drawn[:, None, :] > drawn[:, :, None]).sum(axis=2)))
        rating = gauntlet_results(plan, pins, played)["rating"]
        widths.append((rating["high"] - rating["low"]) / 2)
    print(f"{name} {stage}, a player at {planted:.0f}: {np.median(widths):.1f} to either side")
    return float(np.median(widths))


@pytest.mark.parametrize("planted", [0.0, 250.0, 500.0])
@pytest.mark.parametrize(("stage", "most"), [("quick", 60.0), pytest.param("full", 25.0, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", list_yaml("gauntlets"))
def test_intervals_are_as_short_as_the_page_says(name: str, stage: str, most: float, planted: float) -> None:
    assert most / 4 < half_width(name, stage, planted, 18) < most


@pytest.mark.nightly
@pytest.mark.parametrize("planted", [-500.0, -800.0])
@pytest.mark.parametrize(("stage", "most"), [("quick", 60.0), ("full", 25.0)])
@pytest.mark.parametrize("name", list_yaml("gauntlets"))
def test_of_hopeless_players_little_is_known(name: str, stage: str, most: float, planted: float) -> None:
    """Their intervals are longer than the page promises of others, but there are some."""
    assert most < half_width(name, stage, planted, 18) < 4 * most


def test_another_network_is_refused(tmp_path: Path) -> None:
    text = TINY.replace("[[random], [greedy]]", "[[random], [net]]").replace(
        "[[random, greedy]]}", "[[net, greedy], [random, greedy]]}"
    )
    (tmp_path / "other.yaml").write_text(text + "networks: {net: 0123456789abcdef}\n")
    with pytest.raises(GauntletError, match="networks: found 0123456789abcdef for net"):
        Gauntlet.from_yaml(tmp_path / "other.yaml").check_networks()
    (tmp_path / "other.yaml").write_text(text)
    with pytest.raises(GauntletError, match=r'found None for net, .*; add networks: \{"net": \w{16}\}'):
        Gauntlet.from_yaml(tmp_path / "other.yaml").check_networks()


@pytest.mark.parametrize(
    ("found", "other", "message"),
    [
        ("version: 3", "version: 0", "version: found 0"),
        ("quick: 3", "1: 3", r"stages: found .*expected text as names, such as quick"),
        ("seed: 7", "seeds: 7", "seeds: no such key"),
        ("{quick: 3, full: 5}", "{quick: 1}", r"stages.quick: found 1"),
        ("[[random], [greedy]]", "[[random, greedy]]", r"matchups\[0\].opponents\[0\]: found .*expected a list of 1"),
        ("[[random, greedy]]}]", "[[random, random]]}]", r"matchups\[0\].reference: .*games of greedy, too"),
    ],
)
def test_a_file_that_is_none_is_refused(found: str, other: str, message: str, tmp_path: Path) -> None:
    assert found in TINY
    (tmp_path / "wrong.yaml").write_text(TINY.replace(found, other, 1))
    with pytest.raises(GauntletError, match=message):
        Gauntlet.from_yaml(tmp_path / "wrong.yaml")


def test_ratings_of_another_gauntlet_are_refused(gauntlet: Gauntlet, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY.replace("seed: 7", "seed: 8"))
    with pytest.raises(GauntletError, match="found no file"):
        ReferenceRatings.of(Gauntlet.from_yaml(tmp_path / "tiny.yaml"))
    (tmp_path / "tiny.json").write_text(reference_ratings_path(gauntlet).read_text())
    with pytest.raises(GauntletError, match=f"gauntlet: found '{gauntlet.digest}', expected"):
        ReferenceRatings.of(Gauntlet.from_yaml(tmp_path / "tiny.yaml"))
    changed = re.sub(r'"rating": 0.0', '"rating": 9.0', reference_ratings_path(gauntlet).read_text(), count=1)
    (tmp_path / "tiny.json").write_text(changed)
    with pytest.raises(GauntletError, match=r"digest: found .*changed after it was written"):
        ReferenceRatings.of(Gauntlet.from_yaml(tmp_path / "tiny.yaml"))


def test_ratings_of_other_rules_or_components_are_refused(gauntlet: Gauntlet, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    found = json.loads(reference_ratings_path(gauntlet).read_text())
    del found["digest"]
    components = HelsinkiConfig(components="alternative").digest
    for change, message in (
        ({"environment": "helsinki_v9"}, "environment: found 'helsinki_v9', expected '.*that of this version"),
        (
            {"matchups": found["matchups"] | {"two": found["matchups"]["two"] | {"game": components}}},
            rf"matchups.two.game: found '{components}', expected '.*measure them again",
        ),
    ):
        write_json(tmp_path / "tiny.json", with_digest(found | change))
        with pytest.raises(GauntletError, match=message):
            ReferenceRatings.of(Gauntlet.from_yaml(tmp_path / "tiny.yaml"))


# certificates


def test_a_certificate_says_what_was_played(rated: Path, gauntlet: Gauntlet, pins: ReferenceRatings) -> None:
    data = read(rated)
    certified, measured = data["certified"], data["measured"]
    assert (certified["player"], certified["stage"], certified["version"]) == ("heuristic", "quick", 3)
    assert certified["rating"]["games"] == 21
    assert certified["rating"]["low"] < certified["rating"]["rating"] < certified["rating"]["high"]
    mean = sum(table["rating"] for table in certified["matchups"]) / 2
    assert certified["rating"]["rating"] == pytest.approx(mean, abs=0.11)
    assert {one["opponent"]: one["meetings"] for one in certified["opponents"]} == {"random": 15, "greedy": 15}
    assert measured["decisions"] > 100
    assert measured["seconds_per_decision"] > 0
    assert [measured[kind] for kind in ("illegal", "late", "failed")] == [0, 0, 0]
    assert certificate_row(data).startswith("| `heuristic` | ")
    claim = read_unverified_certificate(rated, gauntlet, pins)
    assert claim.plan.games_of(claim.sample(10**9, 0)) == 21
    assert 10 <= claim.plan.games_of(claim.sample(10, 0)) <= 14
    assert claim.sample(10, 0) == claim.sample(10, 0)


Change = Callable[[dict[str, Any]], None]


def changed(rated: Path, folder: Path, change: Change) -> Path:
    """A changed certificate with a valid digest."""
    data = read(rated)
    certified = {key: value for key, value in data["certified"].items() if key != "digest"}
    change(certified)
    certified["games_digest"] = games_digest([one["sha256"] for one in certified["work_units"]])
    path = folder / "changed.json"
    write_json(path, {**data, "certified": with_digest(certified)})
    return path


def better(certified: dict[str, Any]) -> None:
    certified["rating"]["rating"] += 50.0


def other_places(certified: dict[str, Any]) -> None:
    chunk = certified["work_units"][0]
    chunk["places"] = chunk["places"].translate(str.maketrans("01", "10"))


def no_places(certified: dict[str, Any]) -> None:
    certified["work_units"][-1]["places"] = "000 " * 99


def impossible(certified: dict[str, Any]) -> None:
    chunk = certified["work_units"][0]
    chunk["places"] = chunk["places"].replace("0", "1")


def fewer(certified: dict[str, Any]) -> None:
    del certified["work_units"][0]


def another_player(certified: dict[str, Any]) -> None:
    certified["player_digest"] = "0" * 64


def another_stage(certified: dict[str, Any]) -> None:
    certified["stage"] = "full"


def another_scale(certified: dict[str, Any]) -> None:
    certified["pins_digest"] = "0" * 16


def a_program(certified: dict[str, Any]) -> None:
    certified["player"] = "program:rm -r important"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (better, r"certified.rating.rating: found "),
        (other_places, "according to the ranks"),
        (no_places, r"work_units\[\d+\].places: found "),
        (impossible, r"work_units\[0\].places: found .*expected for each seat the number of seats"),
        (fewer, r"certified.work_units: found .*expected a list of 6 work units"),
        (another_player, "player_digest: found '000.*name the rated player"),
        (another_stage, r"certified.work_units: found .*expected a list of"),
        (another_scale, "pins_digest: found '000.*use the version that made"),
    ],
)
def test_a_certificate_that_was_changed_is_refused(
    change: Change, message: str, rated: Path, gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path
) -> None:
    with pytest.raises(GauntletError, match=message):
        read_unverified_certificate(changed(rated, tmp_path, change), gauntlet, pins)


def test_code_that_a_certificate_names_is_run_only_if_the_user_trusts_it(
    rated: Path, gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path
) -> None:
    path = changed(rated, tmp_path, a_program)
    with pytest.raises(PlayerError, match=r"found the player 'program:rm -r important', .*--trust") as caught:
        read_unverified_certificate(path, gauntlet, pins)
    assert str(caught.value).startswith(f"{path}: ")
    assert read_unverified_certificate(path, gauntlet, pins, trust=True).player == "program:rm -r important"
    assert read_unverified_certificate(path, gauntlet, pins, "program:true").player == "program:true"


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"certified": 3}', '{"certified": {}, "other": 1}'])
def test_what_is_no_certificate_is_refused(
    content: str, gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path
) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(content)
    with pytest.raises(GauntletError, match=re.escape(str(path))):
        read_unverified_certificate(path, gauntlet, pins)


def test_without_its_seal_changed_a_certificate_is_refused_at_once(
    rated: Path, gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path
) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(rated.read_text().replace('"heuristic"', '"greedy"', 1))
    with pytest.raises(GauntletError, match=r"digest: found .*changed after it was written"):
        read_unverified_certificate(path, gauntlet, pins)


def test_a_run_that_is_not_finished_has_no_certificate(
    gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path
) -> None:
    play_here(gauntlet.plan(COUNTED_PREFIX + "random", "quick"), tmp_path, most=2)
    with pytest.raises(GauntletError, match="missing games, expected all"):
        make_certificate(gauntlet, pins, "random", "quick", tmp_path)


def test_how_much_can_be_changed_and_be_missed(rated: Path, gauntlet: Gauntlet) -> None:
    claim = read_unverified_certificate(rated, gauntlet, ReferenceRatings.of(gauntlet))
    every = len(claim.plan.work_units)
    for drawn in range(1, every + 1):
        draws = list(combinations(range(every), drawn))
        for level in (0.5, 0.95):
            shares = np.cumsum([0, *sorted(map(claim.plan.games_of, zip(claim.plan.work_units)), reverse=True)]) / 21
            (most,) = np.flatnonzero(np.isclose(shares, claim.undetected_fraction(drawn, level)))
            missed = [np.mean([min(draw) >= changed for draw in draws]) for changed in range(every + 1)]
            assert missed[most] > 1 - level
            assert all(share <= 1 - level for share in missed[most + 1 :])
    assert claim.undetected_fraction(every) == 0


# the command


def test_the_command_rates_and_verifies(
    rated: Path, gauntlet: Gauntlet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verify, options = ["evaluate", "verify"], ["--gauntlet", str(gauntlet.path), "--processes", "1"]
    out = tmp_path / "run"
    assert main(["evaluate", "run", "heuristic", *options, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "| `heuristic` | " in shown
    assert "expected from its rating" in shown
    assert "no intervals from fewer than 8 deals" in shown
    assert not re.search(r"% \(\d", shown), "three deals say nothing about a share"
    assert re.search(r"^heuristic: -?\d+, mean over the matchups", shown, re.MULTILINE)
    assert read(out / "certificate.json")["certified"] == read(rated)["certified"], "whoever plays it, and how"
    assert main([*verify, str(rated), *options, "--games", "12", "--seed", "1"]) == 0
    told = capsys.readouterr().out
    assert "of 21 games replayed with --seed 1: the same" in told
    assert "95%" not in told, "whoever made it may have known that seed"
    assert main([*verify, str(rated), *options, "--games", "1"]) == 0
    share = read_unverified_certificate(rated, gauntlet, ReferenceRatings.of(gauntlet)).undetected_fraction(1)
    assert (
        f"at most {share:.1%} of the games are modified (95% confidence); --games 21 replays" in capsys.readouterr().out
    )
    assert main([*verify, str(rated), *options, "--games", "21"]) == 0
    assert "95%" not in capsys.readouterr().out, "all were played again"

    def other_games(certified: dict[str, Any]) -> None:
        for chunk in certified["work_units"]:
            chunk["sha256"] = "0" * 64

    for name, message in (("", "--player: found '', expected a value"), (" ", "as the player, expected a name")):
        assert main([*verify, str(changed(rated, tmp_path, a_program)), name, *options]) == 2
        assert message in capsys.readouterr().err  # as of a shell's variable that is not set
    assert main([*verify, str(rated), "nobody", *options]) == 2
    assert capsys.readouterr().err.startswith("helsinki evaluate: player 'nobody': found an unknown name, expected")
    forged = changed(rated, tmp_path, other_games)
    assert main([*verify, str(forged), *options]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"helsinki evaluate: {forged}: work unit ")
    assert "found other games in the replay, expected those of the certificate" in shown
    assert main([*verify, str(rated), "greedy", *options]) == 2
    assert "found other games in the replay" in capsys.readouterr().err


def test_verify_reads_the_bundled_gauntlet_that_a_certificate_names(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "docs" / "leaderboard" / "copenhagen" / "net.json"
    assert main(["evaluate", "verify", str(path), "greedy"]) == 2
    assert "that of 'greedy' (name the rated player)" in capsys.readouterr().err  # the gauntlet itself was accepted


def test_what_a_rating_expects_of_each_opponent(gauntlet: Gauntlet, pins: ReferenceRatings) -> None:
    plan = gauntlet.plan(COUNTED_PREFIX + "heuristic", "quick")
    at_zero, ahead = (expected_opponent_scores(plan, pins, [elo, elo]) for elo in (0.0, 4000.0))
    assert set(at_zero) == {"random", "greedy"}
    assert all(share > 0.999 for share in ahead.values())
    assert at_zero["greedy"] == pytest.approx(0.5, abs=0.02), "greedy has 0 points too; seats are met equally often"
    two = pins.matchups["two"]
    difference = -two.players["random"]
    only_two = replace(plan, matchups=plan.matchups[:1])
    chances = [1 / (1 + 10 ** (-(difference + sign * (two.seats[0] - two.seats[1])) / 400)) for sign in (1, -1)]
    assert expected_opponent_scores(only_two, pins, [0.0])["random"] == pytest.approx(np.mean(chances))


PAGE = "# Players\n\n<!-- written: tiny, rated -->\n<!-- end: tiny, rated -->\nThe end.\n"


@pytest.mark.nightly
def test_the_command_puts_players_on_a_page(
    rated: Path, gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each player has one row, the strongest first, and a certificate next to the page."""
    page = tmp_path / "players.md"
    page.write_text(PAGE)
    words = ["evaluate", "run", "--gauntlet", str(gauntlet.path), "--processes", "1", "--write", str(page)]
    assert main([*words, "random", "--out", str(tmp_path / "random")]) == 0
    assert main([*words, "heuristic", "--out", str(tmp_path / "heuristic")]) == 0
    assert f"{tmp_path / 'players' / 'tiny' / 'heuristic.json'}, {page}" in capsys.readouterr().out
    kept = read(tmp_path / "players" / "tiny" / "heuristic.json")
    assert kept == read(tmp_path / "heuristic" / "certificate.json")
    lines = page.read_text().splitlines()
    assert lines[:3] + lines[-2:] == [*PAGE.splitlines()[:3], *PAGE.splitlines()[-2:]]
    head, _, first, second = lines[3:-2]
    assert head.startswith("| player | rating | ")
    assert (first, second[:12]) == (certificate_row(kept), "| `random` |")
    assert main([*words, "heuristic", "--stage", "full", "--out", str(tmp_path / "heuristic")]) == 0
    written = page.read_text()
    assert [line.count(", full") for line in written.splitlines()[5:-2]] == [1, 0], "in place of the former"
    capsys.readouterr()
    assert main([*words, "heuristic", "--out", str(tmp_path / "again")]) == 2
    assert re.search(r"rating.games: found \d+, expected at most the 21 of this stage", capsys.readouterr().err)
    assert (page.read_text(), (tmp_path / "again").exists()) == (written, False)


Forged = dict[str, Any]


def aged(certified: Forged) -> None:
    certified["version"] = 2


def boasting(certified: Forged) -> None:
    certified["rating"]["rating"] = 9999.0


def hidden(certified: Forged) -> None:
    certified["stage"] = "quick |\n<!-- end: tiny, rated -->\n<script>"


def nobody(certified: Forged) -> None:
    certified["player"] = 7


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("greedy.json", None, r"player: found 'heuristic'"),
        ("greedy.json", "{", r"cannot be read as JSON.*move the file away first"),
        ("other.json", "{", r"cannot be read as JSON.*; remove other.json, then rate that player again"),
        ("other.json", aged, r"version: found 2"),
        ("other.json", boasting, r"rating.rating: found 9999.0"),
        ("other.json", hidden, r"stage: found 'quick .*expected one of quick, full.*; remove other.json"),
        ("other.json", nobody, r"player: found 7"),
    ],
)
def test_a_certificate_that_is_in_the_way_is_named_before_anything_is_played(
    name: str,
    change: Any,
    message: str,
    rated: Path,
    gauntlet: Gauntlet,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page, folder, run = tmp_path / "players.md", tmp_path / "players" / "tiny", tmp_path / "run"
    page.write_text(PAGE)
    folder.mkdir(parents=True)
    if isinstance(change, str):
        (folder / name).write_text(change)
    elif change is None:
        (folder / name).write_bytes(rated.read_bytes())
    else:
        changed(rated, tmp_path, change).rename(folder / name)
    words = ["evaluate", "run", "greedy", "--gauntlet", str(gauntlet.path), "--write", str(page), "--out", str(run)]
    assert main(words) == 2
    assert re.search(message, capsys.readouterr().err)
    assert (page.read_text(), run.exists()) == (PAGE, False)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            PAGE.replace("<!-- end", "| player |\n| --- |\n| `mine` | 900 |\n<!-- end"),
            r"'\| `mine` \| 900 \|'.* without a certificate",
        ),
        (PAGE.replace("end: tiny", "end: small"), "expected the lines"),
        ("\xff", "found text that is not UTF-8"),
    ],
)
def test_a_page_that_cannot_be_written_to_stays_as_it_is(
    written: str, message: str, gauntlet: Gauntlet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "players.md"
    page.write_bytes(written.encode("latin-1"))
    words = ["evaluate", "run", "greedy", "--gauntlet", str(gauntlet.path), "--out", str(tmp_path / "run")]
    assert main([*words, "--write", str(page)]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert page.read_bytes() == written.encode("latin-1")
    (tmp_path / "players").write_bytes(page.read_bytes())
    assert main([*words, "--write", str(tmp_path / "players")]) == 2
    assert "expected a file name with an extension" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_page_keeps_its_line_ends_and_a_link_leads_to_its_certificates(
    rated: Path, gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path
) -> None:
    page, link = tmp_path / "players.md", tmp_path / "elsewhere" / "link.md"
    page.write_bytes(PAGE.removesuffix("The end.\n").rstrip("\n").replace("\n", "\r\n").encode())
    link.parent.mkdir()
    link.symlink_to(page)
    path = Leaderboard(link, gauntlet).write_rated(pins, read(rated))
    assert path == tmp_path / "players" / "tiny" / "heuristic.json"
    assert [entry.name for entry in path.parent.iterdir()] == ["heuristic.json"]
    assert link.is_symlink()
    lines = page.read_bytes().split(b"\r\n")
    assert not any(b"\n" in line for line in lines)
    assert lines[5].decode() == certificate_row(read(rated))


def test_rows_of_a_former_scale_go_with_the_scale(
    rated: Path, gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path
) -> None:
    (tmp_path / "players.md").write_text(
        PAGE.replace("<!-- written", "<!-- written: tiny -->\n<!-- end: tiny -->\n<!-- written")
    )
    page = Leaderboard(tmp_path / "players.md", gauntlet)
    page.write_rated(pins, read(rated))
    assert page.write_opponents_table(pins) == []
    assert certificate_row(read(rated)) in page.path.read_text()
    changed(rated, tmp_path, aged).rename(page.file_of("heuristic"))
    (problem,) = page.write_opponents_table(pins)
    assert "version: found 2, expected 3" in problem
    assert certificate_row(read(rated)) not in page.path.read_text()
    assert replace_section(page.path.read_text(), "tiny") == opponents_table(gauntlet, pins)


def test_a_player_that_changes_while_it_plays_gets_no_certificate(
    gauntlet: Gauntlet, pins: ReferenceRatings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = tmp_path / "changing_bot.py"
    bot.write_text(
        "class Bot:\n    name = 'bot'\n    def act(self, observation, mask, words):\n        return mask.argmax(1)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    play_here(gauntlet.plan(COUNTED_PREFIX + "changing_bot:Bot", "quick"), tmp_path / "run")
    assert make_certificate(gauntlet, pins, "changing_bot:Bot", "quick", tmp_path / "run")["certified"]["player_digest"]
    bot.write_text(bot.read_text() + "# better now\n")
    with pytest.raises(GauntletError, match=r"digest \w{16}, expected \w{16} as at the start"):
        make_certificate(gauntlet, pins, "changing_bot:Bot", "quick", tmp_path / "run")


@pytest.mark.nightly
def test_on_a_cluster_the_certificate_is_the_same(rated: Path, gauntlet: Gauntlet, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra ray")
    words = [
        "evaluate",
        "run",
        "heuristic",
        "--gauntlet",
        str(gauntlet.path),
        "--out",
        str(tmp_path),
        "--processes",
        "2",
    ]
    assert main([*words, "--ray"]) == 0
    assert read(tmp_path / "certificate.json")["certified"] == read(rated)["certified"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "heuristic", "--stage", "slow"], "stage: found 'slow'"),
        (["run", "heuristic", "--write", "no-such-page.md"], "--write: no-such-page.md: found no file, expected"),
        (["reference", "--write", "no-such-page.md"], "--write: no-such-page.md: found no file"),
        (["reference", "--write", str(ROOT / "README.md")], "README.md: found no section 'tiny'"),
        (["run", "gr\udcffedy"], "player 'gr\\udcffedy': found bytes that are not UTF-8"),
        (
            ["run", "heuristic", "--write", str(ROOT / "README.md")],
            "expected the lines '<!-- written: tiny, rated -->'",
        ),
        (["run", "nobody"], "player 'nobody': found an unknown name"),
    ],
)
def test_what_is_asked_wrongly(
    words: list[str], message: str, gauntlet: Gauntlet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *words, "--gauntlet", str(gauntlet.path), "--out", str(tmp_path / "run")]) == 2
    assert message in capsys.readouterr().err


def test_another_player_in_the_same_folder_is_refused(rated: Path, gauntlet: Gauntlet) -> None:
    with (
        pytest.raises(ArenaError, match="as for the earlier results"),
        RunFolder.create(rated.parent, gauntlet.plan(COUNTED_PREFIX + "greedy", "quick")),
    ):
        pass


def test_another_players_folder_is_explained_without_the_prefix(
    rated: Path, gauntlet: Gauntlet, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evaluate", "run", "greedy", "--gauntlet", str(gauntlet.path), "--out", str(rated.parent)]
    assert main([*words, "--processes", "1"]) == 2
    shown = capsys.readouterr().err
    assert "as for the earlier results" in shown
    assert "found 'greedy', expected 'heuristic'" in shown


BOT = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    time.sleep(0.002)
    print(json.dumps({"action": message["legal"][0]} if message["type"] == "decide" else {}), flush=True)
"""


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bot") / "bot.py"
    path.write_text(BOT)
    return shlex.join([sys.executable, str(path)])


def start(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "helsinki_env.cli.main", *words],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def played(words: list[str], out: Path) -> tuple[bytes, Any]:
    """Let a command play to its end, and return the games and what the certificate says of them."""
    with start(words) as process:
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return (out / "games.parquet").read_bytes(), read(out / "certificate.json")["certified"]


@pytest.mark.nightly
def test_a_reference_that_is_killed_goes_on_to_the_same_ratings(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)
    command = ["evaluate", "reference", "--gauntlet", str(path), "--out"]
    assert main([*command, str(tmp_path / "whole")]) == 0
    pinned = path.with_suffix(".json").read_bytes()
    path.with_suffix(".json").unlink()
    killed_while_it_plays([*command, str(tmp_path / "killed")], tmp_path / "killed")
    assert not path.with_suffix(".json").exists()
    assert main([*command, str(tmp_path / "killed")]) == 0
    assert path.with_suffix(".json").read_bytes() == pinned


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform == "win32", reason="programs can be players on Linux and macOS only")
def test_stopped_runs_of_a_program_go_on_to_the_same_bytes(gauntlet: Gauntlet, bot: str, tmp_path: Path) -> None:
    """Send real signals: Ctrl-C to the whole process group, and SIGKILL."""

    def words(out: Path) -> list[str]:
        tail = ["--gauntlet", str(gauntlet.path), "--out", str(out), "--processes", "2"]
        return ["evaluate", "run", f"program:{bot}", *tail]

    whole = played(words(tmp_path / "whole"), tmp_path / "whole")
    assert whole[1]["player_digest"] is not None
    for number, status in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        out = tmp_path / number.name
        with start(words(out)) as process:
            until = time.monotonic() + PATIENCE
            while len(list((out / "work_units").glob("*.games"))) < 2:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < until
                time.sleep(0.01)
            if number == signal.SIGINT:
                os.killpg(process.pid, number)
            else:
                process.kill()
            _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == status, errors
        assert not (out / "certificate.json").exists()
        if number == signal.SIGINT:
            line = errors.splitlines()[-1]
            assert re.search(r"helsinki evaluate: interrupted: \d+ of 21 games saved in ", line)
            assert shlex.split(line.partition(" resume with: ")[2]) == ["helsinki", *words(out)]
        assert played(words(out), out) == whole
