"""import_graph_def: names, input_map, return_elements, and an error for every mistake."""

import numpy as np
import pytest
from google.protobuf import text_format

import tapeflow as tf
from tapeflow import protos

v1 = tf.compat.v1

FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'
A = """node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }"""
B = A + f'node {{ name: "b" op: "Neg" input: "a" {FLOAT} }}'


def graph_def(text):
    return text_format.Parse(text, protos.GraphDef())


def neg(inputs='input: "a"', attrs=FLOAT):
    return f'{A} node {{ name: "b" op: "Neg" {inputs} {attrs} }}'


def imported(text, **arguments):
    """The graph, and what import_graph_def returned."""
    graph = tf.Graph()
    with graph.as_default():
        return graph, tf.import_graph_def(graph_def(text), **arguments)


def names(graph):
    return [op.name for op in graph.get_operations()]


def value(tensor):
    with v1.Session(graph=tensor.graph) as session:
        return session.run(tensor)


# Names.


def test_the_prefix_is_import_unless_given():
    assert names(imported(B)[0]) == ["import/a", "import/b"]
    assert names(imported(B, name="p/q")[0]) == ["p/q/a", "p/q/b"]
    assert names(imported(B, name="")[0]) == ["a", "b"]


def test_a_second_import_gets_names_of_its_own():
    graph = tf.Graph()
    with graph.as_default():
        tf.constant(0, name="a")
        tf.import_graph_def(graph_def(B))
        tf.import_graph_def(graph_def(B))
        tf.import_graph_def(graph_def(A), name="")
    assert names(graph) == ["a", "import/a", "import/b", "import_1/a", "import_1/b", "a_1"]


def test_nodes_may_come_in_any_order():
    _graph, found = imported(
        f'node {{ name: "b" op: "Neg" input: "a" {FLOAT} }} {A}', return_elements=["b:0"]
    )
    assert value(found[0]) == -1


def test_colocation_follows_the_prefix():
    group = 'attr { key: "_class" value { list { s: "loc:@a" } } }'
    text = A + f'node {{ name: "b" op: "Neg" input: "a" {FLOAT} {group} }}'
    _graph, (b,) = imported(text, return_elements=["b"])
    assert b.get_attr("_class") == [b"loc:@import/a"]


def test_devices_control_inputs_and_unknown_attrs_are_kept():
    text = B.replace('name: "b"', 'name: "b" device: "/device:CPU:0"').replace(
        'input: "a"', 'input: "a" input: "^a"'
    )
    text = text.replace(FLOAT, FLOAT + ' attr { key: "_mine" value { i: 7 } }')
    _graph, (a, b) = imported(text, return_elements=["a", "b"])
    assert b.device == "/device:CPU:0"
    assert b.control_inputs == [a]
    assert b.get_attr("_mine") == 7


def test_scopes_around_the_import_hold():
    graph = tf.Graph()
    with graph.as_default():
        gate = tf.no_op(name="gate")
        with tf.device("/cpu:0"), tf.control_dependencies([gate]):
            (a,) = tf.import_graph_def(graph_def(A), return_elements=["a"])
    assert a.device == "/device:CPU:0"
    assert gate in a.control_inputs


def test_output_shapes_add_to_what_is_known():
    shape = 'attr { key: "_output_shapes" value { list { shape { dim { size: 2 } } } } }'
    text = f'node {{ name: "p" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} {shape} }}'
    assert imported(text, return_elements=["p:0"])[1][0].shape == [2]


# input_map, return_elements.


def test_input_map_replaces_tensors():
    graph = tf.Graph()
    with graph.as_default():
        five = tf.constant(5.0)
        (b,) = tf.import_graph_def(graph_def(B), input_map={"a": five}, return_elements=["b:0"])
        (c,) = tf.import_graph_def(graph_def(B), input_map={"a:0": 6.0}, return_elements=["b:0"])
    assert (value(b), value(c)) == (-5, -6)


def test_a_mapped_node_need_not_be_there():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(2.0)
        text = f'node {{ name: "b" op: "Neg" input: "gone:3" {FLOAT} }}'
        (b,) = tf.import_graph_def(
            graph_def(text), input_map={"gone:3": x}, return_elements=["b:0"]
        )
    assert value(b) == -2


def test_control_inputs_can_be_mapped():
    graph = tf.Graph()
    with graph.as_default():
        gate = tf.no_op()
        text = neg('input: "a" input: "^gone"')
        (b,) = tf.import_graph_def(
            graph_def(text), input_map={"^gone": gate}, return_elements=["b"]
        )
    assert b.control_inputs == [gate]


def test_return_elements():
    _, found = imported(B, return_elements=["b", "b:0", "a:0"])
    assert [getattr(x, "name", x) for x in found] == ["import/b", "import/b:0", "import/a:0"]
    assert imported(B)[1] is None


# Mistakes.

