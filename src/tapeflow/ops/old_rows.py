"""Ops that later versions replaced, and facts about the process: old graphs hold them."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, NotFoundError
from tapeflow.core.files.paths import local_path
from tapeflow.ops import shapes
from tapeflow.ops.io.summary_rows import AudioSummaryV2
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.lists.tensor_list import sample_list
from tapeflow.ops.lists.tensor_list_reading import TensorListConcatV2
from tapeflow.ops.lists.tensor_list_rows import TensorListScatterV2
from tapeflow.ops.math.casting import Cast
from tapeflow.ops.quantize.quantize_and_dequantize import QuantizeAndDequantizeV2
from tapeflow.ops.signature import dtype, number, string, strings
from tapeflow.ops.signature import shape as shape_attr
from tapeflow.ops.table import ANY, FLOATING, INDEX, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


@op("QuantizeAndDequantize", "input: T -> output: T", types={"T": FLOATING},
    attrs={"signed_input": True, "num_bits": 8, "range_given": False, "input_min": 0.0, "input_max": 0.0},
    shape=shapes.same_as_first)  # fmt: skip
def QuantizeAndDequantize(
    xp: ModuleType, input: Array, signed_input: bool, num_bits: int, range_given: bool, input_min: float,
    input_max: float,
):
    low, high = (np.array(end, input.dtype) for end in (input_min, input_max))
    return QuantizeAndDequantizeV2.kernel(
        xp, input, low, high, signed_input=signed_input, num_bits=num_bits, range_given=range_given,
        round_mode="HALF_TO_EVEN", narrow_range=False, axis=-1,
    )  # fmt: skip


QuantizeAndDequantize.gradient(lambda call, dy: dy, needs="")


@QuantizeAndDequantize.samples
def _(rng: SampleGenerator):
    x = np.array([-0.5, 0.0, 0.4, 1.0])
    yield Sample(x, expect=np.array([-64, 0, 51, 127]) / 127, differentiable=False)
    yield Sample(x, num_bits=64, raises=InvalidArgumentError)


_FACTORS = (dtypes.float32, dtypes.bfloat16)
_TURNS = {"transpose_a": False, "transpose_b": False}


@op("SparseMatMul", "a: Ta, b: Tb -> product: float32", types={"Ta": _FACTORS, "Tb": _FACTORS},
    attrs={**_TURNS, "a_is_sparse": False, "b_is_sparse": False}, ranks="a: 2, b: 2", shape=shapes.matmul)  # fmt: skip
def SparseMatMul(
    xp: ModuleType, a: Array, b: Array, transpose_a: bool, transpose_b: bool, a_is_sparse: bool, b_is_sparse: bool
):
    """Whether a factor has many zeros only says how to multiply."""
    if a.ndim != 2 or b.ndim != 2:
        raise invalid(f"a and b must be matrices, got shapes {list(a.shape)} and {list(b.shape)}")
    a, b = (x.astype(np.float32) for x in (a, b))
    a, b = a.T if transpose_a else a, b.T if transpose_b else b
    if a.shape[1] != b.shape[0]:
        raise invalid(f"Matrix size incompatible: a: {list(a.shape)}, b: {list(b.shape)}")
    return a @ b


@SparseMatMul.gradient(needs="a, b")
def _(call: GradientCall, dy: Tensor):
    a, b = Cast(call.a, dtypes.float32), Cast(call.b, dtypes.float32)
    da = MatMul(b, dy, call.transpose_b, True) if call.transpose_a else MatMul(dy, b, False, not call.transpose_b)
    db = MatMul(dy, a, True, call.transpose_a) if call.transpose_b else MatMul(a, dy, not call.transpose_a, False)
    return Cast(da, call.dtype("a")), Cast(db, call.dtype("b"))


@SparseMatMul.samples
def _(rng: SampleGenerator):
    a, b = rng.normal(2, 3).astype(np.float32), rng.normal(3, 4).astype(np.float32)
    yield Sample(a, b)
    yield Sample(a.T.copy(), b.T.copy(), transpose_a=True, transpose_b=True, a_is_sparse=True)
    yield Sample(a, a, raises=InvalidArgumentError)
    yield Sample(a, a[0], raises=InvalidArgumentError)


@SparseMatMul.reference
def _(a: np.ndarray, b: np.ndarray, transpose_a: bool, transpose_b: bool, a_is_sparse: bool, b_is_sparse: bool):
    return np.einsum(f"{'ki' if transpose_a else 'ik'},{'jk' if transpose_b else 'kj'}->ij", a, b)


# Lists.


@op("TensorListConcat", "input_handle: variant -> tensor: element_dtype, lengths: int64",
    attrs={"element_dtype": dtype, "element_shape": shape_attr(None)},
    shape=lambda call: [None if call.attr("element_shape") is None else (None, *tuple(call.attr("element_shape"))[1:]),
                        (None,)], moves=True)  # fmt: skip
def TensorListConcat(xp: ModuleType, input_handle: Array, element_dtype: DType, element_shape: Sequence[Any]):
    known = None if element_shape is None else tuple(element_shape)
    spelled = np.array(-1) if known is None else np.array([-1 if n is None else n for n in known], np.int64)
    return TensorListConcatV2.kernel(xp, input_handle, spelled, np.zeros(0, np.int64), element_dtype)


TensorListConcat.gradient(None)


@TensorListConcat.samples
def _(rng: SampleGenerator):
    found = np.array([1.0, 2.0, 3.0]), np.array([2, 1])
    yield Sample(sample_list([1, 2], [3]), dtypes.float64, expect=found)
    yield Sample(sample_list(1), dtypes.float64, raises=InvalidArgumentError)


@op("TensorListScatter",
    "tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant",
    types={"element_dtype": ANY, "shape_type": INDEX}, shape=shapes.scalar)  # fmt: skip
def TensorListScatter(xp: ModuleType, tensor: Array, indices: Array, element_shape: Array):
    return TensorListScatterV2.kernel(xp, tensor, indices, element_shape, np.array(-1, np.int32))


TensorListScatter.gradient(None)


@TensorListScatter.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1.0, 2.0]), [2, 0], -1, expect=sample_list(2, None, 1), differentiable=False)
    yield Sample(np.array([1.0]), [-1], -1, raises=InvalidArgumentError)


# Constants.


@op("Fact", "-> fact: string", shape=shapes.scalar)
def Fact(xp: ModuleType):
    return np.array(b"0! == 1", object)


def _shape_rule(call: ShapeCall):
    shape = call.attr("shape")
    return [None if shape is None else tuple(shape)]


@op("FakeParam", "-> output: dtype", attrs={"dtype": dtype, "shape": shape_attr},
    shape=_shape_rule)  # fmt: skip
def FakeParam(xp: ModuleType, dtype: DType, shape: Sequence[Any]):
    """A value that nobody reads: zeros."""
    sizes = None if shape is None else tuple(shape)
    if sizes is None or None in sizes or not dtype.is_numpy_compatible:
        raise invalid(f"FakeParam has no value of {dtype.name} and shape {shape}")
    if dtype == dtypes.string:
        return np.full(sizes, b"", object)
    return np.zeros(sizes, dtype.as_numpy_dtype)


@op("DeviceIndex", "-> index: int32", attrs={"device_names": strings}, shape=shapes.scalar, stateful=True)
def DeviceIndex(xp: ModuleType, device_names: Sequence[str]):
    """Where the CPU is among the names; how many there are if it is not."""
    names = [name.decode() if isinstance(name, bytes) else str(name) for name in device_names]
    return np.array(names.index("CPU") if "CPU" in names else len(names), np.int32)


@op("ImmutableConst", "-> tensor: dtype", attrs={"dtype": dtype, "shape": shape_attr, "memory_region_name": string},
    shape=_shape_rule, touches="files")  # fmt: skip
def ImmutableConst(xp: ModuleType, dtype: DType, shape: Sequence[Any], memory_region_name: str):
    """The first bytes of a file, as numbers."""
    sizes = () if shape is None else tuple(shape)
    if None in sizes or not dtype.is_numpy_compatible or dtype == dtypes.string:
        raise invalid(f"A file holds no tensor of {dtype.name} and shape {shape}")
    count = int(np.prod(sizes, dtype=np.int64))
    try:
        with open(local_path(memory_region_name), "rb") as file:
            data = file.read(count * np.dtype(dtype.as_numpy_dtype).itemsize)
    except FileNotFoundError:
        raise NotFoundError(None, None, f"{memory_region_name}; No such file or directory") from None
    except (OSError, ValueError) as error:
        raise invalid(f"{memory_region_name}: {error}") from None
    if len(data) < count * np.dtype(dtype.as_numpy_dtype).itemsize:
        raise invalid(f"Readonly memory region has less than {count} elements of {dtype.name}: {memory_region_name}")
    return np.frombuffer(data, dtype.as_numpy_dtype).reshape(sizes)


@ImmutableConst.reference
def _(dtype, shape, memory_region_name):
    return np.fromfile(memory_region_name, dtype.as_numpy_dtype, int(np.prod(shape))).reshape(shape)


@ImmutableConst.samples
def _(rng: SampleGenerator):
    yield Sample(dtypes.float32, [2], "/no/such/file", raises=NotFoundError)
    yield Sample(dtypes.float32, [2], "/dev/null", raises=InvalidArgumentError)


Fact.samples(lambda rng: [Sample(expect=np.array(b"0! == 1", object))])
FakeParam.samples(lambda rng: [Sample(dtypes.float32, [2], expect=np.zeros(2, np.float32))])
DeviceIndex.samples(
    lambda rng: [
        Sample(["CPU", "GPU"], expect=np.array(0, np.int32)),
        Sample(["GPU"], expect=np.array(1, np.int32)),
    ]
)


@op("AudioSummary", "tag: string, tensor: float32 -> summary: string", attrs={"sample_rate": number, "max_outputs": 3},
    shape=shapes.scalar)  # fmt: skip
def AudioSummary(xp: ModuleType, tag: Array, tensor: Array, sample_rate: float, max_outputs: int):
    return AudioSummaryV2.kernel(xp, tag, tensor, np.float32(sample_rate), max_outputs)


@AudioSummary.samples
def _(rng):
    yield Sample(np.array(b"a", object), np.float32([[0.0, 0.5, -0.25]]), sample_rate=8000.0)
    yield Sample(np.array(b"a", object), np.zeros(2, np.float32), sample_rate=8000.0, raises=InvalidArgumentError)


AudioSummary.reference(
    lambda tag, tensor, sample_rate, max_outputs: AudioSummaryV2.formula(tag, tensor, sample_rate, max_outputs)
)
for _row in (Fact, FakeParam, DeviceIndex, ImmutableConst, AudioSummary):
    _row.gradient(None)
    _row.compiled(never="it gives a value of Python")
for _row in (TensorListConcat, TensorListScatter):
    _row.compiled(never="lists are objects")
