"""The parameters of cuDNN's recurrent networks: how many there are, as one vector, as matrices and biases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.recurrent.cudnn_layout import NETWORK_ATTRS, layout
from tapeflow.ops.signature import dtype, integer
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import index_kind, invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall

_SIZES = "num_layers: int32, num_units: int32, input_size: int32"
_RANKS = "num_layers: 0, num_units: 0, input_size: 0"
_STATIC = "num_layers, num_units, input_size"


def _layout(
    num_layers, num_units, input_size, rnn_mode, input_mode, direction, num_proj=0, **_
):
    sizes = [
        one_value(value, f"{name} must be a scalar")
        for name, value in (
            ("num_layers", num_layers), ("num_units", num_units), ("input_size", input_size),
        )
    ]  # fmt: skip
    return layout(rnn_mode, input_mode, direction, *sizes, num_proj)


def _known_layout(call: ShapeCall):
    sizes = [call.value(i) for i in range(3)]
    if any(size is None for size in sizes):
        return None
    return _layout(*sizes, *(call.attr(name) for name in ("rnn_mode", "input_mode", "direction")))


@op(
    "CudnnRNNParamsSize",
    f"{_SIZES} -> params_size: S",
    attrs={"T": dtype, "S": dtype, **NETWORK_ATTRS, "num_proj": 0},
    ranks=_RANKS,
    shape=shapes.fixed((1,)),
    stateful=False,
)
def CudnnRNNParamsSize(
    xp: ModuleType, num_layers: Array, num_units: Array, input_size: Array, T: DType, S: DType, **attrs
):
    kind = index_kind(S, "S")
    found = _layout(num_layers, num_units, input_size, **attrs).size
    if found > np.iinfo(kind).max:
        raise invalid(f"{found} parameters are more than {S.name} can count")
    return np.array([found], kind)


CudnnRNNParamsSize.gradient(None)
CudnnRNNParamsSize.compiled(static=_STATIC)


@CudnnRNNParamsSize.samples
def _(rng):
    kinds = {"T": dtypes.float32, "S": dtypes.int32}
    # 4 (200 * 200 + 200 * 200 + 2 * 200) in each of 4 layers
    yield Sample(4, 200, 200, **kinds, expect=np.array([1286400], np.int32))
    yield Sample(1, 2, 3, rnn_mode="gru", direction="bidirectional", **kinds, expect=np.array([84], np.int32))
    yield Sample(1, 3, 3, rnn_mode="rnn_relu", input_mode="auto_select", **kinds,
                 expect=np.array([15], np.int32))  # fmt: skip
    yield Sample(0, 3, 3, **kinds, raises=InvalidArgumentError)
    yield Sample(1, 2, 3, input_mode="skip_input", **kinds, raises=InvalidArgumentError)
    yield Sample(9, 2**15, 3, **kinds, raises=InvalidArgumentError)


def _canonical_rule(counts: Sequence[str]):
    def rule(call: ShapeCall):
        weights, biases = (call.attr(name) for name in counts)
        found = _known_layout(call)
        if found is None:
            return [(None, None)] * weights + [(None,)] * biases
        return [*islice(found.weight_shapes(), weights)] + [(found.units,)] * biases

    return rule


def _to_canonical(name: str, counts):
    """A row that splits the vector; `counts`: the attrs that say into how many matrices and biases."""
    weights, biases = counts[0], counts[-1]
    proj = {"num_proj": 0} if len(counts) > 1 else {}

    def kernel(xp: ModuleType, num_layers: Array, num_units: Array, input_size: Array, params: Array, **attrs):
        found = _layout(num_layers, num_units, input_size, **attrs)
        if params.shape != (found.size,):
            raise invalid(
                f"params must have shape [{found.size}], but got shape {shape_text(params.shape)}"
            )
        if attrs[weights] != found.biases or attrs[biases] != found.biases:
            raise invalid(
                f"There are {found.biases} matrices and as many vectors of biases, but "
                f"{attrs[weights]} and {attrs[biases]} were asked for"
            )
        out, at = [], 0
        for shape in [*found.weight_shapes(), *[(found.units,)] * found.biases]:
            end = at + math.prod(shape)
            out.append(params[at:end].reshape(shape))
            at = end
        return out[: found.biases], out[found.biases :]

    row = op(
        name,
        f"{_SIZES}, params: T -> weights: {weights}*T, biases: {biases}*T",
        types={"T": FLOATING},
        attrs={**dict.fromkeys(counts, integer), **NETWORK_ATTRS, **proj},
        ranks=f"{_RANKS}, params: 1",
        shape=_canonical_rule((weights, biases)),
        stateful=False,
    )(kernel)
    row.compiled(static=_STATIC)

    @row.samples
    def _(rng):
        params = np.arange(24.0)
        two = dict.fromkeys(counts, 2)
        yield Sample(1, 3, 4, params, **two, rnn_mode="rnn_tanh", raises=InvalidArgumentError)
        yield Sample(
            1, 3, 3, params, **two, rnn_mode="rnn_tanh",
            expect=[params[:9].reshape(3, 3), params[9:18].reshape(3, 3), params[18:21], params[21:]],
        )  # fmt: skip
        yield Sample(
            1, 3, 3, params, **dict.fromkeys(counts, 1), rnn_mode="rnn_tanh", raises=InvalidArgumentError
        )
        params = np.arange(22.0)
        yield Sample(
            1, 2, 1, params, **dict.fromkeys(counts, 4), rnn_mode="rnn_relu", direction="bidirectional",
            raises=InvalidArgumentError,
        )  # fmt: skip
        params = np.arange(20.0)
        yield Sample(
            1, 2, 1, params, **dict.fromkeys(counts, 4), rnn_mode="rnn_relu", direction="bidirectional",
            expect=[
                params[:2].reshape(2, 1), params[2:6].reshape(2, 2), params[6:8].reshape(2, 1),
                params[8:12].reshape(2, 2), *params[12:].reshape(4, 2),
            ],
        )  # fmt: skip

    return row


def _to_params(name: str, counts: Sequence[str], proj: dict[str, Any]):
    """A row that joins matrices and biases to one vector; `counts`: the names of their numbers in the signature."""

    def kernel(
        xp: ModuleType, num_layers: Array, num_units: Array, input_size: Array, weights: Sequence[Array],
        biases: Sequence[Array], **attrs,
    ):
        found = _layout(num_layers, num_units, input_size, **attrs)
        if len(weights) != found.biases or len(biases) != found.biases:
            raise invalid(
                f"Need {found.biases} matrices and vectors of biases, got {len(weights)} and {len(biases)}"
            )
        for i, (matrix, (rows, columns), bias) in enumerate(
            zip(weights, found.weight_shapes(), biases, strict=True)
        ):
            if matrix.size != rows * columns or bias.size != found.units:
                raise invalid(
                    f"weights[{i}] must have shape [{rows},{columns}] and biases[{i}] shape [{rows}], but got "
                    f"shapes {shape_text(matrix.shape)} and {shape_text(bias.shape)}"
                )
        return xp.concatenate([each.reshape(-1) for each in (*weights, *biases)])

    def rule(call: ShapeCall):
        found = _known_layout(call)
        return [(None if found is None else found.size,)]

    row = op(
        name,
        f"{_SIZES}, weights: {counts[0]}*T, biases: {counts[-1]}*T -> params: T",
        types={"T": FLOATING},
        attrs={**NETWORK_ATTRS, **proj},
        ranks=_RANKS,
        shape=rule,
        stateful=False,
    )(kernel)
    row.compiled(static=_STATIC)

    @row.samples
    def _(rng):
        matrices = [rng.normal(2, 1), rng.normal(2, 2), rng.normal(2, 1), rng.normal(2, 2)]
        biases = [rng.normal(2) for _ in range(4)]
        attrs = {"rnn_mode": "rnn_relu", "direction": "bidirectional"}
        joined = np.concatenate([x.ravel() for x in (*matrices, *biases)])
        yield Sample(1, 2, 1, matrices, biases, **attrs, expect=joined, differentiable=False)
        yield Sample(1, 2, 2, matrices, biases, **attrs, raises=InvalidArgumentError)
        yield Sample(1, 2, 1, matrices[:3], biases[:3], **attrs, raises=InvalidArgumentError)

    return row


CudnnRNNParamsToCanonical = _to_canonical("CudnnRNNParamsToCanonical", ("num_params",))
CudnnRNNParamsToCanonicalV2 = _to_canonical(
    "CudnnRNNParamsToCanonicalV2", ("num_params_weights", "num_params_biases")
)
CudnnRNNCanonicalToParams = _to_params("CudnnRNNCanonicalToParams", ("num_params",), {})
CudnnRNNCanonicalToParamsV2 = _to_params(
    "CudnnRNNCanonicalToParamsV2", ("num_params_weights", "num_params_biases"), {"num_proj": 0}
)
