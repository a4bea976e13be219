"""Fused instructions against the instructions that they stand for."""

import gc
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.indexing import selection  # noqa: F401
from tapeflow.ops.math import arithmetic, casting, comparison, elementwise  # noqa: F401
from tapeflow.ops.nn import activation  # noqa: F401
from tapeflow.ops.table import REGISTRY


def instructions(n_in, steps, outputs):
    """The steps as ordinary instructions, with the registers of the outputs."""
    lines = []
    for k, (name, operands, attrs) in enumerate(steps):
        lines.append(("op", (REGISTRY[name], attrs, None), list(operands), [n_in + k], None))
    at, registers, constants = n_in + len(steps), [], []
    for value, reduction in outputs:
        if reduction is None:
            registers.append(value)
            continue
        lines.append(("op", (REGISTRY[reduction], {}, None), [value, at], [at + 1], None))
        constants.append(at)
        registers.append(at + 1)
        at += 2
    return lines, registers, constants, at


def both(inputs, steps, outputs):
    """(fused plan, plain plan) of the inputs' dtypes and ranks."""
    n = len(inputs)
    steps = [(*step, {}) if len(step) == 2 else step for step in steps]
    lines, registers, axes, count = instructions(n, steps, outputs)
    rank = max(x.ndim for x in inputs)
    constants = [(r, tf.constant(list(range(rank)), tf.int32)) for r in axes]
    plain = _native.Plan("plain", count, list(range(n)), constants, lines, registers)
    program = [(REGISTRY[name], attrs, list(operands)) for name, operands, attrs in steps]
    payload = (program, outputs, [int(x.dtype) for x in inputs], plain)
    results = list(range(n, n + len(outputs)))
    step = ("fused", payload, list(range(n)), results, None)
    fused = _native.Plan("fused", n + len(outputs), list(range(n)), [], [step], results)
    return fused, plain


def check(inputs, steps, outputs, *, exact=True):
    inputs = [tf.constant(x) for x in inputs]
    fused, plain = both(inputs, steps, outputs)
    copies = [x.numpy().copy() for x in inputs]
    results = fused(*inputs)
    for result, expected, (_, reduction) in zip(results, plain(*inputs), outputs, strict=True):
        assert result.dtype == expected.dtype
        assert result.shape == expected.shape
        if exact and reduction not in ("Sum", "Mean"):
            np.testing.assert_array_equal(result.numpy(), expected.numpy())
        else:
            rtol = 1e-5 if result.dtype == tf.float32 else 1e-13
            np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=rtol)
    for x, before in zip(inputs, copies, strict=True):
        np.testing.assert_array_equal(x.numpy(), before)
    return fused


def ran_fallback(fused, *inputs):
    return len(fused.timeline(*inputs)[1]) > 1


CHAIN = [
    ("Mul", [0, 1]),
    ("AddV2", [3, 2]),
    ("Tanh", [4]),
    ("Neg", [0]),
    ("Mul", [6, 0]),
    ("Exp", [7]),
    ("Mul", [5, 8]),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 1000, 1023, 1024, 1025, 5000, 300_001])
def test_chain(rng, size, dtype):
    x = rng.normal(size=size).astype(dtype)
    inputs = [x, dtype(2), dtype(1)]
    fused = check(inputs, CHAIN, [(9, None)])
    assert not ran_fallback(fused, *map(tf.constant, inputs))
    for reduction in ("Sum", "Mean", "Max", "Min"):
        check(inputs, CHAIN, [(9, reduction)])


