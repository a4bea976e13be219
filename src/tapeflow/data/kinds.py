"""Datasets by how they are made, as classes: `isinstance(dataset, RangeDataset)`."""

from __future__ import annotations

from typing import Any

from tapeflow.data.dataset import Dataset
from tapeflow.data.parts import parts_of


class _Kind(type):
    """The class of such classes: a dataset is an instance of the one of its kind."""

    kind: str

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Dataset) and parts_of(value).kind == cls.kind


def _of(name: str, kind: str) -> Any:
    return _Kind(name, (), {"kind": kind, "__doc__": f"Datasets of the kind {kind}."})


GeneratorDataset = _of("_GeneratorDataset", "Generator")
RangeDataset = _of("_RangeDataset", "Range")
SparseTensorSliceDataset = _of("_SparseTensorSliceDataset", "SparseTensorSlice")
TensorDataset = _of("_TensorDataset", "Tensor")
TensorSliceDataset = _of("_TensorSliceDataset", "TensorSlice")
