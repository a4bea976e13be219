"""Masks of weights, and how they are updated while a model trains."""

from __future__ import annotations

import re
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib.model_pruning import core_layers, pruning_utils
from tapeflow.contrib.training.hparams import HParams
from tapeflow.core.annotations import TensorLike
from tapeflow.v1.partitioned import PartitionedVariable

__all__ = [
    "Pruning", "apply_mask", "get_masked_weights", "get_masks", "get_pruning_hparams", "get_thresholds",
    "get_weight_sparsity", "get_weights",
]  # fmt: skip


def apply_mask(x: TensorLike, scope: Any = ""):
    """A weight times a mask of its own, a variable in a scope, which `Pruning` updates."""
    mask = pruning_utils.weight_mask_variable(x, scope)
    return core_layers.collect(mask, pruning_utils.weight_threshold_variable(x, scope), x)


def get_masked_weights():
    """The masked weights of the graph."""
    return v1.get_collection(core_layers.MASKED_WEIGHT_COLLECTION)


def get_masks():
    """The masks of the graph."""
    return v1.get_collection(core_layers.MASK_COLLECTION)


def get_thresholds():
    """The thresholds of the graph."""
    return v1.get_collection(core_layers.THRESHOLD_COLLECTION)


def get_weights():
    """The weights of the graph that have masks."""
    return v1.get_collection(core_layers.WEIGHT_COLLECTION)


def get_weight_sparsity():
    """The part of zeros of each mask, scalars."""
    return [v1.nn.zero_fraction(mask) for mask in get_masks()]


def get_pruning_hparams():
    """How `Pruning` works by default, an HParams.

    begin_pruning_step, end_pruning_step (-1: never), pruning_frequency: in which steps masks are updated.
    initial_sparsity, target_sparsity, sparsity_function_begin_step, sparsity_function_end_step,
    sparsity_function_exponent: which part of the weights is masked, from the one to the other between these steps.
    weight_sparsity_map: other targets, "pattern of a name:sparsity".
    threshold_decay: how much of the last threshold stays.
    block_height, block_width (-1: all), block_dims_map ("pattern of a name:4x4"), block_pooling_function (AVG or
    MAX): blocks that are masked as a whole.
    nbins, use_tpu: unused; name: of the scope.
    """
    return HParams(
        name="model_pruning", begin_pruning_step=0, end_pruning_step=-1, weight_sparsity_map=[""],
        block_dims_map=[""], threshold_decay=0.0, pruning_frequency=10, nbins=256, block_height=1, block_width=1,
        block_pooling_function="AVG", initial_sparsity=0.0, target_sparsity=0.5, sparsity_function_begin_step=0,
        sparsity_function_end_step=100, sparsity_function_exponent=3.0, use_tpu=False,
    )  # fmt: skip


def _pairs(texts: list[str]) -> list[tuple[re.Pattern[str], str]]:
    """Patterns of names, and what is said of them, from "pattern:value"."""
    pairs = (text.split(":") for text in texts if text)
    return [(re.compile(name), value) for name, value in pairs]


def _dims(name: str, text: str) -> list[int]:
    sizes = text.split("x")
    if len(sizes) != 2:
        raise ValueError(f"Expected 2 values for block dim for {name}, got {sizes}")
    return [int(size) for size in sizes]


def _sparsity(text: str) -> float:
    if float(text) >= 1.0:
        raise ValueError("Weight sparsity can not exceed 1.0")
    return float(text)


def _check(spec: Any) -> None:
    """Raises ValueError for values that cannot be."""
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.begin_pruning_step >= spec.end_pruning_step != -1:
        raise ValueError(
            f"Pruning must begin before it can end. begin_step={spec.begin_pruning_step}, "
            f"end_step={spec.end_pruning_step}. Set end_pruning_step to -1 if pruning is required till training stops"
        )
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0.0 <= getattr(spec, name) < 1.0:
            raise ValueError(f"{name} must be in range [0,1)")


