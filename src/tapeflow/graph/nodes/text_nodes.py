"""Nodes that write tensors as text: `StringFormat`, `PrintV2`, and `Print` of 1.x."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.graph.build import gradients
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.nodes.node_kinds import makes
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.ops.control import printing as output
from tapeflow.ops.string import joining
from tapeflow.ops.string.rows import attr_bytes

if TYPE_CHECKING:
    from tapeflow.graph.nodes.from_node_def import NodeMaker


def string_format(
    template: str | bytes, placeholder: str | bytes, inputs: Sequence[Any], summarize: int, name: str | None
) -> Any:
    """A node with `template` where each placeholder is the text of one of the tensors."""
    pieces = [attr_bytes(part).decode("utf-8", "surrogateescape") for part in _split(template, placeholder)]

    def run(*values: Any) -> list[Any]:
        text = joining.formatted(pieces, values, summarize)
        return [convert_to_tensor(text.encode("utf-8", "surrogateescape"))]

    tensors = [convert_to_tensor(x) for x in inputs]
    attrs = {"template": template, "placeholder": placeholder, "summarize": summarize}
    return python_ops.node(
        "StringFormat", run, tensors, [(dtypes.string, ())], name, False, **attrs
    ).outputs[0]


def _split(template: str | bytes, placeholder: str | bytes) -> list[bytes]:
    found = attr_bytes(placeholder)
    return attr_bytes(template).split(found) if found else [attr_bytes(template)]


def text(template: output.Template) -> Any:
    """The tensor of a text with tensors in it."""
    if not any(template.raw):
        return _formatted(template.pieces, template.tensors, template.summarize)
    parts: list[Any] = [template.pieces[0]]
    for tensor, raw, piece in zip(template.tensors, template.raw, template.pieces[1:], strict=True):
        parts += [tensor if raw else _formatted(["", ""], [tensor], template.summarize), piece]
    return joining.join(parts)


def _formatted(pieces: Sequence[str], tensors: Sequence[Any], summarize: int) -> Any:
    placeholder = "{}"
    while any(placeholder in piece for piece in pieces):
        placeholder += "9"
    return string_format(placeholder.join(pieces), placeholder, tensors, summarize, None)


def print_text(text: Any, stream: Any, end: str, name: str | None) -> Operation:
    """A node that writes a scalar string and `end` to a stream, by its name or the stream itself."""

    def run(given: Any) -> list[Any]:
        output.write_text(stream, output.raw_text(given), end)
        return []

    return python_ops.node("PrintV2", run, [text], (), name, output_stream=stream, end=end)


def print_beside(
    x: TensorLike, data: Sequence[Any], message: str, first_n: int, summarize: int, name: str | None
) -> Any:
    """`x`, by a node that prints other tensors, the first `first_n` times (-1: each time)."""
    times = itertools.count(1)

    def run(value: Any, *shown: Any) -> list[Any]:
        if first_n < 0 or next(times) <= first_n:
            output.write_text(sys.stderr, output.values_text(shown, message, summarize), "\n")
        return [value]

    value = convert_to_tensor(x)
    inputs, outputs = [value, *map(convert_to_tensor, data)], [(value.dtype, value.shape_tuple)]
    op = python_ops.node(
        "Print", run, inputs, outputs, name, message=message, first_n=first_n, summarize=summarize
    )
    return op.outputs[0]


gradients.gradient_of("Print")(lambda op, dy: [dy] + [None] * (len(op.inputs) - 1))
for _kind in ("StringFormat", "PrintV2", "Print"):
    planning.emits(_kind)(python_ops.emit)


# Out of GraphDefs.


@makes("StringFormat")
def _string_format(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    places = len(_split(attrs["template"], attrs["placeholder"])) - 1
    if places != len(inputs):
        raise ValueError(
            f"Node '{name}' (StringFormat): the template has {places} placeholders for {len(inputs)} inputs"
        )
    return string_format(attrs["template"], attrs["placeholder"], inputs, attrs["summarize"], name + "/").op


@makes("PrintV2")
def _print(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    stream = attrs["output_stream"]
    if not (stream in ("stderr", "stdout") or output.is_named(stream)):
        raise ValueError(f"Node '{name}' (PrintV2): Unknown output stream: {stream}")
    return print_text(inputs[0], stream, attrs["end"], name + "/")


@makes("Print")
def _print_beside(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    return print_beside(inputs[0], inputs[1:], attrs["message"], attrs["first_n"], attrs["summarize"], name + "/").op
