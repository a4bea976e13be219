"""Every row with hostile values in every argument: a result or a Python exception, and inputs as they were.

Each input and attr of a good sample is replaced, one at a time. A crash ends the whole test run, which is
why `python tests/robustness/test_hostile_rows.py Row...` prints each call before it is made.
"""

from __future__ import annotations

import importlib
import pkgutil
import resource
import sys
import warnings

import numpy as np
import pytest
import scipy.stats  # noqa: F401 (kernels import it on first use, which fails once memory is limited)

import tapeflow as tf
import tapeflow.ops
from tapeflow.ops.table import REGISTRY

for module in pkgutil.iter_modules(tapeflow.ops.__path__):
    importlib.import_module(f"tapeflow.ops.{module.name}")



@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Rows that write files write them here."""
    monkeypatch.chdir(tmp_path)


HUGE = 2**62
ALLOWED = (tf.errors.OpError, TypeError, ValueError, OverflowError, MemoryError)

HOSTILE_INPUTS = (
    None,
    "text",
    b"\xff",
    object(),
    {},
    [],
    [[1], [2, 3]],
    True,
    -1,
    0,
    2**31,
    2**63,
    HUGE,
    float("nan"),
    -np.inf,
    1j,
    np.zeros([0]),
    np.zeros([2, 0, 3], np.float32),
    np.zeros([1] * 9, np.int32),
    np.full([2], -1, np.int64),
    np.full([3], HUGE, np.int64),
    np.full([3], 2**31 - 1, np.int32),
    np.full([2], -(2**31), np.int32),
    np.array([object()]),
    np.array("text"),
    np.array([b"a", b""]),
    np.zeros([2], "datetime64[s]"),
    np.zeros([2], np.complex64),
    np.zeros([2, 2], np.bool_),
)
HOSTILE_ATTRS = {
    0: (None, "text", object(), -1, 0, 2**31 - 1, -(2**31), HUGE, -(2**63), 2**63, 1.5),  # int
    1: (None, "text", object(), float("nan"), float("inf"), -1.0, 0.0, 1e308),  # float
    2: (None, "text", object(), 2),  # bool
    3: (None, "text", object(), 0, -1, 99, 2**40, tf.string, tf.resource, tf.variant, tf.qint8),
    4: (None, "", "text", b"\xff", "\0", "\udc80", object(), 3),  # string
    5: (None, "text", object(), -1, [-2], [HUGE, HUGE, HUGE], [0, 2**40], [2**31] * 3, [1] * 300),
    6: (None, "text", object(), [], [0], [0] * 4, [-1] * 4, [2**31 - 1] * 4, [HUGE] * 4, [1] * 300,
        [1, 0, 0, 1], [1, -1, -1, 1], [0] * 5, [HUGE] * 5, [1.5], [None]),
    7: (None, "text", object(), [], [object()], -1),
}  # fmt: skip


class Generator:
    """What samples draw from."""

    def __init__(self):
        self.numbers = np.random.default_rng(7)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


def twisted(value):
    """The sample's own value in unfriendly forms: extreme elements, other ranks, other memory layouts."""
    try:
        x = np.asarray(value.numpy() if isinstance(value, tf.Tensor) else value)
    except Exception:
        return
    kind = x.dtype.kind
    if kind in "iu":
        info = np.iinfo(x.dtype)
        for extreme in (-1, 0, 7, info.min, info.max, info.max // 2):
            if extreme >= info.min:
                yield np.full_like(x, extreme)
    elif kind in "fc":
        for extreme in (np.nan, np.inf, -np.inf, 0, 1e30):
            yield np.full_like(x, extreme)
    if kind in "OSU" or x.dtype.name == "bfloat16":
        return
    yield x[None]
    yield x.ravel()
    yield np.zeros([0, *x.shape[1:]], x.dtype)
    yield x.astype(x.dtype.newbyteorder())
    if x.ndim:
        yield x[0] if len(x) else x
        yield x[:0]
        yield x[::-1]
        yield np.concatenate([x, x])
        yield np.asfortranarray(x)
        yield x[..., :0]
        frozen = x.copy()
        frozen.flags.writeable = False
        yield frozen
    if x.dtype != np.float64:
        yield x.astype(np.float64)
    yield x.astype(np.int32)
    yield tf.constant(x.astype(np.float32) if kind != "c" else x)


def samples(row):
    """Up to two good samples of each number of inputs."""
    good = [s for s in row.sample_source(Generator()) if s.raises is None]
    return good[:2] + good[len(good) // 2 : len(good) // 2 + 1]


def hostile_calls(row):
    """(inputs, attrs) of each call."""
    for sample in samples(row):
        inputs = [
            tf.constant(v) if isinstance(v, np.ndarray) and v.dtype.kind in "fiub" else v
            for v in sample.inputs
        ]
        for i, value in enumerate(inputs):
            is_list = isinstance(value, list) and not isinstance(sample.inputs[i], np.ndarray)
            for bad in (*HOSTILE_INPUTS, *twisted(value)):
                yield [*inputs[:i], bad, *inputs[i + 1 :]], sample.attrs
            if is_list and value:
                for bad in (*HOSTILE_INPUTS, *twisted(value[0])):
                    yield [*inputs[:i], [*value[:-1], bad], *inputs[i + 1 :]], sample.attrs
        for name, kind in row.attrs.items():
            for bad in HOSTILE_ATTRS[kind.number]:
                yield inputs, {**sample.attrs, name: bad}
        yield inputs[:-1], sample.attrs
        yield [*inputs, None, None], sample.attrs
        yield inputs, {**sample.attrs, "no_such": 1}


def contents(inputs):
    """The bytes of the tensors among the inputs."""
    return [np.asarray(x.numpy()).tobytes() if isinstance(x, tf.Tensor) else None for x in inputs]


def read(out):
    """Touch all memory of a result."""
    for leaf in out if isinstance(out, (list, tuple)) else [out]:
        if isinstance(leaf, (list, tuple)):
            read(leaf)
        elif isinstance(leaf, tf.Tensor) and leaf.dtype not in (tf.resource, tf.variant):
            np.asarray(leaf.numpy()).tobytes()


def try_row(row, before=lambda inputs, attrs: None):
    for inputs, attrs in hostile_calls(row):
        held = contents(inputs)
        before(inputs, attrs)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(row(*inputs, **attrs))
        except ALLOWED:
            pass
        except Exception as e:
            raise AssertionError(
                f"{row.name}{tuple(inputs)} {attrs}: {type(e).__name__}: {e}"
            ) from e
        assert contents(inputs) == held, f"{row.name}{tuple(inputs)} {attrs} changed an input"


NAMES = sorted(name for name, row in REGISTRY.items() if row.sample_source is not None)


@pytest.fixture(scope="module", autouse=True)
def bounded_memory():
    """Huge sizes fail instead of taking the machine's memory. Threads and libraries have theirs before."""
    tf.matmul(tf.ones([300, 300]), tf.ones([300, 300]))
    tf.nn.conv2d(tf.ones([4, 30, 30, 8]), tf.ones([3, 3, 8, 8]), 1, "SAME")
    limit_memory()
    yield
    resource.setrlimit(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1:] * 2)


def limit_memory(megabytes=256):
    with open("/proc/self/maps") as maps:
        sanitized = "libasan" in maps.read()  # which keeps what was freed for a while
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + ((megabytes + 1792 if sanitized else megabytes) << 20), hard))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by way of /proc")
@pytest.mark.filterwarnings("ignore")  # NumPy's, of casts that lose something
@pytest.mark.parametrize("name", NAMES)
def test_hostile_values(name):
    try_row(REGISTRY[name])


if __name__ == "__main__":
    tf.matmul(tf.ones([300, 300]), tf.ones([300, 300]))
    tf.nn.conv2d(tf.ones([4, 30, 30, 8]), tf.ones([3, 3, 8, 8]), 1, "SAME")
    limit_memory()

    def show(inputs, attrs):
        print(name, inputs, attrs, flush=True)

    for name in sys.argv[1:] or NAMES:
        try_row(REGISTRY[name], show)
