"""Networks with other component files than those of their training: one warning, and none elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.analysis import analysis_inputs, analyze
from helsinki_env.agents.net import description as network_file
from helsinki_env.agents.net.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from helsinki_env.agents.net.description import COMPONENTS_KEY, UnmeasuredComponentsWarning, measured_components
from helsinki_env.agents.net.make import bundled_network, bundled_networks
from helsinki_env.agents.registry import make_player
from helsinki_env.cli.main import main
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.evaluation.match import play_match
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.records import Record
from helsinki_env.utils.yaml_files import configs_folder, list_yaml
from helsinki_env.web.player_workers import PlayerPool
from tests.support.networks import saved, untrained
from tests.support.server import Server

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")

ROOT = configs_folder().parent
#: Long enough for the busiest machine.
PATIENCE = 240.0


@pytest.fixture(autouse=True)
def nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every test begin as a process does, which warns once."""
    monkeypatch.setattr(network_file, "_warned", False)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A component file of one's own: another number in the one that is shipped."""
    path = tmp_path_factory.mktemp("components") / "mine.yaml"
    usual = (configs_folder() / "components" / "default.yaml").read_text()
    assert usual.count("points_row: 2 ") == 1
    path.write_text(usual.replace("points_row: 2 ", "points_row: 3 "))
    return path


@pytest.fixture
def said() -> Iterator[list[str]]:
    """What is warned of in a test, however often."""
    with pytest.MonkeyPatch.context() as patch:
        found: list[str] = []
        patch.setattr(network_file, "_handler", found.append)
        yield found


def shipped_components() -> list[Any]:
    """Every shipped component file with every network that can play with it."""
    found = []
    for game in ("helsinki", "copenhagen"):
        for name in list_yaml("components"):
            try:
                config = spec_by_name(game).config(components=name)
            except ValueError:  # of another game
                continue
            found.append(config)
    return found


@pytest.mark.parametrize("config", shipped_components(), ids=lambda config: config.components)
def test_the_network_in_the_box_was_measured_with_every_shipped_file_that_it_can_play_with(config: Any) -> None:
    if config.components == "alternative":
        with pytest.raises(CheckpointError, match="card types"):
            make_player("net", config)
    else:
        make_player("net", config)  # warnings are errors here


@pytest.mark.parametrize("config", [HelsinkiConfig(), CopenhagenConfig()], ids=["helsinki", "copenhagen"])
def test_what_was_measured_is_stated_by_what_the_files_hold_now(config: Any) -> None:
    alternatives = list_yaml("components/alternatives")
    for path in bundled_networks(config).values():
        known = measured_components(path, load_checkpoint(path)[1])
        assert config.components in known
        for name, digest in known.items():
            components = f"alternatives/{name}" if name in alternatives else name
            assert type(config)(components=components).component_set.digest == digest, (
                f"{path} beside {name}: measure it again"
            )


def test_another_name_for_the_same_components_is_no_other_file(tmp_path: Path) -> None:
    other = tmp_path / "other_name.yaml"
    other.write_bytes((configs_folder() / "components" / "default.yaml").read_bytes())
    play_match(["net", "net:first"], HelsinkiConfig(components=other), games=2)


@pytest.mark.thorough
def test_a_match_with_components_of_ones_own_warns_once(mine: Path) -> None:
    config = HelsinkiConfig(components=mine)
    with pytest.warns(UnmeasuredComponentsWarning, match="^net: .*mine.yaml.*docs/model-card.md lists") as found:
        play_match(["net", "net:two_players"], config, games=2)
    assert len(found) == 1
    play_match(["net:first", "random"], config, games=2)  # no other warning: it would be an error


@pytest.mark.parametrize(
    "name", ["net", "net:first", "net:two_players", "net:varied", "net+search:1", "net+search:1:two_players"]
)
def test_every_network_warns(name: str, mine: Path, said: list[str]) -> None:
    make_player(name)
    assert said == []
    make_player(name, HelsinkiConfig(components=mine))
    (text,) = said
    assert text.startswith(f"{name}: neither trained nor measured with components")


def test_players_without_a_network_do_not_warn(mine: Path) -> None:
    for name in ("random", "greedy", "heuristic", "mc:1", "ismcts:1"):
        make_player(name, HelsinkiConfig(components=mine))


def test_an_analysis_warns(mine: Path) -> None:
    config = HelsinkiConfig(components=mine)
    record = Record(config=config, seed=1, players=("a", "b"), decisions=())
    with pytest.warns(UnmeasuredComponentsWarning) as found:
        analyze(record)
    assert len(found) == 1


def test_where_a_filter_makes_errors_of_warnings_it_is_one_every_time(mine: Path) -> None:
    for _ in range(2):
        with pytest.raises(UnmeasuredComponentsWarning):
            make_player("net", HelsinkiConfig(components=mine))


# networks of one's own


def test_a_network_counts_as_measured_with_what_it_was_trained_with(
    tmp_path: Path, mine: Path, said: list[str]
) -> None:
    path = saved(tmp_path / "mine.safetensors", untrained(str(mine)), str(mine))
    assert load_checkpoint(path)[1][COMPONENTS_KEY] == {"mine": HelsinkiConfig(components=mine).component_set.digest}
    make_player(f"net:{path}", HelsinkiConfig(components=mine))
    assert said == []
    make_player(f"net:{path}")
    assert len(said) == 1


