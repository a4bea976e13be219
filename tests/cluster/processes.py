"""Clusters of several processes of this machine, for tests."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Cluster:
    """Addresses of tasks, and the processes that were started for them."""

    def __init__(self, **jobs):
        ports = iter(free_ports(sum(jobs.values())))
        self.spec = {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}
        self.processes = []

    def start(self, program, job, index, *arguments, **environment):
        """Start a program of this folder as a task; it gets the cluster, its job, its number and the arguments."""
        command = [sys.executable, str(HERE / program), repr(self.spec), job, str(index), *map(str, arguments)]
        made = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, **environment})  # fmt: skip
        self.processes.append(made)
        return made

    def target(self, job, index=0):
        return f"grpc://{self.spec[job][index]}"

    def close(self):
        for each in self.processes:
            if each.poll() is None:
                each.send_signal(signal.SIGKILL)
        for each in self.processes:
            each.wait()
            each.stdout.close()


def wait_for(process, beginning):
    """Read what a process prints up to a line with a beginning, which is returned."""
    seen = []
    for line in process.stdout:
        seen.append(line)
        if line.startswith(beginning):
            return line.strip()
    raise AssertionError("".join(seen))


def output(process, seconds=120):
    """What a process printed; it must have ended well."""
    text, _ = process.communicate(timeout=seconds)
    assert process.returncode == 0, text
    return text


@contextlib.contextmanager
def cluster(**jobs):
    made = Cluster(**jobs)
    try:
        yield made
    finally:
        made.close()
