"""What cannot be staged is an error that names the variable, the branch and the line of the program."""

import re
import traceback

import pytest

import tapeflow as tf

TRUE = tf.constant(True)
THREE = tf.constant(3)


def fails(f, kind, text, *args):
    """`f`, staged, raises an error with `text`, which shows a line of this file."""
    with pytest.raises(kind, match=re.escape(text)) as info:
        tf.function(f)(*args)
    assert f'File "{__file__}", line ' in str(info.value)
    return str(info.value)


def test_not_initialized_in_the_else_branch():
    def f(t):
        if t:
            x = 1
        return x

    message = fails(f, ValueError, "'x' must also be initialized in the else branch", TRUE)
    assert f"line {f.__code__.co_firstlineno + 1}, in f\n    if t:" in message


def test_not_initialized_in_the_main_branch():
    def f(t):
        if t:
            pass
        else:
            x = 1
        return x

    fails(f, ValueError, "'x' must also be initialized in the main branch", TRUE)


def test_deleted_in_a_branch():
    def f(t):
        x = 1
        if t:
            del x
        return x

    fails(f, ValueError, "'x' must also be initialized in the main branch", TRUE)


def test_different_dtypes_in_branches():
    def f(t):
        if t:
            x = 1
        else:
            x = 1.0
        return x

    fails(
        f,
        TypeError,
        "'x' has dtype int32 in the main branch, but dtype float32 in the else branch",
        TRUE,
    )


def test_different_structures_in_branches():
    def f(t):
        if t:
            x = (1, 2)
        else:
            x = 1
        return x

    fails(
        f, TypeError, "'x' must have the same nested structure in the main and else branches:", TRUE
    )


def test_none_in_a_branch():
    def f(t):
        x = None
        if t:
            x = 1
        return x

    fails(f, ValueError, "'x' is None at the end of the else branch.", TRUE)


def test_object_in_a_branch():
    def f(t):
        x = 1
        if t:
            x = object()
        return x

    fails(f, TypeError, "in the main branch", TRUE)


def test_return_in_one_branch_only():
    def f(t):  # noqa: RET503
        if t:
            return 1

    fails(f, ValueError, "the else branch must also have a return statement.", TRUE)


def test_return_of_none_in_one_branch():
    def f(t):
        if t:
            return 1
        return None

    fails(f, ValueError, "'retval_' is None at the end of the else branch.", TRUE)


def test_different_results():
    def f(t):
        if t:
            return 1
        return 1.0

    fails(
        f,
        TypeError,
        "'retval_' has dtype int32 in the main branch, but dtype float32 in the else branch",
        TRUE,
    )


@pytest.mark.parametrize("value", [1, [True, False]])
def test_condition_that_is_no_scalar_bool(value):
    def f(t):
        x = 1
        if t:
            x = 2
        return x

    fails(
        f,
        ValueError,
        "condition of if statement expected to be `tf.bool` scalar, got Tensor(",
        tf.constant(value),
    )

    def g(t):
        while t:
            t = t
        return t

    fails(
        g,
        ValueError,
        "condition of while loop expected to be `tf.bool` scalar, got Tensor(",
        tf.constant(value),
    )


def test_conditional_expression_of_different_dtypes():
    def f(t):
        return 1 if t else 2.0

    fails(
        f,
        TypeError,
        "'t' has dtype int32 in the main branch, but dtype float32 in the else branch",
        TRUE,
    )


def test_undefined_before_the_loop():
    def f(n):
        while n > 0:
            n -= 1
            x = x + n  # noqa: F821
        return x

    fails(f, ValueError, "'x' must be defined before the loop", THREE)


def test_dtype_changes_in_the_loop():
    def f(n):
        x = 1
        while n > 0:
            n -= 1
            x = 1.5
        return x

    fails(
        f,
        TypeError,
        "'x' has dtype int32 before the loop, but dtype float32 after one iteration",
        THREE,
    )


def test_shape_changes_in_the_loop():
    def f(n):
        x = tf.zeros([1])
        for _ in tf.range(n):
            x = tf.concat([x, x], 0)
        return x

    fails(
        f,
        ValueError,
        "'x' has shape (1,) before the loop, but shape (2,) after one iteration. Use "
        "tf.autograph.experimental.set_loop_options to set shape invariants.",
        THREE,
    )


def test_structure_changes_in_the_loop():
    def f(n):
        x = 1
        for _ in tf.range(n):
            x = (1, 2)
        return x

    fails(f, TypeError, "'x' does not have the same nested structure after one iteration.", THREE)


def test_none_after_the_iteration():
    def f(n):
        x = 1
        for _ in tf.range(n):
            x = None
        return x

    fails(f, ValueError, "'x' is None at the end of the iteration.", THREE)


def test_object_in_the_loop():
    def f(n):
        x = 1
        for _ in tf.range(n):
            x = object()
        return x

    fails(f, TypeError, "'x' must be a Tensor", THREE)


def test_shape_invariant_that_does_not_hold():
    def f(n):
        x = tf.zeros([1, 2])
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None, 3]))]
            )
            x = tf.concat([x, x], 0)
        return x

    fails(
        f,
        ValueError,
        "'x' has shape (1, 2) before the loop, which does not conform with the shape invariant (None, 3).",
        THREE,
    )

    def g(n):
        x = tf.zeros([1, 2])
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None, 2]))]
            )
            x = tf.concat([x, x], 1)
        return x

    fails(
        g,
        ValueError,
        "'x' has shape (None, 4) after one iteration, which does not conform with the shape invariant (None, 2).",
        THREE,
    )


def test_leaving_an_endless_python_loop():
    def numbers():
        i = 0
        while True:
            yield i
            i += 1

    def f(n):
        for i in numbers():
            if n < i:
                break
        return i

    fails(
        f, NotImplementedError, "break and return statements which depend on a TF condition", THREE
    )


def test_length_of_a_scalar():
    fails(lambda x: len(x), ValueError, "len requires a non-scalar tensor, got one of shape", THREE)


def test_variables_keep_their_values_after_an_error():
    class Box:
        value = 1

    box = Box()

    @tf.function
    def f(t):
        if t:
            box.value = 2.0
        return box.value

    with pytest.raises(TypeError, match=r"'box\.value' has dtype float32 in the main branch"):
        f(TRUE)
    assert box.value == 1


def test_unconverted_condition():
    f = tf.function(lambda t: bool(t))
    with pytest.raises(TypeError, match=r"Using a symbolic `tf\.Tensor` as a Python `bool`"):
        f(TRUE)


# Tracebacks.


def inner_failure(x):
    if x > 0:
        y = undefined_name  # noqa: F821
    else:
        y = 1
    return y


def test_tracebacks_show_the_lines_of_the_program():
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = inner_failure(x)
        return x

    with pytest.raises(NameError) as info:
        f(THREE)
    frames = traceback.extract_tb(info.value.__traceback__)
    mine = [(frame.name, frame.line) for frame in frames if frame.filename == __file__]
    assert mine[1:] == [
        ("f", "for _ in tf.range(3):"),
        ("f", "x = inner_failure(x)"),
        ("inner_failure", "if x > 0:"),
        ("inner_failure", "y = undefined_name  # noqa: F821"),
    ]


def test_read_of_a_variable_without_a_value():
    def f(x, flag):
        if flag:
            y = 1
        return x + y

    with pytest.raises(UnboundLocalError, match="'y'"):
        tf.function(f)(THREE, False)
