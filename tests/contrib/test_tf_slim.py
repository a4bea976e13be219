"""The package tf-slim, imported through the alias: it builds, runs and trains its nets."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("tf_slim") is None, reason="tf-slim is not installed"),
]

FORWARD = """
import sys
import numpy as np
import tensorflow.compat.v1 as tf
import tf_slim as slim
from tf_slim.nets import alexnet, inception, overfeat, resnet_utils, resnet_v1, resnet_v2, vgg

module, scope, size, *names = sys.argv[1:]
module = globals()[module]
scope = getattr(resnet_utils if scope == "resnet_arg_scope" else module, scope)
for name in names:
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [None, int(size), int(size), 3])
        with slim.arg_scope(scope()):
            logits, ends = getattr(module, name)(images, 10, is_training=False)
        count = sum(int(np.prod(v.shape.as_list())) for v in slim.get_model_variables())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = session.run(logits, {images: np.random.rand(1, int(size), int(size), 3)})
    assert np.isfinite(values).all() and values.size == 10, values
    print(name, count, len(ends))
"""

TRAINING = """
import sys
import tensorflow.compat.v1 as tf
import tf_slim as slim

(images, labels), _ = tf.keras.datasets.mnist.load_data()
with tf.Graph().as_default():
    tf.set_random_seed(1)
    x = tf.constant(images[:256, ..., None] / 255.0, tf.float32)
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=slim.l2_regularizer(1e-4), normalizer_fn=slim.batch_norm,
        normalizer_params={"is_training": True, "decay": 0.9},
    ):
        net = slim.repeat(x, 2, slim.conv2d, 8, 3, stride=2, scope="conv")
        net = slim.dropout(slim.flatten(net), 0.9, is_training=True)
        logits = slim.fully_connected(net, 10, activation_fn=None, normalizer_fn=None)
    tf.losses.sparse_softmax_cross_entropy(labels[:256].astype("int64"), logits)
    total = tf.losses.get_total_loss()
    step = slim.learning.create_train_op(total, tf.train.AdamOptimizer(0.01))
    last = slim.learning.train(step, sys.argv[1], number_of_steps=30, log_every_n_steps=10)
    assert tf.train.latest_checkpoint(sys.argv[1]).endswith("-30")
    print(last)
"""


def run(program, *arguments):
    path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow.run", "-c", program, *map(str, arguments)],
        capture_output=True, encoding="utf-8", timeout=900, check=False,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("module", "scope", "size", "counts"),
    [
        ("alexnet", "alexnet_v2_arg_scope", 224, {"alexnet_v2": 46_247_882}),
        ("overfeat", "overfeat_arg_scope", 231, {"overfeat": 141_648_394}),
        (
            "vgg", "vgg_arg_scope", 224,
            {"vgg_a": 128_807_306, "vgg_16": 134_301_514, "vgg_19": 139_611_210},
        ),
        ("inception", "inception_v1_arg_scope", 224, {"inception_v1": 5_617_434}),
        ("inception", "inception_v2_arg_scope", 224, {"inception_v2": 10_183_362}),
        ("inception", "inception_v3_arg_scope", 299, {"inception_v3": 24_389_556}),
        (
            "resnet_v1", "resnet_arg_scope", 224,
            {"resnet_v1_50": 23_581_642, "resnet_v1_101": 42_625_994, "resnet_v1_152": 58_315_722},
        ),
        (
            "resnet_v2", "resnet_arg_scope", 224,
            {"resnet_v2_50": 23_585_290, "resnet_v2_101": 42_647_050, "resnet_v2_200": 62_865_930},
        ),
    ],
)  # fmt: skip
def test_nets_run(module, scope, size, counts):
    printed = run(FORWARD, module, scope, size, *counts)
    found = {name: int(count) for name, count, _ in map(str.split, printed)}
    assert found == counts


def test_a_net_trains(tmp_path):
    assert float(run(TRAINING, tmp_path)[-1]) < 1.0
