"""tf.strings: strings of bytes, elementwise."""

from tapeflow.ops.hashing import to_hash_bucket_fast
from tapeflow.ops.hashing_keyed import to_hash_bucket, to_hash_bucket_strong
from tapeflow.ops.ngrams import ngrams
from tapeflow.ops.regex import regex_full_match, regex_replace
from tapeflow.ops.segment_join import unsorted_segment_join
from tapeflow.ops.string_numbers import as_string, to_number
from tapeflow.ops.string_split import (
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
from tapeflow.ops.strings import format_ as format
from tapeflow.ops.strings import join, length, lower, reduce_join, strip, substr, upper

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
