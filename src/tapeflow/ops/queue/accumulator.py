"""`tf.ConditionalAccumulator` and its sparse kind: gradients summed until there are enough of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, IntLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_symbolic_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public_methods
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.math.casting import cast
from tapeflow.ops.queue.accumulator_state import Accumulator, SparseAccumulator
from tapeflow.ops.signature import boolean, dtype, shape
from tapeflow.ops.state.resource_op import expect, old_handles, resource_op

_NEW = {
    "dtype": dtype,
    "shape": shape,
    "container": "",
    "shared_name": "",
    "reduction_type": "MEAN",
}


def _scalar(attrs: Any, inputs: Any) -> list[Any]:
    return [()]


def _accumulator(handle: Any, cls: type = Accumulator) -> Any:
    return expect(handle, cls, "conditional accumulator")


@resource_op("ResourceConditionalAccumulator", "-> handle: resource", _NEW, _scalar, makes=True)
def ResourceConditionalAccumulator(name: str, dtype: DTypeLike, shape: ShapeLike, reduction_type: str):
    return Accumulator(name, dtype, shape, reduction_type)


@resource_op("SparseConditionalAccumulator", "-> handle: resource", _NEW, _scalar, makes=True, handles="string")
def SparseConditionalAccumulator_(name: str, dtype: DTypeLike, shape: ShapeLike, reduction_type: str):
    return SparseAccumulator(name, dtype, shape, reduction_type)


@resource_op("ResourceAccumulatorApplyGradient", "handle: resource, local_step: int64, gradient: dtype ->",
             {"dtype": dtype})  # fmt: skip
def ResourceAccumulatorApplyGradient(handle: Accumulator, local_step: Tensor, gradient: Tensor, dtype: DTypeLike):
    _accumulator(handle).apply(int(local_step.numpy()), gradient.numpy())


@resource_op("ResourceAccumulatorNumAccumulated", "handle: resource -> num_accumulated: int32", shapes=_scalar)
def ResourceAccumulatorNumAccumulated(handle: Accumulator):
    return _accumulator(handle).count


@resource_op("ResourceAccumulatorSetGlobalStep", "handle: resource, new_global_step: int64 ->")
def ResourceAccumulatorSetGlobalStep(handle: Accumulator, new_global_step: Tensor):
    _accumulator(handle).set_step(int(new_global_step.numpy()))


@resource_op("ResourceAccumulatorTakeGradient", "handle: resource, num_required: int32 -> average: dtype",
             {"dtype": dtype}, patience=2)  # fmt: skip
def ResourceAccumulatorTakeGradient(handle: Accumulator, num_required: Tensor, dtype: DTypeLike):
    return _accumulator(handle).take(int(num_required.numpy()))


@resource_op(
    "SparseAccumulatorApplyGradient",
    "handle: resource, local_step: int64, gradient_indices: int64, gradient_values: dtype, gradient_shape: int64 ->",
    {"dtype": dtype, "has_known_shape": boolean}, handles="string",
)  # fmt: skip
def SparseAccumulatorApplyGradient(
    handle: SparseAccumulator, local_step: Tensor, gradient_indices: Tensor, gradient_values: Tensor,
    gradient_shape: Tensor, dtype: DTypeLike, has_known_shape: bool,
):
    _accumulator(handle, SparseAccumulator).apply(
        int(local_step.numpy()), gradient_indices.numpy(), gradient_values.numpy(),
        gradient_shape.numpy() if has_known_shape else None,
    )  # fmt: skip


@resource_op("SparseAccumulatorTakeGradient",
             "handle: resource, num_required: int32 -> indices: int64, values: dtype, shape: int64",
             {"dtype": dtype}, patience=2, handles="string")  # fmt: skip
def SparseAccumulatorTakeGradient(handle: SparseAccumulator, num_required: Tensor, dtype: DTypeLike):
    return list(_accumulator(handle, SparseAccumulator).take(int(num_required.numpy())))


for _name in (
    "ConditionalAccumulator", "AccumulatorApplyGradient", "AccumulatorNumAccumulated", "AccumulatorSetGlobalStep",
    "AccumulatorTakeGradient",
):  # fmt: skip
    old_handles(f"Resource{_name}", _name)


@api(v1="ConditionalAccumulatorBase")
@public_methods
class ConditionalAccumulatorBase:
    """What accumulators have in common.

    Args:
      accumulator_ref: the resource tensor of the accumulator.
    """

    def __init__(self, dtype: DTypeLike, shape: ShapeLike | None, accumulator_ref: Tensor):
        self._dtype = dtypes.as_dtype(dtype)
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        symbolic = is_symbolic_tensor(accumulator_ref)
        self._name = accumulator_ref.op.name.split("/")[-1] if symbolic else "accumulator"

    @property
    def accumulator_ref(self):
        """The resource tensor of the accumulator."""
        return self._accumulator_ref

    @property
    def name(self):
        """The name of the accumulator's node."""
        return self._name

    @property
    def dtype(self):
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None):
        """How many gradients were summed: an int32 tensor."""
        return ResourceAccumulatorNumAccumulated(
            self._accumulator_ref, name=name or f"{self._name}_NumAccumulated"
        )

    def set_global_step(self, new_global_step: IntLike, name: str | None = None):
        """Says which step is being summed; gradients of older ones are dropped."""
        return ResourceAccumulatorSetGlobalStep(
            self._accumulator_ref, cast(new_global_step, dtypes.int64), name=name or f"{self._name}_SetGlobalStep"
        )


