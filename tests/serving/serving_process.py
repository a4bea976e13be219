"""A server in a process of its own, and models for it."""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import ClassVar

import grpc
import numpy as np

import tapeflow as tf
from tapeflow import protos
from tapeflow.compat import v1


def message(name):
    return getattr(protos, f"serving.{name}")


def save(folder, factor):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def __call__(self, x):
            return {"y": x * factor}

    model = Model()
    tf.saved_model.save(model, str(folder), signatures={"serving_default": model.__call__})


def save_examples(folder):
    """A 1.x model of serialized examples: `classify` and `regress`."""
    with tf.Graph().as_default(), v1.Session() as session:
        given = v1.placeholder(tf.string, [None], "examples")
        features = {"x": v1.FixedLenFeature([2], tf.float32), "bias": v1.FixedLenFeature([], tf.float32, 0.5)}
        parsed = v1.parse_example(given, features)
        weights = v1.get_variable("weights", initializer=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        scores = tf.matmul(parsed["x"], weights) + parsed["bias"][:, None]
        classes = tf.tile(tf.constant([["a", "b", "c"]]), [tf.shape(scores)[0], 1])
        session.run(v1.global_variables_initializer())
        signatures = {
            "classify": v1.saved_model.classification_signature_def(given, classes, scores),
            "regress": v1.saved_model.regression_signature_def(given, scores[:, :1]),
        }
        signatures["serving_default"] = signatures["classify"]
        builder = v1.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()


class Server:
    """Serves the folder as `m` on ports of its own choice."""

    left: ClassVar[list] = []  # those that no one closed

    def __init__(self, base, *options, stderr=subprocess.DEVNULL):
        models = ["--model", f"m={base}"] if base is not None else []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tapeflow.serve", *models, "--poll_seconds", "0.1", "--port", "0",
             "--rest_port", "0", *options],
            stdout=subprocess.PIPE, stderr=stderr, text=True,
        )  # fmt: skip
        self.left.append(self)
        line = self.process.stdout.readline()
        self.port, self.rest_port = map(int, re.findall(r":(\d+)", line))
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.port}")

    def rest(self, path, body=None):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest_port}{path}", data)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def call(self, method, request, answer, service="PredictionService"):
        function = self.channel.unary_unary(f"/tensorflow.serving.{service}/{method}")
        data = request if isinstance(request, bytes) else request.SerializeToString()
        return message(answer).FromString(function(data, timeout=20))

    def predict(self, x, **spec):
        request = message("PredictRequest")()
        request.model_spec.name = "m"
        request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.asarray(x, np.float32)))
        return tf.make_ndarray(self.call("Predict", request, "PredictResponse").outputs["y"])

    def health(self):
        answer = self.channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=20)
        return {b"\x08\x01": "SERVING", b"\x08\x02": "NOT_SERVING"}[answer]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        """The exit code of a server that was asked to stop."""
        self.left.remove(self)
        self.channel.close()
        code = self.process.wait(20)
        self.process.stdout.close()
        return code


def wait_for(condition):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")
