"""Images as models take them, and predictions as names of ImageNet's classes."""

from __future__ import annotations

import json

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras import settings
from tapeflow.keras.utils.files import get_file
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.math.casting import cast

_ORIGIN = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
_MEANS = np.array([103.939, 116.779, 123.68])  # blue, green, red
_TORCH = (np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225]))
_classes: dict = {}


def preprocess_input(x, data_format: str | None = None, mode: str = "caffe"):
    """Images of 0..255 as a model takes them: by mode "caffe", "tf" or "torch".

    Raises ValueError for other modes and formats.
    """
    if mode not in ("caffe", "tf", "torch"):
        raise ValueError(
            f"Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode={mode}"
        )
    data_format = data_format or settings.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            "Expected data_format to be one of `channels_first` or `channels_last`. Received: "
            f"data_format={data_format}"
        )
    array = isinstance(x, np.ndarray)
    if not array and not isinstance(x, Tensor) and not hasattr(x, "node"):
        x = convert_to_tensor(x)
    floating = x.dtype.kind == "f" if array else x.dtype.is_floating
    if not floating:
        x = x.astype(settings.floatx()) if array else cast(x, settings.floatx())
    if mode == "tf":
        return x / 127.5 - 1.0
    last = data_format == "channels_last"
    shape = (3,) if last else (3, 1, 1)
    dtype = x.dtype if array else x.dtype.as_numpy_dtype
    if mode == "torch":
        mean, deviation = (v.reshape(shape).astype(dtype) for v in _TORCH)
        return (x / 255.0 - mean) / deviation
    axis = len(x.shape) - (1 if last else 3)
    x = np.flip(x, axis) if array else reverse(x, [axis])
    return x - _MEANS.reshape(shape).astype(dtype)


def decode_predictions(preds, top: int = 5):
    """Find the likeliest classes of ImageNet; their names are downloaded unless they are there.

    Args:
      preds: probabilities, `(batch, 1000)`.
      top: how many for each row.

    Returns:
      For each row a list of (id, name, probability), the likeliest first.

    Raises:
      ValueError: for another shape.
    """
    preds = np.asarray(preds)
    if preds.ndim != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, "
            f"1000)). Received array with shape: {preds.shape}"
        )
    if not _classes:
        path = get_file(
            "imagenet_class_index.json", _ORIGIN, cache_subdir="models",
            file_hash="c2c37ea517e94d9795004a39431a14cb",
        )  # fmt: skip
        with open(path) as file:
            _classes.update(json.load(file))
    found = []
    for row in preds:
        order = row.argsort()[-top:][::-1]
        found.append([(*_classes[str(i)], row[i]) for i in order])
    return found


def of_mode(mode: str | None):
    """(preprocess_input, decode_predictions) of a model that takes images by a mode."""

    def preprocess(x: Tensor, data_format: str | None = None):
        """Images of 0..255 as the model takes them."""
        return x if mode is None else preprocess_input(x, data_format, mode)

    preprocess.__name__ = preprocess.__qualname__ = "preprocess_input"
    return preprocess, decode_predictions
