"""The TPUEstimator program of the slides of 2017 on eight cores: CPU devices of XLA's, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("jax")

pytestmark = pytest.mark.xla

PROGRAM = """
import sys
import numpy as np
import tapeflow as tf
v1, tpu = tf.compat.v1, tf.compat.v1.tpu
from tapeflow.contrib import tpu as contrib
from tapeflow.core import device_calls

made = []
driver = device_calls.step_driver if tf.config.list_physical_devices("GPU") else None
if driver:
    device_calls.step_driver = lambda *a: made.append(len(a[4])) or driver(*a)

def model_fn(features, labels, mode, params):
    with tpu.bfloat16_scope():
        scale = v1.get_variable("scale", [], tf.bfloat16, v1.ones_initializer(), trainable=False)
    hidden = v1.layers.dense(features["x"] * tf.cast(scale, tf.float32), 6, tf.tanh, name="hidden")
    y = v1.layers.dense(hidden, 1, name="out")
    model_loss = tf.reduce_mean((y - labels) ** 2)
    optimizer = v1.train.AdagradOptimizer(0.1)
    optimizer = tpu.CrossShardOptimizer(optimizer)
    step = v1.train.get_or_create_global_step()
    train_op = optimizer.minimize(model_loss, global_step=step)
    rows = tf.fill([1], tf.cast(tf.shape(y)[0], tf.int64))
    def host_call(rows):
        return v1.py_func(lambda n: print("rows", n.tolist()) or np.int64(0), [rows], tf.int64)
    return contrib.TPUEstimatorSpec(mode, loss=model_loss, train_op=train_op, host_call=(host_call, [rows]))

def input_fn(params):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 4)).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, np.sum(x, 1, keepdims=True)))
    return data.repeat().batch(params["batch_size"])

shards = int(sys.argv[1])
config = contrib.RunConfig(model_dir=sys.argv[2], tf_random_seed=4, log_step_count_steps=None,
                           tpu_config=contrib.TPUConfig(num_shards=shards))
estimator = contrib.TPUEstimator(model_fn=model_fn, config=config, use_tpu=shards > 1, train_batch_size=32)

class Shown(v1.train.SessionRunHook):
    def begin(self):
        self.loss = next(x for x in v1.get_default_graph().get_collection("summaries") if "loss" in x.name).op.inputs[1]
    def before_run(self, context):
        return v1.train.SessionRunArgs(self.loss)
    def after_run(self, context, values):
        print("loss", repr(float(values.results)))

estimator.train(input_fn, steps=5, hooks=[Shown()])
for name in sorted(estimator.get_variable_names()):
    print("value", name, np.ravel(estimator.get_variable_value(name)).tolist())
print("programs", made)
"""


def ran(shards, folder):
    environment = {**os.environ, "TAPEFLOW_VIRTUAL_GPUS": "8" if shards > 1 else ""}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(shards), str(folder)], env=environment, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = {"loss": [], "value": {}, "rows": [], "programs": None}
    for line in done.stdout.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "loss":
            found["loss"].append(float(rest))
        elif kind == "value":
            name, _, numbers = rest.partition(" ")
            found["value"][name] = np.array(eval(numbers))
        elif kind in ("rows", "programs"):
            found[kind] = eval(rest)
    return found


def test_the_slide_trains_on_eight_cores_with_the_loss_of_one(tmp_path):
    one, eight = ran(1, tmp_path / "one"), ran(8, tmp_path / "eight")
    assert one["programs"] == []
    assert eight["programs"] == [8]
    assert (one["rows"], eight["rows"]) == ([32], [4] * 8)  # host calls are given those of all cores
    assert len(one["loss"]) == 5
    np.testing.assert_allclose(eight["loss"], one["loss"], rtol=0, atol=1e-6)
    assert eight["loss"][-1] < eight["loss"][0]
    assert eight["value"].keys() == one["value"].keys()
    for name, value in one["value"].items():
        np.testing.assert_allclose(eight["value"][name], value, rtol=0, atol=2e-6, err_msg=name)
    assert eight["value"]["global_step"] == 5
