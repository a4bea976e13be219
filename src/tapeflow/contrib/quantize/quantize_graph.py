"""The functions of `tf.contrib.quantize`: graphs are rewritten in place, for training or for evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.compat import v1
from tapeflow.contrib.quantize.fold_batch_norms import FoldBatchNorms
from tapeflow.contrib.quantize.rewriting import Quantize
from tapeflow.core.annotations import Tensor

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

__all__ = [
    "create_eval_graph", "create_training_graph", "experimental_create_eval_graph",
    "experimental_create_training_graph",
]  # fmt: skip

_TRAINING = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")


def create_training_graph(input_graph: Graph | None = None, quant_delay: int = 0):
    """Rewrite a graph so that it trains with weights and activations of 8 bits; gradients are added after that.

    Args:
      input_graph: a graph; None for the default one.
      quant_delay: after how many steps rounding begins.

    Raises:
      ValueError: for a graph with operations of optimizers.
    """
    _rewrite(input_graph, True, quant_delay=quant_delay)


def create_eval_graph(input_graph: Graph | None = None):
    """Rewrite a graph so that it computes with weights and activations of 8 bits, in ranges that training measured.

    Args:
      input_graph: a graph; None for the default one.

    Raises:
      ValueError: for a graph with operations of optimizers.
    """
    _rewrite(input_graph, False)


def experimental_create_training_graph(
    input_graph: Graph | None = None, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
    quant_delay: int = 0, freeze_bn_delay=None, scope: str | None = None,
):  # fmt: skip
    """Rewrite a graph so that it trains with weights and activations of few bits; gradients are added after that.

    Args:
      input_graph: a graph; None for the default one.
      weight_bits: how many bits weights have.
      activation_bits: how many bits activations have.
      symmetric: whether ranges have zero in the middle.
      quant_delay: after how many steps rounding begins.
      freeze_bn_delay: after how many steps batch normalization uses its moving averages; None for never.
      scope: the only scope to rewrite; None for all.

    Raises:
      ValueError: for a graph with operations of optimizers.
    """
    _rewrite(input_graph, True, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay, scope)


def experimental_create_eval_graph(
    input_graph=None, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
    quant_delay=None, scope: str | None = None,
):
    """Rewrite a graph so that it computes with weights and activations of few bits.

    Args:
      input_graph: a graph; None for the default one.
      weight_bits: how many bits weights have.
      activation_bits: how many bits activations have.
      symmetric: whether ranges have zero in the middle.
      quant_delay: after how many steps rounding begins; None for at once.
      scope: the only scope to rewrite; None for all.

    Raises:
      ValueError: for a graph with operations of optimizers.
    """
    _rewrite(input_graph, False, weight_bits, activation_bits, symmetric, quant_delay, None, scope)


def _rewrite(
    graph, training: bool | Tensor, weight_bits: int = 8, activation_bits: int = 8, symmetric: bool = False,
    quant_delay: int | None = None, freeze_bn_delay=None, scope: str | None = None,
):  # fmt: skip
    graph = v1.get_default_graph() if graph is None else graph
    found = {op.type for op in graph.get_operations() if op.type.startswith(_TRAINING)}
    if found:
        raise ValueError(f"Training op found in graph, exiting {found}")
    with graph.as_default():
        FoldBatchNorms(graph, training, freeze_bn_delay)
        Quantize(graph, training, weight_bits, activation_bits, symmetric, quant_delay=quant_delay, scope=scope)
