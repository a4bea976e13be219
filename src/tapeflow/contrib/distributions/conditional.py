"""Distributions whose methods take conditions."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import ShapeLike, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.v1.distributions.base import Distribution

__all__ = ["ConditionalDistribution"]


class ConditionalDistribution(Distribution):
    """A distribution whose methods take more named arguments, which are passed to those that its subclass defines."""

    def sample(
        self, sample_shape: ShapeLike = (), seed: int | None = None, name: str = "sample", **condition_kwargs: Any
    ) -> Any:
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: TensorLike, name: str = "log_prob", **condition_kwargs: Any) -> Any:
        return self._call("log_prob", name, value, **condition_kwargs)

    def prob(self, value: TensorLike, name: str = "prob", **condition_kwargs: Any) -> Any:
        return self._call("prob", name, value, **condition_kwargs)

    def log_cdf(self, value: TensorLike, name: str = "log_cdf", **condition_kwargs: Any) -> Any:
        return self._call("log_cdf", name, value, **condition_kwargs)

    def cdf(self, value: TensorLike, name: str = "cdf", **condition_kwargs: Any) -> Any:
        return self._call("cdf", name, value, **condition_kwargs)

    def log_survival_function(
        self, value: TensorLike, name: str = "log_survival_function", **condition_kwargs: Any
    ) -> Any:
        return self._call("log_survival_function", name, value, **condition_kwargs)

    def survival_function(self, value: TensorLike, name: str = "survival_function", **condition_kwargs: Any) -> Any:
        return self._call("survival_function", name, value, **condition_kwargs)


boundaries(globals())
