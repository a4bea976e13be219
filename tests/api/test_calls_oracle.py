"""Random and found calls of public functions against TensorFlow: values, dtypes, shapes, classes of errors.

    python test_calls_oracle.py --seed 7 --calls 20000 [--names math,linalg.trace]

makes a run by hand and prints the calls that differ.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).parent


def run(python, package, calls, answers):
    """What `oracle_calls.py` says of a package."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    if package == "tensorflow":
        environment.pop("PYTHONPATH", None)
    count = len(calls.read_text().splitlines())
    answers.touch()
    while len(done := answers.read_text().splitlines()) < count:
        ended = subprocess.run(
            [python, HERE / "oracle_calls.py", package, calls, answers],
            env=environment,
            capture_output=True,
        )
        if ended.returncode > 0 and len(answers.read_text().splitlines()) == len(done):
            raise RuntimeError(ended.stderr.decode(errors="replace")[-2000:])
    return [json.loads(line) for line in done]


def difference(ours, theirs):
    """How two answers differ, in a few words; None if they agree."""
    if "died" in theirs:
        return None if "died" not in ours else "died"
    if "died" in ours:
        return "died"
    if "error" in theirs:
        if "error" not in ours:
            return f"only TensorFlow raises {theirs['error'][0]}"
        a, b = ours["error"][0], theirs["error"][0]
        return None if a == b else f"{a} for {b}"
    if "error" in ours:
        return f"only we raise {ours['error'][0]}"
    return unlike(ours["value"], theirs["value"])


def unlike(a, b):
    """How two results differ."""
    if a[0] != b[0]:
        return f"{a[0]} for {b[0]}"
    if a[0] == "object":
        return None  # their classes have other names
    if a[0] == "dict":
        if a[1].keys() != b[1].keys():
            return "other keys"
        return next((d for k in a[1] if (d := unlike(a[1][k], b[1][k]))), None)
    if len(a) == 2:
        if not isinstance(a[1], list):
            return None if a == b else f"{a[1]} for {b[1]}"
        if len(a[1]) != len(b[1]):
            return "another number of results"
        return next((d for x, y in zip(a[1], b[1]) if (d := unlike(x, y))), None)
    if a[1] != b[1]:
        return f"{a[1]} for {b[1]}"
    if a[2] != b[2]:
        return "other shape"
    return None if same(a[3], b[3], a[1]) else "other values"


def same(a, b, dtype):
    """Whether two lists of numbers or strings are alike."""
    if a is None or b is None or not re.match(r"float|bfloat|complex|half|double", dtype):
        return a == b
    close = {"float16": 4e-3, "bfloat16": 3e-2, "float64": 1e-7, "complex128": 1e-7}.get(
        dtype, 1e-4
    )
    x, y = np.array(a, float), np.array(b, float)
    scale = np.max(np.abs(y[np.isfinite(y)]), initial=0) * close * 0.1
    with np.errstate(all="ignore"):
        return np.allclose(x, y, rtol=close, atol=close * 1e-2 + scale, equal_nan=True)


def compared(calls, folder):
    """(call, difference, our answer, TensorFlow's) for all calls that differ."""
    ours = run(sys.executable, "tapeflow", calls, folder / "ours")
    theirs = run(os.environ["TF_PYTHON"], "tensorflow", calls, folder / "theirs")
    for call, a, b in zip(calls.read_text().splitlines(), ours, theirs):
        if how := difference(a, b):
            yield call, how, a, b


def function_of(call):
    """The name of the function that a call is about."""
    return re.match(r"(?:\w+\(lambda [^:]*: )?tf\.([\w.]+)", call)[1]


def main():
    """A run by hand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--calls", default="20000")
    parser.add_argument("--names", default="")
    parser.add_argument("--folder", default=None)
    given = parser.parse_args()
    folder = pathlib.Path(given.folder or tempfile.mkdtemp())
    calls = folder / "calls"
    if not calls.exists():
        subprocess.run([sys.executable, HERE / "random_calls.py", f"--seed={given.seed}", f"--calls={given.calls}",
                        f"--names={given.names}", calls], check=True)  # fmt: skip
    found = collections.defaultdict(list)
    for call, how, a, b in compared(calls, folder):
        found[function_of(call), how].append((call, a, b))
    for (function, how), cases in sorted(found.items()):
        call, a, b = min(cases, key=lambda case: len(case[0]))
        print(
            f"{function}: {how} ({len(cases)})\n    {call}\n    ours:   {str(a)[:300]}\n    theirs: {str(b)[:300]}"
        )
    print(f"{sum(map(len, found.values()))} of {len(calls.read_text().splitlines())} calls differ")


if __name__ == "__main__":
    main()
