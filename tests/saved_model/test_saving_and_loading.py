"""SavedModels: round trips of everything they hold, signatures, what cannot be saved, what is damaged."""

import contextlib
import os
import pathlib
import random
import runpy
import shutil

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

v1 = tf.compat.v1
EVERYTHING = runpy.run_path(str(pathlib.Path(__file__).with_name("everything.py")))
EXPECTED = EVERYTHING["EXPECTED"]
look_at = EVERYTHING["look_at"]
make = EVERYTHING["make"]
save = EVERYTHING["save"]


def again(obj, folder, **kwargs):
    tf.saved_model.save(obj, str(folder), **kwargs)
    return tf.saved_model.load(str(folder))


def test_everything(tmp_path):
    save(tf, tmp_path)
    assert look_at(tf, tf.saved_model.load(tmp_path / "model")) == EXPECTED


def test_a_loaded_model_is_saved_again(tmp_path):
    save(tf, tmp_path)
    model = tf.saved_model.load(tmp_path / "model")
    for i in range(2):
        model = again(model, tmp_path / str(i), signatures=model.signatures)
    shutil.rmtree(tmp_path / "model")  # files and values are its own
    assert look_at(tf, model) == EXPECTED


def test_a_model_that_moved(tmp_path):
    save(tf, tmp_path)
    os.rename(tmp_path / "model", tmp_path / "elsewhere")
    os.unlink(tmp_path / "words.txt")
    assert look_at(tf, tf.saved_model.load(tmp_path / "elsewhere")) == EXPECTED


def test_files_of_a_model(tmp_path):
    save(tf, tmp_path)
    found = {os.path.relpath(os.path.join(d, f), tmp_path / "model")
             for d, _, files in os.walk(tmp_path / "model") for f in files}  # fmt: skip
    assert found == {
        "saved_model.pb", "fingerprint.pb", "assets/words.txt", "variables/variables.index",
        "variables/variables.data-00000-of-00001",
    }  # fmt: skip
    assert tf.saved_model.contains_saved_model(tmp_path / "model")
    assert not tf.saved_model.contains_saved_model(tmp_path)
    print_of = tf.saved_model.experimental.read_fingerprint(tmp_path / "model")
    assert print_of.checkpoint_hash
    assert print_of.singleprint().count("/") == 3


