"""What a debugger asks of tensors: how many of their elements are no numbers, their range, their shape."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.ops import shapes
from tapeflow.ops.lists.payload import dtype_of
from tapeflow.ops.signature import dtype, strings
from tapeflow.ops.table import ANY, REAL, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

_NAMED = {"device_name": "", "tensor_name": "", "debug_urls": strings([]), "gated_grpc": False}
_VALUES = np.array([1.0, np.nan, np.inf, 0.0, -2.0, -np.inf, 5.0])


def _check(tensor_name: str, debug_urls: Sequence[Any]):
    if not tensor_name:
        raise invalid(f'Failed to parse tensor name: "{tensor_name}"')
    if debug_urls:
        raise UnimplementedError(None, None, f"Nothing is sent to debug_urls, got {list(debug_urls)}")


@op("DebugIdentity", "input: T -> output: T", types={"T": ANY}, attrs=_NAMED, shape=shapes.elementwise)
def DebugIdentity(
    xp: ModuleType, input: Array, device_name: str, tensor_name: str, debug_urls: Sequence[str], gated_grpc: bool
):
    _check(tensor_name, debug_urls)
    return input


DebugIdentity.gradient(lambda call, dy: dy, needs="")
DebugIdentity.reference(lambda input, **unused: input)


@DebugIdentity.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), tensor_name="a:0")
    yield Sample(rng.normal(2), raises=InvalidArgumentError)


@op("DebugGradientIdentity", "input: T -> output: T", types={"T": ANY}, shape=shapes.elementwise)
def DebugGradientIdentity(xp: ModuleType, input: Array):
    return input


DebugGradientIdentity.gradient(lambda call, dy: dy, needs="")
DebugGradientIdentity.reference(lambda input: input)
DebugGradientIdentity.samples(lambda rng: [Sample(rng.normal(2, 3)), Sample(np.array([1, 2]))])


@op("DebugNanCount", "input: T -> output: int64", types={"T": REAL}, attrs=_NAMED, shape=lambda call: [(1,)])
def DebugNanCount(
    xp: ModuleType, input: Array, device_name: str, tensor_name: str, debug_urls: Sequence[str], gated_grpc: bool
):
    _check(tensor_name, debug_urls)
    return np.array([np.count_nonzero(input != input)], np.int64)


DebugNanCount.gradient(None)


@DebugNanCount.samples
def _(rng: SampleGenerator):
    yield Sample(_VALUES, tensor_name="a:0", expect=np.array([1]))
    yield Sample(np.array([1, 2]), tensor_name="a:0", expect=np.array([0]))
    yield Sample(_VALUES, tensor_name="", raises=InvalidArgumentError)


@op("DebugNumericSummary", "input: T -> output: float64", types={"T": REAL},
    attrs={**_NAMED, "lower_bound": float("-inf"), "upper_bound": float("inf"), "mute_if_healthy": False},
    shape=lambda call: [(None if call.shape(0) is None else 14 + len(call.shape(0)),)])  # fmt: skip
def DebugNumericSummary(
    xp: ModuleType, input: Array, device_name: str, tensor_name: str, debug_urls: Sequence[str], gated_grpc: bool,
    lower_bound, upper_bound, mute_if_healthy: bool,
):  # fmt: skip
    """Whether it is there, how many elements it has, of each kind, their range, mean and variance; dtype and shape.

    `mute_if_healthy` only says what is sent to `debug_urls`.
    """
    _check(tensor_name, debug_urls)
    x = input.astype(np.float64)
    bad = np.isnan(x)
    low, high = ~bad & (x <= lower_bound), ~bad & (x >= upper_bound)
    counts = [bad, low, ~low & ~bad & (x < 0), ~bad & (x == 0), ~high & ~bad & (x > 0), high]
    finite = x[~(bad | np.isinf(x))]
    numbers = [np.inf, -np.inf, np.nan, np.nan]
    if finite.size:
        numbers = [finite.min(), finite.max(), finite.mean(), finite.var()]
    kind = dtypes.as_dtype(input.dtype).as_datatype_enum
    return np.array([1, x.size, *map(np.count_nonzero, counts), *numbers, kind, x.ndim, *x.shape], np.float64)


DebugNumericSummary.gradient(None)


@DebugNumericSummary.samples
def _(rng: SampleGenerator):
    found = [1, 7, 1, 1, 1, 1, 2, 1, -2, 5, 1, 6.5, 2, 1, 7]
    yield Sample(_VALUES, tensor_name="a:0", expect=np.array(found))
    yield Sample(np.array([[np.nan]]), tensor_name="a:0",
                 expect=np.array([1, 1, 1, 0, 0, 0, 0, 0, np.inf, -np.inf, np.nan, np.nan, 2, 2, 1, 1]))  # fmt: skip
    yield Sample(_VALUES, raises=InvalidArgumentError)


# By the debug mode.
_LENGTHS = {2: 2, 3: 5, 4: 11, 5: 10, 8: 3}


@op("DebugNumericSummaryV2", "input: T -> output: output_dtype", types={"T": REAL},
    attrs={"output_dtype": dtype(dtypes.float32), "tensor_debug_mode": -1, "tensor_id": -1},
    shape=lambda call: [(_LENGTHS.get(call.attr("tensor_debug_mode")),)])  # fmt: skip
def DebugNumericSummaryV2(
    xp: ModuleType, input: np.ndarray, output_dtype: DType, tensor_debug_mode: int, tensor_id: int
):
    if output_dtype not in (dtypes.float32, dtypes.float64):
        raise invalid(f"output_dtype must be float32 or float64, got {output_dtype.name}")
    bad = input != input
    infinite = ~bad & (abs(input.astype(np.float64)) == np.inf)
    low, high = infinite & (input < 0), infinite & (input > 0)
    kind = dtype_of(input).as_datatype_enum
    count = np.count_nonzero
    if tensor_debug_mode == 2:
        found = [tensor_id, (bad | infinite).any()]
    elif tensor_debug_mode == 3:
        found = [tensor_id, input.size, count(low), count(high), count(bad)]
    elif tensor_debug_mode == 4:
        signs = [count(each & ~infinite) for each in (input < 0, input == 0, input > 0)]
        found = [tensor_id, -1, kind, input.ndim, input.size, count(low), count(high), count(bad), *signs]
    elif tensor_debug_mode == 5:
        sizes = [*input.shape[-6:], *[0] * (6 - input.ndim)]
        found = [tensor_id, kind, input.ndim, input.size, *sizes]
    elif tensor_debug_mode == 8:
        found = [-np.inf if low.any() else 0, np.inf if high.any() else 0, np.nan if bad.any() else 0]
    else:
        raise UnimplementedError(None, None, f"Unimplemented tensor debug mode: {tensor_debug_mode}")
    return np.array(found, output_dtype.as_numpy_dtype)


DebugNumericSummaryV2.gradient(None)


@DebugNumericSummaryV2.samples
def _(rng: SampleGenerator):
    for mode, found in (
        (2, [3, 1]),
        (3, [3, 7, 1, 1, 1]),
        (4, [3, -1, 2, 1, 7, 1, 1, 1, 1, 1, 2]),
        (5, [3, 2, 1, 7, 7, 0, 0, 0, 0, 0]),
        (8, [-np.inf, np.inf, np.nan]),
    ):
        yield Sample(_VALUES, tensor_debug_mode=mode, tensor_id=3, expect=np.array(found, np.float32))
    yield Sample(np.array([0, 2]), tensor_debug_mode=2, tensor_id=1, expect=np.array([1, 0], np.float32))
    yield Sample(_VALUES, raises=UnimplementedError)


for _row in (DebugNanCount, DebugNumericSummary, DebugNumericSummaryV2):
    _row.compiled(never="it is for debuggers")
