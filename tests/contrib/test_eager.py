"""tf.contrib.eager and tf.layers: what programs of 1.x use."""

import contextlib

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import eager as tfe


def test_metrics():
    mean = tfe.metrics.Mean("loss")
    mean(0)
    mean(5)
    assert float(mean.result()) == 2.5
    mean([8, 9])
    assert float(mean.result()) == 5.5
    accuracy = tfe.metrics.Accuracy()
    accuracy(labels=[1, 2, 3, 4], predictions=[1, 0, 3, 4], weights=[1.0, 1.0, 2.0, 0.0])
    assert float(accuracy.result()) == 0.75
    accuracy.init_variables()
    assert np.isnan(accuracy.result().numpy())
    accuracy([[1, 2]], [[1, 1]])
    assert float(accuracy.result()) == 0.5
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of labels and predictions"):
        accuracy([[0], [0]], [0, 1])
    sparse = tfe.metrics.SparseAccuracy()
    sparse([1, 0], [[0.1, 0.9], [0.3, 0.7]])
    assert float(sparse.value()()) == 0.5
    other = tfe.metrics.SparseAccuracy()
    other([0], [[0.8, 0.1]])
    sparse.aggregate([other])
    assert float(sparse.result()) == pytest.approx(2 / 3)
    with pytest.raises(TypeError, match="same type"):
        sparse.aggregate([mean])
    assert mean(tf.constant([1.0, 2.0])).numpy() == 3.0  # what was added, for the next metric


def test_metrics_in_a_graph():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        values = tf.placeholder(tf.float32, [None])
        mean = tfe.metrics.Mean("has space")
        update, other = mean(values), tfe.metrics.Mean(use_global_variables=True)
        other(1.0)
        assert [v.name for v in mean.variables] == ["has_space/numer:0", "has_space/denom:0"]
        assert tf.local_variables() == mean.variables
        assert tf.global_variables() == other.variables == graph.get_collection("metric_variables")[2:]
        start, result = mean.init_variables(), mean.result()
        for chosen in ([1, 10, 100], [5.0]):
            session.run(start)
            session.run(update, {values: chosen})
            session.run(update, {values: [2.0]})
            assert session.run(result) == (sum(chosen) + 2) / (len(chosen) + 1)
        with pytest.raises(ValueError, match="already exists"):
            tfe.metrics.Mean()(0)  # of the same name as `other`

        def body(i):
            with tf.control_dependencies([mean(i)]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 4, body, [1])
        session.run(start)
        session.run(loop)
        assert session.run(mean.value()) == 2.0


@pytest.mark.parametrize("graph_mode", [False, True])
def test_metrics_are_summaries(tmp_path, graph_mode):
    with tf.Graph().as_default() if graph_mode else contextlib.nullcontext():
        tf.train.get_or_create_global_step()
        mean, wanted = tfe.metrics.Mean("loss"), False
        mean(3.0)
        with (
            tf.contrib.summary.create_file_writer(str(tmp_path), max_queue=0, name="w").as_default(),
            tf.contrib.summary.always_record_summaries(),
        ):
            if graph_mode:
                wanted = tf.placeholder(tf.bool, [])
                result, _ = mean.result(write_summary=wanted), mean.result(write_summary=False)
                with tf.Session() as session:
                    session.run(tf.global_variables_initializer())
                    session.run([mean.init_variables(), tf.contrib.summary.summary_writer_initializer_op()])
                    session.run(mean(4.0))
                    session.run(result, {wanted: False})
                    session.run(result, {wanted: True})
            else:
                mean.result(write_summary=False)
                mean.result()
    events = list(tf.train.summary_iterator(str(next(tmp_path.iterdir()))))
    found = [(v.tag, v.simple_value) for event in events for v in event.summary.value]
    assert found == [("loss", 4.0 if graph_mode else 3.0)]


def test_evaluator_in_a_graph(tmp_path):
    class Halves:
        def eval_data(self, value):
            return value / 2

    class Simple(tfe.Evaluator):
        def __init__(self, model):
            super().__init__(model)
            self.mean = self.track_metric(tfe.metrics.Mean("mean"))

        def call(self, eval_data):
            self.mean(eval_data)

    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.get_or_create_global_step()
        evaluator = Simple(Halves())
        dataset = tf.data.Dataset.from_tensor_slices(tf.constant([3.0, 5.0, 7.0]))
        steps = evaluator.evaluate_on_dataset(dataset, summary_logdir=str(tmp_path))
        session.run(tf.global_variables_initializer())
        assert evaluator.run_evaluation(*steps) == {"mean": 2.5}
    events = list(tf.train.summary_iterator(str(next(tmp_path.iterdir()))))
    assert [v.simple_value for event in events for v in event.summary.value] == [2.5]


