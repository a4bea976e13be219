"""Starts a program in several processes of this machine, as workers of one cluster:

    python -m tapeflow.launch --processes 2 [--restarts 1] [--grace 60] [--v1] program.py [args...]

Each process finds the others in its TF_CONFIG, and its output begins with its name. Where one fails, the others have
`--grace` seconds to end by themselves before they are stopped; then all are started again, at most `--restarts` times.
The exit code is that of the process that failed first, else 0. A program runs as by `python -m tapeflow.run`.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO


def main(argv: Sequence[str]) -> int:
    """Run the program that the arguments name; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tapeflow.launch", description=__doc__.split("\n")[0])
    parser.add_argument("--processes", type=int, required=True, help="how many processes there are")
    parser.add_argument("--restarts", type=int, default=0, help="how often all are started again after a failure")
    parser.add_argument("--grace", type=float, default=60.0, help="seconds for the others to end after a failure")
    parser.add_argument("--v1", action="store_true", help="`import tensorflow` gives the names of 1.x")
    parser.add_argument("program", help="a file, or -m, -c as for `python -m tapeflow.run`")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(argv)
    if options.processes < 1 or options.restarts < 0:
        parser.error("--processes must be at least 1, and --restarts at least 0")
    command = [sys.executable, "-m", "tapeflow.run", *(["--v1"] if options.v1 else [])]
    command += [options.program, *options.arguments]
    for attempt in range(options.restarts + 1):
        code = _run(command, options.processes, options.grace)
        if code == 0:
            return 0
        if attempt < options.restarts:
            print(f"tapeflow.launch: exit code {code}; starting again", file=sys.stderr, flush=True)
    return code


def _run(command: Sequence[str], count: int, grace: float) -> int:
    """Run the command in so many processes; returns the exit code."""
    cluster = {"worker": [f"localhost:{port}" for port in _free_ports(count)]}
    started: list[subprocess.Popen[bytes]] = []
    readers = []
    try:
        for i in range(count):
            config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})
            process = subprocess.Popen(
                command, env={**os.environ, "TF_CONFIG": config}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            started.append(process)
            reader = threading.Thread(target=_show, args=(process.stdout, f"[worker {i}] "), daemon=True)
            reader.start()
            readers.append(reader)
        return _wait(started, grace)
    finally:
        _stop(started)
        for reader in readers:
            reader.join(10)


def _wait(started: Sequence[subprocess.Popen[bytes]], grace: float) -> int:
    """The exit code of the first that fails, once all have ended or had time to; else 0."""
    first, end = 0, None
    while None in (codes := [process.poll() for process in started]):
        failed = [code for code in codes if code]
        if failed and end is None:
            first, end = failed[0], time.monotonic() + grace
        if end is not None and time.monotonic() > end:
            break
        time.sleep(0.1)
    code = first or next((process.returncode for process in started if process.returncode), 0)
    return 128 - code if code < 0 else code  # as shells say that a signal ended a process


def _stop(started: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in started:
        if process.poll() is None:
            process.terminate()
    for process in started:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _show(lines: IO[bytes] | None, prefix: str) -> None:
    assert lines is not None
    for line in lines:
        sys.stdout.write(prefix + line.decode(errors="replace"))
        sys.stdout.flush()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
