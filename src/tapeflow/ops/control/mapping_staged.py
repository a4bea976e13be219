"""map_fn, scan, folds in graphs: loops over TensorArrays of the elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control import flow as control
from tapeflow.ops.control import staging
from tapeflow.ops.lists.tensor_array import TensorArray


class Elements:
    """The elements along the first dimension of a structure of tensors, in TensorArrays."""

    def __init__(self, elems: Any, flat: list[Any]):
        self._like = elems
        count = flat[0].shape.as_list()[0] if flat[0].shape.rank else None
        for tensor in flat[1:]:
            other = tensor.shape.as_list()[0] if tensor.shape.rank else None
            if None not in (count, other) and count != other:
                raise ValueError(f"Dimensions {count} and {other} are not compatible")
            count = other if count is None else count
        # The number of elements: an int where it is known.
        self.known = count
        self.count = Shape(flat[0])[0] if count is None else count
        self._arrays = [TensorArray(x.dtype, self.count).unstack(x) for x in flat]

    def at(self, i: Any) -> Any:
        return nest.pack_sequence_as(self._like, [array.read(i) for array in self._arrays])

    def results(self, kinds: list[Any], infer_shape: bool) -> list[Any]:
        """An empty array for each of the results, of which dtypes or specs are given."""
        return [
            TensorArray(
                dtypes.as_dtype(getattr(kind, "dtype", kind)),
                self.count,
                infer_shape=infer_shape,
                element_shape=getattr(kind, "shape", None),
            )
            for kind in kinds
        ]

    def stacked(self, like: Any, arrays: list[Any]) -> Any:
        tensors = [array.stack() for array in arrays]
        for tensor in tensors:
            if tensor.shape.rank is not None:
                tensor.set_shape(TensorShape([self.known]).concatenate(tensor.shape[1:]))
        return nest.pack_sequence_as(like, tensors)

    def loop(
        self,
        body: Callable[..., Any],
        state: Any,
        options: dict[str, Any],
        start: int = 0,
        reverse: bool = False,
    ):
        """`state` after `body(i, state)` for each place `i` from the first, or the last, on."""
        if reverse:
            last = convert_to_tensor(self.count) - 1
            first = last - start if start else last

            def more(i, _):
                return i >= 0
        else:
            first = start

            def more(i, _):
                return i < self.count

        _, state = control.while_loop(
            more,
            lambda i, s: (i - 1 if reverse else i + 1, body(i, s)),
            (convert_to_tensor(first, dtypes.int32), state),
            **options,
        )
        return state


def options_of(parallel_iterations, swap_memory: bool, name: str) -> dict[str, Any]:
    if parallel_iterations is None:
        parallel_iterations = 10
    return {"parallel_iterations": parallel_iterations, "swap_memory": swap_memory, "name": name}


def map_elements(
    fn: Callable[..., Any], elems: TensorLike | dict[str, Any], flat, signature: Any, infer_shape: bool,
    options: dict[str, Any]
):
    """The results of `fn` stacked; `signature` is a structure of their dtypes or specs."""
    elements = Elements(elems, flat)
    arrays = elements.results(nest.flatten(signature), infer_shape)

    def body(i: Tensor, arrays: Sequence[Any]):
        result = fn(elements.at(i))
        nest.assert_same_structure(signature, result)
        return [
            array.write(i, value) for array, value in zip(arrays, nest.flatten(result), strict=True)
        ]

    return elements.stacked(signature, elements.loop(body, arrays, options))


def _converted(initializer: TensorLike):
    return nest.map_structure(convert_to_tensor, initializer)


def _like_state(state: Tensor, value: Tensor):
    """What the function returned, as the next state."""
    nest.assert_same_structure(state, value)
    return nest.map_structure(lambda s, v: convert_to_tensor(v, dtype_hint=s.dtype), state, value)


def fold(
    fn: Callable[..., Any], elems: TensorLike, flat, initializer: TensorLike | None, options: dict[str, Any],
    reverse: bool,
):
    elements = Elements(elems, flat)
    start = 0
    if initializer is None:
        start = 1
        state = elements.at(convert_to_tensor(elements.count) - 1 if reverse else 0)
    else:
        state = _converted(initializer)
    return elements.loop(
        lambda i, s: _like_state(s, fn(s, elements.at(i))), state, options, start, reverse
    )


def scan(
    fn: Callable[..., Any], elems: Tensor, flat, initializer: float | None, infer_shape: bool,
    options: dict[str, Any], reverse: bool,
):
    elements = Elements(elems, flat)
    start = 0
    if initializer is None:
        first = convert_to_tensor(elements.count) - 1 if reverse else 0
        state = elements.at(first)
    else:
        state = _converted(initializer)
    kinds = [x if infer_shape else x.dtype for x in nest.flatten(state)]
    arrays = elements.results(kinds, infer_shape)
    if initializer is None:
        start = 1
        arrays = [a.write(first, s) for a, s in zip(arrays, nest.flatten(state), strict=True)]

    def body(i: Tensor, both: Sequence[Any]):
        state, arrays = both
        state = _like_state(state, fn(state, elements.at(i)))
        written = [a.write(i, s) for a, s in zip(arrays, nest.flatten(state), strict=True)]
        return state, written

    state, arrays = elements.loop(body, (state, arrays), options, start, reverse)
    return elements.stacked(state, arrays)


def signature_of(fn: Callable[..., Any], elems: TensorLike, flat: Sequence[Tensor]) -> Any:
    """The specs of what `fn` makes of one element, found by tracing it once."""
    rows = [TensorShape(None) if x.shape.rank is None else x.shape[1:] for x in flat]
    return staging.nodes.specs_of(
        lambda *row: fn(nest.pack_sequence_as(elems, list(row))),
        [(x.dtype, shape) for x, shape in zip(flat, rows, strict=True)],
    )