def test_implicit_gradients_train_a_layer():
    model = tf.layers.Dense(units=1, use_bias=True)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)
    x = np.array([[1.0], [2.0], [-1.0]], np.float32)

    def loss(x, y):
        return tf.reduce_mean(tf.square(y - model(x)))

    grad_fn = tfe.implicit_gradients(loss)
    for _ in range(300):
        optimizer.apply_gradients(grad_fn(x, 3 * x + 2))
    np.testing.assert_allclose(model.kernel.numpy(), [[3.0]], atol=1e-2)
    np.testing.assert_allclose(model.bias.numpy(), [2.0], atol=1e-2)


def test_layers_take_the_dtype_of_their_input():
    assert tf.layers.dense(np.ones([2, 3]), 4).dtype == tf.float64
    assert tf.layers.Dense(4, dtype=tf.float32)(np.ones([2, 3])).dtype == tf.float32


def test_layer_functions():
    image = tf.ones([1, 8, 8, 1])
    assert tf.layers.conv2d(image, 3, 3, activation=tf.nn.relu).shape == (1, 6, 6, 3)
    assert tf.layers.max_pooling2d(image, 2, 2).shape == (1, 4, 4, 1)
    assert tf.layers.flatten(image).shape == (1, 64)
    assert (tf.layers.dropout(image).numpy() == 1).all()
    np.testing.assert_allclose(
        tf.layers.batch_normalization(image, training=True).numpy(), 0, atol=1e-3
    )
    with pytest.raises(TypeError, match="units"):
        tf.layers.dense(image)


def test_network_and_sequential():
    model = tfe.Sequential([tf.layers.Dense(3), tf.nn.relu, tf.layers.Dense(1)])
    assert model(tf.ones([2, 2])).shape == (2, 1)
    assert len(model.variables) == 4


def test_modes_and_devices():
    tfe.enable()
    assert tfe.in_eager_mode()
    assert not tfe.in_graph_mode()
    assert tfe.num_gpus() == len([name for name in tfe.list_devices() if "GPU" in name])


def test_evaluator(tmp_path):
    class Model:
        def eval_data(self, value):
            return 2 * value

    class Simple(tfe.Evaluator):
        def __init__(self, model):
            super().__init__(model)
            self.mean = self.track_metric(tfe.metrics.Mean("mean"))

        def call(self, eval_data):
            self.mean(eval_data)

    evaluator = Simple(Model())
    dataset = tf.data.Dataset.from_tensor_slices(tf.range(5.0))
    results = evaluator.evaluate_on_dataset(dataset, summary_logdir=str(tmp_path))
    assert results["mean"].numpy() == 4
    assert len(list(tmp_path.iterdir())) == 1
    assert evaluator.track_metric(evaluator.mean) is evaluator.mean
    with pytest.raises(RuntimeError, match="not needed"):
        evaluator.init_variables()
    assert evaluator.mean.numer.name == "mean/numer:0"
    with pytest.raises(ValueError, match="two Metrics"):
        evaluator.track_metric(tfe.metrics.Mean("mean"))


def test_a_call_of_defun_without_a_result_is_an_operation_of_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)

        @tfe.defun
        def count(x):
            v.assign_add(x)
            v.assign_add(x)

        update = count(tf.constant(2.0))
        assert isinstance(update, tf.Operation)
        session.run(v.initializer)
        session.run(update)
        assert session.run(v) == 5.0


@pytest.mark.parametrize("everywhere", [True, False])
def test_variables_of_metrics_in_graphs(everywhere):
    with tf.Graph().as_default() as graph:
        tfe.metrics.Mean("mean", use_global_variables=everywhere)([1.0])
        names = {key: [v.op.name for v in graph.get_collection(key)] for key in graph.collections}
    kept = "variables" if everywhere else "local_variables"
    assert names[kept] == names["metric_variables"] == ["mean/numer", "mean/denom"]
    assert bool(names.get("local_variables")) is not everywhere
