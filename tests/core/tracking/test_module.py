"""tf.Module: what it finds in its attributes, and the names it gives."""

import pytest

import tapeflow as tf


class Inner(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.b = tf.Variable(1.0)
        self.a = [tf.Variable(2.0), {"k": tf.Variable(3.0, trainable=False)}]


class OuterThing(tf.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.more = (Inner("second"),)
        self.z = tf.Variable(9.0)
        self.again = self.z
        self.me = self

    @tf.Module.with_name_scope
    def scope(self):
        return tf.get_current_name_scope()


def values(variables):
    return [float(v.numpy()) for v in variables]


def test_variables_are_found_nearest_first_and_once():
    assert values(OuterThing().variables) == [9.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0]


def test_trainable_and_other_variables():
    assert values(OuterThing().trainable_variables) == [9.0, 2.0, 1.0, 2.0, 1.0]
    assert values(OuterThing().non_trainable_variables) == [3.0, 3.0]


def test_submodules_leave_out_the_module_itself():
    assert [module.name for module in OuterThing().submodules] == ["inner", "second"]


def test_what_is_appended_later_is_found():
    module = Inner()
    module.a.append(tf.Variable(4.0))
    assert values(module.variables) == [2.0, 3.0, 4.0, 1.0]


def test_the_name_is_that_of_the_class():
    assert OuterThing().name == "outer_thing"


def test_methods_run_in_the_scope_of_the_module():
    assert OuterThing().scope() == "outer_thing"


def test_the_scope_is_the_one_that_the_module_was_made_in():
    with tf.name_scope("around"):
        module = Inner()
    assert module.name_scope.name == "around/inner/"


@pytest.mark.parametrize("name", ["a b", "", "1a"])
def test_names_are_identifiers(name):
    with pytest.raises(ValueError, match="not a valid module name"):
        Inner(name)


def _tree():
    """root.a.deep, root.b, and a module with two paths."""
    root = tf.Module(name="root")
    root.b = tf.Module()
    root.b.v = tf.Variable(1.0, name="b")
    root.a = tf.Module()
    root.a.deep = [tf.Module()]
    root.a.deep[0].v = tf.Variable(2.0, name="deep")
    root.again = root.b
    root.own = {"z": tf.Variable(3.0, name="z"), "y": (tf.Variable(4.0, name="y"), None)}
    return root


def is_variable(leaf):
    return isinstance(leaf, tf.Variable)


def test_each_module_is_followed_by_those_in_it():
    assert [v.name for v in _tree().variables] == ["y:0", "z:0", "deep:0", "b:0"]


def test_flatten():
    root = _tree()
    found = [v.name for v in root._flatten(recursive=False, predicate=is_variable)]
    assert found == ["y:0", "z:0"]
    backwards = root._flatten(predicate=is_variable, attribute_traversal_key=lambda key: -ord(key[0]))
    assert [v.name for v in backwards] == ["y:0", "z:0", "b:0", "deep:0"]
    paths = [(path, v.name) for path, v in root._flatten(predicate=is_variable, with_path=True)]
    assert paths == [
        (("own", "y", 0), "y:0"),
        (("own", "z"), "z:0"),
        (("a", "deep", 0, "v"), "deep:0"),
        (("again", "v"), "b:0"),
        (("b", "v"), "b:0"),
    ]


def test_flatten_of_modules_that_hold_each_other():
    left, right = tf.Module(), tf.Module()
    left.other, right.other, left.v = right, left, tf.Variable(1.0)
    assert list(left.variables) == list(right.variables) == [left.v]
    assert len(list(left._flatten(predicate=is_variable, with_path=True))) == 2


def test_flatten_passes_over_ignored_attributes():
    class Quiet(tf.Module):
        _TF_MODULE_IGNORED_PROPERTIES = frozenset(["hidden"])

    module = Quiet()
    module.hidden, module.shown = tf.Variable(1.0), tf.Variable(2.0)
    assert list(module.variables) == [module.shown]


def test_flatten_expands_composites_on_demand():
    module = tf.Module()
    module.ragged = tf.ragged.constant([[1], [2, 3]])
    assert sum(isinstance(leaf, tf.Tensor) for leaf in module._flatten(expand_composites=True)) == 2
    assert not any(isinstance(leaf, tf.Tensor) for leaf in module._flatten())
