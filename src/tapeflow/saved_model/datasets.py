"""Datasets that functions captured, as resources that a SavedModel makes by a function of TensorFlow's dataset ops."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.data import leaves
from tapeflow.data.dataset import Dataset
from tapeflow.data.nodes.writing import NoOpForIt, node_of
from tapeflow.saved_model.resources import TrackableResource


class DatasetResource(TrackableResource):
    """What stands for a dataset.

    Args:
      tensor: the variant tensor by which functions captured it.
    """

    _dataset: Any

    def __init__(self, tensor: Any):
        super().__init__()
        self.__dict__["_handle"] = tensor
        self.__dict__["_dataset"] = leaves.unboxed(tensor)

    def _create_resource(self) -> Any:
        try:
            return node_of(self._dataset)
        except NoOpForIt as reason:
            raise ValueError(
                f"A function captures {self._dataset}, which no ops of TensorFlow make ({reason}), so that it "
                "cannot go into a SavedModel."
            ) from None


def is_dataset(tensor: Any) -> bool:
    """Whether a captured tensor holds a dataset."""
    return (
        isinstance(tensor, _native.EagerTensor)
        and tensor.dtype == dtypes.variant
        and not tensor.shape.rank
        and isinstance(leaves.unboxed(tensor), Dataset)
    )
