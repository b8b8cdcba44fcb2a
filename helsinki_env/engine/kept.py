"""Where the machine code of the kernels is kept between processes.

Numba's own cache names its files by the path of a source file and notices changes of that file only, not of the kernels
that it calls: yesterday's rules would go on running, and another clone would compile everything again.
Here a folder is named by a digest of all sources of the rules, and a file by what its machine code depends on beyond
them: kernel, types of the arguments, processor. So all that have the same sources share it, processes that
compile at the same time do not get into each other's way, and nothing is found that is out of date. Players, ours and
others', have folders of their own in it: a change of their kernels does not make the rules compile anew.

Machine code is run as it is found. So it is kept only where nobody else can write, and what is damaged counts as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import sigutils
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from helsinki_env.cache_folder import cache_folder, is_safe
from helsinki_env.locks import try_lock, unlock

_PACKAGE = Path(__file__).resolve().parent.parent
_PLAYERS = _PACKAGE.parent / "agents"
#: Files with kernels that kernels of other files call, and the constants that are compiled into them. Kernels elsewhere
#: (`play.record`, `commands.speed`) are called from Python alone: those notice changes of their own file.
_SOURCES = ("engine/*.py", "games/*/*.py", "envs/*kernels.py", "envs/rewards.py")

#: The file in a folder whose age says when it was last used, and after how many days it may go.
_USED = "used"
_DAYS = 30
_DAY = 24 * 60 * 60
_THIS_PROCESS = secrets.token_hex(8)


def source_digest(*flags: object) -> str:
    """Return 16 hexadecimal digits that change with any source of the rules, any of the flags and the compiler."""
    versions = (numba.__version__, np.__version__, sys.implementation.cache_tag)
    digest = hashlib.sha256(repr((versions, flags)).encode())
    for pattern in _SOURCES:
        for path in sorted(_PACKAGE.glob(pattern)):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# Folders


def open_folder(name: str) -> str:
    """Return the folder `name` of the compiled code, see `helsinki_env.cache_folder`."""
    folder = cache_folder(name)
    _note_use(folder)
    return folder


def _note_use(folder: str) -> None:
    """Note once a day that a folder is in use, and then remove those beside it that nobody has used for long."""
    marker = os.path.join(folder, _USED)
    now = time.time()
    try:
        try:
            if now - os.stat(marker).st_mtime < _DAY:
                return
            os.utime(marker)
        except FileNotFoundError:
            Path(marker).touch(mode=0o600)
        for other in os.scandir(os.path.dirname(folder)):
            if re.fullmatch(r"(.+-)?[0-9a-f]{16}", other.name) and other.is_dir(follow_symlinks=False):
                _remove_unused(other.path, now)
    except OSError:  # a folder that can only be read, or somebody else tidies up at this moment
        pass


def _remove_unused(folder: str, now: float) -> None:
    try:
        if now - os.stat(os.path.join(folder, _USED)).st_mtime < _DAYS * _DAY:
            return
        # away at once: who begins to use it at this moment finds nothing, rather than half of it
        leaving = f"{folder}.{os.getpid()}"
        os.rename(folder, leaving)
    except OSError:  # without a marker it is not one of ours
        return
    shutil.rmtree(leaving, ignore_errors=True)


@cache
def is_ours(source: str) -> bool:
    """Return whether a source file belongs to the project."""
    path = Path(source).resolve()
    return any(path.is_relative_to(folder) for folder in (_PACKAGE, _PLAYERS, _PACKAGE.parent / "training"))


def _kernel_files(package: Path) -> list[Path]:
    return [file for file in sorted(package.rglob("*.py")) if b"@kernel" in file.read_bytes()]


@cache
def folder_for(source: str, rules: str) -> str:
    """Return where the machine code of the kernels of a source file is kept, and make that folder.

    Args:
        source: the path of the file.
        rules: the folder of the rules.
    """
    version = version_of(source)
    if not version:
        return rules
    folder = os.path.join(rules, version)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:  # then nothing is kept, as in a folder that can only be read
        return folder
    _note_use(folder)
    return folder


@cache
def version_of(source: str) -> str:
    """Return a name that changes with the kernels that those of a source file may call, "" for files of the rules.

    Kernels of other packages call each other across files, too: they are named by a digest of all kernel files of their
    package and of the project's players, which they may call. A file that is in no package may call kernels of any file
    beside it: it shares with nothing that lies elsewhere. What was typed in has no file, so no other process can know
    what it does: it shares with none.

    Args:
        source: the path of the file.
    """
    path = Path(source).resolve()
    if not path.is_file():
        return _THIS_PROCESS
    if path.is_relative_to(_PACKAGE):
        return ""
    package = path.parent
    while (package.parent / "__init__.py").exists():
        package = package.parent
    digest = hashlib.sha256()
    if (package / "__init__.py").exists():
        files = [(package, file) for file in _kernel_files(package)]
    else:
        files = [(package, path)]
        digest.update(str(package).encode())
    if package != _PLAYERS:
        files += [(_PLAYERS, file) for file in _kernel_files(_PLAYERS)]
    for root, file in files:
        digest.update(f"{file.relative_to(root.parent)}\n".encode() + file.read_bytes())
    return f"{package.stem}-{digest.hexdigest()[:16]}"


# Files


class Claims:  # pragma: no cover  # coverage is measured without the compiler
    """What this process compiles at the moment, so that others that need the same wait for it instead of doing it, too.

    Claims are locks on bytes of a file: they go with the process, however that ends. Nobody waits for ever, as one
    may have been stopped; and where there are no locks, everybody compiles for himself.

    Args:
        folder: where what is compiled is kept.
    """

    #: Seconds after which somebody who waits does it himself, and does not wait again.
    patience = 60.0

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "claims")
        self.file: int | None = None
        self.held: set[int] = set()

    def claim(self, name: str) -> bool:
        """Claim a file, and return whether somebody else had claimed it and may have written it now."""
        if not self.patience:
            return False
        byte, waited, end = self._byte(name), False, time.monotonic() + self.patience
        try:
            if self.file is None:
                self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            while not try_lock(self.file, byte):
                if time.monotonic() > end:
                    self.patience = 0.0
                    return waited
                waited = True
                time.sleep(0.01)
            self.held.add(byte)
        except OSError:
            self.patience = 0.0
        return waited

    def release(self, name: str) -> None:
        """Give up a claim, if there is one."""
        byte = self._byte(name)
        if self.file is not None and byte in self.held:
            self.held.remove(byte)
            with contextlib.suppress(OSError):
                unlock(self.file, byte)

    @staticmethod
    def _byte(name: str) -> int:
        return int(hashlib.sha256(name.encode()).hexdigest()[:12], 16)


@cache
def _claims_in(folder: str) -> Claims:  # pragma: no cover  # see above
    return Claims(folder)


@cache
def _digest_of(source: str) -> str:
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()


#: Where the kernels stand that are called for records of a type (`engine.rule`).
_SOURCES_OF: dict[Any, set[str]] = {}


def remember(record: Any, source: str) -> None:
    """Remember that what is compiled for records of a type may call kernels of a source file."""
    _SOURCES_OF.setdefault(record, set()).add(source)


def _versions(types: Any) -> list[str]:
    """Return which versions of their games' kernels may be called for arguments of some types."""
    records = {getattr(part, "dtype", part) for part in types}  # of an array, that of its elements
    return sorted({version_of(source) for record in records for source in _SOURCES_OF.get(record, ())})


