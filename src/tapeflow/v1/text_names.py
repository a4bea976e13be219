"""Functions of strings, sparse and quantized tensors that 1.x has at its top level under names of their own."""

from tapeflow.ops.sparse.serialization import serialize_many_sparse_v1 as serialize_many_sparse
from tapeflow.ops.sparse.serialization import serialize_sparse_v1 as serialize_sparse
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_strong as string_to_hash_bucket_strong
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_v1 as string_to_hash_bucket
from tapeflow.ops.string.split import string_split

__all__ = [
    "serialize_many_sparse", "serialize_sparse", "string_split", "string_to_hash_bucket",
    "string_to_hash_bucket_strong",
]  # fmt: skip
