"""Extras: each suffices for its purpose, and one line names a missing one."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from helsinki_env.cli.main import COMMANDS
from helsinki_env.utils.extras import EXTRAS, MissingExtraError, install_command, requires_extra
from tests.test_layers import FILES, ROOT, name_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: What the packages without an extra are called when they are imported, where they have another name there.
IMPORTED_AS = {"pyyaml": "yaml"}
BASE = {"helsinki_env"} | {
    IMPORTED_AS.get(name, name) for name in (re.split(r"\W", text)[0].lower() for text in PROJECT["dependencies"])
}
BASE.add("llvmlite")  # a part of Numba

#: Commands and calls that need an extra. `helsinki` and `python` are those of an environment that lacks it.
NEEDING = [
    ("train", "helsinki train"),
    ("onnx", "helsinki simulate --players net,random --games 2"),
    ("onnx", "helsinki simulate --players net+search:2,random --games 2"),
    ("export", "helsinki export run --out model.onnx"),
    ("onnx", "helsinki simulate --players net:model.onnx,random --games 2"),
    ("stats", "helsinki arena --games 2 --out arena"),
    ("stats", "helsinki rate arena"),
    ("stats", "helsinki dataset --games 2 --out data"),
    ("stats", "helsinki ladder --run arena --out ladder.md"),
    ("stats", "helsinki balance run quick --out study"),
    ("stats", "helsinki balance report study"),
    ("stats", "helsinki balance retrain quick --out retrained"),
    ("ray", "helsinki arena --games 2 --ray --out arena"),
    ("ray", "helsinki balance run quick --ray --out study"),
    ("render", "helsinki replay games.jsonl --png game.png"),
    ("cma", "python -m helsinki_env.training.tune_heuristic --generations 1"),
    ("sb3", "python -m helsinki_env.training.sb3 --total-timesteps 1"),
    ("play", "helsinki play --no-open"),
    ("mcp", "helsinki mcp"),
]
#: Commands that need none.
FREE = [
    "helsinki check random",
    "helsinki simulate --players random,greedy --games 4 --out games.jsonl",
    "helsinki replay games.jsonl --record 2 --svg game.svg",
    "helsinki replay games.jsonl --record 2 --html game.html",
    "helsinki arena --players random,greedy --games 4 --processes 1 --format jsonl --out records",
    "helsinki replay records/games.jsonl --record 2 --svg game.svg",
]

#: Runs commands, a list of lists as JSON, and prints [status, what it wrote to standard error] of each. Nothing that is
#: installed can be imported but what the package needs without extras.
HIDING = """
import contextlib, importlib.metadata, importlib.util, io, json, re, runpy, sys, traceback

def needed(name, found):
    name = re.split(r"[^\\w.-]", name)[0].lower().replace("_", "-")
    if name not in found:
        found.add(name)
        for text in importlib.metadata.requires(name) or ():
            if "extra ==" not in text and not re.search("sys_platform|platform_system|python_version <", text):
                needed(text, found)
    return found

kept = needed("helsinki-env", set())
own = {name for name, where in importlib.metadata.packages_distributions().items()
       if kept & {dist.lower().replace("_", "-") for dist in where}}
hidden = set(importlib.metadata.packages_distributions()) - own - {"helsinki_env", "tests"}

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

assert {"torch", "scipy", "pyarrow", "matplotlib", "PIL"} <= hidden
sys.meta_path.insert(0, Hiding())
from helsinki_env.cli.main import main

found = []
for words in json.loads(sys.argv[1]):
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            if words[0] == "helsinki":
                status = main(words[1:])
            else:
                sys.argv = words[2:]
                status = runpy.run_module(words[2], run_name="__main__") and 0
        except SystemExit as leaving:
            status = leaving.code
        except BaseException:
            traceback.print_exc()
            status = 1
    found.append([status, errors.getvalue()])
