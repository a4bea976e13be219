"""tf.raw_ops: names, signatures and errors of its functions."""

import inspect

import pytest

import tapeflow as tf


@pytest.mark.parametrize("name", dir(tf.raw_ops))
def test_every_name_is_a_function_of_keywords(name):
    function = getattr(tf.raw_ops, name)
    assert function.__name__ == name
    parameters = inspect.signature(function).parameters
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters.values())
    required = [key for key, p in parameters.items() if p.default is p.empty]
    if required:
        with pytest.raises(TypeError, match="required"):
            function()


def test_an_op_with_the_name_of_a_type():
    assert tf.raw_ops.Any(input=[[True, False], [False, False]], axis=1).numpy().tolist() == [True, False]


def test_types_that_follow_from_inputs_need_not_be_given():
    assert "T" not in inspect.signature(tf.raw_ops.StackPushV2).parameters
    assert list(inspect.signature(tf.raw_ops.Unbatch).parameters)[:4] == [
        "batched_tensor", "batch_index", "id", "timeout_micros",
    ]  # fmt: skip
