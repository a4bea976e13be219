"""`tf.lite.experimental`."""

from tapeflow.lite import authoring
from tapeflow.lite.analyzer import Analyzer
from tapeflow.lite.experimental_types import OpResolverType
from tapeflow.lite.interpreter import load_delegate

__all__ = [
    "Analyzer",
    "OpResolverType",
    "authoring",
    "load_delegate",
]