def test_what_was_trained_goes_on(tmp_path):
    model = tf.Module()
    model.w = tf.Variable([1.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def loss(x):
        return tf.reduce_sum((x * model.w - 3.0) ** 2)

    model.loss = loss
    loaded = again(model, tmp_path)
    before = loaded.loss([1.0])
    for _ in range(20):
        with tf.GradientTape() as tape:
            value = loaded.loss(tf.constant([1.0]))
        loaded.w.assign_sub(0.1 * tape.gradient(value, loaded.w))
    assert loaded.loss([1.0]) < 0.01 * before
    assert model.w.numpy() == [1.0]


def test_calls_find_their_trace(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda x, k=1: x + k)
    model.f(tf.constant(1))
    model.f(tf.constant([1.0, 2.0]), k=2)
    loaded = again(model, tmp_path)
    assert loaded.f(tf.constant(5)).numpy() == 6
    assert loaded.f(5).numpy() == 6
    assert loaded.f(tf.constant([0.0, 1.0]), 2).numpy().tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="Could not find matching concrete function to call"):
        loaded.f(tf.constant(5), 3)
    with pytest.raises(TypeError):
        loaded.f(1, 2, 3)
    assert len(loaded.f.concrete_functions) == 2


def test_a_saved_trace_is_called_with_other_python_values(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda x, options: x * options["by"][0])
    model.f(tf.constant(2.0), {"by": [3, None], "name": "n"})
    loaded = again(model, tmp_path)
    assert loaded.f(tf.constant(4.0), {"by": [3, None], "name": "n"}).numpy() == 12.0
    with pytest.raises(ValueError, match="Could not find"):
        loaded.f(tf.constant(4.0), {"by": [4, None], "name": "n"})


def test_concrete_functions(tmp_path):
    model = tf.Module()
    function = tf.function(lambda x, y: x - y)
    spec = tf.TensorSpec([], tf.float32)
    model.f = function.get_concrete_function(spec, spec)
    loaded = again(model, tmp_path, signatures={})
    assert loaded.f(y=tf.constant(1.0), x=tf.constant(5.0)).numpy() == 4.0
    assert loaded.signatures == {}


def test_objects_that_are_called(tmp_path):
    class Called(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
        def __call__(self, x):
            return x * 3.0

    model = tf.Module()
    model.inner = Called()
    loaded = again(model, tmp_path)
    assert loaded.inner(tf.constant(2.0)).numpy() == 6.0
    assert not callable(loaded)


def test_optimizers_go_on(tmp_path):
    model = tf.Module()
    model.w = tf.Variable([1.0, 2.0])
    model.optimizer = tf.keras.optimizers.Adam(0.1)

    @tf.function(input_signature=[])
    def step():
        model.optimizer.apply_gradients([(model.w * 2.0, model.w)])
        return model.w + 0.0

    model.step = step
    model.step()
    loaded = again(model, tmp_path)
    for _ in range(3):
        np.testing.assert_allclose(loaded.step(), model.step(), rtol=1e-6)
    # Slots are saved once more.
    twice = again(loaded, tmp_path / "twice")
    np.testing.assert_allclose(twice.step(), model.step(), rtol=1e-6)


def test_keras_models(tmp_path):
    inputs = tf.keras.Input((4,), name="x")
    hidden = tf.keras.layers.Dense(5, activation="relu")(inputs)
    hidden = tf.keras.layers.BatchNormalization()(tf.keras.layers.Dropout(0.5)(hidden))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(2, name="out")(hidden))
    x = tf.random.normal([3, 4])
    loaded = again(model, tmp_path)
    np.testing.assert_allclose(loaded(x), model(x), rtol=1e-6)
    assert loaded.signatures["serving_default"](inputs=x)["output_0"].shape == [3, 2]
    assert not np.allclose(loaded(x, training=True), model(x))


def test_datasets_and_other_values_do_not_stop_a_save(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda x, unknown: x)
    model.f(tf.constant(1.0), object())  # no file can hold its argument: the trace is left out
    model.n, model.text, model.array = 3, "text", np.zeros(2)
    loaded = again(model, tmp_path)
    assert not hasattr(loaded, "n")
    assert loaded.f.concrete_functions == []


# What cannot be saved.


def test_what_is_no_object(tmp_path):
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(3, tmp_path)


def test_variables_that_the_object_does_not_hold(tmp_path):
    hidden = tf.Variable(1.0)
    model = tf.Module()
    model.f = tf.function(lambda x: x * hidden, input_signature=[tf.TensorSpec(None, tf.float32)])
    with pytest.raises(AssertionError, match="references an 'untracked' resource"):
        tf.saved_model.save(model, tmp_path)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: (x, (x, x)), "Got a non-Tensor value"),
        (lambda x: {"a": x, "b": [x]}, "Got a non-Tensor value"),
        (lambda x: {1: x}, "non-string key 1"),
    ],
)
def test_functions_that_are_no_signatures(tmp_path, function, text):
    model = tf.Module()
    model.f = tf.function(function)
    concrete = model.f.get_concrete_function(tf.TensorSpec([], tf.float32))
    with pytest.raises(ValueError, match=text):
        tf.saved_model.save(model, tmp_path, signatures=concrete)
    with pytest.raises(ValueError, match="Expected a TensorFlow function"):
        tf.saved_model.save(model, tmp_path, signatures=model.f)


def test_a_reserved_name(tmp_path):
    model = tf.Module()
    model.signatures = tf.Variable(1.0)
    with pytest.raises(ValueError, match=r"del obj\.signatures"):
        tf.saved_model.save(model, tmp_path)


def test_inside_of_a_function(tmp_path):
    model = tf.Module()

    @tf.function
    def saves():
        tf.saved_model.save(model, tmp_path)

    with pytest.raises(AssertionError, match="not supported inside a traced"):
        saves()


def test_signatures_are_called_by_name(tmp_path):
    model = tf.Module()
    spec = tf.TensorSpec([], tf.float32)
    model.f = tf.function(lambda x, y: x - y, input_signature=[spec, spec])
    signature = again(model, tmp_path).signatures["serving_default"]
    assert signature(x=tf.constant(3.0), y=tf.constant(1.0))["output_0"].numpy() == 2.0
    with pytest.raises(TypeError):
        signature(tf.constant(3.0), y=tf.constant(1.0))
    with pytest.raises(TypeError):
        signature(x=tf.constant(3.0))


