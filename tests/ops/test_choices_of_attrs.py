"""Strings that an attr may not be: the message names those that it may be, in the order of the op's definition."""

import pytest

import tapeflow as tf

CASES = {
    "Conv2D": (
        lambda: tf.raw_ops.Conv2D(input=tf.ones([1, 2, 2, 1]), filter=tf.ones([1] * 4), strides=[1] * 4, padding="X"),
        '"SAME", "VALID", "EXPLICIT"',
    ),
    "MirrorPad": (lambda: tf.raw_ops.MirrorPad(input=[1.0], paddings=[[0, 0]], mode="X"), '"REFLECT", "SYMMETRIC"'),
    "UnicodeTranscode": (
        lambda: tf.strings.unicode_transcode("a", "UTF-8", "UTF-8", "X"),
        '"strict", "replace", "ignore"',
    ),
}


@pytest.mark.parametrize("op", CASES)
def test_messages_name_the_choices(op):
    call, choices = CASES[op]
    with pytest.raises(ValueError, match=f"of '{op}' Op passed string 'X' not in: {choices}\\."):
        tf.function(call)()
    with pytest.raises(tf.errors.InvalidArgumentError, match=f'of "X" is not in the list of allowed values: {choices}'):
        call()
