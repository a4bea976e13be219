"""Every row compiled by XLA, by its own samples, against the same call run at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import row_coverage
from row_samples import Generator, leaves

import tapeflow as tf
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

jax = pytest.importorskip("jax")

from tapeflow.ops import shape_inference  # noqa: E402
from tapeflow.ops.convolution import compiled_windows  # noqa: E402
from tapeflow.xla import device_memory, rows  # noqa: E402

pytestmark = pytest.mark.xla

load_all_rows()

_STRINGS = "strings"
_QUANTIZED = "quantized numbers"

# Rows that cannot be compiled for what they take, return or look at, and what the error says.
LISTED = {
    "AsString": _STRINGS,
    "DecodeAndCropJpeg": _STRINGS,
    "DecodeBase64": _STRINGS,
    "DecodeBmp": _STRINGS,
    "DecodeCSVColumn": _STRINGS,
    "DecodeCompressed": _STRINGS,
    "DecodeGif": _STRINGS,
    "DecodeImage": _STRINGS,
    "DecodeJpeg": _STRINGS,
    "DecodePaddedRaw": _STRINGS,
    "DecodePng": _STRINGS,
    "DecodeRaw": _STRINGS,
    "DecodeWebP": _STRINGS,
    "Dequantize": _QUANTIZED,
    "EncodeBase64": _STRINGS,
    "EncodePng": _STRINGS,
    "EncodeProtoField": _STRINGS,
    "EncodeWav": _STRINGS,
    "ExtractJpegShape": _STRINGS,
    "MatchingFiles": _STRINGS,
    "ParseTensor": _STRINGS,
    "QuantizeV2": _QUANTIZED,
    "QuantizedConcat": _QUANTIZED,
    "ReadFile": _STRINGS,
    "ReduceJoin": _STRINGS,
    "RegexFullMatch": _STRINGS,
    "RegexReplace": _STRINGS,
    "SerializeManySparse": _STRINGS,
    "SerializeSparse": _STRINGS,
    "SerializeTensor": _STRINGS,
    "StaticRegexReplace": _STRINGS,
    "StringJoin": _STRINGS,
    "StringLength": _STRINGS,
    "StringLower": _STRINGS,
    "StringSplitV2": _STRINGS,
    "StringStrip": _STRINGS,
    "StringToHashBucketFast": _STRINGS,
    "StringToNumber": _STRINGS,
    "StringUpper": _STRINGS,
    "Substr": _STRINGS,
    "UnicodeEncode": _STRINGS,
    "WriteFile": _STRINGS,
}

# Those whose rows say it themselves: their reasons are theirs.
NOT_COMPILED = {name: row.not_compiled for name, row in REGISTRY.items() if row.not_compiled} | LISTED


def converted(row, sample):
    """A sample's inputs and attrs as the row's kernel gets them."""
    seen = []

    def spy(xp, *inputs, **attrs):
        seen.append((inputs, attrs))
        return row.kernel(xp, *inputs, **attrs)

    row._kernel = spy
    try:
        row.call_python(*sample.inputs, **sample.attrs)
    finally:
        row._kernel = row.kernel
    return seen[0]


def has_text(arrays):
    return any(x.dtype.kind in "OSU" for x in arrays)


def cases():
    found = []
    for name, row in sorted(REGISTRY.items()):
        if row.sample_source is None or name in NOT_COMPILED or "variant" in row.signature:
            continue
        for i, sample in enumerate(row.sample_source(Generator())):
            if sample.raises is None:
                found.append(pytest.param(row, sample, id=f"{name}-{i}"))
    return found


def compiled(row, inputs, attrs):
    """The outputs of a call compiled with all inputs traced but those that have to be known."""
    sizes = [len(x) for x in inputs if isinstance(x, list)]
    flat = leaves(list(inputs))
    watched = [rows.Watched(x, rows.dtype_of(x)) for x in flat]
    shape_inference.infer(row, watched, row.schema.filled(attrs), sizes)
    labels = row.schema.flat_names(sizes)
    known = [seen.asked or name in row.static for seen, name in zip(watched, labels, strict=True)]

    def traced(*given):
        rest = iter(given)
        now = [x if fixed else next(rest) for x, fixed in zip(flat, known, strict=True)]
        return rows.run(row, now, attrs, sizes)

    with jax.enable_x64(True):
        return jax.jit(traced)(*[x for x, fixed in zip(flat, known, strict=True) if not fixed])


def wide(value):
    """bfloat16 and the like as float64, so that NumPy's comparisons know them."""
    value = np.asarray(value)
    narrow = value.dtype.kind == "V" or (
        value.dtype.itemsize <= 2 and value.dtype.kind not in "biuOS"
    )
    return value.astype(np.float64) if narrow else value


