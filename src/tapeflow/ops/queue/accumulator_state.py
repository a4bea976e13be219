"""The accumulators behind handles: sums of gradients that wait until there are enough of them."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.queue.waiting_lines import Lines


class Accumulator(Lines):
    """Sums dense gradients of one step; older ones are dropped.

    Args:
      reduction: "MEAN" or "SUM": what is taken.
    """

    def __init__(self, name: str, dtype: Any, shape: Any, reduction: str):
        super().__init__(1)
        self.name, self.dtype, self.reduction = name, dtype, reduction
        self.shape = TensorShape(shape)
        self.count = 0
        self.step = 0
        self._sum: Any = None

    def check_same(self, other: Any) -> None:
        """Raises InvalidArgumentError unless `other`, asked for under the same name, is like this one."""
        if type(other) is not type(self):
            raise _invalid(f"'{self.name}' is a {type(self).__name__}, not a {type(other).__name__}.")
        for what, own, asked in (
            ("dtype", self.dtype.name, other.dtype.name),
            ("shape", str(self.shape), str(other.shape)),
        ):
            if own != asked:
                raise _invalid(
                    f"Shared conditional accumulator '{self.name}' has {what} {own} but requested {what} was {asked}."
                )

    def set_step(self, step: int) -> None:
        """Says which step is being summed."""
        with self._lock:
            if step < self.step:
                logging.getLogger("tensorflow").warning(
                    "Attempt to set current_global_step_ to smaller value: current_global_step_ = %d >= %d = "
                    "new_global_step.", self.step, step,
                )  # fmt: skip
            self.step = step

    def apply(self, local_step: int, *gradient: Any) -> None:
        """Adds a gradient, unless it belongs to an older step. Raises InvalidArgumentError for another shape."""
        with self._lock:
            if local_step < self.step:
                return
            self._add(*gradient)
            self.count += 1
            self._serve()

    def take(self, required: int) -> Any:
        """Waits for `required` gradients; what they are together. Begins the next step."""
        if required <= 0:
            raise _invalid(f"Argument num_required must be positive, got {required}.")
        taken: list[Any] = []

        def step() -> tuple[bool, bool]:
            if self.count < required:
                return False, False
            taken.append(self._result())
            self.count = 0
            self.step += 1
            self._clear()
            return True, True

        self._attempt(self._lines[0], step, lambda: None, "TakeGrad operation was cancelled")
        return taken[0]

    def _clear(self) -> None:
        self._sum = None

    def _add(self, *parts: Any) -> None:
        (gradient,) = parts
        if not self.shape.is_compatible_with(gradient.shape):
            raise _invalid(
                f"Shape mismatch: expected {self.shape}, got {TensorShape(gradient.shape)}"
            )
        if self._sum is None:
            self._sum = gradient.copy()
        elif self._sum.shape != gradient.shape:
            raise _invalid(
                f"Shape mismatch: expected {TensorShape(self._sum.shape)}, got {TensorShape(gradient.shape)}"
            )
        else:
            self._sum = self._sum + gradient

    def _result(self) -> Any:
        total = self._sum
        return total / total.dtype.type(self.count) if self.reduction == "MEAN" else total


class SparseAccumulator(Accumulator):
    """Sums gradients that are rows of a tensor, by the numbers of the rows."""

    def __init__(self, name: str, dtype: Any, shape: Any, reduction: str):
        super().__init__(name, dtype, shape, reduction)
        self._clear()

    def _clear(self) -> None:
        self._rows: dict[int, Any] = {}
        self._times: dict[int, int] = {}
        self._inner: tuple[int, ...] | None = None

    def _add(self, *parts: Any) -> None:
        indices, values, shape = parts
        self._check(indices, values, shape)
        self._inner = values.shape[1:]
        for i, row in zip(indices.tolist(), values, strict=True):
            self._rows[i] = self._rows[i] + row if i in self._rows else row.copy()
            self._times[i] = self._times.get(i, 0) + 1

    def _check(self, indices: np.ndarray, values: Any, shape: Any) -> None:
        if indices.ndim != 1:
            raise _invalid(
                f"Input indices should be vector but received shape: {_bracketed(indices.shape)}"
            )
        if not values.ndim:
            raise _invalid("Values cannot be 0-dimensional.")
        if len(indices) != len(values):
            raise _invalid(
                f"Expected {len(indices)} non-empty input values, got {len(values)}"
                if len(indices)
                else f"Expected no input values for no indices, got {len(values)}"
            )
        if self._inner is not None and len(self._inner) + 1 != values.ndim:
            raise _invalid(
                f"Shape mismatch: expected values rank {len(self._inner) + 1}, got {values.ndim}"
            )
        if self._inner is not None and self._inner != values.shape[1:]:
            at = next(i for i, n in enumerate(self._inner) if n != values.shape[i + 1])
            raise _invalid(
                f"Shape mismatch: expected values dim {at + 1} to be {self._inner[at]}, got {values.shape[at + 1]}"
            )
        own = self.shape.as_list() if self.shape.rank is not None else None
        if own is None:
            return
        if shape is not None:
            given = shape.tolist()
            if len(given) < len(own):
                raise _invalid(
                    f"Shape mismatch: expected shape rank at least {len(own)}, got {len(given)}"
                )
            for i, n in enumerate(own):
                if n is not None and n != given[i]:
                    raise _invalid(
                        f"Shape mismatch: expected shape dim {i} to be {n}, got {given[i]}"
                    )
        if own and own[0] is not None:
            for number, i in enumerate(indices.tolist()):
                if not 0 <= i < own[0]:
                    raise _invalid(
                        f"Shape mismatch: index of slice {number} exceeded limits of shape; index is {i} "
                        f"exceeded {own[0]}"
                    )
        if values.ndim < len(own):
            raise _invalid(
                f"Shape mismatch: expected values rank at least {len(own)}, got {values.ndim}"
            )
        for i, n in enumerate(own[1:], 1):
            if n is not None and n != values.shape[i]:
                raise _invalid(
                    f"Shape mismatch: expected values dim {i} to be {n}, got {values.shape[i]}"
                )

    def _result(self) -> Any:
        kind = self.dtype.as_numpy_dtype
        indices = sorted(self._rows)
        inner = self._inner or ()
        values = np.empty((len(indices), *inner), kind)
        for at, i in enumerate(indices):
            mean = self.reduction == "MEAN"
            values[at] = self._rows[i] / kind(self._times[i]) if mean else self._rows[i]
        known = self.shape.as_list() if self.shape.rank is not None else []
        shape = [-1, *inner]
        for i, n in enumerate(known):
            shape[i : i + 1] = [-1 if n is None and i == 0 else inner[i - 1] if n is None else n]
        return np.array(indices, np.int64), values, np.array(shape, np.int64)


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


def _bracketed(sizes: Any) -> str:
    return "[" + ",".join(map(str, sizes)) + "]"
