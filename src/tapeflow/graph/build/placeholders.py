"""Placeholders of 1.x: tensors that are fed."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.core.tensor_shape import as_shape
from tapeflow.graph.build import building
from tapeflow.graph.default_graph import get_default_graph


def _tuple(shape: ShapeLike | None):
    known = as_shape(shape)
    return None if known.rank is None else tuple(known.as_list())


@api(v1="placeholder")
@public
def placeholder(dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None):
    """A tensor whose value is given with each run.

    Raises RuntimeError when executing eagerly.

    Args:
      dtype: the dtype of what is fed.
      shape: what is known of its shape; None: nothing.
      name: a name for the operation (optional).
    """
    if context.executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return building.placeholder(
        get_default_graph(), dtypes.as_dtype(dtype).base_dtype, _tuple(shape), name or "Placeholder"
    )


@api(v1="placeholder_with_default")
@public
def placeholder_with_default(input: TensorLike, shape: ShapeLike, name: str | None = None):
    """`input`, in place of which another value can be fed; `shape` is what is known of that.

    Args:
      input: a tensor.
      shape: what is known of its shape; None: nothing.
      name: a name for the operation (optional).
    """
    value = convert_to_tensor(input)
    if context.executing_eagerly():
        return value
    graph = get_default_graph()
    value = building.as_symbolic(graph, value)
    declared = as_shape(shape)
    if not declared.is_compatible_with(value.shape):
        raise ValueError(
            f"Shapes must be compatible: the default has {value.shape}, but {declared} was declared."
        )
    attrs = {"dtype": value.dtype, "shape": declared}
    op = graph.add(
        "PlaceholderWithDefault", None, (value,), (None,), attrs, name or "PlaceholderWithDefault"
    )
    return op.add_output(value.dtype, _tuple(shape))
