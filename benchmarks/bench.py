"""Times tapeflow beside TensorFlow, PyTorch, JAX and NumPy, and prints a summary and Markdown tables.

    make bench TF_PYTHON=... TORCH_PYTHON=... JAX_PYTHON=...

Each peer runs in the interpreter that its variable names (NumPy in tapeflow's own), and is left
out where there is none. Peers take turns, `--rounds` times, each turn in a process of its own; a
cell is the least time of all rounds, since other programs only ever add to it. The machine should
be quiet all the same. A peer whose values are not tapeflow's is left out of that row.

One table is of operations and eager programs, one of functions and sessions, one of the library of operations
in three sizes: about 100, 1e5 and 1e7 numbers, one of optimizers, and one of training, data and checkpoints
(`--tables`). The last takes 6 GB of memory, and of disk as many in the folder that $BENCH_TMP names.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
US, MS, S = 1e-6, 1e-3, 1.0
FASTEST = object()  # a limit: the time of the fastest of the table's rivals


class Speed(NamedTuple):
    """A limit: at least this part of a peer's speed."""

    part: float
    peer: str


# How far two peers' values may be apart, as part of the largest.
TOLERANCE = 1e-3
# How far two times may be apart that the summary calls level, and how many rows it names.
LEVEL = 0.05
WORST = 5


class Table(NamedTuple):
    """Peers and what is measured of them.

    Attributes:
      peers: name in the table -> (module and mode that runs it, variable that names its interpreter).
      rivals: the peers that FASTEST means.
      times: (case, what it is, the most it may take: seconds, FASTEST, a Speed or None).
      sizes: (key, what it is, how it is written, the most it may be).
    """

    peers: dict
    rivals: tuple
    times: list
    sizes: list


