"""`tf.nn.rnn_cell.RNNCell`: a layer with a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow._native import Tensor
from tapeflow.core.annotations import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.layers.rnn.cells import map_sizes
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.static import static_value
from tapeflow.v1.layers.classes import Layer

if TYPE_CHECKING:
    from tapeflow.v1.variable_scoping import VariableScope


class RNNCell(Layer):
    """Base of cells: `call(inputs, state) -> (output, new state)`; inputs are (batch, features).

    Subclasses have `state_size` and `output_size`: ints, TensorShapes, or structures of these.
    """

    # Models may hold cells, which layers run.
    _is_legacy_layer = False

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | None = None, **kwargs
    ):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._is_tf_rnn_cell = True

    def __call__(
        self, inputs: TensorLike, state: TensorLike, scope: str | VariableScope | None = None, *args, **kwargs,
    ):
        if scope is not None:
            kwargs["scope"] = scope
        return super().__call__(inputs, state, *args, **kwargs)

    @property
    def state_size(self):
        """The sizes of the states."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def build(self, _):
        self.built = True

    def get_initial_state(
        self, inputs: TensorLike | None = None, batch_size: int | None = None, dtype: DTypeLike | None = None
    ):
        """States of zeros, for the batch of `inputs` where those are given."""
        if inputs is not None:
            inputs = convert_to_tensor(inputs)
            known = inputs.shape.as_list()[0]
            if batch_size is not None:
                given = static_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
                if given != known:
                    raise ValueError(
                        "batch size from input tensor is different from the input param. Input tensor "
                        f"batch: {known}, batch_size: {batch_size}"
                    )
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError(
                    "dtype from input tensor is different from the input param. Input tensor dtype: "
                    f"{inputs.dtype}, dtype: {dtype}"
                )
            batch_size, dtype = batch_of(inputs), inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: int, dtype: DTypeLike):
        """States of zeros."""
        return map_sizes(
            lambda size: zeros([batch_size, *TensorShape(size).as_list()], dtype), self.state_size
        )


class LayerRNNCell(RNNCell):
    """A cell that makes its weights as a layer does, in build."""


def batch_of(x: Any, axis=0):
    """The size of the batch: an int where it is known."""
    size = x.shape.as_list()[axis] if x.shape.rank is not None else None
    return shape_of(x)[axis] if size is None else size


def assert_like_rnncell(name: str, cell: Any):
    """Raises TypeError unless `cell` has what cells have."""
    missing = [
        what
        for what, there in (
            ("'output_size' property is missing", hasattr(cell, "output_size")),
            ("'state_size' property is missing", hasattr(cell, "state_size")),
            (
                "either 'zero_state' or 'get_initial_state' method is required",
                hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state"),
            ),
            ("is not callable", callable(cell)),
        )
        if not there
    ]
    if missing:
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")


def input_depth(shape: ShapeLike):
    """The size of the last axis. Raises ValueError when it is not known."""
    depth = TensorShape(shape).as_list()[-1]
    if depth is None:
        raise ValueError(
            f"Expected inputs.shape[-1] to be known, saw shape: {TensorShape(shape).as_list()}"
        )
    return depth


def flat(structure):
    """The tensors of a structure, in order."""
    return nest.flatten(structure)
