"""How a step of training of fixed total work scales: on 1 to 8 devices of one process, and on 1 to 4 processes.

Devices are CPU devices of XLA's, which share the cores of the machine. More of them cannot be faster than the cores
allow; what the table shows is what sharing costs. The time of each row is the least of several rounds.

    python benchmarks/scaling.py                    # the tables
    python benchmarks/scaling.py --rows 8 --width 8 # the overhead of a step alone
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

DEVICES = (1, 2, 4, 8)
PROCESSES = (1, 2, 4)


def least(run, rounds, repeats):
    """Seconds for one call of `run`: the least of several rounds, each of several calls."""
    run()
    run()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(repeats):
            result = run()
        float(result)
        times.append((time.perf_counter() - begin) / repeats)
    return min(times)


def loss_of(x, weights):
    """The loss of the model: layers with these weights, whose outputs are to be 0."""
    import tapeflow as tf

    for w in weights:
        x = tf.tanh(tf.matmul(x, w))
    return tf.reduce_mean(x**2)


def on_devices(count, options):
    """Seconds for a step on a mesh of so many devices, and for a sum over them of `options.megabytes` each."""
    import numpy as np

    import tapeflow as tf

    dtensor = tf.experimental.dtensor
    host = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * count)
    mesh = dtensor.create_mesh([("batch", count)], device_type="CPU")
    rng = np.random.default_rng(0)
    width = options.width
    starts = [rng.normal(size=(width, width)).astype(np.float32) / width**0.5 for _ in range(3)]
    rows = rng.normal(size=(options.rows, width)).astype(np.float32)
    if count == 1:  # a mesh of one CPU is the host without XLA, which is not what the others are compared with
        weights, x = [tf.Variable(w) for w in starts], tf.constant(rows)
    else:
        weights = [dtensor.DVariable(w, layout=dtensor.Layout.replicated(mesh, 2)) for w in starts]
        x = dtensor.copy_to_mesh(rows, dtensor.Layout(["batch", dtensor.UNSHARDED], mesh))

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            loss = loss_of(x, weights)
        for w, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(gradient * 0.01)
        return loss

    found = {"step": least(lambda: step(x), options.rounds, options.repeats)}
    if count > 1:
        size = options.megabytes * 2**18
        parts = dtensor.copy_to_mesh(np.ones((count, size), np.float32),
                                     dtensor.Layout(["batch", dtensor.UNSHARDED], mesh))  # fmt: skip
        add = tf.function(lambda x: tf.reduce_sum(x, 0)[0] * 1.0)
        found["sum"] = least(lambda: add(parts), options.rounds, options.repeats)
    return found


def in_a_process(options):
    """Seconds for a step of this process, one of those that train together."""
    import numpy as np

    import tapeflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    width, rows = options.width, options.rows // strategy.num_replicas_in_sync
    rng = np.random.default_rng(0)
    with strategy.scope():
        weights = [tf.Variable(rng.normal(size=(width, width)).astype(np.float32) / width**0.5) for _ in range(3)]
        optimizer = tf.keras.optimizers.SGD(0.01)
    x = tf.constant(rng.normal(size=(rows, width)).astype(np.float32))

    def replica(x):
        with tf.GradientTape() as tape:
            loss = loss_of(x, weights)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    @tf.function
    def step(x):
        return strategy.reduce("MEAN", strategy.run(replica, (x,)), axis=None)

    seconds = least(lambda: step(x), options.rounds, options.repeats)
    if int(json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("index", 0)) == 0:
        print(json.dumps({"step": seconds}), flush=True)


def measured(arguments, options):
    """What another process prints last that is JSON."""
    shared = ["--rows", options.rows, "--width", options.width, "--rounds", options.rounds,
              "--repeats", options.repeats, "--megabytes", options.megabytes]  # fmt: skip
    command = [sys.executable, *arguments, *map(str, shared)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    lines = [line[line.index("{") :] for line in done.stdout.splitlines() if '{"step"' in line]
    if not lines:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-1000:]}")
    return json.loads(lines[-1])


def tables(options):
    """Print the tables, as Markdown."""
    print(f"Machine: {os.cpu_count()} cores; {options.rows} rows, 3 layers of {options.width}\n")
    print("| devices | step (ms) | efficiency | all-reduce (GB/s a device) |\n|---|---|---|---|")
    first = None
    for count in DEVICES:
        found = measured([__file__, "--devices", str(count)], options)
        first = first or found["step"]
        moved = 2 * (count - 1) / count * options.megabytes / 1024
        speed = f"{moved / found['sum']:.2f}" if "sum" in found else ""
        print(f"| {count} | {found['step'] * 1e3:.2f} | {first / found['step']:.2f} | {speed} |")
    print("\n| processes | step (ms) | efficiency |\n|---|---|---|")
    first = None
    for count in PROCESSES:
        launched = ["-m", "tapeflow.launch", "--processes", str(count), __file__, "--process"]
        found = measured(launched if count > 1 else [__file__, "--process"], options)
        first = first or found["step"]
        print(f"| {count} | {found['step'] * 1e3:.2f} | {first / found['step']:.2f} |")


def main():
    """Read the options, and measure what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, help="measure one row: so many devices")
    parser.add_argument("--process", action="store_true", help="be one of the processes of a row")
    parser.add_argument("--rows", type=int, default=1024, help="of the batch, over all devices")
    parser.add_argument("--width", type=int, default=512, help="of the layers")
    parser.add_argument("--megabytes", type=int, default=16, help="what each device adds to a sum")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if options.process:
        in_a_process(options)
    elif options.devices:
        print(json.dumps(on_devices(options.devices, options)))
    else:
        tables(options)


if __name__ == "__main__":
    main()
