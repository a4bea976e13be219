"""`keras.random`: random numbers that depend on a seed or on the state of a `SeedGenerator` only."""

from __future__ import annotations

import random as python_random
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, IntLike, Tensor, TensorLike
from tapeflow.core.context import init_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public, public_methods
from tapeflow.keras import settings
from tapeflow.keras.registry import made_from, to_config
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.division import floormod
from tapeflow.ops.math.sorting import argsort
from tapeflow.ops.nn.dropout import stateless_dropout
from tapeflow.ops.random import stateless_choice as random_stateless_choice
from tapeflow.ops.random import stateless_functions
from tapeflow.ops.random.binomial import stateless_binomial
from tapeflow.ops.state.variable import VariableAggregation

__all__ = [
    "SeedGenerator",
    "beta",
    "binomial",
    "categorical",
    "dropout",
    "gamma",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]

_advancing = threading.RLock()
_global: SeedGenerator | None = None


def make_default_seed():
    """Draw a seed from Python's generator."""
    return python_random.randint(1, int(1e9))


@public_methods
class SeedGenerator:
    """A source of seeds, whose state is a variable, so that functions draw other numbers at every call.

    Args:
      seed: the first seed, an int; by default one that Python's `random` gives.
      name: the name of the generator.
      **kwargs: `backend`, which changes nothing.

    Raises:
      ValueError: if `seed` is not an int, and for other arguments.

    >>> generator = tf.keras.random.SeedGenerator(7)
    >>> a, b = tf.keras.random.uniform([2], seed=generator), tf.keras.random.uniform([2], seed=generator)
    >>> bool(tf.reduce_all(a == b))
    False
    """

    _keras_module = "keras.random"

    def __init__(self, seed: int | None = None, name: str | None = None, **kwargs):
        kwargs.pop("backend", None)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {kwargs}")
        self.name = settings.unique_name("seed_generator") if name is None else name
        self._initial_seed = seed
        if seed is None:
            seed = make_default_seed()
        if not isinstance(seed, int):
            raise ValueError(f"Argument `seed` must be an integer. Received: seed={seed}")
        # Weights need initializers, and these this module.
        from tapeflow.keras.engine.weight import make_weight

        with init_scope():
            self.state = make_weight(
                self,
                np.array([seed, 0], "int64"),
                "seed_generator_state",
                trainable=False,
                aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            )

    def next(self, ordered: bool = True):
        """Return the current seed, two integers, and go on to the next.

        Args:
          ordered: whether seeds are counted up; otherwise they come in an irregular order, below a million.
        """
        with _advancing:
            seed = self.state.read_value()
            following = seed + np.array([0, 1], "int64") if ordered else floormod((seed + 1) * 5387, 933199)
            self.state.assign(following)
        return seed

    def get_config(self):
        """Return the constructor's arguments."""
        return {"seed": self._initial_seed, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """Return a generator from the constructor's arguments."""
        return cls(**config)


def global_seed_generator():
    """Return the generator behind functions that are given no seed."""
    global _global
    with _advancing:
        if _global is None:
            _global = SeedGenerator()
        return _global


def reset_global_seed_generator():
    """Let the next use of the global generator make a new one."""
    global _global
    _global = None


def draw_seed(seed):
    """The two integers of `seed`: an int, a SeedGenerator, or None for the global generator."""
    if isinstance(seed, SeedGenerator):
        drawn = seed.next()
    elif seed is None:
        drawn = global_seed_generator().next(ordered=False)
    elif isinstance(seed, int):
        drawn = convert_to_tensor(np.array([seed, 0], "int64"))
    else:
        raise ValueError(
            "Argument `seed` must be either an integer or an instance of `SeedGenerator`. "
            f"Received: seed={seed} (of type {type(seed)})"
        )
    return cast(floormod(drawn, dtypes.int32.max - 1), dtypes.int32)


def seed_config(seed: int | None):
    """What the config of an object has for its seed."""
    return to_config(seed) if isinstance(seed, SeedGenerator) else seed


def seed_from_config(seed: int | None):
    """The opposite of `seed_config`."""
    return made_from(SeedGenerator, seed["config"]) if isinstance(seed, dict) else seed


@public
def normal(
    shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None, seed: Any = None
):
    """Draw normal numbers.

    Args:
      shape: the shape of the result.
      mean: the mean of the distribution.
      stddev: the standard deviation.
      dtype: a floating dtype; None for `keras.config.floatx()`.
      seed: an int, which always gives the same numbers, a `SeedGenerator`, or None for a global one.

    Returns:
      A tensor.

    >>> a, b = (tf.keras.random.normal([3], seed=1) for _ in range(2))
    >>> bool(tf.reduce_all(a == b))
    True
    """
    dtype = settings.default_dtype(dtype)
    return stateless_functions.stateless_normal(shape, draw_seed(seed), mean, stddev, dtype)


@public
def truncated_normal(
    shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None,
    seed: int | None = None,
):
    """Draw normal numbers at most two standard deviations from the mean.

    Args:
      shape: the shape of the result.
      mean: the mean of the distribution.
      stddev: the standard deviation, before numbers are left out.
      dtype: a floating dtype; None for `keras.config.floatx()`.
      seed: an int, which always gives the same numbers, a `SeedGenerator`, or None for a global one.

    Returns:
      A tensor.
    """
    dtype = settings.default_dtype(dtype)
    return stateless_functions.stateless_truncated_normal(shape, draw_seed(seed), mean, stddev, dtype)


@public
def uniform(shape: Sequence[Any], minval: float = 0.0, maxval: float = 1.0, dtype=None, seed: Any = None):
    """Draw uniform numbers of [minval, maxval).

    Args:
      shape: the shape of the result.
      minval: the lower bound.
      maxval: the upper bound, which does not occur.
      dtype: a floating dtype; None for `keras.config.floatx()`.
      seed: an int, which always gives the same numbers, a `SeedGenerator`, or None for a global one.

    Returns:
      A tensor.

    Raises:
      ValueError: for a dtype that is not floating.
    """
    dtype = settings.default_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"`keras.random.uniform` requires a floating point `dtype`. Received: dtype={dtype.name}")
    return uniform_values(shape, minval, maxval, dtype, seed)


