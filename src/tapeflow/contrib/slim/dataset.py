"""`slim.dataset`: where a data set is, and how it is read."""

from __future__ import annotations

from typing import Any


class Dataset:
    """The arguments, as attributes.

    Args:
      data_sources: the paths of the files.
      reader: the class of the reader, such as `tf.TFRecordReader`.
      decoder: a `slim.data_decoder.DataDecoder`.
      num_samples: the number of examples.
      items_to_descriptions: what the items are, by name.
      **kwargs: other attributes.
    """

    def __init__(
        self, data_sources: Any, reader: Any, decoder: Any, num_samples: int, items_to_descriptions: Any, **kwargs: Any
    ):
        self.data_sources, self.reader, self.decoder = data_sources, reader, decoder
        self.num_samples, self.items_to_descriptions = num_samples, items_to_descriptions
        self.__dict__.update(kwargs)