def close(got, want, inputs=()):
    """Agreement as the narrowest float among a result and its inputs allows."""
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    given = inputs if want.dtype.kind in "fcV" else ()  # integers and booleans are exact
    floats = [x.dtype for x in (want, *given) if x.dtype.kind in "fcV"] or [want.dtype]
    size = min(d.itemsize // (2 if d.kind == "c" else 1) for d in floats)
    tolerance = 3e-2 if size < 4 else 2e-4 if size == 4 else 1e-7
    got, want = wide(got), wide(want)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize(("row", "sample"), cases())
def test_compiled_is_as_run_at_once(row, sample):
    want = [np.asarray(t.numpy()) for t in leaves(row(*sample.inputs, **sample.attrs))]
    inputs, attrs = converted(row, sample)
    if has_text([*leaves(list(inputs)), *want]):
        with pytest.raises(tf.errors.UnimplementedError, match="strings"):
            rows.run(row, leaves(list(inputs)), attrs)
        return
    if attrs.get("perturb_singular"):
        with pytest.raises(tf.errors.UnimplementedError, match="with perturb_singular cannot be compiled"):
            compiled(row, inputs, attrs)
        return
    got = compiled(row, inputs, attrs)
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        close(np.asarray(a), np.asarray(b), leaves(list(inputs)))


@pytest.mark.parametrize("name", NOT_COMPILED)
def test_what_cannot_be_compiled_says_so(name):
    row = REGISTRY[name]
    source = row.sample_source(Generator()) if row.sample_source else ()
    sample = next((s for s in source if s.raises is None), None)
    if sample is None:
        assert NOT_COMPILED[name] in row.not_compiled
        return
    inputs, attrs = converted(row, sample)
    sizes = [len(x) for x in inputs if isinstance(x, list)]
    with (
        jax.enable_x64(True),
        pytest.raises(tf.errors.UnimplementedError, match=f"{name} cannot be compiled") as caught,
    ):
        jax.eval_shape(lambda: rows.run(row, leaves(list(inputs)), attrs, sizes))
    assert NOT_COMPILED[name] in str(caught.value)


def test_the_documented_numbers_are_current():
    text = (Path(__file__).parents[2] / "docs" / "internals" / "xla.md").read_text()
    assert row_coverage.table() in text, "run `python tests/ops/row_coverage.py`"


def test_what_the_rows_say_is_not_listed_again():
    assert not {n for n in LISTED if REGISTRY[n].not_compiled}


def test_an_input_that_has_to_be_known_is_named():
    with pytest.raises(
        tf.errors.UnimplementedError, match="Fill cannot be compiled: the value of its input `dims`"
    ):
        jax.jit(lambda dims: rows.run(REGISTRY["Fill"], [dims, np.float32(1)], {}))(np.array([2, 3]))


# Convolutions and pooling as XLA's own instructions, which programs for CPUs leave to accelerators.

# Rows that leave the choice to the platform.
CHOSEN = [
    "AvgPool",
    "AvgPool3D",
    "AvgPool3DGrad",
    "AvgPoolGrad",
    "Conv2DBackpropFilter",
    "Conv3DBackpropFilterV2",
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput",
    "MaxPool3DGrad",
    "MaxPoolGrad",
]


def chosen_cases():
    for name in CHOSEN:
        samples = [s for s in REGISTRY[name].sample_source(Generator()) if s.raises is None]
        yield from (pytest.param(REGISTRY[name], s, id=f"{name}-{i}") for i, s in enumerate(samples))


@pytest.mark.parametrize(("row", "sample"), list(chosen_cases()))
def test_the_instruction_computes_what_the_taps_do(row, sample, monkeypatch):
    chosen = []

    def choose(xp, instruction, taps, *arrays):
        if xp is np:
            return taps(*arrays)
        chosen.append(instruction)
        return instruction(*arrays)

    monkeypatch.setattr(compiled_windows, "choose", choose)
    want = [t.numpy() for t in leaves(row(*sample.inputs, **sample.attrs))]
    inputs, attrs = converted(row, sample)
    got = compiled(row, inputs, attrs)
    assert chosen or 0 in want[0].shape
    for a, b in zip(got, want, strict=True):
        close(np.asarray(a), b)


def test_one_instruction_for_an_image_gradient():
    row = REGISTRY["Conv2DBackpropInput"]
    sample = next(row.sample_source(Generator()))
    inputs, attrs = converted(row, sample)
    text = jax.jit(lambda w, dy: compiled(row, [inputs[0], w, dy], attrs)).lower(*inputs[1:]).as_text()
    assert text.count("stablehlo.convolution") == 1
    assert "dot_general" not in text


# Rows called at once on an accelerator.

# Rows of which a call runs on the host though they compile: they are done when the shapes are known.
OF_SHAPES = ("Rank", "Shape", "ShapeN", "Size")


def first_sample(row):
    """The first sample that does not raise: compiled kernels do not look at values that are wrong."""
    return next((s for s in (row.sample_source(Generator()) if row.sample_source else ()) if s.raises is None), None)


def device_cases():
    return [pytest.param(row, id=name) for name, row in sorted(REGISTRY.items()) if first_sample(row)]


def deterministic(row):
    return not row.stateful or "resource" in row.signature


def is_on_device(x):
    return isinstance(x, (tf.Tensor, tf.Variable)) and x.device.endswith("GPU:0")


def runs_on_the_host(row, inputs, outputs):
    """Whether a call with these inputs is the host's: by what the row says, by dtypes, or by the list above."""
    if row.name in NOT_COMPILED or row.name in OF_SHAPES:
        return not row.checks
    given = leaves(list(inputs[: len(row.inputs)]))
    if has_text([np.asarray(x) for x in given if not isinstance(x, tf.Variable)]):
        return True
    if not all(device_memory.can_hold(x.dtype) for x in outputs):
        return True
    return not any(map(is_on_device, given)) and all(y.dtype == tf.int32 for y in outputs)


@pytest.mark.skipif(not tf.config.list_physical_devices("GPU"), reason="needs a GPU: TAPEFLOW_VIRTUAL_GPUS=1")
@pytest.mark.parametrize("row", device_cases())
def test_on_a_device_is_as_on_the_host(row):
    sample = first_sample(row)
    want = leaves(row(*sample.inputs, **sample.attrs))
    with tf.device("gpu:0"):
        sample = first_sample(row)  # its variables are on the device
        got = leaves(row(*sample.inputs, **sample.attrs))
    assert len(got) == len(want)
    place = "CPU:0" if runs_on_the_host(row, sample.inputs, got) else "GPU:0"
    for a, b in zip(got, want, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.device.endswith(place)
        if deterministic(row) and b.dtype not in (tf.string, tf.variant, tf.resource):
            close(np.asarray(a.numpy()), np.asarray(b.numpy()), leaves(list(converted(row, sample)[0])))
