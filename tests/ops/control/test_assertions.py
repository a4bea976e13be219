"""`tf.debugging`: what is asserted, and the text of what fails."""

import pytest

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError
D = tf.debugging


@pytest.mark.parametrize(
    "passes",
    [
        lambda: D.assert_equal([1, 2], [1, 2]),
        lambda: D.assert_none_equal([1, 2], [2, 3]),
        lambda: D.assert_less([1, 2], 3),
        lambda: D.assert_less_equal(3, [3, 4]),
        lambda: D.assert_greater([1.5], 1.0),
        lambda: D.assert_greater_equal([1.5], 1.5),
        lambda: D.assert_near([1.0], [1.0 + 1e-7]),
        lambda: D.assert_near([1.0], [1.1], atol=0.2),
        lambda: D.assert_positive([1]),
        lambda: D.assert_negative([-1.0]),
        lambda: D.assert_non_negative([0]),
        lambda: D.assert_non_positive([0]),
        lambda: D.assert_rank([1], 1),
        lambda: D.assert_rank_at_least([[1]], 1),
        lambda: D.assert_rank_in([1], [0, 1]),
        lambda: D.assert_integer([1]),
        lambda: D.assert_type([1], tf.int32),
        lambda: D.assert_scalar(1.0),
        lambda: D.assert_shapes([(tf.zeros([2, 3]), ("N", 3)), (tf.zeros([2]), ("N",))]),
        lambda: D.Assert(True, [1]),
    ],
)
def test_what_holds_passes(passes):
    assert passes() is None


@pytest.mark.parametrize(
    ("fails", "error", "text"),
    [
        (
            lambda: D.assert_equal([1, 2], [1, 3], message="mm"),
            Invalid,
            "mm\nCondition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\n"
            "Corresponding x values:\n[2]\nCorresponding y values:\n[3]\n"
            "First 2 elements of x:\n[1 2]\nFirst 2 elements of y:\n[1 3]",
        ),
        (lambda: D.assert_less([1, 2], [1, 3]), Invalid, "Condition x < y did not hold."),
        (lambda: D.assert_near([1.0], [1.1]), Invalid, "x and y not equal to tolerance rtol = "),
        (
            lambda: D.assert_positive([0, 1], message="mm"),
            Invalid,
            "mm.  \nCondition x > 0 did not hold element-wise:\nx (shape=(2,) dtype=int32) = \n['0', '1']",
        ),
        (
            lambda: D.assert_rank([1], 2),
            ValueError,
            "Tensor  must have rank 2.  Received rank 1, shape (1,)",
        ),
        (
            lambda: D.assert_integer([1.0]),
            TypeError,
            "Expected \"x\" to be integer type.  Found: tensor of dtype <dtype: 'float32'>",
        ),
        (
            lambda: D.assert_type([1.0], tf.int32),
            TypeError,
            "tensor must be of type tf.int32; got tf.float32",
        ),
        (lambda: D.assert_scalar([1.0]), ValueError, "Expected scalar shape, saw shape: (1,)."),
        (
            lambda: D.assert_shapes([(tf.zeros([2, 3]), ("N", 4))]),
            ValueError,
            "Specified explicitly.  Tensor shape=(2, 3) dtype=float32 dimension 1 must have size 4.  "
            "Received size 3, shape (2, 3)",
        ),
        (
            lambda: D.Assert(False, [1, tf.constant([1, 2, 3, 4, 5])]),
            Invalid,
            "Expected 'False' to be true. Summarized data: 1\n1, 2, 3, ...",
        ),
        (
            lambda: D.check_numerics([1.0, float("nan")], "msg"),
            Invalid,
            "msg : Tensor had NaN values",
        ),
    ],
)
def test_what_fails_says_so(fails, error, text):
    with pytest.raises(error) as caught:
        fails()
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "check",
    [
        lambda x, **k: tf.compat.v1.assert_rank(x, 2, **k),
        lambda x, **k: tf.compat.v1.assert_rank_at_least(x, 2, **k),
        lambda x, **k: tf.compat.v1.assert_rank_in(x, [2, 3], **k),
        lambda x, **k: tf.compat.v1.debugging.assert_shapes([(x, ("N", 4))], **k),
    ],
)
def test_data_is_shown_where_a_graph_fails(check):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32)
        with tf.control_dependencies([check(x, data=["hello", tf.range(8)], summarize=2, message="lead")]):
            y = tf.identity(x)
        assert session.run(y, {x: [[1, 2, 3, 4]]}).tolist() == [[1, 2, 3, 4]]
        with pytest.raises(Invalid, match=r"assertion failed: \[hello\] \[0 1...\]"):
            session.run(y, {x: [1.0, 2.0]})
