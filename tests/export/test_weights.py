"""Weights as TF.js stores them: bytes, shards, and how much quantization loses."""

import numpy as np
import pytest

from tapeflow.export.weights import encode, quantize, shards

RANGES = {"around_zero": (-3, 1), "positive": (2, 5), "negative": (-5, -2), "from_zero": (0, 7), "tiny": (-1e-6, 1e-7)}


@pytest.mark.parametrize("kind", ["uint8", "uint16"])
@pytest.mark.parametrize("limits", RANGES.values(), ids=RANGES)
def test_quantized_values_stay_within_half_a_step(kind, limits, rng):
    values = rng.uniform(*limits, 1000).astype(np.float32)
    values[:2] = limits
    if limits[0] < 0 < limits[1]:
        values[2] = 0
    levels, about = quantize(values, kind)
    assert levels.dtype == kind
    found = levels * about["scale"] + about["min"]
    rounding = np.abs(values).max() * np.finfo(np.float32).eps
    assert np.abs(found - values).max() <= about["scale"] / 2 + rounding
    steps = np.iinfo(kind).max
    assert about["scale"] <= (float(values.max()) - float(values.min())) / (steps - 1) * (1 + 1e-12)
    if values[2] == 0:
        assert found[2] == 0


def test_float16_rounds_to_nearest(rng):
    values = rng.uniform(-2, 2, 100).astype(np.float32)
    half, about = quantize(values, "float16")
    assert about == {"dtype": "float16", "original_dtype": "float32"}
    assert np.abs(half.astype(np.float32) - values).max() <= 2**-11


@pytest.mark.parametrize("kind", ["uint8", "uint16"])
def test_equal_and_no_values(kind):
    levels, about = quantize(np.float32([2.5, 2.5]), kind)
    assert list(levels * about["scale"] + about["min"]) == [2.5, 2.5]
    assert quantize(np.zeros([0, 3], np.float32), kind)[0].shape == (0, 3)


@pytest.mark.parametrize(
    ("values", "kind"), [([np.nan], "uint8"), ([np.inf], "uint16"), ([1e6], "float16"), ([1.0], "int4")]
)
def test_what_cannot_be_quantized_is_refused(values, kind):
    with pytest.raises(ValueError):
        quantize(np.float32(values), kind)


def test_dtypes():
    assert encode("a", np.int64([[1, -2]])) == (
        b"\1\0\0\0\xfe\xff\xff\xff", {"name": "a", "shape": [1, 2], "dtype": "int32"}
    )  # fmt: skip
    assert encode("a", np.array([True, False]))[0] == b"\1\0"
    assert encode("a", np.float64(1.5)) == (b"\0\0\xc0\x3f", {"name": "a", "shape": [], "dtype": "float32"})
    assert encode("a", np.array([b"xy", b""], object)) == (
        b"\2\0\0\0xy\0\0\0\0", {"name": "a", "shape": [2], "dtype": "string"}
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"w: .*32 bits"):
        encode("w", np.int64([1 << 31]))
    with pytest.raises(ValueError, match="complex"):
        encode("w", np.complex64(1))


def test_shards_cut_through_weights():
    assert shards([b"abc", b"", b"defg"], 3) == [b"abc", b"def", b"g"]
    assert shards([b"abcdef"], 3) == [b"abc", b"def"]
    assert shards([]) == []
