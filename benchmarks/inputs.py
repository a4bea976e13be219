"""The arrays that every peer starts from."""

import numpy as np


def array(seed, *shape, scale=1.0):
    return np.random.default_rng(seed).normal(0, scale, shape).astype(np.float32)


def mlp():
    """x, y of shape (32, 32), and four pairs of a (32, 32) matrix and a bias."""
    layers = [(array(10 + i, 32, 32, scale=0.2), np.zeros(32, np.float32)) for i in range(4)]
    return array(1, 32, 32), array(2, 32, 32), layers


def conv():
    """Images (32, 56, 56, 64) in NHWC order, and filters (3, 3, 64, 64)."""
    return array(3, 32, 56, 56, 64), array(4, 3, 3, 64, 64, scale=0.05)


LSTM_STEPS, LSTM_SIZE = 50, 128
LAYER_WEIGHT = (
    0.01  # every weight of a recurrent layer, so that it does not matter in which order gates stand
)


def lstm(batch):
    """Steps (50, batch, 128), the cell's matrix (256, 512) and bias (512,)."""
    scale = (2 * LSTM_SIZE) ** -0.5
    weights = array(21, 2 * LSTM_SIZE, 4 * LSTM_SIZE, scale=scale)
    return array(20, LSTM_STEPS, batch, LSTM_SIZE), weights, np.zeros(4 * LSTM_SIZE, np.float32)


# Side of a matrix; batch, height and width, channels of images, of 100, 1e5 and 1e7 numbers or so.
SIZES = {
    "small": (10, (1, 6, 6, 3)),
    "medium": (316, (2, 40, 40, 32)),
    "large": (3162, (32, 70, 70, 64)),
}


def library():
    """For each size: a matrix, indices of its rows, and images, volumes and series of about as many numbers."""
    found = {}
    for size, (side, images) in SIZES.items():
        rows = np.random.default_rng(side).integers(0, side, side).astype(np.int32)
        batch, height, width, channels = images
        numbers = array(side, *images)
        found[size] = {
            "x": array(4, side, side),
            "rows": rows,
            "sorted_rows": np.sort(rows),
            "labels": (np.arange(side * side // 10) % 10).astype(np.int32),
            "images": numbers,
            "volume": array(5, 1, max(batch * channels // 8, 2), height, width, 4),
            "series": numbers.reshape(batch, height * width, channels),
        }
    return found


MANY = 100  # variables


def many():
    """For each size: the first value of every variable, and its gradient."""
    return {f"{n}x{n}": (array(30, n, n), array(31, n, n)) for n in (10, 64)}


def rows():
    """A table of 1,000,000 rows of 64 numbers, and 8192 of them to look up, some twice."""
    return array(32, 1_000_000, 64), np.random.default_rng(0).integers(0, 1_000_000, 8192)
