"""k-means of tf.contrib.factorization: clusters that are known are found."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import predictor
from tapeflow.contrib.factorization import KMeans, KMeansClustering, clustering_ops

CENTERS = np.float32([[0, 0], [30, 0], [0, 30], [30, 30]])
LABELS = np.tile(np.arange(4), 50)
POINTS = (CENTERS[LABELS] + np.random.default_rng(0).normal(size=(200, 2))).astype(np.float32)
MEANS = np.stack([POINTS[np.equal(LABELS, i)].mean(0) for i in range(4)])


def in_order(centers):
    return centers[np.lexsort(np.round(centers).T)]


def every():
    return tf.constant(POINTS)


def some():
    return tf.data.Dataset.from_tensor_slices(POINTS).shuffle(200, seed=1).repeat().batch(40)


def one_of_four(inputs, missing):
    return inputs[0][4 - missing : 5 - missing]


@pytest.mark.parametrize("start", ["kmeans_plus_plus", POINTS[:4], one_of_four])
def test_all_data_at_once(start, tmp_path):
    model = KMeansClustering(4, str(tmp_path), start, use_mini_batch=False, relative_tolerance=1e-6)
    model.train(every)
    np.testing.assert_allclose(in_order(model.cluster_centers()), in_order(MEANS), atol=1e-4)
    spread = ((POINTS - MEANS[LABELS]) ** 2).sum()
    np.testing.assert_allclose(model.score(every), spread, rtol=1e-4)
    once = lambda: tf.train.limit_epochs(every(), 1)  # noqa: E731
    found = list(model.predict_cluster_index(once))
    assert len({(a, b) for a, b in zip(found, LABELS)}) == 4
    np.testing.assert_allclose(np.min(list(model.transform(once)), 1).sum(), spread, rtol=1e-2)


@pytest.mark.parametrize("steps", [1, 5])
@pytest.mark.parametrize("start", ["kmeans_plus_plus", "random"])
def test_batches(start, steps, tmp_path):
    model = KMeansClustering(4, str(tmp_path), start, random_seed=4, mini_batch_steps_per_iteration=steps)
    model.train(some, steps=40)
    before = model.score(every)
    assert model.cluster_centers().shape == (4, 2)
    model.train(some, steps=40)  # goes on where it was
    assert model.get_variable_value("global_step") == 80
    assert model.score(every) < 1.1 * before
    if start == "kmeans_plus_plus":
        np.testing.assert_allclose(in_order(model.cluster_centers()), in_order(MEANS), atol=1)


@pytest.mark.parametrize("batches", [False, True])
def test_cosine_distance_looks_at_directions(batches, tmp_path):
    angles = np.concatenate([np.full(20, 0.1), np.full(20, 1.4)]) + np.linspace(-0.05, 0.05, 40)
    lengths = np.linspace(1, 50, 40)[:, None]
    points = (np.stack([np.cos(angles), np.sin(angles)], 1) * lengths).astype(np.float32)
    model = KMeansClustering(
        2, str(tmp_path), "kmeans_plus_plus", KMeansClustering.COSINE_DISTANCE, use_mini_batch=batches
    )
    model.train(lambda: tf.constant(points), steps=20)
    found = list(model.predict_cluster_index(lambda: tf.train.limit_epochs(tf.constant(points), 1)))
    assert found[:20] == [found[0]] * 20
    assert found[20:] == [1 - found[0]] * 20


@pytest.mark.parametrize("chain", [10, 1000])
def test_chain_chooses_points_that_are_far(chain):
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = tf.placeholder(tf.float32, [None, 2])
        *_, initialized, start, _ = KMeans(inputs, 4, "kmc2", random_seed=1, kmc2_chain_length=chain).training_graph()
        session.run(tf.global_variables_initializer())
        rounds = 0
        while not session.run(initialized):
            session.run(start, {inputs: POINTS})
            rounds += 1
        centers = session.run(tf.global_variables("clusters")[0])
    assert rounds == (1 if chain == 10 else 4)
    assert len({tuple(np.round(c / 30)) for c in centers}) == 4


def test_features_by_name_and_export(tmp_path):
    columns = {"y": POINTS[:, 1:], "x": POINTS[:, :1]}
    model = KMeansClustering(4, str(tmp_path / "model"), POINTS[:4], use_mini_batch=False)
    model.train(lambda: {key: tf.constant(value) for key, value in columns.items()}, steps=3)
    np.testing.assert_allclose(in_order(model.cluster_centers()), in_order(MEANS), atol=1e-4)
    with tf.Graph().as_default():
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
            {key: tf.placeholder(tf.float32, [None, 1], key) for key in columns}
        )
    folder = model.export_saved_model(str(tmp_path / "export"), receiver).decode()
    (found,) = predictor.from_saved_model(folder)(columns).values()
    assert len(set(zip(found.tolist(), LABELS.tolist()))) == 4


def test_wrong_arguments():
    with pytest.raises(ValueError, match="Unsupported initialization algorithm 'best'"):
        KMeansClustering(2, initial_clusters="best")
    with pytest.raises(ValueError, match="Unsupported distance metric 'city'"):
        KMeans(POINTS, 2, distance_metric="city")


# What TensorFlow 2.21 draws of these points and distances, by seed.
DRAWN = {
    -1: ([11, 15, 4, 1, 21], 39),
    0: ([28, 3, 13, 0, 17], 35),
    1: ([28, 26, 3, 0, 17], 39),
    2: ([15, 24, 13, 8, 22], 39),
    3: ([25, 9, 3, 28, 13], 39),
    4: ([1, 25, 3, 23, 21], 39),
}


@pytest.mark.parametrize("seed", DRAWN)
def test_draws_are_those_of_tensorflow(seed):
    at = np.arange(30)
    points = np.stack([at * 7 % 31, at * 11 % 29], 1).astype(np.float32)
    want, index = DRAWN[seed]
    got = clustering_ops.kmeans_plus_plus_initialization(points, 5, seed, seed - 1)
    np.testing.assert_array_equal(got, points[want])
    distances = (np.arange(40) * 17 % 23).astype(np.float32)
    assert int(clustering_ops.kmc2_chain_initialization(distances, seed)) == index


def test_more_samples_than_distinct_points_end_with_the_last_point():
    # As TensorFlow 2.21: where no distance is left, its kernel takes the last point.
    points = tf.constant([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
    found = tf.raw_ops.KmeansPlusPlusInitialization(
        points=points, num_to_sample=5, seed=3, num_retries_per_sample=1
    ).numpy()
    assert sorted(found[:2].tolist()) == [[0, 0], [3, 4]]
    assert found[2:].tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("call", [
    lambda name: clustering_ops.nearest_neighbors(tf.ones([3, 2]), tf.ones([2, 2]), 1, name=name)[0],
    lambda name: clustering_ops.kmeans_plus_plus_initialization(tf.ones([3, 2]), 2, 0, 1, name=name),
    lambda name: clustering_ops.kmc2_chain_initialization(tf.ones([3]), 0, name=name),
])  # fmt: skip
def test_operations_have_the_name_that_is_asked_for(call):
    with tf.Graph().as_default():
        assert call("mine").op.name == "mine"
