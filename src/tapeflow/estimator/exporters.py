"""Exporters: they write models while `train_and_evaluate` goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries
from tapeflow.train import summary_iterator

if TYPE_CHECKING:
    from tapeflow.estimator.estimator import Estimator


class Exporter:
    """What is asked to export a model after each evaluation."""

    @property
    def name(self):
        """The exporter's name, and its folder's."""
        raise TypeError(f"name is not defined for {type(self).__name__}.")

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Writes a model below `export_path`; returns where, or None."""
        raise TypeError(f"export is not defined for {type(self).__name__}.")


class _Saved(Exporter):
    def __init__(
        self, name: str, serving_input_receiver_fn: Callable[..., Any] | None,
        assets_extra: Mapping[Any, Any] | None = None, as_text: bool = False,
    ):
        self._name, self._receiver = name, serving_input_receiver_fn
        self._assets, self._as_text = assets_extra, as_text

    @property
    def name(self):
        """The exporter's name, and its folder's."""
        return self._name

    def _write(self, estimator, export_path: str, checkpoint_path: str):
        return estimator.export_saved_model(
            export_path, self._receiver, self._assets, self._as_text, checkpoint_path
        )


class FinalExporter(_Saved):
    """Exports the model once, at the end."""

    def export(
        self, estimator: Estimator, export_path: str, checkpoint_path: str, eval_result: dict[str, Any],
        is_the_final_export: TensorLike,
    ):
        """Writes the model if this is the end."""
        if not is_the_final_export:
            return None
        return self._write(estimator, export_path, checkpoint_path)


class LatestExporter(_Saved):
    """Exports each model, and keeps the last ones; None keeps all. Raises ValueError for a number below 1."""

    def __init__(
        self, name: str, serving_input_receiver_fn: Callable[..., Any], assets_extra: Mapping[Any, Any] | None = None,
        as_text: bool = False, exports_to_keep: int = 5,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._keep = _positive(exports_to_keep)

    def export(
        self, estimator: Estimator, export_path: str, checkpoint_path: str, eval_result: dict[str, Any],
        is_the_final_export: TensorLike,
    ):
        """Writes the model, and deletes old ones."""
        made = self._write(estimator, export_path, checkpoint_path)
        delete_old(export_path, self._keep)
        return made


class BestExporter(_Saved):
    """Exports a model that is better than all before; by default, whose `loss` is smaller.

    Args:
      compare_fn: takes `best_eval_result` and `current_eval_result`; whether the current one is better.
      event_file_pattern: in the estimator's folder, the event files of evaluations of before, which count too.
    """

    def __init__(
        self, name: str = "best_exporter", serving_input_receiver_fn: Callable[..., Any] | None = None,
        event_file_pattern=None, compare_fn: Callable[..., Any] | None = None,
        assets_extra: Mapping[Any, Any] | None = None, as_text: bool = False, exports_to_keep: int = 5,
    ):  # fmt: skip
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        if serving_input_receiver_fn is None:
            raise ValueError("`serving_input_receiver_fn` must be defined.")
        self._better = compare_fn or _smaller_loss
        self._pattern = event_file_pattern
        self._keep = _positive(exports_to_keep)
        self._best = None

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Writes the model if it is the best so far."""
        if self._best is None and self._pattern:
            self._best = self._best_before(os.path.join(estimator.model_dir, self._pattern))
        if self._best is not None and not self._better(
            best_eval_result=self._best, current_eval_result=eval_result
        ):
            return None
        self._best = eval_result
        made = self._write(estimator, export_path, checkpoint_path)
        delete_old(export_path, self._keep)
        return made

    def _best_before(self, pattern):
        import glob

        best = None
        for path in sorted(glob.glob(pattern)):
            for event in summary_iterator(path):
                found = {value.tag: value.simple_value for value in event.summary.value}
                if found and (
                    best is None or self._better(best_eval_result=best, current_eval_result=found)
                ):
                    best = found
        return best


def _smaller_loss(best_eval_result: dict[str, Any], current_eval_result: dict[str, Any]):
    for result in (best_eval_result, current_eval_result):
        if not result or "loss" not in result:
            raise ValueError(f"eval_result cannot be empty or no loss is found in it: {result}")
    return current_eval_result["loss"] < best_eval_result["loss"]


def _positive(number: int):
    if number is not None and number <= 0:
        raise ValueError(
            "`exports_to_keep`, if provided, must be a positive number. Got " + str(number)
        )
    return number


def delete_old(folder: str, keep: int):
    if keep is None:
        return
    stamps = sorted(int(name) for name in os.listdir(folder) if name.isdigit())
    for stamp in stamps[:-keep]:
        shutil.rmtree(os.path.join(folder, str(stamp)))


boundaries(globals())
