"""`tf.train.Saver`: variables by their names (1.x)."""

from __future__ import annotations

import collections
import os
import time
from collections.abc import Mapping
from typing import Any

from tapeflow.core.errors import NotFoundError
from tapeflow.core.public import public_methods
from tapeflow.ops.variable import Variable
from tapeflow.saved_model.bundle import BundleReader, write_bundle
from tapeflow.train.checkpoint_state import (
    checkpoint_exists,
    remove_checkpoint,
    update_checkpoint_state,
)
from tapeflow.train.restoring import assign


@public_methods
class Saver:
    """Saves and restores variables under their names, or under the keys of a dict.

    Args:
      var_list: a list of variables, or a dict of variables by name; eagerly it must be given.
      max_to_keep: how many checkpoints stay; None or 0 for all.
      keep_checkpoint_every_n_hours: one more stays for good at least this often.

    Raises ValueError for two variables of one name, TypeError for what is no variable.
    """

    def __init__(
        self,
        var_list=None,
        reshape=False,
        sharded=False,
        max_to_keep=5,
        keep_checkpoint_every_n_hours=10000.0,
        name=None,
        restore_sequentially=False,
        saver_def=None,
        builder=None,
        defer_build=False,
        allow_empty=False,
        write_version=2,
        pad_step_number=False,
        save_relative_paths=False,
        filename=None,
    ):
        if var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of variables "
                "to save"
            )
        self._variables = by_name(var_list)
        if not self._variables and not allow_empty:
            raise ValueError("No variables to save")
        self._max_to_keep, self._keep_every = max_to_keep, keep_checkpoint_every_n_hours
        self._pad, self._relative = pad_step_number, save_relative_paths
        self._reshape, self._filename = reshape, filename
        self._kept: collections.OrderedDict[str, float] = collections.OrderedDict()
        self._next_preserved = time.time() + keep_checkpoint_every_n_hours * 3600

    @property
    def last_checkpoints(self):
        """The prefixes of the checkpoints that are kept, the newest last."""
        return list(self._kept)

    def set_last_checkpoints(self, last_checkpoints):
        """Says which checkpoints there are."""
        self._kept = collections.OrderedDict((path, 0.0) for path in last_checkpoints)

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Says which checkpoints there are, and when they were written."""
        self._kept = collections.OrderedDict(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths):
        """Takes those of the checkpoints that there are as kept ones."""
        self.set_last_checkpoints([path for path in checkpoint_paths if checkpoint_exists(path)])

    def save(
        self,
        sess,
        save_path,
        global_step=None,
        latest_filename=None,
        meta_graph_suffix="meta",
        write_meta_graph=True,
        write_state=True,
        strip_default_attrs=False,
        save_debug_info=False,
    ):
        """Writes `<save_path>` or `<save_path>-<global_step>`; returns the prefix."""
        path = os.fspath(save_path)
        if global_step is not None:
            step = global_step.numpy() if hasattr(global_step, "numpy") else global_step
            path = f"{path}-{int(step):08d}" if self._pad else f"{path}-{int(step)}"
        if os.path.basename(path) == (latest_filename or "checkpoint") and global_step is None:
            raise ValueError(
                f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'"
            )
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        write_bundle(path, {name: v.numpy() for name, v in self._variables.items()})
        if write_state:
            self._record(path, latest_filename)
        return path

    def _record(self, path, latest_filename):
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        old = []
        while self._max_to_keep and len(self._kept) > self._max_to_keep:
            old.append(self._kept.popitem(last=False))
        update_checkpoint_state(
            os.path.dirname(path), path, list(self._kept), latest_filename,
            save_relative_paths=self._relative,
        )  # fmt: skip
        for gone, stamp in old:
            if stamp > self._next_preserved:
                self._next_preserved += self._keep_every * 3600
            else:
                remove_checkpoint(gone)

    def restore(self, sess, save_path):
        """Sets the variables from a checkpoint. Raises ValueError for no checkpoint, NotFoundError for no name."""
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = os.fspath(save_path)
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        reader = BundleReader(path)
        missing = [name for name in self._variables if name not in reader]
        if missing:
            raise NotFoundError(
                None,
                None,
                "Restoring from checkpoint failed. This is most likely due to a Variable name or other "
                f"graph key that is missing from the checkpoint. Key {missing[0]} not found in "
                f"checkpoint {path}",
            )
        for name, variable in self._variables.items():
            assign(variable, reader, name)


def by_name(var_list) -> dict[str, Any]:
    """Variables by the names under which they are saved."""
    if isinstance(var_list, Mapping):
        pairs = list(var_list.items())
    else:
        pairs = [(getattr(v, "_shared_name", None), v) for v in var_list]
    found: dict[str, Any] = {}
    for name, variable in pairs:
        if not isinstance(variable, Variable):
            raise TypeError(f"Variable to save is not a Variable: {variable}")
        if name in found and found[name] is not variable:
            raise ValueError(f"At least two variables have the same name: {name}")
        found[name] = variable
    return found
