"""Checks of samples against probabilities and statistics, to be mixed into test cases of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.graph.build.variable_initializers import global_variables_initializer
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import exp, sqrt, square
from tapeflow.ops.math.reductions import reduce_max, reduce_mean, reduce_min, reduce_sum
from tapeflow.ops.statistics.histogram import histogram_fixed_width

__all__ = ["DiscreteScalarDistributionTestHelpers", "VectorDistributionTestHelpers"]


class DiscreteScalarDistributionTestHelpers:
    """Checks of distributions over whole numbers; a mixin of a class that has `assertAllClose`."""

    assertAllClose: Any

    def run_test_sample_consistent_log_prob(
        self, sess_run_fn: Callable[[Any], Any], dist: Any, num_samples: int = 100000, num_threshold: int = 1000,
        seed: int = 42, batch_size: int | None = None, rtol: float = 1e-2, atol: float = 0.0,
    ) -> None:  # fmt: skip
        """Check that numbers are drawn as often as `log_prob` says.

        Args:
          sess_run_fn: gives the values of a list of tensors.
          dist: the distribution.
          num_samples: how many samples are drawn.
          num_threshold: how often a number must be drawn to be compared.
          seed: of the samples.
          batch_size: is not used; the batch is that of the samples.
          rtol, atol: by how much probabilities may differ.

        Raises:
          ValueError: where `num_threshold` is less than 1.
        """
        if num_threshold < 1:
            raise ValueError(f"num_threshold({num_threshold}) must be at least 1.")
        (drawn,) = sess_run_fn([dist.sample(num_samples, seed=seed)])
        numbers = np.unique(drawn)
        wide = numbers.reshape([-1] + [1] * (drawn.ndim - 1))
        (probs,) = sess_run_fn([exp(dist.log_prob(wide))])
        shares = np.stack([(drawn == number).mean(0) for number in numbers])
        often = shares * num_samples > num_threshold
        self.assertAllClose(np.broadcast_to(probs, shares.shape)[often], shares[often], rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_variance(
        self, sess_run_fn: Callable[[Any], Any], dist: Any, num_samples: int = 100000, seed: int = 24,
        rtol: float = 1e-2, atol: float = 0.0,
    ) -> None:  # fmt: skip
        """Check `mean`, `variance` and `stddev` against those of samples.

        Args:
          sess_run_fn: gives the values of a list of tensors.
          dist: the distribution.
          num_samples: how many samples are drawn.
          seed: of the samples.
          rtol, atol: by how much they may differ.
        """
        x = cast(dist.sample(num_samples, seed=seed), "float32")
        mean = reduce_mean(x, 0)
        variance = reduce_mean(square(x - mean), 0)
        pairs = [(dist.mean(), mean), (dist.variance(), variance), (dist.stddev(), sqrt(variance))]
        for own, of_samples in sess_run_fn(pairs):
            self.assertAllClose(own, of_samples, rtol=rtol, atol=atol)

    def histogram(
        self, x: TensorLike, value_range: TensorLike | None = None, nbins: TensorLike | None = None,
        name: str | None = None,
    ) -> tuple[Any, Any]:  # fmt: skip
        """How many elements fall into bins of equal width, and where these begin.

        Args:
          x: the elements.
          value_range: [2], where the first bin begins and the last one ends; None: so that all elements are within.
          nbins: the number of bins; None: bins of width 1.
          name: is not used.
        """
        x = convert_to_tensor(x)
        if value_range is None:
            value_range = [reduce_min(x), 1 + reduce_max(x)]
        ends = convert_to_tensor(value_range)
        count = cast(ends[1] - ends[0], "int32") if nbins is None else convert_to_tensor(nbins)
        width = (ends[1] - ends[0]) / cast(count, ends.dtype)
        edges = range_(ends[0], ends[1], cast(width, ends.dtype))
        return histogram_fixed_width(x, ends, nbins=count), cast(edges, x.dtype)


class VectorDistributionTestHelpers:
    """Checks of distributions over vectors; a mixin of a class that has `assertAllClose`."""

    assertAllClose: Any

    def run_test_sample_consistent_log_prob(
        self, sess_run_fn: Callable[[Any], Any], dist: Any, num_samples: int = 100000, radius: float = 1.0,
        center: Any = 0.0, seed: int = 42, rtol: float = 1e-2, atol: float = 0.0,
    ) -> None:  # fmt: skip
        """Check `log_prob` by the volume of a ball, which is the mean of one over the density of samples inside.

        Args:
          sess_run_fn: gives the values of a list of tensors.
          dist: the distribution.
          num_samples: how many samples are drawn.
          radius: of the ball.
          center: of the ball, a vector or a number.
          seed: of the samples.
          rtol, atol: by how much the volume may differ.
        """
        x = dist.sample(num_samples, seed=seed)
        inside = cast(sqrt(reduce_sum(square(x - center), -1)) <= radius, x.dtype)
        volume = reduce_mean(exp(-dist.log_prob(x)) * inside, 0)
        sess_run_fn(global_variables_initializer())
        batch, size, found = sess_run_fn([dist.batch_shape_tensor(), dist.event_shape_tensor(), volume])
        half = int(size[0]) / 2.0
        expected = math.exp(half * math.log(math.pi) - math.lgamma(1.0 + half)) * radius ** (2.0 * half)
        self.assertAllClose(np.full(batch, expected), found, rtol=rtol, atol=atol)

    def run_test_sample_consistent_mean_covariance(
        self, sess_run_fn: Callable[[Any], Any], dist: Any, num_samples: int = 100000, seed: int = 24,
        rtol: float = 1e-2, atol: float = 0.1, cov_rtol: float | None = None, cov_atol: float | None = None,
    ) -> None:  # fmt: skip
        """Check `mean`, `covariance`, `variance` and `stddev` against those of samples.

        Args:
          sess_run_fn: gives the values of a list of tensors.
          dist: the distribution.
          num_samples: how many samples are drawn.
          seed: of the samples.
          rtol, atol: by how much they may differ.
          cov_rtol, cov_atol: by how much covariances may differ; None: as the others.
        """
        x = dist.sample(num_samples, seed=seed)
        mean = reduce_mean(x, 0)
        covariance = reduce_mean((x - mean)[..., None] * (x - mean)[..., None, :], 0)
        variance = diag_part(covariance)
        pairs = [(dist.covariance(), covariance), (dist.mean(), mean), (dist.variance(), variance),
                 (dist.stddev(), sqrt(variance))]  # fmt: skip
        first, *others = sess_run_fn(pairs)
        self.assertAllClose(*first, rtol=cov_rtol or rtol, atol=cov_atol or atol)
        for own, of_samples in others:
            self.assertAllClose(own, of_samples, rtol=rtol, atol=atol)


boundaries(globals())
