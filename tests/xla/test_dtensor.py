"""Tensors on a mesh of eight CPU devices of XLA's: how results lie, and that they are those of one device."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

pytest.importorskip("jax")
# Before jax counts its devices: those that stand for GPUs come first.
if "force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=12"

import tapeflow as tf
from tapeflow.core import config
from tapeflow.experimental import dtensor

pytestmark = pytest.mark.xla

U = dtensor.UNSHARDED


@pytest.fixture(scope="module")
def mesh():
    host = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 8)
    yield dtensor.create_mesh([("x", 2), ("y", 4)], device_type="CPU")
    config.reset_devices()


@pytest.fixture
def place(mesh):
    return lambda array, *specs: dtensor.copy_to_mesh(array, dtensor.Layout(list(specs), mesh))


@pytest.fixture
def array(rng):
    return rng.normal(size=(8, 4)).astype(np.float32)


def specs(tensor):
    return dtensor.fetch_layout(tensor).sharding_specs


def whole(tensor):
    everywhere = dtensor.Layout.replicated(dtensor.fetch_layout(tensor).mesh, tensor.shape.rank)
    return dtensor.relayout(tensor, everywhere).numpy()


def test_parts(mesh, place, array):
    tensor = place(array, "x", "y")
    parts = dtensor.unpack(tensor)
    assert [part.device[-5:] for part in parts] == [f"CPU:{i}" for i in range(8)]
    for part, at in zip(parts, mesh.local_device_locations(), strict=True):
        np.testing.assert_array_equal(part.numpy(), array[4 * at["x"] : 4 * at["x"] + 4, at["y"] : at["y"] + 1])
    packed = dtensor.pack(parts, dtensor.fetch_layout(tensor))
    assert specs(packed) == ["x", "y"]
    np.testing.assert_array_equal(whole(packed), array)


def test_text_shows_the_part_of_each_device(mesh, place):
    layout = dtensor.Layout(["y"], mesh)
    text = str(dtensor.copy_to_mesh(np.arange(4.0, dtype=np.float32), layout))
    shown = ", ".join(f'"CPU:{i}": [{i % 4}]' for i in range(8))
    assert text == f'tf.Tensor({{{shown}}}, layout="{layout.to_string()}", shape=(4,), dtype=float32)'
    assert repr(place(np.float32(2))) .startswith("<tf.Tensor: shape=(), dtype=float32, value=2, layout=")


def test_sharded_elements_are_not_copied_to_the_host(place, array):
    for read in (lambda x: x.numpy(), np.asarray):
        with pytest.raises(tf.errors.UnimplementedError, match="non-single-device and non-replicated DTensor"):
            read(place(array, "x", U))
    with pytest.raises(RuntimeError, match="non-single-device and non-replicated DTensor"):
        place(array, "x", U).cpu()
    np.testing.assert_array_equal(place(array, U, U).cpu().numpy(), array)


# What TensorFlow 2.21 says of the layouts.
OPS = {
    "neg": (lambda x, h, r: -x, ["x", "y"]),
    "scalar": (lambda x, h, r: x + 1.0, ["x", "y"]),
    "sharded and whole": (lambda x, h, r: h + r, ["x", U]),
    "sharded and sharded": (lambda x, h, r: x + h, ["x", "y"]),
    "transpose": (lambda x, h, r: tf.transpose(x), ["y", "x"]),
    "sum 0": (lambda x, h, r: tf.reduce_sum(x, 0), ["y"]),
    "sum 1": (lambda x, h, r: tf.reduce_sum(x, 1), ["x"]),
    "sum": (lambda x, h, r: tf.reduce_sum(x), []),
    "mean": (lambda x, h, r: tf.reduce_mean(x, 0), ["y"]),
    "reshape": (lambda x, h, r: tf.reshape(x, [4, 8]), ["x", U]),
    "expand": (lambda x, h, r: tf.expand_dims(x, 0), [U, "x", "y"]),
    "softmax": (lambda x, h, r: tf.nn.softmax(x), ["x", "y"]),
    "argmax": (lambda x, h, r: tf.argmax(x, 1), ["x"]),
    "concat": (lambda x, h, r: tf.concat([h, h], 1), ["x", U]),
    "split": (lambda x, h, r: tf.split(h, 2, 1)[0], ["x", U]),
    "slice": (lambda x, h, r: x[:, 0], ["x"]),
    "gather": (lambda x, h, r: tf.gather(r, [0, 1]), [U, U]),
    "one_hot": (lambda x, h, r: tf.one_hot(tf.argmax(h, 1), 4), ["x", U]),
    "cast": (lambda x, h, r: tf.cast(x, tf.float64), ["x", "y"]),
    "zeros_like": (lambda x, h, r: tf.zeros_like(x), ["x", "y"]),
    "where": (lambda x, h, r: tf.where(x > 0, x, 0.0), ["x", "y"]),
    "cumsum": (lambda x, h, r: tf.cumsum(h, 1), ["x", U]),
    "top_k": (lambda x, h, r: tf.math.top_k(h, 2)[0], ["x", U]),
    "matmul": (lambda x, h, r: tf.matmul(h, r, transpose_b=True), ["x", U]),
    "contracted": (lambda x, h, r: tf.matmul(h, h, transpose_a=True), [U, U]),
    "cross entropy": (lambda x, h, r: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(h), h), ["x"]),
    "moments": (lambda x, h, r: tf.nn.moments(h, [0])[0], [U]),
    "unique": (lambda x, h, r: tf.unique(r[0])[0], [U]),  # which does not compile
    "while": (lambda x, h, r: tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * 2.0), [0, x])[1], ["x", "y"]),
}  # fmt: skip


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", OPS)
def test_results_lie_as_in_tensorflow(place, array, name, compiled):
    function, wanted = OPS[name]
    run = tf.function(function) if compiled else function
    found = run(place(array, "x", "y"), place(array, "x", U), place(array, U, U))
    assert specs(found) == wanted or compiled  # a whole function leaves XLA more to choose
    plain = function(*[tf.constant(array)] * 3)
    np.testing.assert_allclose(whole(found), plain.numpy(), rtol=1e-5, atol=1e-5)


def test_a_layout_that_cannot_be_said_is_made_one_that_can(place, array):
    found = tf.reshape(place(array, "x", "y"), [-1])
    assert specs(found) in (["x"], ["y"], [U])
    np.testing.assert_array_equal(whole(found), array.ravel())
    np.testing.assert_array_equal(whole(place(array, "x", "y")[:3]), array[:3])  # 3 rows on 2 devices


def test_relayout(mesh, place, array):
    tensor = place(array, "x", "y")
    for wanted in ([U, U], ["y", "x"], [U, "x"]):
        found = dtensor.relayout(tensor, dtensor.Layout(wanted, mesh))
        assert specs(found) == wanted
        np.testing.assert_array_equal(whole(found), array)
    assert specs(dtensor.relayout(tensor, dtensor.Layout([dtensor.MATCH, U], mesh))) == ["x", U]
    assert specs(dtensor.relayout_like(place(array, U, U), tensor)) == ["x", "y"]
    inside = tf.function(lambda x: dtensor.relayout(x * 2.0, dtensor.Layout([U, "x"], mesh)))
    assert specs(inside(tensor)) == [U, "x"]
    line = dtensor.create_mesh([("z", 8)], device_type="CPU")
    other = dtensor.relayout(tensor, dtensor.Layout(["z", U], line))
    np.testing.assert_array_equal(whole(other), array)
    with pytest.raises(tf.errors.UnknownError, match="must have same mesh configuration"):
        tensor + other


def test_layouts_have_to_divide(mesh, place):
    with pytest.raises(tf.errors.UnknownError, match="requires dimension 0 to be divisible by sharding specified"):
        place(np.zeros([3, 4], np.float32), "x", "y")
    with pytest.raises(tf.errors.UnknownError, match="requires dimension 0 to be divisible"):
        dtensor.call_with_layout(tf.ones, dtensor.Layout(["x", "y"], mesh), shape=(3, 4))


def test_each_device_keeps_its_part_alone(mesh):
    variable = dtensor.DVariable(tf.zeros([64, 64]), layout=dtensor.Layout(["x", "y"], mesh))
    assert [part.shape for part in dtensor.unpack(variable)] == [(32, 16)] * 8
    doubled = tf.function(lambda: variable * 2.0)()
    assert [part.shape for part in dtensor.unpack(doubled)] == [(32, 16)] * 8


@pytest.mark.parametrize("alone", [False, True], ids=["call_with_layout", "function"])
def test_random_numbers_are_those_of_one_device(mesh, alone):
    layout = dtensor.Layout(["x", "y"], mesh)
    draw = tf.function(tf.random.stateless_normal) if alone else tf.random.stateless_normal
    found = dtensor.call_with_layout(draw, layout, shape=(8, 4), seed=(1, 2))
    assert specs(found) == ["x", "y"]
    np.testing.assert_allclose(whole(found), tf.random.stateless_normal((8, 4), (1, 2)).numpy(), rtol=1e-5, atol=1e-6)


def test_strings(mesh):
    tensor = dtensor.copy_to_mesh(np.array([b"a", b"b", b"c", b"d"]), dtensor.Layout(["x"], mesh))
    assert [part.numpy().tolist() for part in dtensor.unpack(tensor)][3:5] == [[b"a", b"b"], [b"c", b"d"]]
    packed = dtensor.pack(dtensor.unpack(tensor), dtensor.fetch_layout(tensor))
    assert re.search(r'"CPU:7": \["c" "d"\]', str(packed))


# Training.

OPTIMIZERS = {
    "sgd": lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9),
    "adam": lambda: tf.keras.optimizers.Adam(0.05),
    "1.x": lambda: tf.compat.v1.train.AdamOptimizer(0.05),
}


def trained(put, array, optimizer, compiled):
    """The losses of a small model, its weights and the variables of the optimizer."""
    kernel = put(np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4), U, "y")
    bias = put(np.zeros(4, np.float32), "y")
    given = (dtensor.copy_to_mesh(array, dtensor.Layout(["x", U], kernel.layout.mesh))
             if isinstance(kernel, dtensor.DVariable) else tf.constant(array))  # fmt: skip

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(tf.matmul(x, kernel) + bias) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, [kernel, bias]), [kernel, bias], strict=True))
        return loss

    run = tf.function(step) if compiled else step
    losses = [float(run(given)) for _ in range(3)]
    kept = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
    return losses, [kernel, bias], kept


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_is_that_of_one_device(mesh, array, name, compiled):
    want, weights, _ = trained(lambda x, *_: tf.Variable(x), array, OPTIMIZERS[name](), compiled)

    def put(x, *layout):
        return dtensor.DVariable(x, layout=dtensor.Layout(list(layout), mesh))

    losses, found, kept = trained(put, array, OPTIMIZERS[name](), compiled)
    np.testing.assert_allclose(losses, want, rtol=1e-5)
    assert losses[-1] < losses[0]
    for a, b in zip(found, weights, strict=True):
        np.testing.assert_allclose(whole(a.read_value()), b.numpy(), rtol=1e-4, atol=1e-5)
    assert [v.layout.sharding_specs for v in found] == [[U, "y"], ["y"]]
    slots = [v for v in kept if v.shape.rank]
    assert slots
    assert all(specs(v)[-1] == "y" for v in slots)


def test_variables_keep_their_layouts(mesh, place, array):
    variable = dtensor.DVariable(place(array, "x", "y"))
    variable.assign(place(array * 2, U, U))
    assert variable.layout.sharding_specs == ["x", "y"]
    variable.assign_add(place(array, "x", U))
    np.testing.assert_allclose(whole(variable.read_value()), array * 3, rtol=1e-6)

    @tf.function
    def change(x):
        variable.assign(tf.transpose(tf.reshape(x, [4, 8])))

    change(place(array, U, U))
    assert variable.layout.sharding_specs == ["x", "y"]
    np.testing.assert_array_equal(whole(variable.read_value()), array.reshape(4, 8).T)
    line = dtensor.create_mesh([("z", 8)], device_type="CPU")
    with pytest.raises(tf.errors.UnknownError, match="must have same mesh configuration"):
        variable.assign(dtensor.copy_to_mesh(array, dtensor.Layout([U, U], line)))


def test_what_a_function_cannot_compile_runs_on_the_host(mesh, place, array):
    variable = dtensor.DVariable(place(array, "x", "y"))

    @tf.function
    def run(x):
        variable.assign_add(x)
        return tf.reduce_sum(tf.unique(tf.reshape(x, [-1]))[0]) + tf.reduce_sum(variable)

    found = run(place(array, "x", U))
    assert dtensor.is_dtensor(found)
    np.testing.assert_allclose(found.numpy(), array.sum() * 3, rtol=1e-5)
    assert variable.layout.sharding_specs == ["x", "y"]


def test_a_checkpoint_is_restored_to_any_layout(mesh, place, array, tmp_path):
    saved = dtensor.DVariable(place(array, "x", "y"))
    path = tf.train.Checkpoint(v=saved).save(str(tmp_path / "a"))
    np.testing.assert_array_equal(tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE"), array)
    other, plain = dtensor.DVariable(place(array * 0, U, "x")), tf.Variable(array * 0)
    for variable in (other, plain):
        tf.train.Checkpoint(v=variable).restore(path).assert_consumed()
    assert other.layout.sharding_specs == [U, "x"]
    np.testing.assert_array_equal(whole(other.read_value()), array)
    np.testing.assert_array_equal(plain.numpy(), array)


@pytest.mark.parametrize("batched", [False, True])
def test_datasets(mesh, batched):
    numbers = tf.data.Dataset.from_tensor_slices((np.arange(64.0).reshape(16, 4), np.arange(16)))
    layouts = (dtensor.Layout(["x", "y"], mesh), dtensor.Layout(["x"], mesh))
    dataset = dtensor.DTensorDataset(
        numbers.batch(4, drop_remainder=True) if batched else numbers, mesh=mesh, layouts=layouts,
        global_batch_size=8, dataset_already_batched=batched, batch_dim="x", prefetch=1,
    )  # fmt: skip
    found = list(dataset)
    assert [specs(x) for x, _ in found] == [["x", "y"]] * 2
    assert [part.numpy().tolist() for part in dtensor.unpack(found[1][1])][3:5] == [[8, 9, 10, 11], [12, 13, 14, 15]]
    with pytest.raises(ValueError, match="batch_dim x was specified but at least one layout did not contain it"):
        dtensor.DTensorDataset(numbers, mesh=mesh, layouts=(layouts[0], dtensor.Layout([U], mesh)),
                               global_batch_size=8, batch_dim="x")  # fmt: skip


def test_second_derivatives(place, array):
    variable = dtensor.DVariable(place(array, "x", "y"))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_sum(tf.sin(variable) * variable)
        first = inner.gradient(loss, variable)
    second = outer.gradient(first, variable)
    assert specs(second) == ["x", "y"]
    np.testing.assert_allclose(whole(second), 2 * np.cos(array) - array * np.sin(array), rtol=1e-4, atol=1e-5)


def test_devices_that_are_not_there():
    many = dtensor.create_mesh([("x", 9)], devices=[f"CPU:{i}" for i in range(9)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="CPU:8 unknown device"):
        dtensor.copy_to_mesh(np.zeros(9), dtensor.Layout(["x"], many))
    twice = dtensor.create_mesh([("x", 2)], devices=["CPU:1", "CPU:1"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="A mesh has each device once"):
        dtensor.copy_to_mesh(np.zeros(2), dtensor.Layout(["x"], twice))
