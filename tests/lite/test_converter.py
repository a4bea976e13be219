"""`tf.lite.TFLiteConverter`, of 2.x and of 1.x: what it takes, and what it says."""

import warnings

import export_models as models
import lite_running as lite
import numpy as np
import pytest

import tapeflow as tf
from tapeflow.lite.lowering import ConverterError

for package in ("litert_converter", "ai_edge_litert", "ai_edge_quantizer"):
    pytest.importorskip(package)
pytestmark = pytest.mark.lite

v1 = tf.compat.v1
X = np.float32([[1, 2], [3, -4]])
DEFAULT = {tf.lite.Optimize.DEFAULT}


def network():
    model = tf.keras.Sequential([tf.keras.layers.Input((4,), name="given"), tf.keras.layers.Dense(3)])
    return model, np.random.default_rng(1).normal(size=(2, 4)).astype(np.float32)


def doubled():
    return tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([None, 2], name="x"))


def test_a_keras_model():
    model, x = network()
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    assert content[4:8] == b"TFL3"
    interpreter = tf.lite.Interpreter(model_content=content)
    assert interpreter.get_signature_list() == {"serving_default": {"inputs": ["given"], "outputs": ["output_0"]}}
    detail = interpreter.get_input_details()[0]
    assert detail["name"] == "serving_default_given:0"
    assert detail["shape"].tolist() == [1, 4]
    assert detail["shape_signature"].tolist() == [-1, 4]
    assert interpreter.get_output_details()[0]["name"] == "StatefulPartitionedCall:0"
    np.testing.assert_allclose(lite.run(content, [x])[0], model(x).numpy(), rtol=1e-6)


def test_the_signatures_of_a_saved_model(tmp_path):
    module = models.SEVERAL
    tf.saved_model.save(module, tmp_path, signatures={"loop": module.loop, "once": module.once})
    content = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path)).convert()
    interpreter = tf.lite.Interpreter(model_content=content)
    assert interpreter.get_signature_list() == {
        "loop": {"inputs": ["x"], "outputs": ["state", "total"]},
        "once": {"inputs": ["x"], "outputs": ["y"]},
    }
    x = np.random.default_rng(2).normal(size=(3, 4)).astype(np.float32)
    wanted = module.loop(tf.constant(x))
    for name, y in interpreter.get_signature_runner("loop")(x=x).items():
        np.testing.assert_allclose(y, wanted[name].numpy(), rtol=1e-5, atol=1e-6)
    one = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path), signature_keys=["once"]).convert()
    assert list(tf.lite.Interpreter(model_content=one).get_signature_list()) == ["once"]
    with pytest.raises(ValueError, match=r"Invalid signature key 'no' found\. Valid keys are 'loop,once'"):
        tf.lite.TFLiteConverter.from_saved_model(str(tmp_path), signature_keys=["no"])


def test_an_exported_model_has_one_signature(tmp_path):
    model, _ = network()
    model.export(tmp_path, verbose=False)
    content = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path)).convert()
    assert list(tf.lite.Interpreter(model_content=content).get_signature_list()) == ["serving_default"]


def test_several_functions_of_an_object():
    module = models.SEVERAL
    functions = [module.loop.get_concrete_function(), module.once.get_concrete_function()]
    converter = tf.lite.TFLiteConverter.from_concrete_functions(functions, module)
    keys = list(tf.lite.Interpreter(model_content=converter.convert()).get_signature_list())
    assert keys == [f.graph.name for f in functions]
    with pytest.raises(ValueError, match="can only convert a single ConcreteFunction"):
        tf.lite.TFLiteConverter.from_concrete_functions(functions).convert()


def test_functions_of_the_same_name():
    spec = tf.TensorSpec([2])
    functions = [tf.function(f).get_concrete_function(spec) for f in (lambda x: x + 1.0, lambda x: x * 2.0)]
    with pytest.raises(ValueError, match="Two functions are named '<lambda>'"):
        tf.lite.TFLiteConverter.from_concrete_functions(functions, tf.Module()).convert()


def test_what_is_no_concrete_function():
    with pytest.raises(ValueError, match="call get_concrete_function"):
        tf.lite.TFLiteConverter.from_concrete_functions([tf.function(abs)])
    with pytest.raises(ValueError, match="No ConcreteFunction is specified"):
        tf.lite.TFLiteConverter.from_concrete_functions([]).convert()
    with pytest.raises(OSError, match="SavedModel"):
        tf.lite.TFLiteConverter.from_saved_model("no/such/folder")


