"""Shapes in nestings."""

from tapeflow.core.tensor_shape import TensorShape


def as_shapes(structure):
    """TensorShapes in a structure in which lists and tuples of sizes stand for shapes."""
    if isinstance(structure, TensorShape):
        return structure
    if isinstance(structure, dict):
        return {key: as_shapes(value) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)) and any(
        isinstance(item, (list, tuple, TensorShape)) for item in structure
    ):
        return [as_shapes(item) for item in structure]
    return TensorShape(structure)
