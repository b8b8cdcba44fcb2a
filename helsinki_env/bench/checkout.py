"""Check out another revision of the project: a git worktree in a temporary folder."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import helsinki_env
from helsinki_env.data import UserError, shorten
from helsinki_env.utils.stopping import defer_interrupt

#: The folder of the running project.
ROOT = Path(helsinki_env.__file__).resolve().parent.parent


def _git(*words: str) -> str | None:
    """Return git's output for the project, or None if it fails.

    Ctrl-C must stop this program and not git, and hooks are for developers in a checkout only.
    """
    command = ["git", "-C", str(ROOT), "-c", "core.hooksPath=/dev/null", *words]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, start_new_session=True
        )
    except FileNotFoundError:
        raise UserError("--against: found no git, which is needed to check a revision out") from None
    return done.stdout.strip() if done.returncode == 0 else None


def described() -> str:
    """Return a description of the running revision."""
    commit = _git("rev-parse", "--short=7", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{commit} with changes" if changed else f"{commit}"


class Checkout:
    """Context manager for a revision in a temporary folder.

    Args:
        revision: any revision that git accepts.

    Attributes:
        commit: its short hash.
        date: its commit date.
        scratch: temporary folder for related files, removed with the checkout.
        folder: the folder of its files.

    Raises:
        ValueError: if the project is not a git checkout, or the revision does not exist or lacks the project.
    """

    def __init__(self, revision: str) -> None:
        top = _git("rev-parse", "--show-toplevel")
        if top is None or Path(top).resolve() != ROOT:
            raise UserError(
                f"--against: found {shorten(ROOT)}, which is no git checkout of the project; expected one: clone it, "
                "install that with pip install -e, and start the command there"
            )
        # Without this, git would parse a name that begins with a dash as an option.
        commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if commit is None:
            raise UserError(f"--against: found {shorten(revision)}, expected a revision that git knows, such as HEAD~1")
        if _git("cat-file", "-e", f"{commit}:helsinki_env/__init__.py") is None:
            raise UserError(f"--against: found {shorten(revision)}, which has no package helsinki_env to measure")
        self.commit, self._full = commit[:7], commit
        self.date = _git("show", "--no-patch", "--format=%cs", commit) or ""
        self.scratch = Path()

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.scratch / self.commit

    def __enter__(self) -> Checkout:
        """Check out the revision."""
        with defer_interrupt():
            self.scratch = Path(tempfile.mkdtemp(prefix="helsinki-env-bench-")).resolve()
            if _git("worktree", "add", "--quiet", "--detach", str(self.folder), self._full) is None:
                self.remove()
                raise UserError(f"--against: git could not check {self.commit} out into {shorten(self.scratch)}")
        return self

    def remove(self) -> None:
        """Remove the checkout unless it is already removed."""
        if self.scratch.exists():
            _git("worktree", "remove", "--force", str(self.folder))
            shutil.rmtree(self.scratch, ignore_errors=True)

    def __exit__(self, *_: object) -> None:
        """Remove the checkout."""
        self.remove()
