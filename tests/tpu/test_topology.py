"""Topologies in messages that somebody else has made."""

import pytest

import tapeflow as tf
from tapeflow import protos


def message(mesh, places, tasks=1):
    proto = getattr(protos, "tpu.TopologyProto")(
        mesh_shape=mesh, num_tasks=tasks, num_tpu_devices_per_task=len(places),
        device_coordinates=[x for place in places for x in place],
    )  # fmt: skip
    return proto.SerializeToString()


def test_a_message_is_read():
    found = tf.tpu.experimental.Topology(message([1, 1, 1, 2], [[0, 0, 0, 0], [0, 0, 0, 1]]))
    assert found.mesh_shape.tolist() == [1, 1, 1, 2]
    assert found.tpu_device_ordinal_at_coordinates([0, 0, 0, 1]) == 1


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (message([1, 1, 1, 2], [[0, 0, 0, 2]]), "must be in the mesh"),
        (message([2**31 - 1] * 4, [[0, 0, 0, 0]]), "at most"),
        (message([1, 1, 1, 1], [[0, 0, 0, 0]], tasks=2**30), "must have shape"),
        (message([1, 1, 1, 1], [[0, 0, 0, -1]]), ">= 0"),
    ],
)
def test_a_message_that_cannot_be_is_an_error(given, what):
    with pytest.raises(ValueError, match=what):
        tf.tpu.experimental.Topology(given)
