"""`tf.train.Saver`: variables by their names (1.x)."""

from __future__ import annotations

import collections
import logging
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tapeflow import protos
from tapeflow.checkpoint import slices
from tapeflow.checkpoint.bundle_writing import write_bundle
from tapeflow.checkpoint.first_format import reader_of
from tapeflow.checkpoint.first_nodes import save_slices_node
from tapeflow.checkpoint.first_writing import write_first
from tapeflow.checkpoint.restoring import assign
from tapeflow.checkpoint.saved_items import Item, items_of, keys_by_name
from tapeflow.checkpoint.saving_nodes import grouped, restore_node, save_node
from tapeflow.checkpoint.slices import Part
from tapeflow.checkpoint.state import checkpoint_exists, remove_checkpoint, update_checkpoint_state
from tapeflow.core import context
from tapeflow.core.context import device as placed
from tapeflow.core.context import name_scope
from tapeflow.core.device import DeviceSpec
from tapeflow.core.errors import NotFoundError
from tapeflow.core.files.paths import local_path, plain_text
from tapeflow.core.public import boundaries, public_methods
from tapeflow.graph.build.placeholders import placeholder_with_default
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.interchange import meta_graph
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.ops.io.sharded_name import ShardedFilename, ShardedFilespec

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session

_logger = logging.getLogger("tensorflow")
# The fields of a SaverDef that name nodes.
_NODES = ("filename_tensor_name", "save_tensor_name", "restore_op_name")


