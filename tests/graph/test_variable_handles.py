"""Which variable a handle in a graph stands for."""

import tapeflow as tf
from tapeflow.graph.variable_handles import VariableHandles


def test_handles_and_variables_find_each_other():
    handles, first, second = VariableHandles(), tf.Variable(1.0), tf.Variable(1.0)
    one, other = object(), object()
    handles[first] = one
    handles[second] = other
    assert handles.get(first) is one
    assert handles.variable_of(other) is second
    assert handles.variable_of(object()) is None
    handles[first] = other  # which `second` had before
    assert handles.variable_of(one) is None
    assert handles.variable_of(other) is second


def test_a_handle_that_is_gone_stands_for_nothing():
    # A new tensor may be where the old one was in memory.
    handles, variable, handle = VariableHandles(), tf.Variable(1.0), object()
    handles[variable] = handle
    del handles[variable]
    assert handles.get(variable) is None
    assert handles.variable_of(handle) is None
    handles[variable] = handle
    assert handles.variable_of(handle) is variable