ARGUMENTS = [
    (3, {}, TypeError, "must be a GraphDef proto"),
    (protos.GraphDef(), {"input_map": [1]}, TypeError, "`input_map` must be a dictionary"),
    (protos.GraphDef(), {"input_map": {3: 4}}, TypeError, "must be strings"),
    (protos.GraphDef(), {"return_elements": [7]}, TypeError, "must be a list of strings"),
    (
        protos.GraphDef(),
        {"return_elements": ["a:b:c"]},
        ValueError,
        "should not contain more than 1 `:`",
    ),
    (
        graph_def(A),
        {"return_elements": ["z"]},
        ValueError,
        "Requested return node 'z' not found in graph def",
    ),
    (
        graph_def(A),
        {"return_elements": ["z:0"]},
        ValueError,
        "Requested return tensor 'z:0' not found in graph def",
    ),
    (
        graph_def(A),
        {"return_elements": ["a:7"]},
        ValueError,
        r"Invalid return output 7 of node 'a', which has 1 output",
    ),
    (graph_def(A), {"input_map": {"q:0": 1.0}}, ValueError, r"not found in graph_def: \[q:0\]"),
    (
        graph_def(B),
        {"input_map": {"a:0": 1.0}, "name": ""},
        ValueError,
        "requires a non-empty `name`",
    ),
    (
        graph_def(B),
        {"input_map": {"a:0": np.int32(1)}},
        ValueError,
        "incompatible with expected float",
    ),
]


@pytest.mark.parametrize(("message", "arguments", "error", "text"), ARGUMENTS)
def test_wrong_arguments(message, arguments, error, text):
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        tf.import_graph_def(message, **arguments)


def placeholder(attrs="", name="p"):
    return f'node {{ name: "{name}" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} {attrs} }}'


def shaped(*sizes):
    dims = " ".join(f"dim {{ size: {size} }}" for size in sizes)
    return f'attr {{ key: "shape" value {{ shape {{ {dims} }} }} }}'


def add_n(count):
    return f'node {{ name: "b" op: "AddN" {FLOAT} attr {{ key: "N" value {{ i: {count} }} }} }}'


def pooling(padding):
    """A MaxPool of the placeholder p."""
    sizes = "value { list { i: [1, 1, 1, 1] } } }"
    return placeholder() + (
        f'node {{ name: "q" op: "MaxPool" input: "p" {FLOAT} attr {{ key: "ksize" {sizes} '
        f'attr {{ key: "strides" {sizes} '
        f'attr {{ key: "padding" value {{ s: "{padding}" }} }} }}'
    )


def call(name="q", function="f"):
    return (
        f'node {{ name: "{name}" op: "PartitionedCall" attr {{ key: "Tin" value {{ list {{ }} }} }} '
        f'attr {{ key: "Tout" value {{ list {{ }} }} }} '
        f'attr {{ key: "f" value {{ func {{ name: "{function}" }} }} }} }}'
    )


