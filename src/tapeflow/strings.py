"""tf.strings: strings of bytes, elementwise."""

from tapeflow.ops.string.hashing import to_hash_bucket_fast
from tapeflow.ops.string.hashing_keyed import to_hash_bucket, to_hash_bucket_strong
from tapeflow.ops.string.ngrams import ngrams
from tapeflow.ops.string.numbers import as_string, to_number
from tapeflow.ops.string.regex import regex_full_match, regex_replace
from tapeflow.ops.string.rows import format_ as format
from tapeflow.ops.string.rows import join, length, lower, reduce_join, strip, substr, upper
from tapeflow.ops.string.segment_join import unsorted_segment_join
from tapeflow.ops.string.split import (
    bytes_split,
    split,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_script,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
)

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
