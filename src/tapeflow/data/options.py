"""`tf.data.Options` and what it is made of: attributes that know their types and whether they were set."""

from __future__ import annotations

import enum
from typing import Any

from tapeflow.core.public import boundaries


class _Attribute:
    """One option: its type (a class, or a tuple of them), and its value until it is set."""

    def __init__(self, kind: type, text: str, default=None):
        self._kinds = kind if isinstance(kind, tuple) else (kind,)
        self.__doc__ = text
        self._default = default

    def __set_name__(self, owner: type, name: str):
        self._name = name

    def __get__(self, options: Any, owner: type | None = None):
        if options is None:
            return self
        return _given(options).value_of(self._name, self._default)

    def __set__(self, options: Any, value: int):
        given = _given(options)
        given.require_mutable()
        self._check(value)
        given.values[self._name] = value

    def _check(self, value: int):
        if value is not None and not self._fits(value):
            raise TypeError(
                f'Property "{self._name}" must be of type {self._kinds[0]}, got: {value!r} (type: {type(value)})'
            )

    def _fits(self, value: int):
        if isinstance(value, bool) and bool not in self._kinds:
            return False
        return isinstance(value, self._kinds)


class _Given:
    """What was set of options, and whether they may be changed.

    Attributes:
      values: the values that were given, by the names of their attributes.
      frozen: whether a change raises.
    """

    def __init__(self):
        self.values: dict[str, Any] = {}
        self.frozen = False

    def value_of(self, name: str, default: Any):
        """The value of an attribute; options in options are made when they are first asked for."""
        found = self.values.get(name)
        if found is not None or not callable(default):
            return default if found is None else found
        found = self.values[name] = default()
        _given(found).frozen = self.frozen
        return found

    def merge(self, other: _Given):
        """Take what other options set."""
        for name, value in other.present().items():
            known = self.values.get(name)
            both = isinstance(value, _OptionsBase) and known is not None
            self.values[name] = merged(known, value) if both else value

    def freeze(self):
        """Raise from now on where these options, or those in them, are changed."""
        self.frozen = True
        for name, value in self.values.items():
            if isinstance(value, _OptionsBase):
                self.values[name] = frozen(value)

    def require_mutable(self):
        """Raise ValueError for options that may not be changed."""
        if self.frozen:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no effect. Use "
                "`tf.data.Dataset.with_options(options)` to set or update dataset options."
            )

    def present(self):
        """The values that are not None."""
        return {name: value for name, value in self.values.items() if value is not None}

    def told(self):
        """What was set, without groups of options in which nothing was."""
        found = {name: _given(v).told() if isinstance(v, _OptionsBase) else v for name, v in self.present().items()}
        return {name: v for name, v in found.items() if v or not isinstance(self.values[name], _OptionsBase)}


def _given(options: Any) -> _Given:
    return options._given


