"""Scripts in strings: a rename misses them, and some run only at night."""

from __future__ import annotations

import ast
import builtins
from importlib import import_module
from pathlib import Path
from types import ModuleType

from helsinki_env.utils.extras import MissingExtraError

TESTS = Path(__file__).parent


def scripts(source: str) -> list[tuple[str, ast.Module]]:
    """Return the constants of a module that are Python with an import, by name."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            try:
                code = ast.parse(node.value.value)
            except (SyntaxError, UnicodeEncodeError):
                continue
            if any(isinstance(part, ast.Import | ast.ImportFrom) for part in code.body):
                found.append((ast.unparse(node.targets[0]), code))
    return found


def unbound(code: ast.Module) -> set[str]:
    """Return the names that a script uses and nothing in it binds."""
    used: set[str] = set()
    bound = set(dir(builtins)) | {"__file__", "__name__"}
    for node in ast.walk(code):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(name.asname or name.name).split(".")[0] for name in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return used - bound


def test_scripts_bind_the_names_that_they_use() -> None:
    found = [(path, scripts(path.read_text(encoding="utf-8"))) for path in TESTS.rglob("*.py")]
    assert sum(len(codes) for _, codes in found) > 20
    assert [(path, name, names) for path, codes in found for name, code in codes if (names := unbound(code))] == []


def imported(module: str, name: str) -> object:
    """Return what `from module import name` imports, None if nothing has this name, or `...` if an extra is missing."""
    try:
        return getattr(import_module(module), name, None) or import_module(f"{module}.{name}")
    except MissingExtraError:
        return ...
    except ModuleNotFoundError:
        return None


def missing(code: ast.Module) -> list[str]:
    """Return the names that a script takes from this package and its classes, and that do not exist."""
    objects: dict[str, object] = {}
    for node in ast.walk(code):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("helsinki_env"):
            objects |= {name.asname or name.name: imported(str(node.module), name.name) for name in node.names}
    absent = [name for name, found in objects.items() if found is None]
    for node in ast.walk(code):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            of = objects.get(node.value.id)
            if isinstance(of, type | ModuleType) and not hasattr(of, node.attr):
                absent.append(ast.unparse(node))
    return absent


def test_scripts_use_what_the_package_has() -> None:
    found = [(path, name, missing(code)) for path in TESTS.rglob("*.py") for name, code in scripts(path.read_text())]
    assert [each for each in found if each[-1]] == []


def test_planted_names_are_found() -> None:
    ((name, code),) = scripts('DRIVER = """\nimport helsinki_env.training.run\ntraining.run.x = 1\n"""\n')
    assert (name, unbound(code)) == ("DRIVER", {"training"})
    code = ast.parse("from helsinki_env.data import Node, Nothing\nNode.of({}, 1, 2)\nNode.built()")
    assert missing(code) == ["Nothing", "Node.built"]
