"""`tf.contrib.distributions.bijectors`: invertible functions with the logarithms of their Jacobian determinants."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import range as range_
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.diagonal import diag_part, set_diag
from tapeflow.ops.array.gather import gather
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import invert_permutation
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.rows import shape as shape_of
from tapeflow.ops.control.assertions import (
    assert_equal,
    assert_non_negative,
    assert_none_equal,
    assert_positive,
)
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import triangular_solve
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import exp, expm1, log, log1p
from tapeflow.ops.math.reduction import reduce_sum
from tapeflow.ops.math.sorting import sort
from tapeflow.ops.math.trigonometric import sigmoid
from tapeflow.ops.nn.activation import softplus
from tapeflow.ops.nn.softmax import softmax
from tapeflow.ops.static import get_static_value
from tapeflow.v1.distributions.base import checked

__all__ = [
    "Affine", "AffineScalar", "Bijector", "Chain", "Exp", "Identity", "Inline", "Invert", "Permute",
    "PowerTransform", "Sigmoid", "SoftmaxCentered", "Softplus",
]  # fmt: skip


class Bijector:
    """A function with an inverse.

    Subclasses define `_forward`, `_inverse` and one of `_forward_log_det_jacobian` and `_inverse_log_det_jacobian`,
    whose values belong to events of `forward_min_event_ndims` axes.
    """

    def __init__(
        self, graph_parents: Any = None, is_constant_jacobian: bool = False, validate_args: bool = False,
        dtype: Any = None, forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None, name: str | None = None,
    ):  # fmt: skip
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError(
                "Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`."
            )
        one, other = forward_min_event_ndims, inverse_min_event_ndims
        self.forward_min_event_ndims: int = other if one is None else one  # type: ignore[assignment]
        self.inverse_min_event_ndims: int = one if other is None else other  # type: ignore[assignment]
        self.graph_parents = list(graph_parents or ())
        self.is_constant_jacobian, self.validate_args = is_constant_jacobian, validate_args
        self.dtype = dtype
        self.name = name or type(self).__name__.lower()

    # What subclasses define.
    _forward: Any
    _inverse: Any
    _forward_log_det_jacobian: Any = None
    _inverse_log_det_jacobian: Any = None

    @contextlib.contextmanager
    def _named(self, name: str) -> Iterator[None]:
        with context.name_scope_v1(self.name), context.name_scope_v1(name):
            yield

    def _converted(self, x: Any) -> Any:
        return convert_to_tensor(x, self.dtype) if self.dtype is not None else convert_to_tensor(x)

    def _checked(self, tensor: Any, *checks: Callable[[], Any]) -> Any:
        """The tensor, once the checks have run, where arguments are validated."""
        return checked(tensor, self.validate_args, *checks)

    def forward(self, x: Any, name: str = "forward") -> Any:
        """The function's value."""
        with self._named(name):
            return self._forward(self._converted(x))

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """The `x` whose value is `y`."""
        with self._named(name):
            return self._inverse(self._converted(y))

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: int | None = None, name: str = "forward_log_det_jacobian"
    ) -> Any:
        """log |det dy/dx|, for events of `event_ndims` axes of `x`."""
        with self._named(name):
            x = self._converted(x)
            if self._forward_log_det_jacobian is not None:
                volume = self._forward_log_det_jacobian(x)
            else:
                volume = -self._inverse_log_det_jacobian(self._forward(x))
            return _summed(volume, x, event_ndims, self.forward_min_event_ndims)

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: int | None = None, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """log |det dx/dy|, for events of `event_ndims` axes of `y`."""
        with self._named(name):
            y = self._converted(y)
            if self._inverse_log_det_jacobian is not None:
                volume = self._inverse_log_det_jacobian(y)
            else:
                volume = -self._forward_log_det_jacobian(self._inverse(y))
            return _summed(volume, y, event_ndims, self.inverse_min_event_ndims)

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the value of an event."""
        return TensorShape(input_shape)

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """The shape of an event of that value."""
        return TensorShape(output_shape)

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "forward_event_shape_tensor") -> Any:
        """The shape of the value of an event of a shape that is an int32 tensor."""
        with self._named(name):
            return self._forward_event_shape_tensor(convert_to_tensor(input_shape, dtypes.int32))

    def inverse_event_shape_tensor(self, output_shape: Any, name: str = "inverse_event_shape_tensor") -> Any:
        """The shape of an event whose value has a shape that is an int32 tensor."""
        with self._named(name):
            return self._inverse_event_shape_tensor(convert_to_tensor(output_shape, dtypes.int32))

    def _forward_event_shape_tensor(self, shape: Any) -> Any:
        return shape

    def _inverse_event_shape_tensor(self, shape: Any) -> Any:
        return shape

    def __call__(self, value: Any, name: str | None = None) -> Any:
        return self.forward(value, name or "forward")


def _assert_nonzero(x: Any, message: str) -> Any:
    return assert_none_equal(x, zeros_like(x), message=message)


def _summed(found: Any, x: Any, event_ndims: int | None, least: int) -> Any:
    """A logarithm of volumes, which may be less than [batch, rest of the event], summed over the rest of the event."""
    more = 0 if event_ndims is None else int(event_ndims) - least
    if more < 0:
        raise ValueError(f"event_ndims ({event_ndims}) must be at least {least}")
    if not more:
        return found
    wide = found + zeros_like(reduce_sum(x, list(range(-least, 0))) if least else x)
    return reduce_sum(wide, list(range(-more, 0)))


class Identity(Bijector):
    """y = x."""

    def __init__(self, validate_args: bool = False, name: str = "identity"):
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=0, name=name
        )

    def _forward(self, x: Any) -> Any:
        return x

    _inverse = _forward

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros_like(x)


class PowerTransform(Bijector):
    """y = (1 + p x) ** (1 / p); e ** x for a power of 0."""

    def __init__(self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform"):
        if power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self.power = power
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _positive(self, y: Any) -> Any:
        message = "Inverse transformation input must be greater than 0."
        return self._checked(y, lambda: assert_positive(y, message=message))

    def _forward(self, x: Any) -> Any:
        if self.power == 0:
            return exp(x)
        message = "Forward transformation input must be at least {}."
        x = self._checked(
            x, lambda: assert_non_negative(1.0 + self.power * x, message=message.format(-1.0 / self.power))
        )
        return exp(log1p(x * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        y = self._positive(y)
        return log(y) if self.power == 0 else expm1(log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self.power - 1.0) * log(self._positive(y))


class Exp(PowerTransform):
    """y = e ** x."""

    def __init__(self, validate_args: bool = False, name: str = "exp"):
        super().__init__(validate_args=validate_args, name=name)


class Sigmoid(Bijector):
    """y = 1 / (1 + e ** -x)."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid"):
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)


