"""Rows that resize and join lists of tensors."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.lists.payload import list_in, text_of
from tapeflow.ops.lists.tensor_list import changed, length_in, lists, sample_list
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text, type_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


@op(
    "TensorListResize",
    "input_handle: variant, size: int32 -> output_handle: variant",
    shape=shapes.scalar,
)
def TensorListResize(xp: ModuleType, input_handle: np.ndarray, size: np.ndarray):
    before = list_in(input_handle)
    count = list_payload.one(size, "size must be a scalar")
    if count < 0:
        raise invalid(f"TensorListSlice expects size to be non-negative. Got: {count}")
    return changed(before, before.tensors()[:count] + [None] * (count - len(before)))


@TensorListResize.gradient(needs="input_handle")
def _(call: GradientCall, dlist: Tensor):
    return TensorListResize(dlist, length_in(call, "input_handle")), None


@TensorListResize.samples
def _(rng: SampleGenerator):
    yield Sample(sample_list(1, 2), 3, expect=sample_list(1, 2, None))
    yield Sample(sample_list(1, 2), 1, expect=sample_list(1))
    yield Sample(sample_list(1), -1, raises=InvalidArgumentError)
    yield Sample(sample_list(1), [1, 2], raises=InvalidArgumentError)


@op(
    "TensorListConcatLists",
    "input_a: variant, input_b: variant -> output: variant",
    attrs={"element_dtype": dtype},
    shape=shapes.merged,
)
def TensorListConcatLists(xp: ModuleType, input_a: Array, input_b: Array, element_dtype: DType):
    if input_a.shape != input_b.shape:
        raise invalid(
            "Incompatible input TensorList tensor shapes: "
            f"{shape_text(input_a.shape)} vs. {shape_text(input_b.shape)}"
        )
    out = np.empty(input_a.size, object)
    for i, (a, b) in enumerate(zip(input_a.flat, input_b.flat, strict=True)):
        for given, name in ((a, "input_a"), (b, "input_b")):
            if list_payload.list_of(given).dtype != element_dtype:
                raise invalid(
                    f"{name}[{i}].dtype != element_dtype.  Saw: {type_text(given.dtype)} "
                    f"vs. {type_text(element_dtype)}"
                )
        if a.element_shape != b.element_shape:
            raise invalid(
                f"input_a and input_b TensorList element shapes are not identical at index {i}.  "
                f"Saw {text_of(a.element_shape)} vs. {text_of(b.element_shape)}"
            )
        out[i] = changed(a, a.tensors() + b.tensors())
    return out.reshape(input_a.shape)


TensorListConcatLists.gradient(None)


TensorListConcatLists.compiled(never="it takes lists of lists")


@TensorListConcatLists.samples
def _(rng: SampleGenerator):
    yield Sample(sample_list(1), sample_list(2, None), "float64", expect=sample_list(1, 2, None))
    yield Sample(lists(sample_list(1)), lists(sample_list(2)), "float64",
                 expect=lists(sample_list(1, 2)))  # fmt: skip
    yield Sample(sample_list(1), sample_list(kind="int32"), "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), sample_list(1), "int32", raises=InvalidArgumentError)
    yield Sample(lists(sample_list(1)), sample_list(1), "float64", raises=InvalidArgumentError)
    yield Sample(
        sample_list(shape=(2,)), sample_list(shape=(3,)), "float64", raises=InvalidArgumentError
    )
