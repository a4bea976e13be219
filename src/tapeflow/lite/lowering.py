"""Modules of MLIR as models of TensorFlow Lite, by the converter of PyPI's litert-converter."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tapeflow.lite.importing import load


class ConverterError(Exception):
    """A function cannot be converted to TensorFlow Lite."""


class UnsupportedOpsError(ConverterError):
    """Operations have no counterpart in TensorFlow Lite.

    Attributes:
      types: of these operations.
    """

    def __init__(self, message: str, types: Sequence[str]):
        super().__init__(message)
        self.types = types


class Signature(NamedTuple):
    """A public function of a module."""

    function: str
    key: str
    inputs: Sequence[str]
    outputs: Sequence[str]


def output_labels(signature: Signature, number: int) -> list[str]:
    """The names of the results of the function of this number, as TensorFlow's converter gives them."""
    call = f"StatefulPartitionedCall{f'_{number}' if number else ''}"
    return [f"{call}:{k}" for k in range(len(signature.outputs))]


# The converter loads TensorFlow's dialect when it runs, but a module can only be read once that is there.
_EMPTY = "func.func @nothing() { return }"


def flatbuffer(text: str, signatures: Sequence[Signature]) -> bytes:
    """The model for a module in TensorFlow's dialect.

    Raises:
      ConverterError: an operation has no counterpart in TensorFlow Lite.
      UnimplementedError: litert-converter is not installed.
    """
    with _quiet():
        api = load("litert_converter.converter_api_ext")
        ir = load("litert_converter.mlir.ir")
        manager = load("litert_converter.mlir.passmanager").PassManager
        context = ir.Context()
        api.prepare_mlir_context(context)
        config = api.ConvertToTFLConfig()
        with context, ir.Location.unknown():
            api.run_convert_to_tfl_passes(ir.Module.parse(_EMPTY), manager(), config)
            try:
                module = ir.Module.parse(text)
                _sign(api, ir, module, signatures)
                passes = manager()
                api.run_convert_to_tfl_passes(module, passes, config)
                passes.run(module.operation)
            except (ValueError, ir.MLIRError) as error:
                raise ConverterError(str(error).strip()) from error
            try:
                return bytes(api.export_flatbuffer_to_bytes(module.operation))
            except ValueError as error:
                raise _unsupported(module, str(error), ir.WalkResult.ADVANCE) from error


def _sign(api: Any, ir: Any, module: Any, signatures: Sequence[Signature]) -> None:
    """Names the functions, and their arguments and results as TensorFlow's converter does."""
    functions = {op.attributes["sym_name"].value: op for op in module.body.operations}
    for i, each in enumerate(signatures):
        function = functions[each.function].operation
        api.set_signature(function, each.key, list(each.inputs), list(each.outputs))
        names = {
            "inputs": ",".join(f"{each.key}_{name}:0" for name in each.inputs),
            "outputs": ",".join(output_labels(each, i)),
        }
        entry = ir.DictAttr.get({name: ir.StringAttr.get(text) for name, text in names.items()})
        function.attributes["tf.entry_function"] = entry


def _unsupported(module: Any, message: str, go_on: Any) -> ConverterError:
    """The error for a module that cannot be written, with the operations that the converter's message names."""
    listed = re.findall(r"(?:Select|Custom) ops: (.*)", message)
    types = sorted({name.strip() for line in listed for name in line.split(",")})
    left: list[str] = []

    def visit(op: Any) -> Any:
        kind = op.name.removeprefix("tf.")
        if kind in types:
            left.append(f"{kind} ({_place(str(op.location))})")
        return go_on

    module.operation.walk(visit)
    if not left:
        return ConverterError(message.strip())
    found = ", ".join(dict.fromkeys(left))
    return UnsupportedOpsError(f"TensorFlow Lite does not have these ops of the function: {found}", types)


def _place(where: str) -> str:
    """A location of MLIR in the words of our other errors."""
    named = re.search(r'"([^"]*)"\("([^"]*)":(\d+):', where)
    if named is None:
        return where
    return f"node '{named[1]}', defined at {named[2]}:{named[3]}"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the converter, whose first run warns of kernels that it does not have, from writing to stderr."""
    name = "TF_CPP_MIN_LOG_LEVEL"
    before = os.environ.get(name)
    os.environ[name] = before or "2"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
