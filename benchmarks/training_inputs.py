"""What every peer trains on, and the weights it starts from."""

import functools
import os
import tempfile
import zlib
from pathlib import Path

import numpy as np

# So low that what peers differ by in the last digits, or in an epsilon, stays small in the steps that are compared.
LEARNING_RATE = 1e-4


def normal(seed, *shape, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape, np.float32) * scale).astype("f4")


def labels(seed, n, classes):
    return np.random.default_rng(seed).integers(0, classes, n).astype(np.int32)


def dense(seed, n_in, n_out):
    return normal(seed, n_in, n_out, scale=n_in**-0.5), np.zeros(n_out, np.float32)


def digits(count, *shape):
    """As many images of `shape`, and their classes of 10."""
    return np.random.default_rng(60).random((count, *shape), np.float32), labels(61, count, 10)


def mlp():
    """The weights of 784-128-10."""
    return [*dense(62, 784, 128), *dense(63, 128, 10)]


def cnn():
    """Filters 3x3 of 1 to 32 and 32 to 64 channels, then 9216-128-10; biases."""
    return [
        normal(64, 3, 3, 1, 32, scale=1 / 3), np.zeros(32, np.float32),
        normal(65, 3, 3, 32, 64, scale=(2 / 288) ** 0.5), np.zeros(64, np.float32),
        *dense(66, 9216, 128), *dense(67, 128, 10),
    ]  # fmt: skip


WORDS, WIDTH, STEPS, SENTENCES, MOST_NORM = 1000, 256, 35, 32, 5.0


def language():
    """Words (32, 35), the next words, and the weights: embedding, LSTM (gates i, f, c, o), output."""
    words = labels(70, SENTENCES * (STEPS + 1), WORDS).reshape(SENTENCES, STEPS + 1)
    scale = WIDTH**-0.5
    bias = np.repeat(np.float32([0, 1, 0, 0]), WIDTH)  # LSTMs start out remembering
    cell = [normal(72 + i, WIDTH, 4 * WIDTH, scale=scale) for i in range(2)]
    weights = [normal(71, WORDS, WIDTH), *cell, bias, *dense(74, WIDTH, WORDS)]
    return words[:, :-1], words[:, 1:], weights


HEADS = 4


def block():
    """x, y (8, 128, 256), and the matrices and biases of a Transformer block."""
    d = 256
    sizes = {**dict.fromkeys("qkvo", (d, d)), "up": (d, 4 * d), "down": (4 * d, d)}
    weights = {name: dense(80 + i, *size) for i, (name, size) in enumerate(sizes.items())}
    return normal(90, 8, 128, d), normal(91, 8, 128, d), weights


def images():
    """Four images of 224x224 and their classes of 1000."""
    return normal(92, 4, 224, 224, 3), labels(93, 4, 1000)


def kernel(name, *shape):
    """The kernel of the layer of that name of a ResNet-50."""
    scale = (2 / np.prod(shape[:-1])) ** 0.5 if len(shape) == 4 else shape[0] ** -0.5
    return normal(zlib.crc32(name.encode()), *shape, scale=scale)


def hundred():
    """A hundred matrices and their gradients."""
    values, gradients = ([normal(first + i, 100, 100) for i in range(100)] for first in (0, 200))
    return values, gradients


def table():
    """A table (1M, 64), rows of it, some of them twice, and what the loss multiplies them by."""
    rows = labels(95, 4096, 1_000_000)
    rows[:512] = rows[512:1024]
    return np.random.default_rng(94).random((1_000_000, 64), np.float32), rows, normal(96, 4096, 64)


def examples():
    return np.random.default_rng(97).random((60_000, 784), np.float32)


@functools.cache
def records():
    """100,000 strings of 100 bytes."""
    data = np.random.default_rng(98).bytes(100_000 * 100)
    return [data[i : i + 100] for i in range(0, len(data), 100)]


def gigabyte():
    """256 arrays of 4 MiB, by name."""
    base = np.random.default_rng(99).random((1024, 1024), np.float32)
    return {f"v{i}": base + np.float32(i) for i in range(256)}


@functools.cache
def folder():
    """A new folder of this process's own, on the file system that $BENCH_TMP (or the system) names."""
    kept = tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_TMP"))
    folder.kept = kept  # removed when the process ends
    return Path(kept.name)


def to_disk(prefix):
    """What every peer's save ends with: the bytes of its files, and their names, are on the disk."""
    for path in [*prefix.parent.glob(prefix.name + "*"), prefix.parent]:
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def forget(prefix):
    """The system no longer has the files in memory, so that the next to read them asks the disk."""
    for path in prefix.parent.glob(prefix.name + "*"):
        handle = os.open(path, os.O_RDONLY)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def checkpoint_cases(prefix, save, restore):
    """Saving to the disk, restoring what the system has in memory, and restoring from the disk."""

    def restore_from_disk():
        forget(prefix)
        return restore()

    save()
    return {
        "save": ("save()", {"save": save}),
        "restore": ("restore()", {"restore": restore}),
        "restore_disk": ("restore()", {"restore": restore_from_disk}),
    }
