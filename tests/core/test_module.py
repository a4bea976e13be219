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
