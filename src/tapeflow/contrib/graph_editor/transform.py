"""Copies of views, within a graph or into another, and of what leads from some tensors to others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.graph_editor import reroute, util, walks
from tapeflow.contrib.graph_editor.subgraph import SubGraphView, make_view
from tapeflow.core.annotations import Tensor, TensorLike

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph
    from tapeflow.graph.operation import Operation


class _Work:
    """A copy that is being made. `graph` and `scope` are those of the source, `graph_` and `scope_` of the copy."""

    def __init__(self, sgv, dst_graph, dst_scope, src_scope):
        self.sgv, self.sgv_inputs_set, self.ops = sgv, set(sgv.inputs), set(sgv.ops)
        self.graph, self.scope, self.graph_, self.scope_ = sgv.graph, src_scope, dst_graph, dst_scope
        self.transformed_ops, self.transformed_ts = {}, {}
        keys = self.graph.get_all_collection_keys()
        self.collections = {key: self.graph.get_collection(key) for key in keys}
        self.later = []  # edges that lead backward

    def new_name(self, name: str):
        """The name of the copy. Raises ValueError for a name outside the scope."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


def replace_t_with_placeholder_handler(info, t: TensorLike):
    """A placeholder for a tensor."""
    with info.graph_.as_default():
        return util.make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info, t: TensorLike):
    """The tensor itself within a graph, else a placeholder."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info, elem: Tensor | Operation, elem_: Tensor | Operation):
    """Puts a copy into the collections of what it is a copy of; own collections get the copy's scope."""
    known = util.predefined_collections()
    for name, elements in info.collections.items():
        if any(each is elem for each in elements):
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


def transform_op_if_inside_handler(info, op: Operation, keep_if_possible: bool = True):
    """The copy of an operation; of one outside the view itself within a graph, else None."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(info, op: Operation, new_inputs: Sequence[Tensor], copy_shape: bool = False, nodedef_fn=None):
    """(the copy of an operation on other inputs, its outputs).

    Args:
      copy_shape: whether outputs get the shapes of the first ones.
      nodedef_fn: what changes the NodeDef first.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    node = op.node_def
    graph = info.graph_
    with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None):
        node.name = graph.unique_name(info.new_name(op.name), mark_as_used=False)
        if nodedef_fn is not None:
            node = nodedef_fn(node)
        del node.input[:]
        node.input.extend(f"geph_input_{i}" for i in range(len(new_inputs)))
        known = {f"{name}:0": tensor for name, tensor in zip(node.input, new_inputs, strict=True)}
        (made,) = v1.import_graph_def(_alone(op, node), known, [node.name], name="")
    if copy_shape:
        for tensor, copied in zip(op.outputs, made.outputs, strict=True):
            copied.set_shape(tensor.shape)
    return made, made.outputs


def _alone(op: Operation, node):
    """A GraphDef of a node, with the functions that it calls."""
    whole = v1.GraphDef()
    if any(attr.WhichOneof("value") == "func" or attr.list.func for attr in node.attr.values()):
        whole.library.CopyFrom(op.graph.as_graph_def().library)
    whole.versions.CopyFrom(op.graph.graph_def_versions)
    whole.node.append(node)
    return whole


class TransformerInfo:
    """What was made of what."""

    def __init__(self, info):
        self._graph, self._scope, self._graph_, self._scope_ = (
            info.graph, info.scope, info.graph_, info.scope_
        )  # fmt: skip
        self._ops, self._tensors = info.transformed_ops, info.transformed_ts

    def _pairs(self, top: Tensor):
        if isinstance(top, v1.Operation):
            return self._ops.items()
        if isinstance(top, v1.Tensor):
            return self._tensors.items()
        if isinstance(top, str):
            return [*self._ops.items(), *self._tensors.items()]
        raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(top)}")

    def _found(self, tree: TensorLike | dict[str, Any], missing_fn: Callable[..., Any] | None, way: int):
        def find(top: Tensor):
            for pair in self._pairs(top):
                if pair[way] is top or (isinstance(top, str) and pair[way].name == top):
                    return pair[1 - way]
            return None if missing_fn is None else missing_fn(top)

        return util.transform_tree(tree, find)

    def transformed(self, original: TensorLike | dict[str, Any], missing_fn: Callable[..., Any] | None = None):
        """The copies of operations and tensors, or names of these; of others `missing_fn(it)`, else None."""
        return self._found(original, missing_fn, 0)

    def original(self, transformed: TensorLike, missing_fn=None):
        """What operations and tensors are copies of."""
        return self._found(transformed, missing_fn, 1)

    def __str__(self):
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            lines.append(f"  Within graph[{id(self._graph)}]{'' if self._scope_ else ' IN-PLACE'}")
        else:
            lines.append(f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]")
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines.append("Operations mapping:")
        lines += [f"  {op.name} => {copied.name}" for op, copied in self._ops.items()]
        return "\n".join(lines) + "\n"


