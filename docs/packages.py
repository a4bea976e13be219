"""The packages of tapeflow, from the lowest to the highest, and the map of them in `packages.svg`.

`python docs/packages.py` draws the map anew. `tests/test_layering.py` holds that no package imports one above it, and
that the map is current.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "tapeflow"
MAP = Path(__file__).with_name("packages.svg")

# A box of the map each: its title, what is below the title, and its packages and modules in their order. All names of
# all boxes are one order: none imports one that comes later. "tapeflow" is the module of the package itself.
LAYERS = [
    ("_native", "C++", "_native"),
    ("api", "public names", "api"),
    ("protos", "messages", "protos"),
    ("core", "dtypes, shapes, errors", "core"),
    ("ops", "the table", "ops"),
    ("graph", "graphs, plans, sessions", "graph"),
    ("cluster", "servers of 1.x", "cluster"),
    ("autodiff", "tapes", "autodiff"),
    ("xla", "compiled by jax", "xla"),
    ("function", "tf.function, AutoGraph", "function"),
    ("checkpoint", "savers, file formats", "checkpoint"),
    ("summary", "event files", "summary"),
    ("train", "optimizers of 1.x, hooks", "train"),
    ("data", "datasets", "data"),
    ("saved_model", "models in files", "saved_model"),
    ("distribute", "replicas, processes", "distribute"),
    ("feature_column", "columns of tables", "feature_column"),
    ("keras", "layers, models", "keras"),
    ("lite", "TensorFlow Lite", "lite"),
    ("serving", "servers of models", "serving"),
    ("experimental", "NumPy's functions", "experimental"),
    (
        "namespaces",
        "tf.math, tf.io, ...",
        "__operators__ audio autograph bitwise config debugging dtypes errors gfile graph_util image io linalg lookup "
        "math nest profiler quantization queue ragged random raw_ops safetensors sets signal sparse strings sysconfig "
        "types version",
    ),
    ("export", "StableHLO, TF.js", "export"),
    ("v1", "what only 1.x has", "v1 layers nn"),
    ("testing", "tf.test", "testing test __internal__"),
    ("tpu", "tf.tpu", "tpu"),
    ("estimator", "tf.estimator", "estimator"),
    ("compat", "tf.compat.v1", "compat"),
    ("contrib", "tf.contrib", "contrib"),
    ("tools", "of graphs and models", "tools"),
    ("alias", "import tensorflow", "alias"),
    ("tapeflow", "tf", "tapeflow"),
    ("commands", "python -m tapeflow.run", "run launch serve doctor pytest"),
]
ORDER = [name for _, _, names in LAYERS for name in names.split()]


def package_of(module: str) -> str:
    """Return the package, or the module below none, that a module belongs to: `tapeflow.ops.math` -> `ops`."""
    return module.split(".")[1] if "." in module else module


def module_name(file: Path, root: Path = ROOT) -> str:
    """Return the name of the module in a file below `root`."""
    parts = ("tapeflow", *file.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(file: Path, root: Path = ROOT) -> Iterator[tuple[str, int]]:
    """The modules of the package that a file imports, wherever and however it does so, with their lines.

    Besides import statements these are the names that `import_module`, `__import__` and `resolve_name` are called
    with, as literals, as the beginnings of f-strings, or from a table of the module, and those that are given to
    namespaces and providers, which load them when they are first used. What is known only when the program runs, as
    in `import_module(f"tapeflow.{name}")`, is not among them.
    """
    package = module_name(file, root).split(".")
    if file.name != "__init__.py":
        package = package[:-1]
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(part for part in (base, node.module) if part)
            bare = source == "tapeflow"  # from tapeflow import ops
            found = [f"tapeflow.{alias.name}" for alias in node.names] if bare else [source]
        elif isinstance(node, ast.Call):
            found = list(_loaded(node, tree))
        else:
            continue
        yield from ((name, node.lineno) for name in found if name.split(".")[0] == "tapeflow")


def _loaded(call: ast.Call, tree: ast.Module) -> Iterator[str]:
    """The modules that a call loads, now or at the first use of what it returns."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in ("import_module", "__import__", "resolve_name") and call.args:
        yield from _modules_in(call.args[0])
        names = {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
        for node in tree.body:
            targets = (
                node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            )
            if any(isinstance(target, ast.Name) and target.id in names for target in targets):
                yield from _modules_in(node)
    elif name in ("provide", "_namespace", "_extend"):
        for keyword in call.keywords:
            yield from _modules_in(keyword.value)


def _modules_in(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and re.match(r"tapeflow\.\w", str(each.value)):
            yield each.value.partition(":")[0].rstrip(".")


def declared() -> Iterator[tuple[str, str]]:
    """Pairs of a namespace and a module that it takes public names from, by `api/names.py`."""
    tree = ast.parse((ROOT / "api" / "names.py").read_text())
    table = next(node.value for node in tree.body if isinstance(node, ast.AnnAssign))
    for space, text in ast.literal_eval(table).items():
        for line in text.splitlines():
            yield f"tapeflow.{space}".rstrip("."), f"tapeflow.{line.partition(':')[0]}"


def uses() -> dict[str, set[str]]:
    """Return the boxes of the map, and the boxes of the packages that each uses."""
    box = {name: title for title, _, names in LAYERS for name in names.split()}
    found: dict[str, set[str]] = {title: set() for title, _, _ in LAYERS}
    pairs = list(declared())
    for file in sorted(ROOT.rglob("*.py")):
        pairs += [(module_name(file), name) for name, _ in imports(file)]
    for module, name in pairs:
        ours, other = box[package_of(module)], box[package_of(name)]
        if ours != other:
            found[ours].add(other)
    return found


def direct(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return a graph, whose nodes lead to earlier ones, without the edges that longer paths imply."""
    under: dict[str, set[str]] = {}
    for node, others in graph.items():
        under[node] = others.union(*(under[other] for other in others))
    return {
        node: {other for other in others if not any(other in under[third] for third in others)}
        for node, others in graph.items()
    }


def drawn() -> str:
    """Return the map as SVG."""
    from tapeflow.graph.interchange import drawing

    users: dict[str, list[str]] = {title: [] for title, _, _ in LAYERS}
    for title, others in direct(uses()).items():
        for other in others:
            users[other].append(title)
    return drawing._svg(
        [drawing.Box(title, title, below, "", users[title]) for title, below, _ in reversed(LAYERS)]
    )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT.parent))
    MAP.write_text(drawn())
