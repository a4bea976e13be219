"""The size of what a reader has to take in at a time: functions, and folders; and where ops are named."""

import ast
import re
from collections import Counter
from pathlib import Path

import tapeflow

ROOT = Path(tapeflow.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TREES = {str(file.relative_to(ROOT)): ast.parse(file.read_text()) for file in FILES}
LINES = 80
MODULES = 30

# Where a string outside of `ops` may be the name of an op, and why. Elsewhere the row itself is asked, or compared.
_PATTERN = "a pattern of nodes in a GraphDef, as the tool writes patterns"
_CLASS = "a public class of that name"
_DATASET = "a kind of datasets of that name"
_SCOPE = "the default of a name scope, or of a tensor's name"
_PROSE = "a word of a text"
NAMED = {
    "contrib/gan/eval/classifiers.py": _SCOPE,
    "contrib/layers/convolutions.py": _SCOPE,
    "contrib/layers/dense.py": _SCOPE,
    "contrib/quantize/common.py": _SCOPE,
    "contrib/quantize/fold_batch_norms.py": _PATTERN,
    "contrib/quantize/rewriting.py": _PATTERN,
    "core/tensor_shape.py": _PROSE,
    "data/kinds.py": _DATASET,
    "data/sources/saving.py": _DATASET,
    "data/sources/values.py": _DATASET,
    "data/transform/leaving_out.py": _DATASET,
    "data/transformations.py": _DATASET,
    "graph/interchange/attributes.py": _PROSE,
    "keras/engine/summary.py": _PROSE,
    "keras/engine/summary2.py": _PROSE,
    "saved_model/experimental.py": _CLASS,
    "saved_model/fingerprint.py": _CLASS,
    "tools/graph_transforms/batch_norms.py": _PATTERN,
    "tools/graph_transforms/convolutions.py": _PATTERN,
    "tools/optimize_for_inference_lib.py": _PATTERN,
    "v1/distributions/__init__.py": _CLASS,
    "v1/distributions/discrete.py": _CLASS,
}
MOST_NAMED = 36


def strings(tree):
    """The strings of a file that are no docstrings."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {id(n.body[0].value) for n in ast.walk(tree)
            if isinstance(n, holders) and n.body and isinstance(n.body[0], ast.Expr)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def names_in(text, rows):
    """The rows that a string names: it is one name, or a table of them; prose does not count."""
    words = text.split()
    alike = sum(bool(re.fullmatch(r"[A-Z]\w*([.:,=]\S*)?", word)) for word in words)
    if len(words) == 1 or alike >= 0.7 * len(words) > 0:
        yield from rows.intersection(re.match(r"\w*", word)[0] for word in words)


def test_ops_are_named_by_their_rows():
    rows = set()
    for file in (ROOT / "ops").rglob("*.py"):
        rows.update(re.findall(r"""@op\(\s*["']([A-Z]\w+)["']""", file.read_text()))
    classes = {n.name for tree in TREES.values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
    named = {}
    for file, tree in TREES.items():
        folder = file.split("/")[0]
        if folder in ("ops", "protos", "alias") or file == "raw_ops.py":
            continue
        known = rows - classes if folder in ("keras", "contrib", "layers") else rows  # Conv2D is a layer too
        found = {name for text in strings(tree) for name in names_in(text, known)}
        if found:
            named[file] = found
    unexpected = {file: sorted(found) for file, found in named.items() if file not in NAMED}
    assert not unexpected, f"ask the row for the fact, or compare rows: {unexpected}"
    assert named.keys() == NAMED.keys()
    assert len(set().union(*named.values())) <= MOST_NAMED


def test_functions_are_short():
    long = []
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno - node.lineno >= LINES:
                long.append(f"{file}:{node.lineno} {node.name}")
    assert not long, f"more than {LINES} lines: {long}"


def test_folders_hold_few_modules():
    folders = Counter(str(file.parent.relative_to(ROOT)) for file in FILES)
    full = {folder: count for folder, count in folders.items() if count > MODULES}
    assert not full, f"put modules of these folders into packages by topic: {full}"


# Files that are longer than a reader takes in at a time: lower the limit, do not raise it.
FILE_LINES = 400
MOST_LONG_FILES = 22


def test_few_files_are_long():
    long = sorted(str(file.relative_to(ROOT)) for file in FILES if file.read_text().count("\n") > FILE_LINES)
    assert len(long) <= MOST_LONG_FILES, f"split these by topic: {long}"


def test_packages_say_what_they_hold():
    silent = [f for f, tree in TREES.items() if f.endswith("__init__.py") and ast.get_docstring(tree) is None]
    assert not silent, silent


# Attributes of other objects that begin with an underscore: lower the limit, do not raise it.
MOST_PRIVATE = 225
_OF_NAMEDTUPLES = {"_replace", "_fields", "_asdict", "_make"}  # which are public


def test_few_private_attributes_are_read_from_outside():
    found = [
        node.attr
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and re.match("_[a-z]", node.attr)
        and node.attr not in _OF_NAMEDTUPLES
        and not isinstance(node.value, ast.Call)
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "_native"))
    ]
    assert len(found) <= MOST_PRIVATE
