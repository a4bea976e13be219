"""tf.contrib.kernel_methods: the hinge loss, random features, the classifier."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import kernel_methods, layers

from .contrib_values import BOTH, value

RNG = np.random.default_rng(3)


@BOTH
@pytest.mark.parametrize("weights", [1.0, np.float32([1, 0, 2, 0.5])], ids=["equal", "each"])
def test_hinge_loss(how, weights):
    logits, labels = RNG.normal(size=(4, 3)).astype(np.float32), np.array([0, 2, 1, 1])
    loss = kernel_methods.sparse_multiclass_hinge_loss
    got = value(how, lambda x, y: loss(tf.constant(y), tf.constant(x), weights), logits, labels)
    each = [max(0, max(1 + x[j] - x[y] for j in range(3) if j != y)) for x, y in zip(logits, labels, strict=True)]
    weighed = np.array(each) * weights
    np.testing.assert_allclose(got, weighed.sum() / np.count_nonzero(np.broadcast_to(weights, 4)), rtol=1e-5)


@pytest.mark.parametrize(
    ("labels", "logits", "message"),
    [
        (np.float32([0]), np.zeros((1, 2), np.float32), "Invalid dtype for labels"),
        (np.array([0]), np.zeros(2, np.float32), "logits should have rank 2"),
        (np.array([[[0]]]), np.zeros((1, 2), np.float32), "labels should have rank 1"),
    ],
)
def test_hinge_losses_of_other_values_are_refused(labels, logits, message):
    with pytest.raises(ValueError, match=message):
        kernel_methods.sparse_multiclass_hinge_loss(tf.constant(labels), tf.constant(logits))


def test_features_approximate_the_kernel():
    mapper = kernel_methods.RandomFourierFeatureMapper(3, 20000, stddev=2.0, seed=5)
    x, y = RNG.normal(size=(2, 1, 3)).astype(np.float32)
    features = [np.asarray(mapper.map(tf.constant(each)))[0] for each in (x, y)]
    want = np.exp(-np.sum((x - y) ** 2) / (2 * 2.0**2))
    assert abs(features[0] @ features[1] - want) < 0.03
    with pytest.raises(Exception, match="expected 3 input features, got 2"):
        mapper.map(tf.zeros([1, 2]))


def test_a_classifier_learns_what_is_not_linear():
    x = RNG.uniform(-1, 1, (200, 2)).astype(np.float32)
    labels = (np.hypot(*x.T) > 0.7).astype(np.int64)
    column = layers.real_valued_column("x", 2)
    mapper = kernel_methods.RandomFourierFeatureMapper(2, 50, stddev=0.5)
    optimizer = tf.train.FtrlOptimizer(1.0)
    found = []
    for maps in (None, {column: [mapper]}):
        model = kernel_methods.KernelLinearClassifier([column], optimizer=optimizer, kernel_mappers=maps)
        input_fn = lambda: ({"x": tf.constant(x)}, tf.constant(labels[:, None]))  # noqa: E731
        model.fit(input_fn=input_fn, steps=40)
        found.append(model.evaluate(input_fn=input_fn, steps=1)["accuracy"])
    assert found[0] < 0.8
    assert found[1] > 0.9


def test_classifiers_need_columns_or_maps():
    with pytest.raises(ValueError, match="at least one of"):
        kernel_methods.KernelLinearClassifier()
    with pytest.raises(ValueError, match="Invalid kernel mappers"):
        kernel_methods.KernelLinearClassifier(kernel_mappers={layers.real_valued_column("x"): [3]})