INNER_CALL = call("c").replace("node {", "node_def {", 1)
HUGE = "tensor_shape { dim { size: 4611686018427387904 } }"
WRONG_SHAPES = 'attr { key: "_output_shapes" value { list { shape { dim { size: 5 } } } } }'
WRONG_CLASS = '"Const" attr { key: "_class" value { list { s: "loc:@zz" } } }'
OTHER_TYPE = 'attr { key: "T" value { type: DT_INT32 } }'
BAD_TYPE = 'attr { key: "T" value { type: DT_STRING } }'
NO_TYPE = 'attr { key: "T" value { type: DT_INVALID } }'
MISTAKES = {
    "an op that is not known": ('node { name: "a" op: "Foo" }', "Op type not registered 'Foo'"),
    "a missing attr": (
        'node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } }',
        "NodeDef missing attr 'value' from Op<name=Const",
    ),
    "an attr of another kind": (
        neg(attrs='attr { key: "T" value { i: 3 } }'),
        "AttrValue had value with type 'int' when 'type' expected",
    ),
    "an attr with nothing in it": (neg(attrs='attr { key: "T" value { } }'), "missing value"),
    "a type that does not fit": (
        neg(attrs=OTHER_TYPE),
        "Input 0 of node import/b was passed float from import/a:0 incompatible with expected int32",
    ),
    "a type that is not allowed": (
        neg(attrs=BAD_TYPE),
        "Value for attr 'T' of string is not in the list of allowed values",
    ),
    "an unknown type": (neg(attrs=NO_TYPE), "is no DataType"),
    "too few inputs": (neg(inputs=""), "do not match 0 inputs specified; Op<name=Neg"),
    "too many inputs": (neg('input: "a" input: "a"'), "do not match 2 inputs specified"),
    "an unknown input": (neg('input: "zz"'), "Node 'b': Unknown input node 'zz'"),
    "an unknown control input": (
        neg('input: "a" input: "^zz"'),
        r"Node 'b': Unknown input node '\^zz'",
    ),
    "an output that is not there": (
        neg('input: "a:3"'),
        "Node 'b': Connecting to invalid output 3 of source node a which has 1 outputs",
    ),
    "an output that is no number": (neg('input: "a:x"'), "Unknown input node 'a:x'"),
    "control inputs first": (
        neg('input: "^a" input: "a"'),
        "Node 'b': Control dependencies must come after regular dependencies",
    ),
    "a cycle": (
        f'node {{ name: "b" op: "Neg" input: "c" {FLOAT} }} node {{ name: "c" op: "Neg" input: "b" {FLOAT} }}',
        "2 nodes in a cycle",
    ),
    "a node that waits for itself": (
        'node { name: "b" op: "NoOp" input: "^b" }',
        "1 nodes in a cycle",
    ),
    "a name twice": (A + A, "Node 'a' is not unique"),
    "a name with a space": (
        'node { name: "a b" op: "NoOp" }',
        "Node 'a b': Node name contains invalid characters",
    ),
    "no name": ('node { op: "NoOp" }', "Node name contains invalid characters"),
    "frames": ('node { name: "e" op: "Enter" }', "'e' .Enter. has 0 inputs, 1 expected"),
    "a newer version": (
        "versions { min_consumer: 99999 }",
        "min consumer version 99999 above current version",
    ),
    "an impossible version": (
        "versions { producer: -1 }",
        "producer version -1 below min producer 0",
    ),
    "shapes that do not fit": (
        placeholder(shaped(2, 3))
        + f'node {{ name: "q" op: "MatMul" input: "p" input: "p" {FLOAT} }}',
        "import/q",
    ),
    "a shape below -1": (placeholder(shaped(-7)), "dimensions with values below -1"),
    "output shapes that do not fit": (
        B.replace(FLOAT, FLOAT + WRONG_SHAPES),
        "_output_shapes attribute inconsistent",
    ),
    "colocation with nothing": (
        A.replace('"Const"', WRONG_CLASS),
        "Node 'a' expects to be colocated with unknown node 'zz'",
    ),
    "an empty list": (add_n(0), "Value for attr 'N' of 0 must be at least minimum 1"),
    "a negative list": (add_n(-3), "Value for attr 'N' of -3 must be at least minimum 1"),
    "a huge list": (add_n((1 << 63) - 1), "do not match 0 inputs"),
    "more outputs than can be": (
        placeholder()
        + f'node {{ name: "q" op: "Unpack" input: "p" {FLOAT} '
        + 'attr { key: "num" value { i: 9000000000 } } }',
        "Node 'import/q' cannot have 9000000000 outputs, as its attr 'num' says",
    ),
    "an unknown choice": (pooling("XX"), "attr 'padding' of \"XX\" is not in the list"),
    "a function that is not there": (
        call(),
        "Function 'f', which node 'import/q' calls, is not in the library",
    ),
    "a malformed device": (A.replace('"Const"', '"Const" device: "/banana:3"'), "banana"),
    "a constant of another type": (
        A.replace("type: DT_FLOAT", "type: DT_INT32", 1),
        "its attr dtype is int32",
    ),
    "a constant with too few bytes": (
        A.replace("float_val: 1", 'tensor_content: "abc"'),
        "Cannot parse tensor",
    ),
    "a constant that would fill the memory": (
        A.replace("tensor_shape { }", HUGE),
        "larger than 2GB",
    ),
    "a function that calls itself": (
        call() + 'library { function { signature { name: "f" } ' + INNER_CALL + " } }",
        "Function 'f' calls itself",
    ),
    "a function twice": (
        'library { function { signature { name: "f" } } '
        'function { signature { name: "f" is_stateful: true } } }',
        "a different function with the same name already exists",
    ),
}
# All others are ValueErrors.
CLASSES = {
    "an op that is not known": tf.errors.NotFoundError,
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
    text, message = MISTAKES[mistake]
    with pytest.raises(CLASSES.get(mistake, ValueError), match=message):
        imported(text)


def test_a_failed_import_leaves_what_was_there():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0, name="x")
        with pytest.raises(ValueError):
            tf.import_graph_def(graph_def(neg('input: "zz"')))
        y = x + 1.0
    assert value(y) == 2


def test_defaults_of_the_producer_that_are_not_known_are_dropped():
    producer = text_format.Parse(
        'op { name: "Neg" attr { name: "new" type: "int" default_value { i: 3 } } }',
        protos.OpList(),
    )
    text = neg(attrs=FLOAT + ' attr { key: "new" value { i: 3 } }')
    _, (b,) = imported(text, return_elements=["b"], producer_op_list=producer)
    with pytest.raises(ValueError, match="no attr named 'new'"):
        b.get_attr("new")


def test_old_writers_left_out_unknown_shapes():
    text = placeholder(shaped())
    assert imported(text, return_elements=["p:0"])[1][0].shape.rank is None
    assert (
        imported("versions { producer: 24 }" + text, return_elements=["p:0"])[1][0].shape.rank == 0
    )
