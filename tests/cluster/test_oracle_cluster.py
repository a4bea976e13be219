"""Clients and tasks of this package and of TensorFlow work with each other."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("grpc")

from processes import HERE, cluster, wait_for

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]
PROGRAM = str(HERE / "either_program.py")


def command(package, *arguments):
    return [sys.executable if package == "tapeflow" else os.environ["TF_PYTHON"], PROGRAM, package, *arguments]


def found(client, worker, server):
    """What a client prints that runs on workers and a parameter server of some packages."""
    with cluster(ps=1, worker=2) as made:
        for job, index, package in (("ps", 0, server), ("worker", 0, worker), ("worker", 1, worker)):
            process = subprocess.Popen(command(package, "serve", repr(made.spec), job, str(index)),
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
            made.processes.append(process)
            wait_for(process, "serving")
        done = subprocess.run(command(client, "client", made.target("worker")), check=False, capture_output=True,
                              text=True, timeout=100)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def expected():
    return found("tensorflow", "tensorflow", "tensorflow")


@pytest.mark.parametrize(
    ("client", "worker", "server"),
    [
        ("tensorflow", "tapeflow", "tapeflow"), ("tapeflow", "tensorflow", "tensorflow"),
        ("tapeflow", "tapeflow", "tensorflow"), ("tapeflow", "tapeflow", "tapeflow"),
    ],
)  # fmt: skip
def test_a_cluster_of_both_gives_the_same(client, worker, server, expected):
    *values, names = found(client, worker, server)
    assert names == expected[-1]
    for ours, theirs in zip(values, expected[:-1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
