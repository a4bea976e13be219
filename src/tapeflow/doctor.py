"""Reports which names of TensorFlow a program or package uses, and what is missing here: `python -m tapeflow.doctor`.

    python -m tapeflow.doctor [--v1 | --v2] (program.py | folder | package)...

The code is read, not run. Without --v1 or --v2 the names that are used tell which TensorFlow the code was written for.
The exit code is 0 where nothing is missing, 1 where something is, 2 where there is no code to read.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tapeflow.alias import install_as_tensorflow, missing

USAGE = "usage: python -m tapeflow.doctor [--v1 | --v2] (program.py | folder | package)..."
_MOST_PLACES = 3


class Use(NamedTuple):
    """A name of TensorFlow in a source.

    Attributes:
      name: such as "tensorflow.nn.relu".
      place: file and line.
      keywords: of the call, if it is one.
      tried: whether the code is ready for the name to be missing: it is inside of a `try`.
    """

    name: str
    place: str
    keywords: tuple[str, ...] = ()
    tried: bool = False


def main(argv: Sequence[str]) -> int:
    """Prints the report for the programs and packages that the arguments name; returns the exit code."""
    if not argv or set(argv) & {"-h", "--help"}:
        print(__doc__ if argv else USAGE)
        return 0 if argv else 2
    options = [each for each in argv if each.startswith("-")]
    targets = [each for each in argv if not each.startswith("-")]
    unknown = set(options) - {"--v1", "--v2"}
    if unknown or len(options) > 1 or not targets:
        print(USAGE, file=sys.stderr)
        return 2
    uses: list[Use] = []
    files = skipped = 0
    for target in targets:
        found = list(_files(target))
        if not found:
            print(f"tapeflow.doctor: {target!r} is no Python file, folder or installed package", file=sys.stderr)
            return 2
        files += len(found)
        for path in found:
            read = uses_in(path)
            uses += read or []
            skipped += read is None
    if skipped == files:
        print("tapeflow.doctor: none of the files is Python 3", file=sys.stderr)
        return 2
    v1 = options == ["--v1"] if options else of_1x(uses)
    problems, tried = diagnose(uses, v1)
    _report(files - skipped, uses, v1, problems, tried)
    if skipped:
        print(f"{skipped} more {'files were' if skipped > 1 else 'file was'} not read.")
    return 1 if problems else 0


# What a program uses.


def _files(target: str) -> Iterator[str]:
    """The Python files of a path or of an installed package."""
    if not os.path.exists(target):
        root, *rest = target.split(".")
        try:
            spec = importlib.util.find_spec(root)
        except (ImportError, ValueError):
            spec = None
        if spec is None or spec.origin is None:
            return
        target = os.path.dirname(spec.origin) if spec.submodule_search_locations else spec.origin
        if rest:
            target = os.path.join(target, *rest)
            target = target if os.path.isdir(target) else f"{target}.py"
    if os.path.isfile(target):
        yield target
    for folder, folders, files in os.walk(target):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (os.path.join(folder, file) for file in sorted(files) if file.endswith(".py"))


def uses_in(path: str) -> list[Use] | None:
    """The names of TensorFlow in a Python file, as far as reading it shows them; None if it cannot be read."""
    with open(path, "rb") as file:
        try:
            tree = ast.parse(file.read(), path)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            print(f"{path}: skipped, not Python 3: {error}", file=sys.stderr)
            return None
    reader = _Reader(path)
    try:
        reader.visit(tree)
    except RecursionError:
        print(f"{path}: skipped, an expression in it is nested too deeply", file=sys.stderr)
        return None
    return reader.uses


class _Reader(ast.NodeVisitor):
    """Follows the names that a file gives to TensorFlow's modules."""

    def __init__(self, path: str):
        self.path = path
        self.uses: list[Use] = []
        self._known: dict[str, str] = {}  # what a name of the file is called in TensorFlow
        self._tries = 0

    def _use(self, name: str, node: Any, keywords: tuple[str, ...] = ()) -> None:
        self.uses.append(Use(name, f"{self.path}:{node.lineno}", keywords, bool(self._tries)))

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            if each.name.split(".")[0] == "tensorflow":
                self._use(each.name, node)
                self._known[each.asname or "tensorflow"] = each.name if each.asname else "tensorflow"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.split(".")[0] != "tensorflow":
            return
        for each in node.names:
            if each.name == "*":
                self._use(module, node)
            else:
                self._use(f"{module}.{each.name}", node)
                self._known[each.asname or each.name] = f"{module}.{each.name}"

    def visit_Assign(self, node: ast.Assign) -> None:
        name = self._name(node.value)
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):  # slim = tf.contrib.slim
                if name is not None:
                    self._known[target.id] = name
                else:
                    self._known.pop(target.id, None)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._name(node)
        if name is None:
            self.generic_visit(node)
        else:
            self._use(name, node)

    def visit_Call(self, node: ast.Call) -> None:
        name = self._name(node.func)
        if name is None:
            self.visit(node.func)
        else:
            self._use(name, node, tuple(each.arg for each in node.keywords if each.arg))
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def visit_Try(self, node: ast.Try) -> None:
        ready = any(_catches_absence(each.type) for each in node.handlers)
        self._tries += ready
        for each in node.body:
            self.visit(each)
        self._tries -= ready
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def _name(self, node: ast.AST) -> str | None:
        """What `tf.a.b` is called in TensorFlow; None for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in self._known:
            return ".".join([self._known[node.id], *reversed(parts)])
        return None


def _catches_absence(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    parts = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    names = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}
    return any(isinstance(each, ast.Name) and each.id in names for each in parts)


def of_1x(uses: Sequence[Use]) -> bool:
    """Whether code was written for TensorFlow 1.x: it uses more names that only 1.x has than such of 2.x only."""
    score = 0
    for name in {use.name for use in uses}:
        parts = name.split(".")[1:]
        if parts[:1] == ["contrib"]:
            score += 1
        for n in range(len(parts)):
            era = missing.names().get(".".join(parts[:n]), {}).get(parts[n])
            score += (era in ("1", "1+")) - (era in ("2", "+"))
            if era is not None and ".".join(parts[: n + 1]) not in missing.names():
                break
    return score > 0


# What is missing.


def diagnose(uses: Sequence[Use], v1: bool) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What is missing of the names that code uses: {sentence: places}, and the same of names that it only tries.

    `tensorflow` is served by this package in the process from then on.
    """
    install_as_tensorflow(v1=v1)
    problems: dict[str, list[str]] = {}
    tried: dict[str, list[str]] = {}
    answers: dict[str, Any] = {}
    for use in uses:
        if use.name not in answers:
            answers[use.name] = _look_up(use.name)
        thing, sentence = answers[use.name]
        if not sentence:
            sentence = _of_arguments(use, thing)
        if sentence:
            places = (tried if use.tried else problems).setdefault(sentence, [])
            if use.place not in places:
                places.append(use.place)
    return problems, {sentence: places for sentence, places in tried.items() if sentence not in problems}


