"""`tf.contrib.data`: what `tf.data.experimental` took over, under the names of before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.compat.v1 import data as _data
from tapeflow.core.structures import nest

_experimental = _data.experimental


def batch_and_drop_remainder(batch_size: int):
    """A transformation: batches of that size, without what is left."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: int, padded_shapes, padding_values=None):
    """A transformation: padded batches of that size, without what is left."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride: int = 1):
    """A transformation: windows of so many elements, each so many further. Raises ValueError for two shifts."""
    if stride is not None:
        if window_shift is not None:
            raise ValueError("Cannot specify both `stride` and `window_shift`")
        window_shift = stride
    shift = 1 if window_shift is None else window_shift

    def apply(dataset):
        windows = dataset.window(window_size, shift, window_stride, drop_remainder=True)
        return windows.flat_map(lambda *window: batched(window[0] if len(window) == 1 else window))

    def batched(window):
        parts = nest.map_structure(lambda part: part.batch(window_size), window)
        return parts if isinstance(parts, _data.Dataset) else _data.Dataset.zip(parts)

    return apply


def sloppy_interleave(map_func: Callable[..., Any], cycle_length: int, block_length: int = 1):
    """A transformation: elements of several datasets in turn."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def reduce_dataset(dataset, reducer):
    """The state of a Reducer after all elements."""
    state = dataset.reduce(reducer.init_func(0), reducer.reduce_func)
    return reducer.finalize_func(state)


def assert_element_shape(expected_shapes):
    """A transformation: elements that have (at least) these shapes."""
    def check(*elements: Any) -> Any:
        value = elements if len(elements) > 1 else elements[0]
        nest.map_structure(lambda x, shape: x.set_shape(shape), value, expected_shapes)
        return value

    return lambda dataset: dataset.map(check)


def __getattr__(name: str) -> Any:
    return getattr(_experimental, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_experimental)} - {"Any", "annotations"})
