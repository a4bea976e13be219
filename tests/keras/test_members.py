"""Members of Keras 3's small public classes."""

import pytest

import tapeflow as tf


def test_a_frozen_config_says_so():
    config = tf.keras.utils.Config(rate=0.1)
    assert not config.frozen
    config.freeze()
    assert config.frozen
    with pytest.raises(ValueError, match="frozen"):
        config.rate = 0.2


def test_frozen_is_no_item_of_a_config():
    config = tf.keras.utils.Config()
    with pytest.raises(AttributeError):
        config.frozen = True
    assert config.as_dict() == {}


def test_a_plateau_cools_down_after_a_change():
    callback = tf.keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=2, cooldown=2)
    model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    callback.set_model(model)
    found = []
    for epoch in range(5):
        callback.on_epoch_end(epoch, {"loss": 1.0})
        found.append(callback.in_cooldown())
    assert found == [False, False, True, True, False]


@pytest.mark.parametrize("given", [None, "own"])
def test_quantizers_of_a_configuration_or_default(given):
    made = tf.keras.quantizers.QuantizationConfig
    config = made(given, given)
    assert made.weight_quantizer_or_default(None, "default") == "default"
    assert made.activation_quantizer_or_default(None, "default") == "default"
    assert made.weight_quantizer_or_default(config, "default") == (given or "default")
    assert made.activation_quantizer_or_default(config, "default") is given
