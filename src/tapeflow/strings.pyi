# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.string.code_points import unicode_decode as unicode_decode
from tapeflow.ops.string.code_points import unicode_decode_with_offsets as unicode_decode_with_offsets
from tapeflow.ops.string.code_points import unicode_encode as unicode_encode
from tapeflow.ops.string.code_points import unicode_script as unicode_script
from tapeflow.ops.string.code_points import unicode_split as unicode_split
from tapeflow.ops.string.code_points import unicode_split_with_offsets as unicode_split_with_offsets
from tapeflow.ops.string.code_points import unicode_transcode as unicode_transcode
from tapeflow.ops.string.hashing import to_hash_bucket_fast as to_hash_bucket_fast
from tapeflow.ops.string.hashing_keyed import to_hash_bucket as to_hash_bucket
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_strong as to_hash_bucket_strong
from tapeflow.ops.string.joining import format_ as format
from tapeflow.ops.string.joining import join as join
from tapeflow.ops.string.joining import reduce_join as reduce_join
from tapeflow.ops.string.ngrams import ngrams as ngrams
from tapeflow.ops.string.numbers import as_string as as_string
from tapeflow.ops.string.numbers import to_number as to_number
from tapeflow.ops.string.regex import regex_full_match as regex_full_match
from tapeflow.ops.string.regex import regex_replace as regex_replace
from tapeflow.ops.string.rows import length as length
from tapeflow.ops.string.rows import lower as lower
from tapeflow.ops.string.rows import strip as strip
from tapeflow.ops.string.rows import substr as substr
from tapeflow.ops.string.rows import upper as upper
from tapeflow.ops.string.segment_join import unsorted_segment_join as unsorted_segment_join
from tapeflow.ops.string.split import bytes_split as bytes_split
from tapeflow.ops.string.split import split as split
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