def _checked(reduction_type: str):
    if reduction_type not in ("MEAN", "SUM"):
        raise ValueError(
            f"Value for attr 'reduction_type' of \"{reduction_type}\" is not in the list of allowed values: "
            '"MEAN", "SUM"'
        )
    return reduction_type


@api(v1="ConditionalAccumulator")
@public_methods
class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums gradients of one step.

    Args:
      shape: of the gradients; None: that of the first one.
      reduction_type: "MEAN" or "SUM": what `take_grad` gives.

    Raises ValueError for another reduction.
    """

    def __init__(
        self, dtype: DTypeLike, shape: ShapeLike | None = None, shared_name: str | None = None,
        name: str = "conditional_accumulator", reduction_type: str = "MEAN",
    ):
        ref = ResourceConditionalAccumulator(
            dtype=dtypes.as_dtype(dtype), shape=TensorShape(shape), shared_name=shared_name or "",
            reduction_type=_checked(reduction_type), name=name,
        )  # fmt: skip
        super().__init__(dtype, shape, ref)

    def apply_grad(self, grad: Any, local_step: IntLike = 0, name: str | None = None):
        """Adds a gradient; it is dropped if `local_step` is behind the accumulator's step."""
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return ResourceAccumulatorApplyGradient(
            self._accumulator_ref, cast(local_step, dtypes.int64), grad, dtype=self._dtype, name=name
        )

    def take_grad(self, num_required: int, name: str | None = None):
        """The mean, or sum, of the gradients, once there are `num_required`. Begins the next step."""
        out = ResourceAccumulatorTakeGradient(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )
        if is_symbolic_tensor(out):
            out.set_shape(self._shape)
        return out


@api(v1=("sparse.SparseConditionalAccumulator", "SparseConditionalAccumulator"))
@public_methods
class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums gradients that are rows of a tensor: indices and values.

    Args:
      shape: of the dense tensors that the gradients stand for.
      reduction_type: "MEAN" or "SUM": what is taken for each row.
    """

    def __init__(
        self, dtype: DTypeLike, shape: Any = None, shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator", reduction_type: str = "MEAN",
    ):
        ref = SparseConditionalAccumulator_(
            dtype=dtypes.as_dtype(dtype), shape=TensorShape(shape), shared_name=shared_name or "",
            reduction_type=_checked(reduction_type), name=name,
        )  # fmt: skip
        super().__init__(dtype, shape, ref)

    def apply_indexed_slices_grad(self, grad: IndexedSlices, local_step=0, name: str | None = None):
        """Adds a gradient, an `IndexedSlices`."""
        return self.apply_grad(
            grad_indices=grad.indices, grad_values=grad.values, grad_shape=grad.dense_shape,
            local_step=local_step, name=name,
        )  # fmt: skip

    def apply_grad(
        self, grad_indices: TensorLike, grad_values: TensorLike, grad_shape: Sequence[int] | None = None,
        local_step: int = 0, name: str | None = None,
    ):
        """Adds a gradient: rows `grad_values` with numbers `grad_indices` of a tensor of shape `grad_shape`.

        Its run raises InvalidArgumentError for shapes that do not fit.
        """
        known = grad_shape is not None
        shape = grad_shape if known and _has_dimensions(grad_shape) else np.zeros(0, np.int64)
        return SparseAccumulatorApplyGradient(
            self._accumulator_ref, cast(local_step, dtypes.int64), cast(grad_indices, dtypes.int64),
            convert_to_tensor(grad_values, self._dtype),
            cast(shape, dtypes.int64),
            dtype=self._dtype, has_known_shape=known, name=name,
        )  # fmt: skip

    def take_grad(self, num_required: int, name: str | None = None):
        """(indices, values, shape) of the mean, or sum, once there are `num_required` gradients."""
        return tuple(
            SparseAccumulatorTakeGradient(
                self._accumulator_ref, num_required, dtype=self._dtype, name=name
            )
        )

    def take_indexed_slices_grad(self, num_required: int, name: str | None = None):
        """As `take_grad`, as an `IndexedSlices`."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)


def _has_dimensions(shape: Any) -> bool:
    """Whether a shape has dimensions; a tensor is taken to have some."""
    return hasattr(shape, "dtype") or len(shape) > 0