class Softplus(Bijector):
    """y = c log(1 + e ** (x / c)); `hinge_softness`: c, 1 unless given."""

    def __init__(
        self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"
    ):
        self.hinge_softness = hinge_softness
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _soft(self, x: Any) -> Any:
        if self.hinge_softness is None:
            return 1.0
        c = convert_to_tensor(self.hinge_softness, x.dtype)
        return self._checked(c, lambda: _assert_nonzero(c, "Argument `hinge_softness` must be non-zero"))

    def _forward(self, x: Any) -> Any:
        c = self._soft(x)
        return c * softplus(x / c)

    def _inverse(self, y: Any) -> Any:
        c = self._soft(y)
        return y + c * log(-expm1(-y / c))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x / self._soft(x))


class AffineScalar(Bijector):
    """y = scale x + shift, element by element."""

    def __init__(
        self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_scalar"
    ):
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=0, name=name
        )
        self.shift = None if shift is None else convert_to_tensor(shift)
        self.scale = None
        if scale is not None:
            given = convert_to_tensor(scale)
            self.scale = self._checked(given, lambda: _assert_nonzero(given, "Argument `scale` must be non-zero"))

    def _forward(self, x: Any) -> Any:
        x = x if self.scale is None else x * self.scale
        return x if self.shift is None else x + self.shift

    def _inverse(self, y: Any) -> Any:
        y = y if self.shift is None else y - self.shift
        return y if self.scale is None else y / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros_like(x) if self.scale is None else log(abs_(self.scale)) + zeros_like(x)


