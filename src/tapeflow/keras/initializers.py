"""First values of weights. Formulas: Glorot & Bengio 2010, He et al. 2015, LeCun et al. 1998, Saxe et al. 2014."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes, extras
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import Bounded, boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import random as keras_random
from tapeflow.keras import settings
from tapeflow.keras.old_names import leaves_out
from tapeflow.keras.registry import resolve, to_config
from tapeflow.ops.array import construction
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.linalg.decomposition import qr
from tapeflow.ops.math.elementwise import sign
from tapeflow.ops.random import functions, stateless_functions

# The standard deviation of a standard normal cut off at two.
_TRUNCATED_STDDEV = 0.87962566103423978


class Initializer(Bounded):
    """A function of shape and dtype that gives a tensor, and can be described by a config; the base of initializers."""

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        raise TypeError(f"{type(self).__name__} must define __call__(shape, dtype)")

    def get_config(self):
        """The constructor's arguments."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """An initializer from the constructor's arguments."""
        config = dict(config)
        config.pop("dtype", None)
        return cls(**config)

    def clone(self):
        """An equal initializer."""
        return type(self).from_config(self.get_config())


def _sizes(shape: Sequence[Any]):
    return TensorShape(shape).as_list()


def _part(shape: Sequence[Any], options: Mapping[str, Any]):
    """The sizes of what is made: of the whole variable, or of the part that a partitioner asks for."""
    return _sizes(options.get("partition_shape", shape))


def _whole(maker: Initializer, options: Mapping[str, Any]) -> None:
    """Refuses parts for an initializer whose values depend on all of the variable."""
    if "partition_shape" in options or "partition_offset" in options:
        raise ValueError(f"{type(maker).__name__} initializer doesn't support partition-related arguments")


def _number_dtype(dtype, name: str):
    dtype = settings.default_dtype(dtype)
    if dtype == dtypes.string or not (
        dtype.is_floating or dtype.is_integer or dtype.is_complex or dtype.is_bool
    ):
        raise ValueError(f"Expected numeric or boolean dtype for {name}, got {dtype}.")
    return dtype


def _float_dtype(dtype):
    dtype = settings.default_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


@api(v2="zeros_initializer")
class Zeros(Initializer):
    """All zeros.

    >>> print(tf.keras.initializers.Zeros()((2,)).numpy())
    [0. 0.]
    """

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        return construction.zeros(_part(shape, kwargs), _number_dtype(dtype, "Zeros"))


@api(v2="ones_initializer")
class Ones(Initializer):
    """All ones."""

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        return construction.ones(_part(shape, kwargs), _number_dtype(dtype, "Ones"))


@api(v2="constant_initializer")
class Constant(Initializer):
    """A number everywhere, or the given values in the given shape.

    Args:
      value: a number, or an array with as many numbers as the shape has, or that broadcasts to it.

    >>> print(tf.keras.initializers.Constant(3.0)((2, 2)).numpy())
    [[3. 3.]
     [3. 3.]]
    """

    def __init__(self, value: Any = 0.0):
        self.value = value

    def __call__(self, shape: Sequence[Any], dtype=None, **kwargs):
        _whole(self, kwargs)
        dtype = settings.default_dtype(dtype)
        sizes = _sizes(shape)
        value = np.asarray(self.value, dtype.as_numpy_dtype)
        if value.ndim and value.size == math.prod(sizes):
            value = value.reshape(sizes)
        try:
            return convert_to_tensor(np.broadcast_to(value, sizes).copy(), dtype)
        except ValueError:
            raise TypeError(
                f"Eager execution of tf.constant with unsupported shape. Tensor {value} (converted from {self.value}) "
                f"has {value.size} elements, but got `shape` {tuple(sizes)} with {math.prod(sizes)} elements)."
            ) from None

    def get_config(self):
        return {"value": self.value}


class _Random(Initializer):
    """Random values: always the same with a seed, and in Keras 3 without one, where each initializer draws a seed."""

    # Whether initializers without a seed draw one.
    _draws_seed = True

    def __init__(self, seed: int | None = None):
        self._given_seed = keras_random.seed_from_config(seed)
        self.seed = self._given_seed
        if seed is None and self._draws_seed and not keras_2():
            self.seed = keras_random.make_default_seed()

    def _uniform(self, shape: Sequence[Any], low: float, high: float, dtype: DTypeLike):
        if self.seed is None:
            return functions.uniform(shape, low, high, dtype)
        return stateless_functions.stateless_uniform(shape, self._seeds(), low, high, dtype)

    def _normal(self, shape: Sequence[Any], mean: float, stddev: float, dtype: DTypeLike):
        if self.seed is None:
            return functions.normal(shape, mean, stddev, dtype)
        return stateless_functions.stateless_normal(shape, self._seeds(), mean, stddev, dtype)

    def _truncated(self, shape: Sequence[Any], mean: float, stddev: float, dtype: DTypeLike):
        if self.seed is None:
            return functions.truncated_normal(shape, mean, stddev, dtype)
        return stateless_functions.stateless_truncated_normal(shape, self._seeds(), mean, stddev, dtype)

    def _seeds(self):
        return (self.seed, 0) if keras_2() else keras_random.draw_seed(self.seed)

    def get_config(self):
        return {"seed": keras_random.seed_config(self._given_seed)}


class RandomUniform(_Random):
    """Random numbers, uniform on [minval, maxval).

    Args:
      minval: the lower bound.
      maxval: the upper bound, which does not occur.
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).

    >>> values = tf.keras.initializers.RandomUniform(0.0, 1.0, seed=1)((100,))
    >>> bool(tf.reduce_all((values >= 0.0) & (values < 1.0)))
    True
    """

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None):
        super().__init__(seed)
        self.minval, self.maxval = minval, maxval

    def __call__(self, shape: Sequence[Any], dtype=None, **kwargs):
        dtype = settings.default_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {dtype}.")
        return self._uniform(_part(shape, kwargs), self.minval, self.maxval, dtype)

    def get_config(self):
        return {"minval": self.minval, "maxval": self.maxval, **super().get_config()}


class RandomNormal(_Random):
    """Random numbers with a normal distribution.

    Args:
      mean: the mean of the distribution.
      stddev: the standard deviation.
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None):
        super().__init__(seed)
        self.mean, self.stddev = mean, stddev

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        return self._normal(_part(shape, kwargs), self.mean, self.stddev, _float_dtype(dtype))

    def get_config(self):
        return {"mean": self.mean, "stddev": self.stddev, **super().get_config()}


