"""Graphs with lookup tables and lists of tensors are written: to event files, beside checkpoints, as GraphDefs."""

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


def test_the_gradient_of_rows_of_an_unknown_number(tmp_path):
    with tf.Graph().as_default() as graph:
        rows = tf.placeholder(tf.float32, [None, 2])
        array = tf.TensorArray(tf.float32, size=tf.shape(rows)[0]).unstack(rows)
        (gradient,) = tf.gradients(array.read(0), rows)
        graph.as_graph_def()
        with tf.Session() as session:
            assert session.run(gradient, {rows: [[1, 2], [3, 4]]}).tolist() == [[1, 1], [0, 0]]
