"""Configuration of the test runs: several workers, kernels compiled once before they start, long files first.

Tests and files that are selected by name run in the calling process, without workers.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from helsinki_env.engine.kernel import JIT
from helsinki_env.utils.extras import MissingExtraError
from helsinki_env.utils.machine import cpu_count

# The workers use all CPU cores; more than one thread each makes a busy machine many times slower. Child processes
# inherit the setting, which must precede the first import of PyTorch.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Processes that a shell starts in the background ignore Ctrl-C and SIGQUIT, and those under `nohup` ignore SIGHUP;
# child processes inherit this. Restore the defaults.
for _name in ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _name == "SIGINT" else signal.SIG_DFL)

# A busy machine generates examples slowly, which is not a failure.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

ROOT = Path(__file__).resolve().parent.parent
#: The longest files, which start first; all others follow by name. Files that wait for pages and processes alternate
#: with files that compute.
LONG_FIRST = (
    "test_page_games",
    "test_agreement",
    "test_documents",
    "test_wheel",
    "test_training",
    "test_page_analysis",
    "test_machines",
    "test_page",
    "test_balance",
    "test_stopping",
    "test_arena",
    "test_tournaments",
    "test_gauntlet",
    "test_accessibility",
    "test_records",
    "test_page_browser",
    "test_heuristic",
    "test_page_order",
    "test_card",
    "test_page_advice",
    "test_retrained",
    "test_arena_ray",
    "test_export",
    "test_notebooks",
    "test_text",
    "test_redeal",
    "test_page_tournament",
    "test_coverage",
)


def _asks_for_many(config: pytest.Config) -> bool:
    by_name = config.args_source is pytest.Config.ArgsSource.ARGS or config.option.keyword
    return not by_name and "nightly" not in config.option.markexpr.replace("not nightly", "")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many workers `-n auto` starts; nightly tests start processes of their own.

    Thorough tests of pages, servers and signals mostly wait, so one more worker than CPU cores plays them. The everyday
    tests compute, and each worker loads the compiled kernels and all libraries again.
    """
    if not _asks_for_many(config):
        return 0
    return min(cpu_count() + ("not thorough" not in config.option.markexpr), 8)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the tables of `server`."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def server(data: Path) -> Iterator[Any]:
    """A server for all tests that change only their own tables and records."""
    from tests.support.server import serving

    with serving(data) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running Chromium; see `tests.support.browser`."""
    from tests.support.browser import chromium

    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Run PyTorch with one thread, as commands do; more threads change the last digits."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def same_workers() -> Iterator[None]:
    """Play all tournaments of a file in the same worker processes; a new process loads everything again."""
    from helsinki_env.evaluation.arena.run import reuse_workers

    with reuse_workers():
        yield


def _missing(problem: BaseException | None) -> str | None:
    """Return the missing package of an extra that caused an error; None for other errors."""
    while problem is not None:
        if isinstance(problem, ModuleNotFoundError | MissingExtraError):
            package = (problem.name or "").partition(".")[0]
            return None if package in ("", "helsinki_env", "tests") else package
        problem = problem.__cause__ or problem.__context__
    return None


def _skip_without_extra(problem: Exception) -> None:
    """Skip a test that needs a missing extra; with `CI` set, all extras are installed and the error remains."""
    if not os.environ.get("CI") and (package := _missing(problem)) is not None:
        pytest.skip(f"needs {package}, which an extra brings", allow_module_level=True)


_import_or_skip = pytest.importorskip


def _import_extra(name: str, *arguments: Any, **options: Any) -> Any:
    """Import an optional package or skip the test; with `CI` set, fail unless the extra `dev` excludes the package."""
    try:
        return _import_or_skip(name, *arguments, **options)
    except pytest.skip.Exception as skipped:
        if os.environ.get("CI") and not name.startswith("openenv"):
            pytest.fail(f"CI is set, but a package is missing: {name}; {skipped}", pytrace=False)
        raise


pytest.importorskip = _import_extra  # type: ignore[assignment]


class _Module(pytest.Module):
    """A test file, skipped if it needs a missing extra."""

    def collect(self) -> Any:
        try:
            return super().collect()
        except self.CollectError as problem:
            _skip_without_extra(problem)
            raise


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    """Collect a file of tests."""
    return _Module.from_parent(parent, path=module_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Skip tests that need an extra that is not installed, or whose fixtures need it."""
    try:
        yield
    except Exception as problem:
        _skip_without_extra(problem)
        raise


pytest_runtest_call = pytest_runtest_setup


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels once before the workers start."""
    if session.config.option.tx and not hasattr(session.config, "workerinput") and JIT:
        command = [sys.executable, "-m", "helsinki_env.cli.main", "compile"]
        subprocess.run(command, cwd=ROOT, check=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest files; the tests of a file stay together because they share expensive objects."""
    rank = {name: i for i, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
