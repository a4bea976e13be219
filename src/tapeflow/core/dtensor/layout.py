"""`Layout`: how the axes of a tensor lie on a mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.public import public_methods

UNSHARDED = "unsharded"
MATCH = "match"
_PREFIXES = {"sharding_specs:": "static", "parted:": "parted", "maximal:": "single"}


@public_methods
class Layout:
    """Say for each axis of a tensor along which dimension of a mesh it is cut. Immutable.

    Args:
      sharding_specs: for each axis the name of a dimension of the mesh, or UNSHARDED; a list of str.
      mesh: the mesh.

    Raises:
      ValueError: for names that the mesh does not have, or that occur twice.
      TypeError: for specs that are no sequence of str.
    """

    def __init__(self, sharding_specs: list[str], mesh: Mesh):
        if not isinstance(mesh, Mesh):
            raise ValueError("mesh is not a valid Mesh object.")
        if isinstance(sharding_specs, str) or not all(isinstance(s, str) for s in sharding_specs):
            raise TypeError(f"sharding_specs must be a list of str, got {sharding_specs!r}")
        specs = list(sharding_specs)
        for spec in specs:
            if spec in (UNSHARDED, MATCH):
                continue
            if specs.count(spec) > 1:
                raise ValueError(
                    f"Mesh dimension {spec} was repeated in sharding specification {specs}. Mesh dimensions must be "
                    "unique in a layout."
                )
            if not mesh.contains_dim(spec):
                raise ValueError(f"{spec}: A dimension sharding must either be a valid mesh dimension or UNSHARDED.")
        self._specs, self._mesh, self._kind = specs, mesh, "single" if mesh.is_single_device() else "static"

    @property
    def sharding_specs(self) -> list[str]:
        """For each axis the dimension of the mesh that it is cut along, or UNSHARDED."""
        return list(self._specs)

    @property
    def mesh(self) -> Mesh:
        """The mesh."""
        return self._mesh

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self._specs)

    @property
    def shape(self) -> list[int]:
        """The sizes of the dimensions of the mesh."""
        return self._mesh.shape()

    @classmethod
    def replicated(cls, mesh: Mesh, rank: int) -> Layout:
        """Make the layout of which each device has the whole."""
        return cls([UNSHARDED] * rank, mesh)

    @classmethod
    def batch_sharded(cls, mesh: Mesh, batch_dim: str, rank: int, axis: int = 0) -> Layout:
        """Make the layout that cuts one axis. Raises ValueError for an axis that is not there."""
        if not 0 <= axis < rank:
            raise ValueError(f"axis {axis} is out of bounds for a layout of rank {rank}")
        return cls([batch_dim if i == axis else UNSHARDED for i in range(rank)], mesh)

    @classmethod
    def inner_sharded(cls, mesh: Mesh, inner_dim: str, rank: int) -> Layout:
        """Make the layout that cuts the last axis."""
        return cls.batch_sharded(mesh, inner_dim, rank, rank - 1)

    @classmethod
    def from_string(cls, layout_str: str) -> Layout:
        """Make the layout that `to_string` wrote. Raises ValueError for another text."""
        first, comma, rest = layout_str.partition(", mesh:")
        if not comma:
            raise ValueError(f"Expected 2 items but found 1{layout_str}")
        mesh = Mesh.from_string(rest)
        for prefix, kind in _PREFIXES.items():
            if first.startswith(prefix):
                specs = first.removeprefix(prefix)
                return cls([] if kind == "single" or not specs else specs.split(","), mesh)._of_kind(kind)
        raise ValueError(f"Expected 'sharding_specs:' but found {first}")

    @classmethod
    def from_single_device_mesh(cls, mesh: Mesh) -> Layout:
        """Make the layout of a mesh of one device, for tensors of any rank."""
        return cls([], mesh)

    @classmethod
    def from_device(cls, device: str) -> Layout:
        """Make the layout of one device, for tensors of any rank."""
        return cls([], Mesh.from_device(device))

    def to_string(self) -> str:
        """The layout as text: `sharding_specs:x,unsharded, mesh:...`."""
        kind = self._kind
        specs = "maximal:true" if kind == "single" else f"{_prefix(kind)}{','.join(self._specs)}"
        return f"{specs}, mesh:{self._mesh.to_string()}"

    def to_parted(self) -> Layout:
        """The same layout, of which each device has a part of its own."""
        return Layout(self._specs, self._mesh)._of_kind("parted")

    def _of_kind(self, kind: str) -> Self:
        self._kind = kind
        return self

    def delete(self, dims: int | list[int]) -> Layout:
        """The layout without some axes."""
        gone = dims if isinstance(dims, list) else [dims]
        return Layout([s for i, s in enumerate(self._specs) if i not in gone], self._mesh)

    def is_fully_replicated(self) -> bool:
        """Whether each device has the whole."""
        return all(self.num_shards(i) == 1 for i in range(self.rank))

    def is_single_device(self) -> bool:
        """Whether the layout is of one device without dimensions."""
        return self._kind == "single"

    def num_shards(self, idx: int) -> int:
        """Into how many parts an axis is cut. Raises IndexError for an axis that is not there."""
        spec = self._specs[idx]
        return 1 if spec in (UNSHARDED, MATCH) else self._mesh.dim_size(spec)

    def local_shape_from_global_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the part of each device, of the shape of a tensor."""
        return tuple(int(n) // self.num_shards(i) for i, n in enumerate(global_shape))

    def global_shape_from_local_shape(self, local_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a tensor, of the shape of the part of each device."""
        return tuple(int(n) * self.num_shards(i) for i, n in enumerate(local_shape))

    def offset_to_shard(self) -> list[tuple[int, ...]]:
        """For each device which part of each axis it has."""
        places = self._mesh.unravel_index().values()
        return [tuple(place.get(spec, 0) for spec in self._specs) for place in places]

    def offset_tuple_to_global_index(self, offset_tuple: Sequence[int]) -> int:
        """The number of a part, counted along the last axis first."""
        index = 0
        for axis, offset in enumerate(offset_tuple):
            index = index * self.num_shards(axis) + offset
        return index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash((tuple(self._specs), self._kind, self._mesh))

    def __repr__(self) -> str:
        return f"Layout.from_string({self.to_string()})"

    def __reduce__(self) -> tuple[Callable[..., Layout], tuple[str]]:
        return Layout.from_string, (self.to_string(),)


def _prefix(kind: str) -> str:
    return next(prefix for prefix, each in _PREFIXES.items() if each == kind)
