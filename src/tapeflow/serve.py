"""Serves SavedModels: `python -m tapeflow.serve --model NAME=PATH --port 8500 --rest_port 8501`.

PATH has a folder for each version, whose name is a number. Versions are picked up and dropped while the server runs.
The API is TensorFlow Serving's. It needs the extra `serving`: pip install 'tapeflow[serving]'.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import signal
import sys
import threading
from collections.abc import Sequence

_NEEDED = ("grpc", "grpc_health", "prometheus_client", "starlette", "uvicorn")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tapeflow.serve", description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--model", action="append", default=[], metavar="NAME=PATH", help="a model (repeatable)")
    add("--model_config_file", help="a ModelServerConfig in text format")
    add("--host", default="127.0.0.1", help="address to listen on (default: loopback)")
    add("--port", type=int, default=8500, help="of gRPC; 0: any free one")
    add("--rest_port", type=int, default=8501, help="of REST")
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
    add("--read_timeout", type=float, default=10.0, help="seconds for a client to send its request")
    add("--timeout", type=float, default=60.0, help="seconds for a REST request in a batch")
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

    from tapeflow.serving.inference import message  # the extra was looked for before
    from tapeflow.serving.store import config_of

    configs = [config_of(*model.split("=", 1)) for model in options.model]
    if options.model_config_file:
        with open(options.model_config_file) as file:
            found = text_format.Parse(file.read(), message("ModelServerConfig")())
        configs += found.model_config_list.config
    return configs


def _serve(options: argparse.Namespace) -> int:
    # Imported once the extra was looked for.
    from tapeflow.serving.batching import Batcher, BatchingOptions
    from tapeflow.serving.grpc_server import GrpcServer
    from tapeflow.serving.inference import Inference
    from tapeflow.serving.metrics import Metrics
    from tapeflow.serving.rest_app import RestApp, server_of
    from tapeflow.serving.store import ModelStore
    from tapeflow.serving.warm_up import warm_up

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    store, metrics, batcher = ModelStore(not options.untrusted, warm_up), Metrics(), None
    store.configure(_configs(options))
    if options.enable_batching:
        batcher = Batcher(BatchingOptions(
            options.max_batch_size, options.batch_timeout_micros / 1e6, options.max_enqueued_batches,
            options.num_batch_threads,
        ))  # fmt: skip
    inference = Inference(store, batcher, options.max_message_bytes)
    grpc_server = GrpcServer(
        inference, metrics, f"{options.host}:{options.port}", max_message_bytes=options.max_message_bytes,
        threads=options.threads, max_requests=options.max_connections, allow_reload=options.allow_reload,
    )  # fmt: skip
    rest = RestApp(
        inference, store, metrics, max_body_bytes=options.max_message_bytes,
        max_buffered_bytes=options.max_buffered_bytes, read_timeout=options.read_timeout, timeout=options.timeout,
        threads=options.threads,
    )  # fmt: skip
    web = server_of(rest.app, options.host, options.rest_port, options.max_connections, options.grace)
    web_thread = threading.Thread(target=web.run, daemon=True)
    web_thread.start()
    grpc_server.start()
    print(f"gRPC on {options.host}:{grpc_server.port}, REST on {options.host}:{options.rest_port}", flush=True)
    while not stop.wait(options.poll_seconds):
        store.poll()
    web.should_exit = True
    grpc_server.stop(options.grace)
    web_thread.join(options.grace + 1)
    if batcher is not None:
        batcher.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
