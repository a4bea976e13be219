"""Bijectors between a variable and its probabilities: the distribution functions of named distributions."""

from __future__ import annotations

from typing import Any

from tapeflow.contrib.distributions.bijectors.elementwise import Elementwise
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from tapeflow.ops.control.assertions import assert_non_negative_v1 as assert_non_negative
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.control.type_assertions import assert_same_float_dtype
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.division_no_nan import xlog1py, xlogy
from tapeflow.ops.math.elementwise import exp, expm1, log, log1p
from tapeflow.v1.distributions.base import checked

__all__ = ["Gumbel", "Kumaraswamy", "Weibull"]


class _DistributionFunction(Elementwise):
    def _positive(self, value: Any, validate_args: bool, message: str) -> Any:
        return checked(value, validate_args, lambda: assert_positive(value, message=message))

    def _probability(
        self, y: Any, low: str = "Inverse transformation input must be greater than 0.",
        high: str = "Inverse transformation input must be less than or equal to 1.",
    ) -> Any:  # fmt: skip
        """A value of [0, 1]."""
        return self._checked(
            y,
            lambda: assert_non_negative(y, message=low),
            lambda: assert_less_equal(y, convert_to_tensor(1.0, y.dtype), message=high),
        )


class Gumbel(_DistributionFunction):
    """y = exp(-exp(-(x - loc) / scale))."""

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel"):
        self._loc, scale = convert_to_tensor(loc), convert_to_tensor(scale)
        assert_same_float_dtype([self._loc, scale])
        self._scale = self._positive(scale, validate_args, "Argument scale was not positive")
        super().__init__(validate_args, name)

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _z(self, x: TensorLike) -> Any:
        return (x - self.loc) / self.scale

    def _forward(self, x: Any) -> Any:
        return exp(-exp(-self._z(x)))

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * log(-log(self._probability(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = self._z(x)
        return -z - exp(-z) - log(self.scale)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._probability(y)
        return log(self.scale / (-log(y) * y))


class Weibull(_DistributionFunction):
    """y = 1 - exp(-(x / scale) ** concentration), of x >= 0."""

    def __init__(
        self, scale: Any = 1.0, concentration: Any = 1.0, validate_args: bool = False, name: str = "weibull"
    ):
        scale, concentration = convert_to_tensor(scale), convert_to_tensor(concentration)
        assert_same_float_dtype([scale, concentration])
        self._scale = self._positive(scale, validate_args, "Argument scale was not positive")
        self._concentration = self._positive(
            concentration, validate_args, "Argument concentration was not positive"
        )
        super().__init__(validate_args, name)

    scale = property(lambda self: self._scale)
    concentration = property(lambda self: self._concentration)

    def _valid(self, x: TensorLike) -> Any:
        message = "Forward transformation input must be at least 0."
        return self._checked(x, lambda: assert_non_negative(x, message=message))

    def _forward(self, x: Any) -> Any:
        return -expm1(-((self._valid(x) / self.scale) ** self.concentration))

    def _inverse(self, y: Any) -> Any:
        return self.scale * (-log1p(-self._probability(y))) ** (1.0 / self.concentration)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x, k = self._valid(x), self.concentration
        return -((x / self.scale) ** k) + (k - 1.0) * log(x) + log(k) - k * log(self.scale)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y, k = self._probability(y), self.concentration
        hazard = -log1p(-y)
        return hazard + (1.0 / k - 1.0) * log(hazard) + log(self.scale / k)


class Kumaraswamy(_DistributionFunction):
    """x = 1 - (1 - y ** concentration1) ** concentration0: here the inverse is the distribution function."""

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
        name: str = "kumaraswamy",
    ):  # fmt: skip
        message = "Concentration parameter must be positive."
        one, zero = convert_to_tensor(concentration1), convert_to_tensor(concentration0)
        self._one = self._positive(one, validate_args, message)
        self._zero = self._positive(zero, validate_args, message)
        super().__init__(validate_args, name)

    concentration1 = property(lambda self: self._one)
    concentration0 = property(lambda self: self._zero)

    def _valid(self, x: TensorLike) -> Any:
        return self._probability(x, "sample must be non-negative", "sample must be no larger than `1`.")

    def _forward(self, x: Any) -> Any:
        tail = exp(log1p(-self._valid(x)) / self.concentration0)
        return exp(log1p(-tail) / self.concentration1)

    def _inverse(self, y: Any) -> Any:
        power, b = self._valid(y) ** self.concentration1, self.concentration0
        low = power < 0.5
        small = -expm1(b * log1p(-where(low, power, zeros_like(power))))
        return where(low, small, 1.0 - (1.0 - power) ** b)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y, a, b = self._valid(y), self.concentration1, self.concentration0
        return log(a) + log(b) + xlogy(a - 1.0, y) + xlog1py(b - 1.0, -(y**a))


boundaries(globals())
