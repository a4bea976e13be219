"""`tf.__internal__.types.data`: the type of datasets."""

from tapeflow.data.dataset import Dataset

__all__ = ["Dataset"]