def test_special_values():
    x = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 88.9, -104, 3e38, -3e38] * 7, np.float32
    )
    for name in ("Neg", "Abs", "Exp", "Log", "Tanh", "Sigmoid", "Relu", "Sqrt", "Rsqrt", "Reciprocal", "Square", "Sign",
                 "Floor", "Log1p", "Expm1", "Softplus", "Elu", "Erf", "Sin"):  # fmt: skip
        check([x], [("Neg", [0]), (name, [1])], [(2, None), (1, None)])
    for name in (
        "AddV2",
        "Sub",
        "Mul",
        "RealDiv",
        "Maximum",
        "Minimum",
        "Pow",
        "SquaredDifference",
        "DivNoNan",
    ):
        check([x, x[::-1].copy()], [(name, [0, 1]), ("Neg", [2])], [(3, None)])
        check([x, np.float32(-0.0)], [(name, [0, 1]), (name, [1, 2])], [(2, None), (3, None)])
    for reduction in ("Sum", "Mean", "Max", "Min"):
        check([x], [("Neg", [0])], [(1, reduction)])
        check([x[:2]], [("Neg", [0])], [(1, reduction)])


@pytest.mark.parametrize(
    "name",
    ["TanhGrad", "SigmoidGrad", "ReluGrad", "SqrtGrad", "RsqrtGrad", "SoftplusGrad", "EluGrad"],
)
def test_gradients(rng, name):
    x, g = rng.normal(size=(2, 3000)).astype(np.float32)
    check([x, g], [("Exp", [0]), (name, [2, 1]), ("Mul", [3, 1])], [(4, None)])


def test_attrs(rng):
    x = rng.normal(size=100).astype(np.float32)
    check([x], [("LeakyRelu", [0], {"alpha": 0.3}), ("Neg", [1])], [(2, None)])


def test_comparisons_choices_and_casts(rng):
    x = rng.normal(size=3001).astype(np.float32)
    steps = [
        ("Greater", [0, 1]),
        ("Less", [0, 2]),
        ("LogicalOr", [3, 4]),
        ("SelectV2", [5, 0, 1]),
        ("Cast", [3], {"DstT": tf.float32}),
        ("Mul", [6, 7]),
        ("Cast", [8], {"DstT": tf.float64}),
        ("Cast", [9], {"DstT": tf.int32}),
        ("LogicalNot", [5]),
    ]
    check(
        [x, np.float32(0.5), np.float32(-0.5)],
        steps,
        [(8, None), (3, None), (9, "Sum"), (10, None), (11, None)],
    )


def test_integers(rng):
    for dtype in (np.int32, np.int64):
        x = rng.integers(-100, 100, 5000).astype(dtype)
        check(
            [x, dtype(3)],
            [("Mul", [0, 1]), ("AddV2", [2, 0]), ("Maximum", [3, 1]), ("Neg", [4])],
            [(5, None)],
        )


@pytest.mark.parametrize(
    ("shape", "other"),
    [
        ((50, 70), (70,)),
        ((50, 70), (1, 70)),
        ((50, 70), (50, 1)),
        ((3, 5000), (5000,)),
        ((5000, 3), (3,)),
        ((5000, 3), (5000, 1)),
        ((3, 5000), (3, 1)),
        ((4, 5, 6), (5, 6)),
        ((4, 5, 6), (4, 1, 1)),
        ((4, 5, 6), (4, 5, 1)),
        ((40, 30), (1, 1)),
        ((40, 30), ()),
        ((200, 33, 7), (33, 7)),
        ((2, 1, 600), (1, 600)),
    ],
)
def test_broadcasting(rng, shape, other):
    for dtype in (np.float32, np.float64):
        x, y = rng.normal(size=shape).astype(dtype), rng.normal(size=other).astype(dtype)
        steps = [("AddV2", [0, 1]), ("Exp", [1]), ("Mul", [2, 3]), ("Sub", [1, 4])]
        fused = check([x, y], steps, [(5, None), (5, "Max")])
        assert not ran_fallback(fused, tf.constant(x), tf.constant(y))


def test_bool_that_broadcasts(rng):
    x, mask = rng.normal(size=(300, 20)).astype(np.float32), rng.random(20) < 0.5
    check([x, mask], [("Neg", [0]), ("SelectV2", [1, 0, 2])], [(3, None)])