def test_functions_of_jax():
    jnp = pytest.importorskip("jax.numpy")
    converter = tf.lite.TFLiteConverter.experimental_from_jax(
        [lambda x: jnp.tanh(x) @ jnp.ones((2, 3))], [[("x", jnp.zeros((2, 2)))]]
    )
    np.testing.assert_allclose(lite.run(converter.convert(), [X])[0], np.tanh(X) @ np.ones((2, 3)), atol=1e-6)


# What cannot be converted.


def inverse(x):
    y = x + 1.0
    return tf.linalg.inv(y)


def test_an_op_without_counterpart_is_named_at_its_line():
    function = tf.function(inverse).get_concrete_function(tf.TensorSpec([2, 2], name="x"))
    line = inverse.__code__.co_firstlineno + 2
    with pytest.raises(ConverterError, match=rf"MatrixInverse \(node 'MatrixInverse', defined at {__file__}:{line}\)"):
        lite.converted(function)


def test_assigned_variables_are_refused():
    v = tf.Variable(1.0)
    count = tf.function(lambda: v.assign_add(1.0))
    with pytest.raises(ValueError, match="needs a variable, not only its value"):
        lite.converted(count.get_concrete_function())


def test_custom_ops():
    function = tf.function(inverse).get_concrete_function(tf.TensorSpec([2, 2], name="x"))
    interpreter = tf.lite.Interpreter(model_content=lite.converted(function, allow_custom_ops=True))
    with pytest.raises(RuntimeError, match="Encountered unresolved custom op: MatrixInverse"):
        interpreter.allocate_tensors()


def test_functions_that_say_whether_they_can_be_converted():
    authoring = tf.lite.experimental.authoring
    good = authoring.compatible(tf.function(lambda x: x + 1.0))
    assert good(tf.ones(2)).numpy().tolist() == [2, 2]
    assert good.get_compatibility_log() == []
    bad = authoring.compatible(tf.function(inverse))
    with pytest.warns(UserWarning, match="COMPATIBILITY ERROR.*MatrixInverse"):
        bad(tf.eye(2))
    assert "MatrixInverse" in bad.get_compatibility_log()[0]
    strict = authoring.compatible(raise_exception=True)(tf.function(inverse))
    with pytest.raises(authoring.compatible.__globals__["CompatibilityError"], match="CompatibilityException"):
        strict(tf.eye(2))


# Settings.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inference_input_type": tf.int8}, "must be tf.float32"),
        ({"optimizations": DEFAULT, "inference_output_type": tf.uint8}, "must be tf.float32"),
        ({"ops": [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]}, "`representative_dataset` must be specified"),
        ({"types": [tf.int8]}, "`representative_dataset` must be specified"),
        (
            {"ops": [tf.lite.OpsSet.TFLITE_BUILTINS_INT8], "types": [tf.float16]},
            "should be left uninitizalized or set to",
        ),
        (
            {"optimizations": DEFAULT, "representative_dataset": lambda: [[X]], "inference_input_type": tf.float16},
            "must be in",
        ),
        ({"optimizations": DEFAULT, "representative_dataset": list}, "has no samples of the signature"),
        ({"optimizations": DEFAULT, "representative_dataset": lambda: [[X, X]]}, "A sample has 2 inputs"),
        ({"optimizations": DEFAULT, "representative_dataset": lambda: [{"z": X}]}, r"has the inputs \['z'\]"),
        ({"optimizations": DEFAULT, "representative_dataset": lambda: [("z", [X])]}, "of the signature 'z'"),
        ({"optimizations": DEFAULT, "representative_dataset": [[X]]}, "must be a function"),
    ],
)
def test_settings_that_contradict_each_other(settings, message):
    with pytest.raises(ValueError, match=message):
        lite.converted(doubled(), **settings)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"optimizations": {tf.lite.Optimize.EXPERIMENTAL_SPARSITY}}, "EXPERIMENTAL_SPARSITY"),
        ({"ops": {tf.lite.OpsSet.EXPERIMENTAL_STABLEHLO_OPS}}, "EXPERIMENTAL_STABLEHLO_OPS"),
    ],
)
def test_settings_that_are_not_there(settings, name):
    with pytest.raises(tf.errors.UnimplementedError, match=name):
        lite.converted(doubled(), **settings)


@pytest.mark.parametrize("sample", [[X], {"x": X}, ("serving_default", [X]), ("serving_default", {"x": X})])
def test_forms_of_samples(sample):
    dataset = tf.lite.RepresentativeDataset(lambda: iter([sample]))
    model = lite.converted(
        doubled(), optimizations=DEFAULT, representative_dataset=dataset, inference_input_type=tf.int8
    )
    np.testing.assert_allclose(lite.run(model, [X])[0], 2 * X, atol=0.1)


