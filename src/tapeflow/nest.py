"""tf.nest: nested structures of lists, tuples, dicts and the like."""

from tapeflow.core.structures.nest import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
