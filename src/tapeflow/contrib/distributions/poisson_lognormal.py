"""The Poisson distribution of a rate that is distributed log-normally, by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.contrib.distributions.combined import MixtureSameFamily
from tapeflow.contrib.distributions.counts import Poisson
from tapeflow.contrib.distributions.quadrature import quadrature_scheme_lognormal_quantiles
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.math.elementwise import log
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.random.functions import poisson as random_poisson
from tapeflow.v1.distributions.continuous import mixed_seed
from tapeflow.v1.distributions.discrete import Categorical

__all__ = ["PoissonLogNormalQuadratureCompound"]


class PoissonLogNormalQuadratureCompound(MixtureSameFamily):
    """Counts of a rate that is distributed log-normally, as the mixture of the Poisson distributions of a few rates.

    Args:
      loc: [...], the mean of the logarithm of the rate.
      scale: [...], its standard deviation.
      quadrature_size: the number of rates.
      quadrature_fn: of `loc`, `scale`, the number of rates and `validate_args`, gives the logarithms of the rates,
        [..., rates], and their probabilities, [rates].

    Raises:
      TypeError: where these have different dtypes.
    """

    def __init__(
        self, loc: TensorLike, scale: TensorLike, quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_lognormal_quantiles, validate_args: bool = False,
        allow_nan_stats: bool = True, name: str = "PoissonLogNormalQuadratureCompound",
    ):  # fmt: skip
        given = dict(locals())
        self._loc = None if loc is None else convert_to_tensor(loc)
        self._scale = None if scale is None else convert_to_tensor(scale, None if loc is None else self._loc.dtype)
        self._quadrature_size = quadrature_size
        grid, probs = quadrature_fn(self._loc, self._scale, quadrature_size, validate_args)
        if grid.dtype.base_dtype != probs.dtype.base_dtype:
            raise TypeError(
                f"Quadrature grid dtype ({grid.dtype.name}) does not match quadrature probs dtype "
                f"({probs.dtype.name})."
            )
        shared: dict[str, Any] = {"validate_args": validate_args, "allow_nan_stats": allow_nan_stats}
        super().__init__(
            Categorical(logits=log(probs), **shared), Poisson(log_rate=grid, **shared), name=name, **shared
        )
        self._remember(given)

    distribution = property(lambda self: self.components_distribution)
    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)
    quadrature_size = property(lambda self: self._quadrature_size)

    def _sample_n(self, n: Tensor, seed: int | None = None) -> Tensor:
        chosen = self._chosen(n, mixed_seed(seed, "poisson_lognormal_quadrature_compound"))
        rates = self.distribution.rate
        rate = reduce_sum(one_hot(chosen, self._quadrature_size, dtype=self.dtype) * rates, -1)
        return random_poisson([], rate, dtype=self.dtype, seed=seed)


boundaries(globals())