def uniform_values(shape: Sequence[Any], minval: float, maxval: float, dtype: DTypeLike, seed: Any):
    limits = cast(minval, dtype), cast(maxval, dtype)
    return stateless_functions.stateless_uniform(shape, draw_seed(seed), *limits, dtype)


@public
def randint(shape: Sequence[Any], minval: int, maxval: int, dtype: DTypeLike = "int32", seed: int | None = None):
    """Draw integers of [minval, maxval).

    Args:
      shape: the shape of the result.
      minval: the lower bound.
      maxval: the upper bound, which does not occur.
      dtype: an integer dtype.
      seed: an int, which always gives the same numbers, a `SeedGenerator`, or None for a global one.

    Returns:
      A tensor.

    Raises:
      ValueError: for another dtype.
    """
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_integer:
        raise ValueError(f"`keras.random.randint` requires an integer `dtype`. Received: dtype={dtype.name}")
    drawn = dtype if dtype in (dtypes.int32, dtypes.int64) else dtypes.int64
    return cast(stateless_functions.stateless_uniform(shape, draw_seed(seed), minval, maxval, drawn), dtype)


@public
def categorical(logits: TensorLike, num_samples: int, dtype: DTypeLike = "int32", seed: int | None = None):
    """Draw classes for each row of logits.

    Args:
      logits: unnormalized log-probabilities, `(n, classes)`.
      num_samples: how many for each row.
      dtype: an integer dtype.
      seed: an int, which always gives the same numbers, a `SeedGenerator`, or None for a global one.

    Returns:
      A tensor `(n, num_samples)`.

    Raises:
      ValueError: for logits of another rank.
    """
    logits = convert_to_tensor(logits)
    if logits.shape.rank != 2:
        raise ValueError(f"`logits` should be a 2-D tensor with shape [batch_size, num_classes]. Received: "
                         f"logits={logits}")  # fmt: skip
    return cast(random_stateless_choice.stateless_categorical(logits, num_samples, draw_seed(seed)), dtype)


