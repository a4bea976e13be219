"""Losses and metrics called with labels and predictions of many shapes and dtypes, for tapeflow and TensorFlow.

    python oracle_losses.py tensorflow|tapeflow FILE

runs all calls on one of them and saves the answers to a JSON file: for each call a list of [dtype, values], or the name
of the error's class.
"""

import importlib
import json
import sys
import warnings

import numpy as np

LOSSES = (
    "BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy "
    "SparseCategoricalCrossentropy MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError "
    "MeanSquaredLogarithmicError Huber LogCosh Poisson KLDivergence Hinge SquaredHinge CategoricalHinge "
    "CosineSimilarity"
)
METRICS = (
    "Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy TopKCategoricalAccuracy "
    "SparseTopKCategoricalAccuracy MeanSquaredError RootMeanSquaredError MeanAbsoluteError "
    "MeanAbsolutePercentageError MeanSquaredLogarithmicError CosineSimilarity KLDivergence Poisson LogCoshError "
    "Hinge SquaredHinge CategoricalHinge BinaryCrossentropy CategoricalCrossentropy SparseCategoricalCrossentropy "
    "Precision Recall AUC TruePositives FalsePositives TrueNegatives FalseNegatives"
)
FUNCTIONS = (
    "mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error "
    "binary_crossentropy categorical_crossentropy sparse_categorical_crossentropy huber log_cosh poisson "
    "kl_divergence hinge squared_hinge categorical_hinge cosine_similarity binary_focal_crossentropy "
    "categorical_focal_crossentropy"
)
# The arguments of metrics that need some.
ARGUMENTS = {
    "SensitivityAtSpecificity": (0.5,), "SpecificityAtSensitivity": (0.5,), "PrecisionAtRecall": (0.5,),
    "RecallAtPrecision": (0.5,), "MeanIoU": (3,), "IoU": (3, [0]), "BinaryIoU": (), "OneHotIoU": (3, [0]),
    "OneHotMeanIoU": (3,), "Mean": (), "Sum": (),
}  # fmt: skip
ACCURACIES = "binary_accuracy categorical_accuracy sparse_categorical_accuracy top_k_categorical_accuracy"


def inputs():
    """(name, labels, predictions)."""
    rng = np.random.RandomState(0)
    p = rng.uniform(0, 1, (4, 3))
    p /= p.sum(1, keepdims=True)
    classes = np.array([0, 2, 1, 1])
    t = np.eye(3)[classes]
    f = np.float32
    yield "float32", t.astype(f), p.astype(f)
    yield "float64", t, p
    yield "int labels", t.astype(int), p.astype(f)
    yield "bool labels", t.astype(bool), p.astype(f)
    yield "float16", t.astype("float16"), p.astype("float16")
    yield "lists of ints", t.astype(int).tolist(), (p > 0.4).astype(int).tolist()
    yield "int64 and int32", t.astype("int64"), (p > 0.4).astype("int32")
    yield "saturated", t.astype(f), t.astype(f)
    yield "saturated wrong", t.astype(f), 1 - t.astype(f)
    y, q = np.array([0, 1, 1, 0]), np.array([0.1, 0.9, 0.4, 0.7], f)
    yield "(4,) and (4,)", y.astype(f), q
    yield "(4,) and (4, 1)", y.astype(f), q[:, None]
    yield "(4, 1) and (4,)", y.astype(f)[:, None], q
    yield "ints (4,) and (4, 1)", y, q[:, None]
    yield "classes (4,)", classes, p.astype(f)
    yield "classes (4, 1)", classes[:, None], p.astype(f)
    yield "float classes", classes.astype(f), p.astype(f)
    q, s = rng.uniform(0, 1, (2, 4, 3)).astype(f), rng.randint(0, 3, (2, 4))
    yield "(2, 4, 3)", np.eye(3, dtype=f)[s], q
    yield "classes (2, 4)", s, q
    yield "other width", np.zeros((4, 2), f), p.astype(f)
    yield "other batch", np.zeros((3, 3), f), p.astype(f)
    yield "NaN", t.astype(f), np.where(p > 0.5, np.nan, p).astype(f)


def weights(labels):
    """Sample weights for labels."""
    n = np.shape(labels)
    yield None
    w = np.arange(n[0]) % 3
    yield w.astype("float32")
    yield w.tolist()
    yield w.astype("float32")[:, None]
    if len(n) == 3:
        yield (np.arange(n[0] * n[1]) % 3).reshape(n[:2]).astype("float32")
    yield np.zeros(n[0], "float32")
    yield 2.0


def calls(keras):
    """(name, function that makes the call)."""

    def metric(cls, t, p, w):
        made = cls()
        made.update_state(t, p, sample_weight=w)
        made.update_state(t, p)
        return made.result()

    for kind, t, p in inputs():
        for i, w in enumerate(weights(t)):
            for name in LOSSES.split():
                cls = getattr(keras.losses, name)
                yield f"{name} | {kind} | weight {i}", lambda c=cls, t=t, p=p, w=w: c()(t, p, sample_weight=w)
            for name in METRICS.split():
                cls = getattr(keras.metrics, name)
                yield f"metric {name} | {kind} | weight {i}", lambda c=cls, t=t, p=p, w=w: metric(c, t, p, w)
        for name in LOSSES.split():
            cls = getattr(keras.losses, name)
            for reduction in ("none", "sum"):
                yield f"{name} | {kind} | {reduction}", lambda c=cls, t=t, p=p, r=reduction: c(reduction=r)(t, p)
            if name in ("BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy"):
                yield f"{name} | {kind} | logits", lambda c=cls, t=t, p=p: c(from_logits=True)(t, p)
        for name in FUNCTIONS.split():
            f = getattr(keras.losses, name, None)
            yield f"{name} | {kind}", lambda f=f, t=t, p=p: f(t, p)
        for name in ACCURACIES.split():
            f = getattr(keras.metrics, name)
            yield f"{name} | {kind}", lambda f=f, t=t, p=p: f(t, p)


def main(package, file):
    """Run all calls on a package and write the answers."""
    tf = importlib.import_module(package)
    warnings.simplefilter("ignore")
    answers = {}
    for name, call in calls(tf.keras):
        try:
            values = tf.nest.flatten(call())
            answers[name] = [[x.dtype.name, np.asarray(x, "float64").tolist()] for x in values]
        except Exception as error:
            answers[name] = type(error).__name__
    for name in (*METRICS.split(), *ARGUMENTS):
        made = getattr(tf.keras.metrics, name)(*ARGUMENTS.get(name, ()))
        answers[f"variables | {name}"] = [[each.name, list(each.shape)] for each in made.variables]
    with open(file, "w") as f:
        json.dump(answers, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
