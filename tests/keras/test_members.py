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


def test_settings_of_functions_are_attributes():
    loss = tf.keras.losses.CategoricalFocalCrossentropy(alpha=0.5, label_smoothing=0.1)
    assert (loss.alpha, loss.gamma, loss.label_smoothing, loss.axis) == (0.5, 2.0, 0.1, -1)
    assert tf.keras.metrics.BinaryAccuracy(threshold=0.3).threshold == 0.3
    assert tf.keras.metrics.MeanIoU(3).target_class_ids == [0, 1, 2]


def test_settings_of_optimizers_are_numbers():
    optimizer = tf.keras.optimizers.Adam(beta_1=0.5)
    assert "beta_1" in dir(optimizer)
    assert f"{optimizer.beta_1} {optimizer.beta_2}" == "0.5 0.999"
    optimizer.beta_1 = 0.25
    assert optimizer.get_config()["beta_1"] == 0.25
    assert tf.keras.optimizers.Adagrad().initial_accumulator_value == 0.1


def test_metrics_name_their_dtype():
    assert repr(tf.keras.metrics.Mean().dtype) == "'float32'"
    assert tf.keras.metrics.Mean(dtype=tf.float64).dtype == tf.float64


def test_layers_know_how_they_are_called():
    layer = tf.keras.layers.LSTM(2)
    assert layer.path is None
    assert layer.autocast
    assert layer.call_signature_parameters[0] in ("sequences", "inputs")
    assert layer.single_state is False
    assert layer.state_size == [2, 2]
    assert tf.keras.layers.GRU(3).state_size == [3]


def test_inputs_are_not_cast_where_a_program_says_so():
    class Own(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.autocast = False

        def call(self, x):
            return x

    assert Own()(tf.ones([2], tf.float64)).dtype == tf.float64


def test_models_with_layers_that_xla_cannot_compile_say_so():
    class Own(tf.keras.layers.Dense):
        supports_jit = False

    model = tf.keras.Sequential([tf.keras.Input((2,)), Own(1)])
    with pytest.warns(UserWarning, match="doesn't support `jit_compile=True`"):
        model.compile("sgd", "mse", jit_compile=True)
    assert model.jit_compile is False


def test_dropout_draws_from_its_seed_generator():
    layer = tf.keras.layers.Dropout(0.5, seed=3)
    before = layer.seed_generator.state.numpy().tolist()
    layer(tf.ones([2, 2]), training=True)
    assert layer.seed_generator.state.numpy().tolist() != before
    assert not hasattr(tf.keras.layers.Dropout(0.0), "seed_generator")


def test_masks_of_inputs_may_be_given_to_attention():
    layer = tf.keras.layers.MultiHeadAttention(1, 2)
    query, value = tf.random.normal([1, 2, 4]), tf.random.normal([1, 3, 4])
    _, scores = layer(query, value, value_mask=[[True, False, True]], return_attention_scores=True)
    assert scores.numpy()[0, 0, :, 1].tolist() == [0.0, 0.0]
    whole = layer(query, value, attention_mask=tf.constant([[[True, False, True]] * 2]))
    assert (layer(query, value, None, None, [[True, False, True]]).numpy() == whole.numpy()).all()


@pytest.mark.parametrize("order", [("channels_last", 1), (1, "channels_last")])
def test_transposed_convolutions_of_volumes_take_either_order(order):
    layer = tf.keras.layers.Conv3DTranspose(2, 3, 2, "same", *order)
    assert (layer.data_format, layer.output_padding) == ("channels_last", (1, 1, 1))
