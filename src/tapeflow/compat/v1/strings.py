"""`tf.strings` with the names and signatures of 1.x."""

from tapeflow.ops.string.hashing import to_hash_bucket_fast
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_strong
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_v1 as to_hash_bucket
from tapeflow.ops.string.ngrams import ngrams
from tapeflow.ops.string.numbers import as_string
from tapeflow.ops.string.numbers import to_number_v1 as to_number
from tapeflow.ops.string.regex import regex_full_match, regex_replace
from tapeflow.ops.string.rows import format_ as format
from tapeflow.ops.string.rows import join, lower, strip, upper
from tapeflow.ops.string.rows import length_v1 as length
from tapeflow.ops.string.rows import reduce_join_v1 as reduce_join
from tapeflow.ops.string.rows import substr_v1 as substr
from tapeflow.ops.string.segment_join import unsorted_segment_join
from tapeflow.ops.string.split import (
    bytes_split,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_script,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
)
from tapeflow.ops.string.split import split_v1 as split

__all__ = [
    "as_string",
    "bytes_split",
    "format",
    "join",
    "length",
    "lower",
    "ngrams",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
    "unsorted_segment_join",
    "upper",
]
