"""`tf.tpu.experimental`: meshes of cores, and systems of TPUs that are not there."""

import itertools
import zlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

tpu = tf.tpu.experimental
Resolver = tf.distribute.cluster_resolver.TPUClusterResolver

MESHES = [(1, 1, 1, 1), (4, 4, 1, 2), (2, 2, 2, 2), (4, 2, 2, 1), (3, 2, 1, 2), (1, 4, 2, 1)]


def topology(mesh):
    places = list(itertools.product(*map(range, mesh)))
    return tpu.Topology(mesh_shape=mesh, device_coordinates=np.reshape(places, [1, -1, 4]))


@pytest.mark.parametrize("mesh", MESHES)
def test_topologies_are_written_and_read(mesh):
    made = topology(mesh)
    again = tpu.Topology(serialized=made.serialized())
    np.testing.assert_array_equal(again.device_coordinates, made.device_coordinates)
    assert again.mesh_shape.tolist() == list(mesh)
    assert (again.num_tasks, again.num_tpus_per_task) == (1, np.prod(mesh))
    assert again.missing_devices.size == 0
    assert again.tpu_device_name_at_coordinates([0, 0, 0, 0], "worker") == "/job:worker/task:0/device:TPU:0"
    assert again.cpu_device_name_at_coordinates([0, 0, 0, 0]) == "/task:0/device:CPU:0"