class _OptionsBase:
    _given: _Given

    def __init__(self):
        object.__setattr__(self, "_given", _Given())

    def __setattr__(self, name: str, value: int):
        if not hasattr(type(self), name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(other) is type(self) and self._given.told() == _given(other).told()

    def __ne__(self, other):
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        inner = ", ".join(f"{name}={value!r}" for name, value in sorted(self._given.present().items()))
        return f"{type(self).__name__}({inner})"


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is parted among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What saving an iterator does about state outside of it."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """How the degree of parallelism is found."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutotuneOptions(_OptionsBase):
    """What autotuning may use."""

    enabled = _Attribute(bool, "Whether parallelism is found automatically.")
    cpu_budget = _Attribute(int, "The number of cores that it may assume.")
    ram_budget = _Attribute(int, "The bytes of memory that it may assume.")
    autotune_algorithm = _Attribute(AutotuneAlgorithm, "How it looks for the best.")
    initial_parallelism = _Attribute(int, "Where it begins.")
    min_parallelism = _Attribute(int, "What it never goes below.")


class DistributeOptions(_OptionsBase):
    """How a dataset is parted among devices and workers."""

    auto_shard_policy = _Attribute(AutoShardPolicy, "How it is parted.", AutoShardPolicy.AUTO)
    num_devices = _Attribute(int, "The number of devices that take part of each batch.")


class OptimizationOptions(_OptionsBase):
    """Which rewritings of a pipeline are wanted. Results never depend on them."""

    apply_default_optimizations = _Attribute(bool, "Whether the default ones are.")
    filter_fusion = _Attribute(bool, "Whether filters are joined.")
    filter_parallelization = _Attribute(bool, "Whether filters run in threads.")
    inject_prefetch = _Attribute(bool, "Whether a prefetch is added at the end.")
    map_and_batch_fusion = _Attribute(bool, "Whether a map is joined with a batch.")
    map_and_filter_fusion = _Attribute(bool, "Whether a map is joined with a filter.")
    map_fusion = _Attribute(bool, "Whether maps are joined.")
    map_parallelization = _Attribute(bool, "Whether maps run in threads.")
    map_vectorization = _Attribute(object, "Whether a map goes after a batch (1.x).")
    noop_elimination = _Attribute(bool, "Whether what does nothing is left out.")
    parallel_batch = _Attribute(bool, "Whether batches are copied in threads.")
    seq_interleave_prefetch = _Attribute(bool, "Whether an interleave reads ahead.")
    shuffle_and_repeat_fusion = _Attribute(bool, "Whether a shuffle is joined with a repeat.")
    hoist_random_uniform = _Attribute(bool, "Whether random numbers are drawn before a map (1.x).")
    autotune = _Attribute(bool, "Whether parallelism is found automatically (1.x).")
    autotune_buffers = _Attribute(bool, "Whether the sizes of buffers are (1.x).")
    autotune_cpu_budget = _Attribute(int, "The number of cores that may be assumed (1.x).")
    filter_with_random_uniform_fusion = _Attribute(bool, "Whether random filters are joined (1.x).")


class ServiceOptions(_OptionsBase):
    """How a dataset is served to others."""

    pinned = _Attribute(bool, "Whether batches stay in pinned memory.")


class ThreadingOptions(_OptionsBase):
    """How many threads a dataset may use."""

    max_intra_op_parallelism = _Attribute(int, "The most threads that one operation may use.")
    private_threadpool_size = _Attribute(int, "The size of the dataset's own pool of threads.")


class Options(_OptionsBase):
    """What `Dataset.with_options` takes: how elements are made, never which, except for their order."""

    autotune = _Attribute(AutotuneOptions, "What autotuning may use.", AutotuneOptions)
    dataset_name = _Attribute(str, "A name for the dataset.")
    deterministic = _Attribute(bool, "Whether elements made in threads keep their order; None: they do.")
    experimental_deterministic = _Attribute(bool, "The old name of `deterministic`.")
    experimental_distribute = _Attribute(DistributeOptions, "How it is parted.", DistributeOptions)
    experimental_external_state_policy = _Attribute(
        ExternalStatePolicy, "What saving an iterator does about state outside of it."
    )
    experimental_optimization = _Attribute(
        OptimizationOptions, "Which rewritings are wanted.", OptimizationOptions
    )
    experimental_service = _Attribute(ServiceOptions, "How it is served to others.", ServiceOptions)
    experimental_slack = _Attribute(bool, "Whether reading ahead leaves the consumer some time.")
    experimental_symbolic_checkpoint = _Attribute(
        bool, "Whether checkpoints keep where each input is, instead of elements that wait."
    )
    experimental_threading = _Attribute(ThreadingOptions, "The old name of `threading`.", ThreadingOptions)
    experimental_stats = _Attribute(object, "Kept for old programs, without effect.")
    experimental_warm_start = _Attribute(bool, "Whether threads start with the pass.")
    framework_type = _Attribute(list, "Names of what uses the dataset.")
    threading = _Attribute(ThreadingOptions, "How many threads it may use.", ThreadingOptions)

    def __setattr__(self, name: str, value: Any):
        if not hasattr(type(self), name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        pair = _ALIASES.get(name)
        super().__setattr__(name, value)
        if pair is not None:
            super().__setattr__(pair, value)

    def __getattribute__(self, name: str):
        return super().__getattribute__("threading" if name == "experimental_threading" else name)

    def merge(self, options: Options):
        """These options, with those that `options` sets in their place."""
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be a `tf.data.Options`. Got {type(options)}.")
        return merged(self, options)


_ALIASES = {
    "deterministic": "experimental_deterministic",
    "experimental_deterministic": "deterministic",
    "experimental_threading": "threading",
}


def merged(*all_options):
    """Options of which later ones win where they set something. Raises TypeError for differing kinds."""
    result = type(all_options[0])()
    for options in all_options:
        if type(options) is not type(result):
            raise TypeError(
                f"Could not merge options of different types: {type(result)} and {type(options)}."
            )
        _given(result).merge(_given(options))
    return result


def frozen(options):
    """A copy that raises where it is changed."""
    copy = merged(options)
    _given(copy).freeze()
    return copy


boundaries(globals())
