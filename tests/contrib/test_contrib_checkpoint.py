"""tf.contrib.checkpoint, and what tf.contrib.framework and tf.contrib.data take from checkpoints."""

import numpy as np
import pytest

import tapeflow as tf2
import tapeflow.compat.v1 as tf
from tapeflow.contrib import checkpoint, framework
from tapeflow.contrib.data import CheckpointInputPipelineHook


@pytest.fixture(autouse=True)
def eager():
    with tf2.init_scope():
        yield


def test_arrays_are_saved_and_made_again(tmp_path):
    arrays = checkpoint.NumpyState()
    saved = tf.train.Checkpoint(arrays=arrays)
    arrays.x = np.zeros([3, 4])
    path = saved.save(str(tmp_path / "a"))
    arrays.x[1, 1] = 4.0
    saved.restore(path)
    np.testing.assert_array_equal(arrays.x, np.zeros([3, 4]))
    other = tf.train.Checkpoint(arrays=checkpoint.NumpyState())
    other.restore(path).assert_consumed()
    np.testing.assert_array_equal(other.arrays.x, np.zeros([3, 4]))


def test_only_arrays_are_kept():
    with pytest.raises(NotImplementedError, match="not a NumPy array"):
        checkpoint.NumpyState().x = 3


def test_names_are_made_unique():
    tracker = checkpoint.UniqueNameTracker()
    first, second, other = tf.Variable(3.0), tf.Variable(4.0), tf.Variable(5.0)
    assert tracker.track(first, "x") is first
    tracker.track(other, "y")
    tracker.track(second, "x")
    assert {r.name: r.ref for r in tracker._checkpoint_dependencies} == {"x": first, "y": other, "x_1": second}
    assert len(tracker.variables) == 3
    with pytest.raises(ValueError, match="Expected a trackable value"):
        tracker.track(3, "x")


def test_parts_of_a_value_are_saved_together(tmp_path):
    whole = tf.Variable([1.0, 2.0])
    fills = []

    def fill(values):
        fills.append(1)
        values["a"], values["b"] = whole[0], whole[1]

    parts = checkpoint.split_dependency(
        ["a", "b"], [tf.float32] * 2, fill, lambda v: whole.assign(tf.stack([v["a"], v["b"]])), "/cpu:0"
    )
    saved = tf.train.Checkpoint(**parts)
    path = saved.save(str(tmp_path / "a"))
    assert fills == [1]
    whole.assign([7.0, 8.0])
    saved.restore(path).assert_consumed()
    np.testing.assert_array_equal(whole, [1, 2])
    assert tf.train.load_variable(path, "b/.ATTRIBUTES/VARIABLE_VALUE") == 2.0


def test_what_a_checkpoint_holds(tmp_path):
    saved = tf.train.Checkpoint(v=tf.Variable([1.0]))
    path = saved.save(str(tmp_path / "a"))
    assert next(type(each).__name__ for each in checkpoint.list_objects(saved)) == "Checkpoint"
    graph = checkpoint.object_metadata(path)
    assert isinstance(graph, checkpoint.CheckpointableObjectGraph)
    assert {child.local_name for child in graph.nodes[0].children} == {"v", "save_counter"}
    drawn = checkpoint.dot_graph_from_checkpoint(path)
    assert drawn.startswith("digraph {")
    assert drawn.count("color=blue") == 2
    assert "shape=[1] float32" in drawn


def test_checkpoints_without_objects_are_refused(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=1.0)
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "a"))
    with pytest.raises(ValueError, match="does not appear to be object-based"):
        checkpoint.object_metadata(path)


@pytest.fixture
def embedding(tmp_path):
    (tmp_path / "old").write_text("knitting\neminem\nminecraft\nblink182\n")
    (tmp_path / "new").write_text("eminem\nblink182\njava\n")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("m", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    files = {"old_vocab_file": str(tmp_path / "old"), "new_vocab_file": str(tmp_path / "new")}
    return path, files


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_rows_move_to_where_their_words_are(embedding, parts):
    path, files = embedding
    with tf.Graph().as_default(), tf.Session() as session:
        begin = framework.load_embedding_initializer(
            path, "m", 3, 2, **files, num_oov_buckets=1, initializer=tf.constant_initializer(42.0)
        )
        split = tf.fixed_size_partitioner(parts)
        whole = tf.convert_to_tensor(tf.get_variable("w", [4, 2], initializer=begin, partitioner=split))
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(whole), [[2, 3], [6, 7], [42, 42], [42, 42]])


