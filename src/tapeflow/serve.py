"""Serves SavedModels: `python -m tapeflow.serve --model NAME=PATH --port 8500 --rest_port 8501`.

PATH has a folder for each version, whose name is a number. Versions are picked up and dropped while the server runs.
The API is TensorFlow Serving's. It needs the extra `serving`: pip install 'tapeflow[serving]'.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from types import ModuleType

from tapeflow.core.errors import OpError


def _inference() -> ModuleType:
    from tapeflow.serving import inference  # the extra was looked for before

    return inference


_NEEDED = ("grpc", "grpc_health", "httptools", "prometheus_client", "uvicorn")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tapeflow.serve", description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--model", action="append", default=[], metavar="NAME=PATH", help="a model (repeatable)")
    add("--model_config_file", help="a ModelServerConfig in text format")
    add("--host", default="127.0.0.1", help="address to listen on (default: loopback)")
    add("--port", type=int, default=8500, help="of gRPC; 0: any free one")
    add("--rest_port", type=int, default=8501, help="of REST; 0: any free one")
    add("--ssl_config_file", help="an SSLConfig in text format: gRPC is encrypted with its keys")
    add("--untrusted", action="store_true", help="refuse models that touch files or Python, limit their calls")
    add("--allow_reload", action="store_true", help="let clients change which models are served")
    add("--poll_seconds", type=float, default=1.0, help="between looks for new versions")
    add("--enable_batching", action="store_true", help="join concurrent requests")
    add("--max_batch_size", type=int, default=32)
    add("--batch_timeout_micros", type=int, default=1000)
    add("--max_enqueued_batches", type=int, default=64)
    add("--num_batch_threads", type=int, default=2)
    add("--max_message_bytes", type=int, default=32 << 20, help="of a request")
    add("--max_buffered_bytes", type=int, default=256 << 20, help="of all REST requests being received")
    add("--max_connections", type=int, default=512, help="of REST, and gRPC requests under way")
    add("--threads", type=int, default=8, help="requests that run at a time, of each API")
    add("--read_timeout", type=float, default=10.0, help="seconds for a client to send a REST request")
    add("--write_timeout", type=float, default=60.0, help="seconds for a client to receive a REST response")
    add("--timeout", type=float, default=60.0, help="seconds in which a request has its answer")
    add("--grace", type=float, default=10.0, help="seconds for requests under way at the end")
    return parser


def main(argv: Sequence[str]) -> int:
    """Serves until SIGTERM or SIGINT; returns an exit code."""
    parser = _parser()
    options = parser.parse_args(argv)
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"tapeflow.serve needs {', '.join(missing)}: pip install 'tapeflow[serving]'", file=sys.stderr)
        return 1
    if not options.model and not options.model_config_file:
        parser.error("name at least one model: --model NAME=PATH")
    if any("=" not in model for model in options.model):
        parser.error("--model takes NAME=PATH")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    return _serve(options)


def _configs(options: argparse.Namespace) -> list:
    from google.protobuf import text_format

    message = _inference().message
    from tapeflow.serving.store import config_of

    configs = [config_of(*model.split("=", 1)) for model in options.model]
    if options.model_config_file:
        with open(options.model_config_file) as file:
            found = text_format.Parse(file.read(), message("ModelServerConfig")())
        configs += found.model_config_list.config
    return configs


def _ssl(options: argparse.Namespace) -> object:
    """The SSLConfig of gRPC, or None."""
    from google.protobuf import text_format

    message = _inference().message
    if not options.ssl_config_file:
        return None
    with open(options.ssl_config_file) as file:
        try:
            return text_format.Parse(file.read(), message("SSLConfig")())
        except text_format.ParseError as error:  # whose text quotes the line, which may be a key
            place = f"{options.ssl_config_file}:{error.GetLine()}:{error.GetColumn()}"
            raise ValueError(f"{place}: malformed SSLConfig") from None


class _Signals:
    """Waits for one of the signals.

    A lock or an event would not do: the system may hand a signal to any thread, and its Python handler, which runs in
    the main one, would not wake it. The interpreter writes to the socket in whichever thread it is.
    """

    def __init__(self, *numbers: signal.Signals):
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno())
        for number in numbers:
            signal.signal(number, lambda *_: None)
        self._numbers = numbers

    def wait(self) -> None:
        while self._reader.recv(1)[0] not in self._numbers:
            pass  # a signal that someone else handles


def _serve(options: argparse.Namespace) -> int:
    from google.protobuf.text_format import ParseError  # the extra was looked for before

    from tapeflow.serving.server import Server

    stop = _Signals(signal.SIGTERM, signal.SIGINT)
    try:
        server = Server(options, _ssl(options))  # takes the ports, so that a taken one is an error before models load
        server.start(_configs(options))
    except (OSError, RuntimeError, ValueError, ParseError, OpError) as error:
        print(f"tapeflow.serve: {error}", file=sys.stderr)
        return 1
    print(f"gRPC on {options.host}:{server.port}, REST on {options.host}:{server.rest_port}", flush=True)
    stop.wait()
    server.stop()
    return 0


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    logging.shutdown()
    sys.stdout.flush()
    os._exit(ended)  # not sys.exit: it would wait for calls that had no end in the time of grace