OPERATIONS = Table(
    peers={
        "tapeflow": ("tf_api tapeflow", None),
        "TensorFlow": ("tf_api tensorflow", "TF_PYTHON"),
        "tf.function": ("tf_api tensorflow function", "TF_PYTHON"),
        "PyTorch": ("torch_api", "TORCH_PYTHON"),
        "JAX jit": ("jax_api", "JAX_PYTHON"),
        "NumPy": ("numpy_api", None),
    },
    rivals=("TensorFlow", "tf.function", "PyTorch"),
    times=[
        ("add_scalar", "`a + b`, float32 scalars", 0.12 * US),
        ("add_10x10", "`a + b`, 10x10", 0.12 * US),
        ("add_function", "`tf.add(a, b)`, scalars", 0.25 * US),
        ("matmul_10x10", "matmul, 10x10", 0.5 * US),
        ("tape_square", "`tape.gradient` of `w * w`", 2.5 * US),
        ("mlp_step", "train step, 4 layers of 32x32 tanh", 40 * US),
        ("add_1m", "add, 1M floats", FASTEST),
        ("tanh_1m", "tanh, 1M floats", FASTEST),
        ("matmul_1000", "matmul, 1000x1000", FASTEST),
        ("conv", "3x3 conv of 32x56x56x64", FASTEST),
        ("conv_grad", "the same, forward and backward", FASTEST),
        ("import", "import", 0.2 * S),
    ],
    sizes=[
        ("rss", "resident after import", "{:.0f} MB", 60),
        ("installed", "installed, with dependencies", "{:.0f} MB", 150),
        (
            "foreign",
            "modules of jax, keras, data, matplotlib, protobuf loaded by import",
            "{:.0f}",
            0,
        ),
        ("growth", "memory grown in 1,000,000 train steps", "{:.0f} MB", 1),
    ],
)
FUNCTIONS = Table(
    peers={
        "tapeflow": ("tf_functions tapeflow", None),
        "tf.function": ("tf_functions tensorflow", "TF_PYTHON"),
        "XLA": ("tf_functions tensorflow xla", "TF_PYTHON"),
        "PyTorch": ("torch_functions", "TORCH_PYTHON"),
        "JAX jit": ("jax_functions", "JAX_PYTHON"),
    },
    rivals=("tf.function", "XLA", "PyTorch", "JAX jit"),
    times=[
        ("call", "calling a function of `a + b`, 10x10", None),
        ("above", "the same, above `a + b` itself", 1 * US),
        ("range_sum", "`for i in tf.range(1000): x += i`", 0.1 * MS),
        ("mlp_step", "train step, 4 layers of 32x32 tanh", 25 * US),
        ("lstm_1", "LSTM cell, 50 steps of batch 1, forward and backward", FASTEST),
        ("lstm_32", "the same, batch 32", FASTEST),
        ("lstm_layer_1", "LSTM layer, 50 steps of batch 1, forward and backward", FASTEST),
        ("lstm_layer_32", "the same, batch 32", FASTEST),
        ("gru_layer_1", "GRU layer, 50 steps of batch 1, forward and backward", FASTEST),
        ("gru_layer_32", "the same, batch 32", FASTEST),
        ("chain", "`sum(tanh(x*2 + 1) * exp(-x*x))`, 1M floats", FASTEST),
        ("session_run", "`Session.run` of a constant", 5 * US),
        ("trace_node", "tracing that LSTM, for each node", 50 * US),
        ("first_call", "its first call", 0.3 * S),
        ("plan", "first call of a traced graph of 10,000 nodes", 1 * S),
    ],
    sizes=[("peak", "memory at its peak, against the values alive at once", "{:.2f}", 1.1)],
)
LIBRARY = Table(
    peers={
        "tapeflow": ("tf_library tapeflow", None),
        "TensorFlow": ("tf_library tensorflow", "TF_PYTHON"),
        "PyTorch": ("torch_library", "TORCH_PYTHON"),
    },
    rivals=("TensorFlow", "PyTorch"),
    times=[
        (f"{key}_{size}", f"{key.replace('_', ' ')}, {size}", FASTEST)
        for key in (
            "gather", "embedding", "scatter", "segment", "unsorted", "softmax", "cross_entropy", "reduce_0",
            "reduce_1", "argmax", "cumsum", "transpose", "sort", "top_k", "one_hot", "concat", "where", "conv1d",
            "conv2d", "conv3d", "dilated", "depthwise", "transposed", "max_pool", "avg_pool", "batch_norm",
            "resize", "nearest",
        )
        for size in ("small", "medium", "large")
    ],
    sizes=[],
)  # fmt: skip
DISK = Speed(0.7, "NumPy, system")
TRAINING = Table(
    peers={
        "tapeflow": ("tf_training tapeflow", None),
        "TensorFlow": ("tf_training tensorflow", "TF_PYTHON"),
        "PyTorch": ("torch_training", "TORCH_PYTHON"),
        "JAX jit": ("jax_training", "JAX_PYTHON"),
        "NumPy, system": ("numpy_training", None),
    },
    rivals=("TensorFlow", "PyTorch", "JAX jit"),
    times=[
        (f"{key}{mode}", f"{what}{said}", FASTEST)
        for key, what in (
            ("mlp", "784-128-10, batch 128, Adam"),
            ("cnn", "MNIST CNN, batch 64, Adam"),
            ("language", "LSTM language model, 32 x 35 words, clipped SGD"),
            ("block", "Transformer block, 8 x 128 x 256, Adam"),
            ("resnet", "ResNet-50, batch 4, momentum"),
            ("adam", "Adam of 100 variables of 100x100"),
            ("table", "4096 rows of 1M x 64 looked up and updated"),
        )
        for mode, said in (("_eager", ""), ("", ", compiled"))
    ]
    + [
        ("shuffle", "60,000 x 784 shuffled, in batches of 32", FASTEST),
        ("records_write", "100,000 TFRecords of 100 bytes written", FASTEST),
        ("records_read", "read one by one", FASTEST),
        ("records_batches", "read in batches of 256", FASTEST),
        ("copy", "1 GB on the disk copied, synced", None),
        ("save", "1 GB in 256 variables saved, synced", DISK),
        ("restore", "restored, the file in memory", DISK),
        ("restore_disk", "restored from the disk", DISK),
        ("loop", "step of 784-128-10 with metrics, in a loop over a dataset", None),
        ("fit", "the same by `fit`", None),
    ],
    sizes=[("overhead", "`fit` beyond that loop", "{:.1f} %", 5)],
)
OPTIMIZERS = Table(
    peers={
        "tapeflow": ("tf_optimizers tapeflow", None),
        "tapeflow, compiled": ("tf_optimizers tapeflow function", None),
        "tf.function": ("tf_optimizers tensorflow function", "TF_PYTHON"),
        "PyTorch foreach": ("torch_optimizers foreach", "TORCH_PYTHON"),
        "PyTorch fused": ("torch_optimizers fused", "TORCH_PYTHON"),
        "JAX jit": ("jax_optimizers", "JAX_PYTHON"),
    },
    rivals=("tf.function", "PyTorch foreach", "PyTorch fused", "JAX jit"),
    times=[
        (f"{key}_{size}", f"{what}, 100 variables of {size}", FASTEST)
        for size in ("10x10", "64x64")
        for key, what in (("sgd", "SGD"), ("momentum", "momentum"), ("adam", "Adam"), ("rmsprop", "RMSprop"))
    ]
    + [
        (f"sparse_{key}", f"{what}, step of 8192 rows of 1M x 64", FASTEST)
        for key, what in (("sgd", "SGD"), ("adagrad", "Adagrad"), ("adam", "Adam"))
    ],
    sizes=[],
)
TABLES = {
    "operations": OPERATIONS, "functions": FUNCTIONS, "library": LIBRARY, "training": TRAINING,
    "optimizers": OPTIMIZERS,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="budget of one case in a round")
    parser.add_argument("--only", default="", help="comma-separated peers, e.g. tapeflow,PyTorch")
    parser.add_argument("--tables", default=",".join(TABLES), help="comma-separated")
    options = parser.parse_args()

    found = {name: measure(TABLES[name], options) for name in options.tables.split(",")}
    versions = {r["version"] for results in found.values() for r in results.values() if "version" in r}
    print(summary([ratio for name, results in found.items() for ratio in ratios(TABLES[name], results)]), end="\n\n")
    for name, results in found.items():
        print(report(TABLES[name], results), end="\n\n")
    print(
        f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}; "
        + ", ".join(sorted(versions))
    )
    print("In brackets: times as long as tapeflow. A missed limit is marked with (!).")


