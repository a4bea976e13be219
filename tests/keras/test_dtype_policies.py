"""`keras.dtype_policies`, `keras.tree` and `keras.distribution`."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
policies, tree, distribution = keras.dtype_policies, keras.tree, keras.distribution


@pytest.mark.parametrize(
    ("name", "compute", "variable", "mode"),
    [
        ("float32", "float32", "float32", None), ("mixed_float16", "float16", "float32", None),
        ("mixed_bfloat16", "bfloat16", "float32", None), ("int8_from_float32", "float32", "float32", "int8"),
        ("int8_from_mixed_bfloat16", "bfloat16", "float32", "int8"),
        ("float8_from_mixed_float16", "float16", "float32", "float8"),
    ],
)  # fmt: skip
def test_policies_by_name_and_config(name, compute, variable, mode):
    policy = policies.get(name)
    assert (policy.name, policy.compute_dtype, policy.variable_dtype) == (name, compute, variable)
    assert policy.quantization_mode == mode
    config = policies.serialize(policy)
    assert set(config) == {"module", "class_name", "config", "registered_name"}
    assert policies.deserialize(config) == policy
    assert type(policies.deserialize(config)) is type(policy)


@pytest.mark.parametrize("name", ["x", "int9_from_float32", "int8_from_x", "int8_from_float16", "mixed_int8"])
def test_unknown_policies(name):
    with pytest.raises(ValueError):
        policies.get(name)


def test_policies_by_path():
    found = policies.DTypePolicyMap("bfloat16", {"encoder/dense": "float16", "decoder/.*": "mixed_float16"})
    assert found["encoder/dense"].name == "float16"
    assert found["decoder/dense"].name == "mixed_float16"
    assert found["dense"].name == found.default_policy.name == "bfloat16"
    assert (len(found), list(found), "dense" in found) == (2, ["encoder/dense", "decoder/.*"], False)
    with pytest.raises(ValueError, match="already exist"):
        found["encoder/dense"] = "float32"
    assert policies.deserialize(policies.serialize(found)) == found
    found["decoder/d.*"] = "float32"
    with pytest.raises(ValueError, match="multiple"):
        found["decoder/dense"]


def test_layers_take_their_policy_from_a_map():
    found = policies.DTypePolicyMap("float32", {"half": "mixed_float16"})
    half, whole = (keras.layers.Dense(2, dtype=found, name=name) for name in ("half", "whole"))
    assert (half.compute_dtype, whole.compute_dtype) == ("float16", "float32")
    assert half(np.ones((1, 3))).dtype == tf.float16


NESTED = {"b": [1, (2, 3)], "a": {"c": 4}}


def test_trees():
    assert tree.flatten(NESTED) == [4, 1, 2, 3]
    assert tree.flatten_with_path(NESTED)[0] == (("a", "c"), 4)
    assert tree.map_structure(lambda a, b: a + b, NESTED, NESTED) == {"b": [2, (4, 6)], "a": {"c": 8}}
    assert tree.map_structure(lambda a: a + 1, [1, None], none_is_leaf=False) == [2, None]
    assert tree.pack_sequence_as(NESTED, [1, 2, 3, 4]) == {"b": [2, (3, 4)], "a": {"c": 1}}
    assert tree.lists_to_tuples(NESTED) == {"b": (1, (2, 3)), "a": {"c": 4}}
    assert tree.map_shape_structure(lambda s: s[0], {"x": (2, None), "y": [(3,), (4, 5)]}) == {"x": 2, "y": [3, 4]}
    assert tree.is_nested([])
    assert not tree.is_nested("abc")
    tree.assert_same_structure([1, (2,)], [3, [4]])
    with pytest.raises(ValueError):
        tree.assert_same_structure([1, 2], [1])
    tree.assert_same_paths([1, (2,)], [3, [4]])
    with pytest.raises(ValueError, match="same paths"):
        tree.assert_same_paths({"a": 1}, {"b": 1})


def test_traversal_of_trees():
    def double(part):
        return part * 2 if isinstance(part, int) else None

    assert tree.traverse(double, NESTED) == {"b": [2, (4, 6)], "a": {"c": 8}}
    pairs = tree.traverse(lambda part: "x" if isinstance(part, tuple) else None, NESTED)
    assert pairs == {"b": [1, "x"], "a": {"c": 4}}
    assert tree.traverse(lambda part: tree.MAP_TO_NONE if part == 4 else None, NESTED)["a"] == {"c": None}
    order = []
    tree.traverse(order.append, [1, [2]], top_down=False)
    assert order == [1, 2, [2], [1, [2]]]


def test_one_device_is_distributed_to():
    device = distribution.list_devices("cpu")[0]
    mesh = distribution.DeviceMesh((1, 1), ("batch", "model"), [device])
    data = distribution.DataParallel(devices=[device])
    assert data.get_data_layout((8, 3)).axes == ("batch", None)
    with data.scope():
        assert distribution.distribution() is data
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
        assert data.get_variable_layout(model.weights[0]).axes == (None, None)
    assert distribution.distribution() is None
    layouts = distribution.LayoutMap(mesh)
    layouts["dense.*kernel"] = (None, "model")
    assert layouts["x/dense_1/kernel"].axes == (None, "model")
    assert layouts["bias"] is None
    with pytest.raises(ValueError, match="Invalid axis names"):
        layouts["bias"] = ("width",)
    parallel = distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")
    assert parallel.get_tensor_layout("dense/kernel").device_mesh is mesh
    np.testing.assert_array_equal(distribution.distribute_tensor([1, 2], layouts["dense_kernel"]), [1, 2])


def test_several_devices_are_refused():
    with pytest.raises(NotImplementedError, match=r"tf\.distribute"):
        distribution.DataParallel(devices=["cpu:0", "cpu:1"])
    with pytest.raises(NotImplementedError, match=r"tf\.distribute"):
        distribution.initialize(num_processes=2)
    with pytest.raises(ValueError, match="Shape does not match"):
        distribution.DeviceMesh((3,), ("batch",), ["cpu:0"])
