"""Distributions whose batches and events have the shapes of another distribution's."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.public import boundaries
from tapeflow.v1.distributions.base import Distribution

__all__ = ["ShapedAsAnother"]


class ShapedAsAnother(Distribution):
    """A distribution with the shapes of `_distribution`."""

    _distribution: Any

    distribution = property(lambda self: self._distribution)

    def _batch_shape(self) -> Any:
        return self._distribution.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self._distribution.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self._distribution.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._distribution.event_shape_tensor()


boundaries(globals())
