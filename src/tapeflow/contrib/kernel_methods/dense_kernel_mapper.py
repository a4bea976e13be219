"""Maps of inputs to features whose products approximate a kernel."""

from __future__ import annotations

import abc

from tapeflow.core.annotations import Tensor

__all__ = ["DenseKernelMapper", "InvalidShapeError"]


class InvalidShapeError(Exception):
    """A tensor of another shape than a map takes."""


class DenseKernelMapper(abc.ABC):
    """A map from rows of numbers to rows of features."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the map."""

    @property
    @abc.abstractmethod
    def input_dim(self) -> int:
        """The length of the rows that it takes."""

    @property
    @abc.abstractmethod
    def output_dim(self) -> int:
        """The length of the rows that it gives."""

    @abc.abstractmethod
    def map(self, input_tensor: Tensor) -> Tensor:
        """The features of a tensor [batch, input_dim]. Raises InvalidShapeError for another shape."""