@pytest.mark.parametrize("mesh", MESHES)
def test_every_core_is_of_one_replica(mesh):
    made = topology(mesh)
    for block in {(1, 1, 1, 1), (1, 1, 1, mesh[3]), mesh}:
        for mode in tpu.DeviceOrderMode:
            count = int(np.prod(mesh) // np.prod(block))
            try:
                assignment = tpu.DeviceAssignment.build(made, block, None, count, mode)
            except ValueError:
                assert mode == tpu.DeviceOrderMode.RING
                continue
            places = {tuple(place) for place in assignment.core_assignment.reshape(-1, 4)}
            assert len(places) == np.prod(mesh)
            assert assignment.num_cores_per_replica == np.prod(block)
            assert sorted(assignment.lookup_replicas(0, 0)) == list(range(count))


@pytest.mark.parametrize("mesh", [(4, 4, 1, 2), (2, 2, 2, 1), (4, 2, 2, 1), (1, 4, 2, 1)])
def test_rings_go_from_neighbour_to_neighbour(mesh):
    order = tpu.DeviceOrderMode.RING
    (chips,) = tpu.DeviceAssignment.build(topology(mesh), mesh, None, 1, order).core_assignment[:, :: mesh[3], :3]
    steps = np.abs(np.diff(chips, axis=0, append=chips[:1])).sum(1)
    assert (steps == 1).all()


def test_assignments_are_tensorflows():
    """The checksum of what TensorFlow 2.21 gives for these meshes, blocks, strides and numbers."""
    said = []
    for mesh, stride, count, mode in itertools.product(MESHES, [None, (2, 1, 1, 1)], (1, 2, 4, 8), range(3)):
        for block in (None, (1, 1, 1, mesh[3]), (2, 1, 1, 1), mesh):
            try:
                made = tpu.DeviceAssignment.build(topology(mesh), block, stride, count, tpu.DeviceOrderMode(mode))
                said.append(str(made.core_assignment.tolist()))
            except ValueError:
                said.append("ValueError")
    assert len(said) == 576
    assert zlib.crc32("\n".join(said).encode()) == 2352408419


def test_devices_that_are_missing_are_left_out():
    made = tpu.Topology(mesh_shape=[2, 1, 1, 2], device_coordinates=[[[0, 0, 0, 0], [1, 0, 0, 1]]])
    assert made.missing_devices.tolist() == [[0, 0, 0, 1], [1, 0, 0, 0]]
    assignment = tpu.DeviceAssignment.build(made, num_replicas=2)
    assert assignment.core_assignment.tolist() == [[[0, 0, 0, 0]], [[1, 0, 0, 1]]]
    assert assignment.tpu_ordinal(1) == 1
    assert assignment.host_device(1, job="w") == "/job:w/task:0/device:CPU:0"
    with pytest.raises(ValueError, match="Can not find any replica"):
        assignment.lookup_replicas(1, 0)


def test_hardware_features():
    message = getattr(protos, "tpu.TPUHardwareFeature")(embedding_feature=2, num_embedding_devices_per_chip=4)
    feature = tpu.HardwareFeature(message)
    assert feature.embedding_feature is tpu.HardwareFeature.EmbeddingFeature.V2
    assert feature.num_embedding_devices_per_chip == 4


def test_options_and_metadata():
    assert tf.tpu.XLAOptions() == (True, True, False)
    assert tpu.TPUSystemMetadata(1, 2, 3, None, []).num_of_cores_per_host == 3


@pytest.fixture
def no_names(monkeypatch):
    for name in ("TPU_NAME", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"):
        monkeypatch.delenv(name, raising=False)


MISTAKES = [
    (lambda: Resolver(), ValueError, "Please provide a TPU Name"),
    (lambda: tf.distribute.TPUStrategy(), ValueError, "Please provide a TPU Name"),
    (lambda: tf.distribute.TPUStrategy(Resolver("local")), tf.errors.NotFoundError, "No TPU"),
    (lambda: tpu.initialize_tpu_system(), ValueError, "Please provide a TPU Name"),
    (lambda: tpu.initialize_tpu_system(Resolver("local")), tf.errors.NotFoundError, "TPUs not found in the cluster"),
    (lambda: tpu.shutdown_tpu_system(Resolver("local")), tf.errors.InvalidArgumentError, "ShutdownDistributedTPU"),
    (lambda: tpu.initialize_tpu_system(3), TypeError, "must be a TPUClusterResolver"),
    (lambda: Resolver("mine"), tf.errors.NotFoundError, "cannot be looked up"),
    (lambda: tpu.DeviceAssignment(3, [1]), ValueError, "Topology object"),
    (lambda: tpu.DeviceAssignment(topology((1, 1, 1, 1)), [1]), ValueError, "rank 3"),
    (lambda: tpu.DeviceAssignment.build(topology((1, 1, 1, 1)), num_replicas=2), ValueError, "requested 2 replicas"),
    (lambda: tpu.DeviceAssignment.build(topology((1, 1, 1, 1)), [2, 1, 1, 1]), ValueError, "does not fit"),
    (lambda: tpu.DeviceAssignment.build(topology((1, 1, 1, 1)), [1]), ValueError, "must have shape"),
    (lambda: tpu.Topology(mesh_shape=[1, 1, 0, 1], device_coordinates=[[[0] * 4]]), ValueError, "4 positive entries"),
    (lambda: tpu.Topology(mesh_shape=[1] * 4, device_coordinates=[[1]]), ValueError, "rank 3"),
]


@pytest.mark.usefixtures("no_names")
@pytest.mark.parametrize(("call", "error", "message"), MISTAKES)
def test_mistakes_and_what_is_not_there(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_resolvers_know_addresses(monkeypatch):
    monkeypatch.setenv("TPU_NAME", "grpc://10.0.0.1:8470")
    found = Resolver()
    assert found.master() == "grpc://10.0.0.1:8470"
    assert found.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470"]}
    assert Resolver("local").master() == ""


def test_programs_of_1_x_start_and_stop_the_system():
    tpu = tf.compat.v1.tpu
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        found = session.run(tpu.initialize_system())
        session.run(tpu.shutdown_system())
    cores = tf.tpu.experimental.Topology(found)
    assert cores.num_tasks == 1
    assert cores.num_tpus_per_task >= 1
    assert [each.value for each in tpu.PaddingSpec] == [0, 1]
    with pytest.raises(tf.errors.UnimplementedError, match="Embeddings on the hardware of TPUs"):
        tpu.initialize_system(embedding_config=object())
