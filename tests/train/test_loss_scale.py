"""Loss scales of 1.x against a plain loop, eagerly, in graphs and under a strategy."""

import contextlib

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
LIMIT = float(np.finfo(np.float32).max)


def simulated(finite, scale, period, multiplier):
    """The scales after steps of which `finite` says whether their gradients are."""
    good = 0
    for each in finite:
        if not each:
            scale, good = max(scale / multiplier, 1.0), 0
        elif good + 1 < period:
            good += 1
        else:
            scale, good = scale * multiplier if scale * multiplier <= LIMIT else scale, 0
        yield scale


@pytest.mark.parametrize("mode", ["eager", "graph", "strategy"])
@pytest.mark.parametrize(
    ("start", "period", "multiplier"), [(1.0, 2, 2.0), (32.0, 1, 3.0), (LIMIT / 4, 2, 2.0), (2.0**15, 3, 2.0)]
)
def test_dynamic_scales(mode, start, period, multiplier, rng):
    finite = rng.random(20) < 0.7
    gradients = np.where(finite, 1.0, np.where(rng.random(20) < 0.5, np.nan, np.inf)).astype(np.float32)
    expected = list(simulated(finite, start, period, multiplier))
    if mode == "graph":
        with tf.Graph().as_default(), v1.Session() as session:
            scale = v1.mixed_precision.DynamicLossScale(start, period, multiplier)
            fed = v1.placeholder(tf.float32, [])
            update = scale.update([fed, None])
            session.run(v1.global_variables_initializer())
            applied, found = [], []
            for gradient in gradients:
                applied.append(session.run(update, {fed: gradient})[1])
                found.append(session.run(scale()))
    else:
        strategy = tf.distribute.MirroredStrategy(["CPU:0"]) if mode == "strategy" else None
        with strategy.scope() if strategy else contextlib.nullcontext():
            scale = v1.train.experimental.DynamicLossScale(start, period, multiplier)
            applied, found = [], []
            for gradient in gradients:
                applied.append(scale.update([tf.constant(gradient), None])[1].numpy())
                found.append(scale().numpy())
    assert applied == finite.tolist()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_sparse_gradients_count():
    scale = v1.mixed_precision.DynamicLossScale(8.0)
    slices = tf.IndexedSlices(tf.constant([[np.nan]]), tf.constant([0]), tf.constant([3, 1]))
    assert not scale.update({"a": [slices]})[1]
    assert scale().numpy() == 4.0


def test_fixed_scales():
    scale = v1.mixed_precision.FixedLossScale(1000)
    _, apply = scale.update([tf.constant(np.nan)])
    assert apply is True
    assert scale().numpy() == 1000.0
    assert repr(scale) == "FixedLossScale(1000.0)"
    for bad in (0.5, "8", None):
        with pytest.raises(ValueError, match="loss_scale_value must be"):
            v1.mixed_precision.FixedLossScale(bad)


def test_configs_and_checkpoints(tmp_path):
    scale = v1.mixed_precision.DynamicLossScale(1, 2, 3)
    for _ in range(3):
        scale.update([tf.constant(1.0)])
    words = "current_loss_scale=3.0, num_good_steps=1, initial_loss_scale=1.0, increment_period=2, multiplier=3.0"
    assert repr(scale) == f"DynamicLossScale({words})"
    path = tf.train.Checkpoint(scale=scale).save(str(tmp_path / "c"))
    other = type(scale).from_config(scale.get_config())
    tf.train.Checkpoint(scale=other).restore(path).assert_consumed()
    assert repr(other) == repr(scale)


@pytest.mark.parametrize("graph", [False, True])
def test_optimizer_leaves_bad_steps_out(graph):
    factors, expected, count = [1.0, np.inf, 2.0, np.nan, 1.0], 1.0, 0
    with contextlib.ExitStack() as stack:
        if graph:
            stack.enter_context(tf.Graph().as_default())
            session = stack.enter_context(v1.Session())
        variable = v1.get_variable("w", initializer=1.0)
        step = v1.get_variable("steps", initializer=np.int64(0), use_resource=True)
        scale = v1.mixed_precision.DynamicLossScale(8.0, 2)
        optimizer = v1.train.experimental.MixedPrecisionLossScaleOptimizer(
            v1.train.GradientDescentOptimizer(0.1), scale
        )
        if graph:
            factor = v1.placeholder(tf.float32, [])
            update = optimizer.minimize(factor * variable**2, global_step=step)
            session.run(v1.global_variables_initializer())
        for each in factors:
            if graph:
                session.run(update, {factor: each})
                found = session.run([variable, step])
            else:
                optimizer.minimize(lambda each=each: each * variable**2, global_step=step, var_list=[variable])
                found = [variable.numpy(), step.numpy()]
            if np.isfinite(each):
                expected, count = expected - 0.2 * each * expected, count + 1
            np.testing.assert_allclose(found, [expected, count], rtol=1e-6)


@pytest.mark.parametrize(("given", "message"), [(None, "cannot be None"), (0.5, "at least 1"), ("x", "interpret")])
def test_optimizer_refuses_scales(given, message):
    with pytest.raises(ValueError, match=message):
        v1.mixed_precision.MixedPrecisionLossScaleOptimizer(v1.train.GradientDescentOptimizer(0.1), given)
