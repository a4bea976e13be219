"""Small arguments that ask for very much memory: each call ends in a ResourceExhaustedError, never in a MemoryError."""

import resource
import sys

import numpy as np
import pytest
from test_hostile_rows import NAMES, Generator, limit_memory

import tapeflow as tf
from tapeflow.ops.table import REGISTRY

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by way of /proc")
LARGE = 2**31 - 1
VAST = 2**40
# Amounts of work, not of memory: as many as are asked for are tried.
WORK = {"max_attempts", "num_sampled"}


@pytest.fixture(scope="module", autouse=True)
def bounded_memory():
    """Huge sizes fail instead of taking the machine's memory. Threads and libraries have theirs before."""
    tf.matmul(tf.ones([300, 300]), tf.ones([300, 300]))
    tf.nn.conv2d(tf.ones([4, 30, 30, 8]), tf.ones([3, 3, 8, 8]), 1, "SAME")
    limit_memory()
    yield
    resource.setrlimit(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1:] * 2)


CALLS = {
    "as_string": lambda: tf.strings.as_string(1.0, width=LARGE),
    "as_string with a precision": lambda: tf.strings.as_string([1.0] * 10, precision=2**30),
    "as_string in a function": lambda: tf.function(lambda: tf.strings.as_string(1.0, width=LARGE))(),
    "crop_and_resize": lambda: tf.image.crop_and_resize(
        tf.ones([1, 2, 2, 1]), [[0.0, 0, 1, 1]], [0], [100_000, 100_000]),
    "resize": lambda: tf.image.resize(tf.ones([1, 2, 2, 1]), [100_000, 100_000]),
    "zeros": lambda: tf.zeros([VAST]),
    "constant": lambda: tf.constant(1.0, shape=[VAST]),
    "repeat": lambda: tf.repeat([1.0], [2**36]),
    "tile": lambda: tf.tile([1.0], [2**36]),
    "linspace": lambda: tf.linspace(0.0, 1.0, LARGE),
    "hamming_window": lambda: tf.signal.hamming_window(LARGE),
    "eye in a function": lambda: tf.function(tf.eye)(10**6),
    "numpy_function": lambda: tf.numpy_function(lambda: np.ones(VAST), [], tf.float64),
    "py_function": lambda: tf.py_function(lambda: np.ones(VAST), [], tf.float64),
    "join": lambda: tf.strings.join(["a" * 10**6] * 1000),
    "TensorArray": lambda: tf.TensorArray(tf.float32, LARGE).stack(),
    "Variable": lambda: tf.Variable(np.broadcast_to(1.0, [VAST])),
    "map": lambda: list(tf.data.Dataset.range(1).map(lambda x: tf.zeros([VAST]))),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_exhausted_memory(name):
    with pytest.raises(tf.errors.ResourceExhaustedError):
        CALLS[name]()


def _extremes(row):
    """Good samples of a row with one attr or one input of integers made very large."""
    samples = [s for s in row.sample_source(Generator()) if s.raises is None][:2]
    for sample in samples:
        for name, kind in row.attrs.items():
            if name not in WORK and kind.number == 0:
                yield sample.inputs, {**sample.attrs, name: LARGE}
            if kind.number == 5:
                yield sample.inputs, {**sample.attrs, name: [2**20, 2**20]}
        for i, value in enumerate(sample.inputs):
            if isinstance(value, list):
                continue
            x = np.asarray(value.numpy() if isinstance(value, tf.Tensor) else value)
            if x.dtype.kind in "iu" and x.dtype.itemsize >= 4:
                for large in (2**28, np.iinfo(x.dtype).max // 2):
                    yield [*sample.inputs[:i], np.full_like(x, large), *sample.inputs[i + 1 :]], sample.attrs


@pytest.mark.filterwarnings("ignore")  # NumPy's, of casts that lose something
@pytest.mark.parametrize("name", NAMES)
def test_rows_with_extreme_sizes(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = REGISTRY[name]
    for inputs, attrs in _extremes(row):
        try:
            row(*inputs, **attrs)
        except (tf.errors.OpError, TypeError, ValueError, OverflowError):
            pass
        except MemoryError as error:
            raise AssertionError(f"{name}{tuple(inputs)} {attrs}") from error
