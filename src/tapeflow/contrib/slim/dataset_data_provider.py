"""`slim.dataset_data_provider`: the items of a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.contrib.slim.data_provider import DataProvider
from tapeflow.contrib.slim.parallel_reader import parallel_read

if TYPE_CHECKING:
    from tapeflow.contrib.slim.dataset import Dataset


class DatasetDataProvider(DataProvider):
    """Reads and decodes a `slim.dataset.Dataset` with several readers; see `slim.parallel_reader.parallel_read`.

    The item `record_key` is the key of the record. Raises ValueError where the data set has an item of that name.
    """

    def __init__(
        self, dataset: Dataset, num_readers: int = 1, reader_kwargs=None, shuffle: bool = True,
        num_epochs: int | None = None, common_queue_capacity: int = 256, common_queue_min: int = 128,
        record_key: str = "record_key", seed: int | None = None, scope=None,
    ):  # fmt: skip
        key, data = parallel_read(
            dataset.data_sources, dataset.reader, num_epochs, num_readers, reader_kwargs, shuffle,
            capacity=common_queue_capacity, min_after_dequeue=common_queue_min, seed=seed, scope=scope,
        )  # fmt: skip
        items = dataset.decoder.list_items()
        if record_key in items:
            raise ValueError(
                f"The item name used for `record_key` cannot also be used for a dataset item: {record_key}"
            )
        tensors = dict(zip(items, dataset.decoder.decode(data, items)))
        super().__init__({**tensors, record_key: key}, dataset.num_samples)
