"""Gradients that programs define go along with a SavedModel; a file that names impossible ones is refused."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

SHARED = runpy.run_path(str(Path(__file__).with_name("custom_gradients.py")))
errors = tf.errors


def look_at(model):
    return [np.concatenate([np.ravel(x) for x in each[1:]]) for each in SHARED["look_at"](tf, model)]


def saved(tmp_path, function, *specs, **options):
    module = tf.Module()
    module.f = tf.function(function, input_signature=list(specs) or [tf.TensorSpec([])])
    options = tf.saved_model.SaveOptions(**options)
    tf.saved_model.save(module, tmp_path / "model", signatures={}, options=options)
    return tmp_path / "model"


def derivative(function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


@tf.custom_gradient
def tripled(x):
    return x * x, lambda dy: dy * x * 3.0


@pytest.mark.parametrize("trusted", [True, False])
def test_gradients_after_saving_once_and_again(trusted, tmp_path):
    model = SHARED["make"](tf)
    expected = look_at(model)
    # By hand, of (0.5, 1): 2 (x' + x'^2) exp(x') 2 at x' = 2 x; the sum of x'^2 for the variable.
    np.testing.assert_allclose(
        expected[1], [2.0, 8.0, 4 * 2 * np.exp(1), 4 * 6 * np.exp(2), 5.0], rtol=1e-5
    )
    tf.saved_model.save(model, tmp_path / "once")
    loaded = tf.saved_model.load(tmp_path / "once", trusted=trusted)
    tf.saved_model.save(loaded, tmp_path / "again")
    again = tf.saved_model.load(tmp_path / "again", trusted=trusted)
    for each in (loaded, again):
        for found, wanted in zip(look_at(each), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_in_a_graph_and_in_a_function_that_calls_it(tmp_path):
    loaded = tf.saved_model.load(saved(tmp_path, tripled))
    assert tf.function(lambda x: derivative(loaded.f, x))(tf.constant(2.0)).numpy() == 6.0
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(2.0)
        assert session.run(tf.gradients(loaded.f(x), x)[0]) == 6.0


def _loop(x):
    for _ in tf.range(3):
        x = tripled(x)
    return x


def _branch(x):
    return tripled(x) if x > 0.0 else x


def _element(x):
    return tf.map_fn(tripled, tf.stack([x, x]))[1]


@pytest.mark.parametrize("function", [_loop, _branch, _element])
def test_in_loops_and_branches(function, tmp_path):
    expected = derivative(tf.function(function), tf.constant(1.5)).numpy()
    plain = {_loop: 8 * 1.5**7, _branch: 3.0, _element: 3.0}[function]
    assert abs(expected - plain) > 1.0  # by the program's gradient
    loaded = tf.saved_model.load(saved(tmp_path, function))
    np.testing.assert_allclose(derivative(loaded.f, tf.constant(1.5)), expected, rtol=1e-6)


def test_a_gradient_whose_own_gradient_is_defined_ends(tmp_path):
    @tf.custom_gradient
    def again(x):
        return x * x, lambda dy: dy * again(x)

    loaded = tf.saved_model.load(saved(tmp_path, again))
    assert derivative(loaded.f, tf.constant(3.0)).numpy() == 9.0
    # TensorFlow does not save the gradient of the gradient either.
    with pytest.raises(LookupError, match="No gradient defined"):
        derivative(lambda x: derivative(loaded.f, x), tf.constant(3.0))


def test_constants_of_the_gradient_alone(tmp_path):
    scale = tf.constant([2.0, 4.0])

    @tf.custom_gradient
    def scaled(x):
        return tf.identity(x), lambda dy: dy * scale

    loaded = tf.saved_model.load(saved(tmp_path, scaled, tf.TensorSpec([2])))
    np.testing.assert_array_equal(derivative(loaded.f, tf.constant([1.0, 1.0])), scale)


def test_what_only_the_function_around_a_loop_has_is_not_saved(tmp_path):
    def around(x):
        y = tf.exp(x)

        @tf.custom_gradient
        def inner(z):
            return z * 2.0, lambda dy: dy * y

        return tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, inner(z)), (0, x))[1]

    loaded = tf.saved_model.load(saved(tmp_path, around))
    assert loaded.f(tf.constant(1.0)).numpy() == 4.0
    with pytest.raises(LookupError, match="CustomGradient-not-saved"):
        derivative(loaded.f, tf.constant(1.0))


def test_saving_without_gradients(tmp_path):
    loaded = tf.saved_model.load(saved(tmp_path, tripled, experimental_custom_gradients=False))
    assert loaded.f(tf.constant(3.0)).numpy() == 9.0
    with pytest.raises(LookupError, match="No gradient defined"):
        derivative(loaded.f, tf.constant(3.0))


def test_a_gradient_that_cannot_be_traced(tmp_path):
    @tf.custom_gradient
    def bad(x):
        return x * 2.0, lambda dy: dy * float(dy)

    with pytest.raises(ValueError, match="Error when tracing gradients for SavedModel"):
        saved(tmp_path, bad)
    saved(tmp_path, bad, experimental_custom_gradients=False)


# Files that were tampered with.


def tampered(path, change):
    file = path / "saved_model.pb"
    message = protos.SavedModel.FromString(file.read_bytes())
    meta = message.meta_graphs[0]
    library = meta.graph_def.library
    entry = library.registered_gradients[0]
    (function,) = [f for f in library.function if f.signature.name == entry.gradient_func]
    change(meta, entry, function)
    file.write_bytes(message.SerializeToString())


def _absent(meta, entry, function):
    entry.gradient_func = "absent"


def _two(meta, entry, function):
    other = meta.graph_def.library.function[0].signature.name
    other = other if other != entry.gradient_func else meta.graph_def.library.function[1].signature.name
    meta.graph_def.library.registered_gradients.add(gradient_func=other, registered_op_type=entry.registered_op_type)


def _fewer_arguments(meta, entry, function):
    del meta.object_graph_def.concrete_functions[entry.gradient_func].bound_inputs[-1]


def _more_captures(meta, entry, function):
    bound = meta.object_graph_def.concrete_functions[entry.gradient_func].bound_inputs
    bound.extend([bound[0]] * 7)


def _itself(meta, entry, function):
    node = function.node_def.add(name="again", op="IdentityN", input=[function.signature.input_arg[0].name])
    node.attr["T"].list.type.append(function.signature.input_arg[0].type)
    node.attr["_gradient_op_type"].s = entry.registered_op_type.encode()


def _calls_itself(meta, entry, function):
    inputs = [a.name for a in function.signature.input_arg]
    function.node_def.add(name="again", op=entry.gradient_func, input=inputs)


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_absent, "The gradient function 'absent' of 'CustomGradient-.*' is not in the library"),
        (_two, "has two gradient functions"),
        (_fewer_arguments, "has 3 arguments for the gradients of 2 outputs and 0 captured"),
        (_more_captures, "has 3 arguments for the gradients of 2 outputs and 8 captured"),
        (_itself, "calls itself"),
        (_calls_itself, "calls itself"),
    ],
)  # fmt: skip
def test_files_with_impossible_gradients_are_refused(change, message, trusted, tmp_path):
    path = saved(tmp_path, tripled)
    tampered(path, change)
    with pytest.raises(ValueError, match=message):
        tf.saved_model.load(path, trusted=trusted).f(tf.constant(3.0))


def _no_such_tensor(meta, entry, function):
    for node in meta.object_graph_def.nodes:
        if node.WhichOneof("kind") == "captured_tensor":
            node.captured_tensor.name = "absent:0"


def _of_no_function(meta, entry, function):
    for node in meta.object_graph_def.nodes:
        if node.WhichOneof("kind") == "captured_tensor":
            node.captured_tensor.concrete_function = "absent"


def _another_dtype(meta, entry, function):
    function.signature.input_arg[0].type = tf.int32.as_datatype_enum


def _no_results(meta, entry, function):
    meta.object_graph_def.concrete_functions[entry.gradient_func].output_signature.none_value.SetInParent()


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_no_such_tensor, "uses tensor 'absent:0' of function '.*', which is not there"),
        (_of_no_function, "of function 'absent', but its node is in '.*'"),
        (_another_dtype, "dtype|int32"),
        (_no_results, "more outputs than its signature"),
    ],
)  # fmt: skip
def test_gradients_that_cannot_be_computed_raise_when_they_are_asked_for(change, message, trusted, tmp_path):
    path = saved(tmp_path, tripled)
    tampered(path, change)
    loaded = tf.saved_model.load(path, trusted=trusted)
    assert loaded.f(tf.constant(3.0)).numpy() == 9.0
    with pytest.raises(ValueError, match=message):
        derivative(loaded.f, tf.constant(3.0))


def test_a_gradient_function_that_touches_files_is_refused(tmp_path):
    def _reads(meta, entry, function):
        name = function.node_def.add(name="name", op="Const")
        name.attr["dtype"].type = tf.string.as_datatype_enum
        name.attr["value"].tensor.dtype = tf.string.as_datatype_enum
        name.attr["value"].tensor.tensor_shape.SetInParent()
        name.attr["value"].tensor.string_val.append(b"/etc/hostname")
        function.node_def.add(name="read", op="ReadFile", input=["name:output:0"])
        del meta.object_graph_def.concrete_functions[entry.gradient_func]

    path = saved(tmp_path, lambda x: tf.identity(_doubled(x)))
    tampered(path, _reads)
    with pytest.raises(errors.PermissionDeniedError, match="ReadFile"):
        tf.saved_model.load(path, trusted=False)


@tf.custom_gradient
def _doubled(x):
    return x * 2.0, lambda dy: dy * 2.0
