"""Random forests: splits that are known, and what they learn."""

import itertools

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import predictor
from tapeflow.contrib.learn import MetricSpec
from tapeflow.contrib.tensor_forest import ForestHParams, RandomForestGraphs, growing
from tapeflow.contrib.tensor_forest.client import eval_metrics
from tapeflow.contrib.tensor_forest.client.random_forest import (
    CoreTensorForestEstimator,
    TensorForestEstimator,
)

RNG = np.random.default_rng(5)
POINTS = RNG.uniform(-1, 1, (1200, 4)).astype(np.float32)
RING = (POINTS[:, 0] ** 2 + POINTS[:, 2] ** 2 > 0.5).astype(np.int64)  # other features say nothing
HEIGHTS = np.stack([np.sin(3 * POINTS[:, 0]), POINTS[:, 2] ** 2], 1).astype(np.float32)


def settings(**changes):
    usual = growing.Settings(99, 3, 6, False, 2, True)
    return usual._replace(**changes)


def grown(data, labels, weights=None, **changes):
    chosen = settings(**changes)
    data = np.float32(data)
    weights = np.ones(len(data), np.float32) if weights is None else np.float32(weights)
    tree = growing.new_tree(chosen)
    return growing.grown(tree, data, np.float32(labels), weights, np.random.default_rng(0), chosen)


@pytest.mark.parametrize("or_equal", [True, False])
def test_the_candidate_that_separates_best_becomes_the_split(or_equal):
    data = [[3], [2], [1], [4], [5], [6]]  # of which the first three are candidates
    labels = [0, 0, 0, 1, 1, 1] if or_equal else [1, 0, 0, 1, 1, 1]
    tree = grown(data, labels, or_equal=or_equal)
    assert tree.splits[:, :3].tolist() == [[0, 1, 2], [-1, 0, 0], [-1, 0, 0]]
    assert tree.thresholds[0] == 3
    assert tree.sums[1:].tolist() == ([[3, 0], [0, 3]] if or_equal else [[2, 0], [0, 4]])


@pytest.mark.parametrize(
    ("labels", "changes"),
    [([0, 1, 0, 1, 1], {}), ([1] * 6, {}), ([0, 1] * 3, {"max_nodes": 2}), ([0, 1] * 3, {"split_after": 7})],
)
def test_no_split_without_enough_examples_or_classes_or_room(labels, changes):
    data = np.arange(len(labels))[:, None]
    assert len(grown(data, labels, **changes).splits) == 1


def test_weights_count_as_examples():
    assert len(grown([[1], [2], [3]], [0, 0, 1], [2, 2, 2]).splits) == 3


def test_leaves_count_what_comes_later():
    chosen = settings(split_after=4)
    tree = growing.new_tree(chosen)
    for value, label in [(1, 0), (2, 0), (3, 1), (4, 1), (9, 1), (0, 1)]:
        batch = np.float32([[value]]), np.float32([label]), np.ones(1, np.float32)
        tree = growing.grown(tree, *batch, np.random.default_rng(0), chosen)
    leaves = tree.sums[tree.splits[:, 0] == growing.NO_FEATURE]
    assert len(leaves) == 2
    assert growing.leaf_of(tree, np.float32([[9], [0]]), True).tolist() == [2, 1]
    assert leaves[1].tolist()[0] == 0  # the second class only


def test_numbers_are_split_where_they_vary_least():
    tree = grown([[2], [1], [3], [4], [5], [6]], [[1], [1], [8], [8], [8], [8]], regression=True, outputs=1)
    assert tree.thresholds[0] == 2
    assert tree.sums[1:, :2].tolist() == [[2, 2], [4, 32]]
    variance = growing.impurity(np.array([3.0, 6.0, 14.0]), True)  # of 1, 2 and 3
    np.testing.assert_allclose(variance, 2)
    np.testing.assert_allclose(growing.impurity(np.array([3.0, 1.0]), False), 4 * (1 - 10 / 16))


def params(**changes):
    return ForestHParams(
        **{"num_classes": 2, "num_features": 4, "num_trees": 8, "max_nodes": 200, "split_after_samples": 30,
           "base_random_seed": 3, **changes}
    )  # fmt: skip


def fed(features=POINTS, labels=RING, epochs=8):
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).repeat(epochs).batch(200)


