"""Features of Example messages that native code reads are those that Python code reads."""

import random

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.core.files import examples, wire


def message(numbers):
    """The bytes of a random Features message."""
    made = tf.train.Example()
    for key in "ab", "", "é":
        feature = made.features.feature[key]
        kind = numbers.randrange(4)
        count = numbers.randrange(4)
        if kind == 0:
            feature.bytes_list.value.extend(numbers.randbytes(numbers.randrange(9)) for _ in range(count))
        elif kind == 1:
            feature.float_list.value.extend(numbers.random() for _ in range(count))
        elif kind == 2:
            feature.int64_list.value.extend(numbers.choice([0, 5, -1, 2**62, -(2**63)]) for _ in range(count))
    return made.features.SerializeToString()


def same(found, want):
    assert list(found) == list(want)
    for key, (kind, elements) in want.items():
        assert found[key][0] == kind
        np.testing.assert_array_equal(found[key][1], elements)
        assert type(found[key][1]) is type(elements)
        assert getattr(found[key][1], "dtype", None) == getattr(elements, "dtype", None)


@pytest.mark.parametrize("seed", range(20))
def test_features_are_read_natively_as_in_python(seed):
    numbers = random.Random(seed)
    for _ in range(50):
        whole = message(numbers)
        found = _native.read_features(whole)
        assert found is not None
        same(found, examples.features_in_python(whole))
        damaged = bytearray(whole)
        for _ in range(numbers.randrange(3)):
            damaged[numbers.randrange(len(damaged))] = numbers.randrange(256)
        cut = bytes(damaged[: numbers.randrange(len(damaged) + 1)])
        found = _native.read_features(cut)
        if found is not None:
            same(found, examples.features_in_python(cut))


def test_unpacked_numbers_and_repeated_fields():
    ones = wire.bytes_field(2, wire.fixed32_field(1, 1.5) + wire.bytes_field(1, b"\0\0\x80\x3f"))
    assert _native.read_feature(ones)[1].tolist() == [1.5, 1.0]
    numbers = wire.bytes_field(3, wire.varint_field(1, -2) + wire.bytes_field(1, wire.varint(7) + wire.varint(300)))
    assert _native.read_feature(numbers)[1].tolist() == [-2, 7, 300]
    assert _native.read_feature(ones + numbers)[0] == "int64"  # the last one counts
    assert _native.read_feature(b"") == ("", [])


WRONG = [b"\x08", b"\x0b", b"\x00\x00", b"\x12\x03\x0a\x01", b"\x0a\xff\xff\xff\xff\x0f", b"\x1a\x03\x0a\x01\x80"]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_not_sound_is_left_to_python(wrong):
    assert _native.read_feature(wrong) is None
    with pytest.raises(wire.WireError):
        examples.feature_in_python(wrong)
    with pytest.raises(TypeError):
        _native.read_feature("text")
