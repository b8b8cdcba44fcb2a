"""Players of one's own with a real server: networks of the data folder, and players of installed packages."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.agents.net.description import DESCRIPTION_KEY
from helsinki_env.agents.net.make import bundled_network
from helsinki_env.web.names import verbatim
from helsinki_env.web.own_players import CHECKPOINTS
from helsinki_env.web.store import TableStore
from tests.support.browser import Player
from tests.support.server import ROOT, Server, seated, serving, until

PACKAGE = """
from helsinki_env.agents.random import RandomPlayer

def make(argument, config):
    return RandomPlayer()

def fails(argument, config):
    raise RuntimeError("out of ideas")
"""
DIGEST = hashlib.sha256(bundled_network().read_bytes()).hexdigest()[:12]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with networks, and next to it a package with players."""
    package = tmp_path_factory.mktemp("own")
    folder, info = package / "data" / CHECKPOINTS, package / "mine-1.dist-info"
    info.mkdir(parents=True)
    (package / "mine_player.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Name: mine\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[helsinki.players]\nmine = mine_player:make\nsilent = mine_player:fails\n")
    (folder / "run").mkdir(parents=True)
    shutil.copy(bundled_network(), folder / "tuesday.safetensors")
    shutil.copy(bundled_network(), folder / "run" / "best.safetensors")
    (folder / "torn.safetensors").write_bytes(bundled_network().read_bytes()[:100])
    (folder / "pickled.safetensors").write_bytes(b"\x80\x04" + bytes(50))
    (folder / "notes.txt").write_text("not a network")
    return package / "data"


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.support.server.ROOT", f"{data.parent}{os.pathsep}{ROOT}")
        with serving(data) as running:
            yield running


def refused(server: Server, *players: str) -> str:
    chairs = [{"player": player} for player in players]
    status, answer, _ = server.ask("POST", "/api/tables", {"chairs": chairs, "seed": 1})
    assert status == 400
    return str(answer["error"])


def offered(server: Server, game: str) -> dict[str, str]:
    games = {one["name"]: one for one in server.ask("GET", "/api/games")[1]}
    return {one["label"]: one["player"] for one in games[game]["own"]}


@pytest.mark.thorough
def test_networks_and_players_of_packages_are_offered_and_play(server: Server, data: Path) -> None:
    own = offered(server, "helsinki")
    assert own == {
        "mine": "mine",
        "silent": "silent",
        "run": f"checkpoint:run@{DIGEST}",
        "tuesday": f"checkpoint:tuesday@{DIGEST}",
    }
    assert set(offered(server, "copenhagen")) == {"mine", "silent"}, "the networks know Helsinki only"
    table = server.make_over(own["tuesday"], "mine", seed=3)
    with seated(server, table) as (_, view):
        assert [chair["name"] for chair in view["seats"]] == [verbatim("tuesday"), "mine"]
    same = server.make_over("net", "mine", seed=3)
    store = TableStore(data)
    actions = [[one.action for one in store.load(name).decisions] for name in (table, same)]
    store.close()
    assert actions[0] == actions[1], "it plays like the network that it is"


def test_what_cannot_play_is_rejected_before_the_game(server: Server) -> None:
    said = refused(server, "human", "silent")
    assert said.startswith("chairs.1.player: cannot be created: ")
    assert "out of ideas" in said
    for name in ("os:system", "mine_player:make", "checkpoint:tuesday", "checkpoint:../x@" + DIGEST, "net:/etc/passwd"):
        assert refused(server, "human", name).startswith("chairs.1.player: found ")


@pytest.mark.thorough
def test_they_are_chosen_on_the_start_page(server: Server, browser: Any) -> None:
    player = Player(browser, server.address)
    option = player.page.locator("#chairs select >> nth=1").locator("optgroup[label='Players of your own'] option")
    option.first.wait_for(state="attached")
    assert option.all_inner_texts() == ["mine", "silent", f"run, digest {DIGEST}", f"tuesday, digest {DIGEST}"]
    player.page.select_option("#chairs select >> nth=1", label=f"tuesday, digest {DIGEST}")
    player.page.click("#new > button.main")
    view = player.wait(lambda view: view["decisions"])
    assert view["seats"][1]["name"] == verbatim("tuesday")
    assert player.wrong == []


@pytest.mark.parametrize(
    "header", [json.dumps({"__metadata__": {DESCRIPTION_KEY: json.dumps({"kind": ["a"]})}}), "[" * 100_000]
)
def test_a_spoilt_network_is_not_offered(header: str, server: Server, data: Path) -> None:
    path = data / CHECKPOINTS / "spoilt.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode())
    assert "spoilt" not in offered(server, "helsinki")
    path.unlink()


def test_networks_of_the_same_name_have_different_labels_and_both_play(server: Server, data: Path) -> None:
    folder, other = data / CHECKPOINTS, bundled_network().parent / "two_players.safetensors"
    shutil.copy(other, folder / "run.safetensors")
    digest = hashlib.sha256(other.read_bytes()).hexdigest()[:12]
    own = offered(server, "helsinki")
    assert own["run/best.safetensors"] == f"checkpoint:run@{DIGEST}"
    assert own["run.safetensors"] == f"checkpoint:run@{digest}"
    for player in (own["run/best.safetensors"], own["run.safetensors"]):
        assert server.make("human", player, seed=1)["table"]
    (folder / "run.safetensors").unlink()


def test_a_game_never_continues_with_other_weights(server: Server, data: Path) -> None:
    table = server.make("human", f"checkpoint:run@{DIGEST}", seed=1)["table"]
    path = data / CHECKPOINTS / "run" / "best.safetensors"
    other = bundled_network().parent / "two_players.safetensors"
    shutil.copy(other, path)
    digest = hashlib.sha256(other.read_bytes()).hexdigest()[:12]

    def stopped() -> str:
        with seated(server, table) as (line, view):
            line.send(json.dumps({"type": "pace", "milliseconds": 0}))
            line.send(json.dumps({"type": "go"}))
            while not view["message"]:
                if view["decisions"]:
                    action = view["decisions"][0]["id"]
                    line.send(json.dumps({"type": "decide", "number": view["number"], "action": action}))
                view = until(line, lambda new: new["type"] == "table")
            return str(view["message"])

    assert f"found the digest {digest}" in stopped()
    assert offered(server, "helsinki")["run"] == f"checkpoint:run@{digest}"
    path.unlink()
    assert "found no network of this name" in stopped()
    shutil.copy(bundled_network(), path)
    with seated(server, table) as (line, view):
        before = view["number"]
        line.send(json.dumps({"type": "go"}))
        assert until(line, lambda new: new["type"] == "table" and new["number"] > before)["message"] is None
