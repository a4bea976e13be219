"""Small packages of tf.contrib: bayesflow, batching, deprecated, signal, proto, linalg, framework.audio_ops."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

from .contrib_values import BOTH, value

contrib = tf.contrib


@pytest.mark.parametrize("name", dir(contrib))
def test_packages_have_what_they_list(name):
    package = getattr(contrib, name)
    assert [n for n in getattr(package, "__all__", ()) if not hasattr(package, n)] == []


@BOTH
def test_importance_sampling(how):
    mc = contrib.bayesflow.monte_carlo
    normal = tf.distributions.Normal
    got = value(how, lambda: mc.expectation_importance_sampler(
        lambda x: x - 0.5, normal(1.0, 1.0).log_prob, normal(0.5, 1.5), n=20000, seed=1))  # fmt: skip
    np.testing.assert_allclose(got, 0.5, atol=0.05)
    got = value(how, lambda: mc.expectation_importance_sampler_logspace(
        lambda x: 2 * tf.log(abs(x)), normal(1.0, 1.0).log_prob, normal(0.5, 1.5), n=20000, seed=1))  # fmt: skip
    np.testing.assert_allclose(got, np.log(2), atol=0.05)
    with pytest.raises(ValueError, match="exactly one"):
        mc.expectation_importance_sampler(abs, abs, normal(0.0, 1.0))


@pytest.mark.parametrize("reparametrized", [True, False])
def test_gradients_of_expectations(reparametrized):
    mc = contrib.bayesflow.monte_carlo
    mean = tf.constant(0.7)
    tf.set_random_seed(3)
    with tf.GradientTape() as tape:
        tape.watch(mean)
        law = tf.distributions.Normal(mean, 1.0)
        samples = law.sample(100000, seed=2)
        found = mc.expectation(tf.square, samples, law.log_prob, reparametrized)
    np.testing.assert_allclose(found.numpy(), 1.49, atol=0.03)
    np.testing.assert_allclose(tape.gradient(found, mean).numpy(), 1.4, atol=0.06)


def test_arguments_of_expectation():
    mc = contrib.bayesflow.monte_carlo
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    assert mc.expectation(tf.identity, x, axis=None, keep_dims=True).numpy().tolist() == [[2.75]]
    with pytest.raises(ValueError, match="`f`"):
        mc.expectation(3, x)
    with pytest.raises(ValueError, match="`log_prob`"):
        mc.expectation(tf.identity, x, use_reparametrization=False)


def summary(serialized):
    return tf.Summary.FromString(serialized)


def test_summaries_of_before():
    old = contrib.deprecated
    with tf.Graph().as_default(), tf.Session() as session:
        assert old.merge_all_summaries() is None
        scalars = old.scalar_summary(["a", "b"], [1.0, 2.0])
        histogram = old.histogram_summary("h", [1.0, 2.0], collections=["mine"])
        pictures = old.image_summary("i", tf.zeros((2, 4, 5, 1)), max_images=1, collections=[])
        sound = old.audio_summary("s", tf.zeros((1, 8)), 8000.0, collections=[])
        assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [scalars]
        assert tf.get_collection("mine") == [histogram]
        found = summary(session.run(scalars))
        assert [(v.tag, v.simple_value) for v in found.value] == [("a", 1.0), ("b", 2.0)]
        merged = summary(session.run(old.merge_summary([scalars, histogram, pictures, sound])))
        assert len(merged.value) == 5
        assert summary(session.run(old.merge_all_summaries())) == found


@BOTH
def test_batches_of_one(how):
    @contrib.batching.batch_function_v1(1, 10, 1000)
    def doubled(x):
        return x * 2

    np.testing.assert_array_equal(value(how, lambda: doubled(tf.constant([1, 2, 3]))), [2, 4, 6])
    with pytest.raises(ValueError, match="supposed to be Tensors"):
        doubled(3)


@BOTH
def test_audio_ops(how):
    audio = contrib.framework.audio_ops
    time = np.arange(8000) / 8000
    sound = np.sin(2 * np.pi * 1000 * time)[:, None].astype(np.float32)
    spectrum = value(how, audio.audio_spectrogram, sound, window_size=256, stride=128)
    assert spectrum.shape == (1, 61, 129)
    assert (spectrum.argmax(-1) == 1000 * 256 / 8000).all()
    coefficients = value(how, audio.mfcc, spectrum**2, 8000, dct_coefficient_count=12)
    assert coefficients.shape == (1, 61, 12)


def test_linear_operators_and_signals():
    assert contrib.linalg.LinearOperatorTriL is tf.linalg.LinearOperatorLowerTriangular
    assert contrib.signal.stft is tf.signal.stft
    assert contrib.proto.decode_proto is tf.io.decode_proto


def test_tensors_are_checked_to_have_a_shape():
    from tapeflow.contrib.framework import with_same_shape, with_shape

    with tf.Graph().as_default(), tf.Session() as session:
        known, free = tf.constant([1, 2]), tf.placeholder(tf.float32)
        assert with_shape([2], known) is known
        assert with_shape(tf.TensorShape([None]), known) is known
        for wrong, message in (([3], "Invalid shape"), ([[1]], "Invalid rank"), ([1.5], "Invalid dtype")):
            with pytest.raises(ValueError, match=message):
                with_shape(wrong, known)
        late = r"\[Wrong shape for Const.*:0 \[expected\] \[actual\].\] \[1\] \[2\]"
        with pytest.raises(tf.errors.InvalidArgumentError, match=late):
            session.run(with_shape(tf.constant([1]), known))
        checked = with_shape([2, 2], free)
        assert checked.shape.as_list() == [2, 2]
        assert session.run(checked, {free: np.ones((2, 2))}).sum() == 4
        for wrong in ([1.0, 2.0], [1.0]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
                session.run(checked, {free: wrong})
        assert session.run(with_same_shape(free, known), {free: np.ones(2)}).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["optimize_loss", "apply_regularization", "group_norm", "summarize_activation"])
def test_slim_has_what_layers_have(name):
    assert getattr(contrib.slim, name) is getattr(contrib.layers, name)


def test_slim_has_no_more_than_layers_have():
    assert not hasattr(contrib.slim, "optimise_loss")


def test_control_flow_of_python_in_graphs():
    @contrib.autograph.convert()
    def half_until_small(x):
        while x > 1.0:
            x = x / 2.0
        return x

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        found = half_until_small(x)
        assert [session.run(found, {x: value}) for value in (5.0, 0.5)] == [0.625, 0.5]
    assert half_until_small.__name__ == "half_until_small"


def test_bytes_for_floats():
    q = contrib.quantization
    values = q.quantize_v2(tf.constant([0.0, 0.5, 1.0]), 0.0, 1.0, tf.quint8)
    np.testing.assert_allclose(q.dequantize(*values), [0.0, 0.5, 1.0], atol=1 / 255)


def test_model_analysis(capsys):
    analyzer = contrib.tfprof.model_analyzer
    with tf.Graph().as_default() as graph:
        tf.get_variable("w", [3, 4])
        tf.matmul(tf.ones([2, 3]), tf.ones([3, 4]))
    found = analyzer.print_model_analysis(graph, tfprof_options=analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    assert found.total_parameters == 12
    assert "w (3x4, 12/12 params)" in capsys.readouterr().out
    found = analyzer.print_model_analysis(graph, tfprof_cmd="op", tfprof_options=analyzer.FLOAT_OPS_OPTIONS)
    assert found.children[0].name == "MatMul"
    analyzer.print_model_analysis(graph)
    assert "MatMul" in capsys.readouterr().out
