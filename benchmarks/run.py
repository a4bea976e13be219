"""Runs in a peer's interpreter: `run.py MODULE [ARGUMENT...]`, prints one JSON object.

A peer's module has `PACKAGE`, what it imports, and `cases(*arguments)`: a dict from the name of a
case to a statement and the names it needs. A statement is compiled into the timing loop, so that no
function call is measured that a program would not make.
"""

import argparse
import gc
import importlib
import importlib.metadata
import json
import subprocess
import sys
import timeit
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--growth", action="store_true", help="memory of a million steps, only")
    options = parser.parse_args()

    module = importlib.import_module(options.module)
    package = module.package(*options.arguments)
    if options.growth:
        print(json.dumps({"growth": growth(module.cases(*options.arguments)["mlp_step"])}))
        return
    result = footprint(package)
    for name, (statement, names) in module.cases(*options.arguments).items():
        result[name] = least_time(statement, names, options.seconds)
    print(json.dumps(result))


def least_time(statement, names, seconds):
    timer = timeit.Timer(statement, setup=gc.enable, globals=names)
    for _ in range(3):
        timer.timeit(1)  # first calls allocate, compile, start threads
    number, took = 1, timer.timeit(1)
    while took < 2e-3:
        number *= 2
        took = timer.timeit(number)
    times = [took]
    while sum(times) < seconds:
        times.append(timer.timeit(number))
    return min(times) / number


def resident():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024 / 1e6
    return float("nan")


def growth(case, steps=1_000_000):
    """MB that so many train steps add, after enough of them to fill every cache."""
    _, names = case
    step = names["step"]
    for _ in range(steps // 20):
        step()
    gc.collect()
    before = resident()
    for _ in range(steps):
        step()
    gc.collect()
    return max(resident() - before, 0.0)


def footprint(package):
    """Import time, resident memory, foreign modules and installed size, from a fresh process."""
    command = [sys.executable, str(HERE / "footprint.py"), package]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
