"""Python numbers, lists of them and variables as operands: the same as the tensors that they are converted to."""

import itertools
import operator

import numpy as np
import pytest

import tapeflow as tf

OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.and_, operator.or_,
    operator.xor,
]
DTYPES = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.uint8, tf.int32, tf.int64, tf.complex64, tf.bool]
NUMBERS = [2, 0, True, 2.5, -1, 300, 2**31, 2**40, -(2**63), 2**63, 1e39, float("nan"), 3j]


def outcome(function):
    try:
        result = function()
    except (TypeError, ValueError, tf.errors.OpError):
        return "an error"
    return result if isinstance(result, bool) else (result.dtype, result.shape, result.numpy().tobytes())


@pytest.mark.parametrize("function", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_a_number_is_what_it_is_converted_to(function, dtype):
    if dtype == tf.bool and function is operator.mul:
        pytest.skip("test_products_of_truth_values: the number is an integer there")
    x = tf.cast([1, 3], dtype)
    variable = tf.Variable(x)
    with np.errstate(all="ignore"):
        for number, turned in itertools.product(NUMBERS, (False, True)):
            def both(a, b, turned=turned):
                return function(b, a) if turned else function(a, b)

            wanted = outcome(lambda: both(x, tf.convert_to_tensor(number, dtype)))  # noqa: B023
            assert outcome(lambda: both(x, number)) == wanted, (number, turned)  # noqa: B023
            assert outcome(lambda: both(variable, number)) == wanted, (number, turned)  # noqa: B023


# What TensorFlow 2.21 answers to [True, False] * other and other * [True, False]; None: an error.
PRODUCTS = [
    (2, [True, False], None), (0, [False, False], None), (2.5, [True, False], None), (0.5, [False, False], None),
    (True, [True, False], [True, False]), ([1, 0], [True, False], None), (1j, [False, False], None),
    (np.float32(2), [True, False], [True, False]), (np.array([0, 1]), [False, False], [False, False]),
    (tf.constant(2), [True, False], [True, False]), (tf.constant(0.5), [False, False], [False, False]),
    (tf.constant([True, True]), [True, False], [True, False]), ("a", None, None), (None, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("other", "product", "reflected"), PRODUCTS, ids=[repr(each[0]) for each in PRODUCTS])
def test_products_of_truth_values(other, product, reflected):
    x = tf.constant([True, False])
    for a, b, wanted in ((x, other, product), (other, x, reflected), (tf.Variable(x), other, product)):
        for multiply in (operator.mul, lambda a, b: tf.function(lambda: a * b)()):
            if wanted is None:
                with pytest.raises((TypeError, ValueError, tf.errors.OpError)):
                    multiply(a, b)
            else:
                result = multiply(a, b)
                assert result.dtype == tf.bool
                assert result.numpy().tolist() == wanted
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.multiply(x, x)


@pytest.mark.parametrize("function", [tf.equal, tf.not_equal, operator.eq, operator.ne], ids=lambda f: f.__name__)
def test_shapes_that_do_not_broadcast(function):
    x, y = tf.ones([2]), tf.ones([3])
    if function in (operator.eq, operator.ne):
        assert bool(function(x, y)) is (function is operator.ne)
        assert bool(function(tf.Variable(x), y)) is (function is operator.ne)
    else:
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(x, y)


def test_comparisons_of_other_dtypes_are_errors():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1]) == tf.constant([1.0])  # noqa: B015
    with pytest.raises(TypeError):
        tf.constant([1]) == 1.5  # noqa: B015
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Variable([1]) == tf.Variable([1.0])  # noqa: B015
    assert (tf.constant(1) == None) is False  # noqa: E711


@pytest.mark.parametrize("taped", ["tensor", "variable"])
def test_gradients_pass_by_numbers(taped):
    x = tf.constant([1.0, 2.0]) if taped == "tensor" else tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        if taped == "tensor":
            tape.watch(x)
        y = 3 / (2.0 * x + 1) - x**2
    np.testing.assert_allclose(tape.gradient(y, x), [-6 / 9 - 2, -6 / 25 - 4], rtol=1e-6)


@pytest.mark.parametrize("index", [[1], (1,), [1, 0], [2**31 - 1], [2**31], [-1], [1.0], []], ids=str)
def test_lists_of_numbers_are_vectors(index):
    def called(value):
        return lambda: tf.reshape(tf.zeros([1, 1]), value)

    as_tensor = tf.constant(index, tf.int32) if not index else None
    wanted = outcome(called(tf.convert_to_tensor(index) if as_tensor is None else as_tensor))
    assert outcome(called(index)) == wanted


@pytest.mark.parametrize("make", [tf.zeros, tf.ones, tf.random.normal, tf.random.uniform], ids=lambda f: f.__name__)
def test_shapes_of_all_kinds(make):
    for shape in ([2, 3], (2, 3), tf.TensorShape([2, 3]), np.array([2, 3]), tf.constant([2, 3]), [tf.constant(2), 3]):
        assert make(shape).shape == (2, 3)
    assert make([]).shape == ()
    assert make([True, 2]).shape == (1, 2)
    for shape in ([-1], [2**40, 2**40], [2**63]):
        with pytest.raises((ValueError, tf.errors.OpError)):
            make(shape)


def test_a_tensor_alone_is_passed_by_conversion():
    x = tf.constant(1)
    assert tf.convert_to_tensor(x) is x
    assert tf.convert_to_tensor(value=x) is x
    with pytest.raises(ValueError):
        tf.convert_to_tensor(x, tf.float32)
