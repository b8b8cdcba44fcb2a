"""The release checklist, the conda recipe and the texts for lists of environments agree with the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import helsinki_env
from tests.test_wheel import PROJECT

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / ".ci" / "release"


def check(out: Path, *steps: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [RELEASE / "check.sh", out, *steps],
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def test_all_files_have_the_same_version(tmp_path: Path) -> None:
    done = check(tmp_path, "version")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{helsinki_env.__version__} passed: version" in done.stdout


def test_the_citations_have_the_same_title() -> None:
    title = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["title"]
    assert f"title = {{{title}}}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_clones_of_the_checks_include_changes_and_untracked_files(tmp_path: Path) -> None:
    (function,) = re.findall(r"(?ms)^clone\(\) \{.*?^\}", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    commit = "git add . && git -c user.name=a -c user.email=a@b commit --quiet --message=a"
    commands = f"""
mkdir checkout clones && cd checkout && git init --quiet
echo first > tracked && echo ignored > .gitignore && {commit}
echo second > tracked && echo third > 'not tracked' && echo fourth > ignored
root=$PWD scratch=$PWD/../clones
{function}
clone it && ls && cat tracked
"""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["not tracked", "tracked", "second"], done.stderr


def test_a_failing_command_fails_its_step(tmp_path: Path) -> None:
    """The step `version` fails in its first of three commands."""
    project = tmp_path / "project"
    for name in (".ci/release/check.sh", "helsinki_env/__init__.py", "CHANGELOG.md", "README.md"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    (project / "CITATION.cff").write_text("version: 9.9.9\n", encoding="utf-8")
    done = subprocess.run(
        [project / ".ci/release/check.sh", tmp_path / "out", "version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "== FAILED: version\n")


def test_an_unknown_step_is_an_error(tmp_path: Path) -> None:
    done = check(tmp_path, "publish")
    assert (done.returncode, "found publish" in done.stderr) == (2, True)


def test_the_recipe_needs_what_the_package_needs() -> None:
    recipe = yaml.safe_load((RELEASE / "recipe.yaml").read_text(encoding="utf-8"))
    needed = {Requirement(text.replace(" ", "", 1)) for text in recipe["requirements"]["run"]}
    python = Requirement(f"python{PROJECT['requires-python']}")
    assert needed == {python, *map(Requirement, PROJECT["dependencies"])}
    entry = recipe["build"]["python"]["entry_points"]
    assert entry == [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]


def test_the_listings_name_the_tested_versions() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    listings = (RELEASE / "listings.md").read_text(encoding="utf-8")
    for name in ("Gymnasium", "PettingZoo"):
        pin = re.search(rf"^{name.lower()}\b.*=(.*)$", pins, re.MULTILINE)
        assert pin
        assert f"badge/{name}-v{pin[1]}-" in listings


@pytest.mark.packaging
def test_the_distributions_are_built_checked_and_digested(tmp_path: Path) -> None:
    done = check(tmp_path, "build", "digests", "recipe")
    assert done.returncode == 0, done.stdout + done.stderr
    sums = (tmp_path / "dist" / "SHA256SUMS").read_text()
    assert {line.split(".")[-1] for line in sums.splitlines()} == {"gz", "whl"}
    recipe = yaml.safe_load((tmp_path / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == helsinki_env.__version__
    assert recipe["source"]["sha256"] in sums
