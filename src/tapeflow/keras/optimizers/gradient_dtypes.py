"""The dtypes of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.release import keras_2
from tapeflow.core.variables import dtype_of
from tapeflow.ops.math.casting import cast


def in_dtypes(pairs: Sequence[Any]):
    """The pairs; in Keras 3 with each gradient in the dtype of its variable."""
    for grad, var in pairs:
        if isinstance(grad, (Tensor, IndexedSlices)) and grad.dtype is not dtype_of(var) and not keras_2():
            break
    else:
        return pairs
    return [
        (on_values(grad, lambda g, var=var: cast(g, dtype_of(var))), var)
        if isinstance(grad, (Tensor, IndexedSlices)) and grad.dtype is not dtype_of(var)
        else (grad, var)
        for grad, var in pairs
    ]


def on_values(grad: Any, change: Callable[..., Any]):
    """A changed gradient; of a sparse one, its values are changed."""
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(change(grad.values), grad.indices, grad.dense_shape)
    return change(grad)
