"""Transforms of GraphDefs: what each does to a graph, and that the result computes the same."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.tools.graph_transforms import TransformGraph
from tapeflow.tools.graph_transforms.registry import TRANSFORMS, calls

v1 = tf.compat.v1
RNG = np.random.RandomState(0)
X = RNG.normal(size=(2, 8, 8, 3)).astype(np.float32)


def floats(*shape):
    return RNG.uniform(0.5, 1.5, shape).astype(np.float32)


def built(build):
    """The GraphDef of a function of the placeholder "x", whose result is named "y"."""
    with v1.Graph().as_default() as graph:
        tf.identity(build(v1.placeholder(tf.float32, [None, 8, 8, 3], name="x")), name="y")
    return graph.as_graph_def()


def result(graph_def):
    with v1.Graph().as_default() as graph:
        v1.import_graph_def(graph_def, name="")
        with v1.Session(graph=graph) as session:
            return session.run("y:0", {"x:0": X})


def ops(graph_def):
    return sorted(node.op for node in graph_def.node)


def norm(x, channels, **rest):
    parameters = [tf.constant(floats(channels)) for _ in range(4)]
    return v1.nn.fused_batch_norm(x, *parameters, is_training=False, **rest)[0]


def convolution(x, channels=4, **rest):
    return tf.nn.conv2d(x, tf.constant(floats(3, 3, x.shape[-1], channels)), rest.pop("strides", 1), "SAME", **rest)


def old_norm(x, channels, scale=True):
    mean, variance, beta, gamma = (floats(channels) for _ in range(4))
    return tf.raw_ops.BatchNormWithGlobalNormalization(
        t=x, m=mean, v=variance, beta=beta, gamma=gamma, variance_epsilon=0.01, scale_after_normalization=scale
    )


def depthwise(x):
    return tf.nn.depthwise_conv2d(x, tf.constant(floats(3, 3, 3, 2)), [1, 1, 1, 1], "SAME")


def duplicates(x):
    return tf.exp(x * tf.constant(2.0)) + tf.exp(x * tf.constant(2.0))


def switching(x):
    return v1.cond(tf.reduce_sum(x) > 0, lambda: x + tf.constant(1.0) * 2, lambda: x)


# (transforms, the graph, the ops that the result has no more, ops that it has)
CASES = {
    "products": ("fold_batch_norms", lambda x: convolution(x) * tf.constant(floats(4)), ["Mul"], ["Conv2D"]),
    "products of channels apart": ("fold_batch_norms", lambda x: depthwise(x) * tf.constant(floats(6)), ["Mul"], []),
    "products of matrices": (
        "fold_batch_norms",
        lambda x: (tf.reshape(x, [-1, 192]) @ tf.constant(floats(192, 3))) * tf.constant(floats(3)),
        ["Mul"], ["MatMul"],
    ),
    "fused norms": ("fold_old_batch_norms", lambda x: norm(convolution(x), 4), ["FusedBatchNormV3"], ["BiasAdd"]),
    "norms of channels apart": ("fold_old_batch_norms", lambda x: norm(depthwise(x), 6), ["FusedBatchNormV3"], []),
    "two norms": (
        "fold_old_batch_norms", lambda x: norm(convolution(norm(convolution(x), 4)), 4), ["FusedBatchNormV3"], [],
    ),
    "old norms": (
        "fold_old_batch_norms", lambda x: old_norm(convolution(x), 4), ["BatchNormWithGlobalNormalization"],
        ["BiasAdd"],
    ),
    "old norms without gamma": (
        "fold_old_batch_norms", lambda x: old_norm(convolution(x), 4, False), ["BatchNormWithGlobalNormalization"], [],
    ),
    "norms of joined channels": (
        "fold_old_batch_norms",
        lambda x: norm(tf.concat([convolution(x, 2), convolution(x, 3)], 3), 5), ["FusedBatchNormV3"], ["BiasAdd"],
    ),
    "norms of joined rows": (
        "fold_old_batch_norms",
        lambda x: norm(tf.concat([convolution(x), convolution(x)], 1), 4), ["FusedBatchNormV3"], ["BiasAdd"],
    ),
    "norms after batches of tiles": (
        "fold_old_batch_norms",
        lambda x: norm(tf.batch_to_space(tf.nn.conv2d(tf.space_to_batch(x, [2, 2], [[2, 2], [2, 2]]),
                       tf.constant(floats(3, 3, 3, 4)), 1, "VALID"), [2, 2], [[0, 0], [0, 0]]), 4),
        ["FusedBatchNormV3"], ["BiasAdd", "BatchToSpaceND"],
    ),
    "wide convolutions": (
        "flatten_atrous_conv",
        lambda x: tf.batch_to_space(tf.nn.conv2d(tf.space_to_batch(x, [2, 2], [[2, 2], [2, 2]]),
                                    tf.constant(floats(3, 3, 3, 4)), 1, "VALID"), [2, 2], [[0, 0], [0, 0]]),
        ["BatchToSpaceND", "SpaceToBatchND"], ["Conv2D"],
    ),
    "constants": (
        "fold_constants", lambda x: x + tf.exp(tf.constant(1.0)) * 3 + tf.unstack(tf.constant([1.0, 2.0]))[1],
        ["Exp", "Mul", "Unpack"], [],
    ),
    "known shapes": (
        "fold_constants", lambda x: x + tf.cast(tf.raw_ops.Size(input=x[0]), tf.float32), ["Size", "Cast"], [],
    ),
    "constants beside branches": ("fold_constants", switching, [], []),
    "duplicates": ("merge_duplicate_nodes", duplicates, [], ["Exp"]),
    "removed nodes": ("remove_nodes(op=Identity)", lambda x: tf.identity(tf.identity(x)) * 2.0, [], ["Identity"]),
    "removed checks": (
        "remove_nodes(op=CheckNumerics, op=Identity)",
        lambda x: tf.identity(tf.debugging.check_numerics(x, "bad")) * 2.0, ["CheckNumerics"], [],
    ),
    "names": ("obfuscate_names", duplicates, [], ["Exp"]),
    "order": ("sort_by_execution_order", duplicates, [], ["Exp"]),
    "defaults": ("add_default_attributes", lambda x: convolution(x), [], ["Conv2D"]),
    "stripped": ("strip_unused_nodes", duplicates, [], []),
    "no waiting": ("remove_control_dependencies", switching, [], []),
    "old concatenation": ("backport_concatv2", lambda x: tf.concat([x, x], 3), ["ConcatV2"], ["Concat"]),
    "placed": ('set_device(device="/cpu:0") remove_device', duplicates, [], []),
    "printed": ('insert_logging(op=Exp, show_op=true, message="here")', duplicates, [], ["Print"]),
}


@pytest.mark.parametrize("name", CASES)
def test_graphs_compute_the_same(name):
    transforms, build, gone, there = CASES[name]
    graph_def = built(build)
    before = graph_def.SerializeToString(deterministic=True)
    made = TransformGraph(graph_def, ["x"], ["y"], [transforms])
    assert graph_def.SerializeToString(deterministic=True) == before
    assert not set(gone) & set(ops(made))
    assert set(there) <= set(ops(made))
    assert set(gone) <= set(ops(graph_def))
    np.testing.assert_allclose(result(made), result(graph_def), rtol=2e-4, atol=2e-4)


def test_duplicates_go():
    graph_def = built(duplicates)
    made = TransformGraph(graph_def, ["x"], ["y"], ["merge_duplicate_nodes"])
    assert ops(made) == ["AddV2", "Const", "Exp", "Identity", "Mul", "Placeholder"]


def test_layers_that_others_use_are_not_folded():
    def build(x):
        y = convolution(x)
        return norm(y, 4) + y

    made = TransformGraph(built(build), ["x"], ["y"], ["fold_old_batch_norms"])
    assert "FusedBatchNormV3" in ops(made)


def test_rounded_weights_have_few_values():
    graph_def = built(convolution)
    made = TransformGraph(graph_def, ["x"], ["y"], ["round_weights(num_steps=4)"])
    kernel = next(tf.make_ndarray(n.attr["value"].tensor) for n in made.node if n.op == "Const")
    assert len(np.unique(kernel)) <= 5
    assert 0 < np.abs(result(made) - result(graph_def)).max() < 4


def test_quantized_weights_are_bytes():
    graph_def = built(convolution)
    made = TransformGraph(graph_def, ["x"], ["y"], ["quantize_weights(minimum_size=100)"])
    bytes_ = next(n for n in made.node if n.name.endswith("_quantized_const"))
    assert len(bytes_.attr["value"].tensor.tensor_content) == 3 * 3 * 3 * 4
    np.testing.assert_allclose(result(made), result(graph_def), atol=0.2)
    assert (result(made) != result(graph_def)).any()
    same = TransformGraph(graph_def, ["x"], ["y"], ["quantize_weights"])
    assert "Dequantize" not in ops(same)


def test_inputs_become_placeholders():
    graph_def = built(lambda x: tf.exp(x * 2.0, name="middle") + 1)
    made = TransformGraph(graph_def, ["middle"], ["y"], ['strip_unused_nodes(type=float, shape="2,8,8,3")'])
    (node,) = (node for node in made.node if node.op == "Placeholder")
    assert node.name == "middle"
    assert [d.size for d in node.attr["shape"].shape.dim] == [2, 8, 8, 3]
    assert "x" not in {n.name for n in made.node}
    text = 'strip_unused_nodes(name=middle, type_for_name=int32, name=x, type_for_name=float)'
    made = TransformGraph(graph_def, ["middle"], ["y"], [text])
    assert next(n for n in made.node if n.name == "middle").attr["dtype"].type == tf.int32.as_datatype_enum


def test_what_is_excluded_is_not_folded():
    graph_def = built(lambda x: x + tf.exp(tf.constant(1.0), name="e"))
    for text in ("exclude_op=Exp", "exclude_node=e", "max_constant_size_in_bytes=2"):
        made = TransformGraph(graph_def, ["x"], ["y"], [f"fold_constants({text})"])
        assert "Exp" in ops(made)


def test_attributes_names_and_ops():
    graph_def = built(lambda x: tf.exp(x, name="e"))
    text = ("rename_attribute(old_attribute_name=T, new_attribute_name=U, op_name=Exp) rename_op(old_op_name=Exp, "
            "new_op_name=Other) rename_node(old_node_name=e, new_node_name=f) "
            "remove_attribute(attribute_name=shape)")  # fmt: skip
    made = TransformGraph(graph_def, ["x"], ["y"], [text])
    x, other, y = made.node
    assert (other.name, other.op, sorted(other.attr)) == ("f", "Other", ["U"])
    assert list(y.input) == ["f"]
    assert "shape" not in x.attr


def test_ranges_of_a_run_become_constants(tmp_path):
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.qint32, [3], name="x")
        low, high = tf.raw_ops.RequantizationRange(input=x, input_min=-1.0, input_max=1.0, name="range")
        tf.add(low, high, name="y")
    log = tmp_path / "log"
    lines = [f";range__print__;__requant_min_max:[{-i}][{i}]\n" for i in range(1, 21)]
    log.write_text("noise\n" + "".join(lines))
    made = TransformGraph(
        graph.as_graph_def(), ["x"], ["y"], [f'freeze_requantization_ranges(min_max_log_file="{log}")']
    )
    values = {n.name: tf.make_ndarray(n.attr["value"].tensor) for n in made.node if n.op == "Const"}
    assert values["range/frozen_min"] == -19
    assert values["range/frozen_max"] == 20
    assert "RequantizationRange" not in ops(made)


def network(x):
    y = tf.nn.relu(tf.nn.bias_add(convolution(x), tf.constant(floats(4)) - 1))
    y = tf.nn.max_pool2d(y, 2, 2, "VALID")
    y = tf.nn.avg_pool2d(tf.nn.relu6(y * 0.2), 2, 2, "VALID")
    y = tf.reshape(y, [-1, 16]) @ tf.constant(floats(16, 3))
    return y + tf.constant([1.0, 2.0, 3.0])


def test_networks_of_8_bits():
    graph_def = built(network)
    made = TransformGraph(graph_def, ["x"], ["y"], ["quantize_nodes"])
    there = set(ops(made))
    assert {"QuantizedConv2D", "QuantizedMatMul", "QuantizedMaxPool", "QuantizedAvgPool", "QuantizedReshape"} <= there
    assert {"QuantizedRelu", "QuantizedRelu6", "QuantizedAdd", "QuantizedBiasAdd", "QuantizedMul"} <= there
    assert not {"Conv2D", "MatMul", "Relu", "MaxPool"} & there
    # Between two of them there are no floats: only constants and the input are measured.
    assert ops(made).count("Dequantize") == 1
    want = result(graph_def)
    np.testing.assert_allclose(result(made), want, atol=0.06 * np.abs(want).max())


def test_networks_of_8_bits_in_given_ranges():
    graph_def = built(lambda x: tf.nn.relu(convolution(x)))
    text = "quantize_nodes(input_min=-4, input_max=4, fallback_min=-40, fallback_max=60)"
    made = TransformGraph(graph_def, ["x"], ["y"], [text])
    assert next(n for n in made.node if n.name == "x").attr["dtype"].type == tf.quint8.as_datatype_enum
    assert "RequantizationRange" not in ops(made)
    with v1.Graph().as_default() as graph:
        levels = tf.raw_ops.QuantizeV2(input=X, min_range=-4.0, max_range=4.0, T=tf.quint8, mode="MIN_FIRST").output
        v1.import_graph_def(made, {"x:0": levels}, name="")
        with v1.Session(graph=graph) as session:
            found = session.run("y:0")
    want = result(graph_def)
    np.testing.assert_allclose(found, want, atol=0.06 * np.abs(want).max())
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must pass both input_min and input_max"):
        TransformGraph(graph_def, ["x"], ["y"], ["quantize_nodes(input_min=1)"])


def test_texts_of_calls():
    text = ' a b(c=1,d="x, \\"y", c=2)  e()'
    assert list(calls(text)) == [("a", {}), ("b", {"c": ["1", "2"], "d": ['x, \\"y']}), ("e", {})]
    assert {"quantize_weights", "fold_constants", "remove_attribute"} <= set(TRANSFORMS)


BAD = {
    "unknown": "Transform 'unknown' not recognized",
    "remove_nodes": "at least one 'op'",
    "rename_op(old_op_name=a)": "exactly one",
    "remove_attribute(attribute_name=a, attribute_name=b)": "exactly one",
    "round_weights(num_steps=few)": "Couldn't interpret the num_steps argument as a number:few",
    "round_weights(num_steps=1, num_steps=2)": "Expected a single 'num_steps' parameter, but found 2",
    "set_device(if_default=perhaps)": "as a boolean:perhaps",
    "strip_unused_nodes(type=wood)": "Couldn't understand type argument 'wood'",
    'strip_unused_nodes(shape="a,b")': "Could parse as shape",
    "strip_unused_nodes(name=y)extra(": "Looking for parameter name",
    "-": "Looking for transform name",
    "remove_nodes(op)": "Looking for =",
    "freeze_requantization_ranges": "You must pass a file name",
    "rename_node(old_node_name=x, new_node_name=y)": "is in the graph already",
    "fold_constants(ignore_errors=perhaps)": "as a boolean:perhaps",
}


@pytest.mark.parametrize("text", BAD)
def test_calls_that_are_wrong(text):
    graph_def = built(lambda x: tf.exp(x, name="middle"))
    with pytest.raises(tf.errors.InvalidArgumentError, match=BAD[text].replace("(", r"\(")):
        TransformGraph(graph_def, ["middle"], ["y"], [text])


def test_errors_can_be_ignored():
    graph_def = built(tf.exp)
    made = TransformGraph(graph_def, ["x"], ["y"], ["remove_nodes(ignore_errors=true)"])
    assert made == graph_def


def test_graphs_must_be_whole():
    graph_def = built(tf.exp)
    del graph_def.node[0]
    with pytest.raises(tf.errors.InternalError, match="nonexistent nodes"):
        TransformGraph(graph_def, ["x"], ["y"], ["remove_device"])
