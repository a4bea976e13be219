"""`SavedModelBuilder` (1.x): graphs and the variables of a session as a SavedModel."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.checkpoint.saver import Saver
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.public import public, public_methods
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.interchange.writing import write_message
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.static import static_value
from tapeflow.saved_model import constants
from tapeflow.saved_model.signature_defs import op_signature, predict_signature_def

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session


@public_methods
class SavedModelBuilder:
    """Collects graphs for a SavedModel: one with the variables of a session first, others that share them after it.

    Raises AssertionError for a folder that is there and not empty.
    """

    def __init__(self, export_dir: str):
        self._folder = local_path(export_dir)
        self._model = protos.SavedModel(
            saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION
        )
        self._has_variables = False
        if os.path.exists(self._folder):
            if os.listdir(self._folder):
                raise AssertionError(
                    f"Export directory {self._folder} already exists, and isn't empty. Please choose a different "
                    f"export directory, or delete all the contents of the specified directory: {self._folder}"
                )
        else:
            os.makedirs(self._folder)

    def add_meta_graph_and_variables(
        self, sess: Session, tags: Sequence[str], signature_def_map: dict[str, Any] | None = None,
        assets_collection: Sequence[Any] | None = None, legacy_init_op=None, clear_devices: bool = False,
        main_op: Operation | None = None, strip_default_attrs: bool = False, saver: Saver | None = None,
    ):
        """Writes the variables of a session, and adds its graph.

        Args:
          tags: what the graph is known by.
          signature_def_map: `SignatureDef`s by key.
          assets_collection: string tensors of the paths of files that the graph needs.
          legacy_init_op, main_op: the operation that runs when the graph is loaded.

        Raises AssertionError if variables were written before, TypeError for signatures of another form.
        """
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        _check_signatures(signature_def_map)
        graph = sess.graph
        with graph.as_default():
            saver = saver or _saver()
            folder = os.path.join(self._folder, constants.VARIABLES_DIRECTORY)
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, constants.VARIABLES_FILENAME)
            saver.save(sess, path, write_meta_graph=False, write_state=False)
            self._add(
                graph, saver, tags, signature_def_map, assets_collection, main_op or legacy_init_op,
                clear_devices, strip_default_attrs, constants.MAIN_OP_KEY if main_op is not None else
                constants.LEGACY_INIT_OP_KEY,
            )  # fmt: skip
        self._has_variables = True

    def add_meta_graph(
        self, tags: Sequence[str], signature_def_map: dict[str, Any] | None = None, assets_collection=None,
        legacy_init_op=None, clear_devices: bool = False, main_op=None, strip_default_attrs: bool = False, saver=None,
    ):
        """Adds the default graph, whose variables are those that were written.

        Raises AssertionError if none were written before.
        """
        if not self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        _check_signatures(signature_def_map)

        self._add(
            get_default_graph(), saver or _saver(), tags, signature_def_map, assets_collection,
            main_op or legacy_init_op, clear_devices, strip_default_attrs,
            constants.MAIN_OP_KEY if main_op is not None else constants.LEGACY_INIT_OP_KEY,
        )  # fmt: skip

    def _add(
        self, graph: Any, saver: Any, tags: Any, signatures: Any, assets: Any, main_op: Any,
        clear_devices: bool, strip_default_attrs: bool, main_key: str,
    ) -> None:  # fmt: skip
        files = self._copy_assets(assets)
        collections = graph.get_all_collection_keys()
        if main_op is not None:
            if not isinstance(main_op, Operation):
                raise TypeError(f"Main op needs to be an Operation: {main_op!r}")
            known = graph.get_collection_ref(main_key)
            known[:] = [main_op]
            collections = graph.get_all_collection_keys()
        keys = [key for key in collections if key != constants.ASSETS_KEY]
        meta = saver.export_meta_graph(
            collection_list=keys, clear_devices=clear_devices, strip_default_attrs=strip_default_attrs
        )
        meta.meta_info_def.tags.extend([tags] if isinstance(tags, str) else list(tags))
        for key, signature in (signatures or {}).items():
            meta.signature_def[key].CopyFrom(signature)
        if main_op is not None:
            key = constants.INIT_OP_SIGNATURE_KEY
            meta.signature_def[key].CopyFrom(op_signature(main_op, key))
        for tensor, name in files:
            asset = meta.asset_file_def.add(filename=name)
            asset.tensor_info.name = tensor.name
            meta.collection_def[constants.ASSETS_KEY].any_list.value.add().Pack(asset)
        self._model.meta_graphs.add().CopyFrom(meta)

    def _copy_assets(self, tensors: Any) -> list[tuple[Any, str]]:
        """Pairs of a tensor and the name that its file has in the folder."""
        found: list[tuple[Any, str]] = []
        names: dict[str, str] = {}
        folder = os.path.join(self._folder, constants.ASSETS_DIRECTORY)
        for tensor in tensors or ():
            if not isinstance(tensor, SymbolicTensor):
                raise ValueError("Asset tensor must be a Tensor.")
            value = static_value(tensor)
            if value is None:
                raise ValueError("Invalid asset filepath tensor.")
            path = local_path(value.item() if hasattr(value, "item") else value)
            if path not in names:
                base, count = os.path.basename(path), 0
                name = base
                while name in names.values():
                    count += 1
                    name = f"{base}_{count}"
                names[path] = name
                os.makedirs(folder, exist_ok=True)
                shutil.copyfile(path, os.path.join(folder, name))
            found.append((tensor, names[path]))
        return found

    def save(
        self, as_text: bool = False, experimental_image_format: bool = False,
        experimental_image_writer_options=None,
    ):
        """Writes the model; returns the path of its file."""
        os.makedirs(self._folder, exist_ok=True)
        if as_text:
            path = os.path.join(self._folder, constants.SAVED_MODEL_FILENAME_PBTXT)
            write_message(self._model, path, True)
        else:
            path = os.path.join(self._folder, constants.SAVED_MODEL_FILENAME_PB)
            replace_file(path, self._model.SerializeToString(deterministic=True), synced=True)
        return path.encode()


def _saver() -> Saver:
    return Saver(sharded=True, allow_empty=True)


def _check_signatures(signatures: Any) -> None:
    for key, signature in (signatures or {}).items():
        if not hasattr(signature, "method_name"):
            raise TypeError(f"Signature '{key}' is no SignatureDef: {signature!r}")
        for infos in (signature.inputs, signature.outputs):
            for name, info in infos.items():
                kind = info.WhichOneof("encoding")
                if kind is None or (kind == "name" and not info.name):
                    raise AssertionError(
                        f"All TensorInfo protos used in the SignatureDefs must have the name field set: {name}"
                    )
                if kind == "name" and not info.dtype:
                    raise AssertionError(
                        f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {name}"
                    )


@public
def simple_save(session, export_dir, inputs: Any, outputs: dict[str, Any], legacy_init_op=None):
    """Write the graph and variables of a session as a SavedModel with one signature, from `inputs` to `outputs`.

    Args:
      session: the session.
      export_dir: the folder.
      inputs, outputs: a dict of tensors by name.
      legacy_init_op: an operation that runs when the model is loaded (optional).
    """
    builder = SavedModelBuilder(export_dir)
    with session.graph.as_default():
        signature = predict_signature_def(inputs, outputs)
        builder.add_meta_graph_and_variables(
            session, [constants.SERVING],
            {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
            assets_collection=session.graph.get_collection(GraphKeys.ASSET_FILEPATHS),
            main_op=legacy_init_op, clear_devices=True,
        )  # fmt: skip
    builder.save()