def test_what_does_not_fit_runs_the_fallback(rng):
    x = rng.normal(size=(4, 6)).astype(np.float32)
    steps = [("Neg", [1]), ("AddV2", [0, 2])]
    fused, _ = both([tf.constant(x), tf.constant(x)], steps, [(3, None)])
    for a, b in [
        (x[:0], x[:0]), (x[:, :1], x[:1]), (x[:1], x), (x[0], x), (x.reshape(4, 1, 6), x.reshape(4, 6, 1)),
    ]:  # fmt: skip
        np.testing.assert_array_equal(fused(tf.constant(a), tf.constant(b))[0].numpy(), a - b)
    doubles = tf.constant(x.astype(np.float64))
    assert ran_fallback(fused, doubles, doubles)
    assert fused(doubles, doubles)[0].dtype == tf.float64
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        fused(tf.ones((2, 3)), tf.ones((2, 4)))


def test_an_output_smaller_than_the_whole_runs_the_fallback(rng):
    x, y = tf.constant(rng.normal(size=(4, 6))), tf.constant(rng.normal(size=6))
    fused, plain = both([x, y], [("Exp", [1]), ("AddV2", [0, 2])], [(2, None), (3, None)])
    for a, b in zip(fused(x, y), plain(x, y), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_gradient_ops_want_one_shape():
    g, x = tf.constant([1.0, 2.0]), tf.constant([1.0])
    fused, _ = both([g, x], [("ReluGrad", [0, 1]), ("Neg", [2])], [(3, None)])
    with pytest.raises(tf.errors.InvalidArgumentError):
        fused(g, x)


def test_one_input_twice_and_values_used_again(rng):
    x = rng.normal(size=2000).astype(np.float32)
    check([x, x], [("Mul", [0, 0]), ("AddV2", [2, 2]), ("Mul", [3, 2]), ("AddV2", [4, 3]), ("Sub", [5, 2])],
          [(2, None), (4, None), (6, None), (6, "Sum"), (2, "Max")])  # fmt: skip


def test_many_values_alive(rng):
    x = rng.normal(size=3000).astype(np.float32)
    for count in (20, 60):  # the second needs more room than there is, and runs the fallback
        steps = [("Exp" if k % 2 else "Neg", [0]) for k in range(count)]
        total = 1
        for k in range(2, count + 1):
            steps.append(("AddV2", [total, k]))
            total = len(steps)
        fused = check([x], steps, [(total, None)])
        assert ran_fallback(fused, tf.constant(x)) == (count == 60)


def test_in_the_memory_of_an_input_that_dies():
    x = tf.ones((1000, 1000))
    inner, _ = both([x], [("Neg", [0]), ("Exp", [1])], [(2, None)])
    steps = [("op", (REGISTRY["Neg"], {}, None), [0], [1], None), ("call", inner, [1], [2], None)]
    plan = _native.Plan("f", 3, [0], [], steps, [2])
    before = _native.allocator_stats()["live"]
    _native.allocator_reset_peak()
    (y,) = plan(x)
    assert _native.allocator_stats()["peak"] - before < 5_000_000
    np.testing.assert_allclose(y.numpy(), np.e, rtol=1e-6)
    assert (x.numpy() == 1).all()


def test_fusable():
    assert _native.fusable("Tanh", int(tf.float32))
    assert _native.fusable("AddV2", int(tf.float64))
    assert _native.fusable("Cast float32", int(tf.bool))
    assert _native.fusable("FloorDiv", int(tf.int32))
    assert not _native.fusable("FloorDiv", int(tf.int32), True)  # it checks its divisor
    assert not _native.fusable("MatMul", int(tf.float32))
    assert not _native.fusable("Tanh", int(tf.string))
    assert not _native.fusable("Tanh", -1)


def test_references_are_balanced():
    x, two = tf.ones(5000), tf.constant(2.0)
    fused, _ = both([x, two], [("Mul", [0, 1]), ("Exp", [2])], [(3, None), (3, "Sum")])
    before = sys.getrefcount(x), sys.getrefcount(two), _native.allocator_stats()["live"]
    for _ in range(100):
        fused(x, two)
        fused(two, two)
    assert (sys.getrefcount(x), sys.getrefcount(two), _native.allocator_stats()["live"]) == before
    del fused
    gc.collect()


NEG, ADD = REGISTRY["Neg"], REGISTRY["AddV2"]
IDENTITY = _native.Plan("f", 1, [0], [], [], [0])


@pytest.mark.parametrize(
    "payload",
    [
        None,
        ([], [], [1]),
        ([(NEG, {}, [0])], [(1, None)], [1], 3),
        ([(NEG, {}, [0])], [(1, None)], [1, 1], IDENTITY),
        ([(NEG, {}, [0])], [(1, None)], [99], IDENTITY),
        ([(NEG, {}, [0])], [(1, None)], [7], IDENTITY),
        ([(NEG, {}, [0])], [(1, None), (1, None)], [1], IDENTITY),
        ([(NEG, {}, [1])], [(1, None)], [1], IDENTITY),
        ([(NEG, {}, [-1])], [(1, None)], [1], IDENTITY),
        ([(NEG, {}, [0, 0])], [(1, None)], [1], IDENTITY),
        ([(NEG, {"a": 1}, [0])], [(1, None)], [1], IDENTITY),
        ([(NEG, {}, [0])], [(2, None)], [1], IDENTITY),
        ([(NEG, {}, [0])], [(0, None)], [1], IDENTITY),
        ([(NEG, {}, [0])], [(1, "Median")], [1], IDENTITY),
        ([(NEG, {}, [0])], [(1, "Mean")], [3], IDENTITY),
        ([(NEG, {}, [0])], [(1, None)], [10], IDENTITY),
        ([(3, {}, [0])], [(1, None)], [1], IDENTITY),
        ([(REGISTRY["Cast"], {}, [0])], [(1, None)], [1], IDENTITY),
        ([(REGISTRY["Cast"], {"DstT": tf.int8}, [0])], [(1, None)], [1], IDENTITY),
        ([(NEG, {}, [0])] * 1000, [(1, None)], [1], IDENTITY),
    ],
)
def test_wrong_payloads(payload):
    with pytest.raises(ValueError):
        _native.Plan("f", 2, [0], [], [("fused", payload, [0], [1], None)], [1])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_are_divided_and_folded(rng, dtype):
    x = rng.integers(-(2**31), 2**31 - 1, 5000).astype(dtype)
    y = np.where(x % 7 == 0, 1, x % 7).astype(dtype)
    steps = [("Mul", [0, 2]), ("FloorDiv", [3, 2]), ("FloorMod", [4, 1]), ("AddV2", [5, 0])]
    outputs = [(6, None), (6, "Max"), (6, "Min"), (3, "Max")]
    check([x, y, np.array(5, dtype)], steps, outputs)
    fused, plain = both([tf.constant(v) for v in (x, y, np.array(5, dtype))], steps, [(3, "Sum"), (6, "Sum")])
    inputs = [tf.constant(v) for v in (x, y, np.array(5, dtype))]
    for a, b in zip(fused(*inputs), plain(*inputs), strict=True):  # they wrap around
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert not ran_fallback(fused, *inputs)


def test_a_divisor_of_zero_runs_the_fallback():
    x, zero = tf.constant(np.arange(2000, dtype=np.int32)), tf.constant(0)
    fused, _ = both([x, zero], [("AddV2", [0, 0]), ("FloorDiv", [2, 1])], [(3, None)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        fused(x, zero)


def test_integers_are_not_divided_by_results():
    x = tf.constant(np.arange(1, 2000, dtype=np.int32))
    with pytest.raises(ValueError, match="no input"):
        both([x], [("AddV2", [0, 0]), ("FloorDiv", [0, 1])], [(2, None)])


def test_there_is_no_mean_of_integers():
    with pytest.raises(ValueError, match="Mean of integers"):
        both([tf.constant([1, 2])], [("AddV2", [0, 0])], [(1, "Mean")])
