"""Iterators over batches of images in files: those of a folder, or of a table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import DTypeLike, PathLike
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import boundaries
from tapeflow.keras import settings
from tapeflow.keras.preprocessing.image.arrays import img_to_array, load_img
from tapeflow.keras.preprocessing.image.iterators import WHITE_LIST, Iterator

if TYPE_CHECKING:
    from tapeflow.keras.preprocessing.image.generator import ImageDataGenerator

_CLASS_MODES = ("categorical", "binary", "sparse", "input", "raw", "multi_output", None)


class _Files(Iterator):
    """Batches of image files."""

    def set_processing_attrs(
        self, image_data_generator: ImageDataGenerator, target_size, color_mode: str, data_format: str,
        save_to_dir: PathLike | None, save_prefix: str, save_format: str, subset: str | None, interpolation: str,
        keep_aspect_ratio: bool,
    ):
        """Keeps how files become arrays."""
        if color_mode not in ("rgb", "rgba", "grayscale"):
            raise ValueError(
                f'Invalid color mode: {color_mode}; expected "rgb", "rgba", or "grayscale".'
            )
        self.image_data_generator = image_data_generator
        self.target_size, self.color_mode = tuple(target_size), color_mode
        self.keep_aspect_ratio, self.interpolation = keep_aspect_ratio, interpolation
        self.data_format = data_format
        channels = {"rgb": 3, "rgba": 4, "grayscale": 1}[color_mode]
        last = data_format == "channels_last"
        self.image_shape = (*self.target_size, channels) if last else (channels, *self.target_size)
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        self.split = None
        if subset is not None:
            part = image_data_generator._validation_split
            if subset not in ("training", "validation"):
                raise ValueError(
                    f"Invalid subset name: {subset};expected 'training' or 'validation'"
                )
            self.split = (0, part) if subset == "validation" else (part, 1)
        self.subset = subset

    def _get_batches_of_transformed_samples(self, index_array):
        change = self.image_data_generator
        batch = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        for i, row in enumerate(index_array):
            img = load_img(
                self.filepaths[row], self.color_mode, self.target_size, self.interpolation,
                self.keep_aspect_ratio,
            )  # fmt: skip
            x = img_to_array(img, self.data_format)
            img.close()
            if change:
                x = change.apply_transform(x, change.get_random_transform(x.shape))
                x = change.standardize(x)
            batch[i] = x
        if self.save_to_dir:
            self._save(batch, index_array)
        labels = self._labels(batch, index_array)
        if labels is None:
            return batch
        if self.sample_weight is None:
            return batch, labels
        return batch, labels, self.sample_weight[index_array]

    def _labels(self, batch, rows):
        mode = self.class_mode
        if mode == "input":
            return batch.copy()
        if mode in ("binary", "sparse"):
            return np.asarray(self.labels)[rows].astype(self.dtype)
        if mode == "categorical":
            found = np.zeros((len(batch), len(self.class_indices)), dtype=self.dtype)
            found[np.arange(len(batch)), np.asarray(self.labels)[rows]] = 1.0
            return found
        if mode == "multi_output":
            return [output[rows] for output in self.labels]
        return np.asarray(self.labels)[rows] if mode == "raw" else None


class DirectoryIterator(_Files):
    """Batches of the images of a folder that has a folder for every class.

    Args:
      directory: the folder.
      image_data_generator: the `ImageDataGenerator` that says how images are changed.
      target_size: (height, width) that images are resized to.
      color_mode: "rgb", "rgba" or "grayscale".
      classes: the names of the classes in order; None for those that are found, in the order of the alphabet.
      class_mode: how labels are given: "categorical" one-hot, "binary" or "sparse" as numbers, "input" for the images
        themselves, None for no labels.
      batch_size: the number of images in a batch.
      shuffle: whether the order is random.
      seed: an integer for shuffling and changes; None for a random one.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      save_to_dir: a folder that changed images are written to, to look at them; None for none.
      save_prefix: how their names begin.
      save_format: their format, "png" or "jpeg".
      follow_links: whether links to folders are followed.
      subset: "training" or "validation", the part that `validation_split` says; None for all.
      interpolation: "nearest", "bilinear", "bicubic", "hamming", "box" or "lanczos".
      keep_aspect_ratio: whether images are cut to the shape of the target, instead of being distorted.
      dtype: the dtype of the batches; None for `keras.config.floatx()`.

    Raises:
      ValueError: for an unknown mode.
    """

    allowed_class_modes = frozenset({"categorical", "binary", "sparse", "input", None})

    def __init__(
        self, directory, image_data_generator: ImageDataGenerator, target_size=(256, 256), color_mode: str = "rgb",
        classes=None, class_mode: str = "categorical", batch_size: int = 32, shuffle: bool = True,
        seed: int | None = None, data_format: str | None = None, save_to_dir: PathLike | None = None,
        save_prefix: str = "", save_format: str = "png", follow_links: bool = False, subset: str | None = None,
        interpolation: str = "nearest", keep_aspect_ratio: bool = False, dtype: DTypeLike | None = None,
    ):
        data_format = data_format or settings.image_data_format()
        self.set_processing_attrs(
            image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix,
            save_format, subset, interpolation, keep_aspect_ratio,
        )  # fmt: skip
        self.directory, self.dtype = local_path(directory), dtype or settings.floatx()
        if class_mode not in self.allowed_class_modes:
            raise ValueError(
                f"Invalid class_mode: {class_mode}; expected one of: {self.allowed_class_modes}"
            )
        self.class_mode, self.classes = class_mode, classes
        if not classes:
            classes = sorted(d.name for d in os.scandir(self.directory) if d.is_dir())
        self.num_classes = len(classes)
        self.class_indices = {name: i for i, name in enumerate(classes)}
        self.filenames, numbers = [], []
        for name in classes:
            found = sorted(_images(os.path.join(self.directory, name), follow_links))
            if self.split:
                found = found[int(self.split[0] * len(found)) : int(self.split[1] * len(found))]
            self.filenames += [os.path.relpath(path, self.directory) for path in found]
            numbers += [self.class_indices[name]] * len(found)
        self.samples = len(self.filenames)
        self.classes = np.array(numbers, dtype="int32")
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def filepaths(self):
        """The paths of the images."""
        return self._filepaths

    @property
    def labels(self):
        """The numbers of their classes."""
        return self.classes

    @property
    def sample_weight(self):
        """None: files have no weights."""
        return None


class DataFrameIterator(_Files):
    """Batches of the images that a table of pandas names.

    Args:
      dataframe: the table.
      directory: the folder of the files; None where the table has their paths.
      image_data_generator: the `ImageDataGenerator` that says how images are changed.
      x_col: the column of the files' names.
      y_col: the column, or columns, of the labels.
      weight_col: the column of the weights, or None.
      target_size: (height, width) that images are resized to.
      color_mode: "rgb", "rgba" or "grayscale".
      classes: the names of the classes in order; None for those that are found, in the order of the alphabet.
      class_mode: "categorical", "binary", "sparse", "input", "raw" for the columns as they are, "multi_output" for
        several columns, or None.
      batch_size: the number of images in a batch.
      shuffle: whether the order is random.
      seed: an integer for shuffling and changes; None for a random one.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      save_to_dir: a folder that changed images are written to, to look at them; None for none.
      save_prefix: how their names begin.
      save_format: their format, "png" or "jpeg".
      subset: "training" or "validation", the part that `validation_split` says; None for all.
      interpolation: "nearest", "bilinear", "bicubic", "hamming", "box" or "lanczos".
      keep_aspect_ratio: whether images are cut to the shape of the target, instead of being distorted.
      dtype: the dtype of the batches; None for `keras.config.floatx()`.
      validate_filenames: whether rows whose file does not exist are left out.

    Raises:
      ValueError: for an unknown mode.
    """

    allowed_class_modes = frozenset(_CLASS_MODES)

    def __init__(self, dataframe, directory=None, image_data_generator=None, x_col="filename",
                 y_col="class", weight_col=None, target_size=(256, 256), color_mode="rgb",
                 classes=None, class_mode="categorical", batch_size=32, shuffle=True, seed=None,
                 data_format=None, save_to_dir=None, save_prefix="", save_format="png", subset=None,
                 interpolation="nearest", keep_aspect_ratio=False, dtype=None,
                 validate_filenames=True):  # fmt: skip
        data_format = data_format or settings.image_data_format()
        self.set_processing_attrs(
            image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix,
            save_format, subset, interpolation, keep_aspect_ratio,
        )  # fmt: skip
        if class_mode not in self.allowed_class_modes:
            raise ValueError(f"Invalid class_mode: {class_mode}")
        self.directory, self.class_mode = directory or "", class_mode
        self.dtype = dtype or settings.floatx()
        frame = dataframe
        if validate_filenames:
            frame = frame[[os.path.isfile(os.path.join(self.directory, n)) for n in frame[x_col]]]
        if class_mode in ("categorical", "binary", "sparse"):
            classes = list(classes) if classes else sorted(set(frame[y_col]))
            frame = frame[frame[y_col].isin(classes)]
            self.class_indices = {name: i for i, name in enumerate(classes)}
        if self.split:
            count = len(frame)
            frame = frame[int(self.split[0] * count) : int(self.split[1] * count)]
        self.filenames = list(frame[x_col])
        self.samples = len(self.filenames)
        if class_mode in ("categorical", "binary", "sparse"):
            self.labels = [self.class_indices[name] for name in frame[y_col]]
        elif class_mode == "multi_output":
            self.labels = [np.array(frame[column].tolist()) for column in y_col]
        else:
            self.labels = frame[y_col].to_numpy() if class_mode == "raw" else None
        self.sample_weight = None if weight_col is None else frame[weight_col].to_numpy()
        self.filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        print(f"Found {self.samples} validated image filenames.")
        super().__init__(self.samples, batch_size, shuffle, seed)


def _images(folder: str, follow_links: bool):
    for root, _, names in os.walk(folder, followlinks=follow_links):
        for name in sorted(names):
            if name.lower().endswith(tuple(f".{ending}" for ending in WHITE_LIST)):
                yield os.path.join(root, name)


boundaries(globals())
