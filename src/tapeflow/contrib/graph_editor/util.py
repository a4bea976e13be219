"""Lists of operations and tensors, and placeholders for tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.core.annotations import DTypeLike, ShapeLike, Tensor, TensorLike

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph
    from tapeflow.graph.operation import Operation

_PREFIX = "geph"


def is_iterable(obj):
    """Whether it has elements; a tensor has none here."""
    return not isinstance(obj, v1.Tensor) and hasattr(obj, "__iter__")


def unique(*lists):
    """The elements of lists, each once, in order."""
    return list(dict.fromkeys(x for each in lists for x in each))


def transform_tree(tree, fn):
    """A structure of dicts, lists and tuples with `fn` of its leaves; other iterables become tuples."""
    if not is_iterable(tree) or isinstance(tree, str):
        return fn(tree)
    if isinstance(tree, dict):
        return type(tree)((key, transform_tree(child, fn)) for key, child in tree.items())
    children = [transform_tree(child, fn) for child in tree]
    if hasattr(tree, "_fields"):
        return type(tree)(*children)
    return type(tree)(children) if isinstance(tree, (list, tuple)) else tuple(children)


def leaves(tree: Tensor | dict[str, Any]):
    """The leaves of a structure."""
    found: list = []
    transform_tree(tree, found.append)
    return found


def check_graphs(*views):
    """Raises ValueError for views of different graphs."""
    graph = None
    for i, view in enumerate(views):
        if view.graph is None:
            continue
        graph = graph or view.graph
        if view.graph is not graph:
            raise ValueError(f"Argument[{i}]: Wrong graph!")


def get_unique_graph(tops, check_types=None, none_if_empty: bool = False):
    """The one graph of operations and tensors.

    Raises TypeError for objects of other kinds, ValueError for several graphs, and for none unless `none_if_empty`.
    """
    if isinstance(tops, v1.Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    kinds = check_types or (v1.Operation, v1.Tensor)
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    graph = None
    for top in tops:
        if not isinstance(top, kinds):
            raise TypeError(f"Expected a type in ({', '.join(map(str, kinds))}), got: {type(top)}")
        graph = graph or top.graph
        if top.graph is not graph:
            raise ValueError(f"Operation {top} does not belong to given graph")
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _listed(
    given: Any, kind: Any, check_graph: bool, allow_graph: bool, ignore_others: bool, of_graph: Callable[..., Any]
):
    if isinstance(given, v1.Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return of_graph(given)
    given = list(given) if is_iterable(given) else [given]
    if given and check_graph:
        get_unique_graph(given, None if ignore_others else kind)
    return [x for x in given if isinstance(x, kind)]


def make_list_of_op(ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False):
    """The operations of one, of several, or of a graph.

    Raises TypeError for tensors unless `ignore_ts`, for a graph unless `allow_graph`; ValueError for several graphs.
    """
    return _listed(ops, v1.Operation, check_graph, allow_graph, ignore_ts, v1.Graph.get_operations)


def get_tensors(graph: Graph):
    """The outputs of all operations of a graph. Raises TypeError for another object."""
    if not isinstance(graph, v1.Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def make_list_of_t(
    ts: TensorLike | Operation, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
):
    """The tensors of one, of several, or of a graph; see `make_list_of_op`."""
    return _listed(ts, v1.Tensor, check_graph, allow_graph, ignore_ops, get_tensors)


def get_generating_ops(ts: Sequence[Tensor]):
    """The operations whose outputs tensors are."""
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Sequence[Tensor]):
    """The operations that tensors are inputs of, each once."""
    return unique(*(tensor.consumers() for tensor in make_list_of_t(ts, allow_graph=False)))


class ControlOutputs:
    """Which operations wait for which, in a graph; `update` looks again where the graph has changed."""

    def __init__(self, graph: Graph):
        if not isinstance(graph, v1.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph, self._version = graph, -1
        self.update()

    @property
    def graph(self):
        """The graph."""
        return self._graph

    def update(self):
        """Takes in what has changed; returns this object."""
        if self._version != self._graph.version:
            self._version = self._graph.version
            self._found = {}
            for op in self._graph.get_operations():
                for before in op.control_inputs:
                    self._found.setdefault(before, []).append(op)
        return self

    def get_all(self):
        """A dict of lists."""
        return self._found

    def get(self, op: Operation):
        """Those that wait for an operation."""
        return self._found.get(op, ())


def scope_finalize(scope: str):
    """A scope with "/" at its end, unless it is empty."""
    return scope + "/" if scope and scope[-1] != "/" else scope


def placeholder_name(t: TensorLike | None = None, scope: str | None = None, prefix: str = _PREFIX):
    """The name of a placeholder for a tensor, in its scope or another. Raises TypeError for other objects."""
    scope = scope if scope is None else scope_finalize(scope)
    if t is None:
        return f"{scope or ''}{prefix}"
    if not isinstance(t, v1.Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    around, slash, name = t.op.name.rpartition("/")
    if not name.startswith(f"{prefix}__"):
        name = f"{prefix}__{name}_{t.value_index}"
    return (around + slash if scope is None else scope) + name


def make_placeholder_from_tensor(t: Any, scope: str | None = None, prefix=_PREFIX):
    """A placeholder of the dtype and shape of a tensor."""
    return v1.placeholder(t.dtype, t.shape, placeholder_name(t, scope, prefix))


def make_placeholder_from_dtype_and_shape(
    dtype: DTypeLike, shape: ShapeLike | None = None, scope: str | None = None, prefix: str = _PREFIX
):
    """A placeholder of a dtype and a shape."""
    return v1.placeholder(dtype, shape, placeholder_name(scope=scope, prefix=prefix))


def predefined_collections():
    """The names of collections that have the same meaning in all graphs."""
    return {getattr(v1.GraphKeys, key) for key in dir(v1.GraphKeys) if not key.startswith("_")}


def find_corresponding_elem(target: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = ""):
    """What has the name of an operation or tensor in another graph, of another scope.

    Raises ValueError for one outside `src_scope`, TypeError for other objects.
    """
    name, source = target.name, scope_finalize(src_scope)
    if not name.startswith(source):
        raise ValueError(f"{name} does not start with {source}")
    name = scope_finalize(dst_scope) + name[len(source) :]
    if isinstance(target, v1.Tensor):
        return dst_graph.get_tensor_by_name(name)
    if isinstance(target, v1.Operation):
        return dst_graph.get_operation_by_name(name)
    raise TypeError(f"Expected tf.Tensor or tf.Operation, got: {type(target)}")


def find_corresponding(targets: TensorLike, dst_graph: Graph, dst_scope: str = "", src_scope: str = ""):
    """`find_corresponding_elem` of each leaf of a structure."""
    return transform_tree(
        targets, lambda target: find_corresponding_elem(target, dst_graph, dst_scope, src_scope)
    )
