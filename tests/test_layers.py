"""Imports point one way, and only what may look at a game's state does."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: From the bottom up: a module may import from its own layer and those below, never from above.
LAYERS = (
    ("helsinki_env.engine",),
    (
        "helsinki_env.games.helsinki.components",
        "helsinki_env.games.helsinki.config",
        "helsinki_env.data",
        "helsinki_env.extras",
        "helsinki_env.files",
        "helsinki_env.games.copenhagen.components",
        "helsinki_env.games.copenhagen.config",
        "helsinki_env.markdown",
        "helsinki_env.stopping",
        "helsinki_env.terminal",
        "helsinki_env.yaml_files",
    ),
    ("helsinki_env.games.helsinki",),
    ("helsinki_env.games.helsinki.observation", "helsinki_env.play.playout", "helsinki_env.games.helsinki.reference"),
    (
        "helsinki_env.games.helsinki.game",
        "helsinki_env.play",
        "helsinki_env.games",
        "helsinki_env.games.helsinki.position",
        "helsinki_env.games.helsinki.notation",
        "helsinki_env.play.record",
        "helsinki_env.games.helsinki.redeal",
        "helsinki_env.games.helsinki.render",
        "helsinki_env.pages",
        "helsinki_env.games.helsinki.restore",
    ),
    ("helsinki_env.envs", "helsinki_env.helsinki_v0"),
    ("agents",),
    ("agents.balance",),
    ("training",),
    ("helsinki_env.commands.bench", "helsinki_env.cli", "helsinki_env.commands"),
)
PACKAGE = ROOT / "helsinki_env" / "__init__.py"  # gathers the public names of several layers
FILES = sorted(path for folder in ("helsinki_env", "agents", "training") for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> int | None:
    for i, prefixes in enumerate(LAYERS):
        if any(module == prefix or module.startswith(prefix + ".") for prefix in prefixes):
            return i
    return None


def imports_at_load(path: Path) -> list[str]:
    """Names of modules that are imported when this one is: not inside functions, but also under `needs`."""
    found: list[str] = []
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for node in [inner for outer in body for inner in (outer.body if isinstance(outer, ast.With) else [outer])]:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


@pytest.mark.parametrize("path", [path for path in FILES if path != PACKAGE], ids=name_of)
def test_imports_point_down(path: Path) -> None:
    own = layer_of(name_of(path))
    assert own is not None, f"{name_of(path)} belongs to no layer: say in LAYERS to which"
    for target in imports_at_load(path):
        layer = layer_of(target)
        assert layer is None or layer <= own, f"{name_of(path)} imports {target}, which stands above it"


#: What a game or an environment keeps its records in.
HOLDERS = {"state", "states", "_states"}


def openings(source: str) -> list[str]:
    """Expressions that open what a game or an environment holds: `game.state`, `env.states`, `self.game._states`.

    Records of one's own are free to be made (`restore`, `deals`, `new_states`) and named (`states`, `self.state`).
    """
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute) and node.attr in HOLDERS]
    return [ast.unparse(node) for node in nodes if ast.unparse(node.value) != "self"]


@pytest.mark.parametrize("path", [p for p in FILES if name_of(p).startswith("agents")], ids=name_of)
def test_players_never_open_a_game(path: Path) -> None:
    assert openings(path.read_text(encoding="utf-8")) == []


def test_what_opening_a_game_means() -> None:
    allowed = """
from helsinki_env.games.helsinki.state import States, new_states
from helsinki_env.engine.states import copy_states
from helsinki_env.games.helsinki.restore import deals, restore
states = new_states(4)
states["hand"][0] = restore(config, observations)["hand"][0]
game = Game.from_state(config, deals(config, observation, 2)[0])
self.state = game.observation()
"""
    assert openings(allowed) == []
    for forbidden in (
        "game.state.hand",
        "env.states[0]",
        "self.env.states['pile']",
        "game._states",
        "env.unwrapped.state",
    ):
        assert len(openings(f"x = f({forbidden})")) == 1, forbidden


#: What takes seconds to import or belongs to an extra. Numba itself looks whether there is a scipy, so its parts count.
HEAVY = ("torch", "pandas", "matplotlib", "ray", "pyarrow", "cma", "scipy.optimize", "scipy.special", "scipy.stats")


@pytest.mark.parametrize(
    "modules",
    [
        "helsinki_env",
        "agents.registry, agents.match",
        "agents.heuristic.player, agents.search.player",
        "agents.net.inputs, agents.net.player, agents.net.description, agents.net.onnx",
        "agents.net.make, agents.net.search",
        "agents.arena.config, agents.arena.run, agents.arena.load, agents.standing",
        "helsinki_env.commands.bench",
    ],
)
def test_importing_what_plays_brings_nothing_heavy(modules: str) -> None:
    code = f"import sys, {modules}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_reference_knows_nothing_of_the_kernels() -> None:
    targets = imports_at_load(ROOT / "helsinki_env" / "games" / "helsinki" / "reference.py")
    assert not [t for t in targets if t.startswith("helsinki_env") and not t.startswith(LAYERS[1])]