def measure(table, options):
    """What each peer took: name -> key -> the least of all rounds."""
    wanted = [name for name in options.only.split(",") if name]
    peers = {}
    for name, (command, variable) in table.peers.items():
        python = os.environ.get(variable) if variable else sys.executable
        if python and (not wanted or name in wanted):
            peers[name] = [python, str(HERE / "run.py"), *command.split()]
    results, answers = {name: {} for name in peers}, {}
    arguments = [f"--seconds={options.seconds}"] + ["--footprint"] * (table is OPERATIONS)
    for turn in range(options.rounds):
        order = list(peers)[turn % len(peers) :] + list(peers)[: turn % len(peers)]
        for name in order:
            print(f"round {turn + 1}: {name}", file=sys.stderr)
            run = call([*peers[name], *arguments])
            answers.setdefault(name, run.pop("answers", {}))
            for key, error in run.pop("failed", {}).items():
                print(f"{key}: {name} failed: {error}", file=sys.stderr)
            for key, value in run.items():
                results[name][key] = min(value, results[name].get(key, value))
    for name, key in differing(answers):
        print(f"{key}: {name} computes something else, and is left out", file=sys.stderr)
        results[name].pop(key, None)
    for found in results.values():
        if "call" in found and "op" in found:
            found["above"] = found["call"] - found["op"]
        if "fit" in found:
            found["overhead"] = 100 * (found["fit"] / found["loop"] - 1)
    if table is OPERATIONS and "tapeflow" in peers:
        results["tapeflow"] |= call([*peers["tapeflow"], "--growth"])
    return results


