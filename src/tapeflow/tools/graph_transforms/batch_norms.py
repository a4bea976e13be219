"""Transforms that take batch normalization with constants into the weights of the layer before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.tools.graph_transforms.registry import Call, invalid, transform
from tapeflow.tools.nodes import Nodes, constant, made, value_of

_CONVOLUTIONS = "Conv2D|DepthwiseConv2dNative"
_NORMS = ("BatchNormWithGlobalNormalization", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")


def columns_of(layer: Any, weights: np.ndarray) -> int:
    """How many channels a convolution or product has."""
    if layer.op == "DepthwiseConv2dNative":
        return weights.shape[2] * weights.shape[3]
    return weights.shape[-1]


def scaled(layer: Any, weights: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The weights of a layer whose channels are multiplied."""
    shape = weights.shape[2:] if layer.op == "DepthwiseConv2dNative" else weights.shape[-1:]
    return (weights * scale.reshape(shape)).astype(weights.dtype)


@transform
def fold_batch_norms(graph_def: protos.GraphDef, call: Call) -> Any:
    """Multiply the weights of a convolution or product by the constant that its result is multiplied by.

    Raises InvalidArgumentError for a constant that is not one number for each channel.
    """
    nodes = Nodes(graph_def, call.ends)
    for node in nodes:
        found = nodes.inputs(node, _CONVOLUTIONS + "|MatMul", "Const") if node.op == "Mul" else None
        if found is None:
            continue
        layer, factors = found
        inside = nodes.inputs(layer, "*", "Const")
        if inside is None or not nodes.only_here(layer, inside[1], factors):
            continue
        weights, scale = value_of(inside[1]), value_of(factors)
        if scale.shape != (columns_of(layer, weights),) or layer.attr["transpose_b"].b:
            raise invalid(f"Mul constant input to batch norm has bad shape: {list(scale.shape)}")
        nodes.remove(layer.name, factors.name)
        layer.name = node.name
        nodes.put(constant(inside[1].name, scaled(layer, weights, scale)), layer)
    return nodes.graph_def()


@transform
def fold_old_batch_norms(graph_def: protos.GraphDef, call: Call) -> Any:
    """Take batch normalization by one op into the convolution before it, which gets a bias.

    There may be a `BatchToSpaceND`, or the concatenation of two convolutions, between both.

    Raises InvalidArgumentError for parameters of other shapes than one number for each channel.
    """
    nodes = Nodes(graph_def, call.ends)
    for node in nodes:
        if node.op not in _NORMS:
            continue
        inputs = nodes.inputs(node, "*", "Const", "Const", "Const", "Const")
        if inputs is None or node.attr["is_training"].b:
            continue
        layer = inputs[0]
        if not nodes.only_here(layer):
            continue
        for fold in (_after_layer, _after_batch_to_space, _after_concatenation):
            if fold(nodes, node, layer, inputs[1:]):
                nodes.prune(each.name for each in inputs)
                break
    return nodes.graph_def()


def scale_and_offset(node: protos.NodeDef, parameters: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """What batch normalization multiplies by, and adds."""
    values = [value_of(each) for each in parameters]
    if node.op == "BatchNormWithGlobalNormalization":
        mean, variance, beta, gamma = values
        epsilon, by_gamma = node.attr["variance_epsilon"].f, node.attr["scale_after_normalization"].b
    else:
        gamma, beta, mean, variance = values
        epsilon, by_gamma = (node.attr["epsilon"].f if "epsilon" in node.attr else 1e-4), True
    for name, value in (("Variance", variance), ("Beta", beta), ("gamma", gamma)):
        if value.shape != mean.shape:
            raise invalid(f"{name} input to batch norm has bad shape: {list(value.shape)}")
    scale = 1 / np.sqrt(variance + np.asarray(epsilon, variance.dtype))
    if by_gamma:
        scale = scale * gamma
    return scale, beta - mean * scale


def _is_layer(nodes: Nodes, layer: Any) -> bool:
    inside = nodes.inputs(layer, "*", "Const") if layer.op in _CONVOLUTIONS.split("|") else None
    return inside is not None and nodes.only_here(inside[1])


def _with_bias(nodes: Nodes, layer: Any, name: str, scale: np.ndarray, offset: np.ndarray) -> None:
    """Scale the weights of a layer and put a node of this name after it, which adds the offset."""
    weights = nodes.get(layer.input[1])
    bias = constant(f"{layer.name}_bn_offset", offset)
    add = made("BiasAdd", name, [layer.name, bias.name], layer, ["T", "data_format"])
    nodes.put(constant(weights.name, scaled(layer, value_of(weights), scale)), bias, add)


def _after_layer(nodes: Nodes, node: protos.NodeDef, layer: Any, parameters: list[Any]) -> bool:
    if not _is_layer(nodes, layer):
        return False
    _with_bias(nodes, layer, node.name, *scale_and_offset(node, parameters))
    return True


def _after_batch_to_space(nodes: Nodes, node: protos.NodeDef, spread: Any, parameters: list[Any]) -> bool:
    inside = nodes.inputs(spread, _CONVOLUTIONS, "Const", "Const") if spread.op == "BatchToSpaceND" else None
    if inside is None or not nodes.only_here(inside[0]) or not _is_layer(nodes, inside[0]):
        return False
    bias = f"{inside[0].name}/biasadd"
    _with_bias(nodes, inside[0], bias, *scale_and_offset(node, parameters))
    nodes.remove(spread.name)
    spread.name, spread.input[0] = node.name, bias
    nodes.put(spread)
    return True


def _after_concatenation(nodes: Nodes, node: protos.NodeDef, joined: Any, parameters: list[Any]) -> bool:
    inside = nodes.inputs(joined, _CONVOLUTIONS, _CONVOLUTIONS, "Const") if joined.op == "ConcatV2" else None
    if inside is None or not nodes.only_here(*inside[:2]) or not all(_is_layer(nodes, x) for x in inside[:2]):
        return False
    scale, offset = scale_and_offset(node, parameters)
    cut = columns_of(inside[0], value_of(nodes.get(inside[0].input[1])))
    channels = int(value_of(inside[2])) % 4 == (1 if inside[0].attr["data_format"].s == b"NCHW" else 3)
    for i, layer in enumerate(inside[:2]):
        part = slice(None) if not channels else slice(None, cut) if i == 0 else slice(cut, None)
        _with_bias(nodes, layer, f"{joined.name}_bn_in{i}", scale[part], offset[part])
    nodes.remove(joined.name)
    for i in range(2):
        joined.input[i] = f"{joined.name}_bn_in{i}"
    joined.name = node.name
    nodes.put(joined)
    return True