def _look_up(name: str) -> tuple[Any, str]:
    """What a dotted name leads to, and the sentence that says what is missing; "" where nothing is."""
    root, *parts = name.split(".")
    thing: Any = importlib.import_module(root)
    at = root
    for part in parts:
        if isinstance(thing, types.ModuleType):
            try:
                thing = getattr(thing, part)
            except AttributeError as error:
                try:
                    thing = importlib.import_module(f"{at}.{part}")
                except ImportError:
                    return None, str(error)
        elif isinstance(thing, type):
            if not hasattr(thing, part):
                return None, f"{at} has no attribute {part!r} in tapeflow."
            thing = getattr(thing, part)
        else:  # attributes of an object, which only a run would tell
            return None, ""
        at += f".{part}"
    return thing, ""


def _of_arguments(use: Use, thing: Any) -> str:
    """The sentence for arguments that a function does not take here."""
    if not use.keywords or not callable(thing):
        return ""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return ""
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return ""
    names = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    unknown = [repr(each) for each in use.keywords if each not in names]
    if not unknown:
        return ""
    plural = "s" if len(unknown) > 1 else ""
    return f"{use.name} is there, but not its argument{plural} {', '.join(unknown)}: it has {', '.join(names)}."


def _report(
    files: int, uses: Sequence[Use], v1: bool, problems: dict[str, list[str]], tried: dict[str, list[str]]
) -> None:
    names = {use.name for use in uses}
    release = "1.x" if v1 else "2.x"
    print(f"{files} file{'s' * (files != 1)}, {len(names)} names of TensorFlow {release}.")
    for title, found in (("Missing", problems), ("Tried by the code, which is ready to do without", tried)):
        if found:
            print(f"\n{title}:")
        for sentence, places in sorted(found.items(), key=lambda item: -len(item[1])):
            more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
            print(f"  {sentence}\n    {', '.join(places[:_MOST_PLACES])}{more}")
    if not problems:
        print("Nothing is missing. Run it: python -m tapeflow.run" + " --v1" * v1 + " program.py")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
