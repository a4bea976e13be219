"""Batches of examples that are kept with some probability, from queues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.assertions import (
    assert_equal,
    assert_less,
    assert_less_equal,
    assert_non_negative,
    assert_positive,
)
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal, not_equal
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.logic import logical_or
from tapeflow.ops.math.reductions import reduce_all, reduce_max, reduce_sum
from tapeflow.ops.random.functions import uniform
from tapeflow.ops.state.variable import VariableV1
from tapeflow.train.input import batch, maybe_batch
from tapeflow.v1.variable_scoping import variable_scope


def _checked(tensor: TensorLike, *checks, name: str | None = None):
    """The tensor, once assertions hold; those that are known to hold are None."""
    with control_dependencies([check for check in checks if check is not None]):
        return identity(tensor, name)


def _listed(tensors: TensorLike):
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"tensors must be a list, not {tensors!r}")
    return [convert_to_tensor(x) for x in tensors]


def _one_by_one(tensors, threads, capacity):
    """Examples, another one from run to run, of batches."""
    batched = batch(tensors, batch_size=1, num_threads=threads, capacity=capacity, enqueue_many=True)
    return [squeeze(x, [0]) for x in (batched if isinstance(batched, list) else [batched])]


def _kept(tensors: TensorLike, probability: Tensor, batch_size: int, threads: int):
    made = maybe_batch(tensors, uniform([]) < probability, batch_size=batch_size, num_threads=threads)
    return made if isinstance(made, list) else [made]


def rejection_sample(
    tensors: Any, accept_prob_fn: Callable[..., Any], batch_size: int, queue_threads: int = 1,
    enqueue_many: bool = False, prebatch_capacity: int = 16, prebatch_threads: int = 1, runtime_checks: bool = False,
    name: str | None = None,
):  # fmt: skip
    """A list of batches of the examples that are accepted with the probability `accept_prob_fn(tensors)`.

    Args:
      tensors: a list of tensors, which are another example from run to run.
      accept_prob_fn: from such a list to a number in [0, 1].
      batch_size: the size of the batches.
      queue_threads: how many threads make examples.
      enqueue_many: whether the tensors are batches already, which are taken apart.
      prebatch_capacity: how many examples are held for that.
      prebatch_threads: how many threads take batches apart.
      runtime_checks: whether probabilities are checked when the graph runs.
      name: the name of the variable scope.
    Raises:
      TypeError: for tensors that are no list.
      ValueError: for batches of different sizes.
    """
    with variable_scope(name, "rejection_sample", tensors):
        tensors = _listed(tensors)
        if enqueue_many:
            for x in tensors:
                _same_rows(x, tensors[0])
            tensors = _one_by_one(tensors, prebatch_threads, prebatch_capacity)
        chance = accept_prob_fn(tensors)
        if runtime_checks:
            checks = assert_less_equal(0.0, chance), assert_less_equal(chance, 1.0)
            chance = _checked(chance, *checks, name="prob_with_checks")
        return _kept(tensors, chance, batch_size, queue_threads)


def _same_rows(x, other):
    x.shape.with_rank_at_least(1)[:1].assert_is_compatible_with(other.shape[:1])


def _probabilities(values: TensorLike, count: int | None = None):
    """Checked probabilities: a vector whose sum is one."""
    values = convert_to_tensor(values, dtypes.float32)
    if not values.shape.is_fully_defined():
        raise ValueError(f"Probabilities must be of known shape, not {values.shape}")
    values.shape.assert_has_rank(1)
    if count not in (None, values.shape[0]):
        raise ValueError("Probability parameters must have the same length.")
    total, tolerance = reduce_sum(values), 1e-6
    return _checked(
        values, assert_non_negative(values), assert_less(total, 1.0 + tolerance), assert_less(1.0 - tolerance, total)
    )


def _estimated(labels: Tensor, classes: int, smoothing: int = 10):
    """The shares of classes so far; at first all are the same."""
    counts = VariableV1([smoothing] * classes, trainable=False, name="class_count", dtype=dtypes.int64)
    seen = counts.assign_add(reduce_sum(one_hot(labels, classes, dtype=dtypes.int64), 0))
    shares = convert_to_tensor(seen) / reduce_sum(seen)
    return cast(shares, dtypes.float32)


def stratified_sample(
    tensors, labels: TensorLike, target_probs: TensorLike, batch_size: int, init_probs: Sequence[float] | None = None,
    enqueue_many: bool = False, queue_capacity: int = 16, threads_per_queue=1, name: str | None = None,
):  # fmt: skip
    """(a list of batches, their labels) of examples that are accepted so that classes have the shares `target_probs`.

    Args:
      tensors: a list of tensors, which are another example from run to run.
      labels: the class of the example.
      target_probs: the probability of each class.
      batch_size: the size of the batches.
      init_probs: the shares that classes have in the data; None: these are estimated.
      enqueue_many: whether the tensors are batches already, which are taken apart.
      queue_capacity: how many examples the queue holds.
      threads_per_queue: how many threads make examples.
      name: the name of the scope of operations.
    Raises:
      TypeError: for tensors that are no list, and labels that are no integers.
      ValueError: for batches of different sizes, and probabilities of unknown or different lengths.
    """
    with name_scope(name or "stratified_sample"):
        tensors, labels = _listed(tensors), convert_to_tensor(labels)
        if not enqueue_many:
            tensors, labels = [expand_dims(x, 0) for x in tensors], expand_dims(labels, 0)
        wanted = _probabilities(target_probs)
        classes = wanted.shape[0]
        if init_probs is None:
            init_probs = _estimated(labels, classes)
        found = _probabilities(init_probs, classes)
        tensors, labels = _checked_examples(tensors, labels, classes)
        text = "All classes with zero initial probability must also have zero target probability: "
        reachable = reduce_all(logical_or(not_equal(found, 0.0), equal(wanted, 0.0)))
        found = _checked(found, Assert(reachable, [text, found, wanted]))
        ratio = divide_no_nan(wanted, found)
        *values, label = _one_by_one([*tensors, labels], threads_per_queue, queue_capacity)
        chance = gather(ratio / reduce_max(ratio), label)
        made = _kept([*values, label], chance, batch_size, threads_per_queue)
        return made[:-1], made[-1]


def _checked_examples(tensors, labels: Tensor, classes: int):
    labels.shape.assert_has_rank(1)
    for x in tensors:
        _same_rows(x, labels)
    if not labels.dtype.is_integer:
        raise TypeError(f"labels must be integers, not {labels.dtype!r}")
    rows = shape_of(labels)[0]
    some = assert_positive(rows)
    tensors = [_checked(x, some, assert_equal(shape_of(x)[0], rows)) for x in tensors]
    limit = cast(classes, labels.dtype)
    return tensors, _checked(labels, some, assert_non_negative(labels), assert_less(labels, limit))
