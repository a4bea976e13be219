"""Encrypted gRPC: the keys of an SSLConfig, and clients that have none."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

grpc = pytest.importorskip("grpc")
for needed in ("uvicorn", "httptools", "prometheus_client", "grpc_health"):
    pytest.importorskip(needed)

from google.protobuf import text_format  # noqa: E402
from serving_process import Server, message, save  # noqa: E402  (needs the extra)

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """An authority, and a server's and a client's certificates of it; `other` is of no authority."""
    folder = tmp_path_factory.mktemp("keys")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    for name in ("authority", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.crt")  # fmt: skip
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    for name in ("server", "client"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key",
                "-out", f"{name}.csr")  # fmt: skip
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "authority.crt", "-CAkey", "authority.key",
                "-CAcreateserial", "-days", "30", "-out", f"{name}.crt", "-extfile", "names")  # fmt: skip
    return {path.name: path.read_text() for path in folder.glob("*.[kc][er][yt]")}


def config(path, **fields):
    path.write_text(text_format.MessageToString(message("SSLConfig")(**fields)))
    return str(path)


def start(tmp_path, **fields):
    save(tmp_path / "m" / "1", 2.0)
    with (tmp_path / "log").open("w") as log:
        server = Server(tmp_path / "m", "--ssl_config_file", config(tmp_path / "ssl", **fields), stderr=log)
    server.channel.close()
    return server


def predict(server, credentials):
    channel = grpc.insecure_channel if credentials is None else lambda a: grpc.secure_channel(a, credentials)
    server.channel = channel(f"localhost:{server.port}")
    try:
        return server.predict([[1.0, 2.0]]).tolist()
    except grpc.RpcError as error:
        return error.code().name
    finally:
        server.channel.close()


def test_the_server_is_known_by_its_key(tmp_path, keys):
    server = start(tmp_path, server_key=keys["server.key"], server_cert=keys["server.crt"])
    trusting = grpc.ssl_channel_credentials(keys["authority.crt"].encode())
    assert predict(server, trusting) == [[2.0, 4.0]]
    assert predict(server, grpc.ssl_channel_credentials(keys["other.crt"].encode())) == "UNAVAILABLE"
    assert predict(server, None) == "UNAVAILABLE"
    assert server.rest("/v1/models/m")[0] == 200  # REST is as before
    assert server.close() == 0
    said = (tmp_path / "log").read_text()
    assert f"REST on 127.0.0.1:{server.rest_port} is not encrypted" in said


def test_clients_are_known_by_their_keys(tmp_path, keys):
    server = start(tmp_path, server_key=keys["server.key"], server_cert=keys["server.crt"],
                   custom_ca=keys["authority.crt"], client_verify=True)  # fmt: skip
    authority = keys["authority.crt"].encode()

    def client(name):
        return grpc.ssl_channel_credentials(authority, keys[f"{name}.key"].encode(), keys[f"{name}.crt"].encode())

    np.testing.assert_array_equal(predict(server, client("client")), [[2.0, 4.0]])
    assert predict(server, client("other")) == "UNAVAILABLE"
    assert predict(server, grpc.ssl_channel_credentials(authority)) == "UNAVAILABLE"
    assert server.close() == 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [({}, "needs server_key and server_cert"),
     ({"server_key": "x", "server_cert": "y"}, "certificate|credentials|bind"),
     ({"server_key": True, "server_cert": True, "client_verify": True}, "custom_ca|root|authority")],
    ids=["empty", "no keys", "no authority"],
)  # fmt: skip
def test_keys_that_are_none_end_the_program(tmp_path, keys, fields, message):
    names = {"server_key": "server.key", "server_cert": "server.crt"}
    found = {k: keys[names[k]] if v is True and k in names else v for k, v in fields.items()}
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow.serve", "--model", f"m={tmp_path}", "--port", "0", "--rest_port", "0",
         "--ssl_config_file", config(tmp_path / "ssl", **found)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert not done.stdout
    said = [line for line in done.stderr.splitlines() if line.startswith("tapeflow.serve: ")]
    assert len(said) == 1
    assert re.search(message, said[0]), said
