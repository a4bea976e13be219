"""tf.compat.v1.io: `tf.io` with the names and signatures of 1.x."""

from tapeflow.compat.v1.python_io import TFRecordCompressionType, tf_record_iterator
from tapeflow.io import (
    TFRecordOptions,
    TFRecordWriter,
    decode_and_crop_jpeg,
    decode_base64,
    decode_bmp,
    decode_compressed,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    decode_webp,
    encode_base64,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    gfile,
    is_jpeg,
    match_filenames_once,
    matching_files,
    parse_tensor,
    read_file,
    serialize_tensor,
    write_file,
    write_graph,
)
from tapeflow.ops.io.csv import decode_csv_v1 as decode_csv
from tapeflow.ops.io.json_example import decode_json_example
from tapeflow.ops.io.parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    parse_sequence_example,
    parse_single_sequence_example,
)
from tapeflow.ops.io.parsing import parse_example_v1 as parse_example
from tapeflow.ops.io.parsing import parse_single_example_v1 as parse_single_example
from tapeflow.ops.io.proto_messages import decode_proto, encode_proto
from tapeflow.ops.io.raw_bytes import decode_raw_v1 as decode_raw
from tapeflow.ops.queue.queues import PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from tapeflow.ops.sparse.serialization import deserialize_many_sparse
from tapeflow.ops.sparse.serialization import serialize_many_sparse_v1 as serialize_many_sparse
from tapeflow.ops.sparse.serialization import serialize_sparse_v1 as serialize_sparse

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "PaddingFIFOQueue", "PriorityQueue", "QueueBase",
    "RaggedFeature", "RandomShuffleQueue", "SparseFeature", "TFRecordCompressionType",
    "TFRecordOptions", "TFRecordWriter", "VarLenFeature", "decode_and_crop_jpeg", "decode_base64",
    "decode_bmp", "decode_compressed", "decode_csv", "decode_gif", "decode_image", "decode_jpeg",
    "decode_json_example", "decode_png", "decode_proto", "decode_raw", "decode_webp",
    "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png", "encode_proto",
    "extract_jpeg_shape", "gfile", "is_jpeg", "match_filenames_once", "matching_files",
    "parse_example", "parse_sequence_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_many_sparse",
    "serialize_sparse", "serialize_tensor", "tf_record_iterator", "write_file", "write_graph",
]  # fmt: skip