# What cannot be loaded.


def test_no_model(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        tf.saved_model.load(tmp_path)


def test_tags(tmp_path):
    model = tf.Module()
    tf.saved_model.save(model, tmp_path, options=tf.saved_model.SaveOptions(extra_tags=["gpu"]))
    tf.saved_model.load(tmp_path, tags=["gpu", "serve"])
    with pytest.raises(ValueError, match="incompatible argument to `tags`"):
        tf.saved_model.load(tmp_path, tags="serve")


def test_a_file_outside_of_the_model(tmp_path):
    save(tf, tmp_path)
    path = tmp_path / "model" / "saved_model.pb"
    message = protos.SavedModel.FromString(path.read_bytes())
    message.meta_graphs[0].asset_file_def[0].filename = "../../words.txt"
    path.write_bytes(message.SerializeToString())
    with pytest.raises(ValueError, match="which is outside of it"):
        tf.saved_model.load(tmp_path / "model")


NAMED = (OSError, ValueError, TypeError, KeyError, tf.errors.OpError)


def fuzz(tmp_path, seed, count):
    """Models with bytes and with numbers changed: a named error, or a model."""
    save(tf, tmp_path)
    path = tmp_path / "model" / "saved_model.pb"
    sound = path.read_bytes()
    rng = random.Random(seed)
    for i in range(count):
        if i % 2:
            data = bytearray(sound)
            data[rng.randrange(len(data))] = rng.randrange(256)
        else:
            message = protos.SavedModel.FromString(sound)
            change(message.meta_graphs[0].object_graph_def, rng)
            data = message.SerializeToString()
        path.write_bytes(data)
        with contextlib.suppress(*NAMED):
            model = tf.saved_model.load(tmp_path / "model")
            if hasattr(model, "serve"):
                model.serve(tf.ones([1, 2]))


def change(graph, rng):
    node = rng.choice(graph.nodes)
    number = rng.choice([-1, 0, 3, 10**6, len(graph.nodes) - 1])
    kind = rng.randrange(5)
    if kind == 0 and node.children:
        rng.choice(node.children).node_id = number
    elif kind == 1 and node.children:
        rng.choice(node.children).local_name = rng.choice(["", "v", "0", "999999999"])
    elif kind == 2:
        concrete = graph.concrete_functions[rng.choice(sorted(graph.concrete_functions))]
        concrete.bound_inputs.append(number)
    elif kind == 3:
        node.Clear()
    else:
        concrete = graph.concrete_functions[rng.choice(sorted(graph.concrete_functions))]
        concrete.output_signature.CopyFrom(concrete.canonicalized_input_signature)


def test_damaged_models(tmp_path):
    fuzz(tmp_path, 1, 30)


@pytest.mark.slow
def test_many_damaged_models(tmp_path):
    fuzz(tmp_path, 2, 400)


# In graphs and sessions.


def test_a_model_in_a_graph(tmp_path):
    save(tf, tmp_path)
    with tf.Graph().as_default(), v1.Session() as session:
        model = tf.saved_model.load(tmp_path / "model")
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        y = model.serve(tf.ones([1, 2]))["y"]
        assert session.run([y, model.v])[1].tolist() == [1.0, 2.0]
        assert session.run(model.words.__dict__["_initialize"]()) == 1


def test_sessions_load_models(tmp_path):
    save(tf, tmp_path)
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, ["serve"], str(tmp_path / "model"))
        signature = meta.signature_def["serving_default"]
        fetched = {key: info.name for key, info in signature.outputs.items()}
        found = session.run(fetched, {signature.inputs["x"].name: [[1.0, 2.0]]})
        assert found["y"].tolist() == [[6.0, 9.0]]
        look = meta.signature_def["look"]
        keys = {look.inputs["k"].name: ["b", "x", "q", "?"]}
        assert session.run(look.outputs["output_0"].name, keys).tolist() == [0, 5, 8, -2]
        with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
            v1.saved_model.load(session, ["train"], str(tmp_path / "model"))