@public_methods
class Saver:
    """Saves and restores variables under their names, or under the keys of a dict.

    Args:
      var_list: a list of variables, or a dict of variables by name; eagerly it must be given.
      max_to_keep: how many checkpoints stay; None or 0 for all.
      keep_checkpoint_every_n_hours: one more stays for good at least this often.
      write_version: 2, or 1: then a checkpoint is one file, and the log says that this format is deprecated.

    Raises ValueError for two variables of one name or a `builder` of other nodes, TypeError for what is no variable,
    RuntimeError for versions that there are not.
    """

    def __init__(
        self, var_list=None, reshape: bool = False, sharded: bool = False, max_to_keep: int = 5,
        keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None,
        restore_sequentially: bool = False, saver_def=None, builder=None, defer_build: bool = False,
        allow_empty: bool = False, write_version: int = 2, pad_step_number: bool = False,
        save_relative_paths: bool = False, filename=None,
    ):
        if context.executing_eagerly() and var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of variables "
                "to save"
            )
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False "
                "or var_list=None."
            )
        if builder is not None:
            raise ValueError(f"Savers build their nodes themselves: `builder` must be None, got {builder!r}.")
        if write_version not in (1, 2):
            raise RuntimeError(f"Unexpected write_version: {write_version!r}")
        self._given, self._name, self._allow_empty = var_list, name, allow_empty
        self._items: list[Item] = []
        self.saver_def = saver_def
        self._built = self._empty = False
        self._max_to_keep, self._keep_every = max_to_keep, keep_checkpoint_every_n_hours
        self._pad, self._relative = pad_step_number, save_relative_paths
        self._reshape, self._filename, self._sharded = reshape, filename, sharded
        self._version = write_version
        self._kept: collections.OrderedDict[str, float] = collections.OrderedDict()
        self._next_preserved = time.time() + keep_checkpoint_every_n_hours * 3600
        if not defer_build:
            self.build()
        if saver_def is not None:
            self._sharded = saver_def.sharded
            self._max_to_keep = saver_def.max_to_keep
            self._keep_every = saver_def.keep_checkpoint_every_n_hours
            self._version = saver_def.version

    def build(self):
        """Finds the variables and, in a graph, makes the operations that save and restore them."""
        if self._built:
            return
        self._built = True
        if context.executing_eagerly():  # names are looked at when there is something to save
            if not self._given and not self._allow_empty:
                raise ValueError("No variables to save")
            return
        if self.saver_def is not None:
            return
        graph = context.current_graph()
        given = self._given
        if given is None:
            given = graph.get_collection("variables") + graph.get_collection("saveable_objects")
        self._items = items_of(given)
        if not self._items:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._empty = True
            return
        self.saver_def = self._build_nodes()

    def _build_nodes(self):
        """The SaverDef of new nodes, called as TensorFlow calls them."""
        names = [item.name for item in self._items]
        specs = [item.spec for item in self._items]
        variables = [item.variable for item in self._items]
        with name_scope(self._name or "save"):
            filename = placeholder_with_default(self._filename or "model", [], name="filename")
            path = placeholder_with_default(filename, [], name="Const")
            values = [_read(v) for v in variables]
            if self._version == 1:
                save, saved_path = self._save_as_version_1(path, names, specs, values)
            else:
                save, saved_path = save_node(path, names, values, None, specs), path
            with control_dependencies([save]):
                saved = identity(saved_path, name="control_dependency")
            kinds = [(v.dtype.base_dtype, None if self._reshape else v.shape) for v in variables]
            assigns = []
            for variable, value in zip(variables, restore_node(path, names, kinds, None, specs)):
                if self._reshape:
                    value = reshape(value, variable.shape.as_list())
                assigns.append(variable.assign(value, read_value=False))
            restore = group(*assigns, name="restore_all")
        return protos.SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=saved.name,
            restore_op_name=restore.name,
            max_to_keep=self._max_to_keep or 0,
            keep_checkpoint_every_n_hours=self._keep_every,
            sharded=self._sharded,
            version=self._version,
        )

    def _save_as_version_1(self, path, names, specs, values):
        """The operation that writes a file of version 1, and by which name it is read; sharded ones by a pattern."""
        if not self._sharded:
            return save_slices_node(path, names, specs, values, None), path
        file = ShardedFilename(path, 0, 1)
        return save_slices_node(file, names, specs, values, None), ShardedFilespec(path, 1)

    def as_saver_def(self):
        """The SaverDef: the names of the nodes, and how many checkpoints are kept."""
        return self.saver_def

    def to_proto(self, export_scope=None):
        """The SaverDef; with `export_scope` as names within it, and None where the nodes are outside of it."""
        if not export_scope:
            return self.saver_def
        scope = f"{export_scope.rstrip('/')}/"
        if not self.saver_def.filename_tensor_name.startswith(scope):
            return None
        made = protos.SaverDef()
        made.CopyFrom(self.saver_def)
        for field in _NODES:
            setattr(made, field, getattr(made, field).removeprefix(scope))
        return made

    @staticmethod
    def from_proto(saver_def, import_scope: str | None = None):
        """A Saver of the nodes that a SaverDef names, which are in the default graph."""
        copy = protos.SaverDef()
        copy.CopyFrom(saver_def)
        if import_scope:
            for field in _NODES:
                setattr(copy, field, f"{import_scope}/{getattr(copy, field)}")
        return Saver(saver_def=copy, name=import_scope)

    def export_meta_graph(
        self, filename: str | None = None, collection_list: Sequence[str] | None = None,
        as_text: bool = False, export_scope=None, clear_devices: bool = False,
        clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ):
        """Return the MetaGraphDef of the default graph, with this saver, and write it to `filename` if that is given.

        The arguments are those of `tf.compat.v1.train.export_meta_graph`.
        """
        return meta_graph.export(
            filename,
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            strip_default_attrs=strip_default_attrs,
            clear_extraneous_savers=clear_extraneous_savers,
        )

    @staticmethod
    def _add_collection_def(meta_graph_def, key, export_scope=None):
        """Adds a collection of the default graph to a MetaGraphDef; one that it cannot hold is left out."""
        items = get_default_graph().get_collection(key)
        if isinstance(key, str):
            meta_graph.add_collection(meta_graph_def, key, items, export_scope)

    @property
    def last_checkpoints(self):
        """The prefixes of the checkpoints that are kept, the newest last."""
        return list(self._kept)

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]):
        """Says which checkpoints there are."""
        self._kept = collections.OrderedDict((path, 0.0) for path in last_checkpoints)

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Says which checkpoints there are, and when they were written."""
        self._kept = collections.OrderedDict(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]):
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
        path = plain_text(save_path)
        if self._version != 2:
            _logger.warning("Checkpoints of version 1 are deprecated: tf.train.SaverDef.V2 is the default.")
        if global_step is not None:
            step = global_step
            if hasattr(step, "dtype") and not isinstance(step, (np.integer, np.ndarray)):
                eager = context.executing_eagerly()
                step = np.asarray(step.numpy() if hasattr(step, "numpy") and eager else
                                  sess.run(step) if not eager else step)  # fmt: skip
            path = f"{path}-{int(step):08d}" if self._pad else f"{path}-{int(step)}"
        if os.path.basename(path) == (latest_filename or "checkpoint") and not self._sharded:
            raise ValueError(
                f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'"
            )
        folder = os.path.dirname(local_path(path))
        if folder and not os.path.isdir(folder) and not path.startswith("ram://"):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        written = path
        if not context.executing_eagerly():
            if not hasattr(sess, "run"):
                raise TypeError(f"'sess' must be a Session; {sess}")
            if not self._built:
                raise RuntimeError("`build()` should be called before save if defer_build==True")
            if not self._empty:
                names = self.saver_def
                written = sess.run(names.save_tensor_name, {names.filename_tensor_name: path}).decode()
        else:
            self._write_eagerly(path)
        if write_state:
            self._record(written, latest_filename)
        if write_meta_graph and not context.executing_eagerly():
            with sess.graph.as_default():
                self.export_meta_graph(
                    f"{path}.{meta_graph_suffix}", strip_default_attrs=strip_default_attrs
                )
        return None if self._empty else written

    def _write_eagerly(self, path: str):
        values = [
            (item.name, Part(item.variable.numpy(), *slices.parse(item.spec)) if item.spec else item.variable.numpy())
            for item in items_of(self._given)
        ]
        if self._version == 1:
            write_first(path, values)
        else:
            write_bundle(path, grouped(values))

    def _record(self, path: str, latest_filename):
        if self._max_to_keep:  # without a limit none is ever removed, and none remembered
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
                remove_checkpoint(gone, self._version)

    def restore(self, sess: Session, save_path: str):
        """Sets the variables from a checkpoint. Raises ValueError for no checkpoint, NotFoundError for no name."""
        if self._empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = plain_text(save_path)
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        if context.executing_eagerly():
            self._restore_eagerly(path)
            return
        names = self.saver_def
        try:
            sess.run(names.restore_op_name, {names.filename_tensor_name: path})
        except NotFoundError:
            if not self._restore_objects(sess, path):
                raise

    def _restore_eagerly(self, path):
        reader = reader_of(path)
        items = items_of(self._given)
        keys = {item.name: item.name for item in items}
        missing = [name for name in keys if name not in reader]
        if missing:
            found = keys_by_name(reader)
            if not found or any(name not in found for name in keys):
                raise NotFoundError(
                    None,
                    None,
                    "Restoring from checkpoint failed. This is most likely due to a Variable name or other "
                    f"graph key that is missing from the checkpoint. Key {missing[0]} not found in "
                    f"checkpoint {path}",
                )
            keys = {name: found[name] for name in keys}
        for item in items:
            if item.spec:
                value = reader.read_slice(keys[item.name], *slices.parse(item.spec))
                item.variable.assign(value)
            else:
                assign(item.variable, reader, keys[item.name])

    def _restore_objects(self, sess, path):
        """Restores from a checkpoint of objects by the names that the variables had; whether it is one.

        Raises NotFoundError where it has not all of them.
        """
        reader = reader_of(path)
        found = keys_by_name(reader)
        if found is None or not self._items:
            return False
        missing = sorted({item.name for item in self._items if item.name not in found})
        if missing:
            known = {item.name for item in self._items}
            raise NotFoundError(
                None,
                None,
                f"Existing variables not in the checkpoint: {', '.join(missing)}\n\nVariables names when this "
                f"checkpoint was written which don't exist now: {', '.join(sorted(found.keys() - known))}\n\n"
                f"Could not find some variables in the checkpoint (see names above). The checkpoint is one of "
                "objects (tf.train.Checkpoint), and this Saver goes by the names of variables, which may have "
                "changed.",
            )
        for item in self._items:
            value = reader.read(found[item.name])
            if item.spec:
                value = value[slices.indices(slices.parse(item.spec)[1])]
            item.variable.load(value, sess)
        return True


def _read(variable):
    """The value of a variable, which the processor of its own machine reads."""
    device = DeviceSpec.from_string(variable.device or "")
    if not device.device_type or device.device_type.upper() == "CPU":
        return variable.read_value()
    host = DeviceSpec(device.job, device.replica, device.task, "CPU", 0)
    with placed(host.to_string()):
        return identity(variable.read_value())


meta_graph.MADE_OF_PROTOS["savers"] = (protos.SaverDef, Saver.from_proto)
boundaries(globals())
