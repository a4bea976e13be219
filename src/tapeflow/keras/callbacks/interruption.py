"""A training that goes on where it was interrupted."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import replace_file
from tapeflow.keras.callbacks.base import Callback, writes_files

_NAMES = ("backup-0", "backup-1")  # of the weights: the last ones, and those before


class BackupAndRestore(Callback):
    """Saves the state of the training, and restores it when `fit` is called again after an interruption.

    Args:
      backup_dir: a folder for this training only.
      save_freq: "epoch", or a number of batches.
      double_checkpoint: whether the state before the last one is kept too.
      delete_checkpoint: whether the folder is removed when the training has ended.
      **kwargs: accepted as in Keras 2.

    Raises:
      ValueError: for an empty folder's name and another `save_freq`.
    """

    def __init__(
        self, backup_dir, save_freq: str = "epoch", double_checkpoint: bool = False,
        delete_checkpoint: bool = True, **kwargs,
    ):
        super().__init__()
        if not backup_dir:
            raise ValueError("Empty `backup_dir` argument passed")
        if save_freq != "epoch" and not (isinstance(save_freq, int) and save_freq > 0):
            raise ValueError(
                "Invalid value for argument `save_freq`. Received: "
                f"save_freq={save_freq}. Expected positive integer value or 'epoch'."
            )
        self.backup_dir = local_path(backup_dir)
        self.save_freq, self.delete_checkpoint = save_freq, delete_checkpoint
        self.double_checkpoint = double_checkpoint
        self._initial_epoch = None
        self._seen = 0
        self._epoch = 0

    def _path(self, name: str):
        return os.path.join(self.backup_dir, name)

    def on_train_begin(self, logs=None):
        self._initial_epoch = None
        record = self._record()
        if record is None:
            return
        status = self.model.load_weights(self._path(record["weights"]))
        if hasattr(status, "expect_partial"):
            status.expect_partial()
        self._initial_epoch = record["epoch"]

    def _record(self):
        """What was saved last; None where nothing was, or what there is was cut short, or is none."""
        try:
            with open(self._path("training_metadata.json")) as file:
                record = json.load(file)
        except (FileNotFoundError, ValueError, RecursionError):
            return None
        known = isinstance(record, dict) and record.get("weights") in _NAMES and isinstance(record.get("epoch"), int)
        return record if known else None

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.save_freq == "epoch":
            return
        self._seen += 1
        if self._seen % self.save_freq == 0:
            self._save(self._epoch, batch)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        if self.save_freq == "epoch":
            self._save(epoch + 1, 0)

    def _save(self, epoch, batch):
        if not writes_files(self.model):
            return
        os.makedirs(self.backup_dir, exist_ok=True)
        before = self._record()
        name = _NAMES[before is None or before["weights"] != "backup-1"]
        self.model.save_weights(self._path(name), save_format="tf")
        record = {"epoch": epoch, "batch": batch, "weights": name}
        replace_file(self._path("training_metadata.json"), json.dumps(record).encode())

    def on_train_end(self, logs: dict[str, Any] | None = None):
        self._initial_epoch = None
        if self.delete_checkpoint and writes_files(self.model):
            shutil.rmtree(self.backup_dir, ignore_errors=True)
