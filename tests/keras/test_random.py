"""`keras.random` and who draws from it: seeds, states, saved models."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release
from tapeflow.keras import random

keras = tf.keras


@pytest.fixture
def keras_2():
    release.use_keras_2(True)
    yield
    release.use_keras_2(False)


def test_weights_after_set_random_seed_are_those_of_keras_3():
    keras.utils.set_random_seed(1)
    layer = keras.layers.Dense(3)
    layer.build((None, 4))
    np.testing.assert_allclose(layer.kernel[0], [-0.4462, 0.6711, 0.8118], atol=5e-5)


def test_dropout_after_set_random_seed_repeats():
    drawn = []
    for _ in range(2):
        keras.utils.set_random_seed(3)
        layer = keras.layers.Dropout(0.5)
        drawn.append([layer(tf.ones([4, 4]), training=True).numpy() for _ in range(2)])
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0][0] != drawn[0][1]).any()


def test_an_initializer_draws_one_seed_in_keras_3():
    initializer = keras.initializers.RandomNormal()
    np.testing.assert_array_equal(initializer([5]), initializer([5]))
    assert initializer.get_config()["seed"] is None
    moving = keras.initializers.RandomNormal(seed=random.SeedGenerator(1))
    assert (moving([5]).numpy() != moving([5]).numpy()).any()
    again = keras.initializers.RandomNormal.from_config(moving.get_config())
    np.testing.assert_array_equal(again([5]), keras.initializers.RandomNormal(seed=1)([5]))


def test_initializers_of_tensorflow_and_keras_2_draw_again(keras_2):
    for initializer in (tf.random_normal_initializer(), keras.initializers.RandomNormal()):
        assert (initializer([5]).numpy() != initializer([5]).numpy()).any()


def test_tensorflow_initializers_draw_again():
    initializer = tf.random_uniform_initializer()
    assert (initializer([5]).numpy() != initializer([5]).numpy()).any()


def test_seed_generator():
    generator = random.SeedGenerator(7)
    assert [generator.next().numpy().tolist() for _ in range(2)] == [[7, 0], [7, 1]]
    assert generator.next(ordered=False).numpy().tolist() == [7, 2]
    assert generator.state.numpy().tolist() == [8 * 5387 % 933199, 3 * 5387 % 933199]
    assert random.SeedGenerator.from_config(generator.get_config()).get_config() == generator.get_config()
    with pytest.raises(ValueError, match="must be an integer"):
        random.SeedGenerator(1.5)
    with pytest.raises(ValueError, match="seed"):
        random.normal([2], seed="one")


def test_a_function_advances_a_generator():
    generator = random.SeedGenerator(7)
    draw = tf.function(lambda: random.uniform([3], seed=generator))
    first, second = draw().numpy(), draw().numpy()
    np.testing.assert_array_equal(first, random.uniform([3], seed=7))
    assert (first != second).any()


def test_models_that_draw_are_copied_and_saved(tmp_path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(2)])
    x = np.ones([4, 3], "float32")
    np.testing.assert_array_equal(copy.deepcopy(model)(x), model(x))
    tf.saved_model.save(model, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_allclose(loaded(x), model(x), rtol=1e-6)
    kept = tf.train.Checkpoint(model=model).save(str(tmp_path / "checkpoint"))
    assert not [name for name, _ in tf.train.list_variables(kept) if "seed" in name]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_floating_distributions(dtype):
    for draw in (random.normal, random.truncated_normal, random.uniform):
        assert draw([2, 3], dtype=dtype, seed=1).dtype.name == dtype
    assert random.gamma([3], 2.0, dtype=dtype, seed=1).dtype.name == dtype
    assert random.beta([3], 2.0, [1.0, 2.0, 3.0], dtype=dtype, seed=1).dtype.name == dtype
    assert random.binomial([3], 5.0, 0.5, dtype=dtype, seed=1).dtype.name == dtype


def test_other_distributions():
    assert set(random.randint([50], 2, 5, dtype="uint8", seed=1).numpy()) == {2, 3, 4}
    assert random.categorical(np.zeros([2, 3], "float32"), 4, seed=1).shape == (2, 4)
    shuffled = random.shuffle(tf.range(10), seed=1).numpy()
    assert sorted(shuffled) == list(range(10)) != list(shuffled)
    for call in (lambda: random.uniform([2], dtype="int32"), lambda: random.randint([2], 0, 3, "float32"),
                 lambda: random.categorical([1.0], 2)):  # fmt: skip
        with pytest.raises(ValueError):
            call()
