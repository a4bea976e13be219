"""What a model is made for, by the names of Keras and of estimators: "predict" and "infer" are one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tapeflow.estimator.spec import ModeKeys as EstimatorModeKeys
from tapeflow.saved_model.mode_keys import KerasModeKeys

__all__ = ["EstimatorModeKeys", "KerasModeKeys", "ModeKeyMap", "is_eval", "is_predict", "is_train"]


def is_predict(mode: str) -> bool:
    """Whether the mode is that of predictions.

    Args:
      mode: a name that Keras or estimators have for it.
    """
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def is_eval(mode: str) -> bool:
    """Whether the mode is that of evaluation.

    Args:
      mode: a name that Keras or estimators have for it.
    """
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_train(mode: str) -> bool:
    """Whether the mode is that of training.

    Args:
      mode: a name that Keras or estimators have for it.
    """
    return mode in (KerasModeKeys.TRAIN, EstimatorModeKeys.TRAIN)


class ModeKeyMap(Mapping[str, Any]):
    """A value for each mode, whichever name the mode is given. Raises ValueError for an unknown or a repeated one."""

    def __init__(self, **kwargs: Any):
        self._values: dict[str, Any] = {}
        for mode, value in kwargs.items():
            key = _one_name(mode)
            if key in self._values:
                raise ValueError(
                    f"Multiple keys mapped to the same mode, {mode!r}: {sorted(kwargs)}."
                )
            self._values[key] = value

    def __getitem__(self, key: str) -> Any:
        return self._values[_one_name(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _one_name(mode: str) -> str:
    """Keras's name of a mode. Raises ValueError for an unknown one."""
    for belongs, name in (
        (is_predict, KerasModeKeys.PREDICT), (is_eval, KerasModeKeys.TEST), (is_train, KerasModeKeys.TRAIN),
    ):  # fmt: skip
        if belongs(mode):
            return name
    raise ValueError(f"Invalid mode key: {mode!r}.")
