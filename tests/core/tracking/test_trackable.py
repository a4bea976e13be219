"""`tf.__internal__.tracking`: what checkpoints follow of the classes of libraries."""

import numpy as np
import pytest

import tapeflow as tf

tracking = tf.__internal__.tracking


class Own(tf.Module):
    """A class that tracks by itself, as layers of libraries do."""

    def __setattr__(self, name, value):
        if getattr(self, "_self_setattr_tracking", True):
            value = tracking.sticky_attribute_assignment(self, name, value)
        super(tracking.AutoTrackable, self).__setattr__(name, value)

    @tracking.no_automatic_dependency_tracking
    def hide(self, value):
        self.hidden = value


def test_a_class_that_tracks_by_itself_is_followed_by_what_it_adds(tmp_path):
    own = Own()
    own.hide(tf.Variable(1.0))
    own.seen, own.several = tf.Variable(2.0), [tf.Variable(3.0)]
    path = tf.train.Checkpoint(own=own).write(str(tmp_path / "c"))
    keys = [name for name, _ in tf.train.list_variables(path)]
    assert [key for key in keys if key.startswith("own")] == [
        "own/seen/.ATTRIBUTES/VARIABLE_VALUE",
        "own/several/0/.ATTRIBUTES/VARIABLE_VALUE",
    ]
    assert isinstance(own.several, tracking.TrackableDataStructure)
    assert isinstance(own.hidden, tf.Variable)


def test_a_plain_module_does_not_follow_what_a_method_hides():
    class Plain(tf.Module):
        @tracking.no_automatic_dependency_tracking
        def hide(self, value):
            self.hidden = value

    plain = Plain()
    plain.hide(tf.Variable(1.0))
    plain.seen = tf.Variable(2.0)
    assert set(plain._trackable_children()) == {"seen"}


class Counter(tracking.Trackable):
    """Saves a value of its own by TensorFlow's methods."""

    def __init__(self, count):
        self.count = count

    def _serialize_to_tensors(self):
        return {"count": tf.constant(self.count)}

    def _restore_from_tensors(self, restored_tensors):
        self.count = int(restored_tensors["count"])


def test_values_by_the_methods_of_a_library(tmp_path):
    path = tf.train.Checkpoint(counter=Counter(7)).write(str(tmp_path / "c"))
    other = Counter(0)
    tf.train.Checkpoint(counter=other).read(path).assert_consumed()
    assert other.count == 7


def test_a_variable_that_comes_later_begins_with_its_value(tmp_path):
    first = Own()
    first.kernel = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(layer=first).write(str(tmp_path / "c"))
    later = Own()
    tf.train.Checkpoint(layer=later).read(path)
    initial = later._preload_simple_restoration("kernel")
    np.testing.assert_array_equal(tf.convert_to_tensor(initial()), [1.0, 2.0])
    made = later._add_variable_with_custom_getter(
        "kernel", shape=[2], initializer=tf.zeros,
        getter=lambda name, shape, initializer, **_: tf.Variable(initializer(shape)),
    )  # fmt: skip
    np.testing.assert_array_equal(made.numpy(), [1.0, 2.0])


def test_only_followed_objects_can_be_added():
    with pytest.raises(TypeError, match="can only be used to track objects of type Trackable"):
        tf.Module()._track_trackable(3, "x")


@pytest.mark.parametrize("value", [[1, [2]], {"a": {"b": 1}}, (1, [2])], ids=["list", "dict", "tuple"])
def test_containers_are_equal_to_what_they_wrap(value):
    wrapped = tracking.wrap(value)
    assert wrapped == value
    assert isinstance(wrapped, type(value))
    assert tf.nest.flatten(wrapped) == tf.nest.flatten(value)
