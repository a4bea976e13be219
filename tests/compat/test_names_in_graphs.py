"""The names by which programs of 1.x find summaries, metrics and the global step again."""

import pytest

import tapeflow.compat.v1 as tf


def test_a_summary_has_the_name_of_its_scope():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        made = [
            tf.summary.scalar("loss", 1.0),
            tf.summary.histogram("all", [1.0], family="net"),
            tf.summary.scalar("loss", 2.0),
            tf.summary.image("picture", tf.zeros([1, 2, 2, 1])),
            tf.summary.text("words", "a"),
        ]
        names = [summary.op.name for summary in made]
        assert names == ["loss", "net/all", "loss_1", "picture", "words"]
        assert graph.get_operation_by_name("net/all").type == "HistogramSummary"
        assert tf.summary.merge_all().op.name == "Merge/MergeSummary"
        (value,) = tf.Summary.FromString(session.run(made[1])).value
        assert value.tag == "net/net/all"


def test_the_global_step_is_in_the_variable_scope_and_in_no_name_scope():
    with tf.Graph().as_default() as graph:
        with tf.name_scope("train"):
            assert tf.train.get_or_create_global_step().name == "global_step:0"
        other = tf.Graph()
        with tf.variable_scope("net"):
            step = tf.train.create_global_step(other)
        assert step.graph is other
        assert step.name == "global_step:0"
        assert tf.train.get_global_step(other) is step
        assert len(graph.get_collection("global_step")) == 1
    with tf.Graph().as_default(), tf.variable_scope("net"):
        assert tf.train.create_global_step().name == "net/global_step:0"


@pytest.mark.parametrize(
    ("metric", "names"),
    [
        (lambda m: m.auc([0, 1], [0.1, 0.8]), ["auc/value", "auc/update_op"]),
        (lambda m: m.precision_at_thresholds([0, 1], [0.1, 0.8], [0.5]),
         ["precision_at_thresholds/precision_value", "precision_at_thresholds/precision_update_op"]),
        (lambda m: m.recall_at_k([[1]], [[0.1, 0.9]], 1), ["recall_at_1", "recall_at_1/update"]),
        (lambda m: m.specificity_at_sensitivity([0, 1], [0.1, 0.8], 0.5),
         ["specificity_at_sensitivity/value", "specificity_at_sensitivity/update_op"]),
    ],
)  # fmt: skip
def test_values_and_updates_of_metrics(metric, names):
    with tf.Graph().as_default():
        assert [x.op.name for x in metric(tf.metrics)] == names


def test_separable_convolutions_have_a_scope():
    with tf.Graph().as_default() as graph:
        tf.layers.separable_conv2d(tf.zeros([1, 4, 4, 2]), 3, 3, name="layer")
        found = {op.type: op.name for op in graph.get_operations() if "Conv" in op.type}
    assert found == {"DepthwiseConv2dNative": "layer/separable_conv2d/depthwise", "Conv2D": "layer/separable_conv2d"}
