"""The wheel on every supported version of Python: the same seeds deal and play the same games.

A version that is not installed is skipped. It is looked for as `python3.N` on the search path and among the
versions of pyenv.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support import golden

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SUPPORTED = [
    words[-1] for text in PROJECT["classifiers"] if "." in (words := text.split(" :: "))[-1] and words[-2] == "Python"
]
#: Plays a game by the wheel and prints the digests of the first games of every group of `tests/signature.json`.
PLAY = """
import json, sys
import helsinki_env
from helsinki_env import copenhagen_v0, helsinki_v0
from tests.support import golden
assert "site-packages" in helsinki_env.__file__, helsinki_env.__file__
for module in (helsinki_v0, copenhagen_v0):
    env = module.env()
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _, ended, _, _ = env.last()
        env.step(None if ended else int(observation["action_mask"].argmax()))
found = golden.signature(golden.FIRST)["groups"]
name = f"digest of the first {golden.FIRST}"
print(json.dumps({"version": sys.version_info[:2], "digests": {group: found[group][name] for group in found}}))
"""


def interpreter(version: str) -> str | None:
    """Return the program of a version of Python, or None."""
    if version == "{}.{}".format(*sys.version_info[:2]):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"{version}.*/bin/python{version}")))]
    for program in filter(None, found):
        code = "import sys, venv; print('%d.%d' % sys.version_info[:2])"  # a shim of pyenv may start nothing
        done = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return program
    return None


def run(*command: str | Path, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, in a folder with a copy of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, folder=folder)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    return next(folder.glob("*.whl"))


def test_the_lowest_supported_version_is_the_required_one() -> None:
    assert SUPPORTED
    assert PROJECT["requires-python"] == f">={SUPPORTED[0]}"


@pytest.mark.parametrize("version", SUPPORTED)
def test_the_wheel_plays_the_same_games(version: str, wheel: Path, tmp_path: Path) -> None:
    program = interpreter(version)
    if program is None:
        pytest.skip(f"Python {version} is not installed")
    run(program, "-m", "venv", "env", folder=tmp_path)
    python = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pins = ("-c", ROOT / "constraints.txt")
    run(python, "-m", "pip", "install", "-q", *pins, wheel, "pytest", folder=tmp_path)  # helpers of tests import pytest
    run(python, "-m", "pip", "check", folder=tmp_path)
    found = json.loads(run(python, "-c", PLAY, folder=wheel.parent))
    assert found["version"] == [*map(int, version.split("."))]
    written = json.loads(golden.SIGNATURE.read_text(encoding="utf-8"))["groups"]
    name = f"digest of the first {golden.FIRST}"
    assert found["digests"] == {group: written[group][name] for group in written}
