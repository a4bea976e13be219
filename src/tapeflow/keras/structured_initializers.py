"""First values of a given structure: orthogonal and identity matrices, and a Fourier transform."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import extras
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.keras.initializer_base import (
    Initializer,
    RandomValues,
    float_dtype,
    sizes_of,
    whole_of,
)
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.linalg.decomposition import qr
from tapeflow.ops.math.elementwise import sign


class Orthogonal(RandomValues):
    """A matrix with orthonormal rows or columns, times gain (Saxe et al. 2014).

    All axes but the last count as rows.

    Args:
      gain: the factor.
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None):
        super().__init__(seed)
        self.gain = gain

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        whole_of(self, kwargs)
        dtype = float_dtype(dtype)
        sizes = sizes_of(shape)
        if len(sizes) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional. Received: "
                f"shape={sizes} of rank {len(sizes)}."
            )
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        tall = (max(rows, columns), min(rows, columns))
        q, r = qr(self._normal(tall, 0.0, 1.0, dtype), full_matrices=False)
        # The signs make the distribution uniform over orthogonal matrices (Mezzadri 2006).
        q = q * sign(diag_part(r))
        if rows < columns:
            q = transpose(q)
        return self.gain * reshape(q, sizes)

    def get_config(self):
        return {"gain": self.gain, **super().get_config()}


class Identity(Initializer):
    """The identity matrix, times gain; for matrices alone.

    Args:
      gain: the factor.
    """

    def __init__(self, gain: float = 1.0):
        self.gain = gain

    def __call__(self, shape, dtype=None, **kwargs):
        whole_of(self, kwargs)
        dtype = float_dtype(dtype)
        sizes = sizes_of(shape)
        if len(sizes) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices. Received: "
                f"shape={sizes} of rank {len(sizes)}."
            )
        return self.gain * eye(*sizes, dtype=dtype)

    def get_config(self):
        return {"gain": self.gain}


# The coefficients of sums of cosines, with alternating signs.
_COSINE_WINDOWS = {"boxcar": [1], "hann": [0.5, 0.5], "hamming": [0.54, 0.46], "blackman": [0.42, 0.5, 0.08]}


def _window(name, length, periodic):
    """The window `name`; SciPy makes what is not a short sum of cosines."""
    if name not in _COSINE_WINDOWS:
        signal = extras.load("scipy.signal", f"The window {name!r}")
        return signal.get_window(name, length, periodic)
    angle = 2 * np.pi * np.arange(length) / max(length if periodic else length - 1, 1)
    window = sum((-1) ** k * c * np.cos(k * angle) for k, c in enumerate(_COSINE_WINDOWS[name]))
    return np.ones(length) if length == 1 else window


class STFT(Initializer):
    """Waves in a window, as kernels that make convolutions short Fourier transforms.

    Args:
      side: "real" for cosines or "imag" for sines.
      window: a name that scipy.signal.get_window knows, values, or None.
      scaling: "density", "spectrum" or None.
      periodic: whether the window is one period of a periodic function, rather than symmetric.

    Raises:
      ValueError: for other names.
    """

    def __init__(
        self, side: str = "real", window: Any = "hann", scaling: str | None = "density", periodic: bool = False
    ):
        if side not in ("real", "imag"):
            raise ValueError(f"side should be 'real' or 'imag', not {side}")
        if scaling not in (None, "density", "spectrum"):
            raise ValueError(
                "Scaling is invalid, it must be `None`, 'density' or 'spectrum'. Received "
                f"scaling={scaling}"
            )
        self.side, self.window, self.scaling, self.periodic = side, window, scaling, periodic

    def __call__(self, shape, dtype=None, **kwargs):
        dtype = float_dtype(dtype)
        length, _, bins = sizes_of(shape)
        angle = -2.0 * np.pi * np.arange(length)[:, None, None] * np.arange(bins) / ((bins - 1) * 2)
        kernel = np.cos(angle) if self.side == "real" else np.sin(angle)
        if self.window is not None:
            window = self.window
            if isinstance(window, str):
                window = _window(window, length, self.periodic)
            window = np.asarray(window, "float64")
            if window.shape != (length,):
                raise ValueError(
                    "The shape of `window` must be equal to [frame_length]. Received: window shape="
                    f"{window.shape}"
                )
            scale = {"density": np.sqrt((window**2).sum()), "spectrum": np.abs(window).sum()}
            kernel = kernel * window[:, None, None] / scale.get(self.scaling, 1.0)
        return convert_to_tensor(kernel.astype(dtype.as_numpy_dtype), dtype)

    def get_config(self):
        return {
            "side": self.side,
            "window": self.window,
            "periodic": self.periodic,
            "scaling": self.scaling,
        }


boundaries(globals())
