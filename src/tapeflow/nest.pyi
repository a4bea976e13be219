# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.core.structures.nest import assert_same_structure as assert_same_structure
from tapeflow.core.structures.nest import map_structure as map_structure
from tapeflow.core.structures.structure import flatten as flatten
from tapeflow.core.structures.structure import is_nested as is_nested
from tapeflow.core.structures.structure import pack_sequence_as as pack_sequence_as
__all__ = [
    "assert_same_structure",
    "flatten",
    "is_nested",
    "map_structure",
    "pack_sequence_as",
]
