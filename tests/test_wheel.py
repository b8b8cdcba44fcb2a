"""The built wheel, alone in a fresh environment and outside the checkout: it plays from Python and from the shell."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).resolve().parent.parent
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
assert find_spec("agents") is None
assert find_spec("training") is None
played = play_match(["heuristic", "mc:2", "ismcts:2"], games=3)
assert len(played) == 3
assert "class Viewer" in page(next(played.records()))
print("winner", game.ranking()[0])
"""


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, install it with what it needs where nothing else is, and return the folder of its scripts."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, folder=folder)
    wheel = next(folder.glob("*.whl"))
    venv.create(folder / "venv")
    scripts = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python")
    run(*pip, "install", "-q", "-c", ROOT / "constraints.txt", wheel, folder=folder)
    return scripts


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
    done = subprocess.run(
        [installed / "helsinki", "play"], cwd=tmp_path, capture_output=True, text=True, timeout=500, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(" is missing, which the extra 'play' brings: pip install \"helsinki-env[play]\"\n")


def test_another_package_named_agents_may_be_installed_next_to_it(installed: Path, tmp_path: Path) -> None:
    """The OpenAI agents SDK is imported as `agents`."""
    python = installed / "python"
    # Its own dependencies contradict constraints.txt.
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "openai-agents==0.24.0", folder=tmp_path)
    code = "import agents; from helsinki_env.agents import random; print(agents.Agent, random.RandomPlayer().name)"
    assert "agents.agent.Agent'> random" in run(python, "-c", code, folder=tmp_path)
