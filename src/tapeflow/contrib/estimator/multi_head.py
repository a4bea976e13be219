"""Several heads at once, each on logits of its own."""

from __future__ import annotations

from tapeflow.compat import v1
from tapeflow.estimator import EstimatorSpec, ModeKeys
from tapeflow.estimator.public_heads import train_op_of


class _MultiHead:
    def __init__(self, heads, weights):
        self._heads, self._weights = heads, weights

    @property
    def name(self):
        """The names of all heads."""
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self):
        """How many logits all heads have."""
        return sum(head.logits_dimension for head in self._heads)

    def _parts(self, logits):
        if isinstance(logits, dict):
            return [logits[head.name] for head in self._heads]
        return v1.split(logits, [head.logits_dimension for head in self._heads], axis=-1)

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None, regularization_losses=None
    ):  # fmt: skip
        """An EstimatorSpec of all heads; `logits` are a dict by head, or one tensor, `labels` a dict by head."""
        specs = []
        for head, own in zip(self._heads, self._parts(logits), strict=True):
            # The step is made of the whole loss, not of a head's.
            specs.append(
                head.create_estimator_spec(
                    features, mode, own, None if labels is None else labels[head.name], None,
                    lambda loss: v1.no_op(),
                )
            )  # fmt: skip
        predictions = {
            (head.name, key): value
            for head, spec in zip(self._heads, specs, strict=True)
            for key, value in spec.predictions.items()
        }
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions, export_outputs=self._exports(specs))
        loss = v1.add_n([spec.loss * weight for spec, weight in zip(specs, self._weights, strict=True)])
        metrics = {key: pair for spec in specs for key, pair in spec.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            for head, spec in zip(self._heads, specs, strict=True):
                metrics[f"loss/{head.name}"] = v1.metrics.mean(spec.loss)
        if regularization_losses:
            added = v1.add_n(list(regularization_losses))
            metrics["regularization_loss"] = v1.metrics.mean(added)
            loss += added
        if mode == ModeKeys.EVAL:
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        return EstimatorSpec(mode, predictions, loss, train_op_of(loss, optimizer, train_op_fn))

    def _exports(self, specs):
        """The outputs of each head under its name; the first head's is the default."""
        made = {"serving_default": specs[0].export_outputs["serving_default"]}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in spec.export_outputs.items():
                made[head.name if key == "serving_default" else f"{key}/{head.name}"] = output
        return made


def multi_head(heads, head_weights=None):
    """A head of several heads.

    Args:
      heads: heads of different names.
      head_weights: of their losses; by default 1.

    Raises ValueError for heads without a name or of the same, and for another number of weights.
    """
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
    return _MultiHead(list(heads), weights)
