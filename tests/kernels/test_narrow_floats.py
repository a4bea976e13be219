"""float16 and bfloat16: conversions of every number, and operations as those of float, rounded once."""

import ml_dtypes
import numpy as np
import pytest

import tapeflow as tf

NARROW = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@pytest.fixture(params=NARROW)
def narrow(request):
    return NARROW[request.param]


def every_number(narrow):
    return np.arange(2**16, dtype=np.uint16).view(narrow)


def same(got, want):
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    kept = ~np.isnan(want)
    np.testing.assert_array_equal(got[kept], want[kept])
    np.testing.assert_array_equal(np.signbit(got[kept]), np.signbit(want[kept]))


def test_every_number_becomes_itself(narrow):
    numbers = every_number(narrow)
    same(tf.cast(numbers, tf.float32).numpy(), numbers.astype(np.float32))
    same(tf.cast(tf.cast(numbers, tf.float32), narrow).numpy().astype(np.float32), numbers.astype(np.float32))


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_floats_are_rounded_to_the_nearest_even(narrow, offset):
    numbers = np.sort(every_number(narrow).astype(np.float32))
    numbers = numbers[np.isfinite(numbers)]
    with np.errstate(over="ignore"):
        middles = ((numbers[1:].astype(np.float64) + numbers[:-1]) / 2).astype(np.float32)
        beside = (middles.view(np.int32) + offset).view(np.float32)
        beside = np.concatenate([beside, [np.inf, -np.inf, np.nan, 65519, 65520, 3.4e38, 1e-45]]).astype(np.float32)
        same(tf.cast(beside, narrow).numpy().astype(np.float32), beside.astype(narrow).astype(np.float32))


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1000])
@pytest.mark.parametrize(
    "function",
    [tf.add, tf.multiply, tf.less, tf.maximum, lambda x, y: tf.exp(x), lambda x, y: tf.reduce_sum(x),
     lambda x, y: tf.nn.softmax(x), lambda x, y: tf.add_n([x, y, x]), lambda x, y: tf.where(x > y, x, y)],
)
def test_operations_are_those_of_floats(rng, narrow, function, size):
    x, y = (rng.normal(size=size).astype(narrow) for _ in range(2))
    got = function(tf.constant(x), tf.constant(y))
    want = function(tf.cast(x, tf.float32), tf.cast(y, tf.float32))
    assert got.dtype == (narrow if want.dtype == tf.float32 else want.dtype)
    np.testing.assert_array_equal(got.numpy(), want.numpy().astype(got.dtype.as_numpy_dtype))


def test_broadcasting_and_scalars(rng, narrow):
    x = tf.constant(rng.normal(size=(3, 4)).astype(narrow))
    for y in (x[0], x[:, :1], 2.0, x[0, 0]):
        wide = tf.cast(y, tf.float32)
        np.testing.assert_array_equal((x * y).numpy(), (tf.cast(x, tf.float32) * wide).numpy().astype(narrow))


def test_statistics_of_normalization_stay_floats(rng, narrow):
    x = tf.constant(rng.normal(size=(2, 3, 3, 4)).astype(narrow))
    y, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, tf.ones([4]), tf.zeros([4]))
    assert (y.dtype, mean.dtype, variance.dtype) == (narrow, tf.float32, tf.float32)
    np.testing.assert_allclose(mean, np.mean(x.numpy().astype(np.float32), (0, 1, 2)), rtol=1e-5, atol=1e-6)


def test_gradients(rng, narrow):
    x = tf.constant(rng.normal(size=100).astype(narrow))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.tanh(x) * x)
    gradient = tape.gradient(y, x)
    assert gradient.dtype == narrow
    wide = x.numpy().astype(np.float64)
    want = np.tanh(wide) + wide / np.cosh(wide) ** 2
    np.testing.assert_allclose(gradient.numpy().astype(np.float64), want, rtol=0.05, atol=0.05)


def test_variables_are_updated_in_their_dtype(narrow):
    variable = tf.Variable(np.ones(4, narrow))
    tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant(np.ones(4, narrow)), variable)])
    assert variable.dtype == narrow
    np.testing.assert_array_equal(variable.numpy().astype(np.float32), np.full(4, 0.5, np.float32))


@pytest.mark.parametrize("parameters", [tf.float32, tf.bfloat16])
def test_outputs_are_of_the_dtypes_of_their_type_variables(parameters):
    x = tf.reshape(tf.range(8, dtype=tf.bfloat16), [2, 2, 1, 2])
    ones, none = tf.ones([2], parameters), tf.zeros([0], parameters)
    got = tf.raw_ops.FusedBatchNormV3(x=x, scale=ones, offset=ones, mean=none, variance=none)
    assert [t.dtype for t in got] == [tf.bfloat16] + [parameters] * 5
    np.testing.assert_array_equal(tf.cast(got.batch_mean, tf.float32), [3, 4])


def test_some_ops_round_in_between(narrow):
    a, b = np.float32([3, 1, 6, -3, 7.5]).astype(narrow), np.float32([0.3, 0.1, 0.2, 0.7, 0.3]).astype(narrow)
    same((tf.constant(a) // b).numpy(), np.floor((a.astype(np.float32) / b).astype(narrow).astype(np.float32)))
    assert tf.range(narrow(0), narrow(1), narrow(0.1)).shape == [10]
    tenths, total, totals = np.full(20, 0.1, np.float32).astype(narrow), narrow(0), []
    for x in tenths:
        total = narrow(total + x)
        totals.append(total)
    same(tf.cumsum(tenths).numpy(), np.array(totals))
