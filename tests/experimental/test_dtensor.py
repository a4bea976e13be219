"""`tf.experimental.dtensor`: meshes and layouts, and a mesh of one CPU, which needs no jax."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.experimental import dtensor

U = dtensor.UNSHARDED
NAMES = [f"CPU:{i}" for i in range(6)]
TEXT = "|x=3,y=2|0,1,2,3,4,5|0,1,2,3,4,5|" + ",".join(NAMES)


@pytest.fixture
def grid():
    return dtensor.Mesh(["x", "y"], np.arange(6).reshape(3, 2), list(range(6)), list(NAMES))


@pytest.fixture
def one():
    return dtensor.create_mesh([("x", 1)], devices=["CPU:0"])


@pytest.fixture
def pair(one):
    return dtensor.copy_to_mesh([[1.0, 2.0]], dtensor.Layout(["x", U], one))


# Meshes.


def test_a_mesh_says_what_it_is(grid):
    assert (grid.name, grid.dim_names, grid.shape(), grid.size) == ("", ["x", "y"], [3, 2], 6)
    assert (grid.dim_size("x"), grid["y"].size, "x" in grid, "z" in grid) == (3, 2, True, False)
    assert (grid.strides, grid.num_local_devices(), grid.device_type()) == ([2, 1], 6, "CPU")
    assert grid.global_device_ids().tolist() == [[0, 1], [2, 3], [4, 5]]
    assert grid.local_device_locations()[3] == {"x": 1, "y": 1}
    assert grid.coords(3).numpy().tolist() == [1, 1]
    assert grid.host_mesh() == grid
    assert (grid.is_remote(), grid.is_single_device()) == (False, False)


def test_a_mesh_is_text(grid):
    assert grid.to_string() == TEXT
    assert repr(grid) == f"Mesh.from_string({TEXT})"
    for twin in (dtensor.Mesh.from_string(TEXT), pickle.loads(pickle.dumps(grid)), copy.deepcopy(grid)):
        assert twin == grid
        assert hash(twin) == hash(grid)
    assert dtensor.Mesh.from_string("named" + TEXT).name == "named"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["x"], [0, 1], [0, 1], NAMES[:2]), "Variable global_device_ids must be an ndarray."),
        ((["x"], np.arange(0), [], []), "Variable global_device_ids must be non-empty."),
        ((["x"], np.array([1, 0]), [0, 1], NAMES[:2]), r"global_device_ids must sequentially increase: \[1 0\]"),
        ((["x", "y"], np.arange(2), [0, 1], NAMES[:2]), "Number of mesh dimensions does not match number"),
        ((["x"], np.arange(2), (0, 1), NAMES[:2]), "Variable local_device_ids must be a list of integers."),
        ((["x"], np.arange(2), [0, 1], tuple(NAMES[:2])), "Variable local_devices must be a list of DeviceSpecs."),
        ((["x"], np.arange(2), [0, 1], []), "Empty list of devices not allowed."),
        ((["x"], np.arange(2), [0, 1], ["GPU:0", "GPU:0"]), "Duplicate devices found in mesh specification"),
        ((["x"], np.arange(2), [0, 1], NAMES[:1]), "does not have same size as local_devices."),
        ((["x"], np.arange(2), [0, 1, 2], NAMES[:3]), "Cannot have more local than gobal device IDs."),
        ((["x"], np.arange(2), [0, 1], ["CPU:0", "GPU:1"]), "Devices containing multiple device_types"),
    ],
)
def test_arguments_of_a_mesh_have_to_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        dtensor.Mesh(*arguments)


def test_errors_of_meshes(grid):
    with pytest.raises(ValueError, match=r"Dimension z does not exist in mesh\.Available dimensions: x,y"):
        grid.dim_size("z")
    with pytest.raises(ValueError, match="Input string is invalid: abc"):
        dtensor.Mesh.from_string("abc")
    with pytest.raises(ValueError, match=r"length of devices \(1\) must be equal to total size of the mesh of"):
        dtensor.create_mesh([("x", 4)], devices=["CPU:0"])
    with pytest.raises(ValueError, match="Conflicting devices"):
        dtensor.create_mesh([("x", 1)], devices=["CPU:0"], device_type="GPU")
    with pytest.raises(ValueError, match="Accelerators are uninitialized"):
        dtensor.create_distributed_mesh([("x", 1)])
    with pytest.raises(ValueError, match="Device type XPU is not CPU, GPU, or TPU"):
        dtensor.local_devices("XPU")


def test_the_system_is_started_once():
    assert dtensor.initialize_accelerator_system("CPU") == "CPU"
    try:
        with pytest.raises(ValueError, match="has already been initialized"):
            dtensor.initialize_accelerator_system("CPU")
        mesh = dtensor.create_distributed_mesh([("x", 1)], "all", local_devices=["CPU:0"])
        assert (mesh.name, mesh.size) == ("all", 1)
        dtensor.barrier(mesh)
    finally:
        dtensor.shutdown_accelerator_system()
    with pytest.raises(ValueError, match="Accelerator system is not initialized"):
        dtensor.shutdown_accelerator_system()


# Layouts.


def test_a_layout_says_what_it_is(grid):
    layout = dtensor.Layout(["y", U, "x"], grid)
    assert (layout.sharding_specs, layout.rank, layout.shape, layout.mesh) == (["y", U, "x"], 3, [3, 2], grid)
    assert [layout.num_shards(i) for i in range(3)] == [2, 1, 3]
    assert not layout.is_fully_replicated()
    assert layout.offset_to_shard()[:3] == [(0, 0, 0), (1, 0, 0), (0, 0, 1)]
    assert layout.offset_tuple_to_global_index((1, 0, 2)) == 5
    assert layout.local_shape_from_global_shape([4, 5, 6]) == (2, 5, 2)
    assert layout.global_shape_from_local_shape([2, 5, 2]) == (4, 5, 6)
    assert layout.delete([0]).sharding_specs == [U, "x"]
    assert layout.delete(2).sharding_specs == ["y", U]
    assert dtensor.Layout.replicated(grid, 2).is_fully_replicated()
    assert dtensor.Layout.batch_sharded(grid, "x", 3, axis=1).sharding_specs == [U, "x", U]
    assert dtensor.Layout.inner_sharded(grid, "x", 3).sharding_specs == [U, U, "x"]


def test_a_layout_is_text(grid):
    layout = dtensor.Layout(["x", U], grid)
    assert layout.to_string() == f"sharding_specs:x,unsharded, mesh:{TEXT}"
    assert repr(layout) == f"Layout.from_string({layout.to_string()})"
    scalar, single = dtensor.Layout([], grid), dtensor.Layout.from_device("/device:CPU:0")
    assert single.to_string() == "maximal:true, mesh:/device:CPU:0"
    for each in (layout, layout.to_parted(), scalar, single):
        assert dtensor.Layout.from_string(each.to_string()) == each == pickle.loads(pickle.dumps(each))
    assert layout.to_parted() != layout


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (["z"], "z: A dimension sharding must either be a valid mesh dimension or UNSHARDED."),
        (["x", "x"], "Mesh dimension x was repeated in sharding specification"),
    ],
)
def test_specs_have_to_fit_the_mesh(grid, specs, message):
    with pytest.raises(ValueError, match=message):
        dtensor.Layout(specs, grid)


def test_errors_of_layouts(grid):
    with pytest.raises(ValueError, match="mesh is not a valid Mesh object"):
        dtensor.Layout(["x"], 3)
    with pytest.raises(ValueError, match="Expected 2 items but found 1abc"):
        dtensor.Layout.from_string("abc")
    with pytest.raises(ValueError, match="axis 5 is out of bounds"):
        dtensor.Layout.batch_sharded(grid, "x", 3, axis=5)


# One CPU.


def test_operations_stay_on_the_mesh(one, pair):
    assert pair.device == dtensor.device_name() == "/job:localhost/replica:0/task:0/device:CUSTOM:0"
    assert dtensor.fetch_layout(pair) == dtensor.Layout(["x", U], one)
    product = tf.matmul(pair, pair, transpose_b=True) + 1.0
    assert dtensor.is_dtensor(product)
    assert product.numpy().tolist() == [[6]]
    assert [x.numpy().tolist() for x in dtensor.unpack(pair)] == [[[1, 2]]]
    assert not dtensor.is_dtensor(tf.constant(1.0))
    assert not dtensor.is_dtensor(3)


def test_text(pair):
    layout = dtensor.fetch_layout(pair).to_string()
    assert str(pair) == f'tf.Tensor([[1 2]], layout="{layout}", shape=(1, 2), dtype=float32)'
    assert repr(pair) == f'<tf.Tensor: shape=(1, 2), dtype=float32, value=[[1 2]], layout="{layout}">'
    variable = dtensor.DVariable(pair, name="v")
    assert str(variable) == f"<tf.Variable 'v:0' shape=(1, 2) dtype=float32, value=[[1 2]], layout=\"{layout}\">"


def test_functions_and_variables(pair):
    variable = dtensor.DVariable(pair)

    @tf.function
    def add(x):
        variable.assign_add(x)
        return variable * 2.0

    result = add(pair)
    assert dtensor.is_dtensor(result)
    assert result.numpy().tolist() == [[4, 8]]
    assert variable.layout == dtensor.fetch_layout(pair)
    variable.assign_sub(pair)
    assert variable.numpy().tolist() == [[1, 2]]


def test_gradients(pair):
    variable = dtensor.DVariable(pair)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(variable**3)
    gradient = tape.gradient(loss, variable)
    assert dtensor.is_dtensor(gradient)
    assert gradient.numpy().tolist() == [[3, 12]]


def test_a_gradient_goes_back_to_where_its_tensor_was(one):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(dtensor.copy_to_mesh(x, dtensor.Layout([U], one)) ** 2)
    gradient = tape.gradient(loss, x)
    assert not dtensor.is_dtensor(gradient)
    assert gradient.numpy().tolist() == [2, 4]


def test_calls_with_a_layout(one):
    layout = dtensor.Layout(["x", U], one)
    for made in (
        dtensor.call_with_layout(tf.ones, layout, shape=(2, 3)), tf.ones([2, 3], layout=layout),
        dtensor.call_with_layout(tf.function(tf.ones), layout, shape=(2, 3)), tf.fill([2, 3], 1.0, layout=layout),
        tf.ones_like(np.zeros([2, 3], np.float32), layout=layout),
    ):  # fmt: skip
        assert dtensor.fetch_layout(made) == layout
        assert made.numpy().tolist() == [[1, 1, 1]] * 2
    assert not dtensor.is_dtensor(dtensor.call_with_layout(tf.ones, None, shape=(2,)))
    with pytest.raises(ValueError, match="layout must be None or"):
        tf.zeros([2], layout="x")


def test_the_default_mesh(one):
    assert dtensor.get_default_mesh() is None
    with dtensor.default_mesh(one), dtensor.run_on(one):
        assert dtensor.get_default_mesh() == one
        assert dtensor.is_dtensor(tf.zeros([2]))
    assert not dtensor.is_dtensor(tf.zeros([2]))
    with pytest.raises(ValueError, match="Expect `mesh` to be `Mesh`, got <class 'int'>"), dtensor.default_mesh(3):
        pass


def test_checkpoints(one, tmp_path, pair):
    variable = dtensor.DVariable(pair)
    checkpoint = dtensor.DTensorCheckpoint(one, v=variable)
    path = checkpoint.save(str(tmp_path / "a"))
    variable.assign(pair * 5.0)
    checkpoint.restore(path).assert_consumed()
    assert variable.numpy().tolist() == [[1, 2]]
    dtensor.name_based_save(one, str(tmp_path / "b"), {"w": variable})
    found = dtensor.name_based_restore(one, str(tmp_path / "b"), {"w": pair})
    assert dtensor.fetch_layout(found["w"]) == variable.layout
    assert found["w"].numpy().tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="must be a DTensor"):
        dtensor.name_based_restore(one, str(tmp_path / "b"), {"w": tf.constant(1.0)})


def test_bfloat16_in_checkpoints(tmp_path, one):
    variable = dtensor.DVariable(dtensor.copy_to_mesh([1.0, 1 + 2**-12], dtensor.Layout([U], one)))
    dtensor.enable_save_as_bf16([variable, tf.Variable(1.0)])
    checkpoint = tf.train.Checkpoint(v=variable)
    path = checkpoint.save(str(tmp_path / "a"))
    assert dict(tf.train.list_variables(path)).keys() >= {"v/.ATTRIBUTES/VARIABLE_VALUE"}
    assert tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").dtype == tf.bfloat16
    checkpoint.restore(path).assert_consumed()
    assert variable.numpy().tolist() == [1, 1]


def test_datasets(one):
    numbers = tf.data.Dataset.from_tensor_slices((np.arange(10.0).reshape(5, 2), np.arange(5)))
    layouts = (dtensor.Layout(["x", U], one), dtensor.Layout(["x"], one))
    given = {"mesh": one, "layouts": layouts, "global_batch_size": 2, "batch_dim": "x"}
    dataset = dtensor.DTensorDataset(numbers, **given)
    assert dataset.element_spec[0].shape == (2, 2)
    assert [y.numpy().tolist() for _, y in dataset] == [[0, 1], [2, 3]]
    assert dtensor.fetch_layout(iter(dataset).get_next()[0]) == layouts[0]
    with pytest.raises(ValueError, match="Expected layout with rank 2"):
        dtensor.DTensorDataset(numbers, **{**given, "layouts": (layouts[1], layouts[1])})
    with pytest.raises(NotImplementedError, match="Multi-client DTensorDataset"):
        dtensor.DTensorDataset(numbers, **given, tf_data_service_config=1)


# Errors.


def test_layouts_have_to_fit_tensors(one, pair):
    with pytest.raises(tf.errors.UnknownError, match="requires matching rank for layout and input, but got 1"):
        dtensor.relayout(pair, dtensor.Layout([U], one))
    with pytest.raises(ValueError, match="did not match expected layout"):
        dtensor.check_layout(pair, dtensor.Layout([U, U], one))
    other = dtensor.create_mesh([("z", 1)], devices=["CPU:0"])
    with pytest.raises(tf.errors.UnknownError, match="must have same mesh configuration"):
        pair + dtensor.relayout(pair, dtensor.Layout([U, U], other))


def test_tensors_of_the_host_are_copied_if_they_are_small(one, pair):
    with pytest.raises(tf.errors.UnimplementedError, match=r"AddV2 got a regular tensor for input 1 \(shape \[1,2\]\)"):
        pair + tf.constant([[1.0, 2.0]])
    numbers = dtensor.copy_to_mesh(np.arange(19), dtensor.Layout([U], one))
    assert (numbers + np.arange(19)).numpy()[18] == 36
    many = dtensor.copy_to_mesh(np.arange(20), dtensor.Layout([U], one))
    with pytest.raises(tf.errors.UnimplementedError, match="but was expecting a DTensor"):
        many + np.arange(20)
    with pytest.raises(tf.errors.UnimplementedError, match="AssignVariableOp got a regular tensor"):
        dtensor.DVariable(pair).assign([[1.0, 2.0]])


def test_what_is_on_no_mesh(pair):
    plain = tf.constant(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="FetchLayout expects a tensor placed on the"):
        dtensor.fetch_layout(plain)
    with pytest.raises(tf.errors.InvalidArgumentError, match="DTensorUnpack expects a tensor placed on the DTensor"):
        dtensor.unpack(plain)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Neither layout nor DTensor initial value are provided"):
        dtensor.DVariable([1.0])
    for value in (1.0, None, [1, 2]):
        assert dtensor.fetch_layout(value) is None
        with pytest.raises(TypeError, match="Expecting a Tensor, got <class"):
            dtensor.unpack(value)
    with pytest.raises(RuntimeError, match="`fetch_layout` must be called eagerly"):
        tf.function(dtensor.fetch_layout)(pair)


def test_whether_processes_watch_each_other(monkeypatch):
    monkeypatch.delenv("DTENSOR_ENABLE_HEARTBEAT", raising=False)
    assert dtensor.heartbeat_enabled()
    for text, expected in (("0", False), ("False", False), ("1", True), ("TRUE", True)):
        monkeypatch.setenv("DTENSOR_ENABLE_HEARTBEAT", text)
        assert dtensor.heartbeat_enabled() is expected


def test_parts_have_to_fit(one):
    layout = dtensor.Layout([U], one)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected 1 inputs to DTensorPack, but got 2"):
        dtensor.pack([[1.0], [2.0]], layout)
    with pytest.raises(tf.errors.InvalidArgumentError, match="should have the same rank"):
        dtensor.pack([1.0], layout)


def test_one_cpu_needs_no_jax_and_several_do():
    program = """
        import sys
        sys.modules["jax"] = None
        import tapeflow as tf
        from tapeflow.experimental import dtensor
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
        for count in (1, 2):
            mesh = dtensor.create_mesh([("x", count)], devices=[f"CPU:{i}" for i in range(count)])
            try:
                x = dtensor.copy_to_mesh([1.0, 2.0], dtensor.Layout(["x"], mesh))
                print(tf.function(lambda x: x * 2.0)(x).numpy().tolist())
            except tf.errors.UnimplementedError as error:
                print(error.message)
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    first, second = found.stdout.splitlines()
    assert first == "[2.0, 4.0]"
    assert "pip install 'tapeflow[xla]'" in second
