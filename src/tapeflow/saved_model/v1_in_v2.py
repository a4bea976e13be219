"""A SavedModel of 1.x, a graph, as an object with signatures."""

from __future__ import annotations

import os
from typing import Any

from tapeflow import protos
from tapeflow.checkpoint.bundle import BundleReader, index_path
from tapeflow.checkpoint.following import AutoTrackable
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.function.wrapping import WrappedFunction
from tapeflow.graph.build import reference_variables
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.interchange import lifted, trust
from tapeflow.graph.interchange.importing import import_nodes
from tapeflow.ops.lookup import nodes as lookup_nodes  # noqa: F401 (the tables that models have)
from tapeflow.saved_model import constants, loader, reading
from tapeflow.saved_model.signature_defs import get_tensor_from_tensor_info
from tapeflow.saved_model.signatures import SignatureFunction, SignatureMap


def load_graph(meta: Any, folder: str) -> Any:
    """The object of a graph: `signatures`, `variables`, and `prune` for other parts of it.

    Raises ValueError for a graph that cannot be, or whose variables have no values.
    """
    with context.init_scope(), context.eager_mode():
        return _Graph(meta, folder).load()


class GraphObject(AutoTrackable):
    """What was loaded of a graph of 1.x."""

    _wrapped: Any

    def prune(self, feeds: Any, fetches: Any) -> Any:
        """The part of the graph from tensors to tensors, given by name, as a function."""
        return self._wrapped.prune(feeds, fetches)


class _Graph:
    def __init__(self, meta: Any, folder: str):
        if trust.current() is not None:
            meta = trust.without_savers(meta)
        self.meta, self.folder = meta, folder
        self.graph_def = reference_variables.rewritten(meta.graph_def)
        self.graph = FuncGraph("saved_model")
        self.graph.pruned = True
        prefix = reading.variables_prefix(folder)
        self.reader = BundleReader(prefix) if os.path.exists(index_path(prefix)) else None

    def load(self) -> Any:
        variables = self._variables()
        paths = loader.assets(self.meta, self.folder)
        files = {name: convert_to_tensor(path) for name, path in paths.items()}
        with self.graph.as_default():
            given: dict[str, Any] = {
                name: self.graph.capture_variable(v, v.handle) for name, v in variables.items()
            }
            given |= {name: self.graph.add_capture(path) for name, path in files.items()}
            import_nodes(self.graph_def, input_map=given, name="", own_files=paths)
        trainable = self._trainable()
        for name, variable in variables.items():
            if trainable is not None and name.removesuffix(":0") not in trainable:
                variable._trainable = False
        wrapped = WrappedFunction(self.graph, "saved_model", ((), {}), [])
        wrapped.graph.structured_outputs = None
        root = GraphObject()
        root.__dict__["_wrapped"] = wrapped
        root.__dict__["variables"] = [v for v in variables.values() if v.dtype != dtypes.string]
        root.__dict__["graph"] = self.graph
        root.__dict__["asset_paths"] = list(files.values())
        main = loader.main_op(self.meta)
        if main is not None:
            wrapped.prune([], self.graph.get_operation_by_name(main))()
        root.__dict__["signatures"] = self._signatures(wrapped)
        return root

    def _variables(self) -> dict[str, Any]:
        """Variables with the values of the checkpoint, by the name of the tensor of their handles."""

        def value_of(names: list[str], dtype: Any, shape: Any) -> Any:
            found = [name for name in names if self.reader is not None and name in self.reader]
            return self.reader.read(found[0]) if found and self.reader is not None else None

        return lifted.variables_of(self.graph_def, value_of)

    def _trainable(self) -> set[str] | None:
        """The names of the handles of trainable variables; None if the graph does not say."""
        collection = self.meta.collection_def.get("trainable_variables")
        if collection is None:
            return None
        names = set()
        for data in collection.bytes_list.value:
            name = protos.VariableDef.FromString(data).variable_name.partition(":")[0]
            names |= {name, f"{name}/resource_handle"}
        return names

    def _signatures(self, wrapped: Any) -> SignatureMap:
        made = {}
        for key, signature in self.meta.signature_def.items():
            if key in (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY):
                continue
            names = sorted(signature.inputs)
            feeds = [_element(self.graph, signature.inputs[name]) for name in names]
            fetches = {name: _element(self.graph, info) for name, info in signature.outputs.items()}
            cut = wrapped.prune(feeds, fetches)
            specs = {
                name: TensorSpec(x.shape, x.dtype, name)
                for name, x in zip(names, cut.graph.inputs, strict=False)
            }
            own = SignatureFunction(cut.graph, f"signature_{key}", ((), specs), names)
            own.output_specs = {
                name: TensorSpec(y.shape, y.dtype, name) if hasattr(y, "dtype") else y
                for name, y in cut.graph.structured_outputs.items()
            }
            made[key] = own
        return SignatureMap(made)


def _element(graph: Any, info: Any) -> Any:
    kind = info.WhichOneof("encoding")
    if kind == "name":
        return graph.as_graph_element(info.name)

    return get_tensor_from_tensor_info(info, graph)


