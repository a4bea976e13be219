"""tf.contrib.quantize: graphs that train with few bits, and what folding of batch normalization keeps."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib.quantize import common, graph_matcher, quant_ops

quantize = tf.contrib.quantize
layers = tf.contrib.layers
RNG = np.random.RandomState(0)
X = RNG.normal(size=(4, 8, 8, 3)).astype(np.float32)


def model(kind="conv", fused=True, training=True, activation=tf.nn.relu6):
    """A graph of one layer with batch normalization, from "x" to "y"."""
    graph = tf.Graph()
    norm = {"center": True, "scale": True, "decay": 0.9, "fused": fused, "is_training": training}
    with graph.as_default():
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, X.shape, name="x")
        rest = {"activation_fn": activation, "normalizer_fn": layers.batch_norm, "normalizer_params": norm}
        if kind == "conv":
            y = layers.conv2d(x, 4, [3, 3], scope="layer", **rest)
        elif kind == "depthwise":
            y = layers.separable_conv2d(x, None, [3, 3], 2, scope="layer", **rest)
        else:
            y = layers.fully_connected(tf.reshape(x, [4, 192]), 5, scope="layer", **rest)
        tf.identity(y, name="y")
    return graph


def values(graph, fetches, steps=1, before=()):
    with tf.Session(graph=graph) as session:
        with graph.as_default():
            session.run(tf.global_variables_initializer())
        for each in before:
            session.run(each, {"x:0": X})
        for _ in range(steps):
            found = session.run(fetches, {"x:0": X})
    return found


def kinds(graph):
    return [op.type for op in graph.get_operations()]


def needed(graph, name="y"):
    return {node.op for node in tf.graph_util.extract_sub_graph(graph.as_graph_def(), [name]).node}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("kind", ["conv", "depthwise", "dense"])
def test_folding_keeps_results_and_gradients(kind, fused, training):
    found = []
    for folded in (False, True):
        graph = model(kind, fused, training)
        if folded:
            quantize.fold_batch_norms.FoldBatchNorms(graph, training)
        with graph.as_default():
            x, y = (graph.get_tensor_by_name(name) for name in ("x:0", "y:0"))
            weights = tf.trainable_variables()
            grads = tf.gradients(tf.reduce_sum(tf.sin(y)), [x, *weights])
        found.append(values(graph, [y, *grads]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)


def test_folded_layers_use_the_moving_averages_after_a_while():
    graph = model()
    quantize.fold_batch_norms.FoldBatchNorms(graph, True, freeze_batch_norm_delay=2)
    with graph.as_default():
        moving = [v for v in tf.global_variables() if "moving_mean" in v.name]
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Session(graph=graph) as session:
        with graph.as_default():
            session.run(tf.global_variables_initializer())
        outputs, averages = [], []
        for _ in range(3):
            outputs.append(session.run(["y:0", *updates], {"x:0": X})[0])
            averages.append(session.run(moving[0]))
    # The second step and all after it leave the averages, and do not normalize by the batch.
    assert (averages[0] != 0).any()
    np.testing.assert_array_equal(averages[1], averages[0])
    assert np.abs(outputs[1] - outputs[0]).max() > 0.1
    np.testing.assert_allclose(outputs[2], outputs[1], rtol=1e-5)


@pytest.mark.parametrize("kind", ["conv", "depthwise", "dense"])
def test_training_graphs_round_weights_and_activations(kind):
    plain, graph = model(kind), model(kind)
    quantize.create_training_graph(graph)
    assert kinds(graph).count("FakeQuantWithMinMaxVars") == 2
    assert "FakeQuantWithMinMaxVars" in needed(graph)
    want, got = values(plain, "y:0"), values(graph, "y:0", steps=3)
    # What is used has 256 values; the range is a moving average that begins with (0, 6).
    assert len(np.unique(got)) <= 256
    np.testing.assert_allclose(got, want, atol=0.1)
    assert (got != want).any()


def test_weights_are_rounded_in_the_range_of_the_step():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, X.shape, name="x")
        tf.identity(quant_ops.LastValueQuantize(x, num_bits=4, narrow_range=True, init_min=0.0, init_max=0.0), "y")
    got = values(graph, "y:0")
    low, high = X.min(), X.max()
    step = (high - low) / 14
    assert len(np.unique(got)) <= 15
    assert np.abs(got - X).max() <= 0.51 * step


def test_graphs_train_and_are_evaluated(tmp_path):
    def build(rewrite):
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(3)
            x = tf.placeholder(tf.float32, X.shape, name="x")
            y = layers.conv2d(x, 4, [3, 3], scope="one", activation_fn=tf.nn.relu)
            y = layers.fully_connected(layers.flatten(y), 2, activation_fn=None, scope="two")
            rewrite(graph)
            tf.identity(y, name="y")
            loss = tf.reduce_mean(tf.square(y - X.sum((1, 2))[:, :2]), name="loss")
        return graph, loss

    graph, loss = build(lambda g: quantize.create_training_graph(g, quant_delay=5))
    with graph.as_default():
        train = tf.train.AdamOptimizer(0.02).minimize(loss)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            losses = [session.run([loss, train], {"x:0": X})[0] for _ in range(60)]
            path = saver.save(session, str(tmp_path / "model"))
    assert losses[-1] < 0.2 * losses[0]
    graph, loss = build(quantize.create_eval_graph)
    with graph.as_default(), tf.Session() as session:
        tf.train.Saver().restore(session, path)
        first, second = (session.run(loss, {"x:0": X}) for _ in range(2))
    assert first == second
    assert first < 0.3 * losses[0]


def test_rounding_begins_after_a_delay():
    graph = model(training=False)
    quantize.experimental_create_training_graph(graph, quant_delay=3, weight_bits=2, activation_bits=2)
    with tf.Session(graph=graph) as session:
        with graph.as_default():
            session.run(tf.global_variables_initializer())
        counts = [len(np.unique(session.run("y:0", {"x:0": X}))) for _ in range(4)]
    assert min(counts[:2]) > 50
    assert max(counts[2:]) <= 4


def test_only_one_scope_is_rewritten():
    for scope, count in (("layer", 2), ("other", 0)):
        graph = model()
        quantize.experimental_create_training_graph(graph, scope=scope)
        assert kinds(graph).count("FakeQuantWithMinMaxVars") == count


def test_symmetric_ranges():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, X.shape, name="x")
        quant_ops.MovingAvgQuantize(x, symmetric=True, ema_decay=0.0, vars_collection="ranges")
        low, high = tf.get_collection("ranges")
        got = values(graph, [low, high], before=[op for op in graph.get_operations() if op.type.startswith("FakeQ")])
    largest = np.abs(X).max()
    np.testing.assert_allclose(got, [-largest, largest * 254 / 256], rtol=0.01)


def test_sums_with_other_paths_are_rounded():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, X.shape, name="x")
        y = layers.conv2d(x, 3, [3, 3], activation_fn=None, scope="test/layer")
        tf.nn.relu(tf.add(x, y, name="test/add"), name="test/relu")
        quantize.create_eval_graph()
    names = {op.name for op in graph.get_operations() if op.type == "FakeQuantWithMinMaxVars"}
    folders = {name.rpartition("/")[0] for name in names}
    assert folders == {"test/layer/weights_quant", "test/layer/conv_quant", "test/act_quant"}


@pytest.mark.parametrize("resource", [True, False])
def test_shared_weights_are_rounded_where_they_are_read(resource):
    # A reference variable of 1.x is read once, a resource by each layer.
    def layer(x):
        return layers.conv2d(x, 3, [3, 3], scope="layer", reuse=tf.AUTO_REUSE)

    with tf.Graph().as_default() as graph, tf.variable_scope("", use_resource=resource):
        layer(layer(tf.placeholder(tf.float32, X.shape, name="x")))
        quantize.create_training_graph()
    names = [op.name for op in graph.get_operations() if op.type == "FakeQuantWithMinMaxVars"]
    assert len([name for name in names if "weights_quant" in name]) == (2 if resource else 1)
    assert len([name for name in names if "act_quant" in name]) == 2


def test_rewriting_comes_before_optimizers():
    graph = model()
    with graph.as_default():
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(graph.get_tensor_by_name("y:0")))
    with pytest.raises(ValueError, match="Training op found in graph"):
        quantize.create_training_graph(graph)


def test_fixed_ranges():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, X.shape, name="x")
        tf.identity(quant_ops.FixedQuantize(x, -1.0, 1.0), "y")
    got = values(graph, "y:0")
    assert np.abs(got).max() <= 1.01
    assert len(np.unique(got)) <= 256


def test_steps_are_counted_once_a_run():
    with tf.Graph().as_default():
        step = common.CreateOrGetQuantizationStep()
        assert common.CreateOrGetQuantizationStep() is step
        both = step + step
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert [session.run(both) for _ in range(3)] == [2, 4, 6]


def test_patterns():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        total = x + tf.constant(1.0)
        tf.negative(total)
    source = graph_matcher.OpTypePattern("Placeholder", name="source")
    pattern = graph_matcher.OpTypePattern("Add|AddV2", inputs=["Const", source], ordered_inputs=False)
    (match,) = graph_matcher.GraphMatcher(pattern).match_graph(graph)
    assert match.get_op(pattern) is total.op
    assert match.get_tensor("source") is x
    assert match.get_op("other") is None
    with pytest.raises(ValueError, match="Expect Pattern or str"):
        match.get_op(3)
    ordered = graph_matcher.OpTypePattern("AddV2", inputs=["Const", "Placeholder"])
    either = graph_matcher.OneofPattern([ordered, graph_matcher.OpTypePattern("Neg", inputs=["*"])])
    (match,) = graph_matcher.GraphMatcher(either).match_graph(graph)
    assert match.get_op(ordered) is None
    with pytest.raises(ValueError, match="Only < 8 inputs"):
        graph_matcher.OpTypePattern("AddN", inputs=["*"] * 9)


@pytest.mark.parametrize("fused", [True, False])
def test_dilated_convolutions_are_folded(fused):
    found = []
    for folded in (False, True):
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            norm = {"center": True, "scale": True, "decay": 0.9, "fused": fused}
            x = tf.placeholder(tf.float32, X.shape, name="x")
            y = layers.separable_conv2d(
                x, None, [3, 3], 2.0, rate=2, scope="layer", normalizer_fn=layers.batch_norm, normalizer_params=norm
            )
            tf.identity(y, name="y")
            if folded:
                quantize.fold_batch_norms.FoldBatchNorms(graph, True)
                assert graph.get_operation_by_name("layer/depthwise_Fold").type == "DepthwiseConv2dNative"
                # What is computed no longer goes through the layer itself.
                left = tf.graph_util.extract_sub_graph(graph.as_graph_def(), ["y"]).node
                assert [n.name for n in left if n.op == "BatchToSpaceND" and n.name.endswith("_Fold")]
        found.append(values(graph, ["y:0"])[0])
    assert np.abs(found[0]).max() > 0.1
    np.testing.assert_allclose(*found, rtol=2e-3, atol=2e-3)


def test_groups_of_batch_normalization():
    graph = model("conv", fused=False)
    assert common.BatchNormGroups(graph) == ["layer/"]
    assert common.BatchNormGroups(model("conv", fused=True)) == []


def test_operations_by_what_they_take():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.nn.relu(x)
        z = x + y
        tf.gradients(z, x)
    found = quantize.input_to_ops.InputToOps(graph)
    assert found.ConsumerOperations(x.op) == {y.op, z.op}  # none of the gradients
    assert found.ConsumerOperations(y.op) == {z.op}
    assert found.ConsumerOperations(z.op) == set()
