"""`tf.__internal__.saved_model`: what savers and loaders of libraries need."""

from tapeflow.__internal__.saved_model import load
from tapeflow.saved_model.builder import SavedModelBuilder
from tapeflow.saved_model.partial import load_partial
from tapeflow.saved_model.reading import parse as parse_saved_model
from tapeflow.saved_model.structures import decode_proto
from tapeflow.saved_model.structures import encode as encode_structure

__all__ = [
    "SavedModelBuilder", "decode_proto", "encode_structure", "load", "load_partial", "parse_saved_model",
]  # fmt: skip