def test_a_file_next_to_a_network_states_what_it_was_measured_with(tmp_path: Path, mine: Path, said: list[str]) -> None:
    path = saved(tmp_path / "best.safetensors", untrained())
    beside = tmp_path / "best.measured.yaml"
    beside.write_text(f'components: {{mine: "{HelsinkiConfig(components=mine).component_set.digest}"}}\n')
    for components in ("default", mine):
        make_player(f"net:{tmp_path}", HelsinkiConfig(components=components))
        make_player(f"net:{path}", HelsinkiConfig(components=components))
    assert said == []
    make_player(f"net:{path}", HelsinkiConfig(components="other_shapes"))
    assert len(said) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("components: {mine: 4807}\n", "components.mine: found 4807, expected 16 hexadecimal digits in quotes"),
        ("components: {mine: other_shapes}\n", "components.mine: found 'other_shapes', expected 16 hexadecimal"),
        ("components: [mine]\n", "components: found .*, expected a mapping"),
        ("component: {}\n", "component: no such key"),
    ],
)
def test_a_file_next_to_a_network_holds_digests(text: str, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "best.safetensors", untrained())
    (tmp_path / "best.measured.yaml").write_text(text)
    with pytest.raises(CheckpointError, match=f"best.measured.yaml: {message}"):
        make_player(f"net:{path}")


def test_a_description_from_before_there_were_digests_names_its_file(tmp_path: Path, said: list[str]) -> None:
    path = tmp_path / "first.safetensors"
    path.write_bytes(bundled_networks()["first"].read_bytes())
    assert COMPONENTS_KEY not in load_checkpoint(path)[1]
    make_player(f"net:{path}")
    assert said == []
    make_player(f"net:{path}", HelsinkiConfig(components="other_shapes"))
    assert len(said) == 1


def test_a_copy_of_a_network_in_a_file_of_its_own_keeps_what_was_measured(tmp_path: Path, said: list[str]) -> None:
    network, description = load_checkpoint(bundled_network())
    known = measured_components(bundled_network(), description)
    copy = save_checkpoint(tmp_path / "copy.safetensors", network, description | {COMPONENTS_KEY: known})
    assert measured_components(copy, load_checkpoint(copy)[1]) == known
    make_player(f"net:{copy}", HelsinkiConfig(components="other_shapes"))
    assert said == []


# processes


@pytest.mark.thorough
def test_players_in_processes_of_their_own_warn_through_the_process_that_asks(mine: Path) -> None:
    config = HelsinkiConfig(components=mine)

    async def ask() -> None:
        record, thinkers = Record(config=config, seed=1, players=("a", "b"), decisions=(0,)), PlayerPool()
        try:
            first = analysis_inputs(record)
            both = (thinkers.evaluate(config, "net", *first), thinkers.evaluate(config, "net:first", *first))
            await asyncio.gather(*both)
        finally:
            thinkers.close()

    with pytest.warns(UnmeasuredComponentsWarning) as found:
        asyncio.run(ask())
    assert len(found) == 1


def told(*words: str, folder: Path) -> list[str]:
    """Run a command; return the lines of its error stream that warn."""
    done = subprocess.run(
        [sys.executable, "-m", "helsinki_env.cli.main", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if "arning" in line]


@pytest.mark.nightly
@pytest.mark.parametrize("players", ["net,net:first", "net,net+search:1"])
def test_simulate_says_it_in_a_line(
    players: str, mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("simulate", "--players", players, "--games", "2")
    assert main([*words]) == 0
    assert "arning" not in capsys.readouterr().err
    (line,) = told(*words, "--components", str(mine), folder=tmp_path)
    assert line.startswith("helsinki simulate: warning: net: neither trained nor measured with components")


GAUNTLET = """
version: 1
seed: 7
unit_games: 4
stages: {quick: 2}
zero: greedy
matchups:
  - name: two
    game: {components: COMPONENTS}
    seats: 2
    opponents: [[greedy]]
    reference: [{deals: 2, lineups: [[random, greedy]]}]
"""


@pytest.mark.nightly
def test_tournaments_and_ratings_say_it_in_a_line_however_many_processes_play(mine: Path, tmp_path: Path) -> None:
    players = ("--players", "net,net:first,random", "--games", "12", "--unit-games", "4", "--processes", "2")
    assert len(told("arena", *players, "--components", str(mine), "--out", "run", folder=tmp_path)) == 1
    (tmp_path / "small.yaml").write_text(GAUNTLET.replace("COMPONENTS", str(mine)))
    with contextlib.chdir(tmp_path):
        assert main(["evaluate", "reference", "--gauntlet", "small.yaml", "--out", "reference"]) == 0
    words = ("evaluate", "run", "net", "--gauntlet", "small.yaml", "--processes", "2", "--out", "net")
    (rated,) = told(*words, folder=tmp_path)
    assert rated.startswith("helsinki evaluate: warning: ")


@pytest.mark.nightly
def test_play_says_it_in_a_line(mine: Path, tmp_path: Path) -> None:
    server = Server("--players", "human,net", "--components", str(mine), data=tmp_path)
    server.end()
    assert len([line for line in server.process.communicate()[1].splitlines() if "arning" in line]) == 1
