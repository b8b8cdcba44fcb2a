"""Scripts in strings: a rename misses them, and some run only at night."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

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


def test_a_planted_name_is_found() -> None:
    ((name, code),) = scripts('DRIVER = """\nimport helsinki_env.training.run\ntraining.run.x = 1\n"""\n')
    assert (name, unbound(code)) == ("DRIVER", {"training"})
