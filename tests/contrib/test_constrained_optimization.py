"""Minimization with constraints: problems whose solutions are known."""

import itertools

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import constrained_optimization as co
from tapeflow.contrib.constrained_optimization import projections


class Problem(co.ConstrainedMinimizationProblem):
    """The point nearest to (2, 1) whose coordinates are together at most 1, and the first at most 0.9: (0.9, 0.1)."""

    def __init__(self, proxied):
        self.point = tf.get_variable("point", initializer=[0.0, 0.0])
        self._proxied = proxied

    @property
    def objective(self):
        return tf.reduce_sum((self.point - [2.0, 1.0]) ** 2)

    @property
    def constraints(self):
        return tf.stack([tf.reduce_sum(self.point) - 1, self.point[0] - 0.9])

    @property
    def proxy_constraints(self):
        return self.constraints * 2.0 if self._proxied else None


def solved(optimizer, steps, proxied=False, **args):
    with tf.Graph().as_default(), tf.Session() as session:
        problem = Problem(proxied)
        step = tf.train.get_or_create_global_step()
        train = optimizer.minimize(problem, global_step=step, **args)
        session.run(tf.global_variables_initializer())
        points = []
        for _ in range(steps):
            session.run(train)
            points.append(session.run(problem.point))
        assert session.run(step) == steps
    return np.mean(points[len(points) // 2 :], 0)


SGD = tf.train.GradientDescentOptimizer


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize(
    "optimizer",
    [
        co.AdditiveExternalRegretOptimizer(SGD(0.05)),
        co.AdditiveExternalRegretOptimizer(SGD(0.05), SGD(0.1), maximum_multiplier_radius=5.0),
        co.AdditiveSwapRegretOptimizer(SGD(0.05)),
        co.MultiplicativeSwapRegretOptimizer(SGD(0.05), SGD(0.3)),
    ],
)
def test_the_solution_is_found(optimizer, proxied):
    np.testing.assert_allclose(solved(optimizer, 1500, proxied), [0.9, 0.1], atol=0.08)


def test_first_steps_may_not_heed_constraints():
    optimizer = co.AdditiveExternalRegretOptimizer(SGD(0.2))
    np.testing.assert_allclose(solved(optimizer, 40, unconstrained_steps=100), [2, 1], atol=0.01)
    with pytest.raises(ValueError, match="global_step cannot be None"):
        optimizer.minimize(None, unconstrained_steps=1)


def test_projections():
    found = projections.onto_multipliers(tf.constant([0.6, 0.8, -1.0]), 1.0)
    np.testing.assert_allclose(found, [0.4, 0.6, 0], atol=1e-6)
    np.testing.assert_allclose(projections.onto_multipliers(tf.constant([0.2, -0.1]), 1.0), [0.2, 0])
    found = projections.onto_stochastic(tf.constant([[2.0, 0.1], [0.5, 0.3]])).numpy()
    np.testing.assert_allclose(found, [[1, 0.4], [0, 0.6]], atol=1e-6)
    logs = projections.onto_log_stochastic(tf.constant([[0.0, 1.0], [0.0, 1.0]]))
    np.testing.assert_allclose(np.exp(logs), np.full((2, 2), 0.5), rtol=1e-6)
    vector = projections.maximal_eigenvector(tf.constant([[2.0, 1.0], [1.0, 2.0]]))
    np.testing.assert_allclose(vector, np.sqrt([0.5, 0.5]), rtol=1e-5)


def test_candidates():
    objectives, constraints = np.array([3.0, 1.0, 2.0]), np.array([[-1.0, 1.0, 0.5], [-1.0, 0.4, 0.2]])
    pytest.importorskip("scipy")
    mix = co.find_best_candidate_distribution(objectives, constraints)
    np.testing.assert_allclose(mix, [0.5, 0.5, 0], atol=1e-6)
    # Where each mix violates some, the least violation is found: of 1 and 2 there are as much, 0.7 of both.
    mix = co.find_best_candidate_distribution(objectives[:2], np.array([[0.4, 1.0], [1.0, 0.4]]), 1e-6)
    np.testing.assert_allclose(mix, [0.5, 0.5], atol=1e-4)
    assert co.find_best_candidate_index(objectives, constraints) == 0
    assert co.find_best_candidate_index(objectives, np.zeros((2, 3))) == 1
    by_hand = [max(sum(row < row[i]) for row in (*np.maximum(constraints, 0), objectives)) for i in range(3)]
    assert co.find_best_candidate_index(objectives, constraints, True) == int(np.argmin(by_hand))
    for bad in itertools.product([np.ones(2)], [np.ones((2, 3)), np.ones(2)]):
        with pytest.raises(ValueError, match="objective_vector must have shape"):
            co.find_best_candidate_index(*bad)
