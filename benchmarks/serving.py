"""Requests a second of the server and their latency, beside the bare call of the function that it serves.

python benchmarks/serving.py [--seconds 30] [--clients 32]

The model is a dense network, 64 -> 256 -> 256 -> 10; a request has one row. Clients are threads of one other process,
each with a connection of its own, which asks again as soon as it has its answer. Client and server share the machine.
"""

import argparse
import http.client
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import grpc
import numpy as np

import tapeflow as tf
from tapeflow import protos


class Model(tf.Module):
    """Three dense layers."""

    def __init__(self):
        super().__init__()
        sizes = [64, 256, 256, 10]
        rng = np.random.default_rng(0)
        self.weights = [tf.Variable(rng.normal(size=s).astype(np.float32)) for s in itertools.pairwise(sizes)]

    @tf.function(input_signature=[tf.TensorSpec([None, 64], tf.float32, name="x")])
    def __call__(self, x):
        for weights in self.weights[:-1]:
            x = tf.nn.relu(tf.matmul(x, weights))
        return {"y": tf.matmul(x, self.weights[-1])}


def bare(folder, seconds):
    """Latencies of the loaded signature, called by one thread."""
    function = tf.saved_model.load(folder).signatures["serving_default"]
    x = tf.constant(np.ones([1, 64], np.float32))
    found, end = [], time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        function(x=x)
        found.append(time.perf_counter() - start)
    return found


def grpc_client(port):
    request = getattr(protos, "serving.PredictRequest")()
    request.model_spec.name = "m"
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.ones([1, 64], np.float32)))
    data = request.SerializeToString()
    channel = grpc.insecure_channel(f"127.0.0.1:{port}", [("grpc.use_local_subchannel_pool", 1)])
    call = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
    return lambda: call(data, timeout=60)


def rest_client(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"instances": np.ones([1, 64]).tolist()})

    def call():
        connection.request("POST", "/v1/models/m:predict", body)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()

    return call


def load(kind, port, clients, seconds):
    """Latencies of all requests of all clients."""
    found, begin = [], threading.Barrier(clients)

    def work():
        call = (grpc_client if kind == "gRPC" else rest_client)(port)
        call()
        begin.wait()
        end = time.perf_counter() + seconds
        while (start := time.perf_counter()) < end:
            call()
            found.append(time.perf_counter() - start)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def report(name, found, seconds):
    p50, p99 = np.percentile(found, [50, 99]) * 1e3
    print(f"{name:24} {len(found) / seconds:9.0f} /s   p50 {p50:8.3f} ms   p99 {p99:8.3f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--clients", type=int, default=32)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        model = Model()
        tf.saved_model.save(model, f"{base}/1", signatures={"serving_default": model.__call__})
        report("the bare call", bare(f"{base}/1", min(5, options.seconds)), min(5, options.seconds))
        for batching in ((), ("--enable_batching",)):
            server = subprocess.Popen(
                [sys.executable, "-m", "tapeflow.serve", "--model", f"m={base}", "--port", "0", "--rest_port", "0",
                 *batching],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ,
            )  # fmt: skip
            ports = re.findall(r":(\d+)", server.stdout.readline())
            for kind, port in zip(("gRPC", "REST"), ports, strict=True):
                found = load(kind, int(port), options.clients, options.seconds)
                report(f"{kind}{', batching' if batching else ''}", found, options.seconds)
            server.send_signal(signal.SIGTERM)
            server.wait(20)


if __name__ == "__main__":
    main()
