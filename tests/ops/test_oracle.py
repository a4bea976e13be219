"""Every sample of every row against TensorFlow's own op of that name: results, dtypes, classes of errors.

TF_PYTHON names a Python that has TensorFlow; it is run as another process.
"""

from __future__ import annotations

import os
import pathlib
import pickle
import subprocess

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.dtypes import DType
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]

load_all_rows()

# How TensorFlow says that its CPU kernels cannot do what its definition of the op allows.
NOT_THERE = ("NotFoundError", "UnimplementedError")
UNSUPPORTED = (
    "only supports",
    "do not yet support",
    "must be at least minimum",
    "is not in the list of allowed values",
    "has constraint on attr",
    "filter must be a constant",
)

_EINSUM = "tf.einsum rewrites such equations before it calls the op; this row does it itself"
_UNUSED = "TensorFlow leaves the output that was not asked for unset; here it is empty"
_TAPS = "TensorFlow's CPU kernel takes a window without taps; an error, as of Conv2D, is clearer"
_GROUPS = "TensorFlow's CPU kernel has no gradient of grouped convolutions"
_COUNTER = "TensorFlow reads behind the end of a counter that is too short"
_OUTSIDE = "TensorFlow does not look whether indices are inside of the shape"
_DEPTH = "TensorFlow takes a gradient of another depth than the image's"
_FUSED = "TensorFlow's kernel, of oneDNN, does not transpose, and what does not fit is an AbortedError of oneDNN"
_DILATED = "TensorFlow's CPU kernel ignores the dilations in this gradient"

# Rows for one output each of ops of TensorFlow that have many of different dtypes.
OURS = {
    "CompareAndBitpack",  # which TensorFlow has removed
    "DecodeCSVColumn",
    "DecodeProtoField",
    "DenseCTCLoss",
    "EncodeProtoField",
    "Gelu",
    "GeluGrad",
    "LayerNormRows",
    "LayerNormRowsGrad",
    "LogSoftmaxGrad",
    "RaggedCrossColumns",
    "RecurrentSequence",
    "RecurrentSequenceGrad",
    "ParseExampleDenseFeature",
    "ParseExampleRaggedFeature",
    "ParseExampleSparseFeature",
    "ParseSequenceDenseList",
    "ParseSequenceRaggedList",
    "ParseSequenceSparseList",
    "SoftmaxGrad",
}

# Samples that TensorFlow's kernel answers otherwise, on purpose.
DIFFERENT = {
    "AvgPoolGrad-6": "TensorFlow reads a gradient of the wrong shape",
    "Conv2DBackpropFilter-4": _GROUPS,
    "Conv2DBackpropInput-4": _GROUPS,
    "DecodeJSONExample-0": "Messages differ by the order and the packing of their fields",
    "DepthwiseConv2dNative-5": _TAPS,
    "DepthwiseConv2dNativeBackpropFilter-2": _DILATED,
    "DepthwiseConv2dNativeBackpropInput-2": _DILATED,
    "Dilation2D-6": _TAPS,
    "Eig-0": _UNUSED,
    "DataFormatDimMap-2": _OUTSIDE,
    "DataFormatDimMap-3": _OUTSIDE,
    "DeserializeManySparse-1": "TensorFlow takes one serialized tensor for a vector of them",
    "EncodeWav-4": "TensorFlow writes a file without samples",
    **{f"QuantizedMatMulWithBiasAndRelu-{i}": _FUSED for i in range(2, 6)},
    **{
        f"QuantizedMatMulWithBias{end}-{i}": _FUSED
        for end in ("", "AndDequantize", "AndRequantize", "AndReluAndRequantize")
        for i in range(4, 8)
    },
    "RaggedBincount-6": "TensorFlow overlooks splits that go down",
    "SerializeSparse-1": "TensorFlow writes what does not fit together",
    "Einsum-4": _EINSUM,
    "Einsum-7": _EINSUM,
    "Einsum-9": _EINSUM,
    "Einsum-11": _EINSUM,
    "Einsum-14": "TensorFlow makes up a value for a label that no input has",
    "EncodePng-0": "Files of PNG differ by the filters that the encoder chose",
    "ResizeBicubicGrad-4": _DEPTH,
    "ResizeBilinearGrad-4": _DEPTH,
    "SelfAdjointEigV2-0": _UNUSED,
    "SelfAdjointEigV2-1": _UNUSED,
    "SparseAdd-8": _OUTSIDE,
    "SparseReduceMaxSparse-13": _OUTSIDE,
    "SparseReduceSumSparse-13": _OUTSIDE,
    "SparseReorder-5": _OUTSIDE,
    "SparseSlice-5": "TensorFlow cuts a negative start off",
    "SparseSoftmax-5": _OUTSIDE,
    "StatelessRandomNormalV2-3": _COUNTER,
    "StatelessRandomUniformV2-3": _COUNTER,
    "StatelessTruncatedNormalV2-3": _COUNTER,
    "Svd-0": _UNUSED,
    "Svd-1": _UNUSED,
    **dict.fromkeys(
        ("TopKV2-4", "TopKV2-21", "TopKV2-22"), "NaN has no place in TensorFlow's order; here it is the largest"
    ),
    "UnravelIndex-3": "TensorFlow takes negative indices apart into negative coordinates",
}


class Generator:
    """What samples draw from: `normal(*shape)`."""

    def __init__(self):
        self.numbers = np.random.default_rng(7)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


