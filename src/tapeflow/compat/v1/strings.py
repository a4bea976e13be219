"""`tf.strings` with the names and signatures of 1.x."""

from tapeflow.ops.hashing import to_hash_bucket_fast
from tapeflow.ops.joining import split
from tapeflow.ops.regex import regex_full_match, regex_replace
from tapeflow.ops.string_numbers import as_string
from tapeflow.ops.string_numbers import to_number_v1 as to_number
from tapeflow.ops.strings import format_ as format
from tapeflow.ops.strings import join, lower, strip, upper
from tapeflow.ops.strings import length_v1 as length
from tapeflow.ops.strings import reduce_join_v1 as reduce_join
from tapeflow.ops.strings import substr_v1 as substr

__all__ = [
    "as_string",
    "format",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket_fast",
    "to_number",
    "upper",
]
