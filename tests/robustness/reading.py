"""Where the package reads bytes that may come from elsewhere: functions that parse, unpack, decode, or open files."""

import ast
import sys
import threading
from pathlib import Path

import tapeflow

ROOT = Path(tapeflow.__file__).parent
# Methods that take bytes apart, whatever they are called on, and functions that do, by the modules that have them.
_METHODS = {"FromString", "ParseFromString", "MergeFromString", "unpack_from", "iter_unpack", "decompressobj"}
_FUNCTIONS = {
    "struct": {"unpack"}, "json": {"load", "loads"}, "np": {"load", "frombuffer", "fromfile", "loadtxt"},
    "pickle": {"load", "loads"}, "marshal": {"load", "loads"}, "zipfile": {"ZipFile"}, "tarfile": {"open"},
    "gzip": {"open", "decompress"}, "bz2": {"open", "decompress"}, "lzma": {"open", "decompress"},
    "zlib": {"decompress"}, "csv": {"reader", "DictReader"}, "text_format": {"Parse", "Merge"},
    "json_format": {"Parse", "ParseDict"}, "mmap": {"mmap"}, "Image": {"open"}, "sqlite3": {"connect"},
    "int": {"from_bytes"}, "ast": {"literal_eval"}, "base64": {"b64decode", "decodebytes"},
}  # fmt: skip


def _reads(call):
    """Whether a call takes bytes apart, or opens a file to read."""
    function = call.func
    if isinstance(function, ast.Attribute):
        owner = function.value
        named = isinstance(owner, ast.Name) and function.attr in _FUNCTIONS.get(owner.id, ())
        hdf5 = function.attr == "File" and isinstance(owner, ast.Call)  # h5py().File
        return named or function.attr in _METHODS or (hdf5 and not _writes(call))
    opens = isinstance(function, ast.Name) and function.id in ("open", "GFile")
    return opens and not _writes(call)


def _writes(call):
    mode = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    said = [n.value for each in mode for n in ast.walk(each) if isinstance(n, ast.Constant)]
    return any(isinstance(text, str) and {*"wax"} & {*text} for text in said)


def _functions(tree):
    """(qualified name, node) of the functions of a module."""
    todo = [(tree, "")]
    for node, before in todo:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield before + child.name, child
                todo.append((child, f"{before}{child.name}.<locals>."))
            else:
                todo.append((child, f"{before}{child.name}." if isinstance(child, ast.ClassDef) else before))


def _own(function):
    """The nodes of a function without those of the functions in it."""
    todo = [function]
    for node in todo:
        yield node
        todo += [c for c in ast.iter_child_nodes(node) if not isinstance(c, (ast.FunctionDef, ast.AsyncFunctionDef))]


def places():
    """The functions of the package that read, as "file function"."""
    found = set()
    for file in sorted(ROOT.rglob("*.py")):
        for name, function in _functions(ast.parse(file.read_text())):
            if any(isinstance(node, ast.Call) and _reads(node) for node in _own(function)):
                found.add(f"{file.relative_to(ROOT)} {name}")
    return found


class called:
    """A block in which the functions of the package that run, in any thread, are kept: "file function"."""

    def __enter__(self):
        self._codes, self._before = set(), sys.getprofile()
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_):
        sys.setprofile(self._before)
        threading.setprofile(self._before)

    def _see(self, frame, event, arg):
        if event == "call":
            self._codes.add(frame.f_code)

    def functions(self):
        """What has run."""
        start = f"{ROOT}/"
        return {f"{code.co_filename.removeprefix(start)} {code.co_qualname}" for code in self._codes
                if code.co_filename.startswith(start)}  # fmt: skip
