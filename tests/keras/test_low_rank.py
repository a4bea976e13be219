"""`enable_lora`: the weight stays, a product of two matrices that is added to it is learned, and files have the sum."""

import numpy as np
import pytest

import tapeflow as tf

keras, layers = tf.keras, tf.keras.layers

X = np.arange(12, dtype="float32").reshape(2, 2, 3) / 10
IDS = np.array([[0, 2], [1, 4]])


def _einsum_dense(**more):
    return layers.EinsumDense("abc,cde->abde", (None, 4, 2), bias_axes="e", **more)


KINDS = {
    "Dense": (lambda **more: layers.Dense(2, **more), X, "kernel"),
    "EinsumDense": (_einsum_dense, X, "kernel"),
    "Embedding": (lambda **more: layers.Embedding(5, 3, **more), IDS, "embeddings"),
}
every_kind = pytest.mark.parametrize(("make", "inputs", "weight"), KINDS.values(), ids=KINDS.keys())


def adapted(make, inputs, weight, rng):
    """A layer with factors that are not zero, and the weight that it began with."""
    layer = make()
    layer(inputs)
    before = np.array(getattr(layer, weight))
    layer.enable_lora(2, lora_alpha=4)
    for part in "ab":
        factor = getattr(layer, f"lora_{weight}_{part}")
        factor.assign(rng.normal(size=factor.shape).astype("float32"))
    return layer, before


@every_kind
def test_the_sum_is_what_the_layer_computes_with(make, inputs, weight, rng):
    layer, before = adapted(make, inputs, weight, rng)
    left, right = (np.array(getattr(layer, f"lora_{weight}_{part}")) for part in "ab")
    total = before + 2 * left @ right
    np.testing.assert_allclose(getattr(layer, weight), total, rtol=1e-5, atol=1e-6)
    plain = make()
    plain(inputs)
    getattr(plain, weight).assign(total)
    np.testing.assert_allclose(layer(inputs), plain(inputs), rtol=1e-5, atol=1e-6)


@every_kind
def test_a_step_changes_the_factors_only(make, inputs, weight, rng):
    layer, before = adapted(make, inputs, weight, rng)
    model = keras.Sequential([layer])
    model.compile("sgd", "mse")
    factors = [np.array(getattr(layer, f"lora_{weight}_{part}")) for part in "ab"]
    model.train_on_batch(inputs, np.ones(layer(inputs).shape))
    np.testing.assert_array_equal(getattr(layer, f"_{weight}"), before)
    for part, old in zip("ab", factors):
        assert np.abs(np.array(getattr(layer, f"lora_{weight}_{part}")) - old).max() > 0


@every_kind
def test_files_have_the_sum(make, inputs, weight, rng, tmp_path):
    layer, _ = adapted(make, inputs, weight, rng)
    model = keras.Sequential([layer])
    expected = model(inputs)
    model.save_weights(tmp_path / "m.weights.h5")
    plain = keras.Sequential([make()])
    plain(inputs)
    plain.load_weights(tmp_path / "m.weights.h5")
    np.testing.assert_allclose(plain(inputs), expected, rtol=1e-5, atol=1e-6)
    model.load_weights(tmp_path / "m.weights.h5")
    np.testing.assert_allclose(model(inputs), expected, rtol=1e-5, atol=1e-6)


@every_kind
def test_layers_of_low_rank_come_back_from_configs(make, inputs, weight):
    layer = make(lora_rank=2)
    layer(inputs)
    again = type(layer).from_config(layer.get_config())
    again(inputs)
    assert [w.shape for w in again.trainable_weights] == [w.shape for w in layer.trainable_weights]
    assert (again.lora_rank, again.lora_enabled) == (2, True)
    assert "lora_rank" not in make().get_config()


@every_kind
def test_refuses(make, inputs, weight):
    with pytest.raises(ValueError, match="isn't yet built"):
        make().enable_lora(1)
    constrained = make(**{f"{weight}_constraint": "non_neg"})
    constrained(inputs)
    with pytest.raises(ValueError, match="incompatible with"):
        constrained.enable_lora(1)
    layer = make(lora_rank=1)
    layer(inputs)
    with pytest.raises(ValueError, match="already enabled"):
        layer.enable_lora(1)