class Pruning:
    """Updates the masks of a graph: those weights are kept whose magnitude is above a threshold.

    Args:
      spec: an HParams; see `get_pruning_hparams`.
      global_step: the number of the step; by default that of the graph.
      sparsity: which part of the weights is masked; by default it grows as `spec` says.

    Raises ValueError for a `spec` that cannot be.
    """

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None):
        self._spec = spec or get_pruning_hparams()
        _check(self._spec)
        step = v1.train.get_global_step() if global_step is None else global_step
        self._global_step = v1.cast(step, v1.int32)
        self._sparsity = self._growing() if sparsity is None else sparsity
        self._assign_ops: list[Any] = []
        with v1.variable_scope(self._spec.name, reuse=v1.AUTO_REUSE):
            self._last_update_step = v1.get_variable(
                "last_mask_update_step", [], initializer=v1.zeros_initializer(), trainable=False, dtype=v1.int32
            )
        self._block_dims = [self._spec.block_height, self._spec.block_width]
        self._block_dims_map = [(p, _dims(p.pattern, text)) for p, text in _pairs(self._spec.block_dims_map)]
        self._weight_sparsity_map = [(p, _sparsity(text)) for p, text in _pairs(self._spec.weight_sparsity_map)]

    def _growing(self):
        spec = self._spec
        with v1.name_scope(spec.name):
            begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
            part = v1.clip_by_value(v1.cast(self._global_step - begin, v1.float32) / (end - begin), 0.0, 1.0)
            left = v1.pow(1 - part, spec.sparsity_function_exponent)
            return v1.add((spec.initial_sparsity - spec.target_sparsity) * left, spec.target_sparsity, name="sparsity")

    def _get_block_dims(self, weight_name: str) -> list[int]:
        found = [dims for pattern, dims in self._block_dims_map if pattern.search(weight_name)]
        if len(found) > 1:
            raise ValueError(f"Multiple matches in block_dims_map for weight {weight_name}")
        return list(found[0] if found else self._block_dims)

    def _get_sparsity(self, weight_name: str):
        found = [sparsity for pattern, sparsity in self._weight_sparsity_map if pattern.search(weight_name)]
        if len(found) > 1:
            raise ValueError(f"Multiple matches in weight_sparsity_map for weight {weight_name}")
        return self._sparsity * (found[0] / self._spec.target_sparsity) if found else self._sparsity

    def _update_mask(self, weights: Any, threshold: Any):
        """The new threshold of a weight, and its mask."""
        return self._updated(weights, threshold, weights.op.name)

    def _updated(self, weights: Any, threshold: Any, name: str):
        sparsity = self._get_sparsity(name)
        with v1.name_scope(f"{name}_pruning_ops"):
            magnitudes = v1.abs(weights)
            count = v1.size(magnitudes)
            kept = v1.cast(v1.round(v1.cast(count, v1.float32) * (1 - sparsity)), v1.int32)
            ordered, _ = v1.nn.top_k(v1.reshape(magnitudes, [-1]), k=count)
            decay = self._spec.threshold_decay
            smoothed = v1.gather(ordered, kept - 1) * (1 - decay) + threshold * decay
            return smoothed, v1.cast(v1.greater_equal(magnitudes, smoothed), v1.float32)

    def _maybe_update_block_mask(self, weights: Any, threshold: Any):
        """As `_update_mask`; the mask of a matrix is made of blocks, if there are any."""
        name = weights.op.name
        dims, matrix = self._get_block_dims(name), v1.squeeze(weights)
        if matrix.shape.rank != 2 or dims == [1, 1]:
            return self._update_mask(weights, threshold)
        pooling = self._spec.block_pooling_function
        if pooling not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {pooling}")
        rows, columns = matrix.shape.as_list()
        dims = [whole if size == -1 else size for size, whole in zip(dims, (rows, columns), strict=True)]
        with v1.name_scope(f"{name}_pruning_ops"):
            pooled = v1.nn.pool(
                v1.abs(matrix)[v1.newaxis, :, :, v1.newaxis], dims, pooling, padding="SAME", strides=dims
            )
            smoothed, mask = self._updated(v1.squeeze(pooled, [0, 3]), threshold, name)
            mask = pruning_utils.expand_tensor(mask, dims)[:rows, :columns]
        return smoothed, v1.reshape(mask, v1.shape(weights))

    def _get_mask_assign_ops(self):
        if self._assign_ops:
            raise ValueError("Assign op list not empty. _get_mask_assign_ops() called twice?")
        masks, weights, thresholds = get_masks(), get_weights(), get_thresholds()
        if len(masks) != len(thresholds):
            raise ValueError(f"Number of masks {len(masks)} and number of thresholds {len(thresholds)} mismatch")
        for mask, weight, threshold in zip(masks, weights, thresholds, strict=False):
            parts = isinstance(weight, PartitionedVariable)
            new_threshold, new_mask = self._maybe_update_block_mask(weight.as_tensor() if parts else weight, threshold)
            assign = pruning_utils.partitioned_variable_assign if parts else pruning_utils.variable_assign
            self._assign_ops += [pruning_utils.variable_assign(threshold, new_threshold), assign(mask, new_mask)]

    def mask_update_op(self):
        """The operation that updates all masks."""
        with v1.name_scope(self._spec.name):
            if not self._assign_ops:
                self._get_mask_assign_ops()
            noted = v1.assign(self._last_update_step, self._global_step, name="last_mask_update_step_assign")
            with v1.control_dependencies([noted, *self._assign_ops]):
                v1.logging.info("Updating masks.")
                return v1.no_op("mask_update")

    def conditional_mask_update_op(self):
        """The operation that updates all masks in the steps that the specification says."""
        spec, step = self._spec, self._global_step
        with v1.name_scope(spec.name):
            within = v1.logical_and(
                step >= spec.begin_pruning_step,
                v1.logical_or(step <= spec.end_pruning_step, spec.end_pruning_step < 0),
            )
            due = self._last_update_step + spec.pruning_frequency <= step
        return v1.cond(v1.logical_and(within, due), self.mask_update_op, v1.no_op)

    def add_pruning_summaries(self):
        """Summarize the parts of zeros and the thresholds."""
        with v1.name_scope(f"{self._spec.name}_summaries"):
            v1.summary.scalar("sparsity", self._sparsity)
            v1.summary.scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds(), strict=False):
                v1.summary.scalar(f"{mask.op.name}/sparsity", v1.nn.zero_fraction(mask))
                v1.summary.scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self):
        """Log the specification."""
        v1.logging.info(self._spec.to_json())
