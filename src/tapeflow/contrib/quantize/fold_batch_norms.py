"""`FoldBatchNorms`: batch normalization as a factor of the weights of the layer before it, and a bias.

The weights are to be rounded as they are when the model is used, with the moving averages; while it trains, the
statistics of the batch count, so that a correction follows the layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.compat import v1
from tapeflow.contrib.quantize import common
from tapeflow.core.annotations import Tensor

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph
    from tapeflow.graph.operation import Operation

_LAYERS = ("Conv2D", "MatMul", "DepthwiseConv2dNative")


class _Norm(NamedTuple):
    """One normalization: what it is computed of, and where it stands."""

    layer: Any  # the product before it
    tiles: Any  # the BatchToSpaceND after that, or None
    op: Any  # FusedBatchNorm and the like, or None where it is written as sums and products
    output: Any
    gamma: Any  # None: 1
    beta: Any
    mean: Any
    variance: Any
    epsilon: Any
    factor: Any = None  # of the layer's result, and what is added then, where the graph has them
    bias: Any = None
    statistics: Any = None  # what the moving averages follow: mean and variance; None where there are no batches

    def complete(self) -> _Norm:
        """The normalization with the variance, the factor and the bias, which may have to be computed."""
        if self.op is None:
            gamma = v1.ones_like(self.variance) if self.gamma is None else self.gamma
            return self._replace(gamma=gamma)
        variance = self.variance
        if variance is None:
            # The moving average follows the sum of squares divided by n - 1; the normalization divides by n.
            count = v1.cast(v1.size(self.op.inputs[0]) / v1.size(self.mean), v1.float32)
            variance = v1.multiply(self.op.outputs[2], (count - 1) / count, name="Undo_Bessel_Correction")
        factor = v1.multiply(self.gamma, v1.rsqrt(variance + self.epsilon), name="mul")
        bias = v1.subtract(self.beta, self.mean * factor, name="bias")
        return self._replace(variance=variance, factor=factor, bias=bias)


def FoldBatchNorms(graph: Graph, is_training, freeze_batch_norm_delay=None):
    """Fold batch normalization into convolutions and products.

    Args:
      graph: the graph, which is changed.
      is_training: whether it trains.
      freeze_batch_norm_delay: after how many steps moving averages take the place of the statistics of the batch;
        None for never.

    Raises:
      ValueError: for batch normalization of batches that keeps no moving averages.
    """
    with graph.as_default():
        for op in graph.get_operations():
            norm = _fused(op) or _written_out(op)
            if norm is not None and common.consumers(norm.output.op):
                _fold(graph, norm, is_training, freeze_batch_norm_delay)


def _source(x: Tensor):
    """The layer that a tensor comes of, and the BatchToSpaceND between; the layer is None for others."""
    op, reshaped = x.op, x.op.type == "Reshape"
    if reshaped:
        op = op.inputs[0].op
    if op.type == "Identity":
        op = op.inputs[0].op
    if reshaped and op.type != "MatMul":
        return None, None
    tiles = op if op.type == "BatchToSpaceND" else None
    if tiles is not None:
        op = op.inputs[0].op
    return (op, tiles) if op.type in _LAYERS else (None, None)


def _fused(op: Operation):
    """The normalization that one op computes after a layer, or None."""
    if not op.type.startswith("FusedBatchNorm") or op.type.startswith("FusedBatchNormGrad"):
        return None
    layer, tiles = _source(op.inputs[0])
    output = op.outputs[0]
    if layer is not None and layer.type == "MatMul":
        reshaped = [each for each in output.consumers() if each.type == "Reshape"]
        if not reshaped:
            return None
        output = reshaped[0].outputs[0]
    if layer is None or not output.consumers():
        return None
    mean, variance, statistics = op.inputs[3], op.inputs[4], None
    if op.get_attr("is_training"):
        mean, variance, statistics = op.outputs[1], None, (op.outputs[1], op.outputs[2])
    return _Norm(layer, tiles, op, output, op.inputs[1], op.inputs[2], mean, variance, op.get_attr("epsilon"),
                 statistics=statistics)  # fmt: skip


def _pair(op: Operation, kinds: Sequence[str], test: Callable[..., Any]):
    """The inputs of an operation of two, that which passes the test first; None for others."""
    if op.type not in kinds or len(op.inputs) != 2:
        return None
    one, other = op.inputs
    return (one, other) if test(one) else (other, one) if test(other) else None


def _written_out(op: Operation):
    """The normalization x * factor + (beta - mean * factor) after a layer, or None."""
    both = _pair(op, ("Add", "AddV2"), lambda t: t.op.type == "Sub")
    if both is None or not op.outputs[0].consumers():
        return None
    bias, product = both
    beta, moved = bias.op.inputs
    scaled = _pair(product.op, ("Mul",), lambda t: _source(t)[0] is not None)
    if scaled is None:
        return None
    x, factor = scaled
    centre = _pair(moved.op, ("Mul",), lambda t: t is factor)
    root = factor if factor.op.type == "Rsqrt" else None
    gamma = None
    if root is None:
        parts = _pair(factor.op, ("Mul",), lambda t: t.op.type == "Rsqrt")
        if parts is None:
            return None
        root, gamma = parts
    if centre is None or root.op.inputs[0].op.type not in ("Add", "AddV2"):
        return None
    mean, (variance, epsilon) = centre[1], root.op.inputs[0].op.inputs
    layer, tiles = _source(x)
    statistics = (mean, variance) if _follower(mean) is not None else None
    return _Norm(layer, tiles, None, op.outputs[0], gamma, beta, mean, variance, epsilon, factor, bias, statistics)


def _follower(statistic: Tensor):
    """The product by which a moving average follows a statistic: (average - statistic) * decay. None if there is none.

    It may follow a multiple of the statistic: the variance of few values is greater than that of the batch.
    """
    products = [op.outputs[0] for op in statistic.consumers() if op.type == "Mul"]
    for each in (statistic, *products):
        for op in each.consumers():
            if op.type == "Sub" and op.inputs[1] is each:
                for product in op.outputs[0].consumers():
                    if product.type == "Mul" and product.inputs[0] is op.outputs[0]:
                        return product
    return None


def _fold(graph: Graph, norm, training: bool | Tensor, delay):
    layer = norm.layer
    scope = layer.name.rpartition("/")[0]
    weights, folder = layer.inputs[1], f"{scope}/" if scope else ""
    corrections = None
    with graph.name_scope(f"{folder}BatchNorm_Fold/" if norm.op is not None else folder or None):
        norm = norm.complete()
        if training and norm.statistics is not None:
            corrections = _corrections(norm, delay)
        factor = _as_weights(norm.factor, layer, "scale_reshape")
    with graph.name_scope(folder or None):
        if corrections is not None:
            scale, reciprocal, offset = corrections
            scale = _as_weights(scale, layer, "correction_reshape")
            weights = v1.multiply(scale, weights, name="correction_mult")
        weights = v1.multiply(weights, factor, name="mul_fold")
        y = _copied(graph, layer, [layer.inputs[0], weights], f"{layer.name}_Fold")
        if norm.tiles is not None:
            name = norm.tiles.name if norm.op is None else f"{folder}BatchToSpaceND"
            y = _copied(graph, norm.tiles, [y, *norm.tiles.inputs[1:]], f"{name}_Fold")
        if corrections is not None:
            y = v1.multiply(_spread(reciprocal, layer), y, name="post_conv_mul")
            y = v1.raw_ops.Add(x=y, y=_spread(offset, layer), name="correction_add")
        y = v1.raw_ops.Add(x=y, y=_spread(norm.bias, layer), name="add_fold")
    if not common.RerouteTensor(y, norm.output):
        raise ValueError(f"Folding batch norms failed, {norm.output.name} had no outputs.")


def _corrections(norm, delay: int | None):
    """A factor of the weights, one of the layer's result, and what is added to that, so that the batch counts."""
    followers = [_follower(each) for each in norm.statistics]
    if None in followers:
        raise ValueError(f"Batch normalization with the result {norm.output.name} keeps no moving averages")
    with v1.name_scope("batch_norm_correction"):
        mean, variance = (each.inputs[0].op.inputs[0] for each in followers)
        moving = v1.rsqrt(variance + norm.epsilon)
        own = v1.rsqrt(norm.variance + norm.epsilon)
        scale = v1.identity(v1.divide(moving, own, name="scale_compute"), name="correction_scale")
        reciprocal = v1.reciprocal(scale, name="reciprocal_compute")
        offset = v1.multiply(norm.gamma, norm.mean * own - mean * moving, name="offset_compute")
        if delay is None:
            return scale, reciprocal, v1.zeros_like(offset)
        frozen = v1.greater_equal(common.CreateOrGetQuantizationStep(), delay, name="use_moving_average")
        for product, what in zip(followers, ("mean", "var"), strict=True):
            decay = product.inputs[1]
            now = common.either(frozen, v1.zeros_like(decay), decay, f"freeze_moving_{what}")
            common.RerouteTensor(now, decay, [product])
        return (
            scale,
            common.either(frozen, v1.ones_like(scale), reciprocal, "correction_recip"),
            common.either(frozen, offset, v1.zeros_like(offset), "correction_offset"),
        )


