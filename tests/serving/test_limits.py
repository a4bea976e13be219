"""Ports, deadlines, slow clients, and what is served while models are changed, incomplete or broken."""

import concurrent.futures
import contextlib
import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

grpc = pytest.importorskip("grpc")
for needed in ("uvicorn", "httptools", "prometheus_client", "grpc_health"):
    pytest.importorskip(needed)

from serving_process import Server, message, save, wait_for  # noqa: E402  (needs the extra)


@pytest.mark.parametrize("option", ["--port", "--rest_port"])
def test_a_port_that_is_taken_ends_the_program(tmp_path, option):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = {"--port": "0", "--rest_port": "0", option: str(taken.getsockname()[1])}
        done = subprocess.run(
            [sys.executable, "-m", "tapeflow.serve", "--model", f"m={tmp_path}", *sum(ports.items(), ())],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 1
    assert not done.stdout
    assert "tapeflow.serve: " in done.stderr


def save_endless(folder):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
        def __call__(self, x):
            return {"y": tf.while_loop(lambda y: tf.reduce_sum(y) >= 0, lambda y: (y + 0,), (x,))[0]}

    model = Model()
    tf.saved_model.save(model, str(folder), signatures={"serving_default": model.__call__})


def save_slow(folder):
    """A model of one op that takes seconds."""

    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([], tf.float64, name="x")])
        def __call__(self, x):
            n = 2400
            rows = tf.sin(tf.cast(tf.range(n * n), tf.float64) * x)
            return {"y": tf.linalg.svd(tf.reshape(rows, [n, n]), compute_uv=False)[:1]}

    model = Model()
    tf.saved_model.save(model, str(folder), signatures={"serving_default": model.__call__})
    return model


def test_clients_without_a_deadline_do_not_wait_for_an_op(tmp_path):
    model = save_slow(tmp_path / "m" / "1")
    server = Server(tmp_path / "m", "--timeout", "0.5", "--threads", "1")
    request = message("PredictRequest")()
    request.model_spec.name = "m"
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.float64(1.7)))
    ask = server.channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
    start = time.monotonic()
    with pytest.raises(grpc.RpcError) as caught:
        ask(request.SerializeToString())
    waited = time.monotonic() - start
    assert caught.value.code().name == "DEADLINE_EXCEEDED"
    assert server.health() == "SERVING"
    start = time.monotonic()
    model(tf.constant(1.7, tf.float64))
    assert waited < 0.5 + (time.monotonic() - start) / 2
    assert server.close() == 0


@pytest.mark.parametrize("batching", [(), ("--enable_batching",)], ids=["alone", "batched"])
def test_deadlines_end_calls(tmp_path, batching):
    save_endless(tmp_path / "m" / "1")
    server = Server(tmp_path / "m", "--timeout", "1", "--threads", "1", *batching)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        asked = [pool.submit(server.rest, "/v1/models/m:predict", {"instances": [1.0]}) for _ in range(3)]
        assert server.rest("/health")[0] == 200
        assert [each.result()[0] for each in asked] == [504] * 3
    with pytest.raises(grpc.RpcError) as caught:
        server.predict([1.0])
    assert caught.value.code().name == "DEADLINE_EXCEEDED"
    # The threads are free again.
    wait_for(lambda: server.rest("/v1/models/m:predict", {"instances": [-1.0]})[0] == 200)
    np.testing.assert_array_equal(server.predict([-1.0]), [-1.0])
    assert server.close() == 0


def silent(server, sent):
    connection = socket.create_connection(("127.0.0.1", server.rest_port))
    connection.settimeout(10)
    connection.sendall(sent)
    return connection


