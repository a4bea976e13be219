"""Runs a TensorFlow program on tapeflow: `python -m tapeflow.run program.py [args...]`.

    python -m tapeflow.run [--v1] [--untrusted] program.py [args...]
    python -m tapeflow.run [--v1] [--untrusted] -m module [args...]
    python -m tapeflow.run [--v1] [--untrusted] -c code [args...]

With --untrusted, models that the program loads are not trusted unless it says so: SavedModels, GraphDefs and
MetaGraphDefs with ops that touch files or Python are refused, and what the others may use is limited (see SECURITY.md).
The program itself is trusted, as ever.

`import tensorflow` gives the names of TensorFlow 2.x, or with --v1 those of 1.x, where operations build a graph until
the program enables eager execution.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from types import TracebackType

from tapeflow.alias import install_as_tensorflow
from tapeflow.core.public import PACKAGE_DIRECTORY

USAGE = "usage: python -m tapeflow.run [--v1] [--untrusted] (program.py | -m module | -c code) [args...]"


def main(argv: Sequence[str]) -> int | None:
    """Runs the program that the arguments name; returns an exit code where there is none to run."""
    rest = list(argv)
    v1 = untrusted = False
    while rest and rest[0] in ("--v1", "--v2", "--untrusted", "-h", "--help"):
        option = rest.pop(0)
        if option in ("-h", "--help"):
            print(__doc__)
            return 0
        if option == "--untrusted":
            untrusted = True
        else:
            v1 = option == "--v1"
    kind = rest.pop(0) if rest and rest[0] in ("-m", "-c") else None
    if not rest or (kind is None and rest[0].startswith("-")):
        print(USAGE, file=sys.stderr)
        return 2
    target, arguments = rest[0], rest[1:]
    if kind is None and not os.path.exists(target):
        print(f"tapeflow.run: there is no file {target!r}\n{USAGE}", file=sys.stderr)
        return 2
    install_as_tensorflow(v1=v1)
    if untrusted:
        from tapeflow.graph.interchange import trust

        trust.set_default(trust.Limits())
    sys.excepthook = _show
    if kind == "-c":
        sys.argv = ["-c", *arguments]
        sys.path[0] = ""
        _run_code(target)
    elif kind == "-m":
        sys.argv = [target, *arguments]
        sys.path[0] = os.getcwd()
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    else:
        sys.argv = [target, *arguments]
        sys.path[0] = os.path.dirname(os.path.abspath(target))
        _run_file(target)
    return None


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Prints an exception as `python program.py` would: without the frames of this package and of runpy."""
    if not os.environ.get("TAPEFLOW_FULL_TRACEBACK"):
        frames = [frame for frame, _ in traceback.walk_tb(trace)]
        theirs = [not _is_ours(frame.f_code.co_filename) for frame in frames]
        if any(theirs):
            trace = _linked(trace, iter(theirs))
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


def _is_ours(file: str) -> bool:
    return file.startswith(PACKAGE_DIRECTORY + os.sep) or file == "<frozen runpy>"


def _linked(trace: TracebackType | None, kept: Iterator[bool]) -> TracebackType | None:
    """The entries of a traceback for which `kept` says so."""
    if trace is None:
        return None
    keep, rest = next(kept), _linked(trace.tb_next, kept)
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno) if keep else rest


def _program(name: str, file: str | None) -> dict[str, object]:
    """The namespace of the module __main__, which the program becomes."""
    import types

    module = types.ModuleType("__main__")
    if file is not None:
        module.__file__ = file
    module.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = module
    return module.__dict__


def _run_file(path: str) -> None:
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        runpy.run_path(path, run_name="__main__")
        return
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, _program("__main__", path))


def _run_code(text: str) -> None:
    import linecache

    lines = text.splitlines(keepends=True)
    linecache.cache["<string>"] = (len(text), None, lines, "<string>")
    exec(compile(text, "<string>", "exec", dont_inherit=True), _program("__main__", None))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
