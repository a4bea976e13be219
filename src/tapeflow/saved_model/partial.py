"""Parts of SavedModels, loaded by their paths, also into objects that a program has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tapeflow.checkpoint.following import is_trackable
from tapeflow.checkpoint.object_graph import Saved
from tapeflow.core import context
from tapeflow.core.files.paths import local_path
from tapeflow.ops.state.variable import Variable
from tapeflow.saved_model import reading
from tapeflow.saved_model.load_context import load_context
from tapeflow.saved_model.loading import only
from tapeflow.saved_model.options import LoadOptions
from tapeflow.saved_model.restored.loader import Loader


def load_partial(export_dir: Any, filters: Any, tags: Any = None, options: Any = None) -> dict[str, Any]:
    """Loads objects of a SavedModel by their paths, and what they hold.

    Args:
      export_dir: the folder.
      filters: paths such as "root.layer.v": a sequence, or a dict whose values are objects of the program that take
        the places of saved ones, pairs of such an object and the function that sets a child of it (as `setattr`
        does), or None.
      tags: of the graph to load; None: the only one.
      options: `LoadOptions`.

    Returns:
      A dict of the objects by their paths.

    Raises ValueError for paths that are not in the model, or that leave out what functions below them use, and
    AssertionError for variables of the program's objects without a saved value, unless `allow_partial_checkpoint`.
    """
    folder = local_path(export_dir)
    options = options or LoadOptions()
    meta = only(reading.parse(export_dir), tags, folder)
    nodes = meta.object_graph_def.nodes
    paths = dict(filters) if isinstance(filters, dict) else dict.fromkeys(filters)
    numbers = {path: _number_at(nodes, path) for path in paths}
    given = {numbers[path]: value for path, value in paths.items() if value is not None}
    with context.init_scope(), load_context(options):
        loader = Loader(meta, folder, options, given)
        _check_complete(nodes, loader.messages, numbers.values())
        loader.load()
        if not options.allow_partial_checkpoint:
            _check_given(loader.given.values(), loader.objects.values())
    return {path: loader.child(number) for path, number in numbers.items()}


def _number_at(nodes: Any, path: str) -> int:
    """The number of the object at a path. Raises ValueError where there is none."""
    number, (first, *names) = 0, path.split(".")
    while names:
        children = {child.local_name: child.node_id for child in nodes[number].children}
        # Names may have dots themselves.
        fit = next((n for n in range(1, len(names) + 1) if ".".join(names[:n]) in children), None)
        if fit is None:
            break
        number, names = children[".".join(names[:fit])], names[fit:]
    if first != "root" or names:
        raise ValueError(f"Unable to find child node: {path}")
    return number


def _check_complete(nodes: Any, messages: Mapping[str, Any], numbers: Iterable[int]) -> None:
    """Raises ValueError if functions below some objects use one that is not below them."""
    found = _below(nodes, numbers)
    for number in sorted(found):
        node = nodes[number]
        names = list(node.function.concrete_functions)
        if node.WhichOneof("kind") == "bare_concrete_function":
            names = [node.bare_concrete_function.concrete_function_name]
        for bound in (n for name in names for n in messages[name].bound_inputs):
            if bound not in found and nodes[bound].WhichOneof("kind") not in ("constant", "asset"):
                raise ValueError(
                    "Unable to partially load SavedModel since the specified filter does not include all required "
                    "objects for loading (e.g. variables used in functions or deserialization dependencies). Please "
                    f"include this path in the filter: {_paths(nodes).get(bound, bound)}"
                )


def _below(nodes: Any, numbers: Iterable[int]) -> set[int]:
    """The numbers of objects and all that they hold."""
    found: set[int] = set()
    todo = list(numbers)
    while todo:
        number = todo.pop()
        if number not in found:
            found.add(number)
            todo += [child.node_id for child in nodes[number].children]
    return found


def _paths(nodes: Any) -> dict[int, str]:
    """How each object is reached from the root."""
    found, todo = {0: "(root)"}, [0]
    for number in todo:
        for child in nodes[number].children:
            if child.node_id not in found:
                found[child.node_id] = f"{found[number]}.{child.local_name}"
                todo.append(child.node_id)
    return found


def _check_given(given: Iterable[Any], objects: Iterable[Any]) -> None:
    """Raises AssertionError for variables in objects of the program for which the model has no value."""
    loaded = {id(value) for value in objects}
    held = [value for owner in given if is_trackable(owner) for value in Saved(owner).objects]
    missing = [value for value in held if isinstance(value, Variable) and id(value) not in loaded]
    if missing:
        raise AssertionError(
            f"Found {len(missing)} Python objects that were not bound to checkpointed values, likely due to changes in "
            f"the Python program. Showing {len(missing[:10])} of {len(missing)} unmatched objects: {missing[:10]}"
        )
