"""`Quantize`: layers whose weights, sums and activations are rounded to few bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.compat import v1
from tapeflow.contrib.quantize import common, quant_ops
from tapeflow.contrib.quantize.graph_matcher import GraphMatcher, OneofPattern, OpTypePattern
from tapeflow.core.annotations import Tensor

if TYPE_CHECKING:
    from tapeflow.contrib.quantize.graph_matcher import MatchResult
    from tapeflow.graph.graph import Graph
    from tapeflow.graph.operation import Operation

_LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
_SUMS = "Add|AddV2"
_ROUNDING = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel")
_PASSING = ("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max")


class _Layer(NamedTuple):
    """A layer: its product, its weights, its activation, the sum with another path, that after it, and its bias."""

    op: Any
    weights: Any
    activation: Any
    bypass: Any = None
    late_bypass: Any = None
    bias: Any = None


def Quantize(
    graph: Graph, is_training, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
    ema_decay: float = 0.999, quant_delay: int | None = None, vars_collection: str = v1.GraphKeys.GLOBAL_VARIABLES,
    scope: str | None = None,
):  # fmt: skip
    """Put operations that round behind the weights and the activations of a graph's layers.

    Args:
      graph: the graph, which is changed.
      is_training: whether it trains; else ranges stay as they are.
      weight_bits: how many bits weights have.
      activation_bits: how many bits activations have.
      symmetric: whether ranges have zero in the middle.
      ema_decay: how much of the moving averages of ranges a step keeps.
      quant_delay: after how many steps rounding begins; None for at once.
      vars_collection: a collection that the variables of ranges join.
      scope: the only scope to rewrite; None for all.
    """
    if scope and not scope.endswith("/"):
        scope += "/"
    rewriter = _Rewriter(is_training, weight_bits, activation_bits, symmetric, ema_decay, quant_delay, vars_collection)
    done = set()
    with graph.as_default():
        for layer in _layers(graph):
            done.update(rewriter.layer(layer, scope))
        for op in graph.get_operations():
            if _is_between(op, done):
                # Named as before `+` became AddV2: variables of ranges, in checkpoints, have that name.
                kind = op.type.removesuffix("V2")
                rewriter.put(op.name, f"activation_{kind}_quant", op, producer_scope=scope, symmetric=False)


def _folder(name: str):
    return name.rpartition("/")[0]


class _Rewriter:
    def __init__(
        self, training: bool | Tensor, weight_bits: int, activation_bits: int, symmetric: bool, decay: float,
        delay: int | None, collection: str,
    ):
        self.training, self.symmetric, self.decay = training, symmetric, decay
        self.weight_bits, self.activation_bits = weight_bits, activation_bits
        self.delay, self.collection = delay, collection
        self.rounded: dict[Any, Any] = {}  # what was made of variables, by their handles

    def layer(self, layer, scope):
        """Round the weights of a layer and what it computes; returns the operations whose results are rounded."""
        context, done = _folder(layer.op.name), []
        if layer.weights is not None:
            self.put(context, "weights_quant", layer.weights.op, consumer_scope=scope, weights=True)
        outer = _folder(context) if layer.bypass is not None else context
        self.put(outer, "act_quant", layer.activation, producer_scope=scope, init_min=0.0)
        done.append(layer.activation)
        if layer.bypass is not None:
            both = {"producer_scope": scope, "consumer_scope": scope}
            self.put(context, "conv_quant", layer.bias, **both)
            done.append(layer.bias)
            # With an activation after it, the sum is one step with that.
            if not _is_before(layer.bypass, ("Relu", "Relu6", "Identity")):
                self.put(outer, "add_quant", layer.bypass, **both)
                done.append(layer.bypass)
        late = layer.late_bypass
        if late is not None and not _is_before(late, ("Relu", "Relu6")):
            self.put(_folder(late.name), "post_activation_bypass_quant", late, producer_scope=scope)
            done.append(late)
        return done

    def put(
        self, context, name: str, producer, producer_scope=None, consumer_scope=None, weights: bool = False,
        init_min=-6.0, symmetric=None,
    ):  # fmt: skip
        """Round the first output of an operation for all who use it, unless it is outside of a scope, or rounded."""
        users, value = common.consumers(producer), producer.outputs[0]
        if producer_scope and not producer.name.startswith(producer_scope):
            return
        if consumer_scope and not all(op.name.startswith(consumer_scope) for op in users):
            return
        if _is_rounded(value):
            return
        variable = producer.inputs[0] if producer.type == "ReadVariableOp" else None
        if not getattr(variable, "of_reference", False):
            variable = None  # each read of a resource is a tensor of its own
        if variable is not None and variable in self.rounded:
            common.RerouteTensor(self.rounded[variable], value, users)
            return
        prefix = f"{context}/{name}" if context else name
        around = v1.get_default_graph().get_name_scope()
        if around:
            prefix = prefix.removeprefix(f"{around}/")
        settings = {
            "init_min": init_min, "init_max": 6.0, "is_training": self.training,
            "num_bits": self.weight_bits if weights else self.activation_bits,
            "symmetric": self.symmetric if symmetric is None else symmetric, "narrow_range": weights,
            "vars_collection": self.collection, "name_prefix": prefix,
        }  # fmt: skip
        if weights:
            rounded = quant_ops.LastValueQuantize(value, **settings)
        else:
            rounded = quant_ops.MovingAvgQuantize(value, ema_decay=self.decay, **settings)
        if self.delay and self.delay > 0:
            step = common.CreateOrGetQuantizationStep()
            active = v1.greater_equal(step, self.delay, name=f"{prefix}/activate_quant")
            rounded = common.either(active, rounded, value, f"{prefix}/delayed_quant")
        common.RerouteTensor(rounded, value, users)
        if variable is not None:
            self.rounded[variable] = rounded


def _is_before(op: Operation, kinds: Sequence[str]):
    return any(each.type in kinds for each in common.consumers(op))


def _is_rounded(tensor: Tensor):
    """Whether rounding follows a tensor, maybe after a change of shape."""
    open_ = list(tensor.consumers())
    while open_:
        op = open_.pop()
        if op.type in _ROUNDING:
            return True
        if op.type in ("Reshape", "Identity"):
            open_ += [each for y in op.outputs for each in y.consumers()]
    return False


def _is_between(op: Operation, done):
    """Whether an operation is a sum or product of rounded values, whose result is not rounded yet."""
    if op in done or op.type not in ("Add", "AddV2", "Mul"):
        return False
    users = op.outputs[0].consumers()
    if len(users) == 1 and users[0].type in ("Relu", "Relu6"):
        return False
    for x in op.inputs:
        source = x.op
        while source.type in _PASSING and "delayed_quant/" not in source.name:
            source = source.inputs[0].op
        if source.type == "FakeQuantWithMinMaxVars" or "delayed_quant/" in source.name:
            return True
        if source.type in ("Add", "AddV2", "Mul") and any(_is_between(y.op, done) for y in source.inputs):
            return True
    return False


def _weight_patterns():
    """What weights come from: the read of a variable, or of its parts, or a product with a factor of each channel."""
    read = OpTypePattern("ReadVariableOp|Variable|VariableV2")
    same = OpTypePattern("Identity", inputs=[OneofPattern([OpTypePattern("Identity", inputs=[read]), read])])
    parts = OpTypePattern("ConcatV2", inputs=[OneofPattern([same, read]), "*", "*"])
    joined = OpTypePattern("Identity", inputs=[parts])
    return [joined, parts, same, OpTypePattern("ReadVariableOp"), OpTypePattern("Mul")]


def _layers(graph: Graph):
    """The layers of a graph, each once, with as much of what follows as there is."""
    weights = _weight_patterns()
    product = OpTypePattern(_LAYERS, inputs=["*", OneofPattern(weights)], ordered_inputs=False)
    tiles = OpTypePattern("BatchToSpaceND", inputs=[product, "*", "*"])
    output = OneofPattern([tiles, product])
    bias = OpTypePattern(f"{_SUMS}|BiasAdd", inputs=[output, "*"], ordered_inputs=False)
    # What folding of batch normalization makes: a factor, a correction, and the bias.
    factor = OpTypePattern("Mul", inputs=["*", output], ordered_inputs=False)
    corrected = OpTypePattern(_SUMS, inputs=[factor, "*"], ordered_inputs=False)
    folded = OpTypePattern(_SUMS, inputs=[corrected, "*"], ordered_inputs=False)
    updated = OpTypePattern("Identity", inputs=[folded])
    bypass = OpTypePattern(_SUMS, inputs=[OneofPattern([bias, folded, updated]), "*"], ordered_inputs=False)
    before = OneofPattern([bias, folded, updated, bypass, product])
    activation = OpTypePattern("Relu|Relu6|Identity", inputs=[before])
    late = OpTypePattern(_SUMS, inputs=["*", activation], ordered_inputs=False)
    separable = OpTypePattern(_LAYERS, inputs=[output, "*"], ordered_inputs=False)

    def first(match: MatchResult, patterns: Sequence[Any], get: str = "get_op"):
        return next((found for each in patterns if (found := getattr(match, get)(each)) is not None), None)

    found: dict[Any, _Layer] = {}
    for last, ends in ((late, [activation]), (activation, [activation]), (OneofPattern([bias, folded]), [bias, folded]),
                       (separable, [product])):  # fmt: skip
        for match in GraphMatcher(last).match_graph(graph):
            op, end = match.get_op(product), first(match, ends)
            if op in found or (last is activation and _is_of_norm(end)):
                continue
            whole = last in (late, activation)
            found[op] = _Layer(
                op, first(match, weights, "get_tensor"), end, match.get_op(bypass) if whole else None,
                match.get_op(late), first(match, [bias, folded]) if whole else None,
            )  # fmt: skip
    return list(found.values())


def _is_of_norm(activation):
    """Whether it is an identity before batch normalization, which measures the layer there after folding."""
    users = [op for y in activation.outputs for op in y.consumers()]
    return activation.type == "Identity" and len(users) == 1 and users[0].type.startswith("FusedBatchNorm")
