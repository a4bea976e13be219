"""tf.io: files, records, and tensors from bytes."""

from tapeflow import gfile
from tapeflow.core.files.tf_record import TFRecordOptions, TFRecordWriter
from tapeflow.graph.file_names import match_filenames_once
from tapeflow.graph.interchange.writing import write_graph
from tapeflow.image import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    decode_webp,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from tapeflow.ops.io.csv import decode_csv
from tapeflow.ops.io.file import matching_files, read_file, write_file
from tapeflow.ops.io.json_example import decode_json_example
from tapeflow.ops.io.parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from tapeflow.ops.io.proto_messages import decode_proto, encode_proto
from tapeflow.ops.io.raw_bytes import decode_compressed, decode_raw, parse_tensor, serialize_tensor
from tapeflow.ops.sparse.serialization import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from tapeflow.ops.string.regex import decode_base64, encode_base64

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature",
    "TFRecordOptions", "TFRecordWriter", "VarLenFeature", "decode_and_crop_jpeg", "decode_base64",
    "decode_bmp", "decode_compressed", "decode_csv", "decode_gif", "decode_image", "decode_jpeg",
    "decode_json_example", "decode_png", "decode_proto", "decode_raw", "decode_webp",
    "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png", "encode_proto",
    "extract_jpeg_shape", "gfile", "is_jpeg", "match_filenames_once", "matching_files",
    "parse_example", "parse_sequence_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_many_sparse",
    "serialize_sparse", "serialize_tensor", "write_file", "write_graph",
]  # fmt: skip