@public
def dropout(inputs: TensorLike, rate: float, noise_shape=None, seed=None):
    """Set elements to 0 with probability `rate` and divide the others by 1 - rate.

    Args:
      inputs: a floating tensor.
      rate: a number of [0, 1].
      noise_shape: a shape that broadcasts to that of `inputs`; elements that share one of its places are kept or
        dropped together. None in it means the size that `inputs` has.
      seed: as for `normal`.
    """
    if rate == 1.0:
        return zeros_like(inputs)
    if rate == 0.0:
        return inputs
    inputs = convert_to_tensor(inputs)
    seed = draw_seed(seed)
    return stateless_dropout(inputs, rate=rate, seed=seed, noise_shape=_noise_shape(inputs, noise_shape))


def _noise_shape(inputs: Tensor, noise_shape):
    if noise_shape is None:
        return None
    sizes = inputs.shape if inputs.shape.is_fully_defined() else shape_of(inputs)
    return [sizes[i] if size is None else size for i, size in enumerate(noise_shape)]


@public
def shuffle(x: TensorLike, axis: AxisLike = 0, seed: int | None = None):
    """Put the parts of a tensor along an axis into a random order.

    Args:
      x: a tensor.
      axis: the axis, an integer.
      seed: an int, which always gives the same numbers, a `SeedGenerator`, or None for a global one.

    Returns:
      A tensor of the shape of x.
    """
    x = convert_to_tensor(x)
    keys = stateless_functions.stateless_uniform([shape_of(x)[axis]], draw_seed(seed))
    return gather(x, argsort(keys), axis=axis)


@public
def gamma(shape: Sequence[Any], alpha: float, dtype: DTypeLike | None = None, seed: int | None = None):
    """Draw from gamma distributions of scale 1.

    Args:
      shape: the shape of the result.
      alpha: the shape parameter, which broadcasts to the shape.
      dtype: a floating dtype; None for `keras.config.floatx()`.
      seed: an int, which always gives the same numbers, a `SeedGenerator`, or None for a global one.

    Returns:
      A tensor.
    """
    return _gamma(shape, alpha, settings.default_dtype(dtype), draw_seed(seed))


def _gamma(shape: Sequence[Any], alpha: TensorLike, dtype: DTypeLike, seed: IntLike):
    drawn = dtypes.float32 if dtype == dtypes.bfloat16 else dtype
    return cast(random_stateless_choice.stateless_gamma(shape, seed, alpha, dtype=drawn), dtype)


@public
def binomial(
    shape: Sequence[Any], counts: float, probabilities: float, dtype: DTypeLike | None = None, seed: int | None = None
):
    """Draw numbers of successes in trials.

    Args:
      shape: the shape of the result.
      counts: the number of trials, which broadcasts to the shape.
      probabilities: the probability of success, which broadcasts to the shape.
      dtype: a floating dtype; None for `keras.config.floatx()`.
      seed: an int, which always gives the same numbers, a `SeedGenerator`, or None for a global one.

    Returns:
      A tensor.
    """
    dtype = settings.default_dtype(dtype)
    drawn = dtypes.float32 if dtype == dtypes.bfloat16 else dtype
    return cast(stateless_binomial(shape, draw_seed(seed), counts, probabilities, drawn), dtype)


@public
def beta(
    shape: Sequence[Any], alpha: float, beta: Sequence[float], dtype: DTypeLike | None = None, seed: int | None = None
):
    """Draw from beta distributions.

    Args:
      shape: the shape of the result.
      alpha: the first parameter, which broadcasts to the shape.
      beta: the second parameter, which broadcasts to the shape.
      dtype: a floating dtype; None for `keras.config.floatx()`.
      seed: an int, which always gives the same numbers, a `SeedGenerator`, or None for a global one.

    Returns:
      A tensor.
    """
    dtype = settings.default_dtype(dtype)
    drawn = dtypes.float32 if dtype == dtypes.bfloat16 else dtype
    seed = draw_seed(seed)
    # X / (X + Y) of gamma variates X and Y; the second is drawn with the first one's seed plus 12, as in Keras.
    x = _gamma(shape, broadcast_to(cast(alpha, drawn), shape), dtype, seed)
    y = _gamma(shape, broadcast_to(cast(beta, drawn), shape), dtype, seed + 12)
    return x / (x + y)
