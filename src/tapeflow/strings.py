"""tf.strings: strings of bytes, elementwise."""

from tapeflow.ops.hashing import to_hash_bucket_fast
from tapeflow.ops.regex import regex_full_match, regex_replace
from tapeflow.ops.string_numbers import as_string, to_number
from tapeflow.ops.strings import format_ as format
from tapeflow.ops.strings import join, length, lower, reduce_join, strip, substr, upper

__all__ = [
    "as_string",
    "format",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "strip",
    "substr",
    "to_hash_bucket_fast",
    "to_number",
    "upper",
]
