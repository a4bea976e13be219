"""Rows that read or write one column of records, as TensorFlow's nodes, which are of all columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.graph.nodes.record_nodes import make
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.io.csv import DecodeCSVColumn
from tapeflow.ops.io.proto_messages import DecodeProtoField, EncodeProtoField


def _csv_column(
    records: Any, default: Any, column: int, columns: int, field: int, selecting: bool, **how: Any
) -> Any:
    """The columns that are not wanted are read as strings, which any text is."""
    chosen = [field] if selecting else []
    defaults = [default]
    if not selecting:
        text = convert_to_tensor(np.array("", object), dtypes.string)
        defaults = [default if i == column else text for i in range(columns)]
    attrs = {**how, "select_cols": chosen, "OUT_TYPE": [x.dtype for x in defaults]}
    return make("DecodeCSV", [records, *defaults], "DecodeCSV", attrs).outputs[0 if selecting else column]


def _decoded_field(messages: Any, field_name: str, output_type: Any, **how: Any) -> Any:
    attrs = {**how, "field_names": [field_name], "output_types": [output_type]}
    sizes, values = make("DecodeProtoV2", [messages], "DecodeProtoV2", attrs).outputs
    return [squeeze(sizes, [-1]), values]


def _encoded_field(sizes: Any, values: Any, field_name: str, field_index: int, **how: Any) -> Any:
    attrs = {**how, "field_names": [field_name], "Tinput_types": [values.dtype]}
    return make("EncodeProto", [expand_dims(sizes, -1), values], "EncodeProto", attrs).outputs[0]


ROWS = {
    DecodeCSVColumn: _csv_column,
    DecodeProtoField: _decoded_field,
    EncodeProtoField: _encoded_field,
}
