"""Random ops without a state: the same seed gives the same numbers, whenever and wherever they run."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, ShapeLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.random import philox
from tapeflow.ops.random.distributions import integer_limits, sizes_of_shape
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import invalid, known, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


@api("random.experimental.Algorithm", "random.Algorithm")
class Algorithm(enum.Enum):
    """The generators of random numbers. AUTO_SELECT takes Philox on every device here."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_NAMES = {
    "philox": Algorithm.PHILOX,
    "threefry": Algorithm.THREEFRY,
    "autoselect": Algorithm.AUTO_SELECT,
}


def algorithm_id(alg: str) -> int:
    """The number of an algorithm that is given by name, number or `Algorithm`."""
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, str):
        found = _NAMES.get(alg.strip().lower().replace("-", "").replace("_", ""))
        if found:
            return found.value
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox algorithm, "
            "threefry for the ThreeFry algorithm, and auto_select for auto-selection."
        )
    if hasattr(alg, "numpy"):
        return int(alg.numpy())
    if isinstance(alg, int) and not isinstance(alg, bool):
        return alg
    raise TypeError(f"Can't convert argument `alg` (of value {alg} and type {type(alg)}) to int.")


SEED_TYPES = (dtypes.int64, dtypes.int32)
STATE = "key: uint64, counter: uint64, alg: int32"


def seeded(rule: shapes.Rule, i: int = 1) -> shapes.Rule:
    """`rule`, of a row whose input `i` is a seed."""

    def checked(call: ShapeCall):
        shapes.exactly(shapes.vector_length(call, i), 2)
        return rule(call)

    return checked


def _key_rule(call: ShapeCall):
    shapes.exactly(shapes.vector_length(call, 0), 2)
    return [(1,), (2,)]


def _from_seed_rule(call: ShapeCall):
    shapes.exactly(shapes.vector_length(call, 1), 2)
    for i in range(2, call.count):  # the bounds
        shapes.scalar_value(call, i)
    return [shapes.from_value(call, 0)]


def _from_key_rule(call: ShapeCall):
    shapes.exactly(shapes.vector_length(call, 1), 1)
    shapes.vector_length(call, 2)
    for i in range(3, call.count):  # the algorithm and the bounds
        shapes.scalar_value(call, i)
    return [shapes.from_value(call, 0)]


def from_key(key, counter, alg) -> philox.Philox:
    if np.ndim(alg):
        raise invalid(f"algorithm must be of shape [], not {shape_text(np.shape(alg))}")
    if int(alg) not in (Algorithm.PHILOX.value, Algorithm.AUTO_SELECT.value):
        raise invalid(f"Unsupported algorithm id: {int(alg)}")
    if key.shape != (1,):
        raise invalid(
            f"key must have shape [1], not {shape_text(key.shape)}. (Note that batched keys are not supported yet.)"
        )
    if counter.ndim != 1 or counter.size < 2:
        raise invalid(
            f"counter must be a vector with length at least 2; got shape: {shape_text(counter.shape)}. "
            "(Note that batched counters are not supported yet.)"
        )
    if not known(key) or not known(counter):
        return philox.Philox(key[0], counter[0], counter[1])
    return philox.Philox(int(key[0]), int(counter[0]), int(counter[1]))


def from_seed(seed) -> philox.Philox:
    if seed.shape != (2,):
        raise invalid(f"seed must have shape [2], not {shape_text(seed.shape)}")
    return philox.from_seed(seed)


def bad_shapes(*state):
    yield Sample([2, -1], *state, raises=InvalidArgumentError)
    yield Sample([[2]], *state, raises=InvalidArgumentError)


_KEY, _COUNTER = np.array([3], np.uint64), np.array([5, 7], np.uint64)


