"""The dimensions that functions of ragged tensors take: counted from either end, refused beyond them."""

import pytest

import tapeflow as tf

RT = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6]]])
# function, how many dimensions it adds
FUNCTIONS = {
    "row_lengths": (lambda axis: RT.row_lengths(axis), 0),
    "concat": (lambda axis: tf.concat([RT, RT], axis), 0),
    "stack": (lambda axis: tf.stack([RT, RT], axis), 1),
    "expand_dims": (lambda axis: tf.expand_dims(RT, axis), 1),
    "gather": (lambda axis: tf.gather(RT[:, :0], [], axis=axis), 0),
    "reduce_sum": (lambda axis: tf.reduce_sum(RT, axis), 0),
    "reverse": (lambda axis: tf.reverse(RT, [axis]), 0),
}


def plain(value):
    return value.to_list() if isinstance(value, tf.RaggedTensor) else value.numpy().tolist()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_axes_count_from_both_ends(name):
    function, extra = FUNCTIONS[name]
    rank = 3 + extra
    for axis in range(rank):
        assert plain(function(axis - rank)) == plain(function(axis))
    for axis in (-rank - 2, -rank - 1, rank, rank + 1):
        with pytest.raises(ValueError, match=rf"axis(\[0\])?={axis} out of bounds: expected -{rank}<="):
            function(axis)


@pytest.mark.parametrize("name", ["row_lengths", "concat", "stack", "expand_dims", "gather"])
@pytest.mark.parametrize("axis", ["x", 1.0, None])
def test_axes_are_integers(name, axis):
    if name == "gather" and axis is None:
        return  # the first dimension that is no batch
    with pytest.raises(TypeError, match="axis must be an int"):
        FUNCTIONS[name][0](axis)


@pytest.mark.parametrize("axis", ["x", [None], 1.0])
def test_squeezed_axes_are_integers(axis):
    with pytest.raises(TypeError, match="list or tuple of integers"):
        tf.squeeze(tf.ragged.constant([[1], [2]]), axis)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [(([0], [3], [0]), "Requires delta != 0"), ((0.0, 3.0, 0.0), "Requires delta != 0"), (([0, 1], [3]), "same shape")],
)
def test_ranges_that_cannot_be(wrap, arguments, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        wrap(lambda: tf.ragged.range(*arguments))()


def test_axes_of_merged_dimensions_are_checked():
    ragged = tf.ragged.constant([[[1, 2], [3]], [[4]]])

    class Changing(float):
        """Small where it is compared, and huge where it counts."""

        def __index__(self):
            return 1 << 40

    for axes, error, text in [
        ((0, 3), ValueError, "inner_axis=3 out of bounds: expected -3<=inner_axis<3"),
        ((1, 0), ValueError, "less than or equal to inner_axis"),
        (("a", 1), TypeError, "outer_axis must be an int; got str"),
        ((0, 1.0), TypeError, "inner_axis must be an int; got float"),
        ((0, Changing(1.0)), TypeError, "inner_axis must be an int"),
        ((0, 1 << 40), ValueError, "out of bounds"),
    ]:
        with pytest.raises(error, match=text):
            ragged.merge_dims(*axes)
    assert ragged.merge_dims(-2, -1).to_list() == [[1, 2, 3], [4]]
