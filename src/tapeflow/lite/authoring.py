"""`tf.lite.experimental.authoring`: whether functions can be converted, said when they are first called."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.core.public import public
from tapeflow.lite.converter import TFLiteConverter
from tapeflow.lite.lowering import ConverterError

__all__ = ["CompatibilityError", "compatible"]


class CompatibilityError(Exception):
    """A function cannot be converted to TensorFlow Lite."""


class _Compatible:
    """A function that is converted when it is called for the first time."""

    def __init__(
        self, target, converter_target_spec=None, converter_allow_custom_ops=None,
        raise_exception: bool = False,
    ):
        functools.update_wrapper(self, target, updated=())
        self._function = target
        self._owner: Any = None
        self._target_spec = converter_target_spec
        self._allow_custom_ops = converter_allow_custom_ops
        self._raises = raise_exception
        self._log: list[str] | None = None

    def __get__(self, instance, cls):
        self._owner = instance
        return self

    def _bound(self) -> Any:
        return self._function if self._owner is None else self._function.__get__(self._owner, type(self._owner))

    def __call__(self, *args, **kwargs):
        if self._log is None:
            self._verify(args, kwargs)
        return self._bound()(*args, **kwargs)

    def get_concrete_function(self, *args, **kwargs):
        """The trace of the function for such arguments."""
        return self._bound().get_concrete_function(*args, **kwargs)

    def get_compatibility_log(self):
        """What cannot be converted: list of messages. Raises RuntimeError before the first call."""
        if self._log is None:
            raise RuntimeError("target compatibility isn't verified yet")
        return self._log

    def _verify(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        concrete = self.get_concrete_function(*args, **kwargs)
        converter = TFLiteConverter.from_concrete_functions([concrete])
        if self._target_spec is not None:
            converter.target_spec = self._target_spec
        if self._allow_custom_ops is not None:
            converter.allow_custom_ops = self._allow_custom_ops
        self._log = []
        try:
            converter.convert()
        except (ConverterError, ValueError) as error:
            self._log.append(f"COMPATIBILITY ERROR: {error}")
        if self._log and self._raises:
            raise CompatibilityError(f"CompatibilityException at {self._function!r}: {self._log[0]}")
        for message in self._log:
            warnings.warn(message, stacklevel=3)


@public
def compatible(target=None, converter_target_spec=None, **kwargs):
    """Decorate a `tf.function` so that its first call says whether it can be converted.

    Args:
      target: the function; None gives a decorator.
      converter_target_spec: the `tf.lite.TargetSpec` to convert it for (optional).
      **kwargs: converter_allow_custom_ops: whether operations may become custom ones. raise_exception: whether to
        raise where it would else warn.

    Returns:
      The function, with a method `get_compatibility_log`, or the decorator.

    Raises:
      CompatibilityError: by the call, if `raise_exception` and the function cannot be converted.
    """
    if target is None:
        return lambda function: _Compatible(function, converter_target_spec, **kwargs)
    return _Compatible(target, converter_target_spec, **kwargs)
