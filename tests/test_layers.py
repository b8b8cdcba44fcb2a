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
    ("helsinki_env.components", "helsinki_env.config", "helsinki_env.files", "helsinki_env.yaml_files"),
    ("helsinki_env.core",),
    ("helsinki_env.observation", "helsinki_env.playout", "helsinki_env.render", "helsinki_env.reference"),
    (
        "helsinki_env.game",
        "helsinki_env.position",
        "helsinki_env.notation",
        "helsinki_env.record",
        "helsinki_env.redeal",
        "helsinki_env.pages",
        "helsinki_env.restore",
    ),
    ("helsinki_env.envs", "helsinki_env.helsinki_v0"),
    ("agents",),
    ("training",),
    ("helsinki_env.bench", "helsinki_env.cli", "helsinki_env.commands"),
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
    """Names of modules that are imported when this one is (not inside functions)."""
    found: list[str] = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
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


@pytest.mark.parametrize("path", [p for p in FILES if name_of(p).startswith("agents")], ids=name_of)
def test_players_never_open_a_game(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for forbidden in (".state[", ".states[", "_states", "game.state", "env.states"):
        assert forbidden not in text, f"{name_of(path)} looks at {forbidden}"


def test_importing_the_package_brings_neither_torch_nor_pandas() -> None:
    code = "import sys, helsinki_env; print([m for m in ('torch', 'pandas', 'matplotlib', 'ray') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_reference_knows_nothing_of_the_kernels() -> None:
    targets = imports_at_load(ROOT / "helsinki_env" / "reference.py")
    assert not [t for t in targets if t.startswith("helsinki_env") and not t.startswith(LAYERS[0])]