class TruncatedNormal(RandomNormal):
    """Random numbers with a normal distribution; those more than two standard deviations from the mean are drawn again.

    Args:
      mean: the mean of the distribution.
      stddev: the standard deviation, before this.
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
    """

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        return self._truncated(_part(shape, kwargs), self.mean, self.stddev, _float_dtype(dtype))


class VarianceScaling(_Random):
    """Random values whose variance is scale / (number of inputs, outputs, or their mean).

    For a kernel `(..., inputs, outputs)` both numbers are multiplied by the sizes of the window.

    Args:
      scale: the factor, above 0.
      mode: "fan_in" for the number of inputs, "fan_out" for that of outputs, "fan_avg" for their mean.
      distribution: "truncated_normal" (or "normal"), "untruncated_normal" or "uniform".
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.

    Raises:
      ValueError: for a factor that is not positive, and unknown names.
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
        seed: int | None = None, input_axes=None, output_axes=None,
    ):
        if scale <= 0.0:
            raise ValueError(f"`scale` must be positive float. Received: scale={scale}.")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(
                f"Invalid `mode` argument: {mode}. Please use one of 'fan_in', 'fan_out', 'fan_avg'"
            )
        distribution = distribution.lower()
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in {"uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError(f"Invalid `distribution` argument: {distribution}.")
        super().__init__(seed)
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.input_axes, self.output_axes = input_axes, output_axes

    def _fans(self, sizes):
        """The numbers of inputs and outputs; along the axes that were named, where some were."""
        if self.input_axes is None and self.output_axes is None:
            return fans(sizes)
        rank = len(sizes)
        inputs, outputs = (
            None
            if axes is None
            else {axis % rank for axis in ((axes,) if isinstance(axes, int) else axes)}
            for axes in (self.input_axes, self.output_axes)
        )
        if inputs is None:
            inputs = set(range(rank)) - outputs
        if outputs is None:
            outputs = set(range(rank)) - inputs
        rest = math.prod(size for axis, size in enumerate(sizes) if axis not in inputs | outputs)
        return tuple(rest * math.prod(sizes[axis] for axis in axes) for axes in (inputs, outputs))

    def _axes_config(self):
        if self.input_axes is None and self.output_axes is None and keras_2():
            return {}
        return {"input_axes": self.input_axes, "output_axes": self.output_axes}

    def __call__(self, shape: Sequence[Any], dtype: DTypeLike | None = None, **kwargs):
        dtype = _float_dtype(dtype)
        sizes = _sizes(shape)
        fan_in, fan_out = self._fans(sizes)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, fan)
        sizes = _part(shape, kwargs)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return self._uniform(sizes, -limit, limit, dtype)
        if self.distribution == "truncated_normal":
            return self._truncated(sizes, 0.0, math.sqrt(variance) / _TRUNCATED_STDDEV, dtype)
        return self._normal(sizes, 0.0, math.sqrt(variance), dtype)

    def get_config(self):
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            **super().get_config(),
            **self._axes_config(),
        }


def fans(sizes: Sequence[int]):
    """(inputs, outputs) of one unit of a kernel of this shape."""
    if len(sizes) < 1:
        return 1, 1
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    field = math.prod(sizes[:-2])
    return sizes[-2] * field, sizes[-1] * field


class _Scaled(VarianceScaling):
    """A VarianceScaling with fixed settings."""

    _settings: tuple = ()

    def __init__(self, seed=None, input_axes=None, output_axes=None):
        super().__init__(*self._settings, seed, input_axes, output_axes)

    def get_config(self):
        return {**_Random.get_config(self), **self._axes_config()}


class GlorotUniform(_Scaled):
    """Uniform with variance 2 / (fan_in + fan_out), the default of most layers (Glorot & Bengio 2010).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.

    >>> print(tf.keras.initializers.GlorotUniform()((3, 4)).shape)
    (3, 4)
    """

    _settings = (1.0, "fan_avg", "uniform")


class GlorotNormal(_Scaled):
    """Truncated normal with variance 2 / (fan_in + fan_out) (Glorot & Bengio 2010).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (1.0, "fan_avg", "truncated_normal")


