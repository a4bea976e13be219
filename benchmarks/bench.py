"""Times tapeflow beside TensorFlow, PyTorch, JAX and NumPy, and prints a Markdown table.

    make bench TF_PYTHON=... TORCH_PYTHON=... JAX_PYTHON=...

Each peer runs in the interpreter that its variable names (NumPy in tapeflow's own), and is left
out where there is none. Peers take turns, `--rounds` times, each turn in a process of its own; a
cell is the least time of all rounds, since other programs only ever add to it. The machine should
be quiet all the same.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# name in the table -> (module and mode that runs it, variable that names its interpreter)
PEERS = {
    "tapeflow": ("tf_api tapeflow", None),
    "TensorFlow": ("tf_api tensorflow", "TF_PYTHON"),
    "tf.function": ("tf_api tensorflow function", "TF_PYTHON"),
    "PyTorch": ("torch_api", "TORCH_PYTHON"),
    "JAX jit": ("jax_api", "JAX_PYTHON"),
    "NumPy": ("numpy_api", None),
}
RIVALS = ("TensorFlow", "tf.function", "PyTorch")
US, MS, S = 1e-6, 1e-3, 1.0
# (case, what it is, the most it may take; None: as long as the best of RIVALS)
TIMES = [
    ("add_scalar", "`a + b`, float32 scalars", 0.12 * US),
    ("add_10x10", "`a + b`, 10x10", 0.12 * US),
    ("add_function", "`tf.add(a, b)`, scalars", 0.25 * US),
    ("matmul_10x10", "matmul, 10x10", 0.5 * US),
    ("tape_square", "`tape.gradient` of `w * w`", 2.5 * US),
    ("mlp_step", "train step, 4 layers of 32x32 tanh", 40 * US),
    ("add_1m", "add, 1M floats", None),
    ("tanh_1m", "tanh, 1M floats", None),
    ("matmul_1000", "matmul, 1000x1000", None),
    ("conv", "3x3 conv of 32x56x56x64", None),
    ("conv_grad", "the same, forward and backward", None),
    ("import", "import", 0.2 * S),
]
SIZES = [  # (key, what it is, unit, the most it may be)
    ("rss", "resident after import", "MB", 60),
    ("installed", "installed, with dependencies", "MB", 150),
    ("foreign", "modules of jax, keras, data, matplotlib, protobuf loaded by import", "", 0),
    ("growth", "memory grown in 1,000,000 train steps", "MB", 1),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="budget of one case in a round")
    parser.add_argument("--only", default="", help="comma-separated peers, e.g. tapeflow,PyTorch")
    options = parser.parse_args()

    wanted = [name for name in options.only.split(",") if name]
    peers = {}
    for name, (command, variable) in PEERS.items():
        python = os.environ.get(variable) if variable else sys.executable
        if python and (not wanted or name in wanted):
            peers[name] = [python, str(HERE / "run.py"), *command.split()]
    results = {name: {} for name in peers}
    for turn in range(options.rounds):
        order = list(peers)[turn % len(peers) :] + list(peers)[: turn % len(peers)]
        for name in order:
            print(f"round {turn + 1}: {name}", file=sys.stderr)
            run = call([*peers[name], f"--seconds={options.seconds}"])
            for key, value in run.items():
                results[name][key] = min(value, results[name].get(key, value))
    if "tapeflow" in peers:
        results["tapeflow"] |= call([*peers["tapeflow"], "--growth"])
    print(report(results))


def call(command):
    """The JSON object that the command prints last; empty, with a word on stderr, if it failed."""
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{command} failed:\n{done.stderr[-2000:]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def report(results):
    names = list(results)
    head = ["", *names[:1], "at most", *names[1:]]
    lines = [row(head), row(["---"] + ["---:"] * (len(head) - 1))]
    for key, what, limit in TIMES:
        mine = results[names[0]].get(key)
        if limit is None:
            rivals = (results.get(name, {}).get(key) for name in RIVALS)
            limit = min(filter(None, rivals), default=None)
        others = [compared(results[n].get(key), mine) for n in names[1:]]
        lines.append(row([what, judged(mine, limit, time), time(limit), *others]))
    for key, what, unit, limit in SIZES:
        write = f"{{:.0f}} {unit}".strip().format
        mine = results[names[0]].get(key)
        others = [write(results[n][key]) if key in results[n] else "" for n in names[1:]]
        lines.append(row([what, judged(mine, limit, write), write(limit), *others]))
    versions = sorted({r["version"] for r in results.values() if "version" in r})
    notes = [
        f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}; "
        + ", ".join(versions),
        "In brackets: times as long as tapeflow. A missed limit is marked with (!).",
    ]
    return "\n".join([*lines, "", *notes])


def row(cells):
    return "| " + " | ".join(cells) + " |"


def time(seconds):
    if seconds is None:
        return ""
    for unit, name in ((S, "s"), (MS, "ms"), (US, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / US:.2g} µs"


def compared(other, mine):
    if other is None:
        return ""
    return f"{time(other)} ({other / mine:.2g}x)" if mine else time(other)


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
