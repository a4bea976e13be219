"""What a session is asked for: fetches of any nesting, taken apart into tensors and operations; and feeds."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import convert, dtypes
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.graph.elements import value_of_reference
from tapeflow.graph.graph import Graph
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.state.rows import ReadVariableOp

IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])

# (type, fetch, feed, feed of a partial run), as programs registered them, the latest first.
_conversions: list[tuple[type, Any, Any, Any]] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[..., Any] | None = None,
    feed_function: Callable[..., Any] | None = None,
    feed_function_for_partial_run: Callable[..., Any] | None = None,
) -> None:
    """Lets sessions fetch and feed values of `tensor_type`.

    Raises ValueError if there is one for that type already.
    """
    for known, *_ in _conversions:
        if issubclass(tensor_type, known):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _conversions.insert(
        0, (tensor_type, fetch_function, feed_function, feed_function_for_partial_run)
    )


class Fetches:
    """Fetches taken apart.

    Attributes:
      tensors, operations: each once.
      rebuild: from the values of `tensors` to what `run` returns.
    """

    def __init__(self, graph: Graph, fetches: Any):
        self._graph = graph
        self.tensors: list[SymbolicTensor] = []
        self.operations: list[Operation] = []
        self._places: dict[int, int] = {}
        if fetches is None:
            raise TypeError(
                f'Argument `fetches` = {fetches} has invalid type "{type(fetches).__name__}". Cannot be None'
            )
        self.rebuild: Callable[[list[Any]], Any] = self._take(fetches)

    def _take(self, fetch: Any) -> Callable[[list[Any]], Any]:
        if fetch is None:
            raise TypeError(
                f'Argument `fetch` = {fetch} has invalid type "{type(fetch).__name__}". Cannot be None'
            )
        if isinstance(fetch, (list, tuple)) and not hasattr(fetch, "_fields"):
            parts = [self._take(x) for x in fetch]
            kind = type(fetch)
            if kind in (list, tuple):
                return lambda values: kind(part(values) for part in parts)
            return lambda values: [part(values) for part in parts]
        if isinstance(fetch, tuple):
            parts = [self._take(x) for x in fetch]
            return lambda values: type(fetch)(*[part(values) for part in parts])
        if isinstance(fetch, dict) or (hasattr(fetch, "keys") and hasattr(fetch, "items")):
            items = [(key, self._take(x)) for key, x in fetch.items()]
            made = type(fetch)

            def rebuilt(values: list[Any]) -> Any:
                pairs = [(key, part(values)) for key, part in items]
                try:
                    return made(pairs)
                except TypeError:
                    return dict(pairs)

            return rebuilt
        if nest.is_attrs(fetch):
            names = [a.name for a in type(fetch).__attrs_attrs__]
            parts = [self._take(getattr(fetch, n)) for n in names]
            return lambda values: type(fetch)(*[part(values) for part in parts])
        for kind, fetch_function, _, _ in _conversions:
            if isinstance(fetch, kind) and fetch_function is not None:
                elements, contract = fetch_function(fetch)
                parts = [self._element(x) for x in elements]
                return lambda values: contract([part(values) for part in parts])
        if isinstance(fetch, IndexedSlices):
            own = [
                fetch.values,
                fetch.indices,
                *([] if fetch.dense_shape is None else [fetch.dense_shape]),
            ]
            parts = [self._element(x) for x in own]
            return lambda values: IndexedSlicesValue(
                parts[0](values), parts[1](values), parts[2](values) if len(parts) > 2 else None
            )
        if nest.is_nested_or_composite(fetch):
            return self._composite(fetch)
        return self._element(fetch)

    def _composite(self, fetch: Any) -> Callable[[list[Any]], Any]:
        parts = [self._element(x) for x in nest.flatten(fetch, expand_composites=True)]
        make = getattr(fetch, "_from_session_values", None)
        if make is not None:
            return lambda values: make([part(values) for part in parts])
        return lambda values: nest.pack_sequence_as(
            fetch, [convert.constant(part(values)) for part in parts], expand_composites=True
        )

    def _element(self, fetch: Any) -> Callable[[list[Any]], Any]:
        if isinstance(fetch, _native.EagerTensor):
            return lambda _: fetch.numpy()
        try:
            element = self._graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f'Argument `fetch` = {fetch} has invalid type "{type(fetch).__name__}" must be a string or Tensor. '
                f"({error})"
            ) from None
        except ValueError as error:
            raise ValueError(
                f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})"
            ) from None
        except KeyError as error:
            raise ValueError(
                f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})"
            ) from None
        if not self._graph.is_fetchable(element):
            raise ValueError(f"Operation {element.name} has been marked as not fetchable.")
        if isinstance(element, SymbolicTensor):
            element = value_of_reference(element)
        if isinstance(element, Operation):
            if element not in self.operations:
                self.operations.append(element)
            return lambda _: None
        place = self._places.get(id(element))
        if place is None:
            place = self._places[id(element)] = len(self.tensors)
            self.tensors.append(element)
        return lambda values: values[place]


def feed_tensors(graph: Graph, feed_dict: Any) -> list[tuple[SymbolicTensor, Any]]:
    """Pairs of a tensor and the eager tensor fed for it.

    Raises TypeError or ValueError for what cannot be fed.
    """
    pairs: list[tuple[SymbolicTensor, Any]] = []
    for feed, value in feed_dict.items():
        for tensor, each in _expanded(feed, value):
            try:
                found = graph.as_graph_element(tensor, allow_tensor=True, allow_operation=False)
            except (TypeError, ValueError, KeyError) as error:
                text = error.args[0] if error.args else error
                raise TypeError(f"Cannot interpret feed_dict key as Tensor: {text}") from None
            found = value_of_reference(found)
            made = fed(graph, found, each)
            pairs += [(x, made) for x in _reads(graph, found)]
    return pairs


def _reads(graph: Graph, tensor: SymbolicTensor) -> list[SymbolicTensor]:
    """The tensors that are fed with one: of the value of a reference variable of 1.x, all that reads the variable."""
    if tensor.op.row is not ReadVariableOp or not tensor.op.inputs[0].of_reference:
        return [tensor]
    handle = tensor.op.inputs[0]
    return [
        op.outputs[0] for op in graph.operations if op.row is ReadVariableOp and op.inputs and op.inputs[0] is handle
    ]


def _expanded(feed: Any, value: Any) -> Any:
    for kind, _, feed_function, _ in _conversions:
        if isinstance(feed, kind) and feed_function is not None:
            return feed_function(feed, value)
    if isinstance(feed, IndexedSlices):
        own = [feed.values, feed.indices, feed.dense_shape]
        return [(x, v) for x, v in zip(own, value, strict=False) if x is not None]
    if isinstance(feed, SparseTensor) and isinstance(value, (tuple, list)):  # a known shape may be absent
        return list(zip((feed.indices, feed.values, feed.dense_shape), value, strict=False))
    if isinstance(feed, (SymbolicTensor, str, bytes)) or not nest.is_nested_or_composite(feed):
        return [(feed, value)]
    if isinstance(feed, tuple):
        return list(zip(nest.flatten(feed), nest.flatten(value), strict=True))
    parts = nest.flatten(feed, expand_composites=True)
    if hasattr(value, "nested_row_splits"):  # a RaggedTensorValue
        value = (value.flat_values, *value.nested_row_splits)
    values = value if isinstance(value, tuple) else nest.flatten(value, expand_composites=True)
    return list(zip(parts, values, strict=True))


def fed(graph: Graph, tensor: SymbolicTensor, value: Any) -> Any:
    """`value` as an eager tensor that can be fed for `tensor`."""
    if isinstance(value, (SymbolicTensor, _native.Variable)):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, "
            "lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was "
            f"{value} which was passed to "
            f"the feed with key {tensor}."
        )
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor.name} may not be fed.")
    dtype = tensor.dtype
    if isinstance(value, _native.EagerTensor):
        if value.dtype != dtype:
            raise TypeError(
                f"Tensor {tensor.name} of dtype {dtype.name} cannot be fed a tensor of dtype {value.dtype.name}."
            )
        made = value
    elif dtype in (dtypes.resource, dtypes.variant):
        made = value
    elif dtype == dtypes.string:
        array = np.asarray(value, object) if not isinstance(value, (str, bytes)) else value
        made = _native.tensor_of(_as_bytes(array), dtype)
    else:
        numpy_type = dtype.as_numpy_dtype
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and dtype.is_integer
            and int(np.asarray(value).astype(numpy_type)) != value
        ):
            raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                            f"{numpy_type}. Try explicitly setting the type of the feed tensor to a larger type "
                            "(e.g. int64).")  # fmt: skip
        made = _native.tensor_of(np.array(value, numpy_type), dtype)
    if not _fits(tensor.shape_tuple, made):
        raise ValueError(
            f"Cannot feed value of shape {tuple(made.shape.as_list())} for Tensor {tensor.name}, which has shape "
            f"{tensor.shape}"
        )
    return made


def _fits(sizes: tuple[int | None, ...] | None, value: Any) -> bool:
    if sizes is None:
        return True
    found = value.shape.as_list()
    return len(sizes) == len(found) and all(known in (None, size) for known, size in zip(sizes, found, strict=True))


def _as_bytes(value: Any) -> np.ndarray:
    array = np.asarray(value, object)
    flat = [
        x.encode() if isinstance(x, str) else x if isinstance(x, bytes) else str(x).encode()
        for x in array.ravel()
    ]
    result = np.empty(array.shape, object)
    result.reshape(-1)[:] = flat
    return result