def differing(answers):
    """(peer, case) where the peer's values are not those of the first that has the case."""
    found, right = [], {}
    for name, of_peer in answers.items():
        for key, tensors in of_peer.items():
            wanted = right.setdefault(key, tensors)
            if len(tensors) != len(wanted) or not all(map(near, tensors, wanted)):
                found.append((name, key))
    return found


def near(values, wanted):
    """Whether two tensors' sizes are the same, and their numbers nearly so."""
    (size, *values), (wanted_size, *wanted) = values, wanted
    most = TOLERANCE * max(map(abs, wanted), default=0)
    return size == wanted_size and all(abs(a - b) <= most for a, b in zip(values, wanted))


def call(command):
    """The JSON object that the command prints last; empty, with a word on stderr, if it failed."""
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{command} failed:\n{done.stderr[-2000:]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def ratios(table, results):
    """(time of the fastest rival as part of tapeflow's, what, the rival) of each row that both have."""
    mine = results.get("tapeflow", {})
    for key, what, _ in table.times:
        rivals = [(results[name][key], name) for name in table.rivals if results.get(name, {}).get(key)]
        if rivals and mine.get(key):
            least, name = min(rivals)
            yield least / mine[key], what, name


def summary(found):
    """How many rows are ahead of, level with and behind the fastest rival, and the worst ones."""
    behind = sorted(each for each in found if each[0] < 1 - LEVEL)
    ahead = sum(ratio > 1 + LEVEL for ratio, *_ in found)
    level = len(found) - ahead - len(behind)
    lines = [f"{ahead} rows ahead of the fastest rival, {level} level, {len(behind)} behind."]
    lines += [f"- {what}: {ratio:.2g} of the speed of {name}" for ratio, what, name in behind[:WORST]]
    return "\n".join(lines)


def report(table, results):
    names = list(results)
    head = ["", *names[:1], "at most", *names[1:]]
    lines = [row(head), row(["---"] + ["---:"] * (len(head) - 1))]
    for key, what, limit in table.times:
        mine = results[names[0]].get(key)
        if limit is FASTEST:
            rivals = (results.get(name, {}).get(key) for name in table.rivals)
            limit = min(filter(None, rivals), default=None)
        elif isinstance(limit, Speed):
            of_peer = results.get(limit.peer, {}).get(key)
            limit = of_peer and of_peer / limit.part
        others = [compared(results[n].get(key), mine) for n in names[1:]]
        lines.append(row([what, judged(mine, limit, time), time(limit), *others]))
    for key, what, form, limit in table.sizes:
        write = form.format
        mine = results[names[0]].get(key)
        others = [write(results[n][key]) if key in results[n] else "" for n in names[1:]]
        lines.append(row([what, judged(mine, limit, write), write(limit), *others]))
    return "\n".join(lines)


def row(cells):
    return "| " + " | ".join(cells) + " |"


def time(seconds):
    if seconds is None:
        return ""
    if seconds <= 0:
        return "none"
    for unit, name in ((S, "s"), (MS, "ms"), (US, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / US:.2g} µs"


def compared(other, mine):
    if other is None:
        return ""
    return f"{time(other)} ({other / mine:.2g}x)" if mine and other > 0 else time(other)


def judged(value, limit, write):
    if value is None:
        return ""
    missed = limit is not None and value > limit
    return f"**{write(value)}**" + " (!)" * missed


def processor():
    try:
        for entry in Path("/proc/cpuinfo").read_text().splitlines():
            if entry.startswith("model name"):
                return entry.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
