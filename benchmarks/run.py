"""Runs in a peer's interpreter: `run.py MODULE [ARGUMENT...]`, prints one JSON object.

A peer's module has `package(*arguments)`, what it imports, and `cases(*arguments)`: a dict from the
name of a case to a statement and the names it needs. A statement is compiled into the timing loop,
so that no function call is measured that a program would not make. `measures(*arguments)`, if the
module has it, gives what is measured otherwise, by name.

The last statement of a case is an expression: before the case is timed, its first values are noted
under "answers", to be compared with those of the other peers. A case whose results are too large to be
looked at while it is timed, or random, has a third part: the expression whose values are noted instead.
"""

import argparse
import gc
import importlib
import json
import subprocess
import sys
import timeit
import traceback
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--growth", action="store_true", help="memory of a million steps, only")
    parser.add_argument("--footprint", action="store_true", help="and what an import costs")
    options = parser.parse_args()

    module = importlib.import_module(options.module)
    package = module.package(*options.arguments)
    if options.growth:
        print(json.dumps({"growth": growth(module.cases(*options.arguments)["mlp_step"])}))
        return
    result = footprint(package) if options.footprint else {"version": version(package)}
    if hasattr(module, "measures"):
        result |= module.measures(*options.arguments)
    result["answers"], result["failed"] = {}, {}
    for name, (statement, names, *check) in module.cases(*options.arguments).items():
        try:
            result["answers"][name] = answers(*check or [statement], names)
            result[name] = least_time(statement, names, options.seconds)
        except Exception:  # one case that a peer cannot run does not take the others with it
            result["failed"][name] = traceback.format_exc(-1)
    print(json.dumps(result))


def answers(statement, names, calls=3):
    """For each tensor that the first calls give: its size, and some numbers of it."""
    *first, last = statement.splitlines()
    program, value = compile("\n".join(first), "case", "exec"), compile(last, "case", "eval")
    found = []
    for _ in range(calls):
        names = dict(names)
        exec(program, names)
        for x in flat(eval(value, names)):
            x = np.asarray(x.detach() if hasattr(x, "detach") else x, np.float64).ravel()
            found.append([x.size, *x[:: max(x.size // 20, 1)].tolist(), np.abs(x).mean()])
    return found


def flat(value):
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in flat(part)]
    return [value]


def version(package):
    module = importlib.import_module(package)
    return module.version.GIT_VERSION if package == "tapeflow" else f"{package} {module.__version__}"


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
