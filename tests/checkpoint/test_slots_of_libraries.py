"""Slots of optimizers that libraries define after TensorFlow's protocol."""

import pytest

import tapeflow as tf

Position = tf.__internal__.tracking.CheckpointInitialValueCallable


class Optimizer(tf.__internal__.tracking.Trackable):
    """Keeps a slot for each variable: makes it when a checkpoint has it, or, where it waits, at the first step."""

    def __init__(self, waits):
        self._slots, self._late, self._waits = {}, [], waits
        self.asked = []

    def get_slot_names(self):
        return ["sum"]

    def get_slot(self, variable, name):
        return self._slots.get((variable.ref(), name))

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable, slot_variable_shape=None):
        self.asked.append((slot_name, slot_variable_position.is_simple_variable()))
        assert slot_variable_position.value_shape() == variable.shape
        if self._waits:
            self._late.append(slot_variable_position)
            return None
        start = Position(slot_variable_position)
        return self._slots.setdefault((variable.ref(), slot_name), tf.Variable(start, shape=variable.shape))

    def add(self, variable, value):
        slot = self.get_slot(variable, "sum")
        if slot is None:
            slot = self._slots[variable.ref(), "sum"] = tf.Variable(tf.zeros_like(variable))
            for position in self._late:
                position.restore(slot)
        return slot.assign_add(value)


@pytest.mark.parametrize("waits", [False, True])
def test_slots_are_restored(waits, tmp_path):
    variable, optimizer = tf.Variable([1.0, 2.0]), Optimizer(False)
    optimizer.add(variable, [3.0, 4.0])
    path = tf.train.Checkpoint(v=variable, o=optimizer).save(str(tmp_path / "c"))

    variable, optimizer = tf.Variable([0.0, 0.0]), Optimizer(waits)
    status = tf.train.Checkpoint(v=variable, o=optimizer).restore(path)
    assert optimizer.asked == [("sum", True)]
    assert optimizer.add(variable, [1.0, 1.0]).numpy().tolist() == [4.0, 5.0]
    status.assert_consumed()
    assert optimizer.asked == [("sum", True)]


def test_an_optimizer_may_refuse_slots(tmp_path):
    class Refuses(Optimizer):
        def _create_or_restore_slot_variable(self, **position):
            raise ValueError("slots of an older optimizer")

    variable, optimizer = tf.Variable([1.0, 2.0]), Optimizer(False)
    optimizer.add(variable, [3.0, 4.0])
    path = tf.train.Checkpoint(v=variable, o=optimizer).save(str(tmp_path / "c"))
    with pytest.raises(ValueError, match="older optimizer"):
        tf.train.Checkpoint(v=variable, o=Refuses(False)).restore(path)


def test_graphs_tell_who_makes_variables():
    def creator(make, **given):
        return make(**given)

    with tf.variable_creator_scope(creator):
        assert tf.compat.v1.get_default_graph()._variable_creator_stack == [(100, creator)]
    assert tf.compat.v1.get_default_graph()._variable_creator_stack == []
