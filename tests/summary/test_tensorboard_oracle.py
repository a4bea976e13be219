"""TensorBoard reads event files written here."""

import os
import subprocess

import numpy as np
import pytest

import tapeflow as tf

PROGRAM = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util
events = EventAccumulator(sys.argv[1])
events.Reload()
tags = events.Tags()
scalars = [[e.step, float(tensor_util.make_ndarray(e.tensor_proto))] for e in events.Tensors("loss")]
print(json.dumps({"tensors": tags["tensors"], "scalars": tags["scalars"], "histograms": tags["histograms"],
                  "images": tags["images"], "graph": tags["graph"], "loss": scalars}))
"""


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_tensorboard_reads_our_files(tmp_path):
    import json

    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
        tf.summary.histogram("weights", np.arange(10.0), step=0)
    contrib = tf.contrib.summary
    with writer.as_default(), contrib.always_record_summaries():
        contrib.scalar("old", 1.0, step=1)
        contrib.histogram("old_h", [1.0, 2.0], step=1)
        contrib.image("old_i", tf.zeros([1, 2, 2, 3]), step=1, max_images=1)
    writer.close()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [os.environ["TF_PYTHON"], "-c", PROGRAM, str(tmp_path)],
        check=True, capture_output=True, env=environment, timeout=600,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["tensors"] == ["loss", "weights"]
    assert found["scalars"] == ["old"]
    assert found["histograms"] == ["old_h"]
    assert found["images"] == ["old_i/image"]
    np.testing.assert_allclose(found["loss"], [[0, 1], [1, 0.5], [2, 1 / 3]], rtol=1e-6)
