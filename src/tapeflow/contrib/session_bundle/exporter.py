"""Writes session bundles: a folder a version, with a checkpoint, the graph, signatures and assets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.compat.v1 import gfile
from tapeflow.contrib.session_bundle import constants, gc, manifest_pb2
from tapeflow.core.annotations import Tensor
from tapeflow.ops.static import static_value

__all__ = [
    "Exporter", "classification_signature", "generic_signature", "gfile_copy_callback", "regression_signature",
]  # fmt: skip


def gfile_copy_callback(files_to_copy: Mapping[str, str], export_dir_path: str) -> None:
    """Copy files to a folder; `files_to_copy` has their names there by their paths."""
    v1.logging.info("Write assets into: %s using gfile_copy.", export_dir_path)
    gfile.MakeDirs(export_dir_path)
    for path, name in files_to_copy.items():
        target = os.path.join(os.fsdecode(export_dir_path), os.fsdecode(name))
        v1.logging.info("Copying asset %s to path %s.", path, target)
        gfile.Copy(path, target, overwrite=True)


def regression_signature(input_tensor: Tensor, output_tensor: Tensor):
    """The Signature of a model that estimates numbers."""
    signature = manifest_pb2.Signature()
    signature.regression_signature.input.tensor_name = input_tensor.name
    signature.regression_signature.output.tensor_name = output_tensor.name
    return signature


def classification_signature(
    input_tensor: Tensor, classes_tensor: Tensor | None = None, scores_tensor: Tensor | None = None
):
    """The Signature of a model that tells classes apart."""
    signature = manifest_pb2.Signature()
    signature.classification_signature.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        signature.classification_signature.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        signature.classification_signature.scores.tensor_name = scores_tensor.name
    return signature


def generic_signature(name_tensor_map: Mapping[str, Tensor]):
    """A Signature that names tensors."""
    signature = manifest_pb2.Signature()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


def _collect(key: str, message: Any) -> None:
    """Adds a message to a collection of the graph, as one of any kind."""
    from google.protobuf.any_pb2 import Any as AnyMessage

    packed = AnyMessage()
    packed.Pack(message)
    v1.add_to_collection(key, packed)


class Exporter:
    """Writes a model as session bundles.

    Args:
      saver: a `tf.train.Saver` of the model's variables.
    """

    def __init__(self, saver):
        definition = saver.as_saver_def()
        definition.ClearField("max_to_keep")  # the exporter itself removes old versions
        self._saver = v1.train.Saver(saver_def=definition)
        self._has_init = False
        self._assets_to_copy: dict[Any, Any] = {}
        self._assets_callback: Callable[..., Any] | None = None

    def init(
        self, graph_def: Any = None, init_op: Any = None, clear_devices: bool = False,
        default_graph_signature: Any = None, named_graph_signatures: Mapping[str, Any] | None = None,
        assets_collection: Sequence[Tensor] | None = None,
        assets_callback: Callable[..., Any] | None = gfile_copy_callback,
    ):  # fmt: skip
        """Say what is written besides the variables.

        Args:
          graph_def: the graph of the model, by default the default one.
          init_op: the operation that runs after the variables have been read.
          clear_devices: whether the written graph names no devices.
          default_graph_signature: the Signature that servers use.
          named_graph_signatures: others, by name.
          assets_collection: constants that are paths of files of the model.
          assets_callback: copies these; a function of {path: name} and of a folder.

        Raises:
          RuntimeError: for a second call.
          TypeError: for an `init_op` that is no operation, or a path that is no constant string.
          ValueError: for an empty path.
        """
        assets = [(_path_of(tensor), tensor) for tensor in assets_collection or ()]
        for path, _ in assets:
            self._assets_to_copy[path] = os.path.basename(path)
        if self._has_init:
            raise RuntimeError("init should be called only once")
        self._has_init = True
        if graph_def or clear_devices:
            graph = v1.GraphDef()
            graph.CopyFrom(graph_def or v1.get_default_graph().as_graph_def())
            for node in graph.node if clear_devices else ():
                node.device = ""
            _collect(constants.GRAPH_KEY, graph)
        if init_op is not None:
            if not isinstance(init_op, v1.Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            v1.add_to_collection(constants.INIT_OP_KEY, init_op)
        signatures = manifest_pb2.Signatures()
        if default_graph_signature:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        _collect(constants.SIGNATURES_KEY, signatures)
        for path, tensor in assets:
            asset = manifest_pb2.AssetFile(filename=os.path.basename(path))
            asset.tensor_binding.tensor_name = tensor.name
            _collect(constants.ASSETS_KEY, asset)
        self._assets_callback = assets_callback

    def export(
        self, export_dir_base: str, global_step_tensor: Any, sess: Any = None,
        exports_to_keep: Callable[..., Any] | None = None,
    ):  # fmt: skip
        """Write a version, in a folder that is named by the step; return its path.

        Args:
          export_dir_base: the folder of all versions.
          global_step_tensor: the step, a tensor or its name.
          sess: the session that has the variables.
          exports_to_keep: which versions stay, a function of `gc`; by default all.

        Raises RuntimeError before `init`, and for a version that is there already.
        """
        if not self._has_init:
            raise RuntimeError("init must be called first")
        base = export_dir_base.rstrip("/")
        step = v1.train.global_step(sess, _tensor_of(global_step_tensor, sess))
        folder = os.path.join(base, constants.VERSION_FORMAT_SPECIFIER % step)
        if gfile.Exists(folder):
            raise RuntimeError(
                "Overwriting exports can cause corruption and are not allowed. Duplicate export dir: " + folder
            )
        written = folder + "-tmp"  # renamed when it is whole
        gfile.MakeDirs(written)
        self._saver.save(
            sess, os.path.join(written, constants.EXPORT_BASE_NAME), meta_graph_suffix=constants.EXPORT_SUFFIX_NAME
        )
        if self._assets_callback and self._assets_to_copy:
            assets = os.path.join(written, constants.ASSETS_DIRECTORY)
            gfile.MakeDirs(assets)
            self._assets_callback(self._assets_to_copy, assets)
        gfile.Rename(written, folder)
        if exports_to_keep:
            _remove_others(base, exports_to_keep)
        return folder.encode()


def _tensor_of(step: Any, session: Any) -> Any:
    return session.graph.get_tensor_by_name(step) if isinstance(step, str) else step


def _remove_others(base: str, exports_to_keep: Callable[..., Any]) -> None:
    def parser(path: gc.Path) -> gc.Path | None:
        found = re.fullmatch(r"\d{8}", os.path.basename(path.path))
        return path._replace(export_version=int(found.group())) if found else None

    for each in gc.negation(exports_to_keep)(gc.get_paths(base, parser)):
        gfile.DeleteRecursively(each.path)


def _path_of(tensor: Any) -> str:
    """The path that a constant holds."""
    if not isinstance(tensor, v1.Tensor):
        raise TypeError("tensor is not a Tensor")
    if tensor.op.type != "Const":
        raise TypeError("Only constants tensor are supported")
    if tensor.dtype != v1.string:
        raise TypeError("File paths should be string")
    value: Any = static_value(tensor)
    if value.size != 1:
        raise TypeError("Only scalar tensors are supported")
    path = os.fsdecode(value.item())
    if not path:
        raise ValueError(f"invalid asset filepath tensor {tensor}")
    return path
