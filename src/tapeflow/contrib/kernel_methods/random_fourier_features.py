"""Random Fourier features."""

from __future__ import annotations

import math

import numpy as np

from tapeflow.compat import v1
from tapeflow.contrib.kernel_methods.dense_kernel_mapper import DenseKernelMapper, InvalidShapeError
from tapeflow.core.annotations import Tensor

__all__ = ["RandomFourierFeatureMapper"]


class RandomFourierFeatureMapper(DenseKernelMapper):
    """Random Fourier features, which approximate the kernel exp(-|x - y|^2 / (2 stddev^2)) (Rahimi & Recht 2007).

    Args:
      input_dim: the length of the rows that it takes.
      output_dim: how many features there are.
      stddev: the width of the kernel.
      seed: of the random numbers; maps of one seed are the same.
      name: the name of the map.
    """

    def __init__(self, input_dim: int, output_dim: int, stddev: float = 1.0, seed: int = 1, name: str | None = None):
        self._input_dim, self._output_dim, self._stddev = input_dim, output_dim, stddev
        self._seed, self._name = seed, name

    @property
    def name(self):
        """The name of the map, by default a number of its own."""
        return self._name or str(id(self))

    @property
    def input_dim(self):
        """The length of the rows that it takes."""
        return self._input_dim

    @property
    def output_dim(self):
        """How many features there are."""
        return self._output_dim

    def map(self, input_tensor: Tensor):
        """The features of a tensor [batch, input_dim]. Raises InvalidShapeError for another shape."""
        shape = input_tensor.shape
        if len(shape) != 2:
            raise InvalidShapeError(f"The shape of the tensor should be 2. Got {len(shape)} instead.")
        if shape[1] != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, got {shape[1]} instead."
            )
        draw = np.random.RandomState(self._seed)
        directions = draw.normal(scale=1.0 / self._stddev, size=[self._input_dim, self._output_dim])
        phases = draw.uniform(0.0, 2 * np.pi, [self._output_dim])
        angles = v1.matmul(input_tensor, v1.constant(directions, v1.float32)) + v1.constant(phases, v1.float32)
        return math.sqrt(2.0 / self._output_dim) * v1.cos(angles)
