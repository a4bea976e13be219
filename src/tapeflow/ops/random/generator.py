"""`tf.random.Generator`: random numbers from a state that the program holds, in a variable."""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, ShapeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.public import boundaries
from tapeflow.ops import shapes
from tapeflow.ops.array.bitcast import Bitcast
from tapeflow.ops.array.construction import fill, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.stacking import stack, unstack
from tapeflow.ops.indexing.slicing import Slice
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_prod
from tapeflow.ops.random.binomial import StatefulRandomBinomial
from tapeflow.ops.random.distributions import between, scaled, shape_tensor, sizes_of_shape
from tapeflow.ops.random.stateless import (
    Algorithm,
    StatelessRandomNormalV2,
    StatelessRandomUniformFullIntV2,
    StatelessRandomUniformIntV2,
    StatelessRandomUniformV2,
    StatelessTruncatedNormalV2,
    algorithm_id,
)
from tapeflow.ops.state.variable import Variable
from tapeflow.ops.static import size_of, static_value
from tapeflow.ops.table import op
from tapeflow.ops.validate import invalid, shape_text

_MASK64 = 2**64 - 1
_STATE_SIZES = {
    Algorithm.PHILOX.value: 3,
    Algorithm.THREEFRY.value: 2,
    Algorithm.AUTO_SELECT.value: 3,
}


@op(
    "RngReadAndSkip",
    "resource: resource, alg: int32, delta: uint64 -> value: int64",
    shape=shapes.fixed((3,)),
)
def RngReadAndSkip(xp: ModuleType, resource: Any, alg: Array, delta: Array):
    """The state, which then moves on by as much as `delta` numbers take."""
    if np.ndim(alg) or np.ndim(delta):
        raise invalid("alg and delta must be scalars")
    if int(alg) == Algorithm.THREEFRY.value:
        raise UnimplementedError(
            None, None, "Non-XLA devices don't support the ThreeFry algorithm."
        )
    if int(alg) not in _STATE_SIZES:
        raise invalid(f"Unsupported algorithm id: {int(alg)}")
    state = resource.numpy()
    if state.shape != (3,) or state.dtype != np.int64:
        raise invalid(
            "For the Philox algorithm, the state must be 3 numbers of int64; got "
            f"{shape_text(state.shape)} of {state.dtype}"
        )
    state = state.copy()
    low, high = (int(x) & _MASK64 for x in state[:2])
    counter = (high << 64 | low) + int(delta) * 256
    moved = np.array(
        [counter & _MASK64, counter >> 64 & _MASK64, int(state[2]) & _MASK64], np.uint64
    )
    resource.assign(moved.view(np.int64))
    return state


RngReadAndSkip.gradient(None)


@RngReadAndSkip.compiled(static="alg")
def _(xp: ModuleType, resource: Any, alg: Array, delta: Array):
    state = resource.numpy()
    low, high, key = state.view(np.uint64)
    blocks = delta * np.uint64(256)
    carried = high + delta // np.uint64(1 << 56) + (low + blocks < low).astype(np.uint64)
    resource.assign(xp.stack([low + blocks, carried, key]).view(np.int64))
    return state


@api("random.experimental.create_rng_state", "random.create_rng_state")
def create_rng_state(seed: int, alg):
    """Make the state that a generator of random numbers starts from.

    Args:
      seed: an integer, or a vector of integers.
      alg: the algorithm: "philox", "threefry", or a `tf.random.Algorithm`.

    Returns:
      A vector of int64, of three elements for "philox" and two for "threefry".

    >>> tf.random.create_rng_state(1, "philox")
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([1, 0, 0])>
    """
    size = _state_size(algorithm_id(alg))
    if isinstance(seed, int):
        parts = [seed >> 64 * i & _MASK64 for i in range(size)]
    else:
        given = static_value(seed)
        if given is None:
            given = Reshape(cast(seed, dtypes.int64), [-1])[:size]
            missing = size - size_of(given, 0)
            return Reshape(concat([fill([missing], np.int64(0)), given], 0), [size])
        parts = [int(x) & _MASK64 for x in np.asarray(given).reshape(-1).tolist()][:size]
        parts = [0] * (size - len(parts)) + parts
    return convert_to_tensor(np.array(parts, np.uint64).view(np.int64))


