"""`optimize_for_inference`: a frozen `GraphDef` without what only training needs, and with joint ops."""

from __future__ import annotations

import numpy as np

from tapeflow import protos
from tapeflow.core.log import get_logger
from tapeflow.core.public import public
from tapeflow.graph.interchange.graph_util import remove_training_nodes
from tapeflow.tools.graph_transforms import convolutions
from tapeflow.tools.graph_transforms.batch_norms import columns_of, scale_and_offset, scaled
from tapeflow.tools.nodes import Nodes, constant, made, value_of
from tapeflow.tools.strip_unused_lib import strip_unused

__all__ = [
    "convert_placeholder_to_const", "ensure_graph_is_valid", "fold_batch_norms", "fuse_decomposed_batch_norm",
    "fuse_resize_and_conv", "optimize_for_inference",
]  # fmt: skip

_NORMS = ("BatchNormWithGlobalNormalization", "FusedBatchNorm", "FusedBatchNormV3")
_LAYERS = ("Conv2D", "DepthwiseConv2dNative")
_ADDS = ("BiasAdd", "Add", "AddV2")


@public
def optimize_for_inference(
    input_graph_def, input_node_names, output_node_names, placeholder_type_enum,
    toco_compatible: bool = False, placeholder_to_const_names=None,
):
    """Strip a frozen graph, drop what only training needs, and fold batch normalization into convolutions.

    Args:
      input_graph_def: a `GraphDef` without variables.
      input_node_names: the nodes that are fed.
      output_node_names: the nodes that are fetched.
      placeholder_type_enum: the dtype of placeholders as a number of `DataType`, or a list with one for each input.
      toco_compatible: whether to leave out `fuse_resize_and_conv`.
      placeholder_to_const_names: strings "name=value" of placeholders that become constants.

    Returns:
      A new `GraphDef`.

    Raises:
      ValueError: for a graph with two nodes of one name, or inputs that are not there.
    """
    ensure_graph_is_valid(input_graph_def)
    result = convert_placeholder_to_const(input_graph_def, placeholder_to_const_names)
    result = strip_unused(result, input_node_names, output_node_names, placeholder_type_enum)
    result = remove_training_nodes(result, output_node_names)
    result = fold_batch_norms(fuse_decomposed_batch_norm(result))
    if not toco_compatible:
        result = fuse_resize_and_conv(result, output_node_names)
    ensure_graph_is_valid(result)
    return result


@public
def ensure_graph_is_valid(graph_def):
    """Check that names are unique and inputs are there.

    Args:
      graph_def: a `GraphDef`.

    Raises:
      ValueError: where they are not.
    """
    nodes = _unique(graph_def)
    for node in nodes:
        for text in node.input:
            if nodes.get(text) is None:
                raise ValueError("Input for ", node.name, " not found: ", text)


def _unique(graph_def, kept=()):
    names = set()
    for node in graph_def.node:
        if node.name in names:
            raise ValueError("Duplicate node names detected for ", node.name)
        names.add(node.name)
    return Nodes(graph_def, kept)


@public
def convert_placeholder_to_const(input_graph_def, nodes_to_convert=None):
    """Replace placeholders of bools by constants.

    Args:
      input_graph_def: a `GraphDef`.
      nodes_to_convert: strings "name=value", value "True" or "False"; "keras_learning_phase=False" is always there.
        A placeholder is meant whose name has this name in it.

    Returns:
      A new `GraphDef`.

    Raises:
      ValueError: for a graph with two nodes of one name.
    """
    nodes = _unique(input_graph_def)
    pairs = [text.partition("=") for text in nodes_to_convert or ()]
    values = {"keras_learning_phase": "False"} | {name.strip(): value for name, sign, value in pairs if sign}
    for node in nodes:
        found = [name for name in values if name in node.name]
        if not found or node.op not in ("Placeholder", "PlaceholderWithDefault"):
            continue
        if node.attr["dtype"].type != protos.DataType.DT_BOOL:
            get_logger().warning("Only placeholders of bools become constants; %s is none", node.name)
            continue
        nodes.put(constant(node.name, values[found[0]] in ("True", "true")))
    return nodes.graph_def()


@public
def fuse_decomposed_batch_norm(input_graph_def):
    """Replace batch normalization written as products and sums by one op.

    It is x * m + (beta - mean * m) with m = rsqrt(variance + epsilon) * gamma, or without gamma; all but x are
    constants, and x comes of a convolution of images with the channels last.

    Args:
      input_graph_def: a `GraphDef`.

    Returns:
      A new `GraphDef`.

    Raises:
      ValueError: for a graph with two nodes of one name.
    """
    nodes = _unique(input_graph_def)
    for node in nodes:
        found = _decomposed(nodes, node) if node.op in ("Add", "AddV2") else None
        if found is None:
            continue
        x, factor, gamma, beta, mean, variance, epsilon = found
        if gamma is None:
            gamma = constant(f"{factor.name.rpartition('/')[0] or factor.name}/gamma", np.ones_like(value_of(beta)))
            nodes.put(gamma)
        names = [node.input[0], node.input[1]]
        inputs = [x, gamma.name, beta.name, mean.name, variance.name]
        nodes.put(made("FusedBatchNorm", node.name, inputs, node, ["T"], is_training=False,
                       epsilon=float(value_of(epsilon)), data_format="NHWC"))  # fmt: skip
        nodes.prune(names)
    return nodes.graph_def()


