"""The tests of the rules pass without the compiler and reach nearly every branch of the rules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helsinki_env.engine.kernel import JIT

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    "test_agreement",
    "test_golden",
    "test_kept",
    "test_kept_rows",
    "test_kernels",
    "test_notation",
    "test_rule",
    "test_stranger",
    "test_values",
    "test_vectors",
)
#: Kernels of the rules, and shared kernels; the compile cache has no effect without the compiler.
RULES = {
    "games/helsinki": [
        "actions",
        "bits",
        "build",
        "coats",
        "draw",
        "legal",
        "observation",
        "score",
        "shapes",
        "simd",
        "state",
        "tables",
        "turn",
    ],
    "engine": ["bits", "contract", "kernel", "loops", "overloads", "rng", "states", "vectors"],
}
LEAST = 98.0


@pytest.mark.nightly
@pytest.mark.skipif(not JIT, reason="the tests run without the compiler already")
def test_nearly_every_branch_of_the_rules_is_reached_without_the_compiler(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "COVERAGE_FILE": str(tmp_path / "data")}
    environment.pop("PYTEST_ADDOPTS", None)

    def coverage(*arguments: str) -> None:
        command = [sys.executable, "-m", "coverage", *arguments]
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr

    files = [f"tests/{name}.py" for name in TESTS]
    pytest_command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not nightly", *files]
    folders = {ROOT / "helsinki_env" / folder: names for folder, names in RULES.items()}
    assert all((folder / f"{name}.py").is_file() for folder, names in folders.items() for name in names)
    without = [path for folder, names in folders.items() for path in folder.rglob("*.py") if path.stem not in names]
    source, omit = (",".join(map(str, paths)) for paths in (folders, without))
    coverage("run", "--branch", f"--source={source}", f"--omit={omit}", *pytest_command)
    coverage("json", "-o", str(tmp_path / "report.json"))
    report = json.loads((tmp_path / "report.json").read_text())
    totals = report["totals"]
    branches = 100 * totals["covered_branches"] / totals["num_branches"]
    missing = {
        name: (file["missing_lines"], file["missing_branches"])
        for name, file in report["files"].items()
        if file["missing_lines"] or file["missing_branches"]
    }
    print(f"rules: {totals['percent_covered']:.1f} % of lines and branches, {branches:.1f} % of branches")
    assert totals["percent_covered"] >= LEAST, missing
    assert branches >= LEAST, missing