def _floats(name: str, fill: Callable[..., Any]):
    """The op by seed and the one by key and counter, that fill a shape with floats."""

    def by_seed(xp: ModuleType, shape: ShapeLike, seed: int, dtype: DType):
        return filled(from_seed(seed), shape, dtype)

    def by_key(xp: ModuleType, shape: ShapeLike, key: Sequence[int], counter, alg, dtype: DType):
        return filled(from_key(key, counter, alg), shape, dtype)

    def filled(g, shape: ShapeLike, dtype: DType):
        sizes = sizes_of_shape(shape)
        return fill(g, math.prod(sizes), np.dtype(dtype.as_numpy_dtype)).reshape(sizes)

    attrs = {"dtype": dtype(dtypes.float32)}
    first = op(
        name,
        "shape: T, seed: Tseed -> output: dtype",
        types={"T": Preferring(INDEX), "Tseed": Preferring(SEED_TYPES)},
        attrs=attrs,
        shape=_from_seed_rule,
    )(by_seed)
    second = op(
        name + "V2",
        f"shape: Tshape, {STATE} -> output: dtype",
        types={"Tshape": Preferring(INDEX)},
        attrs=attrs,
        shape=_from_key_rule,
    )(by_key)
    first.gradient(None)
    second.gradient(None)
    second.compiled(static="alg")

    @first.samples
    def _(rng: SampleGenerator):
        for size in (0, 1, 5, 70):
            yield Sample([size], [1, 2])
        yield Sample([2, 3], [-1, 2**31 - 1], dtype=dtypes.float64)
        yield Sample([2], [1], raises=InvalidArgumentError)
        yield from bad_shapes([1, 2])

    @second.samples
    def _(rng: SampleGenerator):
        yield Sample([7], _KEY, _COUNTER, 1)
        yield Sample(
            [2, 3], _KEY, np.array([2**64 - 1, 2**64 - 1], np.uint64), 3, dtype=dtypes.float64
        )
        yield Sample([2], np.array([1, 2], np.uint64), _COUNTER, 1, raises=InvalidArgumentError)
        yield Sample([2], _KEY, _KEY, 1, raises=InvalidArgumentError)
        yield Sample([2], _KEY, _COUNTER, 9, raises=InvalidArgumentError)
        yield from bad_shapes(_KEY, _COUNTER, 1)

    return first, second


StatelessRandomUniform, StatelessRandomUniformV2 = _floats("StatelessRandomUniform", philox.uniform)
StatelessRandomNormal, StatelessRandomNormalV2 = _floats("StatelessRandomNormal", philox.normal)
StatelessTruncatedNormal, StatelessTruncatedNormalV2 = _floats(
    "StatelessTruncatedNormal", philox.truncated_normal
)


def _integers(g, shape: ShapeLike, minval, maxval):
    sizes = sizes_of_shape(shape)
    count = math.prod(sizes)
    low, span = integer_limits(minval, maxval, count)
    return (
        philox.integers(g, count, minval.dtype, low, span).reshape(sizes)
        if count
        else np.zeros(sizes, minval.dtype)
    )


@op(
    "StatelessRandomUniformInt",
    "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    types={"T": INDEX, "Tseed": Preferring(SEED_TYPES), "dtype": INDEX},
    shape=_from_seed_rule,
)
def StatelessRandomUniformInt(xp: ModuleType, shape: Array, seed: Array, minval: Array, maxval: Array):
    return _integers(from_seed(seed), shape, minval, maxval)


StatelessRandomUniformInt.gradient(None)
StatelessRandomUniformInt.compiled(static="minval, maxval")


@StatelessRandomUniformInt.samples
def _(rng: SampleGenerator):
    yield Sample([9], [1, 2], -3, 4)
    yield Sample([2], [1, 2], 3, 3, raises=InvalidArgumentError)
    yield Sample([2], [1, 2], [3, 1], 3, raises=InvalidArgumentError)


@op(
    "StatelessRandomUniformIntV2",
    f"shape: Tshape, {STATE}, minval: dtype, maxval: dtype -> output: dtype",
    types={"Tshape": Preferring(INDEX), "dtype": (*INDEX, dtypes.uint32, dtypes.uint64)},
    shape=_from_key_rule,
)
def StatelessRandomUniformIntV2(
    xp: ModuleType, shape: Array, key: Array, counter: Array, alg: Array, minval: Array, maxval: Array
):
    return _integers(from_key(key, counter, alg), shape, minval, maxval)


StatelessRandomUniformIntV2.gradient(None)
StatelessRandomUniformIntV2.compiled(static="alg, minval, maxval")


