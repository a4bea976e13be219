"""Callbacks that keep what happens: files of numbers, of weights, and functions of the user's own."""

from __future__ import annotations

import collections
import csv
import os
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.checkpoint.options import CheckpointOptions
from tapeflow.core.annotations import PathLike, Tensor
from tapeflow.core.files.paths import local_path
from tapeflow.core.release import keras_2
from tapeflow.keras.callbacks.base import Callback, writes_files
from tapeflow.keras.callbacks.monitoring import MonitorCallback
from tapeflow.saved_model.options import SaveOptions


class BaseLogger(Callback):
    """Nothing: means over epochs are kept by metrics. It is there for programs that name it.

    Args:
      stateful_metrics: names that are kept in an attribute.
    """

    def __init__(self, stateful_metrics=None):
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())


class LambdaCallback(Callback):
    """A callback made of functions, given by the names of the events.

    Args:
      on_epoch_begin, on_epoch_end: functions of the epoch and the logs.
      on_train_begin, on_train_end: functions of the logs.
      on_train_batch_begin, on_train_batch_end: functions of the batch and the logs.
      on_batch_begin, on_batch_end: their old names.
      **kwargs: functions of other events, by name.

    >>> callback = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print("epoch", epoch))
    >>> callback.on_epoch_end(3, {})
    epoch 3
    """

    def __init__(
        self, on_epoch_begin=None, on_epoch_end=None, on_train_begin=None, on_train_end=None,
        on_train_batch_begin=None, on_train_batch_end: Callable[..., Any] | None = None, on_batch_begin=None,
        on_batch_end=None, **kwargs,
    ):
        super().__init__()
        functions = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin,
            "on_train_batch_end": on_train_batch_end,
            **kwargs,
        }
        for name, function in functions.items():
            if function is not None:
                setattr(self, name, function)


class CSVLogger(Callback):
    """Writes the numbers of every epoch as a line of a file.

    Args:
      filename: the file.
      separator: what stands between the numbers.
      append: whether lines are added to a file that exists, instead of replacing it.
    """

    def __init__(self, filename: PathLike, separator: str = ",", append: bool = False):
        super().__init__()
        self.filename, self.sep, self.append = local_path(filename), separator, append
        self.csv_file = self.writer = self.keys = None
        self.append_header = True

    def on_train_begin(self, logs=None):
        if self.append and os.path.exists(self.filename):
            with open(self.filename) as file:
                self.append_header = not file.readline()
        self.csv_file = open(self.filename, "a" if self.append else "w", newline="")  # noqa: SIM115
        self.writer = self.keys = None

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
            if not any(key.startswith("val_") for key in self.keys):
                self.keys += ["val_" + key for key in self.keys]
        if self.writer is None:
            fields = ["epoch", *self.keys]
            self.writer = csv.DictWriter(self.csv_file, fields, delimiter=self.sep)
            if self.append_header:
                self.writer.writeheader()
        row = {key: _cell(logs.get(key, "NA")) for key in self.keys}
        self.writer.writerow(collections.OrderedDict(epoch=epoch, **row))
        self.csv_file.flush()

    def on_train_end(self, logs=None):
        self.csv_file.close()
        self.writer = None


def _cell(value: Tensor):
    if isinstance(value, np.ndarray) and value.ndim:
        return f'"[{", ".join(map(str, value))}]"'
    return value


