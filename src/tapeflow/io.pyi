# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow import gfile as gfile
from tapeflow.core.files.tf_record import TFRecordOptions as TFRecordOptions
from tapeflow.core.files.tf_record import TFRecordWriter as TFRecordWriter
from tapeflow.graph.file_names import match_filenames_once as match_filenames_once
from tapeflow.graph.interchange.writing import write_graph as write_graph
from tapeflow.ops.image.bmp import decode_bmp as decode_bmp
from tapeflow.ops.image.decoding import decode_image as decode_image
from tapeflow.ops.image.gif import decode_gif as decode_gif
from tapeflow.ops.image.jpeg import decode_and_crop_jpeg as decode_and_crop_jpeg
from tapeflow.ops.image.jpeg import decode_jpeg as decode_jpeg
from tapeflow.ops.image.jpeg import encode_jpeg as encode_jpeg
from tapeflow.ops.image.jpeg import extract_jpeg_shape as extract_jpeg_shape
from tapeflow.ops.image.jpeg import is_jpeg as is_jpeg
from tapeflow.ops.image.png import decode_png as decode_png
from tapeflow.ops.image.png import encode_png as encode_png
from tapeflow.ops.image.webp import decode_webp as decode_webp
from tapeflow.ops.io.csv import decode_csv as decode_csv
from tapeflow.ops.io.example_features import FixedLenFeature as FixedLenFeature
from tapeflow.ops.io.example_features import FixedLenSequenceFeature as FixedLenSequenceFeature
from tapeflow.ops.io.example_features import RaggedFeature as RaggedFeature
from tapeflow.ops.io.example_features import SparseFeature as SparseFeature
from tapeflow.ops.io.example_features import VarLenFeature as VarLenFeature
from tapeflow.ops.io.file import matching_files as matching_files
from tapeflow.ops.io.file import read_file as read_file
from tapeflow.ops.io.file import write_file as write_file
from tapeflow.ops.io.json_example import decode_json_example as decode_json_example
from tapeflow.ops.io.parsing import parse_example as parse_example
from tapeflow.ops.io.parsing import parse_sequence_example as parse_sequence_example
from tapeflow.ops.io.parsing import parse_single_example as parse_single_example
from tapeflow.ops.io.parsing import parse_single_sequence_example as parse_single_sequence_example
from tapeflow.ops.io.proto_messages import decode_proto as decode_proto
from tapeflow.ops.io.proto_messages import encode_proto as encode_proto
from tapeflow.ops.io.raw_bytes import decode_compressed as decode_compressed
from tapeflow.ops.io.raw_bytes import decode_raw as decode_raw
from tapeflow.ops.io.raw_bytes import parse_tensor as parse_tensor
from tapeflow.ops.io.raw_bytes import serialize_tensor as serialize_tensor
from tapeflow.ops.sparse.serialization import deserialize_many_sparse as deserialize_many_sparse
from tapeflow.ops.sparse.serialization import serialize_many_sparse as serialize_many_sparse
from tapeflow.ops.sparse.serialization import serialize_sparse as serialize_sparse
from tapeflow.ops.string.regex import decode_base64 as decode_base64
from tapeflow.ops.string.regex import encode_base64 as encode_base64
__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_and_crop_jpeg",
    "decode_base64",
    "decode_bmp",
    "decode_compressed",
    "decode_csv",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_json_example",
    "decode_png",
    "decode_proto",
    "decode_raw",
    "decode_webp",
    "deserialize_many_sparse",
    "encode_base64",
    "encode_jpeg",
    "encode_png",
    "encode_proto",
    "extract_jpeg_shape",
    "gfile",
    "is_jpeg",
    "match_filenames_once",
    "matching_files",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_many_sparse",
    "serialize_sparse",
    "serialize_tensor",
    "write_file",
    "write_graph",
]
