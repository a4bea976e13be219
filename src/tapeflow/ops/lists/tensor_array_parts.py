"""What tensor arrays take from flows, and give to the rows of lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core.annotations import Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.lists.tensor_list_reading import TensorListGetItem


def is_symbolic(x: Any) -> bool:
    return isinstance(x, _native.Tensor) and not isinstance(x, _native.EagerTensor)


def shape_input(shape: TensorShape) -> np.ndarray:
    """A shape as the TensorList ops take it."""
    if shape.rank is None:
        return np.array(-1, np.int32)
    return np.array([-1 if d is None else d for d in shape.as_list()], np.int32)


def elements_of(flow: Tensor, shape, dtype: DType) -> list:
    payload = flow.numpy()
    if not isinstance(payload, list_payload.TensorList) or payload.dtype != dtype:
        raise ValueError(f"flow must hold a list of {dtype.name} tensors, but is {flow!r}")
    tensors = payload.tensors()
    if not _native.is_watched(flow):
        return tensors
    wanted = shape_input(shape)
    return [
        None if t is None else TensorListGetItem(flow, i, wanted, dtype)
        for i, t in enumerate(tensors)
    ]


boundaries(globals())
