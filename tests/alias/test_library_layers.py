"""The helpers of Keras's internals that layers, training loops and converters of libraries import."""

import itertools

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.alias import (
    compile_utils,
    conv_utils,
    data_adapter,
    generic_utils,
    places,
    symbols,
    tf_utils,
)
from tapeflow.function import freezing

WINDOWS = [
    (size, width, stride, padding)
    for size, width, stride, padding in itertools.product((1, 4, 7), (1, 2, 3), (1, 2), ("same", "valid"))
    if padding == "same" or size >= width
]


@pytest.mark.parametrize(("size", "width", "stride", "padding"), WINDOWS)
def test_lengths_are_those_of_convolutions(size, width, stride, padding):
    image = tf.ones([1, size, 1])
    output = tf.nn.conv1d(image, tf.ones([width, 1, 1]), stride, padding.upper())
    assert conv_utils.conv_output_length(size, width, padding, stride) == output.shape[1]
    layer = tf.keras.layers.Conv1DTranspose(1, width, strides=stride, padding=padding)
    assert conv_utils.deconv_output_length(size, width, padding, stride=stride) == layer(image).shape[1]
    assert conv_utils.conv_output_length(size, width, "full", stride) == len(
        range(0, len(np.convolve(np.ones(size), np.ones(width), "full")), stride)
    )


@pytest.mark.parametrize(
    ("shape", "width", "padding"), [((5,), (2,), "valid"), ((4, 3), (3, 2), "valid"), ((5,), (3,), "same")]
)
def test_the_mask_of_a_kernel_says_which_inputs_an_output_depends_on(shape, width, padding):
    image = tf.ones([1, *shape, 1])
    convolve = tf.nn.convolution
    with tf.GradientTape() as tape:
        tape.watch(image)
        output = convolve(image, tf.ones([*width, 1, 1]), 1, padding.upper())
    outputs = output.shape[1:-1]
    connected = tape.jacobian(output, image).numpy().reshape(*outputs, *shape) != 0
    mask = conv_utils.conv_kernel_mask(shape, width, 1, padding)
    last = tuple(range(len(outputs), 2 * len(outputs)))
    np.testing.assert_array_equal(mask, np.transpose(connected, last + tuple(range(len(outputs)))))
    pairs = set(conv_utils.conv_kernel_idxs(shape, width, 1, padding, 1, 1, "channels_last"))
    flat = mask.reshape(np.prod(shape), -1)
    assert pairs == {(int(end), int(start)) for start, end in np.argwhere(flat)}


def test_a_convolution_of_several_batch_dimensions():
    image, kernel = tf.random.normal([2, 3, 5, 5, 2]), tf.random.normal([2, 2, 2, 4])
    found = conv_utils.squeeze_batch_dims(image, lambda x: tf.nn.conv2d(x, kernel, 1, "SAME"), 3)
    for i, j in itertools.product(range(2), range(3)):
        one = tf.nn.conv2d(image[i, j][None], kernel, 1, "SAME")[0]
        np.testing.assert_allclose(found[i, j], one, rtol=1e-5, atol=1e-5)


def test_arguments_of_layers_are_refused():
    with pytest.raises(ValueError, match="must be a tuple of 2 integers"):
        conv_utils.normalize_tuple((1, 2, 3), 2, "strides")
    with pytest.raises(ValueError, match="including element a"):
        conv_utils.normalize_tuple((1, "a"), 2, "strides")
    with pytest.raises(ValueError, match="padding"):
        conv_utils.normalize_padding("full")
    with pytest.raises(NotImplementedError, match="Padding type"):
        conv_utils.conv_kernel_mask((3,), 2, 1, "full")


