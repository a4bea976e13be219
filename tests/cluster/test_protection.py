"""Who may reach a server: keys, a token, and what is refused beyond loopback."""

import shutil
import subprocess
import sys
import threading

import pytest

pytest.importorskip("grpc")

import grpc
from processes import cluster, wait_for

import tapeflow.compat.v1 as tf
from tapeflow.cluster import grpc_client, security

NAMES = (*security._FILES, security._TOKEN, security._INSECURE)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    """No protection is set, and no connection is kept from a test to the next one."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(grpc_client, "_channels", {})


def run_at(target, milliseconds=60_000):
    config = tf.ConfigProto(operation_timeout_in_ms=milliseconds)
    with tf.Graph().as_default(), tf.Session(target, config=config) as session:
        return session.run(tf.constant(2.0) * 3.0)


def test_a_token_is_asked_for(monkeypatch):
    with cluster(worker=1) as made:
        process = made.start("serve_task.py", "worker", 0, TAPEFLOW_CLUSTER_TOKEN="secret")
        wait_for(process, "serving")
        for given in ("", "other"):
            monkeypatch.setenv(security._TOKEN, given)
            with pytest.raises(tf.errors.UnauthenticatedError, match="has not the token"):
                run_at(made.target("worker"))
        monkeypatch.setenv(security._TOKEN, "secret")
        assert run_at(made.target("worker")) == 6.0
        # Who has not the token is refused before its message is read.
        ended = threading.Event()

        def message():
            ended.wait(20)
            yield b""

        begin = grpc.insecure_channel(made.spec["worker"][0]).stream_unary("/tensorflow.MasterService/CreateSession")
        try:
            with pytest.raises(grpc.RpcError) as caught:
                begin(message(), timeout=5)
        finally:
            ended.set()
        assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_keys_are_asked_for(tmp_path, monkeypatch):
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=tmp_path)

    (tmp_path / "names").write_text("subjectAltName=DNS:localhost")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=authority", "-keyout",
            "authority.key", "-out", "authority.crt")  # fmt: skip
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=task", "-keyout", "task.key", "-out", "task.csr")
    openssl("x509", "-req", "-in", "task.csr", "-CA", "authority.crt", "-CAkey", "authority.key", "-CAcreateserial",
            "-days", "30", "-out", "task.crt", "-extfile", "names")  # fmt: skip
    names = ("task.crt", "task.key", "authority.crt")
    files = dict(zip(security._FILES, (f"{tmp_path}/{name}" for name in names), strict=True))
    with cluster(ps=1, worker=1) as made:
        for job in ("ps", "worker"):
            wait_for(made.start("serve_task.py", job, 0, **files), "serving")
        with pytest.raises((tf.errors.DeadlineExceededError, tf.errors.UnavailableError)):
            run_at(made.target("worker"), 8000)
        monkeypatch.setattr(grpc_client, "_channels", {})
        for name, value in files.items():
            monkeypatch.setenv(name, value)
        assert run_at(made.target("worker")) == 6.0


def test_files_of_keys_come_together(tmp_path, monkeypatch):
    monkeypatch.setenv(security._FILES[0], str(tmp_path / "none"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="are set together"):
        security.keys()
    for name in security._FILES:
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be read"):
        security.keys()


def test_servers_beyond_loopback_want_protection(monkeypatch):
    with pytest.raises(tf.errors.PermissionDeniedError, match="TAPEFLOW_CLUSTER_TOKEN"):
        tf.train.Server({"worker": ["machine.example:0"]})
    for name in (security._TOKEN, security._INSECURE):
        with monkeypatch.context() as patch:
            patch.setenv(name, "1")
            security.check_exposure("machine.example")
    with pytest.raises(tf.errors.PermissionDeniedError):
        security.check_exposure("127.machine.example")
    for host in ("localhost", "127.0.0.1", "::1"):
        security.check_exposure(host)


@pytest.mark.slow
def test_messages_have_a_limit(monkeypatch):
    with cluster(worker=1) as made:
        wait_for(made.start("serve_task.py", "worker", 0, TAPEFLOW_CLUSTER_MAX_MESSAGE_BYTES="100000"), "serving")
        with tf.Graph().as_default(), tf.Session(made.target("worker")) as session:
            x = tf.placeholder(tf.float32, [None])
            y = tf.reduce_sum(x)
            assert session.run(y, {x: [1.0] * 1000}) == 1000.0
            with pytest.raises(tf.errors.ResourceExhaustedError):
                session.run(y, {x: list(range(100_000))})
            assert session.run(y, {x: [2.0]}) == 2.0


def test_a_missing_extra_is_named():
    program = (
        "import sys; sys.modules['grpc'] = None\n"
        "import tapeflow.compat.v1 as tf\n"
        "server = tf.train.Server.create_local_server()\n"
        "with tf.Graph().as_default(), tf.Session(server.target) as session:\n"
        "    print(session.run(tf.constant(1.0) + 1.0))\n"
        "for make in (lambda: tf.train.Server({'a': ['localhost:1', 'localhost:2']}, 'a', 0),\n"
        "             lambda: tf.Session('grpc://localhost:1')):\n"
        "    try:\n"
        "        make()\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
    )
    text = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert text.startswith("2.0\n")
    assert text.count("pip install 'tapeflow[cluster]'") == 2
