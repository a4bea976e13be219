"""Requests that no client of ours sends: each gets an answer or a status, and the server loses nothing."""

import random

import pytest

pytest.importorskip("grpc")

import grpc
from google.protobuf.message import Message
from processes import free_ports

import tapeflow.compat.v1 as tf
from tapeflow import protos
from tapeflow.cluster import grpc_client, grpc_server

COUNT = 400


@pytest.fixture(scope="module")
def server():
    return tf.train.Server({"worker": [f"localhost:{free_ports(1)[0]}"]})


def call(channel, service, method, data):
    """The status of a request of some bytes."""
    try:
        channel.unary_unary(f"/tensorflow.{service}/{method}")(data, timeout=1)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def samples(server):
    """(service, method, request) for all methods, as a client and a master would send them."""
    with tf.Graph().as_default() as graph:
        v = tf.Variable([1.0, 2.0], name="v_fuzz")
        x = tf.placeholder(tf.float32, [2], name="x_fuzz")
        tf.add(v, x, name="y_fuzz")
        tf.cond(x[0] > 0, lambda: x * 2.0, lambda: x, name="cond_fuzz")
        definition = graph.as_graph_def()
    client = grpc_client.Service("MasterService", server.target.removeprefix("grpc://"), "The master")

    def begin():
        request = protos.CreateSessionRequest(graph_def=definition)
        return client.start("CreateSession", request).result().session_handle

    value = protos.TensorProto(dtype=1, float_val=[1.0, 2.0])
    value.tensor_shape.dim.add(size=2)
    feed = [protos.NamedTensorProto(name="x_fuzz:0", tensor=value)]
    worker = grpc_client.Service("WorkerService", server.target.removeprefix("grpc://"), "The worker")
    graph = worker.start("RegisterGraph", protos.RegisterGraphRequest(graph_def=definition)).result().graph_handle
    key = "/job:worker/replica:0/task:0/device:CPU:0;1;/job:worker/replica:0/task:0/device:CPU:0;x:0;0:0"
    master = [
        protos.CreateSessionRequest(graph_def=definition, target=server.target),
        protos.ExtendSessionRequest(session_handle=begin(), graph_def=definition, current_graph_version=3),
        protos.RunStepRequest(session_handle=begin(), feed=feed, fetch=["y_fuzz:0"], target=["v_fuzz/Assign"]),
        protos.ListDevicesRequest(session_handle=begin()), protos.CloseSessionRequest(session_handle=begin()),
        protos.MakeCallableRequest(session_handle=begin(), options=protos.CallableOptions(fetch=["y_fuzz:0"])),
        protos.RunCallableRequest(session_handle=begin(), handle=1, feed=[value]),
        protos.ReleaseCallableRequest(session_handle=begin(), handle=1),
    ]  # fmt: skip
    of_worker = [
        protos.GetStatusRequest(), protos.CreateWorkerSessionRequest(session_handle="fuzz"),
        protos.DeleteWorkerSessionRequest(session_handle="fuzz"), protos.RegisterGraphRequest(graph_def=definition),
        protos.DeregisterGraphRequest(graph_handle="none"),
        protos.RunGraphRequest(graph_handle=graph, step_id=5, send=[protos.NamedTensorProto(name=key, tensor=value)]),
        protos.CleanupGraphRequest(step_id=5), protos.RecvTensorRequest(step_id=6, rendezvous_key=key),
    ]  # fmt: skip
    for service, requests in (("MasterService", master), ("WorkerService", of_worker)):
        for request in requests:
            yield service, type(request).__name__.removesuffix("Request"), request


def mutated(rng, message: Message):
    """The bytes of a message with some of them changed, cut or repeated, or with a field changed."""
    data = bytearray(message.SerializeToString() or b"\x0a\x03abc")
    how = rng.randrange(4)
    at = rng.randrange(len(data))
    if how == 0:
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif how == 1:
        del data[at:]
    elif how == 2:
        data[at:at] = data[at : at + rng.randint(1, 40)]
    else:
        data[at : at + 1] = bytes([data[at] ^ (1 << rng.randrange(8))])
    return bytes(data)