class Transformer:
    """Copies views. Its attributes are functions that say what becomes of operations, inputs and collections."""

    def __init__(self):
        self.transform_op_handler = copy_op_handler
        self.transform_control_input_handler = transform_op_if_inside_handler
        self.assign_collections_handler = assign_renamed_collections_handler
        self.transform_external_input_handler = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler = keep_t_if_possible_handler
        self.transform_original_op_handler = transform_op_if_inside_handler

    def __call__(self, sgv, dst_graph: Graph, dst_scope: str, src_scope: str = "", reuse_dst_scope: bool = False):
        """Copies a view; returns the copy, and TransformerInfo.

        Args:
          dst_graph, dst_scope: where to.
          src_scope: the scope that names lose.
          reuse_dst_scope: whether the scope may be there already; else it gets a number.

        Raises TypeError for a graph that is not known, ValueError for operations outside `src_scope`.
        """
        sgv = make_view(sgv)
        if not isinstance(dst_graph, v1.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        dst_scope = util.scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = util.scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        info = _Work(sgv, dst_graph, dst_scope, util.scope_finalize(src_scope))
        for op in sorted(sgv.ops, key=lambda op: op.index):
            self._copy(info, op)
        for tensor, stand_in, op in info.later:
            made = info.transformed_ops[op]
            index = next(i for i, x in enumerate(made.inputs) if x is stand_in)
            made.update_input(index, info.transformed_ts[tensor])
        for op in sgv.ops:
            found = [self.transform_control_input_handler(info, x) for x in op.control_inputs]
            made = info.transformed_ops[op]
            reroute.add_control_inputs(made, [x for x in found if x not in (None, *made.control_inputs)])
        return self._view(info, sgv), TransformerInfo(info)

    def _copy(self, info, op: Operation):
        inputs = [self._input(info, tensor, op) for tensor in op.inputs]
        made, outputs = self.transform_op_handler(info, op, inputs)
        if made is op:
            raise ValueError("In-place transformation not allowed.")
        info.transformed_ops[op] = made
        self.assign_collections_handler(info, op, made)
        for tensor, copied in zip(op.outputs, outputs, strict=True):
            info.transformed_ts[tensor] = copied
            self.assign_collections_handler(info, tensor, copied)

    def _input(self, info, tensor: Tensor, op: Operation):
        if tensor in info.transformed_ts:
            return info.transformed_ts[tensor]
        if tensor in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, tensor)
        if tensor.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, tensor)
        with info.graph_.as_default():
            stand_in = util.make_placeholder_from_tensor(tensor, info.scope_, "geph_tmp")
        info.later.append((tensor, stand_in, op))
        return stand_in

    def _view(self, info, sgv: SubGraphView):
        view = SubGraphView(list(info.transformed_ops.values()))
        return view.remap(*(
            [known.index(copied) for t in wanted if (copied := info.transformed_ts.get(t)) in known]
            for wanted, known in ((sgv.inputs, view.inputs), (sgv.outputs, view.outputs))
        ))  # fmt: skip


def copy(
    sgv: SubGraphView, dst_graph: Graph | None = None, dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
):
    """Copies a view, with placeholders for its inputs; see `Transformer`."""
    sgv = make_view(sgv)
    return Transformer()(sgv, dst_graph or sgv.graph, dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any, replacement_ts: dict[Any, Any], dst_graph=None, dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
):
    """Copies a view, with other tensors for some of its inputs; the others stay within a graph.

    Args:
      replacement_ts: a dict of tensors.
    """
    sgv = make_view(sgv)
    copier = Transformer()

    def replaced(info, tensor: Tensor):
        if tensor in replacement_ts:
            return replacement_ts[tensor]
        return keep_t_if_possible_handler(info, tensor)

    copier.transform_external_input_handler = replaced
    return copier(sgv, dst_graph or sgv.graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(
    target_ts: Tensor | dict[str, Any], replacement_ts: dict[Any, Any], dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
):
    """The targets as they would be with other tensors in the place of some.

    Args:
      target_ts: a structure of tensors.
      replacement_ts: a dict of tensors; what lies between them and the targets is copied.

    Raises ValueError if targets do not follow from any of these.
    """
    targets = util.leaves(target_ts)
    graph = util.get_unique_graph(targets, v1.Tensor)
    ops = walks.get_walks_intersection_ops(
        list(replacement_ts), targets, control_ios=util.ControlOutputs(graph)
    )
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, lambda tensor: tensor)
