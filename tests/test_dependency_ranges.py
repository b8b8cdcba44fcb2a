"""The wheel with the lowest and the newest dependencies: the same games, and working commands.

Extras that bring PyTorch are left out, because each of its versions takes gigabytes.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support import golden
from tests.test_extras_alone import PIXELS, PLAYING
from tests.test_wheel import PLAY_THE_SIGNATURE, PROJECT, built, run

__all__ = ["built"]  # a fixture

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]

EXTRAS = ("play", "stats", "render", "cma", "openspiel")
COMMANDS = """
helsinki simulate --players net,heuristic --games 4 --out games.jsonl
helsinki replay games.jsonl --record 1 --html game.html
helsinki arena --players random,greedy --games 40 --num-players 2 --out arena
helsinki rate arena --out rated
"""


def lowest() -> list[str]:
    """Return a pin to the lowest version for every direct requirement of the wheel and of the extras."""
    extras = PROJECT["optional-dependencies"]
    texts = [*PROJECT["dependencies"], *(text for name in ("onnx", *EXTRAS) for text in extras[name])]
    pins = []
    for requirement in map(Requirement, texts):
        for specifier in requirement.specifier:
            if specifier.operator == ">=":
                pins.append(f"{requirement.name}=={specifier.version}")
    return pins


def test_every_range_has_a_lowest_version() -> None:
    extras = PROJECT["optional-dependencies"]
    for text in [*PROJECT["dependencies"], *(text for name in extras for text in extras[name])]:
        assert ">=" in text or text.startswith("helsinki-env[") or text == "numpy<2.5", text
    assert len(lowest()) >= len(PROJECT["dependencies"])


@pytest.mark.parametrize("versions", ["lowest", "newest"])
def test_the_wheel_works_with_the_ends_of_its_ranges(versions: str, built: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "env", folder=tmp_path)
    scripts = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    python = scripts / "python"
    (tmp_path / "pins.txt").write_text("\n".join(lowest() if versions == "lowest" else []))
    target = f"{next(built.glob('*.whl'))}[{','.join(EXTRAS)}]"
    helpers = ("pytest", "hypothesis")  # imported by the helpers of the tests
    run(python, "-m", "pip", "install", "-q", "-c", "pins.txt", target, *helpers, folder=tmp_path)
    run(python, "-m", "pip", "check", folder=tmp_path)
    found = json.loads(run(python, "-c", PLAY_THE_SIGNATURE, folder=built))
    written = json.loads(golden.SIGNATURE.read_text(encoding="utf-8"))["groups"]
    name = f"digest of the first {golden.FIRST}"
    assert found["digests"] == {group: written[group][name] for group in written}
    for code in (PIXELS, PLAYING, "import helsinki_env.openspiel"):
        run(python, "-c", code, folder=built)
    for line in COMMANDS.strip().splitlines():
        program, *arguments = line.split()
        run(scripts / program, *arguments, folder=tmp_path)
    assert re.search(r"\bgreedy\b", "".join(path.read_text() for path in (tmp_path / "rated").glob("*.md")))
