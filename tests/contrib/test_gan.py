"""`tf.contrib.gan`: models, losses, training, parts and measures, against NumPy and by what trainings reach."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

tfgan = tf.contrib.gan
layers = tf.contrib.layers


def run(*fetches, graph=None):
    with tf.Session(graph=graph) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(fetches if len(fetches) > 1 else fetches[0])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        yield graph


def generator(noise):
    return layers.fully_connected(layers.fully_connected(noise, 16), 2, activation_fn=None)


def discriminator(data, _):
    return layers.fully_connected(layers.fully_connected(data, 16), 1, activation_fn=None)


def small_model():
    real = tf.random_normal([32, 2]) * 0.3 + [2.0, -1.0]
    return tfgan.gan_model(generator, discriminator, real, tf.random_normal([32, 4]))


def sigmoid_entropy(x, z):
    return np.mean(np.maximum(x, 0) - x * z + np.log1p(np.exp(-np.abs(x))))


REAL = np.array([[0.5], [-2.0], [1.0]], np.float32)
FAKE = np.array([[-1.0], [0.25], [3.0]], np.float32)
EXPECTED = {
    "wasserstein_generator_loss": -FAKE.mean(),
    "wasserstein_discriminator_loss": FAKE.mean() - REAL.mean(),
    "least_squares_generator_loss": ((FAKE - 1) ** 2).mean() / 2,
    "least_squares_discriminator_loss": ((REAL - 1) ** 2).mean() / 2 + (FAKE**2).mean() / 2,
    "modified_generator_loss": sigmoid_entropy(FAKE, 1),
    "minimax_discriminator_loss": sigmoid_entropy(REAL, 0.875) + sigmoid_entropy(FAKE, 0),
    "modified_discriminator_loss": sigmoid_entropy(REAL, 0.875) + sigmoid_entropy(FAKE, 0),
    "minimax_generator_loss": -sigmoid_entropy(np.ones(3), 1) - sigmoid_entropy(FAKE, 0),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_losses(name):
    fake, real = tf.constant(FAKE), tf.constant(REAL)
    args = (fake,) if "generator" in name else (real, fake)
    loss = getattr(tfgan.losses.wargs, name)(*args, add_summaries=True)
    assert len(tf.get_collection("losses")) == 1
    assert tf.get_collection("summaries")
    model = tfgan.GANModel(*[None] * 6, real, fake, None, None, None)
    of_model = getattr(tfgan.losses, name)(model)
    assert run(loss, of_model) == pytest.approx([EXPECTED[name]] * 2, rel=1e-5)
    with pytest.raises(ValueError, match="both the tuple and keyword"):
        getattr(tfgan.losses, name)(model, discriminator_gen_outputs=fake)


def test_gradient_penalty_of_a_linear_discriminator():
    real, fake = tf.zeros([5, 2]), tf.ones([5, 2])
    loss = tfgan.losses.wargs.wasserstein_gradient_penalty(
        real, fake, None, lambda x, _: tf.reduce_sum(x * [3.0, 4.0], 1), tf.VariableScope(None, "d")
    )
    assert run(loss) == pytest.approx(16.0)


def test_combined_loss_follows_the_ratio_of_gradients():
    w = tf.Variable([3.0, 4.0])
    loss = tfgan.losses.wargs.combine_adversarial_loss(
        tf.reduce_sum(w), tf.reduce_sum(10 * w), gradient_ratio=0.5
    )
    assert run(loss) == pytest.approx(7 + 70 * 0.1 / 0.5, rel=1e-4)
    with pytest.raises(ValueError, match="cannot both be"):
        tfgan.losses.wargs.combine_adversarial_loss(w[0], w[1])


def test_model_loss_and_training(tmp_path):
    model = small_model()
    assert len(model.generator_variables) == len(model.discriminator_variables) == 4
    loss = tfgan.gan_loss(
        model, tfgan.losses.modified_generator_loss, tfgan.losses.modified_discriminator_loss
    )
    ops = tfgan.gan_train_ops(
        model, loss, tf.train.AdamOptimizer(0.01, 0.5), tf.train.AdamOptimizer(0.01, 0.5)
    )
    step = tfgan.gan_train(ops, str(tmp_path), hooks=[tf.train.StopAtStepHook(300)])
    assert step == 300
    with tf.Session() as session:
        tf.train.Saver().restore(session, tf.train.latest_checkpoint(str(tmp_path)))
        made = np.concatenate([session.run(model.generated_data) for _ in range(20)])
    assert np.abs(made.mean(0) - [2.0, -1.0]).max() < 0.7


@pytest.mark.parametrize("hooks", ["sequential", "joint"])
def test_hooks_make_the_steps_of_both_parts(hooks):
    ran = []
    counters = [
        tf.py_func(lambda name=name: ran.append(name) or 0.0, [], tf.double) for name in "gd"
    ]
    ops = tfgan.GANTrainOps(*counters, tf.train.get_or_create_global_step().assign_add(1))
    get = getattr(tfgan, f"get_{hooks}_train_hooks")(tfgan.GANTrainSteps(2, 3))
    with tf.train.MonitoredSession(hooks=get(ops)) as session:
        session.run(ops.global_step_inc_op)
    assert sorted(ran) == list("dddgg")


def test_sequential_steps_under_slim(tmp_path):
    model = small_model()
    ops = tfgan.gan_train_ops(
        model, tfgan.gan_loss(model), *[tf.train.GradientDescentOptimizer(0.01)] * 2
    )
    step = tfgan.get_sequential_train_steps(tfgan.GANTrainSteps(1, 2))
    tf.contrib.slim.learning.train(ops, str(tmp_path), train_step_fn=step, number_of_steps=4)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-4")


def test_update_ops_that_nobody_owns():
    model = small_model()
    tf.add_to_collection("update_ops", tf.no_op(name="stray"))
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="unused update ops"):
        tfgan.gan_train_ops(model, tfgan.gan_loss(model), optimizer, optimizer)
    tfgan.gan_train_ops(model, tfgan.gan_loss(model), optimizer, optimizer, check_for_unused_update_ops=False)


def test_infogan():
    def predict(data, _):
        mean = layers.fully_connected(data, 1, activation_fn=None)
        return discriminator(data, _), [tf.distributions.Normal(mean, 1.0)]

    model = tfgan.infogan_model(
        lambda inputs: generator(tf.concat(inputs, 1)), predict, tf.zeros([8, 2]), [tf.random_normal([8, 3])],
        [tf.random_normal([8, 1])],
    )  # fmt: skip
    loss = tfgan.gan_loss(model, mutual_information_penalty_weight=1.0, gradient_penalty_weight=1.0)
    assert np.isfinite(run(*loss)).all()
    with pytest.raises(ValueError, match="must be an `ACGANModel`"):
        tfgan.gan_loss(model, aux_cond_generator_weight=1.0)


def test_acgan():
    def both(data, _):
        return discriminator(data, _), layers.fully_connected(data, 3, activation_fn=None)

    labels = tf.one_hot([0, 1, 2, 1], 3)
    model = tfgan.acgan_model(generator, both, tf.ones([4, 2]), tf.random_normal([4, 3]), labels)
    loss = tfgan.gan_loss(model, aux_cond_generator_weight=1.0, aux_cond_discriminator_weight=2.0)
    assert np.isfinite(run(*loss)).all()
    with pytest.raises(TypeError, match="must output a tuple"):
        tfgan.acgan_model(
            generator, lambda x, _: tf.unstack(x)[:3], tf.ones([4, 2]), tf.ones([4, 2]), labels, "G2"
        )


def test_cyclegan_comes_back():
    def shift(x):
        return x + tf.get_variable("shift", [2])

    x = tf.random_normal([16, 2])
    model = tfgan.cyclegan_model(shift, discriminator, x, tf.random_normal([16, 2]) + 3.0)
    loss = tfgan.cyclegan_loss(model)
    optimizers = tf.train.AdamOptimizer(0.05), tf.train.AdamOptimizer(0.01)
    ops = tfgan.gan_train_ops(model, loss, *optimizers)
    error = tf.reduce_mean(tf.abs(model.reconstructed_x - x))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(error)
        for _ in range(100):
            session.run([ops.generator_train_op, ops.discriminator_train_op])
        assert session.run(error) < before / 2


def test_stargan_loss():
    def translate(x, labels):
        return layers.fully_connected(tf.concat([x, labels], 1), 2, activation_fn=None)

    def judge(x, domains):
        return discriminator(x, None), layers.fully_connected(x, domains, activation_fn=None)

    labels = tf.one_hot([0, 1, 2, 0], 3)
    model = tfgan.stargan_model(translate, judge, tf.random_normal([4, 2]), labels)
    assert np.isfinite(run(*tfgan.stargan_loss(model))).all()


def test_tensor_pool_gives_back_what_was_put_in():
    counter = tf.Variable(0.0)
    value = counter.assign_add(1.0)
    pooled = tfgan.features.tensor_pool({"x": value}, pool_size=4, pooling_probability=0.8)["x"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(pooled) for _ in range(40)]
    assert found[:4] == [1.0, 2.0, 3.0, 4.0]
    assert any(y < i + 1 for i, y in enumerate(found))
    assert all(y <= i + 1 for i, y in enumerate(found))


def test_spectral_norm_is_the_largest_singular_value():
    w = np.random.RandomState(0).randn(3, 4, 5).astype(np.float32)
    norm = tfgan.features.compute_spectral_norm(tf.constant(w), power_iteration_rounds=60)
    with tf.variable_scope("s", custom_getter=tfgan.features.spectral_normalization_custom_getter(
        power_iteration_rounds=60
    )):  # fmt: skip
        kernel = tf.get_variable("kernel", initializer=tf.constant(w))
        bias = tf.get_variable("bias", [3])
    assert isinstance(bias, tf.Variable)
    values = run(norm, kernel)
    largest = np.linalg.svd(w.reshape(-1, 5))[1][0]
    assert values[0] == pytest.approx(largest, rel=1e-3)
    np.testing.assert_allclose(values[1], w / largest, rtol=1e-3)


def test_virtual_batchnorm():
    reference = np.random.RandomState(1).randn(6, 3, 2).astype(np.float32)
    x = np.random.RandomState(2).randn(4, 3, 2).astype(np.float32)
    vbn = tfgan.features.VBN(tf.constant(reference))
    found = run(vbn(tf.constant(x)), vbn.reference_batch_normalization())
    for i in range(4):
        both = np.concatenate([reference, x[i : i + 1]])
        mean, var = both.mean((0, 1)), both.var((0, 1))
        np.testing.assert_allclose(found[0][i], (x[i] - mean) / np.sqrt(var + 1e-3), rtol=1e-4, atol=1e-5)
    plain = (reference - reference.mean((0, 1))) / np.sqrt(reference.var((0, 1)) + 1e-3)
    np.testing.assert_allclose(found[1], plain, rtol=1e-4, atol=1e-5)


def test_conditioning_keeps_the_shape():
    x = tf.ones([4, 3, 2])
    made = tfgan.features.condition_tensor_from_onehot(x, tf.one_hot([0, 1, 0, 2], 3), 5)
    value = run(made)
    assert value.shape == (4, 3, 2)
    np.testing.assert_allclose(value[0], value[2])
    assert np.abs(value[0] - value[1]).max() > 0


def test_clipped_weights():
    model = small_model()
    optimizer = tfgan.features.clip_discriminator_weights(
        tf.train.GradientDescentOptimizer(1.0), model, 0.01
    )
    step = optimizer.minimize(tfgan.gan_loss(model).discriminator_loss, var_list=model.discriminator_variables)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        for value in session.run(model.discriminator_variables):
            assert np.abs(value).max() <= 0.0100001


def test_frechet_and_kernel_distances():
    random = np.random.RandomState(0)
    a, b = random.randn(50, 4).astype(np.float32), (random.randn(60, 4) * 2 + 1).astype(np.float32)
    one, other = np.cov(a.T), np.cov(b.T)
    values = np.linalg.eigvals(one @ other)
    expected = ((a.mean(0) - b.mean(0)) ** 2).sum() + np.trace(one + other) - 2 * np.sqrt(values).sum()
    measures = tfgan.eval
    x, y = tf.constant(a), tf.constant(b)
    fid = run(measures.frechet_classifier_distance_from_activations(x, y))
    assert fid == pytest.approx(expected, rel=1e-4)

    def kernel(p, q):
        return (p @ q.T / 4 + 1) ** 3

    def within(p):
        k = kernel(p, p)
        return (k.sum() - np.trace(k)) / (len(p) * (len(p) - 1))

    expected = within(a) + within(b) - 2 * kernel(a, b).mean()
    found, error = run(*measures.kernel_classifier_distance_and_std_from_activations(x, y))
    assert found == pytest.approx(expected, rel=1e-3)
    assert np.isnan(error)
    blocks = run(*measures.kernel_classifier_distance_and_std_from_activations(x, y, max_block_size=20))
    parts = [
        within(p) + within(q) - 2 * kernel(p, q).mean()
        for p, q in zip((a[:16], a[16:33], a[33:]), (b[:20], b[20:40], b[40:]), strict=True)
    ]
    assert blocks == pytest.approx([np.mean(parts), np.std(parts, ddof=1) / np.sqrt(3)], rel=1e-3)


def test_classifier_score_of_images():
    images = np.random.RandomState(0).rand(8, 5).astype(np.float32) * 3
    p = np.exp(images) / np.exp(images).sum(1, keepdims=True)
    expected = np.exp((p * (np.log(p) - np.log(p.mean(0)))).sum(1).mean())
    score = tfgan.eval.classifier_score(tf.constant(images), lambda x: x, num_batches=2)
    assert run(score) == pytest.approx(expected, rel=1e-5)


def test_image_grids():
    images = np.arange(4 * 2 * 3 * 1, dtype=np.float32).reshape(4, 2, 3, 1)
    grid = tfgan.eval.image_grid(tf.constant(images), (2, 2), (2, 3), 1)
    other = tfgan.eval.image_reshaper(tf.constant(images[:3]))
    found = run(grid, other)
    expected = np.concatenate([np.concatenate(images[:2], 1), np.concatenate(images[2:], 1)], 0)
    np.testing.assert_array_equal(found[0][0], expected)
    expected[2:, 3:] = 0
    np.testing.assert_array_equal(found[1][0], expected)
    with pytest.raises(ValueError, match="incompatible with minibatch size"):
        tfgan.eval.image_grid(tf.constant(images), (3, 2), (2, 3), 1)


def test_sliced_wasserstein_tells_noise_from_images():
    random = np.random.RandomState(0)
    smooth = np.cumsum(random.randn(6, 32, 32, 3), 1).astype(np.float32)
    noise = random.randn(6, 32, 32, 3).astype(np.float32)
    scores = tfgan.eval.sliced_wasserstein_distance(tf.constant(smooth), tf.constant(noise))
    assert len(scores) == 2
    for same, different in run(*scores):
        assert same < different


@pytest.mark.parametrize("kinds", [None, "VARIABLES"])
def test_estimator(tmp_path, kinds):
    def inputs():
        return tf.random_normal([16, 4]), tf.random_normal([16, 2]) * 0.3 + [2.0, -1.0]

    estimator = tfgan.estimator.GANEstimator(
        str(tmp_path), generator, discriminator, tfgan.losses.modified_generator_loss,
        tfgan.losses.modified_discriminator_loss, tf.train.AdamOptimizer(0.01, 0.5),
        lambda: tf.train.AdamOptimizer(0.01, 0.5),
        add_summaries=tfgan.estimator.SummaryType[kinds] if kinds else None,
    )  # fmt: skip
    estimator.train(inputs, max_steps=250)
    found = estimator.evaluate(inputs, steps=3)
    assert found["global_step"] == 250
    assert found["loss"] == pytest.approx(found["generator_loss"] + found["discriminator_loss"], rel=1e-4)
    made = [next(p) for p in [estimator.predict(lambda: tf.random_normal([64, 4]))] for _ in range(64)]
    assert np.abs(np.mean(made, 0) - [2.0, -1.0]).max() < 1.0


def test_summaries_are_written():
    def images(noise):
        return tf.reshape(layers.fully_connected(noise, 48), [-1, 4, 4, 3])

    model = tfgan.gan_model(
        images, lambda x, _: layers.fully_connected(layers.flatten(x), 1), tf.zeros([16, 4, 4, 3]), tf.zeros([16, 2])
    )
    tfgan.eval.add_gan_model_image_summaries(model, grid_size=4)
    tfgan.eval.add_regularization_loss_summaries(model)
    written = tf.summary.Summary.FromString(run(tf.summary.merge_all()))
    assert {value.tag.split("/")[-1] for value in written.value} >= {
        "generator_regularization_loss", "image", "weights_0",
    }  # fmt: skip
