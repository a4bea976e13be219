"""What holds a variable's lock: others wait for it in turn, readers do not, and Ctrl-C ends the wait."""

import _thread
import contextlib
import threading
import time

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops import shapes
from tapeflow.ops.table import REGISTRY, op

ROW = "HoldVariableForATest"


class Held:
    """A variable that a kernel in another thread reads, and assigns one more than that when it may go on."""

    def __init__(self, variable):
        self.variable, self.go_on, self._begun = variable, threading.Event(), threading.Event()

        @op(ROW, "resource: resource ->", shape=shapes.fixed())
        def row(xp, resource):
            before = resource.numpy()
            self._begun.set()
            assert self.go_on.wait(60)
            resource.assign(before + 1)

        self._thread = threading.Thread(target=lambda: row(variable), daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._begun.wait(60)
        return self

    def __exit__(self, *error):
        self.go_on.set()
        self._thread.join(60)
        assert not self._thread.is_alive()
        del REGISTRY[ROW]


def in_thread(task):
    thread = threading.Thread(target=task, daemon=True)
    thread.start()
    return thread


def test_a_reader_does_not_wait_for_a_computation():
    with Held(tf.Variable([1.0, 2.0])) as held:
        assert held.variable.numpy().tolist() == [1, 2]
        assert (held.variable + 1.0).numpy().tolist() == [2, 3]
        assert held.variable[1].numpy() == 2
    assert held.variable.numpy().tolist() == [2, 3]


WRITES = {
    "assign": (lambda v: v.assign([7.0, 7.0]), [7, 7]),
    "assign_add": (lambda v: v.assign_add([1.0, 1.0]), [3, 4]),
    "assign_sub of a list": (lambda v: v.assign_sub([1.0, 1.0]), [1, 2]),
    "slice": (lambda v: v[0].assign(9.0), [9, 3]),
    "scatter": (lambda v: v.scatter_nd_add([[1]], [5.0]), [2, 8]),
    "Python kernel": (
        lambda v: tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=tf.constant([1.0, 1.0])), [3, 4]
    ),
    "function": (tf.function(lambda v: v.assign_add([1.0, 1.0])), [3, 4]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_a_writer_waits_for_a_computation(name):
    write, expected = WRITES[name]
    with Held(tf.Variable([1.0, 2.0])) as held:
        writer = in_thread(lambda: write(held.variable))
        time.sleep(0.1)
        assert writer.is_alive()
        assert held.variable.numpy().tolist() == [1, 2]
        held.go_on.set()
        writer.join(60)
    assert held.variable.numpy().tolist() == expected


def test_writers_come_in_order():
    with Held(tf.Variable([0.0])) as held:
        waiting = []
        for i in range(5):
            waiting.append(in_thread(lambda i=i: held.variable.assign(held.variable * 0.0 + i)))
            time.sleep(0.05)
        held.go_on.set()
        for thread in waiting:
            thread.join(60)
    assert held.variable.numpy().tolist() == [4]


def test_ctrl_c_ends_the_wait():
    with Held(tf.Variable([1.0, 2.0])) as held:
        in_thread(lambda: (time.sleep(0.2), _thread.interrupt_main()))
        with pytest.raises(KeyboardInterrupt):
            held.variable.assign([7.0, 7.0])
        held.go_on.set()
    assert held.variable.numpy().tolist() == [2, 3]
    held.variable.assign_add([1.0, 1.0])  # the lock is free
    assert held.variable.numpy().tolist() == [3, 4]


def test_an_error_frees_the_lock():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=tf.constant([1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.scatter_nd_add([[5]], [1.0])
    in_thread(lambda: v.assign([3.0, 4.0])).join(60)
    assert v.numpy().tolist() == [3, 4]


def test_a_variable_may_go_while_others_wait():
    with Held(tf.Variable([1.0, 2.0])) as held:
        handle = held.variable.handle
        add = in_thread(
            lambda: tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.constant([1.0, 1.0]))
        )
        time.sleep(0.05)
    held.variable = None
    add.join(60)
    assert not add.is_alive()


def test_its_own_value_and_that_of_another():
    v, w = tf.Variable(np.arange(5000.0)), tf.Variable(np.ones(5000))
    together = [in_thread(lambda: [v.assign_add(w), w.assign_add(v - v)]) for _ in range(4)]
    for thread in together:
        thread.join(60)
    np.testing.assert_array_equal(v.numpy(), np.arange(5000.0) + 4)
    with contextlib.suppress(tf.errors.InvalidArgumentError):
        v.assign_add(v)
    np.testing.assert_array_equal(v.numpy(), 2 * (np.arange(5000.0) + 4))


@pytest.mark.parametrize("python", [False, True])
def test_a_handle_of_a_deleted_variable(python):
    v = tf.Variable([1.0, 2.0])
    handle, row = v.handle, REGISTRY["AssignAddVariableOp"]
    del v
    with pytest.raises(tf.errors.FailedPreconditionError, match="is gone: it was deleted"):
        (row.call_python if python else row)(handle, np.ones(2, np.float32))