print(json.dumps(found))
"""


def assert_named(extra: str, command: str, status: int, errors: str, install: str | None = None) -> None:
    assert status == 2, f"{command}\n{errors}"
    assert errors.count("\n") == 1, f"{command}\n{errors}"
    remedy = install or install_command(extra)
    assert errors.endswith(f" is missing; the extra {extra!r} provides it: {remedy}\n"), command


@pytest.mark.thorough
def test_a_missing_extra_is_one_line_that_names_it(tmp_path: Path) -> None:
    commands = [*FREE, *(command for _, command in NEEDING)]
    words = json.dumps([command.split() for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", HIDING, words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [status for status, _ in found[: len(FREE)]] == [0] * len(FREE), found
    for (extra, command), (status, errors) in zip(NEEDING, found[len(FREE) :], strict=True):
        assert_named(extra, command, status, errors)


@pytest.mark.parametrize(
    ("ci", "name"), [("", "missing_package"), ("true", "missing_package"), ("true", "openenv.missing")]
)
def test_a_missing_package_skips_a_test_or_fails_it_in_ci(ci: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", ci)
    fails = ci and not name.startswith("openenv")
    with pytest.raises(pytest.fail.Exception if fails else pytest.skip.Exception, match=r"missing"):
        pytest.importorskip(name)


def test_what_was_asked_for_decides_which_extra_is_named() -> None:
    missing = pytest.raises(MissingExtraError, match=r"module nowhere is missing.*\[export\]")
    with missing as caught, requires_extra("export"), requires_extra("onnx"):
        import_module("nowhere.at_all")
    assert caught.value.name == "nowhere"
    with pytest.raises(ModuleNotFoundError, match=r"helsinki_env\.nowhere"), requires_extra("train"):
        import_module("helsinki_env.nowhere")  # a mistake of ours: no extra helps


def test_without_a_clone_the_wheel_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert install_command("play") == 'pip install -c constraints.txt -e ".[play]"'
    monkeypatch.setattr("helsinki_env.utils.extras._FOLDER", tmp_path)  # as in a folder of installed packages
    assert install_command("play") == 'pip install "helsinki-env[play]"'


def test_without_an_activated_environment_pip_is_that_of_the_running_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pip").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert install_command("play").startswith(f"{shlex.quote(sys.executable)} -m pip install ")


def test_other_libraries_get_the_versions_that_they_need_with_the_constraints() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    allowed = {requirement.name: requirement.specifier for requirement in map(Requirement, lines)}
    # AgileRL 2.58 needs PettingZoo below 1.27; virtualenv, of which Tianshou 2.0 is in need, filelock below 4; MoviePy
    # 2.2, by which Gymnasium records videos, Pillow below 12: else pip takes old versions of them without a word.
    for name, version in (("pettingzoo", "1.26.1"), ("filelock", "3.20.0"), ("pillow", "11.3.0")):
        assert version in allowed[name]
        assert "99" not in allowed[name]  # nothing newer than what is tested
    assert all("==" in str(found) or "<=" in str(found) for found in allowed.values())


def test_every_extra_is_described() -> None:
    assert list(EXTRAS) == list(PROJECT["optional-dependencies"])
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    for name, extra in EXTRAS.items():
        assert f"\n| `{name}` | {extra.provides} | {extra.uses} |\n" in page
    for command in COMMANDS:
        assert re.search(f"`(helsinki )?{command}`", page), f"the table of extras lacks helsinki {command}"


def brought(extra: str) -> set[str]:
    """Names of the packages that an extra brings, as pyproject.toml says."""
    found: set[str] = set()
    for text in PROJECT["optional-dependencies"][extra]:
        others = re.fullmatch(r"helsinki-env\[(.*)\]", text)
        found |= set().union(*map(brought, others[1].split(","))) if others else {re.split(r"[^\w-]", text)[0]}
    return found


def test_one_extra_has_all_that_commands_use() -> None:
    assert brought("all") == set().union(*(brought(extra) for extra, _ in NEEDING))
    assert brought("all") < brought("dev")


def optional_imports(tree: ast.AST, extra: str | None = None) -> list[tuple[str | None, str]]:
    """What a module imports that does not come with the package, each with the extra that `requires_extra` names."""
    found: list[tuple[str | None, str]] = []
    for node in ast.iter_child_nodes(tree):
        inner = extra
        if isinstance(node, ast.Import):
            found += [(extra, alias.name.split(".")[0]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((extra, str(node.module).split(".")[0]))
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        elif isinstance(node, ast.With):
            said = re.match(r"requires_extra\('(\w+)'", ast.unparse(node.items[0]))
            inner = said[1] if said else extra
        found += optional_imports(node, inner)
    return [(extra, name) for extra, name in found if name not in BASE | sys.stdlib_module_names]


@pytest.mark.thorough
def test_optional_packages_are_imported_where_the_extra_is_named() -> None:
    names = {"PIL": "pillow", "resvg_py": "resvg-py", "sb3_contrib": "sb3-contrib"}
    names |= {"stable_baselines3": "stable-baselines3", "numba_cuda": "numba-cuda", "pyspiel": "open_spiel"}
    found = {
        (name_of(path), extra, names.get(package, package))
        for path in FILES
        for extra, package in optional_imports(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert len(found) > 20
    # a run is the same without TensorBoard, which is part of the extra all the same
    found.remove(("helsinki_env.training.progress", None, "torch"))
    for module, extra, package in sorted(found, key=str):
        assert extra is not None, f"{module} imports {package}: say under `needs` which extra brings it"
        assert package in brought(extra), f"{module}: the extra {extra} does not bring {package}"
