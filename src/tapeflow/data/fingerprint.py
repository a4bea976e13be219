"""`Dataset.fingerprint`: a number that says how a dataset was made."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.data.dataset_class import is_dataset
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.tracing import Traced

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


def fingerprint(dataset: Dataset):
    """A scalar uint64 tensor: equal for datasets made by the same steps of equal values."""
    digest = hashlib.blake2b(digest_size=8)
    _add(digest.update, dataset)
    return convert_to_tensor(np.frombuffer(digest.digest(), "<u8")[0], dtypes.uint64)


def _add(put: Callable[..., Any], value: Any):
    if isinstance(value, (list, tuple)):
        put(f"{type(value).__name__}{len(value)}".encode())
        for item in value:
            _add(put, item)
    elif hasattr(value, "keys"):
        put(f"dict{len(value)}".encode())
        for key in value:
            put(repr(key).encode())
            _add(put, value[key])
    elif is_dataset(value):
        put(f"{parts_of(value).kind}{value.element_spec!r}".encode())
        if parts_of(value).record:
            record, arguments = parts_of(value).record
            put(record.name.encode())
            _add(put, arguments)
    elif isinstance(value, Traced):
        _add_function(put, value)
    elif isinstance(value, Tensor) and hasattr(value, "numpy"):
        _add(put, np.asarray(value))
    elif isinstance(value, np.ndarray):
        put(f"{value.dtype}{value.shape}".encode())
        if value.dtype.hasobject:
            _add(put, value.ravel().tolist())
        else:
            put(np.ascontiguousarray(value).tobytes())
    elif callable(value):
        put(f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}".encode())
    else:
        put(repr(value).encode())


def _add_function(put: Callable[..., Any], function: Traced):
    graph = function.graph
    _add_graph(put, graph, graph.outputs)
    _add(put, [x for x in graph.external_captures if hasattr(x, "numpy")])


def _add_graph(put, graph, outputs):
    numbers = {}
    for op in graph.operations:
        put(f"{op.type}{[numbers.get(id(x), -1) for x in op.inputs]}".encode())
        for y in op.outputs:
            numbers[id(y)] = len(numbers)
        for key in sorted(op.attrs):
            put(key.encode())
            value = op.attrs[key]
            if key in ("cond", "body"):
                _add_graph(put, value.graph, value.outputs)
            elif key == "branches":
                for body in value:
                    _add_graph(put, body.graph, body.outputs)
            else:
                _add(put, value)
    put(str([numbers.get(id(y), -1) for y in outputs]).encode())
