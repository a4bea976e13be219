"""Graphs with lookup tables and lists of tensors are written: to event files, beside checkpoints, as GraphDefs."""

import pytest

import tapeflow as tf2
import tapeflow.compat.v1 as tf


def test_a_graph_with_a_table(tmp_path):
    words = tmp_path / "words"
    words.write_text("a\nb\nc\n")
    with tf.Graph().as_default() as graph:
        table = tf.contrib.lookup.index_table_from_file(str(words), default_value=-1)
        found = table.lookup(tf.constant(["b", "z"]))
        tf.Variable(1.0)
        definition = graph.as_graph_def()
        assert [n.name for n in definition.node] == [o.name for o in graph.get_operations()]
        tf.summary.FileWriter(str(tmp_path), graph).close()
        with tf.Session() as session:
            session.run([tf.tables_initializer(), tf.global_variables_initializer()])
            assert session.run(found).tolist() == [1, -1]
            tf.train.Saver().save(session, str(tmp_path / "model"))
        assert (tmp_path / "model.meta").exists()
    with tf.Graph().as_default() as other:
        tf.import_graph_def(definition, name="")
        assert len(other.get_operations()) >= len(definition.node)
        with tf.Session() as session:  # the table is one of its own
            with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
                session.run(found.name)
            session.run([op.name for op in graph.get_collection("table_initializer")])
            assert session.run(found.name).tolist() == [1, -1]


def test_a_table_in_a_saved_model(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        words = tf.placeholder(tf.string, [None])
        fixed = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], [5, 6]), default_value=-1
        )
        outputs = {"numbers": fixed.lookup(words)}
        session.run([tf.tables_initializer(), tf.global_variables_initializer()])
        tf.saved_model.simple_save(
            session, str(tmp_path / "model"), {"words": words}, outputs, tf.tables_initializer()
        )
    loaded = tf2.saved_model.load(str(tmp_path / "model"))
    made = loaded.signatures["serving_default"](words=tf2.constant(["b", "z", "a"]))
    assert made["numbers"].numpy().tolist() == [6, -1, 5]

    @tf2.function
    def inside(words):
        return loaded.signatures["serving_default"](words=words)["numbers"] + 1

    assert inside(tf2.constant(["b"])).numpy().tolist() == [7]


def test_the_gradient_of_rows_of_an_unknown_number(tmp_path):
    with tf.Graph().as_default() as graph:
        rows = tf.placeholder(tf.float32, [None, 2])
        array = tf.TensorArray(tf.float32, size=tf.shape(rows)[0]).unstack(rows)
        (gradient,) = tf.gradients(array.read(0), rows)
        graph.as_graph_def()
        with tf.Session() as session:
            assert session.run(gradient, {rows: [[1, 2], [3, 4]]}).tolist() == [[1, 1], [0, 0]]
