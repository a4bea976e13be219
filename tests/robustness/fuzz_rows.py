"""Calls every row with random shapes, dtypes, attrs and extreme values, for the time that is given.

    python tests/robustness/fuzz_rows.py --minutes 10 [--seed 1] [--rows Conv2D,Gather]

A call may return or raise a Python exception of the kinds that users are promised; its results are read to the last
byte, and its inputs must be as before. `make fuzz` runs it under AddressSanitizer and UBSan, whose findings, like a
crash or a call of more than a minute, end the run: the call is the last one in the log (`--log`). At the end no memory
may be held that was not held before.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import os
import pathlib
import sys
import tempfile
import time
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from test_hostile_rows import (
    ALLOWED,
    HOSTILE_ATTRS,
    HOSTILE_INPUTS,
    NAMES,
    Generator,
    contents,
    limit_memory,
    read,
    twisted,
)

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.table import REGISTRY

EXTREMES = {
    "f": (0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e-45, 1e38, -1e38, 0.5, 3.7),
    "c": (0j, 1 + 1j, complex(np.nan, 1), complex(np.inf, -np.inf), 1e30j),
    "S": (b"", b"a", b"0", b"-1.5", b"\xff\xfe", b"a,b", b"x" * 300, "ä€".encode(), b"\0"),
}
DTYPES = (
    tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
    tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128, tf.string,
)  # fmt: skip
# Attrs that ask for an amount of work; what they ask for is done.
AMOUNTS = {"max_attempts", "num_sampled"}
SIDES = (0, 1, 1, 2, 2, 3, 4, 5, 7, 16, 17, 33)
INTEGERS = (0, 1, 2, 3, 4, -1, -2, 5, 7, 100, 2**31 - 1, -(2**31), 2**62, -(2**63))


class Fuzzer:
    """Draws calls of rows; the same seed draws the same ones."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.samples = {}

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def array(self, dtype, shape=None):
        """Random contents; small integers mostly, so that indices and sizes are often nearly right."""
        rng = self.rng
        if shape is None:
            shape = [self.pick(SIDES) for _ in range(rng.integers(0, 6))]
            while np.prod(shape, dtype=np.int64) > 20_000:
                shape = shape[1:]
        if dtype == tf.string:
            return np.array(
                [self.pick(EXTREMES["S"]) for _ in range(int(np.prod(shape)))], object
            ).reshape(shape)
        numpy_dtype = dtype.as_numpy_dtype
        if dtype == tf.bool:
            return rng.integers(0, 2, shape).astype(bool)
        if dtype.is_integer:
            low, high = (0 if dtype.is_unsigned else -2), 6
            x = rng.integers(low, high, shape).astype(numpy_dtype)
            extremes = [dtype.min, dtype.max, dtype.max // 2]
        else:
            x = np.asarray(rng.normal(size=shape)).astype(numpy_dtype)
            extremes = EXTREMES["c" if dtype.is_complex else "f"]
        if x.size and rng.random() < 0.3:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                x.reshape(-1)[rng.integers(x.size)] = np.asarray(self.pick(extremes)).astype(
                    numpy_dtype
                )
        return x

    def value(self, old):
        """Something in the place of an input."""
        chance = self.rng.random()
        if isinstance(old, list) and old and chance < 0.8:
            new = [self.value(v) if self.rng.random() < 0.4 else v for v in old]
            return new[: self.rng.integers(0, len(new) + 1)] if self.rng.random() < 0.15 else new
        if chance < 0.05:
            return self.pick(HOSTILE_INPUTS)
        if chance < 0.3:
            others = list(twisted(old))
            return self.pick(others) if others else old
        try:
            like = tf.convert_to_tensor(old)
        except ALLOWED:
            return self.pick(HOSTILE_INPUTS)
        dtype = like.dtype if chance < 0.9 and like.dtype in DTYPES else self.pick(DTYPES)
        shape = None
        if chance < 0.6:
            shape = list(like.shape)
            if shape and self.rng.random() < 0.5:
                shape[self.rng.integers(len(shape))] = self.pick(SIDES)
        x = self.array(dtype, shape)
        return tf.constant(x, dtype) if self.rng.random() < 0.5 else x

    def attr(self, kind, old):
        """Something in the place of an attr."""
        if kind.choices and self.rng.random() < 0.7:
            return self.pick(kind.choices)
        if kind.number == 0:
            return self.pick(INTEGERS)
        if kind.number == 1:
            return float(self.pick(EXTREMES["f"]))
        if kind.number == 2:
            return bool(self.rng.integers(2))
        if kind.number == 3:
            return self.pick(DTYPES)
        if kind.number == 6 and self.rng.random() < 0.8:
            length = len(old) if isinstance(old, (list, tuple)) else self.rng.integers(0, 6)
            return [int(self.pick(INTEGERS[:9])) for _ in range(length)]
        return self.pick(HOSTILE_ATTRS[kind.number])

    def call(self, row):
        """(inputs, attrs) of a call: those of a good sample, of which some are replaced."""
        if row.name not in self.samples:
            samples = list(row.sample_source(Generator()))
            self.samples[row.name] = [s for s in samples if s.raises is None] or samples
        sample = self.pick(self.samples[row.name])
        p = self.pick((0.1, 0.3, 0.6))
        inputs = [self.value(v) if self.rng.random() < p else v for v in sample.inputs]
        attrs = dict(sample.attrs)
        for name, kind in row.attrs.items():
            if name not in AMOUNTS and self.rng.random() < p / 2:
                attrs[name] = self.attr(kind, attrs.get(name, kind.default))
        return inputs, attrs


def held():
    gc.collect()
    return _native.allocator_stats()["live"]


def run(names, minutes, seed, log):
    """The number of calls, and of those that returned."""
    fuzzer = Fuzzer(seed)
    rows = [REGISTRY[n] for n in names]
    end = time.monotonic() + 60 * minutes
    calls = returned = 0
    before = None
    while time.monotonic() < end:
        for row in rows:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                inputs, attrs = fuzzer.call(row)
            log.seek(0)
            log.write(f"{row.name} {inputs!r} {attrs!r}\n"[:100_000])
            log.truncate()
            log.flush()
            was = contents(inputs)
            faulthandler.dump_traceback_later(60, exit=True)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    read(row(*inputs, **attrs))
                returned += 1
            except ALLOWED:
                pass
            except Exception as e:
                raise AssertionError(
                    f"{row.name}{tuple(inputs)} {attrs}: {type(e).__name__}"
                ) from e
            faulthandler.cancel_dump_traceback_later()
            assert contents(inputs) == was, f"{row.name}{inputs} {attrs} changed an input"
            calls += 1
            inputs = attrs = None
        if before is None:
            before = held()
    # What rows keep between calls (tables, lists) is bounded by what one round of them makes.
    after = held()
    assert after <= before + (64 << 20), f"{after - before} bytes are still held"
    return calls, returned


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--rows", default="")
    parser.add_argument("--log", default=os.path.join(tempfile.gettempdir(), "fuzz_rows.txt"))
    options = parser.parse_args()
    names = [n for n in options.rows.split(",") if n] or NAMES
    tf.matmul(tf.ones([300, 300]), tf.ones([300, 300]))
    tf.nn.conv2d(tf.ones([4, 30, 30, 8]), tf.ones([3, 3, 8, 8]), 1, "SAME")
    limit_memory()
    print(
        f"{len(names)} rows, {options.minutes} minutes, seed {options.seed}, last call in {options.log}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder, open(options.log, "w") as log:
        os.chdir(folder)
        calls, returned = run(names, options.minutes, options.seed, log)
        os.chdir("/")
    print(f"{calls} calls, {returned} returned a result, the others a Python exception")
