"""Types of what a row's functions are given: a recorded call, a call for a batch, and the source of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from tapeflow.ops import shape_inference

# A call as shape rules see it.
ShapeCall: TypeAlias = shape_inference.Call


class GradientCall(Protocol):
    """A call as gradient functions see it: its inputs, outputs and attrs are attributes, or items, by name."""

    @property
    def op_name(self) -> str: ...
    def shape(self, name: str, /) -> Any: ...
    def static_shape(self, name: str, /) -> Any: ...
    def dtype(self, name: str, /) -> Any: ...
    def wants(self, name: str, /) -> bool: ...
    def __getattr__(self, name: str, /) -> Any: ...
    def __getitem__(self, name: str, /) -> Any: ...


class BatchedCall(Protocol):
    """A call as batching rules see it: see `autodiff.batched_graph.Call`."""

    row: Any
    inputs: list[Any]
    batched: list[bool]
    ranks: list[int | None]
    attrs: dict[str, Any]
    size: Any

    def run(self, inputs: Sequence[Any], **attrs: Any) -> list[Any]: ...
    def __getattr__(self, name: str, /) -> Any: ...


class SampleGenerator(Protocol):
    """What the samples of rows draw from."""

    def normal(self, *shape: int) -> np.ndarray: ...
