"""The size of a dataset's batches, as far as its spec tells."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest


def compute_batch_size(dataset: Any) -> Any:
    """The size of a dataset's batches, an int64 tensor; -1 where it is not known or varies."""
    sizes = set()
    for spec in nest.flatten(dataset.element_spec):
        shape = getattr(spec, "shape", None)
        sizes.add(shape[0] if shape is not None and shape.rank else None)
    known = sizes.pop() if len(sizes) == 1 else None
    return convert_to_tensor(-1 if known is None else known, dtypes.int64)