def _vector(node, rank: int = 1):
    return node is not None and node.op == "Const" and value_of(node).ndim == rank


def _decomposed(nodes, node):
    """The input of batch normalization as text, the node of its factor, and the constants; None if it is none."""
    scaled_x, shift = (nodes.get(text) for text in node.input[:2])
    if scaled_x.op == "Sub":
        scaled_x, shift = shift, scaled_x
    if scaled_x.op != "Mul" or shift.op != "Sub":
        return None
    x, factor = scaled_x.input[0], nodes.get(scaled_x.input[1])
    source = nodes.get(x)
    layers = [each for each in (source, *map(nodes.get, source.input)) if each is not None and each.op in _LAYERS]
    if not layers or layers[0].attr["data_format"].s not in (b"NHWC", b""):
        return None
    root, gamma = factor, None
    if factor.op == "Mul":
        root, gamma = (nodes.get(text) for text in factor.input[:2])
        if not _vector(gamma):
            return None
    beta, moved = (nodes.get(text) for text in shift.input[:2])
    if root.op != "Rsqrt" or moved.op != "Mul" or nodes.get(moved.input[1]) is not factor:
        return None
    mean, added = nodes.get(moved.input[0]), nodes.get(root.input[0])
    if added.op not in ("Add", "AddV2"):
        return None
    variance, epsilon = (nodes.get(text) for text in added.input[:2])
    if not all(map(_vector, (beta, mean, variance))) or not _vector(epsilon, 0):
        return None
    return x, factor, gamma, beta, mean, variance, epsilon


@public
def fold_batch_norms(input_graph_def):
    """Take batch normalization by one op into the convolution before it, which gets a bias.

    Args:
      input_graph_def: a `GraphDef`; what is no constant in it stays, and is logged.

    Returns:
      A new `GraphDef`.

    Raises:
      ValueError: for a graph with two nodes of one name.
    """
    nodes = _unique(input_graph_def)
    for node in nodes:
        if node.op in _NORMS:
            reason = _fold(nodes, node)
            if reason:
                get_logger().warning("Batch normalization %s stays: %s", node.name, reason)
    return nodes.graph_def()


def _fold(nodes, node):
    """Fold one normalization, or say why not."""
    layer, bias = nodes.get(node.input[0]), None
    if layer.op in _ADDS:
        both = [nodes.get(text) for text in layer.input[:2]]
        layer, bias = both if both[0].op in _LAYERS else reversed(both)
    if layer.op not in _LAYERS:
        return "it follows no convolution"
    weights = nodes.get(layer.input[1])
    parameters = [nodes.get(text) for text in node.input[1:5]]
    for each in (weights, *parameters, *(() if bias is None else (bias,))):
        if each.op != "Const":
            return f"{each.name} is no constant; a frozen graph has constants"
    kernel = value_of(weights)
    width = (columns_of(layer, kernel),)
    if any(value_of(each).shape != width for each in parameters):
        return f"not all of its parameters have the shape {width}"
    scale, offset = scale_and_offset(node, parameters)
    if bias is not None:
        offset = (offset + value_of(bias) * scale).astype(offset.dtype)
    left = [weights.name, *(each.name for each in parameters), node.input[0]]
    names = [f"{layer.name}_weights", f"{layer.name}_bn_offset"]
    if not nodes.only_here(layer):
        return f"{layer.name} is used elsewhere"
    layer.input[1] = names[0]
    nodes.put(constant(names[0], scaled(layer, kernel, scale)), constant(names[1], offset),
              made("BiasAdd", node.name, [layer.name, names[1]], layer, ["T", "data_format"]))  # fmt: skip
    nodes.prune(left)
    return ""


@public
def fuse_resize_and_conv(input_graph_def, output_node_names):
    """Join convolutions with the resize by lines, and the mirrored border, before them.

    Args:
      input_graph_def: a `GraphDef`.
      output_node_names: the nodes that are fetched.

    Returns:
      A new `GraphDef`.

    Raises:
      ValueError: for a graph with two nodes of one name.
    """
    nodes = _unique(input_graph_def, output_node_names)
    for node in nodes:
        if node.op != "Conv2D":
            continue
        before, bordered, resized = nodes.get(node.input[0]), None, None
        if before.op == "MirrorPad":
            bordered, before = before, nodes.get(before.input[0])
        if before.op == "ResizeBilinear":
            resized = before
        if bordered is not None or resized is not None:
            convolutions.fuse(nodes, node, resized, bordered)
    return nodes.graph_def()
