"""`SubGraphView`: some operations of a graph, with the tensors that go in and come out, in an order of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.graph_editor import select, util, walks
from tapeflow.core.annotations import Tensor, TensorLike

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph


def _indices(given: Sequence[int], tensors, repetition: bool):
    """Numbers for numbers or tensors. Raises ValueError for others, and for repeated ones."""
    found = [index if isinstance(index, int) else tensors.index(index) for index in given]
    for index in found:
        if not 0 <= index < len(tensors):
            raise ValueError(f"Out of [0, {len(tensors)}[ range: {index}")
    if not repetition and len(set(found)) != len(found):
        raise ValueError(f"Found repetition in mapping: {found}")
    return found


class SubGraphView:
    """A part of a graph. Its methods that change it return a changed copy.

    Args:
      inside_ops: the operations, or one, or a graph.
      passthrough_ts: tensors that are inputs and outputs of the view at once.
    """

    def __init__(self, inside_ops: Sequence[Any] = (), passthrough_ts: Sequence[Tensor] = ()):
        ops, through = util.make_list_of_op(inside_ops), util.make_list_of_t(passthrough_ts)
        self._graph = util.get_unique_graph([*ops, *through]) if ops or through else None
        inputs, outputs, inside = select.compute_boundary_ts(ops)
        known = {*inputs, *outputs, *inside}
        self._ops = ops
        self._passthrough_ts = [tensor for tensor in through if tensor not in known]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    @classmethod
    def _made(cls, graph, ops: Sequence[Any], passthroughs: Sequence[Tensor], inputs, outputs):
        view = cls()
        view._hold(graph, ops)
        view.take_boundary(inputs, passthroughs, outputs)
        return view

    def _hold(self, graph, ops: Sequence[Any]):
        self._graph, self._ops = graph, list(ops)

    def copy(
        self, inputs: Sequence[Tensor] | None = None, outputs: Sequence[Tensor] | None = None,
        ops: Sequence[Any] | None = None,
    ):
        """A copy; the inputs, outputs or operations may be others."""
        return self._made(
            self._graph,
            self._ops if ops is None else ops,
            self._passthrough_ts,
            self._input_ts if inputs is None else inputs,
            self._output_ts if outputs is None else outputs,
        )

    __copy__ = copy

    def take_boundary(self, inputs, passthroughs: Any, outputs: Sequence[Tensor]):
        """Gives this view other inputs, passthroughs and outputs, in place."""
        self._input_ts, self._passthrough_ts = list(inputs), list(passthroughs)
        self._output_ts = list(outputs)

    # Remapping.

    def remap_default(self, remove_input_map: bool = True, remove_output_map: bool = True):
        """A copy with its inputs, and its outputs, as they are found."""
        inputs, outputs, _ = select.compute_boundary_ts(self._ops)
        return self.copy(
            inputs + self._passthrough_ts if remove_input_map else None,
            outputs + self._passthrough_ts if remove_output_map else None,
        )

    def remap_inputs(self, new_input_indices: Sequence[int]):
        """A copy with some inputs, by numbers or tensors, none twice."""
        return self.remap(new_input_indices)

    def remap_outputs(self, new_output_indices: Sequence[TensorLike]):
        """A copy with some outputs, by numbers or tensors."""
        return self.remap(None, new_output_indices)

    def remap(self, new_input_indices: Sequence[int] | None = None, new_output_indices=None):
        """A copy with some inputs and outputs. Raises ValueError for numbers that are not there."""
        inputs, outputs = self._input_ts, self._output_ts
        if new_input_indices is not None:
            inputs = [inputs[i] for i in _indices(new_input_indices, inputs, False)]
        if new_output_indices is not None:
            outputs = [outputs[i] for i in _indices(new_output_indices, outputs, True)]
        return self.copy(inputs, outputs)

    def remap_outputs_make_unique(self):
        """A copy with each output once."""
        return self.copy(outputs=util.unique(self._output_ts))

    def remap_outputs_to_consumers(self):
        """A copy with each output as often as it is used."""
        outputs = util.unique(self._output_ts)
        return self.copy(outputs=[t for t in outputs for _ in t.consumers()])

    def remove_unused_ops(self, control_inputs: bool = True):
        """A copy with the operations that inputs lead to, or that lead to outputs."""
        used = set(
            walks.get_walks_union_ops(
                self.connected_inputs, self.connected_outputs, within_ops=self._ops, control_inputs=control_inputs
            )
        )  # fmt: skip
        return self.copy(ops=[op for op in self._ops if op in used])

    # What there is.

    @property
    def graph(self):
        """The graph; None for an empty view."""
        return self._graph

    @property
    def ops(self):
        """The operations."""
        return self._ops

    @property
    def inputs(self):
        """The inputs, a list of its own."""
        return list(self._input_ts)

    @property
    def outputs(self):
        """The outputs, a list of its own."""
        return list(self._output_ts)

    @property
    def passthroughs(self):
        """What is input and output at once."""
        return list(self._passthrough_ts)

    @property
    def connected_inputs(self):
        """The inputs that operations of the view have."""
        return [tensor for tensor in self._input_ts if tensor not in set(self._passthrough_ts)]

    @property
    def connected_outputs(self):
        """The outputs of operations of the view."""
        return [tensor for tensor in self._output_ts if tensor not in set(self._passthrough_ts)]

    def op(self, op_id):
        """The operation of a number."""
        return self._ops[op_id]

    def is_passthrough(self, t: TensorLike):
        """Whether a tensor is input and output at once."""
        return t in set(self._passthrough_ts)

    def find_op_by_name(self, op_name: str):
        """The operation of a name. Raises ValueError if there is none."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def input_index(self, t: TensorLike):
        """The number of an input. Raises ValueError if it is none."""
        return self._index(t, self._input_ts, "inputs")

    def output_index(self, t: TensorLike):
        """The number of an output. Raises ValueError if it is none."""
        return self._index(t, self._output_ts, "outputs")

    def _index(self, t, tensors: Tensor, what):
        for i, tensor in enumerate(tensors):
            if tensor is t:
                return i
        raise ValueError(f"Can't find {t.name} in {what} of subgraph.")

    def consumers(self):
        """The operations outside that outputs are inputs of."""
        inside = set(self._ops)
        return util.unique(op for t in self._output_ts for op in t.consumers() if op not in inside)

    def __bool__(self):
        return self._graph is not None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def __str__(self):
        if not self:
            return "SubGraphView: empty"
        lines = [f"SubGraphView (graphid={id(self._graph)}):"]
        for name, elements in (
            ("ops", self._ops), ("inputs", self._input_ts), ("outputs", self._output_ts)
        ):  # fmt: skip
            lines.append(f"** {name}[{len(elements)}]:" if elements else f"** {name}: empty")
            for each in elements:
                through = name != "ops" and self.is_passthrough(each)
                lines.append(f"  {each.name} *" if through else f"  {each.name}")
        return "\n".join(lines) + "\n"


def make_view(*args, **kwargs):
    """The view of what the arguments select; a view is given back. See `select_ops_and_ts`.

    Raises TypeError for a graph that is not known, ValueError for a view of another graph.
    """
    graph = kwargs.get("graph")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        view = args[0]
    else:
        view = SubGraphView(*select.select_ops_and_ts(*args, **kwargs))
    if graph is not None and not isinstance(graph, v1.Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    if graph is not None and view.graph not in (None, graph):
        raise ValueError("Graph mismatch.")
    return view


def make_view_from_scope(scope, graph: Graph):
    """The view of the operations in a scope."""
    return SubGraphView(select.get_name_scope_ops(graph, scope))
