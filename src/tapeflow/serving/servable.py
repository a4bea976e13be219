"""One loaded version of a model: its signatures, called with arrays by name."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
)
from tapeflow.core.files.tensor_proto import make_ndarray
from tapeflow.saved_model import loading, reading
from tapeflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING

Arrays = dict[str, np.ndarray]


class Servable:
    """A version of a model that is ready to be called.

    Args:
      name: of the model.
      version: its number.
      folder: the SavedModel.
      trusted: False refuses models that touch files or Python, and limits their calls.

    Raises OSError, ValueError and `tf.errors.OpError` for a model that cannot be loaded.
    """

    def __init__(self, name: str, version: int, folder: str, trusted: bool = True):
        self.name, self.version, self.folder = name, version, folder
        model = reading.parse(folder)
        meta = reading.graph_with_tags(model, [SERVING], folder)
        self.signature_defs = {
            key: s for key, s in meta.signature_def.items() if not key.startswith("__saved_model_")
        }
        self._root = loading.load(folder, tags=[SERVING], trusted=None if trusted else False)
        self._users = 0
        self._changed = threading.Lock()

    def __enter__(self) -> Servable:
        with self._changed:
            self._users += 1
        return self

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._users -= 1

    def is_unused(self) -> bool:
        """Whether no calls are under way."""
        with self._changed:
            return not self._users

    def signature(self, key: str) -> tuple[str, Any]:
        """The key (the default for an empty one) and its SignatureDef. Raises FailedPreconditionError."""
        key = key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
        if key not in self.signature_defs:
            raise FailedPreconditionError(None, None, f'Serving signature key "{key}" not found.')
        return key, self.signature_defs[key]

    def complete(self, key: str, inputs: Mapping[str, np.ndarray]) -> Arrays:
        """The inputs with defaults added, checked. Raises InvalidArgumentError for those that do not fit."""
        key, signature = self.signature(key)
        given: Arrays = dict(inputs)
        for name, value in signature.defaults.items():
            if name not in given:
                given[name] = make_ndarray(value)
        wanted = set(signature.inputs)
        if given.keys() != wanted:
            extra, missing = sorted(given.keys() - wanted), sorted(wanted - given.keys())
            raise _invalid(
                f"input size does not match signature: {len(given)}!={len(wanted)} len({{{','.join(sorted(given))}}}) "
                f"!= len({{{','.join(sorted(wanted))}}}). Sent extra: {{{','.join(extra)}}}. "
                f"Missing but required: {{{','.join(missing)}}}."
            )
        for name, array in given.items():
            _check(name, array, signature.inputs[name])
        return given

    def run(self, key: str, inputs: Mapping[str, np.ndarray], deadline: float | None = None) -> Arrays:
        """Calls a signature with complete inputs; returns its outputs.

        Raises DeadlineExceededError where `time.monotonic()` passes the deadline: before the call, or between the
        steps of its loops. An op that runs is not interrupted.
        """
        key, signature = self.signature(key)
        if deadline is None:
            return self._run(key, signature, inputs)
        left = deadline - time.monotonic()
        if left <= 0:
            raise DeadlineExceededError(None, None, "The deadline of the request has passed")
        before = _native.set_deadline(max(1, int(left * 1000)))
        try:
            return self._run(key, signature, inputs)
        finally:
            _native.set_deadline(before)

    def _run(self, key: str, signature: Any, inputs: Mapping[str, np.ndarray]) -> Arrays:
        tensors = {
            name: convert_to_tensor(array, as_dtype(signature.inputs[name].dtype)) for name, array in inputs.items()
        }
        results = self._root.signatures[key](**tensors)
        return {name: _array(name, value) for name, value in results.items()}


def _array(name: str, value: Any) -> np.ndarray:
    if not hasattr(value, "numpy"):
        raise _invalid(f"Output {name} is not a dense tensor, which cannot be returned.")
    found = value.numpy()
    # A string scalar comes as bytes.
    return np.array(found, object) if isinstance(found, bytes) else np.asarray(found)


def _check(name: str, array: np.ndarray, info: Any) -> None:
    kind = as_dtype(info.dtype)
    wanted = np.dtype(kind.as_numpy_dtype)
    if array.dtype != wanted:
        raise _invalid(f"Input {name} is of type {array.dtype.name}, expected {kind.name}.")
    if info.tensor_shape.unknown_rank:
        return
    sizes = [d.size for d in info.tensor_shape.dim]
    if len(sizes) != array.ndim or any(w not in (-1, s) for w, s in zip(sizes, array.shape, strict=True)):
        raise _invalid(f"Input {name} has the shape {list(array.shape)}, expected {sizes}.")


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)
