"""tf.train.do_quantize_training_on_graphdef: products of rounded numbers; nodes and values are TensorFlow 2.21's."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

W = np.random.RandomState(3).normal(size=(3, 4)).astype(np.float32)
rewrite = tf.train.do_quantize_training_on_graphdef


def graph_def():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        y = tf.nn.relu6(tf.matmul(x, tf.constant(W, name="w"), name="one"), name="six")
        y = tf.reshape(y, [2, 4], name="same")
        tf.matmul(y, tf.ones([4, 2], name="ones"), name="two")
        tf.matmul(x, tf.ones([3, 1], name="others"), name="gradients/three")
    return graph.as_graph_def()


def rounded(x, low, high, bits):
    """Of integers with a sign, those of a range that has 0 in it."""
    scale = min(-(2 ** (bits - 1)) / low, (2 ** (bits - 1) - 1) / high)
    return np.clip(np.round(x * scale), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1) / scale


def test_inputs_of_products_are_rounded_in_moving_averages():
    made = rewrite(graph_def(), 5)
    xs = np.random.RandomState(0).normal(size=(3, 2, 3)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(made, name="")
        low = high = None
        for x in xs:
            found, kept = session.run(["one:0", "x/QuantizeAndDequantizeV2:0"], {"x:0": x})
            low = x.min() if low is None else low - (low - x.min()) * (1 - 0.999)
            high = x.max() if high is None else high - (high - x.max()) * (1 - 0.999)
            wanted = rounded(x, low, high, 5)
            np.testing.assert_allclose(kept, wanted, atol=1e-5)
            assert np.abs(kept - x).max() > 1e-3
            np.testing.assert_allclose(found, wanted @ rounded(W, W.min(), W.max(), 5), atol=1e-4)


def test_ranges_that_operations_have():
    nodes = {node.name: node for node in rewrite(graph_def(), 8).node}
    node = nodes["same/QuantizeAndDequantizeV2"]
    assert not node.attr["signed_input"].b
    assert list(node.input) == ["same", "same/InputMin", "same/InputMax"]
    assert [nodes[f"same/Input{end}"].attr["value"].tensor.float_val[:] for end in ("Min", "Max")] == [[0.0], [6.0]]
    assert list(nodes["two"].input) == ["same/QuantizeAndDequantizeV2", "ones/QuantizeAndDequantizeV2"]
    # Those of gradients stay; the given graph does too.
    assert list(nodes["gradients/three"].input) == ["x", "others"]
    before = graph_def()
    kept = before.SerializeToString(deterministic=True)
    rewrite(before, 8)
    assert before.SerializeToString(deterministic=True) == kept


def test_what_cannot_be_rewritten():
    for bits in (0, 64):
        with pytest.raises(tf.errors.OutOfRangeError, match="num_bits should be in range"):
            rewrite(graph_def(), bits)
    with tf.Graph().as_default() as graph:
        tf.get_variable("v", [1])
        tf.train.Saver()
    with pytest.raises(tf.errors.UnimplementedError, match="saver"):
        rewrite(graph.as_graph_def(), 8)
    lost = graph_def()
    lost.node[0].name = "y"
    with pytest.raises(tf.errors.InvalidArgumentError, match="no node 'x'"):
        rewrite(lost, 8)
