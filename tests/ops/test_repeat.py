"""`tf.repeat` against NumPy's, with shapes that are known and that are not."""

import numpy as np
import pytest

import tapeflow as tf

CUBE = np.arange(24).reshape(4, 2, 3)
CASES = [
    (3, 4, 0),
    (3, [4], 0),
    (3, 4, None),
    ([], 5, 0),
    ([1, 2, 3], [3, 0, 2], 0),
    (["a", "b"], 2, 0),
    (CUBE, 2, None),
    *[(CUBE, 2, axis) for axis in range(3)],
    (CUBE, [2, 0, 4, 1], 0),
    (CUBE, [3, 2], 1),
    (CUBE, [1, 3, 0], 2),
]


@pytest.mark.parametrize("known", ["values", "shapes", "nothing"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_repeats_as_numpy(case, known):
    data, repeats, axis = tf.constant(case[0]), tf.constant(case[1]), case[2]
    expected = np.repeat(data.numpy(), repeats.numpy(), axis)
    if known == "values":
        found = tf.repeat(data, repeats, axis)
    else:
        shapes = [x.shape if known == "shapes" else None for x in (data, repeats)]
        specs = [tf.TensorSpec(s, x.dtype) for s, x in zip(shapes, (data, repeats), strict=True)]
        found = tf.function(lambda d, r: tf.repeat(d, r, axis), input_signature=specs)(data, repeats)
    np.testing.assert_array_equal(found, expected)


BAD = [
    ([1, 2, 3], [3, 0, 2], 1, ValueError, "axis=1 out of bounds: expected -1<=axis<1"),
    ([1, 2, 3], [3, 0, 2], -2, ValueError, "axis=-2 out of bounds"),
    ([[1, 2, 3], [4, 5, 6]], [2, 3], 1, ValueError, "Dimensions 3 and 2 are not compatible"),
    ([[1, 2, 3], [4, 5, 6]], [[2], [3]], 1, ValueError, "must have rank at most 1"),
    ([1, 2, 3], 2, "first", TypeError, "must be an int"),
]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize(("data", "repeats", "axis", "error", "message"), BAD)
def test_what_does_not_fit_is_refused(wrap, data, repeats, axis, error, message):
    with pytest.raises(error, match=message):
        wrap(lambda d, r: tf.repeat(d, r, axis))(tf.constant(data), tf.constant(repeats))


def test_a_negative_axis_needs_the_rank():
    f = tf.function(lambda x: tf.repeat(x, 2, -1), input_signature=[tf.TensorSpec(None)])
    with pytest.raises(ValueError, match="statically known"):
        f(tf.constant([1.0]))