def test_columns_move_too(embedding):
    path, files = embedding
    begin = framework.load_and_remap_matrix_initializer(
        path, "m", 4, 1, old_col_vocab_file=files["new_vocab_file"], new_col_vocab_file=files["new_vocab_file"],
        num_col_oov_buckets=1,
    )  # fmt: skip
    np.testing.assert_array_equal(begin([4, 2]), [[0, 0], [2, 0], [4, 0], [6, 0]])


@pytest.mark.parametrize(
    ("shape", "message"), [([4], "2-dim shape"), ([0, 2], "1st dim"), ([4, 3], "2nd dim"), ([5, 2], "exceed")]
)
def test_shapes_that_do_not_fit_are_refused(embedding, shape, message):
    path, files = embedding
    with pytest.raises(ValueError, match=message):
        framework.load_embedding_initializer(path, "m", 4, 2, **files)(shape)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (framework.convolutional_orthogonal_1d, [3, 4, 5]), (framework.convolutional_orthogonal_2d, [3, 3, 2, 4]),
        (framework.convolutional_orthogonal_3d, [2, 2, 2, 2, 3]),
        (framework.convolutional_delta_orthogonal, [3, 3, 2, 4]),
    ],
)  # fmt: skip
def test_orthogonal_kernels_keep_the_norm(kind, shape):
    kernel = np.asarray(kind(gain=2.0, seed=3)(shape))
    assert kernel.shape == tuple(shape)
    rank = len(shape) - 2
    spectrum = np.fft.fftn(kernel, s=[5] * rank, axes=range(rank))
    gram = spectrum @ spectrum.conj().swapaxes(-1, -2)
    np.testing.assert_allclose(gram, np.broadcast_to(4 * np.eye(shape[-2]), gram.shape), atol=1e-4)


def test_kernels_that_cannot_be_orthogonal_are_refused():
    with pytest.raises(ValueError, match="In_filters"):
        framework.convolutional_orthogonal_2d()([3, 3, 5, 4])
    with pytest.raises(ValueError, match="Kernel sizes must be equal"):
        framework.convolutional_orthogonal_2d()([3, 2, 3, 4])
    with pytest.raises(ValueError, match="four-dimensional"):
        framework.convolutional_orthogonal_2d()([3, 3, 4])


def test_a_part_of_a_graph_becomes_one_node():
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, name="a")
        tf.add(tf.square(tf.negative(a, name="b"), name="c"), 1.0, name="d")
        tf.identity(graph.get_tensor_by_name("c:0"), name="e")
    graph_def = graph.as_graph_def()
    fused = framework.fuse_op(graph_def, ["b"], ["e"], [1], False, "f", "Fused")
    nodes = {node.name: node for node in fused.node}
    assert list(nodes["f"].input) == ["b"]
    assert list(nodes["e"].input) == ["f"]
    assert "c" not in nodes
    assert {"a", "b", "d"} <= set(nodes)
    with pytest.raises(TypeError, match="must be a list"):
        framework.fuse_op(graph_def, "b", ["e"], [1], False, "f", "Fused")


def test_training_goes_on_where_its_dataset_was(tmp_path):
    seen = []

    def model_fn(features, labels, mode):
        v = tf.get_variable("v", initializer=0.0)
        step = tf.train.get_global_step().assign_add(1)
        noted = tf.py_func(lambda x: seen.append(int(x)), [features], [])
        with tf.control_dependencies([noted]):
            return tf.estimator.EstimatorSpec(mode, loss=v * 0.0, train_op=tf.group(step))

    def input_fn():
        return tf.data.Dataset.range(10).make_one_shot_iterator().get_next(), None

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    for steps in (3, 2):
        estimator.train(input_fn, [CheckpointInputPipelineHook(estimator)], steps=steps)
    assert seen == [0, 1, 2, 3, 4]
