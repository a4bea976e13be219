"""The base of distributions: what every one answers, from the few things that each says for itself."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import numpy as np

from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape, as_shape
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape
from tapeflow.ops.array.construction import fill
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import exp, log, log1p, sqrt, square
from tapeflow.ops.math.reductions import reduce_all, reduce_prod
from tapeflow.ops.static import get_static_value

__all__ = [
    "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Distribution", "ReparameterizationType", "broadcast",
]  # fmt: skip


class ReparameterizationType:
    """Whether gradients go through samples."""

    def __init__(self, rep_type: str):
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def broadcast(*shapes: TensorShape) -> TensorShape:
    """The static shape of tensors together; unknown where one is. Raises ValueError where they do not fit."""
    if any(s.rank is None for s in shapes):
        return TensorShape(None)
    lists: list[list[Any]] = [s.as_list() for s in shapes]
    longest = max(map(len, lists), default=0)
    rows = [[1] * (longest - len(sizes)) + sizes for sizes in lists]
    out: list[int | None] = []
    for sizes in zip(*rows):
        known = {n for n in sizes if n not in (1, None)}
        if len(known) > 1:
            raise ValueError(f"Incompatible shapes for broadcasting: {' and '.join(map(str, shapes))}")
        out.append(known.pop() if known else (None if None in sizes else 1))
    return TensorShape(out)


def sizes_tensor(known: TensorShape, otherwise: Any) -> Any:
    """A shape as a tensor, of which `otherwise` is asked where it is not known."""
    if known.is_fully_defined():
        return convert_to_tensor(known.as_list(), dtypes.int32)
    return otherwise()


def checked(tensor: Any, validate_args: bool, *checks: Any) -> Any:
    """The tensor, once the checks have run, if `validate_args`."""
    if not validate_args:
        return tensor
    with control_dependencies([check() for check in checks]):
        return identity(tensor)


# The parameters that have the shape of samples.
_OF_NUMBERS = (
    "concentration", "concentration0", "concentration1", "df", "high", "loc", "logits", "low", "rate", "scale",
)  # fmt: skip

# What stands for a method that a subclass does not have: another one, and what is made of its value.
_FALLBACKS: dict[str, tuple[str, Any]] = {
    "log_prob": ("_prob", log), "prob": ("_log_prob", exp),
    "log_cdf": ("_cdf", log), "cdf": ("_log_cdf", exp),
    "log_survival_function": ("cdf", lambda p: log1p(-p)), "survival_function": ("cdf", lambda p: 1.0 - p),
    "variance": ("_stddev", square), "stddev": ("_variance", sqrt),
}  # fmt: skip


class Distribution:
    """A distribution, or a batch of them.

    Subclasses define `_sample_n` and those of `_log_prob`, `_prob`, `_cdf`, `_log_cdf`, `_survival_function`,
    `_log_survival_function`, `_entropy`, `_mean`, `_variance`, `_stddev`, `_covariance`, `_mode`, `_quantile` that they
    have; and their shapes, by `_batch_shape`, `_batch_shape_tensor`, `_event_shape` and `_event_shape_tensor`, or by
    `_parts` (tensors that batches are broadcast from) and `_event` (the static shape of an event).
    """

    _parts: tuple[Any, ...] = ()
    _event = TensorShape([])
    _default_name: str | None = None
    _sample_n: Any

    def __init__(
        self, dtype: Any, reparameterization_type: Any, validate_args: bool, allow_nan_stats: bool,
        parameters: Any = None, graph_parents: Any = None, name: str | None = None,
    ):  # fmt: skip
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._remember(parameters or {})
        self._graph_parents = list(graph_parents or ())
        for i, parent in enumerate(self._graph_parents):
            if parent is None or not is_tensor(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        base = name or self._default_name or type(self).__name__
        with contextlib.nullcontext() if base.endswith("/") else context.name_scope_v1(base) as scope:
            self._name = scope or base
        if not self._name.endswith("/"):
            self._name += "/"

    @property
    def name(self) -> str:
        """The scope of its operations."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor was given."""
        return dict(self._parameters)

    @property
    def reparameterization_type(self) -> Any:
        """Whether gradients go through samples."""
        return self._reparameterization_type

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked."""
        return self._validate_args

    @property
    def allow_nan_stats(self) -> bool:
        """Whether statistics that do not exist are NaN, rather than an error."""
        return self._allow_nan_stats

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> dict[str, Any]:
        """{parameter: its shape} for samples of that shape."""
        return cls._param_shapes(convert_to_tensor(sample_shape, dtypes.int32))

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        found = [key for key in inspect.signature(cls.__init__).parameters if key in _OF_NUMBERS]
        if not found:
            raise NotImplementedError("_param_shapes not implemented")
        return dict.fromkeys(found, sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, Any]:
        """The same, as TensorShapes."""
        known = TensorShape(sample_shape)
        if not known.is_fully_defined():
            raise ValueError("TensorShape sample_shape must be fully defined")
        return dict.fromkeys(cls.param_shapes(known.as_list()), known)

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """The same with some parameters replaced."""
        return type(self)(**{**self._parameters, **override_parameters_kwargs})

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch of distributions."""
        return as_shape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one sample of one of them."""
        return as_shape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """batch_shape as a tensor."""
        return sizes_tensor(self.batch_shape, self._batch_shape_tensor)

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Any:
        """event_shape as a tensor."""
        return sizes_tensor(self.event_shape, self._event_shape_tensor)

    def _batch_shape(self) -> Any:
        return broadcast(*[part.shape for part in self._parts])

    def _event_shape(self) -> Any:
        return self._event

    def _batch_shape_tensor(self) -> Any:
        found = shape_of(self._parts[0])
        for part in self._parts[1:]:
            found = broadcast_dynamic_shape(found, shape_of(part))
        return found

    def _event_shape_tensor(self) -> Any:
        raise NotImplementedError(f"event_shape_tensor is not implemented: {type(self).__name__}")

    def is_scalar_event(self, name: str = "is_scalar_event") -> Any:
        """Whether a sample is a scalar."""
        with self._named(name):
            return convert_to_tensor(self._is_scalar_helper(self.event_shape, self.event_shape_tensor))

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Any:
        """Whether there is one distribution only."""
        with self._named(name):
            return convert_to_tensor(self._is_scalar_helper(self.batch_shape, self.batch_shape_tensor))

    def _is_scalar_helper(self, static_shape: TensorShape, dynamic_shape_fn: Any) -> Any:
        if static_shape.rank is not None:
            return static_shape.rank == 0
        shape = dynamic_shape_fn()
        if shape.shape.is_fully_defined():
            return shape.shape.as_list() == [0]
        return shape_of(shape)[0] < 1

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample") -> Any:
        """Samples [sample_shape, batch_shape, event_shape]."""
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(self, sample_shape: Any, seed: Any, name: str, **conditions: Any) -> Any:
        with self._named(name):
            sizes = reshape(convert_to_tensor(sample_shape, dtypes.int32), [-1])
            return self._set_sample_static_shape(self._drawn(sizes, seed, **conditions), sizes)

    def _drawn(self, sizes: Any, seed: Any, **conditions: Any) -> Any:
        """Samples of `_sample_n` in the shape [sizes, batch_shape, event_shape]."""
        drawn = self._sample_n(reduce_prod(sizes), seed, **conditions)
        return reshape(drawn, concat([sizes, shape_of(drawn)[1:]], 0))

    def _set_sample_static_shape(self, x: Any, sample_shape: Any) -> Any:
        """Samples, with what is known of the shape [sample_shape, batch_shape, event_shape]."""
        known = get_static_value(sample_shape)
        parts = [as_shape(None if known is None else known.tolist()), self.batch_shape, self.event_shape]
        unknown = [i for i, part in enumerate(parts) if part.rank is None]
        if unknown and x.shape.rank is not None:
            # What is between two unknown parts may begin anywhere.
            kept = [part.rank is not None and not unknown[0] < i < unknown[-1] for i, part in enumerate(parts)]
            rest = x.shape.rank - sum(len(part) for part, keep in zip(parts, kept) if keep)
            fill = TensorShape([None] * rest)
            parts = [part if keep else fill if i == unknown[0] else TensorShape([])
                     for i, (part, keep) in enumerate(zip(parts, kept))]  # fmt: skip
        x.set_shape(parts[0].concatenate(parts[1]).concatenate(parts[2]))
        return x

    @contextlib.contextmanager
    def _named(self, name: str) -> Any:
        with context.name_scope_v1(self._name), context.name_scope_v1(name):
            yield

    def _given(self, value: Any) -> Any:
        """The value as a tensor; numbers get the dtype of samples, unless that is of whole numbers."""
        hint = self._dtype if self._dtype is not None and self._dtype.is_floating else None
        return convert_to_tensor(value, dtype_hint=hint)

    def _call(self, method: str, name: str, *values: Any, **conditions: Any) -> Any:
        """What `_method` of a subclass gives, or what stands for it where that is not implemented."""
        with self._named(name):
            values = tuple(self._given(value) for value in values)
            own = getattr(self, f"_{method}", None)
            refused: Exception = NotImplementedError(f"{method} is not implemented: {type(self).__name__}")
            if own is not None:
                try:
                    return own(*values, **conditions)
                except NotImplementedError as error:
                    refused = error
            other, change = _FALLBACKS.get(method, ("", None))
            function = getattr(self, other, None)
            if change is None or function is None:
                raise refused
            try:
                return change(function(*values, **conditions))
            except NotImplementedError:
                raise refused from None

    def log_prob(self, value: Any, name: str = "log_prob") -> Any:
        """The logarithm of the density (or of the probability)."""
        return self._call("log_prob", name, value)

    def prob(self, value: Any, name: str = "prob") -> Any:
        """The density (or the probability)."""
        return self._call("prob", name, value)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Any:
        """The logarithm of `cdf`."""
        return self._call("log_cdf", name, value)

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """The probability of at most `value`."""
        return self._call("cdf", name, value)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Any:
        """The logarithm of `survival_function`."""
        return self._call("log_survival_function", name, value)

    def survival_function(self, value: Any, name: str = "survival_function") -> Any:
        """The probability of more than `value`."""
        return self._call("survival_function", name, value)

    def quantile(self, value: Any, name: str = "quantile") -> Any:
        """The value whose `cdf` is `value`."""
        return self._call("quantile", name, value)

    def entropy(self, name: str = "entropy") -> Any:
        """Shannon's entropy, in nats."""
        return self._call("entropy", name)

    def mean(self, name: str = "mean") -> Any:
        """The mean."""
        return self._call("mean", name)

    def variance(self, name: str = "variance") -> Any:
        """The variance."""
        return self._call("variance", name)

    def stddev(self, name: str = "stddev") -> Any:
        """The standard deviation."""
        return self._call("stddev", name)

    def covariance(self, name: str = "covariance") -> Any:
        """The covariance of the parts of a sample."""
        return self._call("covariance", name)

    def mode(self, name: str = "mode") -> Any:
        """The most probable value."""
        return self._call("mode", name)

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Any:
        """The entropy of this plus the divergence from another."""
        with self._named(name):
            return self.entropy() + self.kl_divergence(other)

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Any:
        """The divergence of Kullback and Leibler from another."""
        from tapeflow.v1.distributions.divergence import kl_divergence

        with self._named(name):
            return kl_divergence(self, other, self._allow_nan_stats)

    # For subclasses

    def _remember(self, given: dict[str, Any]) -> None:
        """Keeps the arguments of the constructor, for `parameters` and `copy`."""
        self._parameters = {key: value for key, value in given.items() if key not in ("self", "__class__")}

    def _filled(self, value: Any) -> Any:
        """A number in the shape of the batch."""
        return fill(self.batch_shape_tensor(), convert_to_tensor(value, self._dtype))

    def _wide(self, count: Any) -> Any:
        """[count, batch_shape]."""
        return concat([[count], self.batch_shape_tensor()], 0)

    def _checked(self, tensor: Any, *checks: Any) -> Any:
        """The tensor, once the checks have run, where arguments are validated."""
        return checked(tensor, self._validate_args, *checks)

    def _or_nan(self, exists: Any, value: Any, statistic: str) -> Any:
        """A statistic, or NaN where it does not exist (an error where that is not allowed)."""
        if self._allow_nan_stats:
            return where(exists, value, convert_to_tensor(np.nan, value.dtype))

        message = f"{statistic} is undefined. Condition x < y did not hold."
        with control_dependencies([Assert(reduce_all(exists), [message])]):
            return identity(value)

    def __str__(self) -> str:
        shapes = {"batch_shape": self.batch_shape, "event_shape": self.event_shape}
        known = "".join(f", {name}={shape}" for name, shape in shapes.items() if shape.rank is not None)
        return f'tfp.distributions.{type(self).__name__}("{self.name}"{known}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={self.dtype.name}>"
        )


boundaries(globals())