def _state_size(alg: int) -> int:
    if alg not in _STATE_SIZES:
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are 1 for the Philox algorithm, 2 for the "
            "ThreeFry algorithm, and 3 for auto-selection."
        )
    return _STATE_SIZES[alg]


def _int64s(values):
    """Integers, also those of the upper half of uint64, as int64: an array, or a tensor of a graph."""
    if isinstance(values, (Tensor, Variable)):
        known = static_value(values)
        if known is None:
            return cast(values, dtypes.int64)
        values = known
    if isinstance(values, np.ndarray):
        return values.astype(np.int64)
    if isinstance(values, (list, tuple)):
        values = [int(v) & _MASK64 for v in values]
    else:
        values = int(values) & _MASK64
    return np.array(values, np.uint64).view(np.int64)


@api("random.experimental.Generator", "random.Generator")
class Generator:
    """A source of random numbers with its state in a variable.

    Make one with `from_seed`, `from_non_deterministic_state`, `from_key_counter`, `from_state`, or a copy with
    `Generator(copy_from=g)`. The same seed gives the same numbers on every machine. `alg` is "philox"; the state of
    "threefry" can be held, but making numbers of it raises UnimplementedError.
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Generator takes either copy_from or state and alg")
            self._alg = copy_from.algorithm
            self._state = Variable(
                copy_from.state.read_value(), dtype=dtypes.int64, trainable=False, name="StateVar"
            )
            return
        if state is None or alg is None:
            raise ValueError("Generator needs state and alg, or copy_from")
        self._alg = algorithm_id(alg)
        if isinstance(state, Variable):
            self._check(tuple(state.shape.as_list()))
            self._state = state
        else:
            state = _int64s(state)
            self._check(state.shape.as_list() if isinstance(state, Tensor) else state.shape)
            self._state = Variable(state, dtype=dtypes.int64, trainable=False, name="StateVar")

    @property
    def _state_var(self):
        return self._state

    @_state_var.setter
    def _state_var(self, value):
        self._state = value

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs):
        return {"_state_var": self._state}

    def _check(self, shape: Sequence[Any]) -> None:
        if tuple(shape) != (_state_size(self._alg),):
            raise ValueError(
                f"Shapes {tuple(shape)} and ({_state_size(self._alg)},) are incompatible"
            )

    @classmethod
    def from_state(cls, state, alg):
        """A generator in the given state: counter and key, as int64."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: int, alg=None):
        """A generator that starts from `seed`, an integer or a vector of them."""
        alg = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator whose start comes from the operating system."""
        alg = algorithm_id(Algorithm.PHILOX if alg is None else alg)
        return cls(state=[secrets.randbits(64) for _ in range(_state_size(alg))], alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator with the given key, a scalar, and counter, a vector."""
        return cls(state=_joined(key, counter, algorithm_id(alg)), alg=alg)

    @property
    def state(self):
        """The variable that holds the state."""
        return self._state

    @property
    def algorithm(self):
        """The number of the algorithm: 1 for Philox."""
        return self._alg

    @property
    def key(self):
        """The key: the part of the state that stays."""
        return self._state[-1]

    def reset(self, state):
        """Puts the generator in another state."""
        state = _int64s(state)
        self._check(state.shape.as_list() if isinstance(state, Tensor) else state.shape)
        self._state.assign(state)

    def reset_from_seed(self, seed: int):
        """Starts again from `seed`."""
        self._state.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key, counter):
        """Starts again from a key, a scalar, and a counter, a vector."""
        self._state.assign(_joined(key, counter, self._alg))

    def skip(self, delta):
        """Moves on as `normal([delta])` would. Returns the state before that."""
        known = static_value(delta)
        count = cast(delta, dtypes.uint64) if known is None else np.array(int(known), np.uint64)
        return RngReadAndSkip(self._state, self._alg, count)

    def _start(self, shape: ShapeLike):
        """Shape, key, counter and algorithm of the numbers that come next."""
        known = static_value(shape)
        count = reduce_prod(shape) if known is None else math.prod(sizes_of_shape(known))
        state = Bitcast(self.skip(count), dtypes.uint64)
        return shape, Slice(state, [2], [1]), Slice(state, [0], [2]), self._alg

    def normal(
        self, shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ):
        """Normally distributed numbers; `mean` and `stddev` broadcast."""
        dtype = dtypes.as_dtype(dtype)
        return scaled(
            StatelessRandomNormalV2(*self._start(shape_tensor(shape)), dtype), stddev, mean, dtype
        )

    def truncated_normal(
        self, shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ):
        """Normally distributed numbers, all within two standard deviations of the mean."""
        dtype = dtypes.as_dtype(dtype)
        return scaled(
            StatelessTruncatedNormalV2(*self._start(shape_tensor(shape)), dtype),
            stddev,
            mean,
            dtype,
        )

    def uniform(
        self, shape: ShapeLike, minval=0, maxval=None, dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ):
        """Numbers of [minval, maxval), by default [0, 1). For integers both limits, or None for the whole range.

        Raises ValueError when an integer `dtype` has only one limit.
        """
        dtype = dtypes.as_dtype(dtype)
        shape = shape_tensor(shape)
        if not dtype.is_integer:
            maxval = 1 if maxval is None else maxval
            return between(
                minval, maxval, dtype, lambda: StatelessRandomUniformV2(*self._start(shape), dtype)
            )
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {dtype!r}, minval and maxval must be both `None` or both non-`None`; got "
                f"minval={minval} and maxval={maxval}"
            )
        if minval is None:
            return self.uniform_full_int(shape, dtype)
        minval, maxval = (
            convert_to_tensor(minval, dtype=dtype),
            convert_to_tensor(maxval, dtype=dtype),
        )
        return StatelessRandomUniformIntV2(*self._start(shape), minval, maxval)

    def uniform_full_int(self, shape: ShapeLike, dtype: DTypeLike = dtypes.uint64, name: str | None = None):
        """Integers of the whole range of `dtype`."""
        return StatelessRandomUniformFullIntV2(
            *self._start(shape_tensor(shape)), dtypes.as_dtype(dtype)
        )

    def binomial(
        self, shape: ShapeLike, counts, probs, dtype: DTypeLike = dtypes.int32, name: str | None = None
    ):
        """Numbers of successes in `counts` trials with probabilities `probs`, whose broadcast shape ends `shape`.

        Raises InvalidArgumentError for another shape.
        """
        probs = convert_to_tensor(probs)
        counts = convert_to_tensor(counts, dtype_hint=probs.dtype)
        return StatefulRandomBinomial(
            self._state, self._alg, shape_tensor(shape), counts, probs, dtypes.as_dtype(dtype)
        )

    def make_seeds(self, count: int = 1):
        """`count` seeds for stateless ops: int64 [2, count]."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return stack([keys, zeros_like(keys)])

    def split(self, count: int = 1):
        """A list of `count` generators that are independent of each other and of this one."""
        keys = unstack(self.uniform_full_int([count], dtypes.int64), count)
        zeros = np.zeros(_state_size(self._alg) - 1, np.int64)
        return [Generator(state=_joined(key, zeros, self._alg), alg=self._alg) for key in keys]


def _joined(key, counter, alg: int) -> np.ndarray:
    key, counter = _int64s(key), _int64s(counter)
    if isinstance(key, Tensor) or isinstance(counter, Tensor):
        return Reshape(concat([counter, Reshape(key, [1])], 0), [_state_size(alg)])
    if key.shape != () or counter.shape != (_state_size(alg) - 1,):
        raise ValueError(
            f"key must be a scalar and counter a vector of {_state_size(alg) - 1}, got shapes {key.shape} and "
            f"{counter.shape}"
        )
    return np.append(counter, key)


_global_generator: Generator | None = None
_making = threading.Lock()


@api("random.experimental.get_global_generator", "random.get_global_generator")
def get_global_generator():
    """The generator shared by the whole program, made on first use from a state that differs in every run."""
    global _global_generator
    found = _global_generator
    if found is None:
        with _making:
            found = _global_generator
            if found is None:
                found = _global_generator = Generator.from_non_deterministic_state()
    return found


@api("random.experimental.set_global_generator", "random.set_global_generator")
def set_global_generator(generator):
    """Replaces the generator that `get_global_generator` gives."""
    global _global_generator
    _global_generator = generator


boundaries(globals())
