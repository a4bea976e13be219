"""Arguments that Keras 2 knows under other names, and in other orders."""

import pytest

import tapeflow as tf
from tapeflow.keras.old_names import takes_old_names


@takes_old_names(old="new")
def function(first, new=0):
    """A function."""
    return first, new


def test_arguments_go_by_both_names():
    assert function(1, new=2) == function(1, old=2) == function(1, 2) == (1, 2)
    assert function(1) == (1, 0)
    with pytest.raises(TypeError, match="both 'new' and its old name 'old'"):
        function(1, old=2, new=3)
    with pytest.raises(TypeError):
        function(1, 2, old=3)


def test_functions_of_keras_take_names_of_keras_2():
    assert tf.keras.activations.relu([-2.0], alpha=0.5).numpy() == [-1.0]
    assert tf.keras.activations.relu([-2.0], negative_slope=0.5).numpy() == [-1.0]
    assert tf.keras.utils.to_categorical(y=[1]).tolist() == tf.keras.utils.to_categorical(x=[1]).tolist()
    assert tf.keras.activations.deserialize(name="relu") is tf.keras.activations.deserialize(config="relu")


@pytest.mark.parametrize("name", ["loss", "losses"])
def test_losses_are_added(name):
    layer = tf.keras.layers.Layer()
    layer.add_loss(**{name: [tf.constant(1.0), tf.constant(2.0)]})
    assert [float(x) for x in layer.losses] == [1.0, 2.0]


@pytest.mark.parametrize("optimizer", [tf.keras.optimizers.SGD, tf.keras.optimizers.Adam])
@pytest.mark.parametrize("name", ["variables", "var_list"])
def test_optimizers_are_built(optimizer, name):
    made = optimizer()
    made.build(**{name: [tf.keras.Variable([1.0])]})
    assert made.built


def test_weights_of_metrics_by_either_order():
    metric = tf.keras.metrics.Metric()
    found = [
        metric.add_weight((2,), "ones", "int32", "a"),
        metric.add_weight("a", (2,), initializer="ones", dtype="int32"),
        metric.add_weight(name="a", shape=(2,), initializer="ones", dtype="int32"),
    ]
    assert [(v.numpy().tolist(), v.dtype.name) for v in found] == [([1, 1], "int32")] * 3
    assert metric.add_weight("b").shape == metric.add_weight(name="b").shape == ()


@pytest.mark.parametrize("kind", ["stateful", "stateless"])
def test_bars_show_means_of_some_values(kind, capsys):
    bar = tf.keras.utils.Progbar(3, interval=0, **{f"{kind}_metrics": ["a"]})
    bar.update(1, [("a", 1.0), ("b", 1.0)])
    bar.update(2, [("a", 3.0), ("b", 3.0)])
    shown = "".join(capsys.readouterr())
    last, mean = ("a", "b") if kind == "stateful" else ("b", "a")
    assert f"{last}: 3.0000" in shown
    assert f"{mean}: 2.0000" in shown
    with pytest.raises(ValueError, match="Only one"):
        tf.keras.utils.Progbar(2, stateful_metrics=[], stateless_metrics=[])


def test_a_regularizer_of_both_kinds_has_the_defaults_of_the_release(monkeypatch):
    made = tf.keras.regularizers.l1_l2()
    assert (made.l1, made.l2) == (0, 0)
    monkeypatch.setattr("tapeflow.keras.regularizers.keras_2", lambda: True)
    made = tf.keras.regularizers.l1_l2(l2=0.5)
    assert made.get_config() == pytest.approx({"l1": 0.01, "l2": 0.5})


def test_quantization_by_name_or_by_config():
    config = tf.keras.quantizers.Int8QuantizationConfig()
    for make in (
        lambda: tf.keras.layers.Dense(2),
        lambda: tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)]),
    ):
        layer = make()
        layer.build((None, 3))
        with pytest.raises(ValueError, match="either `mode` or `config`"):
            layer.quantize()
        with pytest.raises(ValueError, match="Contradictory"):
            layer.quantize("int4", config=config)
        layer.quantize(config=config)
        assert tf.int8 in [weight.dtype for weight in layer.weights]
