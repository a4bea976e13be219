"""Distributions that are skewed, with tails of any weight, by the transformation of Jones and Pewsey (2009)."""

from __future__ import annotations

from typing import Any

from tapeflow.contrib.distributions.bijectors import Affine, AffineScalar, Chain
from tapeflow.contrib.distributions.bijectors import SinhArcsinh as SinhArcsinhBijector
from tapeflow.contrib.distributions.scales import diag_scale, shapes_of
from tapeflow.contrib.distributions.transformed import TransformedDistribution
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape
from tapeflow.ops.array.construction import ones, zeros
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.static import get_static_value
from tapeflow.v1.distributions.base import FULLY_REPARAMETERIZED, checked
from tapeflow.v1.distributions.continuous import Normal

__all__ = ["SinhArcsinh", "VectorSinhArcsinhDiag", "scalar_base"]


def scalar_base(distribution: Any, dtype: Any, validate_args: bool, tensor: Tensor) -> Tensor:
    """The tensor, once it is known that a distribution is one over numbers of this dtype.

    Raises:
      TypeError: for another dtype.
      ValueError: for a batch, or events that are no numbers; with `validate_args` for samples without gradients.
    """
    if distribution.dtype != dtype:
        raise TypeError(
            f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not "{dtype.name}"'
        )
    if validate_args and distribution.reparameterization_type != FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of non-trainable variables; "
            f'distribution.reparameterization_type = "{distribution.reparameterization_type}" != '
            '"FULLY_REPARAMETERIZED".'
        )
    checks = []
    for name in ("is_scalar_event", "is_scalar_batch"):
        is_scalar = getattr(distribution, name)()
        message = f"distribution must be scalar; distribution.{name}=False is not True"
        known = get_static_value(is_scalar)
        if known is None:
            checks.append(lambda is_scalar=is_scalar, message=message: assert_equal(is_scalar, True, message=message))
        elif not known:
            raise ValueError(message)
    return checked(tensor, validate_args and bool(checks), *checks)


class _SinhArcsinh(TransformedDistribution):
    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)
    tailweight = property(lambda self: self._tailweight)
    skewness = property(lambda self: self._skewness)

    def _describe(self, scale: Tensor, skewness: Any, tailweight: Any, distribution: Any, validate_args: bool) -> Any:
        """The base, the bijector, and `scale` times what keeps the middle of values about as wide as it is."""
        dtype = scale.dtype
        self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, dtype)
        self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, dtype)
        if distribution is None:
            distribution = Normal(zeros([], dtype), ones([], dtype), allow_nan_stats=self._allow_nan_stats)
        else:
            scale = scalar_base(distribution, dtype, validate_args, scale)
        bijector = SinhArcsinhBijector(self._skewness, self._tailweight)
        straight = SinhArcsinhBijector(zeros([], dtype), self._tailweight)
        two = convert_to_tensor(2.0, dtype)
        return distribution, bijector, two * scale / straight.forward(two)


class SinhArcsinh(_SinhArcsinh):
    """The distribution of loc + scale F(Z) 2 / F0(2), where F(z) = sinh((asinh(z) + skewness) tailweight).

    F0 is F without skewness. With the defaults it is the normal distribution.

    Args:
      loc: [...].
      scale: [...], positive.
      skewness: [...]; None: 0. Positive numbers skew to the right.
      tailweight: [...], positive; None: 1. Larger than 1 makes the tails heavier.
      distribution: of Z, over numbers; None: the standard normal one.

    Raises:
      TypeError: where the distribution has another dtype than `loc`.
      ValueError: where it is a batch or not over numbers.
    """

    def __init__(
        self, loc: TensorLike, scale: TensorLike, skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None, distribution: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "SinhArcsinh",
    ):  # fmt: skip
        given = dict(locals())
        self._allow_nan_stats = allow_nan_stats
        self._loc = convert_to_tensor(loc)
        self._scale = convert_to_tensor(scale, self._loc.dtype)
        base, bijector, width = self._describe(self._scale, skewness, tailweight, distribution, validate_args)
        shape = shape_of(self._loc)
        for part in (self._scale, self._tailweight, self._skewness):
            shape = broadcast_dynamic_shape(shape, shape_of(part))
        affine = AffineScalar(self._loc, width, validate_args)
        super().__init__(base, Chain([affine, bijector]), shape, None, validate_args, name)
        self._remember(given)


class VectorSinhArcsinhDiag(_SinhArcsinh):
    """The distribution of vectors loc + scale F(Z) 2 / F0(2), as of `SinhArcsinh`, of independent elements Z.

    Args:
      loc: [..., n]; None: zeros.
      scale_diag: [..., n]; None: ones, or zeros with a multiplier.
      scale_identity_multiplier: [...], what is added to all of them.
      skewness: [..., n] or a number; None: 0.
      tailweight: [..., n] or a number, positive; None: 1.
      distribution: of Z, over numbers; None: the standard normal one.

    Raises:
      TypeError: where the distribution has another dtype than the scale.
      ValueError: where neither `loc` nor `scale_diag` is given, or the distribution is a batch or not over numbers.
    """

    def __init__(
        self, loc: TensorLike | None = None, scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None, skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None, distribution: Any = None, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "MultivariateNormalLinearOperator",
    ):  # fmt: skip
        given = dict(locals())
        self._allow_nan_stats = allow_nan_stats
        self._loc = None if loc is None else convert_to_tensor(loc)
        self._scale = diag_scale(self._loc, scale_diag, scale_identity_multiplier)
        batch_shape, event_shape = shapes_of(self._loc, self._scale)
        base, bijector, width = self._describe(
            self._scale.diag_part(), skewness, tailweight, distribution, validate_args
        )
        affine = Affine(self._loc, scale_diag=width, validate_args=validate_args)
        super().__init__(base, Chain([affine, bijector]), batch_shape, event_shape, validate_args, name)
        self._remember(given)


boundaries(globals())