class Kept(NullCache):  # pragma: no cover  # coverage is measured without the compiler
    """What was compiled of one kernel, in a folder: a file for each combination of types.

    Numba asks it before it compiles, and gives it what it has compiled. Whatever goes wrong with files (damage, a full
    disk, a folder that can only be read) means compiling in memory.

    Args:
        function: the kernel as Python; its file must exist.
        folder: where to keep it.
    """

    #: Distinguishes files of the same kernel.
    ending = ""

    def __init__(self, function: Callable[..., Any], folder: str) -> None:
        code = function.__code__
        self.folder, self.claims = folder, _claims_in(folder)
        self.name = f"{function.__module__}.{function.__qualname__}-{code.co_firstlineno}".replace("<locals>.", "")
        enclosed = [cell.cell_contents for cell in function.__closure__ or ()]
        self.identity = (self.name, _digest_of(code.co_filename), code.co_code, dumps(enclosed) if enclosed else b"")

    @property
    def cache_path(self) -> str:
        """The folder."""
        return self.folder

    def path(self, signature: Any, codegen: Any) -> str:
        """Return the file for a signature and a processor."""
        arguments, result = sigutils.normalize_signature(signature)
        types = (str(arguments), str(result), _versions(arguments))
        key = hashlib.sha256(repr((self.identity, types, codegen.magic_tuple())).encode())
        return os.path.join(self.folder, f"{self.name}.{key.hexdigest()[:16]}{self.ending}")

    def load_overload(self, signature: Any, target_context: Any) -> CompileResult | None:
        """Return what was compiled for a signature, None if there is nothing that can be used."""
        target_context.refresh()
        path = self.path(signature, target_context.codegen())
        found = self._read(path, signature, target_context)
        if found is None and self.claims.claim(path):
            found = self._read(path, signature, target_context)
        return found

    def _read(self, path: str, signature: Any, target_context: Any) -> CompileResult | None:
        try:
            with open(path, "rb") as file:
                if not is_safe(os.fstat(file.fileno())):
                    return None
                digest, data = file.read(32), file.read()
        except OSError:
            return None
        try:
            if hashlib.sha256(data).digest() == digest:
                result = self._restored(target_context, pickle.loads(data))
                if result.signature.args == sigutils.normalize_signature(signature)[0]:
                    return result
        except Exception:  # whatever is in it, it is not what was put there
            pass
        _remove(path)
        return None

    def release(self, signature: Any, codegen: Any) -> None:
        """Let others have what was claimed to be compiled for a signature: it is there, or will never be."""
        self.claims.release(self.path(signature, codegen))

    def save_overload(self, signature: Any, result: CompileResult) -> None:
        """Keep what was compiled for a signature."""
        if any(not lifted.can_cache for lifted in result.lifted) or result.library.has_dynamic_globals:
            return  # holds addresses of this process
        data = dumps(self._reduced(result))
        temporary = ""
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)  # may have been removed since
            handle, temporary = tempfile.mkstemp(prefix="new-", dir=self.folder)
            with open(handle, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(temporary, self.path(signature, result.codegen))
        except OSError:
            if temporary:
                _remove(temporary)

    def _reduced(self, result: CompileResult) -> Any:
        return result._reduce()

    def _restored(self, target_context: Any, data: Any) -> CompileResult:
        return CompileResult._rebuild(target_context, *data)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)