class ModelCheckpoint(MonitorCallback):
    """Saves the model, or its weights, after epochs or every `save_freq` batches.

    Args:
      filepath: the file, which may name `epoch` (from 1), `batch` and logs: "model.{epoch:02d}-{val_loss:.2f}.keras".
      monitor: the name of what says which model is the best, among the logs.
      verbose: whether lines are printed.
      save_best_only: whether to save only what is better than all before.
      save_weights_only: whether weights alone are saved, by `Model.save_weights`.
      mode: "min" or "max" for what is better; "auto" for "max" of accuracies and AUC, and "min" otherwise.
      save_freq: "epoch", or a number of batches.
      options: `tf.train.CheckpointOptions` for weights, or `tf.saved_model.SaveOptions` for models.
      initial_value_threshold: what has to be bettered for the first time; None for anything.
      **kwargs: `period`, a number of epochs, and `load_weights_on_restart`, as in Keras 2.

    Raises:
      ValueError: for a `save_freq` that is neither "epoch" nor a number.
      TypeError: for other arguments, and `options` of another class.
    """

    def __init__(
        self, filepath, monitor: str = "val_loss", verbose: int = 0, save_best_only: bool = False,
        save_weights_only: bool = False, mode: str = "auto", save_freq: str = "epoch",
        initial_value_threshold=None, options=None, **kwargs,
    ):
        super().__init__(monitor, mode, initial_value_threshold)
        self.filepath, self.verbose = local_path(filepath), verbose
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self.save_freq, self.period = save_freq, kwargs.pop("period", 1)
        self._load_first = kwargs.pop("load_weights_on_restart", False)
        if kwargs:
            raise TypeError(f"Invalid keyword arguments: {sorted(kwargs)}")
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(
                f'Unrecognized save_freq: {save_freq}. Expected save_freq are "epoch" or integer'
            )
        wanted = CheckpointOptions if save_weights_only else SaveOptions
        if options is not None and not isinstance(options, wanted):
            raise TypeError(
                f"If save_weights_only is {bool(save_weights_only)}, then `options` must be either None or a "
                f"{wanted.__name__}. Got {options}."
            )
        self._options = options
        self.epochs_since_last_save = 0
        self._batches = 0
        self._epoch = 0

    def on_train_begin(self, logs=None):
        if self._load_first:
            found = self._newest()
            if found is not None:
                self.model.load_weights(found)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.save_freq == "epoch":
            return
        self._batches += 1
        if self._batches >= self.save_freq:
            self._batches = 0
            self._save(self._epoch, batch, logs)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch" and self.epochs_since_last_save >= self.period:
            self._save(epoch, None, logs)

    def _path(self, epoch: int, batch, logs: dict[str, Any]):
        try:
            if batch is None:
                return self.filepath.format(epoch=epoch + 1, **logs)
            return self.filepath.format(epoch=epoch + 1, batch=batch + 1, **logs)
        except KeyError as error:
            raise KeyError(
                f'Failed to format this callback filepath: "{self.filepath}". Reason: {error}'
            ) from error

    def _save(self, epoch, batch, logs):
        logs = logs or {}
        self.epochs_since_last_save = 0
        path = self._path(epoch, batch, logs)
        if self.save_best_only:
            if not self._is_best(epoch, logs, path):
                return
        elif self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: saving model to {path}")
        if not writes_files(self.model):
            return
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True, options=self._options)
        else:
            self.model.save(path, overwrite=True, options=self._options)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: finished saving model to {path}")

    def _is_best(self, epoch: int, logs: dict[str, Any], path: str):
        """Whether the model is to be saved as the best so far; in Keras 3 also where that cannot be known."""
        current = logs.get(self.monitor)
        if current is None:
            skipping = ", skipping" if keras_2() else ""
            warnings.warn(f"Can save best model only with {self.monitor} available{skipping}.", stacklevel=4)
            return not keras_2()
        best = "None" if self.best is None else f"{self.best:.5f}"
        if not self._is_improvement(current, self.best):
            if self.verbose > 0:
                print(f"\nEpoch {epoch + 1}: {self.monitor} did not improve from {best}")
            return False
        if self.verbose > 0:
            print(
                f"\nEpoch {epoch + 1}: {self.monitor} improved from {best} to {current:.5f}, saving model to {path}"
            )
        self.best = current
        return True

    def _newest(self):
        """The newest file that the pattern of `filepath` matches, or None."""
        folder, name = os.path.split(self.filepath)
        pattern = re.compile("^" + re.sub(r"\\{.*?\\}", ".*", re.escape(name)) + r"(\.index)?$")
        found = [
            os.path.join(folder, entry)
            for entry in (os.listdir(folder or ".") if os.path.isdir(folder or ".") else ())
            if pattern.match(entry)
        ]
        newest = max(found, key=os.path.getmtime, default=None)
        return None if newest is None else newest.removesuffix(".index")
