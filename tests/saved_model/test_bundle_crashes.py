"""Saves that are killed, or run out of disk: the last good checkpoint stays readable."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.checkpoint.bundle import BundleReader
from tapeflow.checkpoint.bundle_writing import write_bundle

# Saves again and again, over the same name or with a manager, and tells when it begins.
SAVER = """
import sys
import numpy as np
import tapeflow as tf
from tapeflow.checkpoint.bundle_writing import write_bundle

folder, way, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
step = tf.Variable(0, dtype=tf.int64)
values = [tf.Variable(tf.zeros([size])) for _ in range(4)]
manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step, values=values), folder, 3)
if manager.latest_checkpoint:
    manager.checkpoint.restore(manager.latest_checkpoint)
print("ready", flush=True)
while True:
    step.assign_add(1)
    for v in values:
        v.assign(tf.fill([size], tf.cast(step, tf.float32)))
    if way == "manager":
        manager.save()
    else:
        tensors = {f"v{i}": v.numpy() for i, v in enumerate(values)}
        write_bundle(folder + "/same", {**tensors, "step": step.numpy()})
"""


def killed_saves(folder, way, kills, size, seed=0):
    """Starts the saver, kills it at a random moment, and looks at what is there, again and again."""
    folder = str(folder)
    script = os.path.join(folder, "saver.py")
    with open(script, "w") as file:
        file.write(SAVER)
    data = os.path.join(folder, "data")
    os.makedirs(data, exist_ok=True)
    rng = random.Random(seed)
    last = 0
    for _ in range(kills):
        process = subprocess.Popen(
            [sys.executable, script, data, way, str(size)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        last = newest(data, way, last)
    return last


def newest(data, way, last):
    """The step of the last checkpoint, which must be whole, and no older than the one before."""
    if way == "manager":
        path = tf.train.latest_checkpoint(data)
        if path is None:
            assert last == 0
            return 0
        reader = BundleReader(path)
        step = int(reader.read("step/.ATTRIBUTES/VARIABLE_VALUE"))
        values = [reader.read(f"values/{i}/.ATTRIBUTES/VARIABLE_VALUE") for i in range(4)]
    else:
        if not os.path.exists(os.path.join(data, "same.index")):
            assert last == 0
            return 0
        reader = BundleReader(os.path.join(data, "same"))
        step = int(reader.read("step"))
        values = [reader.read(f"v{i}") for i in range(4)]
    for value in values:
        np.testing.assert_array_equal(value, np.full_like(value, step))
    assert step >= (last if way == "manager" else 0)
    return step


@pytest.mark.parametrize("way", ["manager", "same"])
def test_a_few_killed_saves(tmp_path, way):
    killed_saves(tmp_path, way, 2, 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["manager", "same"])
def test_100_killed_saves(tmp_path, way):
    killed_saves(tmp_path, way, 100, 50_000, seed=1)


INTERRUPTED = """
import os, sys, signal, threading
import numpy as np
from tapeflow.checkpoint import bundle_writing
from tapeflow.checkpoint.bundle_writing import write_bundle

folder, size = sys.argv[1], int(sys.argv[2])
# Each save is a child of its own, forked after everything is loaded, so that many can be killed in little time.
import time, random
rng = random.Random(int(sys.argv[3]))
value = 0.0
write_bundle(folder + "/ck", {"a": np.zeros(size), "b": np.zeros(size)})
from tapeflow.checkpoint.bundle import BundleReader
done = 0
for n in range(int(sys.argv[4])):
    begin = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            write_bundle(folder + "/ck", {"a": np.full(size, n + 1.0), "b": np.full(size, n + 1.0)})
        finally:
            os._exit(0)
    time.sleep(rng.random() * 0.03)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    done += status == 0
    reader = BundleReader(folder + "/ck")
    a, b = reader.read("a"), reader.read("b")
    assert (a == a[0]).all() and (b == a[0]).all(), n
print("sound", done)
"""


def interrupted(tmp_path, count, seed):
    result = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path), "200000", str(seed), str(count)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.stdout.startswith("sound"), result.stderr
    left = [name for name in os.listdir(tmp_path) if "temporary" in name]
    write_bundle(str(tmp_path / "ck"), {"a": np.zeros(1)})
    assert len(left) <= 3  # what the dead have left goes with the next save
    assert [name for name in os.listdir(tmp_path) if "temporary" in name] == []


def test_interrupted_saves(tmp_path):
    interrupted(tmp_path, 25, 3)


@pytest.mark.slow
def test_500_interrupted_saves(tmp_path):
    interrupted(tmp_path, 500, 4)


FULL = """
import os, resource, signal, sys
import numpy as np
from tapeflow.checkpoint.bundle_writing import write_bundle
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = sys.argv[1]
write_bundle(folder + "/ck", {"x": np.arange(1000.0)})
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    write_bundle(folder + "/ck", {"x": np.zeros(100_000)})
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("size", [0, 10, 4096, 500_000])
def test_a_full_disk_leaves_the_last_checkpoint(tmp_path, size):
    result = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), str(size)], capture_output=True, text=True
    )
    assert result.stdout == "OSError\n", result.stderr
    np.testing.assert_array_equal(BundleReader(tmp_path / "ck").read("x"), np.arange(1000.0))
    assert sorted(os.listdir(tmp_path)) == ["ck.data-00000-of-00001", "ck.index"]


def test_saves_over_one_name_go_to_other_data(tmp_path):
    for value in range(4):
        write_bundle(tmp_path / "ck", {"x": np.float32(value)})
        assert BundleReader(tmp_path / "ck").read("x") == value
        assert len(os.listdir(tmp_path)) == 2
