"""Make the table of public names, and the stub files of the namespaces, from what the sources declare.

`make api-names` runs this file: it writes `names.py`, and a `.pyi` file beside each module that is a namespace.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
V1 = "compat.v1"


class Declared(NamedTuple):
    """A public name: the namespace and the name there, and what has it."""

    space: str
    name: str
    module: str
    attribute: str


def module_of(file: Path, root: Path = ROOT) -> str:
    """Return the module of a file, below the package: "ops.math.casting".

    Args:
      file: a file of the package.
      root: the folder of the package.
    """
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources(root: Path = ROOT) -> dict[str, ast.Module]:
    """Return the syntax trees of the package's modules that may declare names, or are namespaces, by module.

    Args:
      root: the folder of the package.
    """
    found = {}
    for file in sorted(root.rglob("*.py")):
        text = file.read_text()
        if "api" in text or "namespace(" in text:
            found[module_of(file, root)] = ast.parse(text)
    return found


def _strings(node: ast.expr) -> list[str]:
    value = ast.literal_eval(node)
    return [value] if isinstance(value, str) else list(value)


def _called(node: ast.AST, name: str) -> ast.Call | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
        return node
    return None


def _declarations(tree: ast.Module) -> Iterator[tuple[str, list[str], list[str], list[str]]]:
    """The attribute, and its names in both versions, in 1.x and in 2.x, for each declaration of a module."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for decorator in node.decorator_list:
                if call := _called(decorator, "api"):
                    yield (node.name, *_names(call, 0))
        elif isinstance(node, ast.Expr) and (call := _called(node.value, "api_value")):
            yield (_strings(call.args[0])[0], *_names(call, 1))


def _names(call: ast.Call, first: int) -> tuple[list[str], list[str], list[str]]:
    keywords = {str(each.arg): _strings(each.value) for each in call.keywords}
    both = [name for each in call.args[first:] for name in _strings(each)]
    return both, keywords.get("v1", []), keywords.get("v2", [])


def _namespaces(trees: dict[str, ast.Module]) -> dict[str, dict[str, str]]:
    """The modules that are namespaces, each with the other modules that it has, by their names there."""
    found = {}
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.Assign) and (call := _called(node.value, "_namespace")):
                own = {name: f"tapeflow.{module}.{name}" for each in call.args[1:] for name in _strings(each)}
                if not module:
                    own = {name: f"tapeflow.{name}" for name in own}
                found[module] = own | {str(k.arg): _strings(k.value)[0] for k in call.keywords}
    for node in trees[""].body if "" in trees else []:
        if isinstance(node, ast.Expr) and (call := _called(node.value, "_extend")):
            found[_strings(call.args[0])[0]].update({str(k.arg): _strings(k.value)[0] for k in call.keywords})
    return found


def declared(trees: dict[str, ast.Module]) -> list[Declared]:
    """Return all public names that are declared. Raises ValueError for one that has two meanings or no namespace.

    Args:
      trees: the syntax trees of modules, by module.
    """
    spaces = _namespaces(trees)
    found: dict[tuple[str, str], Declared] = {}
    for module, tree in trees.items():
        for attribute, both, v1, v2 in _declarations(tree):
            paths = both + v2 + [f"{V1}.{name}" for name in v1]
            paths += [f"{V1}.{name}" for name in both if f"{V1}.{name}".rpartition(".")[0] in spaces]
            for path in paths:
                space, _, name = path.rpartition(".")
                one = Declared(space, name, module, attribute)
                if space not in spaces:
                    raise ValueError(f"{module}.{attribute} is declared as tf.{path}: tapeflow.{space} is no namespace")
                if found.setdefault((space, name), one) != one:
                    raise ValueError(f"tf.{path} is declared by {found[space, name].module} and by {module}")
    return sorted(found.values())


def table(names: list[Declared], trees: dict[str, ast.Module]) -> str:
    """Return the text of `names.py`.

    Args:
      names: the declared names.
      trees: the syntax trees of modules, by module.
    """
    lines = [
        '"""Where each public name is, by namespace. Made by `make api-names`; do not edit."""', "",
        "# For each namespace, a line for each module that names come from: `name`, or `name=attribute`.",
        "NAMES: dict[str, str] = {",
    ]  # fmt: skip
    for space in sorted(_namespaces(trees)):
        lines.append(f'    "{space}": """\\')
        modules: dict[str, list[str]] = {}
        for each in names:
            if each.space == space:
                word = each.name if each.name == each.attribute else f"{each.name}={each.attribute}"
                modules.setdefault(each.module, []).append(word)
        for module, words in sorted(modules.items()):
            lines.extend(_wrapped(module, words))
        lines.append('""",')
    return "\n".join([*lines, "}", ""])


def _wrapped(module: str, words: list[str]) -> Iterator[str]:
    line = f"{module}:"
    for word in words:
        if len(line) + len(word) > 118:
            yield line
            line = f"{module}:"
        line += f" {word}"
    yield line


def stubs(names: list[Declared], trees: dict[str, ast.Module], root: Path = ROOT) -> dict[Path, str]:
    """Return the text of the stub file of each namespace, by its path.

    Args:
      names: the declared names.
      trees: the syntax trees of modules, by module.
      root: the folder of the package.
    """
    found = {}
    spaces = _namespaces(trees)
    for space, modules in spaces.items():
        imports = set()
        for each in names:
            if each.space == space:
                source = f"tapeflow.{each.module}" if each.module else "tapeflow"
                imports.add(f"from {source} import {each.attribute} as {each.name}")
        inner = f"{space}." if space else ""
        below = {o[len(inner):]: f"tapeflow.{o}" for o in spaces if o.startswith(inner) and o != space}
        for name, full in {**below, **modules}.items():
            if "." not in name:
                parent, _, last = full.rpartition(".")
                imports.add(f"from {parent} import {last} as {name}" if parent else f"import {last} as {name}")
        folder = root.joinpath(*space.split(".")) if space else root
        path = folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")
        title = "Made by `make api-names`; do not edit."
        lines = [f"# {title}", "# ruff: noqa", *sorted(imports), *_constants(trees[space]), *_all(imports), ""]
        found[path] = "\n".join(lines)
    return found


def _all(imports: set[str]) -> list[str]:
    """The list of the names that a stub file has, in which those are exported too that have other names elsewhere."""
    names = sorted(line.rpartition(" as ")[2] for line in imports)
    return ["__all__ = [", *(f'    "{name}",' for name in names if not name.startswith("_")), "]"]


def _constants(tree: ast.Module) -> list[str]:
    """What a namespace itself defines: `__version__`."""
    return [
        f"{node.targets[0].id}: str"
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]


def files(root: Path = ROOT) -> dict[Path, str]:
    """Return the texts of all files that are made from declarations, by their paths.

    Args:
      root: the folder of the package.
    """
    trees = sources(root)
    names = declared(trees)
    return {root / "api" / "names.py": table(names, trees), **stubs(names, trees, root)}


def main() -> None:
    """Write the files that differ from what the declarations say."""
    for path, text in files().items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
