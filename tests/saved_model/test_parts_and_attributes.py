"""Parts of SavedModels, functions under other names, attributes of functions, and captures that nobody holds."""

import pytest

import tapeflow as tf

SPEC = tf.TensorSpec(None, tf.float32)
load_partial = tf.__internal__.saved_model.load_partial


def _doubling(**options):
    module = tf.Module()
    module.f = tf.function(lambda x: 2.0 * x, input_signature=[SPEC], **options)
    return module


def test_parts_have_to_be_complete(tmp_path):
    root = tf.Module()
    root.holder = tf.Module()
    root.holder.v = tf.Variable(1.0)

    class Adder(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([])])
        def __call__(self, y):
            root.holder.v.assign_add(y)
            return 1

    root.adder = Adder()
    tf.saved_model.save(root, tmp_path)
    parts = load_partial(tmp_path, ["root.holder.v", "root.adder"])
    parts["root.adder"](5.0)
    assert parts["root.holder.v"].numpy() == 6
    with pytest.raises(ValueError, match=r"include this path in the filter: \(root\).holder.v"):
        load_partial(tmp_path, ["root.adder"])


def test_objects_of_the_program_have_saved_values(tmp_path):
    root = tf.Module()
    root.v = tf.Variable(1.0)
    tf.saved_model.save(root, tmp_path)
    own = tf.Module()
    own.w = tf.Variable(2.0)
    load_partial(tmp_path, {"root": own}, options=tf.saved_model.LoadOptions(allow_partial_checkpoint=True))
    assert [own.v.numpy(), own.w.numpy()] == [1, 2]
    other = tf.Module()
    other.w = tf.Variable(2.0)
    with pytest.raises(AssertionError, match="1 Python objects that were not bound to checkpointed values"):
        load_partial(tmp_path, {"root": other})


def test_functions_are_found_under_other_names(tmp_path):
    module = _doubling()
    options = tf.saved_model.SaveOptions(function_aliases={"twice": module.f})
    wanted = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    tf.saved_model.save(module, tmp_path / "a", options=options)
    loaded = tf.saved_model.load(tmp_path / "a", options=wanted)
    assert loaded.function_aliases["twice"](3.0).numpy() == 6
    assert loaded.function_aliases["twice"] is loaded.f
    assert len(loaded.f.concrete_functions) == 1
    assert not hasattr(tf.saved_model.load(tmp_path / "a"), "function_aliases")
    module.function_aliases = tf.Variable(1.0)
    tf.saved_model.save(module, tmp_path / "b", options=options)
    with pytest.raises(ValueError, match="Could not load with experimental_load_function_aliases"):
        tf.saved_model.load(tmp_path / "b", options=wanted)


def test_attributes_of_functions_are_saved(tmp_path):
    module = _doubling(
        experimental_implements="my.op",
        experimental_attributes={"flag": True, "count": 3, "part": 0.5, "list": ["x", True]},
    )

    def check(function):
        attrs = function.function_def.attr
        assert attrs["_implements"].s == b"my.op"
        assert (attrs["flag"].b, attrs["count"].i, attrs["part"].f) == (True, 3, 0.5)
        assert (list(attrs["list"].list.s), list(attrs["list"].list.b)) == ([b"x"], [True])

    check(module.f.get_concrete_function())
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    check(loaded.f.concrete_functions[0])
    check(loaded.signatures["serving_default"])
    with pytest.raises(ValueError, match="Attribute odd must be bool, int, float or str"):
        _doubling(experimental_attributes={"odd": object()})


def test_what_is_implemented_may_have_attributes():
    module = _doubling(experimental_implements='name: "lookup" attr { key: "k" value { i: 2 } }')
    attr = module.f.get_concrete_function().function_def.attr["_implements"]
    assert attr.func.name == "lookup"
    assert attr.func.attr["k"].i == 2


def test_captures_that_nobody_holds_are_named(tmp_path):
    v = tf.Variable(1.0, name="lost")
    module = tf.Module()
    module.f = tf.function(lambda: v + 1.0, input_signature=[])
    with pytest.raises(AssertionError, match=r"(?s)references an 'untracked' resource.*Variable 'lost:0'"):
        tf.saved_model.save(module, tmp_path)
    module.f = tf.function(lambda x: v + x)
    module.f(1.0)
    with pytest.raises(KeyError, match="not reachable from root"):
        tf.saved_model.save(module, tmp_path)