def test_malformed_requests_get_a_status(server):
    with tf.Graph().as_default():
        kept = tf.Variable([7.0, 8.0], name="kept")
        with tf.Session(server.target) as session:
            session.run(kept.initializer)
        rng = random.Random(7)
        channel = grpc.insecure_channel(server.target.removeprefix("grpc://"))
        cases = list(samples(server))
        assert {name for _, name, _ in cases} == {*grpc_server._MASTER, *grpc_server._WORKER} - {"Reset", "CleanupAll"}
        seen = set()
        for _ in range(COUNT):
            service, method, request = rng.choice(cases)
            seen.add(call(channel, service, method, mutated(rng, request)))
        assert grpc.StatusCode.INVALID_ARGUMENT in seen
        assert grpc.StatusCode.UNAVAILABLE not in seen
        config = tf.ConfigProto()
        config.rpc_options.use_rpc_for_inprocess_master = True
        with tf.Session(server.target, config=config) as session:
            assert session.run(kept).tolist() == [7.0, 8.0]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda graph: graph.node.add(name="a", op="NoSuchOp"), "Op type not registered 'NoSuchOp'"),
        (lambda graph: graph.node.add(name="a", op="Add", input=["b", "c"]), "Unknown input node"),
        (lambda graph: graph.node.extend([protos.NodeDef(name="a", op="NoOp")] * 2), "is not unique"),
        (lambda graph: graph.node.add(name="a", op="NoOp", device="/job:x/y:z"), "Malformed device specification"),
        (lambda graph: setattr(graph.versions, "min_consumer", 10**6), "min consumer version"),
        (lambda graph: graph.node.extend([protos.NodeDef(name="a", op="NoOp", input=["^b"]),
                                          protos.NodeDef(name="b", op="NoOp", input=["^a"])]), "cycle"),
    ],
    ids=["op", "input", "name", "device", "version", "cycle"],
)  # fmt: skip
def test_graphs_that_are_none_are_named(server, change, text):
    definition = protos.GraphDef()
    change(definition)
    client = grpc_client.Service("MasterService", server.target.removeprefix("grpc://"), "The master")

    def run():
        created = client.start("CreateSession", protos.CreateSessionRequest(graph_def=definition)).result()
        request = protos.RunStepRequest(session_handle=created.session_handle, target=["a"])
        return client.start("RunStep", request).result()

    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.NotFoundError), match=text):
        run()


def test_versions_of_a_graph_are_compared(server):
    client = grpc_client.Service("MasterService", server.target.removeprefix("grpc://"), "The master")
    handle = client.start("CreateSession", protos.CreateSessionRequest()).result().session_handle
    request = protos.ExtendSessionRequest(session_handle=handle, current_graph_version=5)
    with pytest.raises(tf.errors.AbortedError, match="Current version is 0 but caller expected 5"):
        client.start("ExtendSession", request).result()


def test_python_of_others_does_not_run(server):
    with tf.Graph().as_default() as graph:
        tf.py_func(lambda: 1.0, [], tf.float32, name="called")
        definition = graph.as_graph_def()
    worker = grpc_client.Service("WorkerService", server.target.removeprefix("grpc://"), "The worker")
    with pytest.raises(tf.errors.PermissionDeniedError, match="calls a Python function"):
        worker.start("RegisterGraph", protos.RegisterGraphRequest(graph_def=definition)).result()


def test_sessions_of_this_process_are_not_those_of_others():
    worker = tf.test.create_local_cluster(1, 1)[0][0]
    with tf.Graph().as_default(), tf.Session(worker.target) as session:
        x = tf.constant(1.0, name="x")
        assert session.run(x) == 1.0
        client = grpc_client.Service("MasterService", worker.target.removeprefix("grpc://"), "The master")
        request = protos.RunStepRequest(session_handle=session._engine._handle, fetch=["x:0"])
        with pytest.raises(tf.errors.AbortedError, match="is not found"):
            client.start("RunStep", request).result()
        assert session.run(x) == 1.0