class Affine(Bijector):
    """y = A x + shift, of vectors; A is the sum of what is given of the multiplier, the diagonal and the matrix.

    Args:
      shift: [..., n]; None: zeros.
      scale_identity_multiplier: [...], a multiple of the identity.
      scale_diag: [..., n], a diagonal.
      scale_tril: [..., n, n], a lower triangular matrix.
    """

    def __init__(
        self, shift: Any = None, scale_identity_multiplier: Any = None, scale_diag: Any = None,
        scale_tril: Any = None, validate_args: bool = False, name: str = "affine",
    ):  # fmt: skip
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=1, name=name
        )
        self.shift = None if shift is None else convert_to_tensor(shift)
        self._tril, self._diagonal = None, None
        if scale_identity_multiplier is not None:
            self._diagonal = convert_to_tensor(scale_identity_multiplier)[..., None]
        if scale_diag is not None:
            given = convert_to_tensor(scale_diag)
            self._diagonal = given if self._diagonal is None else given + self._diagonal
        if scale_tril is not None:
            self._tril = convert_to_tensor(scale_tril)
            if self._diagonal is not None:
                whole = diag_part(self._tril) + self._diagonal
                self._tril = set_diag(self._tril + zeros_like(whole)[..., None], whole)
        message = "The diagonal of the scale must be non-zero"
        if self._tril is not None:
            tril = self._tril
            self._tril = self._checked(tril, lambda: _assert_nonzero(diag_part(tril), message))
        elif self._diagonal is not None:
            diagonal = self._diagonal
            self._diagonal = self._checked(diagonal, lambda: _assert_nonzero(diagonal, message))

    def _forward(self, x: Any) -> Any:
        if self._tril is not None:
            x = matmul(self._tril, x[..., None])[..., 0]
        elif self._diagonal is not None:
            x = x * self._diagonal
        return x if self.shift is None else x + self.shift

    def _inverse(self, y: Any) -> Any:
        y = y if self.shift is None else y - self.shift
        if self._tril is not None:
            tril = self._tril + zeros_like(y)[..., None]
            return triangular_solve(tril, (y + zeros_like(tril[..., 0]))[..., None])[..., 0]
        return y if self._diagonal is None else y / self._diagonal

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._tril is not None:
            logs = log(abs_(diag_part(self._tril)))
        elif self._diagonal is not None:
            logs = log(abs_(self._diagonal))
        else:
            logs = zeros_like(x)
        return reduce_sum(logs + zeros_like(x), -1)