@pytest.mark.parametrize("changes", [{}, {"bagging_fraction": 0.6}, {"feature_bagging_fraction": 0.75}])
def test_forest_tells_inside_from_outside(changes, tmp_path):
    forest = TensorForestEstimator(params(**changes), model_dir=str(tmp_path))
    forest.fit(input_fn=fed())
    spec = MetricSpec(eval_metrics.get_metric("auc"), eval_metrics.get_prediction_key("auc"))
    found = forest.evaluate(input_fn=fed(epochs=1), metrics={"auc of forest": spec})
    assert found["accuracy"] > 0.93
    assert found["auc of forest"] > 0.97
    again = TensorForestEstimator(params(**changes), model_dir=str(tmp_path))
    assert again.evaluate(input_fn=fed(epochs=1))["accuracy"] == found["accuracy"]
    said = list(again.predict(x=POINTS[:5]))
    assert [one["classes"] for one in said] == RING[:5].tolist()
    assert all(one["prediction_variance"].shape == (2,) for one in said)


def test_numbers(tmp_path):
    forest = CoreTensorForestEstimator(params(regression=True, num_trees=10), model_dir=str(tmp_path / "model"))
    forest.train(fed(labels=HEIGHTS))
    found = np.array([one["predictions"] for one in forest.predict(fed(labels=HEIGHTS, epochs=1))])
    assert np.mean((found - HEIGHTS) ** 2) < 0.1 * HEIGHTS.var()
    with tf.Graph().as_default():
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
            {"features": tf.placeholder(tf.float32, [None, 4], "features")}
        )
    folder = forest.export_saved_model(str(tmp_path / "export"), receiver).decode()
    served = predictor.from_saved_model(folder, "predict")({"features": POINTS})
    np.testing.assert_allclose(served["predictions"], found, rtol=1e-5)


def test_three_classes_and_named_features_with_weights(tmp_path):
    labels = np.digitize(POINTS[:, 1], [-0.3, 0.3])
    features = {"x": POINTS[:, :1], "y": POINTS[:, 1:2], "w": np.ones((1200, 1), np.float32)}
    chosen = params(num_classes=3, num_features=2)
    forest = CoreTensorForestEstimator(chosen, model_dir=str(tmp_path), weight_column="w")
    forest.train(fed(features, labels, 3))
    found = forest.evaluate(fed(features, labels, 1))
    assert found["accuracy"] > 0.97
    assert found["global_step"] == 18


def test_graphs():
    labels = (POINTS[:, 3] > 0).astype(np.int32)
    with tf.Graph().as_default(), tf.Session() as session:
        chosen = params(feature_bagging_fraction=0.5, num_trees=6, inference_tree_paths=True)
        forest = RandomForestGraphs(chosen.fill())
        sparse = tf.SparseTensor(np.argwhere(np.ones((1200, 4))), POINTS.ravel(), [1200, 4])
        train = forest.training_graph(sparse, labels)
        dense, paths, _ = forest.inference_graph(POINTS)
        of_sparse, _, _ = forest.inference_graph(sparse)
        session.run(tf.global_variables_initializer())
        assert session.run(dense[:2]).tolist() == [[0.5, 0.5]] * 2
        assert session.run([forest.average_size(), forest.average_impurity()]) == [1, 0]
        for _ in range(5):
            session.run(train)
        said, same, ways = session.run([dense, of_sparse, paths])
        np.testing.assert_array_equal(said, same)
        assert ways.shape == (1200, 6)
        splits = session.run(forest.variables[0].tree[0])
        nodes = [int(node) for node in ways[7, 0].split(b",")]
        assert nodes[0] == 0
        assert splits[nodes[-1], 0] == -1
        assert all(below in splits[node, 1:3] for node, below in itertools.pairwise(nodes))
        assert np.mean(said.argmax(1) == labels) > 0.9
        importances, size = session.run([forest.feature_importances(), forest.average_size()])
        used = np.zeros(4)
        for variables, features in zip(forest.variables, chosen.bagged_features, strict=True):
            split = session.run(variables.tree[0])[:, 0]
            np.add.at(used, np.array(features)[split[split >= 0]], 1)
        np.testing.assert_allclose(importances, used / used.sum(), rtol=1e-5)
        assert session.run(forest.training_loss(None, None)) == -size
        assert session.run(forest.average_impurity()) < 0.4


def test_settings():
    filled = params(num_features=1000, feature_bagging_fraction=0.1).fill()
    assert filled.num_splits_to_consider == 31
    assert [len(each) for each in filled.bagged_features] == [100] * 8
    assert filled.num_output_columns == 3
    with pytest.raises(AttributeError, match="num_features"):
        ForestHParams(num_classes=2).fill()
    with pytest.raises(NotImplementedError, match="split_pruning_name must be 'none' here, got 'half'"):
        params(split_pruning_name="half")
    with pytest.raises(ValueError, match=r"Labels must be in \[0, 2\), got 0 to 3"):
        grown([[1], [2]], [0, 3])