@pytest.mark.parametrize("data", ["arrays", "dataset", "generator", "unknown"])
def test_a_loop_over_a_data_handler_sees_the_epochs_of_fit(data):
    x, y = np.arange(14, dtype="float32").reshape(7, 2), np.arange(7, dtype="float32")
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(3)
    given = {
        "arrays": {"x": x, "y": y, "batch_size": 3},
        "dataset": {"x": batches},
        "generator": {"x": (batch for batch in batches.repeat()), "steps_per_epoch": 3},
        "unknown": {"x": batches.filter(lambda x, y: True)},
    }[data]
    handler = data_adapter.get_data_handler(**given, epochs=2)
    seen = []
    for epoch, iterator in handler.enumerate_epochs():
        with handler.catch_stop_iteration():
            for step in handler.steps():
                inputs, targets, _ = data_adapter.unpack_x_y_sample_weight(next(iterator))
                seen.append((epoch, step, targets.numpy().tolist()))
                assert inputs.shape[1] == 2
    parts = [[0, 1, 2], [3, 4, 5], [6]]
    assert seen == [(epoch, step, parts[step]) for epoch in range(2) for step in range(3)]
    assert handler.inferred_steps == 3


def test_a_data_handler_ends_where_there_should_be_more():
    dataset = tf.data.Dataset.range(4).batch(2)
    handler = data_adapter.DataHandler(dataset, epochs=3, steps_per_epoch=3)
    steps = []

    def run():
        for _, iterator in handler.enumerate_epochs():
            with handler.catch_stop_iteration():
                for step in handler.steps():
                    next(iterator)
                    steps.append(step)

    with pytest.warns(UserWarning, match="ran out of data"):
        run()
    assert steps == [0, 1]


def test_arrays_are_split_for_validation():
    first, last = data_adapter.train_validation_split(({"a": np.arange(10)}, None), 0.3)
    np.testing.assert_array_equal(first[0]["a"], range(7))
    np.testing.assert_array_equal(last[0]["a"], range(7, 10))
    assert first[1] is None
    assert last[1] is None


def test_losses_and_metrics_of_a_loop():
    y, outputs = tf.constant([1, 2]), tf.constant([[0.0], [4.0]])
    targets, _, weights = compile_utils.match_dtype_and_rank(tf.cast(y, tf.float64), outputs, tf.constant([1, 0]))
    assert targets.dtype == tf.float32
    assert targets.shape == [2, 1]
    assert weights.shape == [2, 1]
    assert float(compile_utils.LossesContainer("mse")(targets, outputs)) == 2.5
    metrics = compile_utils.MetricsContainer(["mae"], ["mse"])
    metrics.update_state(targets, outputs, weights)
    assert [float(each.result()) for each in metrics.metrics] == [1.5, 1.0]
    assert compile_utils.create_pseudo_input_names({"a": [1, 2], "b": 3}) == ["a_1", "a_2", "b"]
    assert compile_utils.create_pseudo_output_names([1, (2, 3)]) == ["output_1", "output_2_1", "output_2_2"]


def test_calls_of_a_model_by_depth():
    x = tf.keras.Input((3,), name="x")
    shared, added = tf.keras.layers.Dense(3, name="shared"), tf.keras.layers.Add(name="added")
    model = tf.keras.Model(x, added([shared(shared(x)), x]))
    calls = {depth: [call.layer.name for call in found] for depth, found in model._nodes_by_depth.items()}
    assert calls == {3: ["x"], 2: ["shared"], 1: ["shared"], 0: ["added"]}
    layers = {depth: [layer.name for layer in found] for depth, found in model._layers_by_depth.items()}
    assert layers == {3: ["x"], 2: ["shared"], 0: ["added"]}
    ordered, ranks = places.find("python.keras.engine.functional").get("_build_map")(model.outputs)
    assert [call.layer.name for call in ordered] == ["x", "shared", "shared", "added"]
    assert sorted(ranks, key=ranks.get) == [added, shared, model.layers[0]]


def test_a_library_adds_its_own_names_of_symbols():
    before = dict(symbols.API_ATTRS), dict(symbols.API_ATTRS_V1)
    try:
        symbols.API_ATTRS["mine"] = symbols._Attributes("_my_names", "_my_constants")
        symbols.API_ATTRS_V1["mine"] = symbols._Attributes("_my_names_v1", "_my_constants_v1")

        @symbols.api_export("there.f", api_name="mine")
        def f():
            pass

        assert f._my_names == ("there.f",)
        assert symbols.get_canonical_name_for_symbol(f, api_name="mine") == "there.f"
    finally:
        for table, old in zip((symbols.API_ATTRS, symbols.API_ATTRS_V1), before):
            table.clear()
            table.update(old)


