"""What the signature of an op makes of the inputs and attrs of a call, and that all who bind a call say the same."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph.op_defs import messages
from tapeflow.ops.binder import Schema
from tapeflow.ops.signature import dtype, integer, type_list

FLOATS = (tf.float32, tf.float64)
LISTS = Schema("Lists", "a: N*int32, b: N>=2*T, c: Tc, d: T -> x: N*T, y: Tc, z: T", {"T": FLOATS}, {"Tc": type_list})
PLAIN = Schema("Plain", "a: T, b: T, c: int32 -> out: T, kind: out_type", {"T": FLOATS}, {"out_type": dtype(tf.int32)})


def convert(argument, value, wanted, place):
    return tf.convert_to_tensor(value, wanted)


def test_arguments_know_what_decides_their_dtypes():
    kinds = [(a.name, a.variable, a.kinds, a.fixed, a.length, a.least, a.is_list) for a in LISTS.inputs]
    assert kinds == [
        ("a", "", "", tf.int32, "N", 0, True),
        ("b", "T", "", None, "N", 2, True),
        ("c", "", "Tc", None, "", 0, True),
        ("d", "T", "", None, "", 0, False),
    ]
    assert not LISTS.plain
    assert PLAIN.plain


def test_references_are_marked():
    (given,) = Schema("Reference", "ref: &T -> out: T", {"T": FLOATS}, {}).inputs
    assert (given.type, given.variable, given.is_ref) == ("T", "T", True)


def test_a_tensor_decides_the_dtype_of_values_before_it():
    (a, b, c), sizes = PLAIN.bind([1, tf.constant(2.0, tf.float64), 3], convert)
    assert (a.dtype, b.dtype, c.dtype) == (tf.float64, tf.float64, tf.int32)
    assert sizes == [None, None, None]


def test_bound_lists_are_flat_and_their_lengths_known():
    flat, sizes = LISTS.bind([[1, 2], [1.0, 2.0], ["a", 1, True], 4.0], convert)
    assert [x.dtype for x in flat] == [tf.int32] * 2 + [tf.float32] * 2 + [tf.string, tf.int32, tf.bool, tf.float32]
    assert sizes == [2, 2, 3, None]
    attrs = LISTS.inferred([x.dtype for x in flat], sizes)
    assert attrs == {"N": 2, "T": tf.float32, "Tc": [tf.string, tf.int32, tf.bool]}
    assert LISTS.counts(attrs) == [2, 2, 3, 1]
    assert LISTS.expected(attrs, 8) == [x.dtype for x in flat]
    assert LISTS.output_counts(attrs) == [2, 3, 1]
    assert LISTS.grouped(range(8), [2, 2, 3]) == [[0, 1], [2, 3], [4, 5, 6], 7]
    assert LISTS.split(range(6), [2, 3, 1]) == [[0, 1], [2, 3, 4], 5]
    assert LISTS.flat_names([2, 2, 1]) == ["a", "a", "b", "b", "c", "d"]


def test_an_input_without_a_known_length_is_the_rest():
    assert LISTS.counts({"N": 2}, 9) == [2, 2, 4, 1]


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ([1, [1.0, 1.0], [], 1.0], TypeError, "Expected list for 'a' argument to 'Lists' Op, not 1."),
        ([[1], [1.0], [], 1.0], ValueError, "'b' to 'Lists' Op with length 1 shorter than minimum length 2."),
        ([[1], [1.0, 2.0], [], 1.0], ValueError, "length 2 must match length 1 of argument 'a'."),
        ([["x", 1], [1.0, 2.0], [], 1.0], TypeError, "Expected int32 passed to parameter 'a' of op 'Lists', got 'x'"),
    ],
)
def test_values_that_do_not_fit(values, error, text):
    with pytest.raises(error) as found:
        LISTS.bind(values, convert)
    assert text in str(found.value)


def test_dtypes_that_do_not_fit():
    with pytest.raises(TypeError, match="Input 'b' of 'Plain' Op has type float64 that does not match type float32 of"):
        PLAIN.check([tf.float32, tf.float64, tf.int32], [])
    with pytest.raises(TypeError, match="Value passed to parameter 'a' has DataType bool not in list of allowed"):
        PLAIN.check([tf.bool, tf.bool, tf.int32], [])
    with pytest.raises(TypeError, match=r"Tensors in list passed to 'b' of 'Lists' Op have types \[float32, float64\]"):
        LISTS.check([tf.int32, tf.int32, tf.float32, tf.float64, tf.float32], [2, 2, 0])


def test_attrs_are_checked_and_filled():
    schema = Schema("Attrs", "-> out: kind", {}, {"kind": dtype(tf.int32), "n": integer})
    assert schema.filled({"n": 3, "kind": "float32"}) == {"n": 3, "kind": tf.float32}
    assert schema.checked({"n": np.int64(3), "kind": np.float32}) == {"n": 3, "kind": tf.float32}
    with pytest.raises(TypeError, match="Expected int for argument 'n' not 'x'"):
        schema.checked({"n": "x"})


def test_lists_of_one_length_are_compared_while_a_graph_is_built():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must match length 1 of argument 'indices'"):
        tf.raw_ops.DynamicStitch(indices=[[0]], data=[[1.0], [2.0]])


def test_the_length_of_a_list_has_its_own_name():
    with tf.Graph().as_default():
        op = tf.split(tf.zeros([4]), 2)[0].op
        packed = tf.raw_ops.Pack(values=[1.0, 2.0]).op
    assert (op.get_attr("num_split"), packed.get_attr("N"), packed.get_attr("T")) == (2, 2, tf.float32)


def test_every_op_has_one_schema_and_its_definition_says_the_same():
    for kind in messages.names():
        schema, definition = messages.schema(kind), messages.op_def(kind)
        for ours, theirs in ((schema.inputs, definition.input_arg), (schema.outputs, definition.output_arg)):
            assert [(a.name, a.kinds, a.variable, a.length) for a in ours] == [
                (a.name, a.type_list_attr, a.type_attr, a.number_attr) for a in theirs
            ], kind
