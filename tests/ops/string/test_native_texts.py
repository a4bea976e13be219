"""Native kernels on strings do what the Python kernels of their rows do, on random texts and on what is odd."""

import random

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.table import REGISTRY

ODD = ["", " ", "\t a\n", "é", "日本 語", "ABC def", "1", " -2.5e3 ", "nan", "inf", "0x1p3", "+7", "-0", "1_0",
       "٣", "99999999999999999999", "1e999", "a,b", '"a,""b",c', '"x', "a\r\n", "=", "YQ==", "YWI_",
       "\U0001f600z"]  # fmt: skip
BROKEN = [b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"a\x00b", b"\x80abc"]
KINDS = ("float32", "float64", "int32", "int64", "uint32", "uint64")

CALLS = [
    ("StringLength", [], {"unit": "BYTE"}), ("StringLength", [], {"unit": "UTF8_CHAR"}),
    ("StringLower", [], {}), ("StringUpper", [], {}), ("StringLower", [], {"encoding": "utf-8"}),
    ("StringStrip", [], {}), ("StringJoin", None, {"separator": "é"}), ("StringJoin", None, {"separator": b"\xff"}),
    ("StringSplitV2", [np.array(b"", object)], {}), ("StringSplitV2", [np.array(b"a", object)], {}),
    ("StringSplitV2", [np.array(b"ab", object)], {}), ("StringSplitV2", [np.array(b"a", object)], {"maxsplit": 1}),
    ("StringSplit", [np.array(b"", object)], {}), ("StringSplit", [np.array(b" a,", object)], {}),
    ("StringSplit", [np.array(b" a,", object)], {"skip_empty": False}),
    ("StringToHashBucketFast", [], {"num_buckets": 2**62}), ("StringToHashBucket", [], {"num_buckets": 2**62}),
    ("StringToHashBucketStrong", [], {"num_buckets": 2**62, "key": [-1, 2**60]}),
    *[("StringToNumber", [], {"out_type": tf.as_dtype(kind)}) for kind in KINDS],
    ("EncodeBase64", [], {}), ("EncodeBase64", [], {"pad": True}), ("DecodeBase64", [], {}),
    *[("Substr", [np.array(pos), np.array(size)], {"unit": unit})
      for pos in (0, 1, -1, 2**62) for size in (0, 2, -1, 2**62) for unit in ("BYTE", "UTF8_CHAR")],
    *[(name, [], {"input_encoding": "UTF-8", "errors": errors, "Tsplits": kind})
      for name in ("UnicodeDecode", "UnicodeDecodeWithOffsets")
      for errors in ("replace", "strict", "ignore") for kind in (tf.int32, tf.int64)],
    *[("DecodeCSVColumn", [default], {"column": 0, "columns": 2, "field": field, "selecting": selecting,
                                      "use_quote_delim": quotes, "na_value": "b"})
      for default in (np.array([], np.float32), np.array([3.0]), np.array([7]), np.array([b"d"], object))
      for field in (0, 1) for selecting in (True, False) for quotes in (True, False)],
    *[("Unique", [], {"out_idx": kind}) for kind in (tf.int32, tf.int64)],
]  # fmt: skip


def texts(seed):
    """Lists of texts: single odd ones, and random ones of growing length."""
    numbers = random.Random(seed)
    for text in [*(t.encode() for t in ODD), *BROKEN]:
        yield [text]
    for alphabet in (b"aB ,1\t", b'ab,"\n', b"0123.e+- ", "aé日\U0001f600".encode(), bytes(range(256))):
        yield [bytes(numbers.choices(alphabet, k=numbers.randrange(size))) for size in range(1, 200, 3)]
    yield []
    yield ["aé日\U0001f600"[: numbers.randrange(5)].encode() for _ in range(50)]
    yield [b"%d,%d" % (numbers.randrange(99), i) for i in range(20)]


def outcome(call, *args, **attrs):
    try:
        found = call(*args, **attrs)
    except tf.errors.OpError as error:
        return type(error), error.message
    return [(t.dtype, t.numpy().tolist(), t.shape) for t in (found if isinstance(found, (list, tuple)) else [found])]


@pytest.mark.parametrize("number", range(len(CALLS)), ids=lambda i: f"{CALLS[i][0]}-{i}")
def test_native_and_python_kernels_agree(number):
    name, rest, attrs = CALLS[number]
    row = REGISTRY[name]
    for values in texts(number):
        given = tf.constant(np.array(values, object), tf.string)
        inputs = [[given, tf.constant("x"), given]] if rest is None else [given, *map(tf.constant, rest)]
        native, python = (outcome(call, *inputs, **attrs) for call in (row, row.call_python))
        assert str(native) == str(python), values  # NaN is not equal to itself


@pytest.mark.parametrize("shape", [(), (2, 3), (0, 2)])
def test_results_have_the_shape_of_the_texts(shape):
    given = tf.fill(shape, " A ")
    assert tf.strings.strip(given).shape == shape
    assert tf.strings.to_hash_bucket_fast(given, 9).shape == shape
    assert np.array_equal(tf.strings.join([given, "b"]).numpy(), tf.fill(shape, " A b").numpy())


@pytest.mark.parametrize("attrs", [{}, {"precision": 0}, {"precision": 20}, {"scientific": True}, {"shortest": True}])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_real_numbers_are_written_as_by_the_python_kernel(kind, attrs):
    numbers = np.random.default_rng(3).normal(size=200) * 10.0 ** np.arange(-100, 100)
    odd = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 0.5, 1.5, 2.5, 1e22, 5e-324]
    with np.errstate(all="ignore"):
        given = tf.constant(np.concatenate([numbers, odd]).astype(kind))
    row = REGISTRY["AsString"]
    assert row(given, **attrs).numpy().tolist() == row.call_python(given, **attrs).numpy().tolist()


def test_code_points_are_encoded_as_by_the_python_kernel():
    row = REGISTRY["UnicodeEncode"]
    edges = [0, 65, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF, 0xD800, -1]
    points = np.array(edges, np.int32)
    for end in (11, 13):
        for kind in (np.int32, np.int64):
            inputs = tf.constant(points[:end]), tf.constant(np.array([0, 0, 5, end], kind))
            native, python = (outcome(call, *inputs, "UTF-8") for call in (row, row.call_python))
            assert native == python
