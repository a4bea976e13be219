"""`tf.contrib.framework.nest`: nested structures, by the names that 1.x had for their functions."""

from tapeflow.core.structures.nest import (
    assert_same_structure,
    assert_shallow_structure,
    flatten,
    flatten_dict_items,
    flatten_up_to,
    flatten_with_joined_string_paths,
    get_traverse_shallow_structure,
    map_structure,
    map_structure_up_to,
    map_structure_with_paths,
    pack_sequence_as,
    yield_flat_paths,
)
from tapeflow.core.structures.nest import is_nested as is_sequence

__all__ = [
    "assert_same_structure", "assert_shallow_structure", "flatten", "flatten_dict_items", "flatten_up_to",
    "flatten_with_joined_string_paths", "get_traverse_shallow_structure", "is_sequence", "map_structure",
    "map_structure_up_to", "map_structure_with_paths", "pack_sequence_as", "yield_flat_paths",
]  # fmt: skip
