"""`DTensorDataset`: the batches of a dataset, laid out on a mesh."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tapeflow.core.dtensor.layout import Layout
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.public import public_methods
from tapeflow.core.structures import nest
from tapeflow.data import Dataset
from tapeflow.experimental.dtensor.transfers import relayout
from tapeflow.ops.array.layout import reshape


def _check(layout: Layout, spec: Any, batched: bool) -> None:
    rank = spec.shape.rank if batched else spec.shape.rank + 1
    if layout.rank != rank:
        raise ValueError(
            f"Expected layout with rank {rank} for element spec {spec}, got layout {layout.sharding_specs}. Check that "
            "the dataset is not batched before passing to DTensorDataset."
        )
    if batched and spec.shape.as_list()[0] is None:
        raise ValueError(
            f"Size of batch dimension of element spec {spec} is None. Ensure drop_remainder=True when batching the "
            "dataset."
        )


class DTensorIterator:
    """The elements of a `DTensorDataset`, one after another."""

    def __init__(self, elements: Any, layouts: Any, element_spec: Any):
        self._elements, self._layouts, self.element_spec = iter(elements), layouts, element_spec

    def __iter__(self) -> DTensorIterator:
        return self

    def __next__(self) -> Any:
        return nest.map_structure(lambda x, layout: relayout(x, layout), next(self._elements), self._layouts)

    def get_next(self) -> Any:
        """The next element. Raises StopIteration after the last."""
        return next(self)


@public_methods
class DTensorDataset:
    """The elements of a dataset in batches, laid out on a mesh.

    Args:
      dataset: the dataset.
      mesh: the mesh.
      layouts: a layout for each component of a batch, in the structure of the elements.
      global_batch_size: the size of the batches, over all devices.
      dataset_already_batched: whether the dataset has batches, of the size for one part of `batch_dim`.
      batch_dim: the dimension of the mesh that batches are cut along; None: each device has whole batches.
      prefetch: how many batches are made before they are asked for; None: none.
      tf_data_service_config: only None is supported.

    Raises:
      ValueError: where layouts and elements do not fit, and for batches of another size.
      NotImplementedError: for a `tf_data_service_config`.
    """

    def __init__(
        self, dataset: Dataset, *, mesh: Mesh, layouts: Any, global_batch_size: int,
        dataset_already_batched: bool = False, batch_dim: str | None = None, prefetch: int | None = None,
        tf_data_service_config: Any = None,
    ):  # fmt: skip
        if tf_data_service_config is not None:
            raise NotImplementedError(
                "Multi-client DTensorDataset is currently not supported. Check b/271162918."
            )
        nest.assert_same_structure(dataset.element_spec, layouts)
        flat, specs = nest.flatten(layouts), nest.flatten(dataset.element_spec)
        replicas = 1
        if batch_dim:
            replicas = mesh.dim_size(batch_dim)
            for layout in flat:
                if batch_dim != layout.sharding_specs[0]:
                    raise ValueError(
                        f"batch_dim {batch_dim} was specified but at least one layout did not contain it: {layout}"
                    )
        for layout, spec in zip(flat, specs, strict=True):
            _check(layout, spec, dataset_already_batched)
        self.num_global_replicas, self._layouts, self._given = replicas, layouts, dataset
        if dataset_already_batched:
            batches = _joined(dataset, specs, global_batch_size // replicas, replicas)
        else:
            batches = dataset.batch(global_batch_size, drop_remainder=True)
        self._batches = batches if prefetch is None else batches.prefetch(prefetch)

    @property
    def element_spec(self) -> Any:
        """The dtypes and shapes of the batches, over all devices."""
        return self._batches.element_spec

    def __iter__(self) -> Iterator[Any]:
        return DTensorIterator(self._batches, self._layouts, self.element_spec)

    def __len__(self) -> int:
        return len(self._given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._batches, name)


def _joined(dataset: Dataset, specs: list[Any], size: int, replicas: int) -> Dataset:
    """The batches of all parts as one."""
    given = specs[0].shape.as_list()[0]
    if given != size:
        raise ValueError(
            f"per_replica_batch_size does not matched expected size based on the mesh, got {given} but expected {size}."
        )
    if replicas == 1:
        return dataset

    def join(*batches: Any) -> Any:
        whole = [reshape(x, [math.prod(x.shape.as_list()[:2]), *x.shape.as_list()[2:]]) for x in nest.flatten(batches)]
        return nest.pack_sequence_as(dataset.element_spec, whole)

    return dataset.batch(replicas, drop_remainder=True).map(join)
