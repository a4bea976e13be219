"""Several heads at once, each on logits of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries
from tapeflow.estimator.public_heads import PublicHead, train_op_of
from tapeflow.estimator.spec import EstimatorSpec, ModeKeys
from tapeflow.ops.array.joining import split
from tapeflow.ops.control.grouping import no_op
from tapeflow.ops.math.accumulate import add_n
from tapeflow.v1.metrics import mean


class MultiHead(PublicHead):
    """A head of several heads, each on logits of its own.

    Args:
      heads: heads of different names.
      head_weights: of their losses; by default 1.

    Raises:
      ValueError: for heads without a name or of the same, and for another number of weights.
    """

    def __init__(self, heads: Sequence[PublicHead], head_weights: Sequence[float] | None = None):
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        weights = list(head_weights or [1.0] * len(heads))
        if len(weights) != len(heads):
            raise ValueError(
                f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
                f"len(head_weights): {len(weights)}."
            )
        names = [head.name for head in heads]
        if not all(names):
            raise ValueError(f"All given heads must have name specified. Given: {names}")
        if len(set(names)) != len(names):
            raise ValueError(f"Each head must have a different name; got {names}")
        self._heads, self._weights = list(heads), weights

    @property
    def name(self):
        """The names of all heads."""
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self):
        """How many logits all heads have."""
        return sum(head.logits_dimension for head in self._heads)

    def _parts(self, logits: TensorLike):
        if isinstance(logits, dict):
            return [logits[head.name] for head in self._heads]
        return split(logits, [head.logits_dimension for head in self._heads], axis=-1)

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:  # fmt: skip
        """The weighted sum of the losses of all heads; `labels` are a dict by head."""
        parts = zip(self._heads, self._parts(logits), self._weights, strict=True)
        found = [head.loss(labels[head.name], own, features, mode) * weight for head, own, weight in parts]
        return add_n([*found, *(regularization_losses or ())])

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Any]:
        """What all heads say, by (name of the head, key)."""
        return {
            (head.name, key): value
            for head, own in zip(self._heads, self._parts(logits), strict=True)
            for key, value in head.predictions(own, keys).items()
        }

    def create_estimator_spec(
        self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
        train_op_fn: Any = None, regularization_losses: Any = None, trainable_variables: Any = None,
        update_ops: Any = None,
    ) -> EstimatorSpec:  # fmt: skip
        """An EstimatorSpec of all heads; `logits` are a dict by head, or one tensor, `labels` a dict by head."""
        specs = []
        for head, own in zip(self._heads, self._parts(logits), strict=True):
            # The step is made of the whole loss, not of a head's.
            specs.append(
                head.create_estimator_spec(
                    features, mode, own, None if labels is None else labels[head.name], None,
                    lambda loss: no_op(),
                )
            )  # fmt: skip
        predictions: Any = {
            (head.name, key): value
            for head, spec in zip(self._heads, specs, strict=True)
            for key, value in spec.predictions.items()
        }
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions, export_outputs=self._exports(specs))
        loss = add_n([spec.loss * weight for spec, weight in zip(specs, self._weights, strict=True)])
        metrics = {key: pair for spec in specs for key, pair in spec.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            for head, spec in zip(self._heads, specs, strict=True):
                metrics[f"loss/{head.name}"] = mean(spec.loss)
        if regularization_losses:
            added = add_n(list(regularization_losses))
            metrics["regularization_loss"] = mean(added)
            loss += added
        if mode == ModeKeys.EVAL:
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        step = train_op_of(loss, optimizer, train_op_fn, trainable_variables, update_ops)
        return EstimatorSpec(mode, predictions, loss, step)

    def _exports(self, specs):
        """The outputs of each head under its name; the first head's is the default."""
        made = {"serving_default": specs[0].export_outputs["serving_default"]}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in spec.export_outputs.items():
                made[head.name if key == "serving_default" else f"{key}/{head.name}"] = output
        return made


boundaries(globals())