def test_graphs_of_sessions(tmp_path):
    words = tmp_path / "w.txt"
    words.write_text("word")
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", initializer=[[1.0], [2.0]])
        local = v1.get_variable("n", initializer=0.0, collections=["local_variables"], trainable=False)
        y = tf.matmul(x, w, name="y")
        path = tf.constant(str(words))
        text = tf.io.read_file(path)
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(tmp_path / "model"))
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        read = v1.saved_model.predict_signature_def({"x": x}, {"text": text})
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature, "read": read},
            assets_collection=[path], main_op=v1.local_variables_initializer(),
        )  # fmt: skip
        builder.add_meta_graph(["serve", "tpu"], {"serving_default": signature})
        builder.save()
        del local
    words.unlink()
    with tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["serve"], str(tmp_path / "model"))
        assert session.run("y:0", {"x:0": [[1.0, 1.0]]}).tolist() == [[3.0]]
        assert session.run("n/Read/ReadVariableOp:0") == 0.0
    model = tf.saved_model.load(tmp_path / "model", tags=["serve"])
    call = model.signatures["serving_default"]
    assert call(tf.constant([[1.0, 2.0]]))["y"].numpy().tolist() == [[5.0]]
    assert model.signatures["read"](tf.zeros([1, 2]))["text"].numpy() == b"word"
    with tf.GradientTape() as tape:
        y = call(tf.constant([[1.0, 2.0]]))["y"]
    assert tape.gradient(y, model.variables[0]).numpy().tolist() == [[1.0], [2.0]]
    assert model.prune("x:0", "y:0")(tf.ones([1, 2])).numpy().tolist() == [[3.0]]
    with pytest.raises(ValueError, match="requires a `tags=` argument"):
        tf.saved_model.load(tmp_path / "model")


def test_resources_of_ones_own(tmp_path):
    class Words(tf.saved_model.experimental.TrackableResource):
        def _create_resource(self):
            return tf.raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name="w")

        def _initialize(self):
            tf.raw_ops.LookupTableImportV2(
                table_handle=self.resource_handle, keys=tf.constant([1], tf.int64),
                values=tf.constant([10], tf.int64),
            )  # fmt: skip

    model = tf.Module()
    model.words = Words()
    model.words._initialize()

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
    def find(key):
        return tf.raw_ops.LookupTableFindV2(
            table_handle=model.words.resource_handle, keys=key, default_value=tf.constant(0, tf.int64)
        )

    model.find = find
    assert model.find(1).numpy() == 10
    assert again(model, tmp_path).find(1).numpy() == 10


def test_made_twice_is_the_same(tmp_path):
    """Assets with one name in two folders get two names."""
    model = tf.Module()
    for i in range(2):
        os.makedirs(tmp_path / str(i))
        (tmp_path / str(i) / "f.txt").write_text(str(i))
        setattr(model, f"file{i}", tf.saved_model.Asset(str(tmp_path / str(i) / "f.txt")))
    loaded = again(model, tmp_path / "model")
    for i in range(2):
        with open(getattr(loaded, f"file{i}").asset_path.numpy()) as file:
            assert file.read() == str(i)
    assert make(tf, tmp_path).file.asset_path.numpy().endswith(b"words.txt")


def test_names_of_a_signature_may_be_in_any_order(tmp_path):
    model = tf.Module()
    spec = tf.TensorSpec([], tf.float32)
    model.f = tf.function(lambda z, b, a: z - 2.0 * b - 3.0 * a, input_signature=[spec] * 3)
    given = {"a": tf.constant(1.0), "z": tf.constant(10.0), "b": tf.constant(2.0)}
    for i in range(5):
        loaded = again(model, tmp_path / str(i))
        signature = loaded.signatures["serving_default"]
        assert signature(**given)["output_0"].numpy() == 3.0
        assert str(signature.structured_outputs) == (
            "{'output_0': TensorSpec(shape=(), dtype=tf.float32, name='output_0')}"
        )
        model = loaded


def test_partial_loading_sets_children_as_the_program_says(tmp_path):
    model = tf.Module()
    model.layer = tf.Module()
    model.layer.v = tf.Variable(3.0)
    tf.saved_model.save(model, str(tmp_path))
    taken, calls = tf.Module(), []
    own = tf.Variable(0.0)

    def set_child(owner, name, value):
        calls.append((owner, name, value))

    given = {"root": (taken, set_child), "root.layer.v": (own, setattr)}
    loaded = tf.__internal__.saved_model.load_partial(str(tmp_path), given)
    assert loaded["root"] is taken
    assert loaded["root.layer.v"] is own
    assert float(own) == 3.0
    assert (calls[0][0] is taken, calls[0][1]) == (True, "layer")
    assert calls[0][2].v is own
