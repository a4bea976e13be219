"""Boosted trees: splits computed by hand, and what they learn."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import predictor
from tapeflow.contrib.boosted_trees.estimator_batch import estimator as contrib
from tapeflow.contrib.boosted_trees.proto.learner_pb2 import LearnerConfig
from tapeflow.contrib.estimator import multi_class_head, regression_head
from tapeflow.estimator.boosted_trees import growing, quantiles

fc = tf.feature_column
RNG = np.random.default_rng(2)
POINTS = RNG.uniform(-1, 1, (600, 3)).astype(np.float32)
SAME_SIGN = (POINTS[:, 0] * POINTS[:, 1] > 0).astype(np.int32)
PRODUCT = POINTS[:, 0] * POINTS[:, 1] + 3
NAMED = dict(zip("abc", POINTS.T, strict=True))
EDGES = np.linspace(-0.9, 0.9, 19).tolist()
COLUMNS = {
    "buckets": [fc.bucketized_column(fc.numeric_column(key), EDGES) for key in "abc"],
    "numbers": [fc.numeric_column(key) for key in "abc"],
}


def settings(**changes):
    usual = growing.Settings(2, 4, 1, 3, 2, 1.0, 0.0, 0.0, 0.0, 0.0, "none", 1, None, False)
    return usual._replace(**changes)


def fed(labels, features=NAMED, epochs=None):
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).repeat(epochs).batch(300)


# Sums of gradients and Hessians in four buckets of two features, of one leaf.
SUMS = np.array([[[[0.4, 0.2], [-0.6, 0.3], [0.9, 0.5], [-0.2, 0.1]], [[0.5, 0.4], [0, 0.1], [-0.3, 0.3], [0.3, 0.3]]]])


@pytest.mark.parametrize(
    ("changes", "gain", "left", "right"),
    [
        # (-0.2)^2 / 0.5 + 0.7^2 / 0.6 - 0.5^2 / 1.1, and the values 0.2 / 0.5 and -0.7 / 0.6.
        ({}, 0.66939, 0.4, -1.16667),
        # The gradients less 0.1, the Hessians more 0.5: 0.1^2 / 1 + 0.6^2 / 1.1 - 0.4^2 / 1.6.
        ({"l1": 0.1, "l2": 0.5}, 0.23727, 0.1, -0.54545),
        ({"complexity": 0.5}, 0.16939, 0.4, -1.16667),
    ],
)
def test_best_split(changes, gain, left, right):
    found = growing.best_splits(SUMS[..., None], settings(**changes))
    assert (found.feature.tolist(), found.bucket.tolist()) == ([0], [1])
    np.testing.assert_allclose([found.gain[0], found.left[0, 0], found.right[0, 0]], [gain, left, right], rtol=1e-4)


IDS = np.int32([[0, 1], [1, 1], [2, 1], [3, 1]])


def by_errors(numbers, chosen, steps, parts=1):
    """Trees that fit numbers by squared errors, where each step sees the examples in some parts."""
    ensemble = growing.new_ensemble(chosen)
    for _ in range(steps):
        leaves = [growing.leaf_of(ensemble, IDS, root) for root in ensemble.roots]
        said = ensemble.bias + sum((ensemble.values[at] for at in leaves), np.zeros((4, 1)))
        for rows in np.array_split(np.arange(4), parts):
            gradients = np.float32(said - numbers)[rows]
            ensemble = growing.stepped(ensemble, IDS[rows], gradients, np.ones_like(gradients), chosen)
    return ensemble


NUMBERS = np.array([[1.0], [1.0], [6.0], [8.0]])


@pytest.mark.parametrize("parts", [1, 2])
def test_layers_of_a_tree(parts):
    tree = by_errors(NUMBERS, settings(batches=parts, trees=1), 2, parts)
    # First the mean of two and two, then what each half still lacks.
    assert tree.nodes[0].tolist() == [0, 1, 1, 2]
    assert tree.nodes[2].tolist() == [0, 2, 5, 6]
    assert tree.values[[1, 2, 5, 6], 0].tolist() == [1, 7, 6, 8]
    gains = np.array([2**2 / 2 + 14**2 / 2 - 16**2 / 4, 1 + 1]) / parts  # of the mean of the batches
    np.testing.assert_allclose(tree.gains[[0, 2]], gains, rtol=1e-5)
    assert tree.counts[growing.TREES] == 1


@pytest.mark.parametrize("changes", [{"l2": 1.0}, {"l1": 0.2}, {"complexity": 1.0}, {"centers": True}])
def test_batches_count_by_their_mean(changes):
    grown = []
    for batches in (1, 4):
        chosen = settings(batches=batches, **changes)
        ensemble = growing.new_ensemble(chosen)
        for _ in range(batches * (2 if chosen.centers else 1)):  # a layer, behind the bias
            ensemble = growing.stepped(ensemble, IDS, np.float32(-NUMBERS), np.ones((4, 1), np.float32), chosen)
        grown.append(ensemble)
    np.testing.assert_array_equal(grown[0].nodes, grown[1].nodes)
    np.testing.assert_allclose(grown[0].values, grown[1].values, rtol=1e-6)
    np.testing.assert_allclose(grown[0].bias, grown[1].bias, rtol=1e-6)


def test_smaller_steps_and_a_bias():
    tree = by_errors(NUMBERS, settings(rate=0.5, centers=True, depth=1), 3)
    np.testing.assert_allclose(tree.bias, 4)  # found in one step, known to be found after the second
    np.testing.assert_allclose(tree.values[1:3, 0], [-1.5, 1.5])


def test_a_bias_that_differs_from_batch_to_batch_is_found_at_last():
    chosen = settings(centers=True)
    tree, steps = growing.new_ensemble(chosen), 0
    while not len(tree.nodes):
        gradients = np.float32(tree.bias - [[-1.0], [1.0]][steps % 2]) + np.zeros((4, 1), np.float32)
        tree = growing.stepped(tree, IDS, gradients, np.ones_like(gradients), chosen)
        steps += 1
        assert steps < 10


def test_pruning():
    # Parting the first two gains nothing.
    grown = {how: by_errors(NUMBERS, settings(pruning=how, trees=1), 2) for how in ("none", "pre", "post")}
    inner = {how: np.count_nonzero(each.nodes[:, 0] >= 0) for how, each in grown.items()}
    assert inner == {"none": 3, "pre": 2, "post": 2}
    pruned = by_errors(NUMBERS, settings(pruning="post", trees=1, complexity=100.0), 2)
    assert np.count_nonzero(pruned.nodes[:, 0] >= 0) == 0
    assert pruned.nodes[pruned.roots[0], 0] == growing.NO_FEATURE


def test_leaves_with_little_weight_stay():
    tree = by_errors(NUMBERS, settings(least_weight=3.0, trees=1), 2)
    assert np.count_nonzero(tree.nodes[:, 0] >= 0) == 1


def test_whole_trees_see_no_layers():
    """The second layer is computed of the gradients that the first was computed of."""
    chosen = settings(by_layer=False, trees=1)
    tree = growing.new_ensemble(chosen)
    for _ in range(2):
        gradients = np.float32(-NUMBERS)
        tree = growing.stepped(tree, IDS, gradients, np.ones_like(gradients), chosen)
    assert tree.values[[5, 6], 0].tolist() == [6, 8]


def test_quantiles():
    values = RNG.permutation(np.arange(1000, dtype=np.float32))
    summary = quantiles.new_summary(2)
    for part in np.split(np.stack([values, values // 250], 1), 10):
        summary = quantiles.added(summary, part, 200)
    assert summary.values.shape == (2, 200)
    np.testing.assert_allclose(summary.weights.sum(1), 1000, rtol=1e-4)
    found = quantiles.boundaries(summary, 5)
    np.testing.assert_allclose(found[0], [200, 400, 600, 800], atol=10)
    assert found[1].tolist() == [0, 1, 2, np.inf]


@pytest.mark.parametrize("kind", COLUMNS)
def test_classes(kind, tmp_path):
    model = tf.estimator.BoostedTreesClassifier(
        COLUMNS[kind], 2, str(tmp_path / "model"), n_trees=10, max_depth=3, learning_rate=0.4
    )
    model.train(fed(SAME_SIGN))
    found = model.evaluate(fed(SAME_SIGN, epochs=1))
    assert found["global_step"] == 10 * 3 * 2 + (2 if kind == "numbers" else 0)  # and a round for the buckets
    assert found["accuracy"] > 0.98
    importances = model.experimental_feature_importances(normalize=True)
    assert {name[0] for name in list(importances)[:2]} == {"a", "b"}
    np.testing.assert_allclose(sum(importances.values()), 1)
    again = tf.estimator.BoostedTreesClassifier(COLUMNS[kind], 2, str(tmp_path / "model"), n_trees=10, max_depth=3)
    assert again.experimental_feature_importances(normalize=True) == importances  # from the checkpoint
    said = [one["class_ids"][0] for one in again.predict(fed(SAME_SIGN, epochs=1))]
    assert np.mean(said == SAME_SIGN) == pytest.approx(found["accuracy"])
    with tf.Graph().as_default():
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
            {key: tf.placeholder(tf.float32, [None], key) for key in "abc"}
        )
    folder = model.export_saved_model(str(tmp_path / "export"), receiver).decode()
    served = predictor.from_saved_model(folder, "predict")(NAMED)
    assert served["class_ids"][:, 0].tolist() == said


def test_importances_need_a_checkpoint(tmp_path):
    model = tf.estimator.BoostedTreesClassifier(COLUMNS["buckets"], 1, str(tmp_path))
    with pytest.raises(ValueError, match="Estimator has not been trained yet"):
        model.experimental_feature_importances()


def test_numbers(tmp_path):
    model = tf.estimator.BoostedTreesRegressor(
        COLUMNS["buckets"], 2, str(tmp_path), n_trees=20, max_depth=4, learning_rate=0.3, center_bias=True
    )
    model.train(fed(PRODUCT))
    assert model.evaluate(fed(PRODUCT, epochs=1))["average_loss"] < 0.05 * PRODUCT.var()


def test_categories(tmp_path):
    words = np.array(["x", "y", "z"])[RNG.integers(3, size=300)]
    column = fc.indicator_column(fc.categorical_column_with_vocabulary_list("word", ["x", "y", "z"]))
    labels = np.where(words == "y", "yes", "no")
    model = tf.estimator.BoostedTreesClassifier(
        [column], 1, str(tmp_path), n_trees=2, max_depth=2, label_vocabulary=["no", "yes"]
    )
    model.train(fed(labels, {"word": words}))
    assert model.evaluate(fed(labels, {"word": words}, 1))["accuracy"] == 1
    assert next(iter(model.experimental_feature_importances())) == "word_indicator:y"


def test_head(tmp_path):
    model = tf.estimator.BoostedTreesEstimator(
        COLUMNS["buckets"], 2, regression_head(), str(tmp_path), n_trees=15, max_depth=4, learning_rate=0.3
    )
    model.train(fed(PRODUCT))
    assert model.evaluate(fed(PRODUCT, epochs=1))["average_loss"] < 0.2 * PRODUCT.var()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n_trees": 0}, ValueError, "n_trees must be > 0. Got: 0"),
        ({"pruning_mode": "some"}, ValueError, "pruning_mode must be one of"),
        ({"tree_complexity": 1.0}, ValueError, "pruning_mode must be set"),
    ],
)
def test_wrong_arguments(changes, error, message):
    with pytest.raises(error, match=message):
        tf.estimator.BoostedTreesClassifier(COLUMNS["buckets"], 1, **changes)


def config(**changes):
    made = LearnerConfig(growing_mode=LearnerConfig.LAYER_BY_LAYER, **changes)
    made.learning_rate_tuner.fixed.learning_rate = 0.4
    made.constraints.max_tree_depth = 3
    return made


@pytest.mark.parametrize("mode", [LearnerConfig.WHOLE_TREE, LearnerConfig.LAYER_BY_LAYER])
def test_classes_of_contrib(mode, tmp_path):
    chosen = config(pruning_mode=LearnerConfig.PRE_PRUNE)
    chosen.growing_mode = mode
    model = contrib.GradientBoostedDecisionTreeClassifier(
        chosen, 600, num_trees=12, model_dir=str(tmp_path), center_bias=False, output_leaf_index=True
    )
    model.fit(input_fn=fed(SAME_SIGN, {"all": POINTS}))
    assert model.evaluate(input_fn=fed(SAME_SIGN, {"all": POINTS}, 1))["accuracy"] > 0.95
    first = next(iter(model.predict(x={"all": POINTS})))
    assert first["classes"] == SAME_SIGN[0]
    assert first["leaf_index"].shape == (12,)


@pytest.mark.parametrize("strategy", [LearnerConfig.DIAGONAL_HESSIAN, LearnerConfig.TREE_PER_CLASS])
def test_several_classes(strategy, tmp_path):
    labels = np.digitize(POINTS[:, 0] + POINTS[:, 2], [-0.4, 0.4])
    model = contrib.GradientBoostedDecisionTreeClassifier(
        config(multi_class_strategy=strategy), 300, 3, 12, model_dir=str(tmp_path), center_bias=False
    )
    model.fit(input_fn=fed(labels, {"all": POINTS}))
    assert model.evaluate(input_fn=fed(labels, {"all": POINTS}, 1))["accuracy"] > 0.9


def test_numbers_of_contrib(tmp_path):
    columns = [tf.feature_column.numeric_column("a"), tf.feature_column.numeric_column("b")]
    model = contrib.GradientBoostedDecisionTreeRegressor(
        config(), lambda depth: 300 * (depth + 1), num_trees=15, feature_columns=columns, model_dir=str(tmp_path),
        override_global_step_value=1000,
    )  # fmt: skip
    model.fit(input_fn=fed(PRODUCT))
    found = model.evaluate(input_fn=fed(PRODUCT, epochs=1))
    assert found["loss"] < 0.1 * PRODUCT.var()
    assert found["global_step"] == 1000


def test_core_estimator_of_contrib(tmp_path):
    labels = np.digitize(POINTS[:, 1], [-0.4, 0.4])
    model = contrib.CoreGradientBoostedDecisionTreeEstimator(
        config(), 300, multi_class_head(3), 5, model_dir=str(tmp_path), center_bias=False
    )
    model.train(fed(labels, {"all": POINTS}))
    assert model.evaluate(fed(labels, {"all": POINTS}, 1))["accuracy"] > 0.95


def test_configs_that_are_not_supported():
    with pytest.raises(NotImplementedError, match="feature_fraction_per_tree"):
        contrib.GradientBoostedDecisionTreeClassifier(config(feature_fraction_per_tree=0.5), 10)
    with pytest.raises(NotImplementedError, match="Full Hessians"):
        contrib.GradientBoostedDecisionTreeClassifier(config(multi_class_strategy=LearnerConfig.FULL_HESSIAN), 10, 3)
    with pytest.raises(ValueError, match=r"n_classes \(2\) doesn't match learner_config \(5\)"):
        contrib.GradientBoostedDecisionTreeClassifier(config(num_classes=5), 10)