class HeUniform(_Scaled):
    """Uniform with variance 2 / fan_in, for layers with ReLU (He et al. 2015).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (2.0, "fan_in", "uniform")


class HeNormal(_Scaled):
    """Truncated normal with variance 2 / fan_in, for layers with ReLU (He et al. 2015).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (2.0, "fan_in", "truncated_normal")


class LecunUniform(_Scaled):
    """Uniform with variance 1 / fan_in (LeCun et al. 1998).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (1.0, "fan_in", "uniform")


class LecunNormal(_Scaled):
    """Truncated normal with variance 1 / fan_in, for layers with SELU (LeCun et al. 1998).

    Args:
      seed: an integer for the same numbers at every call, or a `keras.random.SeedGenerator`; None draws an integer
        (under Keras 2 every call draws other numbers).
      input_axes: the axes that count the inputs; None for the last but one.
      output_axes: the axes that count the outputs; None for the last.
    """

    _settings = (1.0, "fan_in", "truncated_normal")


class Orthogonal(_Random):
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
        _whole(self, kwargs)
        dtype = _float_dtype(dtype)
        sizes = _sizes(shape)
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
        _whole(self, kwargs)
        dtype = _float_dtype(dtype)
        sizes = _sizes(shape)
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
        dtype = _float_dtype(dtype)
        length, _, bins = _sizes(shape)
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


@api(v2="random_uniform_initializer")
class random_uniform_initializer(RandomUniform):
    """`tf.random_uniform_initializer`: draws again at every call, whichever Keras there is.

    Args:
      minval: the lower bound.
      maxval: the upper bound, which does not occur.
      seed: an integer for the same numbers at every call; None for others each time.
    """

    _draws_seed = False


@api(v2="random_normal_initializer")
class random_normal_initializer(RandomNormal):
    """`tf.random_normal_initializer`: draws again at every call, whichever Keras there is.

    Args:
      mean: the mean of the distribution.
      stddev: the standard deviation.
      seed: an integer for the same numbers at every call; None for others each time.
    """

    _draws_seed = False


zeros = zeros_initializer = Zeros
ones = ones_initializer = Ones

_CLASSES = (
    Zeros,
    Ones,
    Constant,
    RandomUniform,
    RandomNormal,
    TruncatedNormal,
    VarianceScaling,
    GlorotUniform,
    GlorotNormal,
    HeUniform,
    HeNormal,
    LecunUniform,
    LecunNormal,
    Orthogonal,
    Identity,
    STFT,
)
_NAMES = {cls.__name__: cls for cls in _CLASSES} | {
    "zeros": Zeros,
    "zero": Zeros,
    "ones": Ones,
    "one": Ones,
    "constant": Constant,
    "uniform": RandomUniform,
    "random_uniform": RandomUniform,
    "normal": RandomNormal,
    "random_normal": RandomNormal,
    "truncated_normal": TruncatedNormal,
    "variance_scaling": VarianceScaling,
    "glorot_uniform": GlorotUniform,
    "glorot_normal": GlorotNormal,
    "he_uniform": HeUniform,
    "he_normal": HeNormal,
    "lecun_uniform": LecunUniform,
    "lecun_normal": LecunNormal,
    "orthogonal": Orthogonal,
    "identity": Identity,
    "stft": STFT,
    "IdentityInitializer": Identity,
    "OrthogonalInitializer": Orthogonal,
    "STFTInitializer": STFT,
}
constant = Constant
random_uniform, random_normal = RandomUniform, RandomNormal
truncated_normal = TruncatedNormal
glorot_uniform, glorot_normal = GlorotUniform, GlorotNormal
he_uniform, he_normal = HeUniform, HeNormal
lecun_uniform, lecun_normal = LecunUniform, LecunNormal
variance_scaling, orthogonal, identity = VarianceScaling, Orthogonal, Identity
IdentityInitializer, OrthogonalInitializer = Identity, Orthogonal
STFTInitializer = stft = STFT


def get(identifier):
    """Find an initializer.

    Args:
      identifier: the name of an initializer, its config, a function, an initializer, or None.

    Returns:
      The initializer, or None.

    Raises:
      ValueError: for an unknown name.
    """
    return resolve(identifier, _NAMES, "initializer")


@leaves_out("use_legacy_format")
def serialize(initializer: Any):
    """The config of an initializer."""
    return to_config(initializer)


@leaves_out("use_legacy_format")
def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """Make an initializer of its name or config.

    Args:
      config: what `serialize` gave.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The initializer.

    Raises:
      ValueError: for an unknown name.
    """
    return resolve(config, _NAMES, "initializer", custom_objects)

boundaries(globals())
