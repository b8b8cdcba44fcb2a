"""Imports point down the layers, and only permitted modules read the state of a game."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: From the bottom up: a module may import from its own floor and those below, never from above.
FLOORS = (
    ("helsinki_env.data", "helsinki_env.utils"),
    ("helsinki_env.engine",),
    ("helsinki_env.drawing",),
    ("helsinki_env.games",),
    ("helsinki_env.records",),
    ("helsinki_env.cuda", "helsinki_env.envs", "helsinki_env.text"),
    (
        "helsinki_env",
        *(
            f"helsinki_env.{name}"
            for name in ("copenhagen_v0", "helsinki_v0", "notation", "openspiel", "registration", "torch_envs")
        ),
    ),
    ("helsinki_env.agents",),
    ("helsinki_env.evaluation", "helsinki_env.mini"),
    ("helsinki_env.training",),
    ("helsinki_env.bench", "helsinki_env.dataset", "helsinki_env.mcp", "helsinki_env.openenv", "helsinki_env.web"),
    ("helsinki_env.cli", "helsinki_env.pages", "helsinki_env.__main__"),
)
#: Imports that point up all the same, (module, target), each with its reason.
ALLOWED = {
    ("helsinki_env.engine.spec", "helsinki_env.games"),  # finds the games, without naming one
    ("helsinki_env", "helsinki_env.agents"),  # the check that the links exist
}
FILES = sorted(path for folder in ("helsinki_env", "agents", "training") for path in (ROOT / folder).rglob("*.py"))
OURS = ("helsinki_env", "agents", "training")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] in ("agents", "training"):  # links in the package
        parts = ("helsinki_env", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def floor_of(module: str) -> int | None:
    """The floor of a module, by the longest name that it falls under; the package itself stands for no other."""
    found = [
        (len(prefix), i)
        for i, prefixes in enumerate(FLOORS)
        for prefix in prefixes
        if module == prefix or (prefix != "helsinki_env" and module.startswith(prefix + "."))
    ]
    return max(found)[1] if found else None


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def imports(source: str) -> set[str]:
    """Names of modules that a source may import anywhere: in functions, in `try`, by `import_module`, by any string.

    For `from a.b import c` both `a.b` and `a.b.c`, as only the file system knows which of them is a module.
    """
    found: set[str] = set()
    tree = tree_of(source)
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            word = re.split(r"[:\s]", node.value, maxsplit=1)[0]
            if (
                re.fullmatch(r"[a-z_]+(\.\w+)*", word)
                and word.split(".")[0] in OURS
                and (word != node.value or "." in word)
            ):
                found.add(word)
    return {name for name in found if name.split(".")[0] in OURS}


@cache
def known() -> set[str]:
    return {name_of(path) for path in FILES}


def modules_in(names: set[str]) -> set[str]:
    """Those of the names that are modules."""
    return names & known()


def upwards(path: Path) -> list[str]:
    own = floor_of(name_of(path))
    assert own is not None, f"{name_of(path)} stands on no floor: say in FLOORS on which"
    targets = modules_in(imports(text_of(path)))
    return sorted(t for t in targets if (floor_of(t) or 0) > own and (name_of(path), t) not in ALLOWED)


@pytest.mark.thorough
def test_imports_point_down() -> None:
    assert {name_of(path): found for path in FILES if (found := upwards(path))} == {}


@pytest.mark.parametrize("game", sorted(p.name for p in (ROOT / "helsinki_env" / "games").iterdir() if p.is_dir()))
def test_a_game_knows_no_other(game: str) -> None:
    for path in (ROOT / "helsinki_env" / "games" / game).rglob("*.py"):
        others = [t for t in imports(text_of(path)) if t.startswith("helsinki_env.games.") and t.split(".")[2] != game]
        assert others == [], name_of(path)


@pytest.mark.parametrize(
    "planted",
    [
        "from helsinki_env.agents.registry import make_player",
        "def f():\n    import helsinki_env.agents.registry",
        "def f():\n    from helsinki_env.agents import registry",
        "try:\n    import helsinki_env.training.ppo\nexcept ImportError:\n    pass",
        "from importlib import import_module\nmake = import_module('helsinki_env.agents.registry')",
        "NAME = 'helsinki_env.agents.registry:make_player'",
    ],
)
def test_a_planted_import_is_found(planted: str) -> None:
    own = floor_of("helsinki_env.envs.seat")
    assert own is not None
    assert [t for t in modules_in(imports(planted)) if (floor_of(t) or 0) > own]


def loaded_at_once(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when a module is loaded: not those in functions, or for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ) and "TYPE_CHECKING" not in ast.unparse(getattr(node, "test", ast.Constant(""))):
            yield from loaded_at_once(node)


def imported_modules(source: str) -> set[str]:
    """Modules of the project that a source loads at once; for `from a import b` only `a.b` if it is a module."""
    found = set[str]()
    for node in loaded_at_once(tree_of(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif node.module is not None:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= parts & known() or {node.module}
    return found & known()


def test_imports_form_no_circle() -> None:
    graph = {name_of(path): imported_modules(text_of(path)) - {name_of(path)} for path in FILES}
    assert [*TopologicalSorter(graph).static_order()]
    lower = next(iter(graph["helsinki_env.records"]))
    with pytest.raises(CycleError):
        TopologicalSorter(graph | {lower: {"helsinki_env.records"}}).prepare()
    assert imported_modules("def f():\n    import helsinki_env.records") == set()
    assert imported_modules("if TYPE_CHECKING:\n    from helsinki_env import records") == set()
    assert imported_modules("with f():\n    from helsinki_env import records") == {"helsinki_env.records"}


#: Folders that are a game's own, and modules of public names.
OF_A_GAME = (
    "helsinki_env.games.",
    "helsinki_env.registration",
    "helsinki_env.agents.helsinki",
    "helsinki_env.agents.copenhagen",
    "helsinki_env.evaluation.balance.helsinki",
    "helsinki_env.mini.",
)
#: Texts in which the package or its program is meant, not the game of the same name.
OF_THE_PACKAGE = re.compile(
    r"helsinki[-_](env|command)|HELSINKI_[A-Z]+|`?helsinki (?=[a-zA-Z{-]|$)|helsinki\.(players|opponents)"
    r"|helsinki_(digest|preferences)|^helsinki(?=$|:)"
)


def named(source: str) -> list[str]:
    """Where a source names a game: identifiers, imports and texts, docstrings apart."""
    tree = tree_of(source)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            found += [name for name in names if _is_named(name, identifier=True)]
        elif isinstance(node, ast.Name) and _is_named(node.id, identifier=True):
            found.append(node.id)
        elif isinstance(node, ast.Attribute) and _is_named(node.attr, identifier=True):
            found.append(node.attr)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and _is_named(node.name, identifier=True):
            found.append(node.name)
    texts = [n for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    documented = set(_documentation(tree))
    words = [n.value for n in texts if n not in documented and isinstance(n.value, str)]
    return found + [word for word in words if _is_named(word)]


def _documentation(tree: ast.Module) -> list[ast.expr]:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    return [
        statement.value
        for node in ast.walk(tree)
        if isinstance(node, kinds)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    ]


def _is_named(text: str, identifier: bool = False) -> bool:
    rest = re.sub("helsinki_(env|command)", "", text) if identifier else OF_THE_PACKAGE.sub("", text)
    return re.search("helsinki|copenhagen", rest, re.IGNORECASE) is not None


def test_what_is_written_for_any_game_names_none() -> None:
    public = floor_of("helsinki_env")
    shared = [p for p in FILES if not name_of(p).startswith(OF_A_GAME) and floor_of(name_of(p)) != public]
    assert {name_of(p): found for p in shared if (found := named(text_of(p)))} == {}


def test_what_naming_a_game_means() -> None:
    for fine in (
        "import helsinki_env",
        "x = 'helsinki train'",
        "from helsinki_env.engine import spec",
        "'helsinki-env'",
    ):
        assert named(fine) == [], fine
    for planted in (
        "from helsinki_env.games.helsinki import bits",
        "from helsinki_env import HelsinkiVectorEnv",
        "def f():\n    from helsinki_env.copenhagen_v0 import env",
        "env = HelsinkiVectorEnv(3)",
        "x = module.HELSINKI",
        "x = spec_named('copenhagen')",
        "class CopenhagenPlayer: pass",
    ):
        assert named(planted), planted


#: What a game or an environment keeps its records in, and what hands them out.
HOLDERS = {"state", "states", "_states"}
HANDS_OUT = {"get_state", "__dict__", "__getstate__"}
#: Names of variables that hold a game or an environment.
A_GAME = re.compile(r"(^|[._])(game|games|env|envs|environment|trial|batch)$")


def openings(source: str) -> list[str]:
    """Expressions that open what a game or an environment holds, in any of the ways there are.

    Attributes (`game.state`, `env.states`, `env.get_state()`, `game.__dict__`), the same by name (`getattr(game,
    "state")`, `vars(game)`), whole games from an environment (`env.game(0)`, `env.unwrapped.game`), and all cards of a
    game as data (`game.to_dict()`, `position.to_dict(game)`: neither says which seat looks).

    Records of one's own are free to be made (`restore`, `deals`, `new_states`) and named (`states`, `self.state`), and
    so are games (`spec_of(config).game(config)`).
    """
    found: list[ast.expr] = []
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Attribute):
            own = ast.unparse(node.value) == "self"
            if (
                node.attr in HANDS_OUT
                or (node.attr in HOLDERS and not own)
                or (node.attr == "game" and ast.unparse(node.value).endswith("unwrapped"))
            ):
                found.append(node)
        elif isinstance(node, ast.Call) and _opens(node):
            found.append(node)
    return [ast.unparse(node) for node in found]


def _opens(call: ast.Call) -> bool:
    """Whether a call hands out what a game holds."""
    function, words = call.func, [one.value for one in call.args if isinstance(one, ast.Constant)]
    if isinstance(function, ast.Name):
        by_name = function.id == "getattr" and bool({*words} & (HOLDERS | HANDS_OUT | {"game"}))
        return by_name or (function.id == "vars" and bool(call.args) and _is_game(call.args[0]))
    if not isinstance(function, ast.Attribute):
        return False
    if function.attr == "game":
        return _is_game(function.value)
    if function.attr == "to_dict":
        seats = len(call.args) + len(call.keywords) - (0 if _is_game(function.value) else 1)
        games = _is_game(function.value) or (bool(call.args) and _is_game(call.args[0]))
        return games and seats < 1
    return False


def _is_game(node: ast.expr) -> bool:
    return A_GAME.search(ast.unparse(node)) is not None


def test_players_never_open_a_game() -> None:
    players = [path for path in FILES if name_of(path).startswith("helsinki_env.agents")]
    assert {name_of(p): found for p in players if (found := openings(text_of(p)))} == {}


def test_what_opening_a_game_means() -> None:
    allowed = """