def test_operations_that_need_floats_are_named():
    function = tf.function(lambda x: tf.math.sin(x)).get_concrete_function(tf.TensorSpec([2, 2], name="x"))
    with pytest.raises(ConverterError, match=rf"integers only: SIN \(.*{__file__}:\d+\)"):
        lite.converted(
            function, optimizations=DEFAULT, representative_dataset=lambda: [[X]],
            ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8],
        )  # fmt: skip


# 1.x.


@pytest.fixture
def session():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 2], "x")
        w = v1.get_variable("w", initializer=np.float32([[0.5, 0.1], [0.2, 0.4]]))
        y = v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y @ w + 1.0), [0, x])[1]
        y = tf.identity(y, "y")
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            yield sess, x, y


def test_a_session(session):
    sess, x, y = session
    for kind in (v1.lite.TFLiteConverter, v1.lite.TocoConverter):
        converter = kind.from_session(sess, [x], [y])
        assert converter.get_input_arrays() == ["x"]
        np.testing.assert_allclose(lite.run(converter.convert(), [X])[0], sess.run(y, {x: X}), rtol=1e-6)


def test_a_frozen_graph(session, tmp_path):
    sess, x, y = session
    frozen = v1.graph_util.convert_variables_to_constants(sess, sess.graph.as_graph_def(), ["y"])
    for name, content in (("g.pb", frozen.SerializeToString()), ("g.pbtxt", str(frozen).encode())):
        (tmp_path / name).write_bytes(content)
        converter = v1.lite.TFLiteConverter.from_frozen_graph(str(tmp_path / name), ["x"], ["y"], {"x": [2, 2]})
        model = converter.convert()
        assert tf.lite.Interpreter(model_content=model).get_input_details()[0]["shape"].tolist() == [2, 2]
        np.testing.assert_allclose(lite.run(model, [X])[0], sess.run(y, {x: X}), rtol=1e-6)
    assert v1.lite.toco_convert(frozen, [x], [y])[4:8] == b"TFL3"
    (tmp_path / "bad.pb").write_bytes(b"\xff\xfe nothing")
    with pytest.raises(OSError, match="Unable to parse input file"):
        v1.lite.TFLiteConverter.from_frozen_graph(str(tmp_path / "bad.pb"), ["x"], ["y"])
    (tmp_path / "warm.pb").write_bytes(sess.graph.as_graph_def().SerializeToString())
    with pytest.raises(ValueError, match="Please freeze the graph"):
        v1.lite.TFLiteConverter.from_frozen_graph(str(tmp_path / "warm.pb"), ["x"], ["y"])


def test_files_of_1x(tmp_path):
    model, x = network()
    model.save(tmp_path / "m.keras")
    content = v1.lite.TFLiteConverter.from_keras_model_file(str(tmp_path / "m.keras")).convert()
    np.testing.assert_allclose(lite.run(content, [x])[0], model(x).numpy(), rtol=1e-6)
    module = models.SEVERAL
    tf.saved_model.save(module, tmp_path / "s", signatures={"loop": module.loop})
    content = v1.lite.TFLiteConverter.from_saved_model(
        str(tmp_path / "s"), signature_key="loop", input_shapes={"x": [5, 4]}, output_arrays=["total"]
    ).convert()
    interpreter = tf.lite.Interpreter(model_content=content)
    assert interpreter.get_signature_list() == {"loop": {"inputs": ["x"], "outputs": ["total"]}}
    assert interpreter.get_input_details()[0]["shape"].tolist() == [5, 4]
    with pytest.raises(ValueError, match="Possible values are 'loop'"):
        v1.lite.TFLiteConverter.from_saved_model(str(tmp_path / "s"))


def test_settings_of_1x(session):
    sess, x, y = session
    converter = v1.lite.TFLiteConverter.from_session(sess, [x], [y])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        converter.post_training_quantize = True
        converter.target_ops = {tf.lite.OpsSet.TFLITE_BUILTINS}
    assert [str(w.message).split(",")[0] for w in said] == [
        "Property post_training_quantize is deprecated",
        "Property target_ops is deprecated",
    ]
    assert list(converter.optimizations) == [tf.lite.Optimize.DEFAULT]
    converter.output_format = v1.lite.constants.GRAPHVIZ_DOT
    with pytest.raises(ValueError, match="output_format=3 is not supported"):
        converter.convert()