@StatelessRandomUniformIntV2.samples
def _(rng: SampleGenerator):
    yield Sample([9], _KEY, _COUNTER, 1, -3, 4)
    yield Sample([2], _KEY, _COUNTER, 1, 3, 3, raises=InvalidArgumentError)


FULL_INTEGERS = (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)


def _all_integers(g, shape: ShapeLike, dtype: DType):
    sizes = sizes_of_shape(shape)
    return philox.integers(g, math.prod(sizes), np.dtype(dtype.as_numpy_dtype)).reshape(sizes)


@op(
    "StatelessRandomUniformFullInt",
    "shape: T, seed: Tseed -> output: dtype",
    types={"T": Preferring(INDEX), "Tseed": Preferring((*SEED_TYPES, dtypes.uint32, dtypes.uint64))},
    attrs={"dtype": dtype(dtypes.uint64)},
    shape=_from_seed_rule,
)
def StatelessRandomUniformFullInt(xp: ModuleType, shape: Array, seed: Array, dtype: DType):
    return _all_integers(from_seed(seed), shape, dtype)


StatelessRandomUniformFullInt.gradient(None)


@StatelessRandomUniformFullInt.samples
def _(rng: SampleGenerator):
    yield Sample([9], [1, 2], dtype=dtypes.int32)


@op(
    "StatelessRandomUniformFullIntV2",
    f"shape: Tshape, {STATE} -> output: dtype",
    types={"Tshape": Preferring(INDEX)},
    attrs={"dtype": dtype(dtypes.uint64)},
    shape=_from_key_rule,
)
def StatelessRandomUniformFullIntV2(
    xp: ModuleType, shape: Array, key: Array, counter: Array, alg: Array, dtype: DType
):
    return _all_integers(from_key(key, counter, alg), shape, dtype)


StatelessRandomUniformFullIntV2.gradient(None)
StatelessRandomUniformFullIntV2.compiled(static="alg")


@StatelessRandomUniformFullIntV2.samples
def _(rng: SampleGenerator):
    yield Sample([9], _KEY, _COUNTER, 1, dtype=dtypes.int64)


@op(
    "StatelessRandomGetKeyCounter",
    "seed: Tseed -> key: uint64, counter: uint64",
    types={"Tseed": Preferring(SEED_TYPES)},
    shape=_key_rule,
)
def StatelessRandomGetKeyCounter(xp: ModuleType, seed: Array):
    g = from_seed(seed)
    return xp.array([g.key], np.uint64), xp.array([g.low, g.high], np.uint64)


StatelessRandomGetKeyCounter.gradient(None)


@StatelessRandomGetKeyCounter.samples
def _(rng: SampleGenerator):
    yield Sample([1, -2])
    yield Sample([1], raises=InvalidArgumentError)


@op("StatelessRandomGetAlg", "-> alg: int32", shape=shapes.scalar, stateful=True)
def StatelessRandomGetAlg(xp: ModuleType):
    return np.array(Algorithm.PHILOX.value, np.int32)


StatelessRandomGetAlg.gradient(None)


@op("StatelessRandomGetKeyCounterAlg", "seed: Tseed -> key: uint64, counter: uint64, alg: int32",
    types={"Tseed": Preferring(SEED_TYPES)}, shape=lambda call: [*_key_rule(call), ()])  # fmt: skip
def StatelessRandomGetKeyCounterAlg(xp: ModuleType, seed: Array):
    return (*StatelessRandomGetKeyCounter.kernel(xp, seed), np.array(Algorithm.PHILOX.value, np.int32))


StatelessRandomGetKeyCounterAlg.gradient(None)


@StatelessRandomGetKeyCounterAlg.samples
def _(rng: SampleGenerator):
    yield Sample([1, -2])
    yield Sample([1], raises=InvalidArgumentError)


def state_of(seed, alg):
    """Key, counter and algorithm number for a two-number seed."""
    alg = algorithm_id(alg)
    if alg == Algorithm.THREEFRY.value:
        raise InvalidArgumentError(None, None, f"Unsupported algorithm id: {alg}")
    return (*StatelessRandomGetKeyCounter(seed), alg)