def test_slow_clients_are_cut_off(tmp_path):
    save(tmp_path / "m" / "1", 2.0)
    limits = ["--read_timeout", "2", "--write_timeout", "1", "--threads", "1"]
    server = Server(tmp_path / "m", *limits)
    head = b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
    for sent in (b"", b"POST /v1", head, b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /"):
        with silent(server, sent) as connection:
            start = time.monotonic()
            while connection.recv(1000):
                pass
            assert time.monotonic() - start < 8
    with silent(server, head + b"\r\n{") as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 408")
    # One that does not read its response: the connection ends before all of it has been sent.
    body = json.dumps({"instances": [[0.5, 0.25]] * 1_000_000}).encode()
    slow = b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    with silent(server, slow + body) as connection:
        connection.settimeout(60)
        received = len(connection.recv(1000))
        time.sleep(6)
        try:
            while part := connection.recv(1 << 20):
                received += len(part)
        except ConnectionResetError:
            pass
        assert received < 10_000_000
    # gRPC requests whose message does not come take no turn from others.
    stuck = server.channel.stream_unary("/tensorflow.serving.PredictionService/Predict").future(iter_slowly())
    np.testing.assert_array_equal(server.predict([[1, 1]]), [[2, 2]])
    stuck.cancel()
    assert server.close() == 0


HEADS = {"a path": b"GET /%s", "a header": b"GET / HTTP/1.1\r\nx: %s", "the name of one": b"GET / HTTP/1.1\r\n%s",
         "many headers": b"GET / HTTP/1.1\r\n%s"}  # fmt: skip


@pytest.mark.parametrize("kind", HEADS)
def test_large_heads_are_cut_off(tmp_path, kind):
    save(tmp_path / "m" / "1", 2.0)
    server = Server(tmp_path / "m")
    part = b"a: b\r\n" * 10_000 if kind == "many headers" else b"a" * 60_000
    sent, received = 0, b""
    with silent(server, HEADS[kind] % part) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 100 << 20:
                connection.sendall(part)
                sent += len(part)
        with contextlib.suppress(ConnectionResetError):
            received = connection.recv(1000)
    assert sent < 10 << 20
    assert received[:12] in (b"", b"HTTP/1.1 400")
    assert server.rest("/health")[0] == 200
    assert server.close() == 0


ENDLESS = {"trailers": b"0\r\n" + b"a: b\r\n" * 10_000, "extension": b"1;" + b"x" * 60_000}


@pytest.mark.parametrize("endless", ENDLESS.values(), ids=ENDLESS)
def test_endless_parts_besides_a_body_are_cut_off(tmp_path, endless):
    save(tmp_path / "m" / "1", 2.0)
    server = Server(tmp_path / "m")
    head = b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    rest = endless.partition(b"\r\n")[2] or b"x" * 60_000
    sent = 0
    with silent(server, head + endless) as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while sent < 100 << 20:
            connection.sendall(rest)
            sent += len(rest)
    assert sent < 10 << 20
    assert server.close() == 0


def answers(connection, count):
    """The statuses and bodies of so many answers, which may arrive together."""
    found = []
    with connection.makefile("rb") as received:
        for _ in range(count):
            status = int(received.readline().split()[1])
            headers = http.client.parse_headers(received)
            found.append((status, received.read(int(headers["Content-Length"]))))
    return found


def test_offers_of_other_protocols_are_declined(tmp_path):
    save(tmp_path / "m" / "1", 2.0)
    server = Server(tmp_path / "m")
    body = json.dumps({"instances": [[1.0, 2.0]]}).encode()
    head = b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    head += b"HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\nContent-Length: %d\r\n\r\n" % len(body)
    with silent(server, head + body) as connection:
        [(status, text)] = answers(connection, 1)
    assert status == 200
    assert json.loads(text) == {"predictions": [[2.0, 4.0]]}
    assert server.close() == 0


def test_requests_that_are_sent_ahead_are_answered(tmp_path):
    save(tmp_path / "m" / "1", 2.0)
    server = Server(tmp_path / "m")
    body = json.dumps({"instances": [[1.0, 2.0]]}).encode() + b" " * 100_000
    first = b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    with silent(server, first + body + b"GET /health HTTP/1.1\r\nHo") as connection:
        time.sleep(0.3)
        connection.sendall(b"st: x\r\n\r\n")
        assert [status for status, _ in answers(connection, 2)] == [200, 200]
    assert server.close() == 0


def test_what_is_no_request_is_refused_at_once(tmp_path):
    save(tmp_path / "m" / "1", 2.0)
    server = Server(tmp_path / "m")
    with silent(server, b"\x16\x03\x01 a TLS hello\n") as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    assert server.close() == 0


def test_answers_do_not_wait_for_acknowledgements(tmp_path):
    save(tmp_path / "m" / "1", 2.0)
    server = Server(tmp_path / "m")
    connection = http.client.HTTPConnection("127.0.0.1", server.rest_port)
    took = []
    for _ in range(60):
        start = time.monotonic()
        connection.request("GET", "/health")
        assert connection.getresponse().read() == b'{"status": "SERVING"}'
        took.append(time.monotonic() - start)
    connection.close()
    assert np.median(took) < 0.03  # clients acknowledge after 40 ms
    assert server.close() == 0


def iter_slowly():
    time.sleep(5)
    yield b""


def copy_slowly(source, into, done):
    into.mkdir()
    shutil.copy(source / "saved_model.pb", into)
    for i in range(20):
        (into / "part").write_bytes(b"x" * i)
        time.sleep(0.1)
    assert not done()
    shutil.copytree(source, into, dirs_exist_ok=True)


def save_variable(folder, factor):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(factor)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def __call__(self, x):
            return {"y": x * self.factor}

    model = Model()
    tf.saved_model.save(model, str(folder), signatures={"serving_default": model.__call__})


def test_a_version_that_is_copied_slowly_is_served_when_it_is_whole(tmp_path):
    base = tmp_path / "m"
    base.mkdir()
    server = Server(base)
    assert (server.health(), server.rest("/health")[0]) == ("NOT_SERVING", 503)
    save_variable(base / "1", 2.0)
    wait_for(lambda: server.health() == "SERVING")
    save_variable(tmp_path / "new", 3.0)
    copy_slowly(tmp_path / "new", base / "2", lambda: server.predict([[1, 1]])[0, 0] != 2)
    wait_for(lambda: server.predict([[1, 1]])[0, 0] == 3)
    shutil.rmtree(base / "2")
    shutil.rmtree(base / "1")
    wait_for(lambda: server.health() == "NOT_SERVING")
    assert server.close() == 0


def test_a_broken_version_does_not_replace_one_that_works(tmp_path):
    base = tmp_path / "m"
    save(base / "1", 2.0)
    server = Server(base)
    (base / "2").mkdir()
    (base / "2" / "saved_model.pb").write_bytes(b"\xff")
    request = message("GetModelStatusRequest")()
    request.model_spec.name = "m"

    def states():
        found = server.call("GetModelStatus", request, "GetModelStatusResponse", "ModelService")
        return {s.version: (s.state, s.status.error_code != 0) for s in found.model_version_status}

    wait_for(lambda: states() == {2: (50, True), 1: (30, False)})
    time.sleep(1)
    np.testing.assert_array_equal(server.predict([[1, 1]]), [[2, 2]])
    assert server.close() == 0


def test_a_failed_reload_changes_nothing(tmp_path):
    base = tmp_path / "m"
    save(base / "1", 2.0)
    save(tmp_path / "n" / "1", 3.0)
    server = Server(base, "--allow_reload")

    def reload(*models, labels=()):
        config = message("ReloadConfigRequest")()
        for name, path in models:
            config.config.model_config_list.config.add(name=name, base_path=str(path))
        for label, version in labels:
            config.config.model_config_list.config[0].version_labels[label] = version
        return server.call("HandleReloadConfigRequest", config, "ReloadConfigResponse", "ModelService")

    good = ("n", tmp_path / "n")
    for models, labels, code in (
        ([good, ("x", tmp_path / "nowhere")], (), "UNKNOWN"),
        ([good, good], (), "INVALID_ARGUMENT"),
        ([good], [("stable", 7)], "FAILED_PRECONDITION"),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            reload(*models, labels=labels)
        assert caught.value.code().name == code
        assert server.predict([[1, 1]])[0, 0] == 2
        assert server.rest("/v1/models/n")[0] == 404
    reload(good, labels=[("stable", 1)])
    assert server.rest("/v1/models/m")[0] == 404
    assert server.rest("/v1/models/n/labels/stable:predict", {"instances": [[1, 1]]})[0] == 200
    assert server.close() == 0


def test_sigterm_under_load_answers_what_is_under_way(tmp_path):
    save(tmp_path / "m" / "1", 2.0)
    server = Server(tmp_path / "m", "--enable_batching")
    wrong, ended = [], []

    def ask(rest):
        while True:
            try:
                if rest:
                    code, body = server.rest("/v1/models/m:predict", {"instances": [[1, 1]]})
                    if code != 503 and json.loads(body) != {"predictions": [[2.0, 2.0]]}:
                        wrong.append((code, body))
                elif server.predict([[1, 1]]).tolist() != [[2, 2]]:
                    wrong.append("gRPC")
            except grpc.RpcError as error:
                if error.code().name not in ("UNAVAILABLE", "CANCELLED"):
                    wrong.append(error)
                ended.append(rest)
                return None
            except OSError as error:  # refused, once the port is closed
                ended.append(rest)
                return repr(error)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i in range(8):
            pool.submit(ask, i % 2 == 0)
        time.sleep(2)
        start = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(15) == 0
        assert time.monotonic() - start < 12
    assert not wrong
    assert len(ended) == 8
    assert server.close() == 0


@pytest.mark.parametrize("rest", [False, True])
def test_batching_limits(tmp_path, rest):
    save(tmp_path / "m" / "1", 2.0)
    server = Server(tmp_path / "m", "--enable_batching", "--max_batch_size", "4")
    if rest:
        code, body = server.rest("/v1/models/m:predict", {"instances": [[1, 1]] * 5})
        assert (code, "larger than maximum" in json.loads(body)["error"]) == (400, True)
    else:
        with pytest.raises(grpc.RpcError) as caught:
            server.predict([[1, 1]] * 5)
        assert caught.value.code().name == "INVALID_ARGUMENT"
    assert server.predict([[1, 1]] * 4).shape == (4, 2)
    assert server.close() == 0


def test_model_config_file_and_untrusted(tmp_path):
    save(tmp_path / "m" / "1", 2.0)
    save(tmp_path / "m" / "2", 3.0)

    class Reader(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([], tf.string, name="path")])
        def __call__(self, path):
            return {"text": tf.io.read_file(path)}

    reader = Reader()
    tf.saved_model.save(reader, str(tmp_path / "r" / "1"), signatures={"serving_default": reader.__call__})
    config = tmp_path / "models.config"
    config.write_text(
        f"""model_config_list {{
          config {{ name: "m" base_path: "{tmp_path}/m" model_platform: "tensorflow"
            model_version_policy {{ specific {{ versions: 1 versions: 2 }} }}
            version_labels {{ key: "stable" value: 1 }} }}
          config {{ name: "r" base_path: "{tmp_path}/r" }} }}"""
    )
    server = Server(None, "--model_config_file", str(config), "--untrusted")
    for path, found in (("/labels/stable", 2.0), ("/versions/1", 2.0), ("/versions/2", 3.0), ("", 3.0)):
        code, body = server.rest(f"/v1/models/m{path}:predict", {"instances": [[1, 1]]})
        assert (code, json.loads(body)) == (200, {"predictions": [[found, found]]})
    assert server.health() == "NOT_SERVING"
    status = json.loads(server.rest("/v1/models/r")[1])["model_version_status"][0]
    assert (status["state"], status["status"]["error_code"]) == ("END", "PERMISSION_DENIED")
    assert server.close() == 0


def test_an_empty_message_of_a_tensor_is_an_error(tmp_path):
    save(tmp_path / "m" / "1", 2.0)
    server = Server(tmp_path / "m")
    request = message("PredictRequest")()
    request.model_spec.name = "m"
    request.inputs["x"].CopyFrom(protos.TensorProto())
    with pytest.raises(grpc.RpcError) as caught:
        server.call("Predict", request, "PredictResponse")
    assert caught.value.code().name == "INVALID_ARGUMENT"
    code, body = server.rest("/v1/models/m:predict", b'{"inputs": {"\\ud800": [[1, 1]]}, "signature_name": "\\udfff"}')
    assert (code, "error" in json.loads(body)) == (400, True)
    assert server.close() == 0
