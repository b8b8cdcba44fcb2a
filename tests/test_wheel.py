"""The built wheel in a new environment of each supported version of Python.

The same seeds deal and play the same games everywhere. A version that is not installed is skipped. It is looked for as
`python3.N` on the search path and among the versions of pyenv.
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
PINS = ("-q", "-c", ROOT / "constraints.txt")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SUPPORTED = [
    words[-1] for text in PROJECT["classifiers"] if "." in (words := text.split(" :: "))[-1] and words[-2] == "Python"
]
OURS = "{}.{}".format(*sys.version_info[:2])
#: The lowest and the highest version with every change, those between them nightly.
BETWEEN = SUPPORTED[1:-1]
VERSIONS = [pytest.param(version, marks=[pytest.mark.nightly] if version in BETWEEN else []) for version in SUPPORTED]
PLAY = """
from importlib.util import find_spec
from pathlib import Path
import helsinki_env
import helsinki_env.evaluation.arena.plan, helsinki_env.training.tune_heuristic
from helsinki_env.evaluation.match import play_match
from helsinki_env import HelsinkiGame, HelsinkiConfig
from helsinki_env.games.helsinki.components import load_components
from helsinki_env.records.animation import page
assert "site-packages" in helsinki_env.__file__, helsinki_env.__file__
assert find_spec("tests") is None
game = HelsinkiGame(HelsinkiConfig.from_yaml("first_game"), seed=1)
while not game.done:
    game.step(game.legal_actions()[0])
assert load_components("alternative").types == 46
assert (Path(helsinki_env.__file__).parent / "evaluation" / "rating" / "ratings.py").exists()  # which needs an extra
assert find_spec("agents") is None  # the name of the OpenAI agents SDK, which may be installed next to it
assert find_spec("training") is None
played = play_match(["heuristic", "mc:2", "ismcts:2"], games=3)
assert len(played) == 3
assert "class Viewer" in page(next(played.records()))
print("winner", game.ranking()[0])
"""
#: Plays a game and prints the digests of the first games of every group of `tests/signature.json`.
PLAY_THE_SIGNATURE = """
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
#: Plays a game and prints a digest of what its agents saw, and their rewards.
PLAY_ONE_GAME = """
from hashlib import sha256
import helsinki_env
from helsinki_env import copenhagen_v0
assert "site-packages" in helsinki_env.__file__, helsinki_env.__file__
env, seen = copenhagen_v0.env(), sha256()
env.reset(seed=1)
rewards = dict.fromkeys(env.agents, 0.0)
for agent in env.agent_iter():
    observation, reward, *ended, _ = env.last()
    rewards[agent] += reward
    for name in sorted(observation):
        seen.update(observation[name].tobytes())
    env.step(None if any(ended) else int(observation["action_mask"].argmax()))
print(seen.hexdigest(), rewards)
"""


def start(*command: str | Path, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program that finds nothing of the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    return subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True, timeout=1200, check=False
    )


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    done = start(*command, folder=folder, **variables)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def interpreter(version: str) -> str | None:
    """Return the program of a version of Python, or None."""
    if version == OURS:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"{version}.*/bin/python{version}")))]
    for program in filter(None, found):
        code = "import sys, venv; print('%d.%d' % sys.version_info[:2])"  # a shim of pyenv may start nothing
        done = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return program
    return None


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, in a folder with a copy of the tests, and pytest, which their helpers import."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, folder=folder)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "pip", "install", *PINS, "--target", folder / "tools", "pytest", folder=folder)
    return folder


def install(program: str, built: Path, folder: Path) -> Path:
    """Install the wheel with what it needs where nothing else is, and return the folder of its scripts."""
    run(program, "-m", "venv", "--without-pip", folder / "env", folder=built)
    scripts = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python")
    run(*pip, "install", *PINS, next(built.glob("*.whl")), folder=built)
    run(*pip, "check", folder=built)
    return scripts


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its scripts for the version of Python that runs the tests."""
    return install(sys.executable, built, tmp_path_factory.mktemp("installed"))


def test_the_supported_versions_are_the_required_and_documented_ones() -> None:
    assert PROJECT["requires-python"] == f">={SUPPORTED[0]}"
    for page in ("README.md", "AGENTS.md", "llms.txt", "docs/install.md", "docs/quickstart.md", "docs/stability.md"):
        assert f"Python {SUPPORTED[0]} to {SUPPORTED[-1]}" in (ROOT / page).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_plays_the_same_games(version: str, built: Path, installed: Path, tmp_path: Path) -> None:
    program = interpreter(version)
    if program is None:
        pytest.skip(f"Python {version} is not installed")
    scripts = installed if version == OURS else install(program, built, tmp_path)
    path = os.pathsep.join(map(str, (built, built / "tools")))
    found = json.loads(run(scripts / "python", "-c", PLAY_THE_SIGNATURE, folder=tmp_path, PYTHONPATH=path))
    assert found["version"] == [*map(int, version.split("."))]
    written = json.loads(golden.SIGNATURE.read_text(encoding="utf-8"))["groups"]
    name = f"digest of the first {golden.FIRST}"
    assert found["digests"] == {group: written[group][name] for group in written}


def played(scripts: Path, folder: Path) -> str:
    """A digest of every observation of a game of the smaller game; few kernels are compiled for it."""
    return run(scripts / "python", "-c", PLAY_ONE_GAME, folder=folder)


@pytest.mark.parametrize("version", BETWEEN)
def test_the_wheel_plays_the_same_game(version: str, built: Path, installed: Path, tmp_path: Path) -> None:
    """Versions between the lowest and the highest, with the kernels of one environment."""
    program = interpreter(version)
    if program is None:
        pytest.skip(f"Python {version} is not installed")
    expected = played(installed, tmp_path)
    assert len(expected) > 64
    assert played(install(program, built, tmp_path), tmp_path) == expected


def test_the_wheel_plays_a_game_from_python(installed: Path, tmp_path: Path) -> None:
    assert "winner" in run(installed / "python", "-c", PLAY, folder=tmp_path)


def test_the_wheel_simulates_from_the_shell(installed: Path, tmp_path: Path) -> None:
    out = run(
        installed / "helsinki", "simulate", "--players", "random,heuristic", "--games", "20", "--out", "games.jsonl",
        folder=tmp_path,
    )  # fmt: skip
    assert "heuristic" in out
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 20


def test_the_wheel_names_the_wheel_where_an_extra_is_missing(installed: Path, tmp_path: Path) -> None:
    done = start(installed / "helsinki", "play", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert " is missing; the extra 'play' provides it: " in done.stderr
    assert done.stderr.endswith(f'{installed / "python"} -m pip install "helsinki-env[play]"\n'), "not activated"


@pytest.mark.nightly
def test_another_package_named_agents_may_be_installed_next_to_it(installed: Path, tmp_path: Path) -> None:
    """The OpenAI agents SDK is imported as `agents`."""
    python = installed / "python"
    # Its own dependencies contradict constraints.txt.
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "openai-agents==0.24.0", folder=tmp_path)
    code = "import agents; from helsinki_env.agents import random; print(agents.Agent, random.RandomPlayer().name)"
    assert "agents.agent.Agent'> random" in run(python, "-c", code, folder=tmp_path)
