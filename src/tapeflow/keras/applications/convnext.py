"""`tf.keras.applications.convnext`."""

from tapeflow.keras.applications.convnext_blocks import (
    ConvNeXtBase,
    ConvNeXtLarge,
    ConvNeXtSmall,
    ConvNeXtTiny,
    ConvNeXtXLarge,
)
from tapeflow.keras.applications.imagenet_utils import of_mode

preprocess_input, decode_predictions = of_mode(None)

__all__ = [
    "ConvNeXtBase",
    "ConvNeXtLarge",
    "ConvNeXtSmall",
    "ConvNeXtTiny",
    "ConvNeXtXLarge",
    "decode_predictions",
    "preprocess_input",
]