def _as_weights(values: Tensor, layer: Operation, name: str):
    """Numbers of channels in the shape by which they multiply weights."""
    weights = layer.inputs[1].shape
    if layer.type == "DepthwiseConv2dNative":
        return v1.reshape(values, [weights[2], weights[3]], name=name)
    if layer.type == "MatMul" and layer.get_attr("transpose_b"):
        return v1.reshape(values, [-1, 1], name=name)
    return values


def _spread(values: Tensor, layer: Operation):
    """Numbers of channels in the shape by which they meet the layer's result."""
    if layer.type != "MatMul" and layer.get_attr("data_format") == b"NCHW":
        return v1.reshape(values, [1, -1, 1, 1])
    return values


def _copied(graph: Graph, op: Operation, inputs, name: str):
    """The first output of a copy of an operation on other inputs.

    Args:
      graph: its graph.
      op: the operation.
      inputs: tensors.
      name: the name of the copy, with its scope.
    """
    node = op.node_def
    with graph.name_scope(None):
        node.name = graph.unique_name(name, mark_as_used=False)
    node.attr.pop("_class", None)
    del node.input[:]
    node.input.extend(f"input_{i}" for i in range(len(inputs)))
    known = {f"input_{i}:0": tensor for i, tensor in enumerate(inputs)}
    definition = v1.GraphDef(node=[node], versions=graph.graph_def_versions)
    with graph.name_scope(None):
        (output,) = v1.import_graph_def(definition, known, [f"{node.name}:0"], name="")
    return output
