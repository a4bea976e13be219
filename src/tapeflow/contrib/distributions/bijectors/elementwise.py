"""Bijectors of each element by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.contrib.distributions.bijectors.base import Bijector
from tapeflow.contrib.distributions.numerics import softplus_inverse
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.control.assertions import assert_greater_v1 as assert_greater
from tapeflow.ops.control.assertions import assert_less_v1 as assert_less
from tapeflow.ops.control.assertions import assert_non_negative_v1 as assert_non_negative
from tapeflow.ops.control.assertions import assert_none_equal_v1 as assert_none_equal
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.control.type_assertions import assert_same_float_dtype
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import exp, expm1, log, log1p, sqrt, square
from tapeflow.ops.math.trigonometric import asinh, cosh, sigmoid, sinh
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.static import get_static_value
from tapeflow.v1.distributions.base import checked

__all__ = [
    "AbsoluteValue", "Exp", "Identity", "PowerTransform", "Sigmoid", "SinhArcsinh", "Softplus", "Softsign", "Square",
]  # fmt: skip


class Elementwise(Bijector):
    """A bijector of scalars."""

    def __init__(
        self, validate_args: bool = False, name: str | None = None, is_constant_jacobian: bool = False,
        graph_parents: Any = None,
    ):  # fmt: skip
        super().__init__(
            graph_parents=graph_parents, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
            forward_min_event_ndims=0, name=name,
        )  # fmt: skip


class Identity(Elementwise):
    """y = x."""

    def __init__(self, validate_args: bool = False, name: str = "identity"):
        super().__init__(validate_args, name, is_constant_jacobian=True)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, x.dtype)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._forward_log_det_jacobian(y)


class AbsoluteValue(Elementwise):
    """y = |x|, which has two inverses: `inverse` returns (-y, y)."""

    def __init__(self, validate_args: bool = False, name: str = "absolute_value"):
        super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def _is_injective(self) -> bool:
        return False

    def _valid(self, y: TensorLike, result: Any) -> Any:
        return self._checked(result, lambda: assert_non_negative(y, message="Argument y was negative"))

    def _forward(self, x: Any) -> Any:
        return abs_(x)

    def _inverse(self, y: Any) -> Any:
        y = self._valid(y, y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = self._valid(y, convert_to_tensor(0.0, y.dtype))
        return zero, zero


class PowerTransform(Elementwise):
    """y = (1 + p x) ** (1 / p); e ** x for a power of 0."""

    def __init__(self, power: Any = 0.0, validate_args: bool = False, name: str = "power_transform"):
        known = get_static_value(convert_to_tensor(power))
        if known is None or known < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = known
        super().__init__(validate_args, name)

    power = property(lambda self: self._power)

    def _valid_x(self, x: TensorLike) -> Any:
        if self.power == 0:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self.power}."
        return self._checked(x, lambda: assert_non_negative(1.0 + self.power * x, message=message))

    def _valid_y(self, y: TensorLike) -> Any:
        message = "Inverse transformation input must be greater than 0."
        return self._checked(y, lambda: assert_positive(y, message=message))

    def _forward(self, x: Any) -> Any:
        x = self._valid_x(x)
        return exp(x) if self.power == 0 else exp(log1p(x * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        y = self._valid_y(y)
        return log(y) if self.power == 0 else expm1(log(y) * self.power) / self.power

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._valid_x(x)
        return x if self.power == 0 else (1.0 / self.power - 1.0) * log1p(x * self.power)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self.power - 1.0) * log(self._valid_y(y))


class Exp(PowerTransform):
    """y = e ** x."""

    def __init__(self, validate_args: bool = False, name: str = "exp"):
        super().__init__(validate_args=validate_args, name=name)


class Sigmoid(Elementwise):
    """y = 1 / (1 + e ** -x)."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid"):
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -log(y) - log1p(-y)


