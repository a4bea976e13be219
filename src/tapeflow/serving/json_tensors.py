"""Tensors as JSON: `instances` and `predictions` row by row, `inputs` and `outputs` column by column."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.serving.servable import Arrays


def parse(body: bytes) -> dict[str, Any]:
    """The object of a request. Raises InvalidArgumentError for what is not one."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _invalid(f"JSON Parse error: {error}") from None
    if not isinstance(found, dict):
        raise _invalid("JSON Value: is not an object")
    return found


def inputs_of(request: dict[str, Any], signature: Any) -> tuple[Arrays, bool]:
    """The arrays of a request, and whether they came as rows. Raises InvalidArgumentError."""
    if ("instances" in request) == ("inputs" in request):
        if "inputs" in request:
            raise _invalid("Not formatted correctly expecting only one of 'instances' or 'inputs' keys to exist")
        raise _invalid("Missing 'inputs' or 'instances' key")
    infos = signature.inputs
    if "inputs" in request:
        given = request["inputs"]
        if not isinstance(given, dict) or _is_bytes(given):
            given = {_single(infos): given}
        return {name: _array(name, value, _info(infos, name)) for name, value in given.items()}, False
    rows = request["instances"]
    if not isinstance(rows, list) or not rows:
        raise _invalid("Expecting 'instances' to be a non-empty list")
    if not isinstance(rows[0], dict) or _is_bytes(rows[0]):
        name = _single(infos)
        return {name: _array(name, rows, _info(infos, name))}, True
    names = rows[0].keys()
    for i, row in enumerate(rows):
        if not isinstance(row, dict) or row.keys() != names:
            raise _invalid(f"Failed to process element: {i} of 'instances' list. Expected the keys {sorted(names)}")
    return {name: _array(name, [row[name] for row in rows], _info(infos, name)) for name in names}, True


def response_of(outputs: Arrays, by_row: bool) -> dict[str, Any]:
    """The object of an answer. Raises InvalidArgumentError for rows of outputs that have none, or other numbers."""
    values = {name: _values(name, array) for name, array in outputs.items()}
    if not by_row:
        return {"outputs": next(iter(values.values())) if len(values) == 1 else values}
    sizes = {len(array) if array.ndim else -1 for array in outputs.values()}
    if len(sizes) != 1 or -1 in sizes:
        raise _invalid("Outputs of different first dimensions cannot be returned by row: send 'inputs'")
    if len(values) == 1:
        return {"predictions": next(iter(values.values()))}
    return {"predictions": [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]}


def _single(infos: Any) -> str:
    if len(infos) != 1:
        raise _invalid("the request is a plain list, but the signature has several inputs: name them")
    return next(iter(infos))


def _info(infos: Any, name: str) -> Any:
    if name not in infos:
        raise _invalid(f"JSON object: does not have named input: {name}")
    return infos[name]


def _is_bytes(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"b64"}


def _array(name: str, value: Any, info: Any) -> np.ndarray:
    kind = as_dtype(info.dtype)
    if kind == dtypes.string:
        return _strings(name, value)
    allowed = {"b": "b", "i": "iu", "u": "iu"}.get(np.dtype(kind.as_numpy_dtype).kind, "iuf")
    try:
        found = np.array(value)
        if found.size and found.dtype.kind not in allowed:
            raise _invalid(f"JSON Value of input {name} is not of expected type: {kind.name}")
        result = found.astype(kind.as_numpy_dtype)
        if allowed == "iu" and found.size and not np.array_equal(result, found):
            raise _invalid(f"JSON Value of input {name} is out of range for type: {kind.name}")
    except (ValueError, TypeError, OverflowError) as error:
        raise _invalid(f"Failed to process input {name}: {error}") from None
    return result


def _strings(name: str, value: Any) -> np.ndarray:
    flat: list[bytes] = []

    def visit(each: Any, depth: int) -> tuple[int, ...]:
        if isinstance(each, list):
            if depth > 32:
                raise _invalid(f"Input {name} has too many dimensions")
            shapes = {visit(e, depth + 1) for e in each}
            if len(shapes) > 1:
                raise _invalid(f"Input {name} has rows of different lengths")
            return (len(each), *(shapes.pop() if shapes else ()))
        if isinstance(each, str):
            flat.append(each.encode("utf-8", "surrogatepass"))
        elif _is_bytes(each) and isinstance(each["b64"], str):
            try:
                flat.append(base64.b64decode(each["b64"], validate=True))
            except (binascii.Error, ValueError):
                raise _invalid(f"Unable to base64 decode input {name}") from None
        else:
            raise _invalid(f"JSON Value of input {name} is not of expected type: string")
        return ()

    shape = visit(value, 0)
    array = np.empty(len(flat), object)
    array[:] = flat
    return array.reshape(shape)


def _values(name: str, array: np.ndarray) -> Any:
    if array.dtype == object:
        if name.endswith("_bytes"):
            return _mapped(array.tolist(), lambda b: {"b64": base64.b64encode(b).decode()})
        return _mapped(array.tolist(), lambda b: b.decode(errors="replace"))
    if array.dtype.kind in "biu" or array.dtype == np.float64:
        return array.tolist()
    if array.dtype.kind == "c":
        raise _invalid(f"Output {name} is complex, which JSON cannot express")
    # The shortest digits that give the same value in its own type.
    return array.astype(np.float32).astype("U32").astype(np.float64).tolist()


def _mapped(value: Any, function: Any) -> Any:
    return [_mapped(v, function) for v in value] if isinstance(value, list) else function(value)


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)
