"""Graph models of TF.js: a frozen function as model.json and files of weights."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.annotations import PathLike
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.files.tensor_proto import make_ndarray
from tapeflow.core.public import public
from tapeflow.export.names import result_names
from tapeflow.export.tfjs_tables import initializer, keep_shapes
from tapeflow.export.weights import SHARD_BYTES, encode, shards
from tapeflow.function.freezing import convert_variables_to_constants_v2
from tapeflow.version import VERSION

__all__ = ["save"]

_RUNTIME = "tfjs_ops.txt"  # the ops that @tensorflow/tfjs-converter 4.22.0 executes, as `make tfjs-ops` reads them


@public
def save(function: Callable[..., Any], path: PathLike, quantization=None, metadata=None, shard_bytes=SHARD_BYTES):
    """Writes a function as a graph model that `tf.loadGraphModel` of TF.js reads.

    Its variables are frozen, and its lookup tables are filled with what they hold now. Branches and loops become
    functions of the model; models with these or with tables run with `executeAsync`.

    Args:
      function: a `ConcreteFunction`.
      path: the folder to write to, made if it is missing. A model.json in it is replaced.
      quantization: what float weights are stored as: "uint8", "uint16", "float16"; None: float32. Scalars stay as
        they are.
      metadata: a dict for the model's `userDefinedMetadata`; JSON must be able to hold it.
      shard_bytes: the size of the files of weights.

    Returns:
      The path of model.json.

    Raises:
      UnimplementedError: the function needs an op that TF.js lacks, which the message names, or a table in a branch
        or loop.
      ValueError: TF.js's dtypes cannot hold a weight, or the size of the shards is not positive.
      TypeError: `function` is no `ConcreteFunction`.
    """
    if shard_bytes < 1:
        raise ValueError(f"shard_bytes must be positive, not {shard_bytes}")
    model, files = graph_model(function, quantization, metadata, shard_bytes)
    text = json.dumps(model, allow_nan=False)
    folder = Path(os.fspath(path))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    target = folder / "model.json"
    target.write_text(text, encoding="utf-8")
    return str(target)


def graph_model(
    function: Any, quantization: str | None, metadata: Any, shard_bytes: int
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The content of model.json, and that of the files of weights by their names."""
    frozen = convert_variables_to_constants_v2(function, lower_control_flow=False)
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(frozen.graph.as_graph_def())
    _check_ops(graph_def)
    if any(x.dtype in (dtypes.resource, dtypes.variant) for x in frozen.graph.inputs):
        what = "A function that uses a resource other than a lookup table cannot be exported"
        raise UnimplementedError(None, None, what)
    keep_shapes(graph_def)
    _make_names_unique(graph_def)
    tables = initializer(frozen.graph, graph_def)
    weights = []
    for node in [*_nodes(graph_def), *(tables.node if tables else ())]:
        if node.op == "Const":
            tensor = node.attr["value"].tensor
            array = make_ndarray(tensor)
            weights.append(encode(node.name, array, quantization if array.ndim else None))
            kept = protos.TensorProto(dtype=tensor.dtype, tensor_shape=tensor.tensor_shape)
            tensor.CopyFrom(kept)
    pieces = shards([content for content, _ in weights], shard_bytes)
    names = [f"group1-shard{i + 1}of{len(pieces)}.bin" for i in range(len(pieces))]
    model = {
        "format": "graph-model",
        "generatedBy": VERSION,
        "convertedBy": "tapeflow",
        "signature": _signature(function, frozen),
        "modelTopology": json_format.MessageToDict(graph_def),
        "weightsManifest": [{"paths": names, "weights": [entry for _, entry in weights]}],
    }
    if tables is not None:
        model["modelInitializer"] = json_format.MessageToDict(tables)
    if metadata is not None:
        model["userDefinedMetadata"] = dict(metadata)
    return model, dict(zip(names, pieces, strict=True))


def _nodes(graph_def: protos.GraphDef) -> Iterable[Any]:
    yield from graph_def.node
    for function in graph_def.library.function:
        yield from function.node_def


@functools.cache
def ops() -> frozenset[str]:
    """The ops of graph models that TF.js executes."""
    return frozenset((Path(__file__).parent / _RUNTIME).read_text(encoding="utf-8").split())


def _check_ops(graph_def: protos.GraphDef) -> None:
    lacking = {node.op: node.name for node in reversed(list(_nodes(graph_def))) if node.op not in ops()}
    if lacking:
        listed = ", ".join(f"{op} (node '{name}')" for op, name in sorted(lacking.items()))
        raise UnimplementedError(None, None, f"TF.js does not have these ops of the function: {listed}")


def _make_names_unique(graph_def: protos.GraphDef) -> None:
    """Gives nodes of functions names of their own: TF.js looks up all weights in one map."""
    for i, function in enumerate(graph_def.library.function):
        names = {node.name: f"function_{i}/{node.name}" for node in function.node_def}

        def renamed(text: str, names: dict[str, str] = names) -> str:
            control, bare = ("^", text[1:]) if text.startswith("^") else ("", text)
            name, colon, rest = bare.partition(":")
            return control + names.get(name, name) + colon + rest

        for node in function.node_def:
            node.name = names[node.name]
            node.input[:] = [renamed(text) for text in node.input]
        for key, text in list(function.ret.items()):
            function.ret[key] = renamed(text)


def _signature(function: Any, frozen: Any) -> dict[str, Any]:
    """How TF.js finds inputs and outputs: by the names of arguments, and the keys of a dict of results."""
    keys = result_names(function, len(frozen.outputs))
    inputs = {x.op.name: _tensor_info(x) for x in frozen.inputs}
    return {"inputs": inputs, "outputs": {key: _tensor_info(y) for key, y in zip(keys, frozen.outputs, strict=True)}}


def _tensor_info(tensor: Any) -> dict[str, Any]:
    shape = tensor.shape.as_proto()
    info = protos.TensorInfo(name=tensor.name, dtype=tensor.dtype.as_datatype_enum, tensor_shape=shape)
    return json_format.MessageToDict(info)