def test_a_frozen_function_comes_with_its_graph():
    variable = tf.Variable(3.0)
    concrete = tf.function(lambda x: x * variable).get_concrete_function(tf.TensorSpec([]))
    frozen, graph = freezing.convert_variables_to_constants_v2_as_graph(concrete)
    assert [node.op for node in graph.node].count("Const") == 1
    assert not any(node.op.endswith("VariableOp") for node in graph.node)
    assert float(frozen(tf.constant(2.0))[0]) == 6.0


def test_models_of_several_ragged_inputs_are_trained():
    rows = [[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], [[7.0, 8.0]]]
    ragged = tf.ragged.constant(rows, ragged_rank=1)
    first, second = tf.keras.Input((None, 2), ragged=True), tf.keras.Input((None, 2), ragged=True)
    summed = tf.keras.layers.Lambda(lambda x: tf.reduce_sum(x[0], 1) - 2 * tf.reduce_sum(x[1], 1))
    model = tf.keras.Model([first, second], summed([first, second]))
    assert not model._is_compiled
    model.compile("sgd", "mse")
    assert model._is_compiled
    totals = np.array([np.sum(row, 0) for row in rows])
    for given in ([ragged, ragged], (ragged, ragged)):
        assert model.evaluate(given, -totals, batch_size=2, verbose=0) == 0.0
        np.testing.assert_array_equal(model.predict(given, batch_size=2, verbose=0), -totals)


def test_generic_helpers():
    def function(a, *rest, b=1, **others):
        pass

    assert [generic_utils.has_arg(function, name) for name in ("a", "b", "rest", "c")] == [True, True, False, False]
    assert generic_utils.has_arg(function, "c", accept_all=True)
    assert generic_utils.make_batches(7, 3) == [(0, 3), (3, 6), (6, 7)]
    assert [generic_utils.to_snake_case(name) for name in ("DenseLayer", "_HTTPCode")] == [
        "dense_layer", "private_http_code",
    ]  # fmt: skip
    rows = np.arange(6).reshape(3, 2)
    found = generic_utils.slice_arrays([rows, None], [0, 2])
    np.testing.assert_array_equal(found[0], rows[[0, 2]])
    assert found[1] is None
    np.testing.assert_array_equal(generic_utils.slice_arrays(rows, 1, 3), rows[1:])
    assert generic_utils.transpose_shape((2, 3, 4, 5), "channels_first", (1, 2)) == (2, 5, 3, 4)
    assert generic_utils.unpack_singleton([1]) == 1
    assert generic_utils.to_list((1, 2)) == [(1, 2)]
    with pytest.raises(TypeError, match="not understood"):
        generic_utils.validate_kwargs({"a": 1}, ["b"])
    with pytest.raises(ValueError, match="Unknown entries in loss"):
        generic_utils.check_for_unexpected_keys("loss", {"a": 1}, ["b"])


def test_methods_get_shapes_as_tuples_and_give_tensor_shapes():
    class Doubled:
        @tf_utils.shape_type_conversion
        def compute_output_shape(self, input_shape):
            self.got = input_shape
            return (*input_shape[:-1], 2 * input_shape[-1]) if isinstance(input_shape, tuple) else input_shape

    layer = Doubled()
    assert layer.compute_output_shape(tf.TensorShape([None, 3])) == tf.TensorShape([None, 6])
    assert layer.got == (None, 3)
    pair = layer.compute_output_shape([tf.TensorShape([1]), (2, None)])
    assert layer.got == [(1,), (2, None)]
    assert pair == [tf.TensorShape([1]), tf.TensorShape([2, None])]
    assert tf_utils.convert_shapes({"a": tf.TensorShape([1])}) == {"a": (1,)}


def test_names_of_keras_2_that_keras_3_keeps_apart():
    assert places.find("python.keras.utils.tf_utils").get("shape_type_conversion") is tf_utils.shape_type_conversion
    assert places.find("python.keras.constraints").get("maxnorm") is tf.keras.constraints.MaxNorm
    assert places.find("python.keras.utils.file_utils").get("exists") is tf.io.gfile.exists