from helsinki_env.games.helsinki.state import States, new_states
from helsinki_env.engine.states import copy_states
from helsinki_env.engine.determinization import determinize_observation
from helsinki_env.games.helsinki.state_from_observation import states_from_observations
states = new_states(4)
states["hand"][0] = states_from_observations(config, observations)["hand"][0]
game = HelsinkiGame.from_state(config, determinize_observation(config, observation, 2)[0])
mine = spec_of(config).game(config, seed=0)
seen = game.to_dict(seat), position.to_dict(game, seat), config.to_dict()
self.state = game.observation()
"""
    assert openings(allowed) == []
    for forbidden in (
        "game.state.hand",
        "env.states[0]",
        "self.env.states['pile']",
        "game._states",
        "env.unwrapped.state",
        "env.get_state()",
        "self.env.game(0)",
        "env.unwrapped.game",
        "game.to_dict()",
        "self.game.to_dict()",
        "position.to_dict(game)",
        "getattr(game, 'state')",
        "getattr(env, 'get_state')",
        "vars(game)",
        "game.__dict__",
    ):
        assert len(openings(f"def f():\n    return g({forbidden})")) == 1, forbidden


#: What takes seconds to import or belongs to an extra. Numba itself looks whether there is a scipy, so its parts count.
HEAVY = ("torch", "pandas", "matplotlib", "ray", "pyarrow", "cma", "scipy.optimize", "scipy.special", "scipy.stats")


#: What plays, by what is imported for it.
PLAYS = (
    "helsinki_env",
    "helsinki_env.agents.registry, helsinki_env.evaluation.match",
    "helsinki_env.agents.heuristic, helsinki_env.agents.search.player",
    "helsinki_env.agents.net.afterstates, helsinki_env.agents.net.player, helsinki_env.agents.net.onnx",
    "helsinki_env.agents.net.make, helsinki_env.agents.net.search",
    "helsinki_env.evaluation.arena.run, helsinki_env.evaluation.arena.load, helsinki_env.evaluation.match_stats",
    "helsinki_env.cli.commands.bench",
)


def test_importing_what_plays_brings_nothing_heavy() -> None:
    """One process imports all: what a later import brings is not there before."""
    lines = (f"import {modules}\nprint({modules!r}, [m for m in {HEAVY} if m in sys.modules])" for modules in PLAYS)
    code = "\n".join(["import sys", *lines])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{modules} []" for modules in PLAYS]


def test_the_reference_knows_nothing_of_the_kernels() -> None:
    for game in ("helsinki", "copenhagen"):
        source = (ROOT / "tests" / "oracles" / f"{game}.py").read_text(encoding="utf-8")
        allowed = {f"helsinki_env.games.{game}.{name}" for name in ("components", "config")} | {"helsinki_env.data"}
        assert modules_in(imports(source)) <= allowed


def by_another_name(source: str) -> list[str]:
    """Modules of linked folders that a source imports as if these were packages of their own."""
    nodes = [*ast.walk(tree_of(source))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return [name for name in names if name.partition(".")[0] in ("agents", "training")]


def test_the_package_is_the_only_import_name() -> None:
    assert {name_of(path): found for path in FILES if (found := by_another_name(text_of(path)))} == {}
    assert by_another_name("def f():\n    from agents.registry import make_player") == ["agents.registry"]
    assert by_another_name("import numpy, training") == ["training"]


@pytest.mark.nightly
def test_no_module_is_loaded_by_another_import_name() -> None:
    code = """
import sys
from contextlib import suppress
from importlib import import_module

for name in sys.argv[1:]:
    with suppress(ImportError):  # of what a graphics card needs
        import_module(name)
print([name for name in sys.modules if name.partition(".")[0] in ("agents", "training")])
"""
    names = [name for path in FILES if (name := name_of(path)) != "helsinki_env.__main__"]
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", ["file", "nothing"])
def test_a_checkout_without_links_says_so(kind: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "helsinki_env", tmp_path / "helsinki_env", symlinks=True)
    link = tmp_path / "helsinki_env" / "agents"
    link.unlink()
    if kind == "file":  # what a system without links makes of one
        link.write_text("../agents")
    code = "import helsinki_env"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    line = done.stderr.splitlines()[-1]
    found = "a file" if kind == "file" else "nothing"
    assert line.startswith(f"ImportError: {link}: found {found}, expected a symbolic link to ../agents")
    assert "core.symlinks=true" in line
