"""Transforms of convolutions: wide ones without batches of tiles, and joint ops with what comes before."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core.dtypes import int32
from tapeflow.tools.graph_transforms.registry import Call, transform
from tapeflow.tools.nodes import Nodes, constant, made, value_of


@transform
def flatten_atrous_conv(graph_def: protos.GraphDef, call: Call) -> Any:
    """Replace a convolution between `SpaceToBatchND` and `BatchToSpaceND` by one whose filter has holes of zeros."""
    nodes = Nodes(graph_def, call.ends)
    for node in nodes:
        found = nodes.inputs(node, "Conv2D|DepthwiseConv2dNative", "*", "*") if node.op == "BatchToSpaceND" else None
        inside = nodes.inputs(found[0], "SpaceToBatchND", "Const") if found else None
        tiles = nodes.inputs(inside[0], "*", "Const", "*") if inside else None
        if found is None or inside is None or tiles is None or not nodes.only_here(found[0], inside[0]):
            continue
        layer, (spread, kernel) = found[0], inside
        block, weights = value_of(tiles[1]), value_of(kernel)
        if block.shape != (2,):
            continue
        height, width = ((n - 1) * b + 1 for n, b in zip(weights.shape[:2], block, strict=True))
        holes = np.zeros((height, width, *weights.shape[2:]), weights.dtype)
        holes[:: block[0], :: block[1]] = weights
        wide = kernel.name if nodes.only_here(kernel) else f"{layer.name}/flattened"
        flat = made(layer.op, node.name, [spread.input[0], wide], layer,
                    ["T", "strides", "data_format", "use_cudnn_on_gpu"], padding="SAME")  # fmt: skip
        flat.device = layer.device
        left = [node.input[1], node.input[2], spread.input[1], spread.input[2]]
        nodes.remove(layer.name, spread.name)
        nodes.put(constant(wide, holes), flat)
        nodes.prune(left)
    return nodes.graph_def()


@transform
def fuse_resize_pad_and_conv(graph_def: protos.GraphDef, call: Call) -> Any:
    """Join a resize by lines, a mirrored border and a convolution."""
    return _fused(graph_def, call.ends, resize=True, pad=True)


@transform
def fuse_resize_and_conv(graph_def: protos.GraphDef, call: Call) -> Any:
    """Join a resize by lines and a convolution."""
    return _fused(graph_def, call.ends, resize=True, pad=False)


@transform
def fuse_pad_and_conv(graph_def: protos.GraphDef, call: Call) -> Any:
    """Join a mirrored border and a convolution."""
    return _fused(graph_def, call.ends, resize=False, pad=True)


def _fused(graph_def: protos.GraphDef, kept: set[str], resize: bool, pad: bool) -> Any:
    nodes = Nodes(graph_def, kept)
    for node in nodes:
        if node.op != "Conv2D":
            continue
        before, bordered, resized = nodes.get(node.input[0]), None, None
        if pad and before.op == "MirrorPad" and nodes.only_here(before):
            bordered, before = before, nodes.get(before.input[0])
        if resize and before.op == "ResizeBilinear" and nodes.only_here(before):
            resized = before
        if bool(resized) == resize and bool(bordered) == pad:
            fuse(nodes, node, resized, bordered)
    return nodes.graph_def()


def fuse(nodes: Nodes, layer: Any, resized: Any, bordered: Any) -> None:
    """Put one op in the place of a convolution, and of the resize and border before it.

    Args:
      nodes: the nodes of the graph.
      layer: the convolution.
      resized: the resize, or None.
      bordered: the border, or None.
    """
    if bordered is not None:
        border = bordered.input[1]
    else:
        border = f"{layer.name}_dummy_paddings"
        nodes.put(constant(border, np.zeros((4, 2), np.int32), int32))
    first = resized if resized is not None else bordered
    inputs = [*first.input[: 2 if resized is not None else 1], border, layer.input[1]]
    joint = made("FusedPadConv2D" if resized is None else "FusedResizeAndPadConv2D", layer.name, inputs,
                 layer, ["T", "strides", "padding"])  # fmt: skip
    if bordered is None:
        joint.attr["mode"].s = b"REFLECT"
    else:
        joint.attr["mode"].CopyFrom(bordered.attr["mode"])
    if resized is not None:
        joint.attr["resize_align_corners"].CopyFrom(resized.attr["align_corners"])
    nodes.put(joint)
    nodes.prune(each.name for each in (bordered, resized) if each is not None)
