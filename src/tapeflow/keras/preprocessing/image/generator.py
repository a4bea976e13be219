"""`ImageDataGenerator`: batches of images, changed at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.annotations import DTypeLike, PathLike, Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.keras import settings
from tapeflow.keras.preprocessing.image import transforms
from tapeflow.keras.preprocessing.image.file_iterators import DataFrameIterator, DirectoryIterator
from tapeflow.keras.preprocessing.image.iterators import NumpyArrayIterator


class ImageDataGenerator:
    """Batches of images with random turns, shifts, shears, zooms, flips and colours, and standardized values.

    Args:
      featurewise_center: subtract the mean of all images, which `fit` finds.
      samplewise_center: subtract the mean of each image.
      featurewise_std_normalization: divide by the standard deviation of all images, which `fit` finds.
      samplewise_std_normalization: divide by the standard deviation of each image.
      zca_whitening: remove the correlations of pixels, which `fit` finds.
      zca_epsilon: a small number that keeps the whitening finite.
      rotation_range: the largest angle, in degrees.
      width_shift_range: the largest shift: below 1 a part of the width, otherwise pixels; or a list of pixels to
        choose from.
      height_shift_range: the same for the height.
      brightness_range: the bounds of the factor of the brightness; None for no change.
      shear_range: the largest shear, in degrees.
      zoom_range: the bounds of the zoom, or one number for 1 minus it and 1 plus it.
      channel_shift_range: what is added to all channels at most.
      fill_mode: what is beyond the edges: "nearest", "constant", "reflect" or "wrap".
      cval: the value beyond the edges for "constant".
      horizontal_flip: whether half of the images are flipped from left to right.
      vertical_flip: whether half of the images are flipped upside down.
      rescale: a factor of all values; None for none.
      preprocessing_function: a function of each image, an array, that gives the changed one.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      validation_split: the part of the images for validation, from 0 to 1.
      interpolation_order: the degree of the splines between pixels, from 0 to 5.
      dtype: the dtype of the batches; None for `keras.config.floatx()`.
    """

    def __init__(
        self, featurewise_center: bool = False, samplewise_center: bool = False,
        featurewise_std_normalization: bool = False, samplewise_std_normalization: bool = False,
        zca_whitening: bool = False, zca_epsilon: float = 1e-6, rotation_range: int = 0,
        width_shift_range: float = 0.0, height_shift_range: float = 0.0, brightness_range=None,
        shear_range: float = 0.0, zoom_range: float = 0.0, channel_shift_range: float = 0.0,
        fill_mode: str = "nearest", cval: float = 0.0, horizontal_flip: bool = False, vertical_flip: bool = False,
        rescale: float | None = None, preprocessing_function=None, data_format: str | None = None,
        validation_split: float = 0.0, interpolation_order: int = 1, dtype: DTypeLike | None = None,
    ):
        self.featurewise_center = featurewise_center or zca_whitening
        self.samplewise_center = samplewise_center or samplewise_std_normalization
        self.featurewise_std_normalization = featurewise_std_normalization
        self.featurewise_center = self.featurewise_center or featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening, self.zca_epsilon = zca_whitening, zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.shear_range, self.channel_shift_range = shear_range, channel_shift_range
        self.fill_mode, self.cval = fill_mode, cval
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.rescale, self.preprocessing_function = rescale, preprocessing_function
        self.dtype, self.interpolation_order = dtype or settings.floatx(), interpolation_order
        self.data_format = data_format or settings.image_data_format()
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                '`data_format` should be `"channels_last"` (channel after row and column) or '
                '`"channels_first"` (channel before row and column). Received: '
                f"{data_format}"
            )
        last = self.data_format == "channels_last"
        self.channel_axis, self.row_axis, self.col_axis = (3, 1, 2) if last else (1, 2, 3)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(
                f"`validation_split` must be strictly between 0 and 1.  Received: {validation_split}"
            )
        self._validation_split = validation_split
        self.mean = self.std = self.zca_whitening_matrix = None
        if isinstance(zoom_range, (float, int)):
            self.zoom_range = [1 - zoom_range, 1 + zoom_range]
        elif len(zoom_range) == 2 and all(isinstance(v, (float, int)) for v in zoom_range):
            self.zoom_range = [zoom_range[0], zoom_range[1]]
        else:
            raise ValueError(
                "`zoom_range` should be a float or a tuple or list of two floats. Received: "
                f"{zoom_range}"
            )
        if brightness_range is not None and (
            not isinstance(brightness_range, (tuple, list)) or len(brightness_range) != 2
        ):
            raise ValueError(
                f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}"
            )
        self.brightness_range = brightness_range

    def flow(
        self, x: np.ndarray, y: np.ndarray | None = None, batch_size: int = 32, shuffle: bool = True,
        sample_weight: TensorLike | None = None, seed: int | None = None, save_to_dir: PathLike | None = None,
        save_prefix: str = "", save_format: str = "png", ignore_class_split: bool = False, subset: str | None = None,
    ):
        """Make batches of an array of images.

        Args:
          x: the images, an array of 4 axes, or a pair of it and further arrays that go along.
          y: the labels, or None.
          batch_size: the number of images in a batch.
          shuffle: whether the order is random.
          sample_weight: the weights of the images, or None.
          seed: an integer for shuffling and changes; None for a random one.
          save_to_dir: a folder that changed images are written to, to look at them; None for none.
          save_prefix: how their names begin.
          save_format: their format, "png" or "jpeg".
          ignore_class_split: whether both parts of a split may have different classes.
          subset: "training" or "validation", the part that `validation_split` says; None for all.

        Returns:
          A `NumpyArrayIterator` of batches `(images, labels)`, or with weights.

        >>> generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=0.5)
        >>> images, labels = next(generator.flow(np.ones([4, 2, 2, 1]), np.arange(4), batch_size=2, shuffle=False))
        >>> print(images.shape, images.max(), labels)
        (2, 2, 2, 1) 0.5 [0 1]
        """
        return NumpyArrayIterator(
            x, y, self, batch_size, shuffle, sample_weight, seed, self.data_format, save_to_dir,
            save_prefix, save_format, subset, ignore_class_split, self.dtype,
        )  # fmt: skip

    def flow_from_directory(
        self, directory, target_size=(256, 256), color_mode: str = "rgb", classes=None,
        class_mode: str = "categorical", batch_size: int = 32, shuffle: bool = True, seed: int | None = None,
        save_to_dir: PathLike | None = None, save_prefix: str = "", save_format: str = "png",
        follow_links: bool = False, subset: str | None = None, interpolation: str = "nearest",
        keep_aspect_ratio: bool = False,
    ):
        """Make batches of the images of a folder that has a folder for every class.

        Args:
          directory: the folder.
          target_size: (height, width) that images are resized to.
          color_mode: "rgb", "rgba" or "grayscale".
          classes: the names of the classes in order; None for those that are found, in the order of the alphabet.
          class_mode: how labels are given: "categorical" one-hot, "binary" or "sparse" as numbers, "input" for the
            images themselves, None for no labels.
          batch_size: the number of images in a batch.
          shuffle: whether the order is random.
          seed: an integer for shuffling and changes; None for a random one.
          save_to_dir: a folder that changed images are written to, to look at them; None for none.
          save_prefix: how their names begin.
          save_format: their format, "png" or "jpeg".
          follow_links: whether links to folders are followed.
          subset: "training" or "validation", the part that `validation_split` says; None for all.
          interpolation: "nearest", "bilinear", "bicubic", "hamming", "box" or "lanczos".
          keep_aspect_ratio: whether images are cut to the shape of the target, instead of being distorted.

        Returns:
          A `DirectoryIterator` of batches `(images, labels)`.
        """
        return DirectoryIterator(
            directory, self, target_size, color_mode, classes, class_mode, batch_size, shuffle, seed,
            self.data_format, save_to_dir, save_prefix, save_format, follow_links, subset,
            interpolation, keep_aspect_ratio, self.dtype,
        )  # fmt: skip

    def flow_from_dataframe(
        self, dataframe, directory: PathLike | None = None, x_col: str = "filename", y_col: str = "class",
        weight_col=None, target_size=(256, 256), color_mode: str = "rgb", classes=None,
        class_mode: str = "categorical", batch_size: int = 32, shuffle: bool = True, seed: int | None = None,
        save_to_dir: PathLike | None = None, save_prefix: str = "", save_format: str = "png",
        subset: str | None = None, interpolation: str = "nearest", validate_filenames: bool = True, **kwargs,
    ):
        """Make batches of the images that a table of pandas names.

        Args:
          dataframe: the table.
          directory: the folder of the files; None where the table has their paths.
          x_col: the column of the files' names.
          y_col: the column, or columns, of the labels.
          weight_col: the column of the weights, or None.
          target_size: (height, width) that images are resized to.
          color_mode: "rgb", "rgba" or "grayscale".
          classes: the names of the classes in order; None for those that are found, in the order of the alphabet.
          class_mode: "categorical", "binary", "sparse", "input", "raw" for the columns as they are, "multi_output"
            for several columns, or None.
          batch_size: the number of images in a batch.
          shuffle: whether the order is random.
          seed: an integer for shuffling and changes; None for a random one.
          save_to_dir: a folder that changed images are written to, to look at them; None for none.
          save_prefix: how their names begin.
          save_format: their format, "png" or "jpeg".
          subset: "training" or "validation", the part that `validation_split` says; None for all.
          interpolation: "nearest", "bilinear", "bicubic", "hamming", "box" or "lanczos".
          validate_filenames: whether rows whose file does not exist are left out.
          **kwargs: accepted as in Keras 2.

        Returns:
          A `DataFrameIterator` of batches `(images, labels)`.
        """
        return DataFrameIterator(
            dataframe, directory, self, x_col, y_col, weight_col, target_size, color_mode, classes,
            class_mode, batch_size, shuffle, seed, self.data_format, save_to_dir, save_prefix,
            save_format, subset, interpolation, False, self.dtype, validate_filenames,
        )  # fmt: skip

    def standardize(self, x: np.ndarray):
        """The image (or batch) with its values changed as the settings say."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x = x * self.rescale
        if self.samplewise_center:
            x = x - np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x = x / (np.std(x, keepdims=True) + 1e-6)
        if self.featurewise_center and self.mean is not None:
            x = x - self.mean
        if self.featurewise_std_normalization and self.std is not None:
            x = x / (self.std + 1e-6)
        if self.zca_whitening and self.zca_whitening_matrix is not None:
            flat = x.reshape(-1, np.prod(x.shape[-3:]))
            x = (flat @ self.zca_whitening_matrix).reshape(x.shape)
        return x

    def get_random_transform(self, img_shape, seed: int | None = None):
        """Draw the parameters of a random change.

        Args:
          img_shape: the shape of the image.
          seed: an integer; None for a random one.

        Returns:
          A dict for `apply_transform`.
        """
        rows, columns = img_shape[self.row_axis - 1], img_shape[self.col_axis - 1]
        if seed is not None:
            np.random.seed(seed)
        theta = (
            np.random.uniform(-self.rotation_range, self.rotation_range)
            if self.rotation_range
            else 0
        )
        tx = self._shift(self.height_shift_range, rows)
        ty = self._shift(self.width_shift_range, columns)
        shear = np.random.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx = zy = 1
        if tuple(self.zoom_range) != (1, 1):
            zx, zy = np.random.uniform(self.zoom_range[0], self.zoom_range[1], 2)
        flips = [(np.random.random() < 0.5) * flip
                 for flip in (self.horizontal_flip, self.vertical_flip)]  # fmt: skip
        channel = brightness = None
        if self.channel_shift_range != 0:
            channel = np.random.uniform(-self.channel_shift_range, self.channel_shift_range)
        if self.brightness_range is not None:
            brightness = np.random.uniform(*self.brightness_range)
        return {
            "theta": theta, "tx": tx, "ty": ty, "shear": shear, "zx": zx, "zy": zy,
            "flip_horizontal": flips[0], "flip_vertical": flips[1],
            "channel_shift_intensity": channel, "brightness": brightness,
        }  # fmt: skip

    @staticmethod
    def _shift(given: float, size: int):
        if not np.any(given):
            return 0
        if np.ndim(given):
            return np.random.choice(given) * np.random.choice([-1, 1])
        if isinstance(given, int) and given >= 1:
            return np.random.choice(np.arange(-given + 1, given))
        move = np.random.uniform(-given, given)
        return move * size if np.max(given) < 1 else move

    def apply_transform(self, x, transform_parameters: dict[str, Any]):
        """Change an image.

        Args:
          x: the image, an array of 3 axes.
          transform_parameters: a dict with some of "theta", "tx", "ty", "shear", "zx", "zy", "flip_horizontal",
            "flip_vertical", "channel_shift_intensity" and "brightness".

        Returns:
          The changed image.
        """
        get = transform_parameters.get
        row, column, channel = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        x = transforms.apply_affine_transform(
            x, get("theta", 0), get("tx", 0), get("ty", 0), get("shear", 0), get("zx", 1), get("zy", 1),
            row, column, channel, self.fill_mode, self.cval, self.interpolation_order,
        )  # fmt: skip
        if get("channel_shift_intensity") is not None:
            x = transforms.apply_channel_shift(x, get("channel_shift_intensity"), channel)
        if get("flip_horizontal", False):
            x = transforms.flip_axis(x, column)
        if get("flip_vertical", False):
            x = transforms.flip_axis(x, row)
        if get("brightness") is not None:
            x = transforms.apply_brightness_shift(x, get("brightness"), False)
        return x

    def random_transform(self, x: Tensor, seed: int | None = None):
        """Change an image at random.

        Args:
          x: the image, an array of 3 axes.
          seed: an integer; None for a random one.

        Returns:
          The changed image.
        """
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Find the mean, the deviation and the whitening that the settings ask for.

        Args:
          x: images, an array of 4 axes.
          augment: whether they are changed at random before.
          rounds: how often each of them is, then.
          seed: an integer; None for a random one.

        Raises:
          ValueError: for an array of another rank.
        """
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(
                f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}"
            )
        if seed is not None:
            np.random.seed(seed)
        if augment:
            x = np.concatenate(
                [np.stack([self.random_transform(i) for i in x]) for _ in range(rounds)]
            )
        axes = (0, self.row_axis, self.col_axis)
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = x.shape[self.channel_axis]
        if self.featurewise_center:
            self.mean = np.mean(x, axis=axes).reshape(shape)
            x = x - self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=axes).reshape(shape)
            x = x / (self.std + 1e-6)
        if self.zca_whitening:
            flat = x.reshape(len(x), -1)
            u, s, _ = np.linalg.svd(flat.T, full_matrices=False)
            scale = np.sqrt(len(flat)) / np.sqrt(s**2 + self.zca_epsilon)
            self.zca_whitening_matrix = (u * scale) @ u.T


boundaries(globals())
