"""What code may do to the world while it reads a file that somebody else has made: nothing but read that file.

    with confined(folder):
        tf.keras.models.load_model(folder / "m.keras")

fails if the block opens a file for writing or one outside of `folder`, changes the file system, opens a socket,
starts a process, imports a module that is not part of Python or an installed package, or runs, compiles, or unpickles
code. The interpreter reports these events to an audit hook; native code that opens files by itself is not seen.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import site
import sys
import sysconfig
import threading
from collections.abc import Iterator

import tapeflow

# Where modules may be imported from.
_CODE = tuple(
    os.path.realpath(path)
    for path in {
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        *site.getsitepackages(),
        os.path.dirname(tapeflow.__file__),
    }
)
_HARMLESS_FILES = ("/dev/null", "/dev/urandom")
_PROCESSES = ("subprocess.", "os.system", "os.exec", "os.fork", "os.spawn", "os.posix_spawn", "os.kill", "pty.")
_NETWORK = ("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "webbrowser.")
_CODE_EVENTS = ("exec", "compile", "marshal.", "pickle.find_class", "code.__new__", "function.__new__", "ctypes.dl")
# Events that change a file system, and which of their arguments are the paths where they do.
_FIRST, _SECOND, _BOTH = slice(1), slice(1, 2), slice(2)
_CHANGES = {
    "os.remove": _FIRST, "os.rename": _BOTH, "os.mkdir": _FIRST, "os.rmdir": _FIRST, "os.link": _BOTH,
    "os.symlink": _SECOND, "os.truncate": _FIRST, "os.chmod": _FIRST, "os.chown": _FIRST, "os.utime": _FIRST,
    "os.setxattr": _FIRST, "os.removexattr": _FIRST, "shutil.rmtree": _FIRST, "shutil.copyfile": _SECOND,
    "shutil.move": _BOTH, "tempfile.mkstemp": _FIRST, "tempfile.mkdtemp": _FIRST,
}  # fmt: skip
_LISTINGS = ("os.listdir", "os.scandir", "glob.glob")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Refused(RuntimeError):
    """An effect that the block must not have; it does not happen."""


class _Watch:
    """What is allowed at the moment, and what was tried all the same."""

    def __init__(self, reads: tuple[str, ...], writes: tuple[str, ...], allowed: tuple[str, ...]):
        self.reads, self.writes, self.allowed = reads, writes, allowed
        self.imported = frozenset(name.partition(".")[0] for name in sys.modules)
        self.tried: list[str] = []

    def check(self, event: str, args: tuple) -> str | None:
        """What is wrong with an event, or None."""
        if event.startswith(self.allowed):
            return None
        if event.startswith(("open", "os.")) and _in_rmtree():
            return None
        if event == "open":
            return self._check_open(*args)
        if event in _CHANGES:
            paths = [path for path in args[_CHANGES[event]] if not isinstance(path, int)]  # or open already
            return None if all(_within(p, self.writes) for p in paths) else f"{event}({paths})"
        if event in _LISTINGS:
            inside = isinstance(args[0], int) or _within(args[0] or ".", self.reads + self.writes)
            return None if inside or self._importing() else f"{event}({args[0]!r})"
        if event == "import":
            return None if _is_known(args[0], self.imported) else f"import {args[0]}"
        if event.startswith(_CODE_EVENTS):
            return None if self._importing() else f"{event}{args[:2]!r:.200}"
        if event.startswith(_PROCESSES + _NETWORK):
            return f"{event}{args!r:.200}"
        return None

    def _importing(self) -> bool:
        """Whether the event is part of an import, all of whose modules may be imported: they are on the stack."""
        frame = sys._getframe(1)
        names = []
        while frame is not None:
            if frame.f_code.co_name == "_find_and_load" and frame.f_code.co_filename.startswith("<frozen importlib"):
                names.append(frame.f_locals["name"])
            frame = frame.f_back
        return bool(names) and all(_is_known(name, self.imported) for name in names)

    def _check_open(self, path, mode, flags) -> str | None:
        if isinstance(path, int):
            return None  # open already
        writes = any(c in mode for c in "wax+") if mode is not None else flags & _WRITING
        if _within(path, self.writes) or (not writes and _within(path, self.reads)):
            return None
        text = os.path.realpath(os.fsdecode(path))
        if text in _HARMLESS_FILES or (not writes and (self._importing() or _is_source(text))):
            return None
        return f"open({text!r}) to {'write' if writes else 'read'}"


_watch: _Watch | None = None
_installed = False
_judging = threading.local()


def _hook(event: str, args: tuple) -> None:
    watch = _watch
    if watch is None or getattr(_judging, "on", False):
        return
    _judging.on = True
    try:
        wrong = watch.check(event, args)
    finally:
        _judging.on = False
    if wrong is not None:
        watch.tried.append(wrong)
        raise Refused(wrong)


def _within(path, folders: tuple[str, ...]) -> bool:
    if isinstance(path, int) or path is None:
        return False
    real = os.path.realpath(os.fsdecode(path))
    return any(real == folder or real.startswith(folder + os.sep) for folder in folders)


def _is_known(module: str, imported: frozenset[str]) -> bool:
    """Whether an import by this name finds a module of Python, of an installed package, or one imported before."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names or root in imported:
        return True
    return any(os.path.exists(os.path.join(code, root + ending)) for code in _CODE for ending in ("", ".py"))


def _in_rmtree() -> bool:
    """Whether the event is part of `shutil.rmtree`, which was allowed, and goes by names within open folders."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name.startswith("_rmtree") and frame.f_code.co_filename == shutil.__file__:
            return True
        frame = frame.f_back
    return False


def _is_source(path: str) -> bool:
    """Whether a file is source code of what runs anyway, as a traceback and the inspection of functions read it."""
    return path.endswith((".py", ".pyc", ".so")) and any(path.startswith(code + os.sep) for code in _CODE)


@contextlib.contextmanager
def confined(*folders, writes=(), allowed: tuple[str, ...] = ()) -> Iterator[None]:
    """A block that fails with an AssertionError for any effect outside of these folders.

    Args:
      folders: what may be read: folders with all that is in them, or files.
      writes: what may be written as well, likewise.
      allowed: beginnings of the names of audit events that are allowed, such as "compile".
    """
    global _watch, _installed
    assert _watch is None, "confined() is not nested"
    if not _installed:  # a hook cannot be removed
        sys.addaudithook(_hook)
        _installed = True
    gc.collect()  # finalizers of what came before have their effects before
    watch = _Watch(_real(folders), _real(writes), tuple(allowed))
    _watch = watch
    try:
        yield
    except BaseException:
        _watch = None
        if not watch.tried:
            raise
    finally:
        _watch = None
    assert not watch.tried, f"effects of what only reads: {watch.tried}"


def _real(paths) -> tuple[str, ...]:
    return tuple(os.path.realpath(os.fspath(p)) for p in paths)
