"""The model function of estimators over feature columns: a deep network, a weighted sum, or both side by side."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib import layers
from tapeflow.contrib.layers.columns.base import _FeatureColumn
from tapeflow.contrib.layers.columns.dense import _EmbeddingColumn
from tapeflow.contrib.learn.head import Head
from tapeflow.contrib.learn.spec import ModeKeys
from tapeflow.core.annotations import Tensor

_ACTIVATIONS = {"relu": v1.nn.relu, "tanh": v1.nn.tanh, "sigmoid": v1.nn.sigmoid}
_DEEP_RATE, _LINEAR_RATE = 0.05, 0.2
_SLICE = 64 << 20  # bytes of a part of an input layer's variable, where parameter servers share it


@dataclasses.dataclass
class Deep:
    """A network of fully connected layers over columns.

    Args:
      columns: of `tf.contrib.layers`, or of `tf.feature_column`.
      units: the number of units of each hidden layer.
      activation: a function, or "relu", "tanh" or "sigmoid".
      dropout: the part of units that is left out in training.
      optimizer: an optimizer, its name, or a function that returns it; None: Adagrad.
      multipliers: {an embedding column: a factor of its gradients}.
      slice_size: from how many bytes on a variable of the input layer is split over parameter servers.
    """

    columns: Sequence[Any]
    units: Sequence[int]
    activation: Callable[..., Any] | str = v1.nn.relu
    dropout: float | None = None
    optimizer: Any = None
    multipliers: Mapping[Any, float] | None = None
    slice_size: int | None = None


@dataclasses.dataclass
class Linear:
    """A weighted sum of columns.

    Args:
      columns: of `tf.contrib.layers`, or of `tf.feature_column`.
      joint: whether the weights are one variable.
      optimizer: an optimizer, its name, or a function that returns it; None: Ftrl.
    """

    columns: Sequence[Any]
    joint: bool = False
    optimizer: Any = None


def model_fn_of(
    head: Head, deep: Deep | None, linear: Linear | None, clip_norm: float | None, counts_once: bool = True
) -> Callable[..., Any]:
    """The model function.

    Args:
      head: what the logits mean.
      deep, linear: the parts, of which one may be None.
      clip_norm: to which norm gradients are clipped.
      counts_once: whether a step of both parts is one step, not two.
    """

    def model_fn(features: Any, labels: Any, mode: str, config):
        features = features if isinstance(features, dict) else {"": features}
        servers = getattr(config, "num_ps_replicas", 0)
        logits, input_scope = [], ""
        tag = "{}/{}" if linear else "{}_{}"
        if deep:
            net, input_scope = _deep_logits(features, deep, head.logits_dimension, mode, servers, tag)
            logits.append(net)
        if linear:
            logits.append(_linear_logits(features, linear, head.logits_dimension, servers, tag if deep else None))

        def train(loss: Tensor):
            if linear and not deep:
                return _linear_step(loss, linear, clip_norm)
            counts = not (linear and counts_once)
            steps = []
            if deep:
                steps.append(_deep_step(loss, deep, clip_norm, input_scope, counts, bool(linear)))
            if linear:
                rate = min(_LINEAR_RATE, 1 / math.sqrt(len(linear.columns)))
                steps.append(layers.optimize_loss(
                    loss, v1.train.get_global_step(), rate, _made(linear.optimizer) or "Ftrl",
                    clip_gradients=clip_norm, variables=v1.get_collection("linear"), name="linear", summaries=[],
                    increment_global_step=counts,
                ))  # fmt: skip
            if counts:
                return v1.group(*steps)
            with v1.control_dependencies(steps):
                return v1.assign_add(v1.train.get_global_step(), 1)

        total = logits[0] if len(logits) == 1 else logits[0] + logits[1]
        return head.create_model_fn_ops(features, mode, labels, train, total)

    return model_fn


def _are_core(columns: Sequence[Any]) -> bool:
    return not any(isinstance(column, _FeatureColumn) for column in columns)


def _partitioner(servers: int, slice_size: int = 256 << 10):
    return v1.min_max_variable_partitioner(servers, min_slice_size=slice_size) if servers else None


def _summarize(value: Tensor, name: str, tag: str) -> None:
    v1.summary.scalar(tag.format(name, "fraction_of_zero_values"), v1.nn.zero_fraction(value))
    v1.summary.histogram(tag.format(name, "activation"), value)


def _deep_logits(features: dict[Any, Any], deep: Deep, count: int, mode: str, servers: int, tag: str):
    """(the logits, the name of the scope of the input layer)."""
    activation = deep.activation or v1.nn.relu
    if isinstance(activation, str):
        if activation not in _ACTIVATIONS:
            raise ValueError(
                f"Activation name should be one of [{', '.join(_ACTIVATIONS)}], you provided {activation}."
            )
        activation = _ACTIVATIONS[activation]
    with v1.variable_scope("dnn", partitioner=_partitioner(servers)):
        inputs = _partitioner(servers, deep.slice_size or _SLICE)
        with v1.variable_scope("input_from_feature_columns", partitioner=inputs) as input_scope:
            if _are_core(deep.columns):
                net = v1.feature_column.input_layer(features, deep.columns, ["dnn"])
            else:
                net = layers.input_from_feature_columns(features, deep.columns, ["dnn"], scope=input_scope)
        for i, units in enumerate(deep.units):
            with v1.variable_scope(f"hiddenlayer_{i}") as scope:
                net = layers.fully_connected(net, units, activation, variables_collections=["dnn"], scope=scope)
                if deep.dropout is not None and mode == ModeKeys.TRAIN:
                    net = layers.dropout(net, keep_prob=1.0 - deep.dropout)
            _summarize(net, scope.name, tag)
        with v1.variable_scope("logits") as scope:
            logits = layers.fully_connected(net, count, None, variables_collections=["dnn"], scope=scope)
        _summarize(logits, scope.name, tag)
    return logits, input_scope.name


def _linear_logits(features: dict[Any, Any], linear: Linear, count: int, servers: int, tag: str | None):
    with v1.variable_scope("linear", partitioner=_partitioner(servers, _SLICE)) as scope:
        if _are_core(linear.columns):
            logits = v1.feature_column.linear_model(
                features, linear.columns, units=count, weight_collections=["linear"]
            )
        else:
            function = (
                layers.joint_weighted_sum_from_feature_columns
                if linear.joint
                else layers.weighted_sum_from_feature_columns
            )
            logits = function(features, linear.columns, count, ["linear"], scope=scope)[0]
        if tag:
            _summarize(logits, scope.name, tag)
    return logits


def _made(optimizer: Any):
    """The optimizer that a function without arguments makes; a class and others as they are."""
    return optimizer() if callable(optimizer) else optimizer


def _deep_step(loss: Tensor, deep: Deep, clip_norm: float | None, input_scope: str, counts: bool, shared: bool):
    return layers.optimize_loss(
        loss, v1.train.get_global_step(), _DEEP_RATE, _made(deep.optimizer) or "Adagrad",
        gradient_multipliers=_factors(deep.multipliers, input_scope), clip_gradients=clip_norm,
        variables=v1.get_collection("dnn") if shared else None, name="dnn", summaries=[],
        increment_global_step=counts,
    )  # fmt: skip


def _factors(multipliers: Mapping[Any, float] | None, input_scope: str):
    """{variable: factor}, of {embedding column: factor}."""
    factors: dict[Any, float] = {}
    for column, factor in (multipliers or {}).items():
        if not isinstance(column, _EmbeddingColumn):
            raise ValueError(
                f"learning rate multipler can only be defined for embedding columns. It is defined for {column}"
            )
        found = v1.get_collection("dnn", f"{input_scope}/{column.name}")
        if not found:
            raise ValueError(f"Couldn't find a variable for column {column}")
        factors.update((variable, factor) for variable in found)
    return factors or None


def _linear_step(loss: Tensor, linear: Linear, clip_norm: float | None):
    optimizer = linear.optimizer
    if not optimizer:
        optimizer = v1.train.FtrlOptimizer(min(_LINEAR_RATE, 1 / math.sqrt(len(linear.columns))))
    elif isinstance(optimizer, str):
        classes: dict[str, Any] = dict(layers.OPTIMIZER_CLS_NAMES)
        optimizer = classes[optimizer](_LINEAR_RATE)
    variables = v1.get_collection("linear")
    gradients = v1.gradients(loss, variables)
    if clip_norm:
        gradients, _ = v1.clip_by_global_norm(gradients, clip_norm)
    pairs = zip(gradients, variables, strict=True)
    return _made(optimizer).apply_gradients(pairs, global_step=v1.train.get_global_step())