class Permute(Bijector):
    """The elements of a vector in another order."""

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None):
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=1,
            name=name or "permute",
        )  # fmt: skip
        order = convert_to_tensor(permutation)
        if not order.dtype.is_integer:
            raise TypeError(f"permutation.dtype ({order.dtype.name}) should be `int`-like.")
        message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
        known = get_static_value(order)
        if known is None:
            all_of_them = range_(shape_of(order)[-1], dtype=order.dtype)
            self.permutation = self._checked(order, lambda: assert_equal(sort(order), all_of_them, message=message))
        elif sorted(known) != list(range(len(known))):
            raise ValueError(message)
        else:
            self.permutation = order

    def _forward(self, x: Any) -> Any:
        return gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return gather(y, invert_permutation(self.permutation), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros_like(x[..., 0])


class SoftmaxCentered(Bijector):
    """The softmax of a vector with a zero behind it: from n numbers to a point of the simplex of n + 1."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered"):
        super().__init__(validate_args=validate_args, forward_min_event_ndims=1, name=name)

    def _forward(self, x: Any) -> Any:
        rank = x.shape.rank
        return softmax(pad(x, [[0, 0]] * (rank - 1) + [[0, 1]]))

    def _inverse(self, y: Any) -> Any:
        return log(y[..., :-1]) - log(y[..., -1:])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        # The Jacobian of the first n coordinates of the simplex.
        return -reduce_sum(log(y), -1)

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape)
        return shape[:-1].concatenate([None if shape[-1] is None else shape[-1] + 1])

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        shape = TensorShape(output_shape)
        return shape[:-1].concatenate([None if shape[-1] is None else shape[-1] - 1])

    def _forward_event_shape_tensor(self, shape: Any) -> Any:
        return concat([shape[:-1], shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, shape: Any) -> Any:
        return concat([shape[:-1], shape[-1:] - 1], 0)


class Inline(Bijector):
    """A bijector of functions that are given."""

    def __init__(
        self, forward_fn: Callable[..., Any] | None = None, inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[..., Any] | None = None,
        forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
        inverse_event_shape_fn: Callable[..., Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[..., Any] | None = None,
        is_constant_jacobian: bool = False, validate_args: bool = False,
        forward_min_event_ndims: int | None = None, inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ):  # fmt: skip
        super().__init__(
            is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims, name=name,
        )  # fmt: skip
        given = {
            "_forward": forward_fn, "_inverse": inverse_fn,
            "_inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "_forward_log_det_jacobian": forward_log_det_jacobian_fn,
            "_forward_event_shape_tensor": forward_event_shape_tensor_fn,
            "_inverse_event_shape_tensor": inverse_event_shape_tensor_fn,
        }  # fmt: skip
        for key, function in given.items():
            if function is not None:
                setattr(self, key, function)
        self._shapes = forward_event_shape_fn, inverse_event_shape_fn

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        function = self._shapes[0]
        return TensorShape(input_shape if function is None else function(input_shape))

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        function = self._shapes[1]
        return TensorShape(output_shape if function is None else function(output_shape))


class Invert(Bijector):
    """The inverse of a bijector."""

    def __init__(self, bijector: Any, validate_args: bool = False, name: str | None = None):
        self.bijector = bijector
        super().__init__(
            is_constant_jacobian=bijector.is_constant_jacobian, validate_args=validate_args,
            dtype=bijector.dtype, forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            name=name or f"invert_{bijector.name}",
        )  # fmt: skip

    def _forward(self, x: Any) -> Any:
        return self.bijector.inverse(x)

    def _inverse(self, y: Any) -> Any:
        return self.bijector.forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self.bijector.inverse_log_det_jacobian(x, self.forward_min_event_ndims)

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        return self.bijector.inverse_event_shape(input_shape)

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        return self.bijector.forward_event_shape(output_shape)

    def _forward_event_shape_tensor(self, shape: Any) -> Any:
        return self.bijector.inverse_event_shape_tensor(shape)

    def _inverse_event_shape_tensor(self, shape: Any) -> Any:
        return self.bijector.forward_event_shape_tensor(shape)


class Chain(Bijector):
    """Bijectors one after the other: the last one first."""

    def __init__(
        self, bijectors: Sequence[Any] | None = None, validate_args: bool = False, name: str | None = None
    ):
        self.bijectors = list(bijectors or ())
        least = max((b.forward_min_event_ndims for b in self.bijectors), default=0)
        super().__init__(
            is_constant_jacobian=all(b.is_constant_jacobian for b in self.bijectors),
            validate_args=validate_args, forward_min_event_ndims=least,
            name=name or ("_of_".join(["chain", *(b.name for b in self.bijectors)]) if bijectors else "identity"),
        )  # fmt: skip

    def _forward(self, x: Any) -> Any:
        for each in reversed(self.bijectors):
            x = each.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for each in self.bijectors:
            y = each.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        total = 0.0
        for each in reversed(self.bijectors):
            total = total + each.forward_log_det_jacobian(x, self.forward_min_event_ndims)
            x = each.forward(x)
        return total if self.bijectors else zeros_like(x)

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        for each in reversed(self.bijectors):
            input_shape = each.forward_event_shape(input_shape)
        return TensorShape(input_shape)

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        for each in self.bijectors:
            output_shape = each.inverse_event_shape(output_shape)
        return TensorShape(output_shape)

    def _forward_event_shape_tensor(self, shape: Any) -> Any:
        for each in reversed(self.bijectors):
            shape = each.forward_event_shape_tensor(shape)
        return shape

    def _inverse_event_shape_tensor(self, shape: Any) -> Any:
        for each in self.bijectors:
            shape = each.inverse_event_shape_tensor(shape)
        return shape


boundaries(globals())
