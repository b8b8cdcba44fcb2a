"""Sealed evaluations: deals that follow from the player's seal and a later text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helsinki_env.cli.main import main
from helsinki_env.data import with_digest
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.gauntlet.certificate import seal_gauntlet, seal_of
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from tests.test_compliance import GAUNTLET

SOURCE = "round 7 of a beacon"
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.usefixtures("same_workers"),
    pytest.mark.skipif(not JIT, reason="too slow"),
]


@pytest.fixture(scope="module")
def folder(same_workers: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gauntlet with its reference ratings, and a sealed run of `greedy`."""
    folder = tmp_path_factory.mktemp("sealed")
    gauntlet = str(folder / "tiny.yaml")
    Path(gauntlet).write_text(GAUNTLET)
    options = ["--gauntlet", gauntlet, "--processes", "1"]
    assert main(["evaluate", "reference", *options, "--out", str(folder / "reference")]) == 0
    run = str(folder / "run")
    assert main(["evaluate", "seal", "greedy", "--source", SOURCE, "--gauntlet", gauntlet, "--out", run]) == 0
    assert main(["evaluate", "run", "greedy", *options, "--out", run, "--sealed", "a beacon"]) == 0
    return folder


def test_the_deals_follow_from_seal_and_text() -> None:
    gauntlet = Gauntlet.from_yaml("helsinki")
    rated = (("net", "a"), ("net", "b"), ("greedy", None))
    ways = (("quick", SOURCE), ("full", SOURCE), ("quick", "round 8"))
    seals = {seal_of(gauntlet.digest, name, files, stage, source) for name, files in rated for stage, source in ways}
    assert len(seals) == 9
    seeds = {seal_gauntlet(gauntlet, seal, text).seed for seal in seals for text in ("one", "two")}
    assert len(seeds) == 18
    assert gauntlet.seed not in seeds


def test_the_spelling_of_the_text_is_no_choice() -> None:
    gauntlet = Gauntlet.from_yaml("helsinki")
    assert len({seal_gauntlet(gauntlet, "a", text).seed for text in ("0xAB 12", " 0xab12\n", "0Xab 1 2")}) == 1


def test_a_seal_is_not_replaced_by_another(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "run" / "seal.json"
    before = path.read_bytes()
    words = ["evaluate", "seal", "--gauntlet", str(folder / "tiny.yaml"), "--out", str(folder / "run")]
    assert main([*words, "greedy", "--source", SOURCE]) == 0
    assert main([*words, "random", "--source", SOURCE]) == 2
    assert "choose another --out" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_folder_holds_the_certificate_of_one_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "run" / "certificate.json"
    before = path.read_bytes()
    assert main(["evaluate", "positions", "greedy", "--out", str(folder / "run")]) == 2
    assert "the folder of an evaluation with games" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_sealed_certificate_is_verified_with_its_deals(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = folder / "run" / "certificate.json"
    certified = json.loads(certificate.read_text())["certified"]
    assert certified["sealed"]["text"] == "a beacon"
    assert certified["seed"] != 7
    words = ["evaluate", "verify", str(certificate), "--gauntlet", str(folder / "tiny.yaml"), "--processes", "1"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "the same" in shown
    assert f"sealed: {SOURCE}; the text is 'a beacon'" in " ".join(shown.split())


@pytest.mark.parametrize(("key", "value"), [("text", "another beacon"), ("seal", "0" * 16), ("source", "round 8")])
def test_another_text_or_seal_is_found(
    key: str, value: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads((folder / "run" / "certificate.json").read_text())
    certified = {name: part for name, part in data["certified"].items() if name != "digest"}
    certified["sealed"] = {**certified["sealed"], key: value}
    changed = tmp_path / "certificate.json"
    changed.write_text(json.dumps({**data, "certified": with_digest(certified)}))
    assert main(["evaluate", "verify", str(changed), "--gauntlet", str(folder / "tiny.yaml")]) == 2
    assert ("certified.seed" if key == "text" else "certified.sealed.seal") in capsys.readouterr().err


def test_without_the_players_seal_nothing_is_played(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["evaluate", "run", "random", "--gauntlet", str(folder / "tiny.yaml"), "--sealed", "x", "--out"]
    assert main([*words, str(folder / "other")]) == 2
    assert "run helsinki evaluate seal first" in capsys.readouterr().err
    assert main([*words, str(folder / "run")]) == 2
    assert "that of random" in capsys.readouterr().err
    stage = ["evaluate", "run", "greedy", "--stage", "full", *words[3:]]
    assert main([*stage, str(folder / "run")]) == 2
    assert "in the stage full" in capsys.readouterr().err