def samples():
    """(row, sample, id) of all samples whose attrs can go to another process."""
    out = []
    for name, row in sorted(REGISTRY.items()):
        if row.sample_source is None or any(kind.number == 7 for kind in row.attrs.values()):
            continue
        if name in OURS or "resource" in row.signature or "variant" in row.signature:
            continue
        out += [(row, s, f"{name}-{i}") for i, s in enumerate(row.sample_source(Generator()))]
    return out


def converted(row, sample):
    """A sample's inputs and attrs as the row's kernel gets them; as they were written if it never does."""
    seen = []

    def spy(xp, *inputs, **attrs):
        seen.append((inputs, attrs))
        return row.kernel(xp, *inputs, **attrs)

    row._kernel = spy
    try:
        row.call_python(*sample.inputs, **sample.attrs)
    except Exception:
        pass
    finally:
        row._kernel = row.kernel
    if seen:
        return seen[0]
    count = len(row.inputs)
    more = dict(zip(row.attrs, sample.inputs[count:], strict=False))
    return sample.inputs[:count], {**row.defaults, **more, **sample.attrs}


def portable(value):
    """(dtype name or None, array) of an input."""
    if isinstance(value, list):
        return [portable(v) for v in value]
    if not isinstance(value, np.ndarray):
        return None, value
    kind = "string" if value.dtype.kind in "OSU" else tf.as_dtype(value.dtype).name
    return kind, value.astype(np.float32) if kind == "bfloat16" else value


def call_of(row, sample):
    inputs, attrs = converted(row, sample)
    return (
        row.name,
        {name: portable(value) for name, value in zip(row.inputs, inputs, strict=True)},
        {k: (v.name,) if isinstance(v, DType) else v for k, v in attrs.items()},
    )


def ask(calls, folder: pathlib.Path):
    """TensorFlow's answers to the calls; ("died",) where its process did not live through one."""
    given, answers = folder / "calls", folder / "answers"
    given.write_bytes(pickle.dumps(calls))
    answers.touch()
    program = str(pathlib.Path(__file__).with_name("oracle_calls.py"))
    while True:
        ended = subprocess.run(
            [os.environ["TF_PYTHON"], program, str(given), str(answers)],
            capture_output=True,
            check=False,
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        )
        if ended.returncode > 0:
            raise RuntimeError(ended.stderr.decode(errors="replace")[-2000:])
        if ended.returncode == 0:
            break
        with answers.open("ab") as file:
            pickle.dump(("died",), file)
    out = []
    with answers.open("rb") as file:
        while len(out) < len(calls):
            out.append(pickle.load(file))
    return out


@pytest.fixture(scope="session")
def answers(request, tmp_path_factory):
    if "TF_PYTHON" not in os.environ:
        return {}
    chosen = {item.callspec.id for item in request.session.items if hasattr(item, "callspec")}
    asked = [(row, sample, name) for row, sample, name in samples() if name in chosen]
    replies = ask([call_of(row, s) for row, s, _ in asked], tmp_path_factory.mktemp("oracle"))
    return {name: reply for (_, _, name), reply in zip(asked, replies, strict=True)}


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for element in value for leaf in leaves(element)]
    return [] if value is None else [value]


def parameters():
    for row, sample, name in samples():
        marks = [pytest.mark.xfail(reason=DIFFERENT[name])] if name in DIFFERENT else []
        yield pytest.param(row, sample, name, id=name, marks=marks)


@pytest.mark.parametrize(("row", "sample", "name"), list(parameters()))
def test_row_does_as_tensorflow(row, sample, name, answers):
    kind, *theirs = answers[name]
    if kind == "unknown":
        pytest.fail(f"TensorFlow: {theirs[0]}")
    if sample.raises is not None:
        assert kind in ("error", "died"), f"TensorFlow returns {theirs}"
        with pytest.raises(sample.raises) as caught:
            row(*sample.inputs, **sample.attrs)
        if kind == "error" and theirs[0] not in (*NOT_THERE, "InternalError"):
            assert caught.type.__name__ == theirs[0]
        return
    if kind == "error" and (theirs[0] in NOT_THERE or any(t in theirs[1] for t in UNSUPPORTED)):
        pytest.skip("TensorFlow has no kernel for this on a CPU")
    assert kind == "result", theirs
    ours = leaves(row(*sample.inputs, **sample.attrs))
    assert [t.dtype.name for t in ours] == [dtype for dtype, _ in theirs[0]]
    for mine, (dtype, array) in zip(ours, theirs[0], strict=True):
        assert mine.shape == array.shape
        if dtype == "string":
            assert np.asarray(mine.numpy()).tolist() == array.tolist()
        elif mine.dtype.is_floating or mine.dtype.is_complex:
            tolerance = {"float16": 1e-2, "bfloat16": 3e-2, "float64": 1e-9, "complex128": 1e-9}
            close = tolerance.get(dtype, 1e-4)
            mine = tf.cast(mine, tf.float32) if dtype == "bfloat16" else mine
            np.testing.assert_allclose(mine.numpy(), array, close, close, equal_nan=True)
        else:
            mine = mine.numpy()
            # NumPy has quantized numbers as records of one field.
            mine = mine[mine.dtype.names[0]] if mine.dtype.names else mine
            np.testing.assert_array_equal(mine, array)
