"""`tfe.Saver`: variables of eager programs by their names, and the variables of optimizers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.checkpoint.bundle import BundleReader
from tapeflow.checkpoint.restoring import assign
from tapeflow.checkpoint.saver import Saver as _Saver
from tapeflow.checkpoint.state import checkpoint_exists
from tapeflow.core.annotations import Variable
from tapeflow.core.variables import shared_name_of
from tapeflow.ops.state.variable import variable_creator_scope


class Saver:
    """Saves and restores variables under their names, or under the keys of a dict."""

    def __init__(self, var_list: Sequence[Variable]):
        self._saver = _Saver(var_list=var_list)

    def save(self, file_prefix: str, global_step: Any = None):
        """Writes `<file_prefix>` or `<file_prefix>-<global_step>`; returns the prefix."""
        return self._saver.save(None, file_prefix, write_meta_graph=False, global_step=global_step)

    def restore(self, file_prefix):
        """Sets the variables from a checkpoint. Raises ValueError for no checkpoint, NotFoundError for no name."""
        self._saver.restore(None, file_prefix)


def get_optimizer_variables(optimizer):
    """The variables that an optimizer has made."""
    return optimizer.variables() if callable(optimizer.variables) else optimizer.variables


@contextlib.contextmanager
def restore_variables_on_create(save_path: str, map_func: Callable[..., Any] | None = None):
    """A context in which variables that `get_variable` makes start from a checkpoint, found by their names.

    Raises NotFoundError for names that it does not have.
    """
    if save_path is None or not checkpoint_exists(os.fspath(save_path)):
        yield
        return
    reader = BundleReader(save_path)

    def create(next_creator: Callable[..., Any], **kwargs):
        variable = next_creator(**kwargs)
        name = shared_name_of(variable) if map_func is None else map_func(shared_name_of(variable))
        assign(variable, reader, name)
        return variable

    with variable_creator_scope(create):
        yield
