"""Cache the machine code of the kernels on disk.

Numba's own cache checks only the source file of a kernel, not the kernels that it calls, so it could run outdated
rules. Here, the name of the folder contains a digest of all rule sources. The name of a file depends on everything else
that determines the machine code: the kernel, the argument types and the CPU. Processes with the same sources share the
cache and do not load outdated code. Players, including external ones, have their own subfolders, so a change to their
kernels does not recompile the rules.

Cached machine code is executed without checks, so the cache folder must not be writable by other users. Damaged files
are ignored.
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
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import sigutils
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.core.types import BaseTuple  # type: ignore[attr-defined]  # Numba is not typed

from helsinki_env.utils.files import try_lock, unlock
from helsinki_env.utils.machine import cache_folder, is_safe

_PACKAGE = Path(__file__).resolve().parent.parent
_PLAYERS, _TRAINING = ((_PACKAGE / name).resolve() for name in ("agents", "training"))
#: Files whose kernels or constants are used by kernels in other files. All other kernels are called only from Python,
#: so checking their own file is enough.
_SOURCES = ("engine/*.py", "games/*/*.py", "mini/game.py", "envs/*kernels.py")

#: Name of the file whose modification time records the last use of its folder, and days until an unused folder is
#: removed.
_USED = "used"
_DAYS = 30
_DAY = 24 * 60 * 60
_THIS_PROCESS = secrets.token_hex(8)


def source_digest(*flags: object) -> str:
    """Return 16 hexadecimal digits that depend on all rule sources, the flags, and the Numba and NumPy versions."""
    versions = (numba.__version__, np.__version__, sys.implementation.cache_tag)
    digest = hashlib.sha256(repr((versions, flags)).encode())
    for pattern in _SOURCES:
        for path in sorted(_PACKAGE.glob(pattern)):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# Folders


def open_folder(name: str) -> str:
    """Return the folder called `name` for compiled code; see `helsinki_env.utils.machine`."""
    folder = cache_folder(name)
    _note_use(folder)
    return folder


def _note_use(folder: str) -> None:
    """Mark a folder as used, at most once a day, and remove sibling folders that have not been used for a long time."""
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
            elif re.fullmatch(r"(.+-)?[0-9a-f]{16}\.\d+", other.name):  # a process ended while it removed the folder
                shutil.rmtree(other.path, ignore_errors=True)
    except OSError:  # a read-only folder, or another process is cleaning up
        pass


def _remove_unused(folder: str, now: float) -> None:
    try:
        if now - os.stat(os.path.join(folder, _USED)).st_mtime < _DAYS * _DAY:
            return
        # Rename the folder first, so that other processes find no folder rather than an incomplete one.
        leaving = f"{folder}.{os.getpid()}"
        os.rename(folder, leaving)
    except OSError:  # a folder without a marker was not created here
        return
    shutil.rmtree(leaving, ignore_errors=True)


@cache
def is_project_file(source: str) -> bool:
    """Return whether a source file belongs to the project."""
    path = Path(source).resolve()
    return any(path.is_relative_to(folder) for folder in (_PACKAGE, _PLAYERS, _TRAINING))


def source_of(function: Callable[..., Any]) -> str:
    """Return the source file of a function, or the file of the table for a generated kernel (`engine.fields`)."""
    file, _ = function.__globals__.get("__generated_from__", (function.__code__.co_filename, ""))
    return str(file)


def _kernel_files(package: Path) -> list[Path]:
    """Return all files in the folders with kernels, because kernels use constants of the files next to them."""
    folders = {file.parent for file in package.rglob("*.py") if b"@kernel" in file.read_bytes()}
    return sorted(file for folder in folders for file in folder.glob("*.py"))


def _with_imports(file: Path) -> list[Path]:
    """Return a file and the files in its folder that it imports, directly or not."""
    found = [file]
    for one in found:
        for name in re.findall(r"^\s*(?:from|import)\s+(\w+)", one.read_text(encoding="utf-8"), re.MULTILINE):
            path = file.parent / f"{name}.py"
            if path not in found and path.is_file():
                found.append(path)
    return sorted(found)


@cache
def folder_for(source: str, rules: str) -> str:
    """Create and return the cache folder for the kernels of a source file, inside the folder of the rules."""
    version = source_version(source)
    if not version:
        return rules
    folder = os.path.join(rules, version)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:  # nothing can be cached, as in a read-only folder
        return folder
    _note_use(folder)
    return folder


@cache
def source_version(source: str) -> str:
    """Return a name that changes with any kernel that a source file may call, or "" for files of the rules.

    The name contains a digest of all files next to kernels in the same package and of the project's players, because
    kernels may call each other and use constants. For a file outside a package, these are the files that it imports
    from its folder. Constants from elsewhere must not change.
    """
    path = Path(source).resolve()
    if not path.is_file():  # code from an interactive session, which is not shared
        return _THIS_PROCESS
    package = next((folder for folder in (_PLAYERS, _TRAINING, _PACKAGE) if path.is_relative_to(folder)), None)
    if package == _PACKAGE:
        return ""
    if package is None:
        package = path.parent
        while (package.parent / "__init__.py").exists():
            package = package.parent
    digest = hashlib.sha256()
    if (package / "__init__.py").exists():
        files = [(package, file) for file in _kernel_files(package)]
    else:
        files = [(package, file) for file in _with_imports(path)]
        # Outside a package, the cache is shared only within a folder.
        digest.update(str(package).encode())
    if package != _PLAYERS:
        files += [(_PLAYERS, file) for file in _kernel_files(_PLAYERS)]
    for root, file in files:
        digest.update(f"{file.relative_to(root.parent)}\n".encode() + file.read_bytes())
    return f"{package.stem}-{digest.hexdigest()[:16]}"


# Files


class CompileLocks:  # pragma: no cover  # coverage is measured without the compiler
    """Claims on files that this process compiles, so that other processes wait instead of compiling them, too.

    Claims are byte-range locks on a file, which the system releases when the process ends. The waiting time is limited,
    because the other process may be suspended. On file systems without locks, each process compiles everything itself.
    """

    #: Number of seconds to wait for another process. After a timeout, this process never waits again.
    patience = 60.0

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "claims")
        self.file: int | None = None
        self.held: set[int] = set()

    def claim(self, name: str) -> bool:
        """Claim a file. Return whether another process held the claim, and so may have written the file."""
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
        """Release a claim if this process holds it."""
        byte = self._byte(name)
        if self.file is not None and byte in self.held:
            self.held.remove(byte)
            with contextlib.suppress(OSError):
                unlock(self.file, byte)

    @staticmethod
    def _byte(name: str) -> int:
        return int(hashlib.sha256(name.encode()).hexdigest()[:12], 16)


@cache
def _claims_in(folder: str) -> CompileLocks:  # pragma: no cover  # see above
    return CompileLocks(folder)


@cache
def _digest_of(source: str) -> str:
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()


#: Source files of the kernels that implement the rules for each record type (`engine.overloads`).
_SOURCES_OF: dict[Any, set[str]] = {}


def register_kernel_source(record: Any, source: str) -> None:
    """Register that code compiled for a record type may call kernels in a source file.

    Source files of the project's own players are ignored: the rules never call them, and the cache folders of all other
    kernels depend on them anyway. The cached code of the rules is therefore the same with and without these players.
    """
    if not is_project_file(source):
        _SOURCES_OF.setdefault(record, set()).add(source)


def _records(types: Any) -> Iterator[Any]:
    """Yield the argument types, with arrays replaced by their element types, and the types of the entries of tuples."""
    for part in types:
        yield getattr(part, "dtype", part)
        if isinstance(part, BaseTuple):
            yield from _records(part)


def _versions(types: Any) -> list[str]:
    """Return the versions of the game kernels that code with these argument types may call."""
    return sorted({source_version(source) for record in _records(types) for source in _SOURCES_OF.get(record, ())})


class KernelCache(NullCache):  # pragma: no cover  # coverage is measured without the compiler
    """The cached code of one kernel, with one file per signature. Numba calls the methods before and after compiling.

    If there is a file error, such as a damaged file, a full disk or a read-only folder, the kernel is compiled in
    memory.
    """

    #: The file name extension. Subclasses cache other code of the same kernel.
    suffix = ""
    #: Whether kernels from outside the project exist in this process. They may call Numba's library, which Numba loads
    #: before it reads compiled code; with SciPy's linear algebra, that takes a third of the start of a process. The
    #: project's kernels do not call the library once they are compiled.
    may_need_library = False

    def __init__(self, function: Callable[..., Any], folder: str) -> None:
        code = function.__code__
        self.folder, self.claims = folder, _claims_in(folder)
        self.name = f"{function.__module__}.{function.__qualname__}-{code.co_firstlineno}".replace("<locals>.", "")
        enclosed = [cell.cell_contents for cell in function.__closure__ or ()]
        generated = function.__globals__.get("__generated_from__", "")
        source = _digest_of(source_of(function)), generated and generated[1]
        KernelCache.may_need_library |= not is_project_file(source_of(function))
        self.identity = (self.name, source, code.co_code, dumps(enclosed) if enclosed else b"")

    @property
    def cache_path(self) -> str:
        """The cache folder."""
        return self.folder

    def path(self, signature: Any, codegen: Any) -> str:
        """Return the path of the file for a signature and a CPU."""
        arguments, result = sigutils.normalize_signature(signature)
        types = (str(arguments), str(result), _versions(arguments))
        key = hashlib.sha256(repr((self.identity, types, codegen.magic_tuple())).encode())
        return os.path.join(self.folder, f"{self.name}.{key.hexdigest()[:16]}{self.suffix}")

    def load_overload(self, signature: Any, target_context: Any) -> CompileResult | None:
        """Return the cached code for a signature, or None if there is no usable file."""
        if self.may_need_library:
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
        except Exception:  # the file is damaged
            pass
        _remove(path)
        return None

    def release(self, signature: Any, codegen: Any) -> None:
        """Release the claim for a signature whose file was written or will not be written."""
        self.claims.release(self.path(signature, codegen))

    def save_overload(self, signature: Any, result: CompileResult) -> None:
        """Write the code compiled for a signature to the cache."""
        if any(not lifted.can_cache for lifted in result.lifted) or result.library.has_dynamic_globals:
            return  # the code contains addresses of this process
        data = dumps(self._reduced(result))
        temporary = ""
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)  # another process may have removed it
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