class Softplus(Elementwise):
    """y = c log(1 + e ** (x / c)); `hinge_softness`: c, not 0, 1 unless given."""

    def __init__(self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"):
        self._hinge_softness = None
        if hinge_softness is not None:
            c = convert_to_tensor(hinge_softness)
            self._hinge_softness = checked(
                c, validate_args,
                lambda: assert_none_equal(zeros_like(c), c, message="hinge_softness must be non-zero"),
            )  # fmt: skip
        super().__init__(validate_args, name)

    hinge_softness = property(lambda self: self._hinge_softness)

    def _scaled(self, function: Any, x: Any) -> Any:
        if self.hinge_softness is None:
            return function(x)
        c = cast(self.hinge_softness, x.dtype)
        return c * function(x / c)

    def _unscaled(self, x: Any) -> Any:
        return x if self.hinge_softness is None else x / cast(self.hinge_softness, x.dtype)

    def _forward(self, x: Any) -> Any:
        return self._scaled(softplus, x)

    def _inverse(self, y: Any) -> Any:
        return self._scaled(softplus_inverse, y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-self._unscaled(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -log(-expm1(-self._unscaled(y)))


class Softsign(Elementwise):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args: bool = False, name: str = "softsign"):
        super().__init__(validate_args, name)

    def _valid(self, y: Any) -> Any:
        one = convert_to_tensor(1.0, y.dtype)
        message = "Inverse transformation input must be {}."
        return self._checked(
            y,
            lambda: assert_greater(y, -one, message=message.format("greater than -1")),
            lambda: assert_less(y, one, message=message.format("less than 1")),
        )

    def _forward(self, x: Any) -> Any:
        return x / (1.0 + abs_(x))

    def _inverse(self, y: Any) -> Any:
        y = self._valid(y)
        return y / (1.0 - abs_(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2.0 * log1p(abs_(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2.0 * log1p(-abs_(self._valid(y)))


class Square(Elementwise):
    """y = x ** 2 of numbers that are not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square"):
        super().__init__(validate_args, name)

    def _valid(self, x: TensorLike) -> Any:
        return self._checked(x, lambda: assert_non_negative(x, message="All elements must be non-negative."))

    def _forward(self, x: Any) -> Any:
        return square(self._valid(x))

    def _inverse(self, y: Any) -> Any:
        return sqrt(self._valid(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return np.log(2.0) + log(self._valid(x))


class SinhArcsinh(Elementwise):
    """y = sinh((asinh(x) + skewness) tailweight).

    Args:
      skewness: 0 unless given; positive numbers skew to the right.
      tailweight: positive, 1 unless given; larger than 1 makes the tails heavier.
    """

    def __init__(
        self, skewness: Any = None, tailweight: Any = None, validate_args: bool = False, name: str = "SinhArcsinh"
    ):
        self._skewness = convert_to_tensor(0.0 if skewness is None else skewness)
        weight = convert_to_tensor(1.0 if tailweight is None else tailweight, self._skewness.dtype)
        assert_same_float_dtype([self._skewness, weight])
        self._tailweight = checked(
            weight, validate_args, lambda: assert_positive(weight, message="Argument tailweight was not positive")
        )
        super().__init__(validate_args, name)

    skewness = property(lambda self: self._skewness)
    tailweight = property(lambda self: self._tailweight)

    def _forward(self, x: Any) -> Any:
        return sinh((asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Any:
        return sinh(asinh(y) / self.tailweight - self.skewness)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        slope = cosh((asinh(x) + self.skewness) * self.tailweight) / _hypotenuse(x)
        return log(slope) + log(self.tailweight)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        slope = cosh(asinh(y) / self.tailweight - self.skewness) / _hypotenuse(y)
        return log(slope) - log(self.tailweight)


def _hypotenuse(x: Any) -> Any:
    """sqrt(x ** 2 + 1), of which the square does not overflow."""
    small = abs_(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) <= 1.0
    return where(small, sqrt(square(where(small, x, zeros_like(x))) + 1.0), abs_(x))


boundaries(globals())
