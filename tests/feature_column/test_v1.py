"""`tf.compat.v1.feature_column`: layers of columns in a graph, whose variables come from `get_variable`."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
fc = v1.feature_column


def rising(shape, dtype=None, partition_info=None):
    return tf.reshape(tf.range(float(np.prod(shape))), shape)


def identity(key="i"):
    return fc.categorical_column_with_identity(key, 3)


def features():
    return {
        "a": [[1.0], [2.5]],
        "v": v1.SparseTensor([[0, 0], [0, 1], [1, 0]], ["x", "z", "q"], [2, 2]),
        "i": [[1], [2]],
        "j": [[0], [-1]],
    }


def columns():
    words = fc.categorical_column_with_vocabulary_list("v", ["x", "y", "z"])
    return [fc.embedding_column(words, 2, initializer=rising), fc.numeric_column("a"), words]


def run(tensors):
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        return session.run(tensors)


@pytest.fixture(autouse=True)
def graph():
    with v1.Graph().as_default() as made:
        yield made


def test_input_layer():
    variables, tensors = {}, {}
    out = fc.input_layer(features(), columns()[:2], cols_to_vars=variables, cols_to_output_tensors=tensors)
    np.testing.assert_allclose(run(out), [[1, 2, 3], [2.5, 0, 0]])
    names = {column.name: [v.name for v in found] for column, found in variables.items()}
    assert names == {"a": [], "v_embedding": ["input_layer/v_embedding/embedding_weights:0"]}
    assert [column.name for column in tensors] == ["a", "v_embedding"]
    assert len(v1.get_collection("model_variables")) == 1


def test_a_second_input_layer_has_variables_of_its_own_unless_they_are_reused():
    with v1.variable_scope("outer"):
        fc.input_layer(features(), columns()[:1], trainable=False)
        fc.input_layer(features(), columns()[:1])
    with v1.variable_scope("outer", reuse=True):
        fc.input_layer(features(), columns()[:1])
    assert [v.name for v in v1.global_variables()] == [
        "outer/input_layer/v_embedding/embedding_weights:0",
        "outer/input_layer_1/v_embedding/embedding_weights:0",
    ]
    assert [v.name for v in v1.trainable_variables()] == ["outer/input_layer_1/v_embedding/embedding_weights:0"]


def test_linear_model():
    variables = {}
    out = fc.linear_model(features(), columns(), units=2, weight_collections=["mine"], cols_to_vars=variables)
    assert out.shape.as_list() == [2, 2]
    names = {getattr(key, "name", key): [v.name for v in found] for key, found in variables.items()}
    assert names == {
        "a": ["linear_model/a/weights:0"],
        "v": ["linear_model/v/weights:0"],
        "v_embedding": ["linear_model/v_embedding/weights:0", "linear_model/v_embedding/embedding_weights:0"],
        "bias": ["linear_model/bias_weights:0"],
    }
    assert len(v1.get_collection("mine")) == 5
    by_name = {v.name: v for v in v1.global_variables()}
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        np.testing.assert_array_equal(session.run(out), np.zeros((2, 2)))
        session.run([
            by_name["linear_model/a/weights:0"].assign([[10.0, 20.0]]),
            by_name["linear_model/v/weights:0"].assign([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
            by_name["linear_model/bias_weights:0"].assign([100.0, 200.0]),
        ])
        np.testing.assert_allclose(session.run(out), [[116, 228], [125, 250]])


def test_names_of_a_second_linear_model():
    fc.linear_model(features(), [fc.numeric_column("a")])
    fc.linear_model(features(), [fc.numeric_column("a")])
    assert [v.name for v in v1.global_variables()][2:] == [
        "linear_model_1/a_1/weights:0", "linear_model_1/bias_weights:0",
    ]  # fmt: skip


def test_refusals():
    with pytest.raises(ValueError, match="must be a _DenseColumn"):
        fc.input_layer(features(), [identity()])
    with pytest.raises(ValueError, match="must be a _FeatureColumn"):
        fc.linear_model(features(), ["a"])
    sequence = fc.sequence_categorical_column_with_identity("i", 3)
    with pytest.raises(ValueError, match="must not be of type _SequenceCategoricalColumn"):
        fc.input_layer(features(), [fc.indicator_column(sequence)])
    shared = tf.feature_column.shared_embeddings([identity(), identity("j")], 2)
    with pytest.raises(ValueError, match="SharedEmbeddingColumns are not supported in `linear_model`"):
        fc.input_layer(features(), shared)


def test_shared_embedding_columns():
    made = fc.shared_embedding_columns([identity(), identity("j")], 2, "sum", rising)
    assert repr(made[0]).startswith("_SharedEmbeddingColumn(categorical_column=Identity")
    with v1.variable_scope("scope"):
        out = fc.input_layer(features(), made)
    assert [v.name for v in v1.global_variables()] == ["scope/input_layer/i_j_shared_embedding/embedding_weights:0"]
    np.testing.assert_allclose(run(out), [[2, 3, 0, 1], [4, 5, 0, 0]])
    with pytest.raises(ValueError, match="must be a FeatureColumn"):
        tf.keras.layers.DenseFeatures(made)


def test_shared_embeddings():
    made = tf.feature_column.shared_embeddings([identity(), identity("j")], 2, initializer=rising)
    assert [column.name for column in made] == ["i_shared_embedding", "j_shared_embedding"]
    with v1.variable_scope("scope"):
        out = tf.keras.layers.DenseFeatures(made)(features())
    assert [v.name for v in v1.global_variables()] == ["scope/i_j_shared_embedding:0"]
    np.testing.assert_allclose(run(out), [[2, 3, 0, 1], [4, 5, 0, 0]])


def test_columns_that_cannot_share():
    with pytest.raises(ValueError, match="must have the same type"):
        tf.feature_column.shared_embeddings([identity(), columns()[2]], 2)
    with pytest.raises(ValueError, match="the same number of buckets"):
        tf.feature_column.shared_embeddings([identity(), fc.categorical_column_with_identity("j", 4)], 2)


def test_embeddings_from_a_checkpoint(tmp_path):
    with v1.Graph().as_default():
        v1.get_variable("saved", initializer=np.full((3, 2), 7.0, np.float32))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            path = v1.train.Saver().save(session, str(tmp_path / "model"))
    column = fc.embedding_column(identity(), 2, ckpt_to_load_from=path, tensor_name_in_ckpt="saved")
    np.testing.assert_array_equal(run(fc.input_layer(features(), [column])), np.full((2, 2), 7.0))


def test_warm_start(tmp_path):
    column = fc.embedding_column(identity(), 2, initializer=rising)
    with v1.Graph().as_default():
        fc.linear_model(features(), [column])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, str(tmp_path / "model"))
    other = fc.embedding_column(identity(), 2, initializer=v1.zeros_initializer())
    fc.linear_model(features(), [other])
    v1.train.warm_start(str(tmp_path), vars_to_warm_start=".*embedding_weights.*")
    found = next(v for v in v1.global_variables() if "embedding_weights" in v.name)
    np.testing.assert_array_equal(run(found), np.arange(6.0).reshape(3, 2))


def test_dense_features_of_1x_divides_its_variables():
    layer = v1.keras.layers.DenseFeatures(columns()[:1], name="df", partitioner=v1.fixed_size_partitioner(3))
    out = layer(features())
    assert [v.name for v in v1.global_variables()] == [
        f"df/v_embedding/embedding_weights/part_{i}:0" for i in range(3)
    ]
    assert run(out).shape == (2, 2)
