"""The names by which programs of 1.x find summaries, and the global step, again."""

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
