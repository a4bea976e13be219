"""The newer models of `keras.applications`, for tapeflow and TensorFlow.

    python oracle_applications.py tensorflow|tapeflow FILE

saves to a JSON file for each model the names and kinds of its layers and the shapes of its weights, and of small ones
the outputs for given weights.
"""

import importlib
import json
import sys

import numpy as np

ALL = (
    "ConvNeXtTiny", "ConvNeXtSmall", "ConvNeXtBase", "EfficientNetV2B0", "EfficientNetV2B1", "EfficientNetV2B2",
    "EfficientNetV2B3", "EfficientNetV2S", "EfficientNetV2M", "EfficientNetV2L", "MobileNetV3Small", "MobileNetV3Large",
    "InceptionResNetV2",
)  # fmt: skip
VARIANTS = [
    ("ConvNeXtTiny", {"include_top": False, "pooling": "avg", "input_shape": (64, 64, 3)}),
    ("ConvNeXtTiny", {"classes": 5, "include_preprocessing": False, "input_shape": (32, 32, 1)}),
    ("EfficientNetV2B0", {"include_top": False, "pooling": "max", "input_shape": (32, 32, 3)}),
    ("EfficientNetV2B2", {"classes": 5, "input_shape": (64, 64, 3)}),
    ("EfficientNetV2S", {"classes": 5, "input_shape": (32, 32, 3)}),
    ("InceptionResNetV2", {"include_top": False, "pooling": "max", "input_shape": (75, 75, 3)}),
    ("InceptionResNetV2", {"classes": 5, "input_shape": (75, 80, 3)}),
    ("MobileNetV3Small", {"alpha": 0.75, "classes": 5, "input_shape": (64, 64, 3)}),
    ("MobileNetV3Small", {"minimalistic": True, "classes": 5, "dropout_rate": 0.0, "input_shape": (32, 48, 3)}),
    ("MobileNetV3Large", {"alpha": 1.25, "classes": 5, "input_shape": (32, 32, 3)}),
    ("MobileNetV3Large", {"include_top": False, "pooling": "avg", "include_preprocessing": False}),
]


def described(model):
    """Names and kinds of the layers with weights or given names, and shapes of the weights."""
    weights = [tuple(w.shape) for w in model.weights]
    return {
        "layers": [layer.name for layer in model.layers if layer.weights],
        "weights": [list(shape) for shape in weights],
        "count": model.count_params(),
        "output": list(model.output_shape),
    }


def outputs(model):
    """Outputs for weights that depend on their places and shapes."""
    rng = np.random.RandomState(0)
    values = []
    for w in model.weights:
        name = w.name.rpartition("/")[2].partition(":")[0]
        spread = 1.0 / np.sqrt(max(1, np.prod(w.shape[:-1])))
        value = rng.normal(size=w.shape) * spread
        values.append(np.abs(value) + 0.5 if "variance" in name or "gamma" in name else value)
    model.set_weights(values)
    shape = [2, *(64 if n is None else n for n in model.input_shape[1:])]
    return np.asarray(model(rng.uniform(0, 255, size=shape).astype("float32"))).tolist()


def main(package, file):
    """Make all models by a package and write the answers."""
    keras = importlib.import_module(package).keras
    answers = {}
    for name in ALL:
        answers[name] = described(getattr(keras.applications, name)(weights=None))
    for name, arguments in VARIANTS:
        model = getattr(keras.applications, name)(weights=None, **arguments)
        answers[f"{name} {arguments}"] = {**described(model), "outputs": outputs(model)}
    with open(file, "w") as f:
        json.dump(answers, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
