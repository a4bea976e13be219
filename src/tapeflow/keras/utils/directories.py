"""Datasets of the files of a folder that has a folder for every class."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from tapeflow.core.annotations import PathLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import boundaries
from tapeflow.data.dataset import AUTOTUNE, Dataset
from tapeflow.keras import settings
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.image.decoding import decode_image
from tapeflow.ops.image.resizing import resize, resize_with_pad
from tapeflow.ops.io.file import read_file
from tapeflow.ops.math.casting import cast
from tapeflow.ops.signal.audio import decode_wav
from tapeflow.ops.string.rows import substr

_IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


def _read(path):
    return read_file(path)


def image_dataset_from_directory(
    directory, labels: str = "inferred", label_mode: str = "int", class_names=None, color_mode: str = "rgb",
    batch_size: int = 32, image_size=(256, 256), shuffle: bool = True, seed: int | None = None,
    validation_split: float | None = None, subset: str | None = None, interpolation: str = "bilinear",
    follow_links: bool = False, crop_to_aspect_ratio: bool = False, pad_to_aspect_ratio: bool = False,
    data_format: str | None = None, format: str = "tf", verbose: bool = True,
):
    """Make a dataset of the images of a folder, of .bmp, .gif, .jpeg, .jpg and .png files.

    Args:
      directory: the folder, with a folder for every class unless `labels` are given.
      labels: "inferred" from the folders, a list of the files' labels in the order of their names, or None for none.
      label_mode: "int" for numbers, "categorical" for one-hot vectors, "binary" for 0.0 and 1.0 of two classes, None
        for no labels.
      class_names: the names of the folders in the order of the labels; None for the order of the alphabet.
      color_mode: "rgb", "rgba" or "grayscale".
      batch_size: the number of files in a batch; None for single files.
      image_size: (height, width) that images are resized to.
      shuffle: whether files are shuffled, also in each pass; otherwise they come by name.
      seed: an integer for the shuffling and the split; None for a random one.
      validation_split: the part of the files for validation, from 0 to 1.
      subset: "training", "validation" or "both"; None without a split.
      interpolation: a method of `tf.image.resize`.
      follow_links: whether links to folders are followed.
      crop_to_aspect_ratio: whether images are cut to the shape of the target, instead of being distorted.
      pad_to_aspect_ratio: whether images are filled up to the shape of the target, instead of being distorted.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      format: "tf", the only kind of datasets that there is.
      verbose: whether the numbers of files and classes are printed.

    Returns:
      A dataset of batches `(data, labels)`, with the attributes `class_names` and `file_paths`; for "both" a list of
      two.

    Raises:
      ValueError: for settings that do not fit each other, and a folder without files.
    """
    check_format(format)
    if color_mode not in _CHANNELS:
        raise ValueError(
            '`color_mode` must be one of {"rgb", "rgba", "grayscale"}. Received: '
            f"color_mode={color_mode}"
        )
    channels = _CHANNELS[color_mode]
    first = (data_format or settings.image_data_format()) == "channels_first"

    def image(path):
        img = decode_image(_read(path), channels=channels, expand_animations=False)
        img.set_shape([None, None, channels])
        if crop_to_aspect_ratio:
            from tapeflow.keras.preprocessing.image.arrays import smart_resize

            img = smart_resize(img, image_size, interpolation)
        elif pad_to_aspect_ratio:
            img = resize_with_pad(img, *image_size, method=interpolation)
        else:
            img = resize(img, image_size, method=interpolation)
        img = cast(img, settings.floatx())
        img.set_shape([*image_size, channels])
        return transpose(img, [2, 0, 1]) if first else img

    return _datasets(directory, labels, label_mode, class_names, _IMAGES, image, batch_size, shuffle,
                     seed, validation_split, subset, follow_links, verbose, "file_paths")  # fmt: skip


def text_dataset_from_directory(
    directory, labels: str = "inferred", label_mode: str = "int", class_names=None, batch_size: int = 32,
    max_length=None, shuffle: bool = True, seed: int | None = None, validation_split=None, subset: str | None = None,
    follow_links: bool = False, format: str = "tf", verbose: bool = True,
):
    """Make a dataset of the texts of a folder, of .txt files.

    Args:
      directory: the folder, with a folder for every class unless `labels` are given.
      labels: "inferred" from the folders, a list of the files' labels in the order of their names, or None for none.
      label_mode: "int" for numbers, "categorical" for one-hot vectors, "binary" for 0.0 and 1.0 of two classes, None
        for no labels.
      class_names: the names of the folders in the order of the labels; None for the order of the alphabet.
      batch_size: the number of files in a batch; None for single files.
      max_length: how many bytes of each text are kept; None for all.
      shuffle: whether files are shuffled, also in each pass; otherwise they come by name.
      seed: an integer for the shuffling and the split; None for a random one.
      validation_split: the part of the files for validation, from 0 to 1.
      subset: "training", "validation" or "both"; None without a split.
      follow_links: whether links to folders are followed.
      format: "tf", the only kind of datasets that there is.
      verbose: whether the numbers of files and classes are printed.

    Returns:
      A dataset of batches `(data, labels)`, with the attributes `class_names` and `file_paths`; for "both" a list of
      two.

    Raises:
      ValueError: for settings that do not fit each other, and a folder without files.
    """
    check_format(format)

    def text(path: Tensor):
        found = _read(path)
        return found if max_length is None else substr(found, 0, max_length)

    return _datasets(directory, labels, label_mode, class_names, (".txt",), text, batch_size, shuffle,
                     seed, validation_split, subset, follow_links, verbose, "file_paths")  # fmt: skip


def audio_dataset_from_directory(
    directory: PathLike, labels: str = "inferred", label_mode: str = "int", class_names=None, batch_size: int = 32,
    sampling_rate=None, output_sequence_length=None, ragged: bool = False, shuffle: bool = True,
    seed: int | None = None, validation_split=None, subset: str | None = None, follow_links: bool = False,
    verbose: bool = True,
):
    """Make a dataset of the sounds of a folder, of .wav files.

    Args:
      directory: the folder, with a folder for every class unless `labels` are given.
      labels: "inferred" from the folders, a list of the files' labels in the order of their names, or None for none.
      label_mode: "int" for numbers, "categorical" for one-hot vectors, "binary" for 0.0 and 1.0 of two classes, None
        for no labels.
      class_names: the names of the folders in the order of the labels; None for the order of the alphabet.
      batch_size: the number of files in a batch; None for single files.
      sampling_rate: must be None: sounds keep the rate of their files.
      output_sequence_length: the length of every sound in samples, which is cut or padded; None to pad batches to
        their longest sound.
      ragged: whether the sounds of a batch, a ragged tensor, keep their lengths.
      shuffle: whether files are shuffled, also in each pass; otherwise they come by name.
      seed: an integer for the shuffling and the split; None for a random one.
      validation_split: the part of the files for validation, from 0 to 1.
      subset: "training", "validation" or "both"; None without a split.
      follow_links: whether links to folders are followed.
      verbose: whether the numbers of files and classes are printed.

    Returns:
      A dataset of batches `(sounds, labels)`, with the attributes `class_names` and `file_paths`; for "both" a list
      of two.

    Raises:
      ValueError: for settings that do not fit each other, and a folder without files.
      ImportError: for a `sampling_rate`.
    """

    if ragged and output_sequence_length is not None:
        raise ValueError("Cannot set both `ragged` and `output_sequence_length`")
    if sampling_rate is not None:
        if not isinstance(sampling_rate, int):
            raise ValueError(
                f"`sampling_rate` should have an integer value. Received: sampling_rate={sampling_rate}"
            )
        if sampling_rate <= 0:
            raise ValueError(
                f"`sampling_rate` should be higher than 0. Received: sampling_rate={sampling_rate}"
            )
        raise ImportError("The argument `sampling_rate` needs tensorflow_io, which is not supported.")

    def sound(path: str):
        return decode_wav(_read(path), desired_samples=output_sequence_length or -1)[0]

    def batched(dataset):
        if ragged:
            return dataset.ragged_batch(batch_size)
        return dataset.padded_batch(batch_size) if output_sequence_length is None else dataset.batch(batch_size)

    return _datasets(directory, labels, label_mode, class_names, (".wav",), sound, batch_size, shuffle,
                     seed, validation_split, subset, follow_links, verbose, "file_paths", batched)  # fmt: skip


def check_format(format: str):
    """Raises ValueError for datasets of another kind than ours."""
    if format == "grain":
        raise ValueError('`format="grain"` makes datasets of the package grain; only "tf" is supported here.')
    if format != "tf":
        raise ValueError(f'`format` should be "tf". Received: format={format}')


def _datasets(directory, labels, label_mode, class_names, endings, load, batch_size, shuffle, seed,
              split, subset, follow_links, verbose, paths_name, batched=None):  # fmt: skip
    _check(labels, label_mode, class_names, split, subset, shuffle, seed)
    if labels is None:
        label_mode = None
    paths, numbers, names = index_directory(
        directory, labels, endings, class_names, shuffle, seed, follow_links, verbose
    )
    if label_mode == "binary" and len(names) != 2:
        raise ValueError(
            'When passing `label_mode="binary"`, there must be exactly 2 class_names. Received: '
            f"class_names={names}"
        )

    def dataset(part_paths: Sequence[str], part_labels: Sequence[int], mix: bool):
        if not part_paths:
            raise ValueError(f"No files found in directory {directory}. Allowed formats: {endings}")
        found = Dataset.from_tensor_slices(np.array(part_paths))
        kept = None
        if label_mode is not None:
            kept = np.asarray(part_labels)
            found = Dataset.zip((found, Dataset.from_tensor_slices(kept)))
        if mix:
            found = found.shuffle(max(batch_size or 32, 1) * 8, seed=seed)

        def element(path: Tensor, label=None):
            value = load(path)
            return value if label is None else (value, _label(label, label_mode, len(names)))

        found = found.map(element, num_parallel_calls=AUTOTUNE)
        if batch_size is not None:
            found = found.batch(batch_size) if batched is None else batched(found)
        found = found.prefetch(AUTOTUNE)
        found.class_names = names
        setattr(found, paths_name, part_paths)
        return found

    if subset == "both":
        parts = (
            _part(paths, numbers, split, "training"),
            _part(paths, numbers, split, "validation"),
        )
        if verbose:
            print(f"Using {len(parts[0][0])} files for training.")
            print(f"Using {len(parts[1][0])} files for validation.")
        return [dataset(*parts[0], shuffle), dataset(*parts[1], False)]
    if subset is not None:
        paths, numbers = _part(paths, numbers, split, subset)
        if verbose:
            print(f"Using {len(paths)} files for {subset}.")
    return dataset(paths, numbers, shuffle)


def _check(
    labels: str, label_mode: str, class_names, split: float | None, subset: str | None, shuffle: bool,
    seed: int | None,
):
    if not isinstance(labels, (list, tuple)) and labels not in ("inferred", None):
        raise ValueError(
            "`labels` argument should be a list/tuple of integer labels, of the same size as the "
            f"number of files in the target directory. Received: labels={labels}"
        )
    if class_names and labels != "inferred":
        raise ValueError(
            'You can only pass `class_names` if `labels="inferred"`. Received: '
            f"labels={labels}, and class_names={class_names}"
        )
    if label_mode not in ("int", "categorical", "binary", None):
        raise ValueError(
            '`label_mode` argument must be one of "int", "categorical", "binary", or None. Received: '
            f"label_mode={label_mode}"
        )
    if split and not 0 < split < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1, received: {split}")
    if bool(split) != bool(subset):
        raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
    if subset not in ("training", "validation", "both", None):
        raise ValueError(
            '`subset` must be either "training", "validation" or "both", received: ' + str(subset)
        )
    if split and shuffle and seed is None:
        raise ValueError(
            "If using `validation_split` and shuffling the data, you must provide a `seed` argument, to "
            "make sure that there is no overlap between the training and validation subset."
        )


def index_directory(
    directory, labels: str, formats: Sequence[str], class_names=None, shuffle: bool = True, seed: int | None = None,
    follow_links: bool = False, verbose: bool = True,
):  # fmt: skip
    """(paths, labels, names of classes) of the files of a folder that end in one of `formats`."""
    directory = local_path(directory)
    if not os.path.isdir(directory):
        raise FileNotFoundError(f"[Errno 2] No such directory: {directory!r}")
    folders = sorted(d.name for d in os.scandir(directory) if d.is_dir())
    names = folders if labels == "inferred" else []
    if class_names is not None and labels == "inferred":
        if set(class_names) != set(folders):
            raise ValueError(
                "The `class_names` passed did not match the names of the subdirectories of the target "
                f"directory. Expected: {folders} (or a subset of it), but received: "
                f"class_names={class_names}"
            )
        names = list(class_names)
    paths, numbers = [], []
    for number, name in enumerate(names if labels == "inferred" else [""]):
        for root, _, files in sorted(
            os.walk(os.path.join(directory, name), followlinks=follow_links)
        ):
            for file in sorted(files):
                if file.lower().endswith(tuple(formats)):
                    paths.append(os.path.join(root, file))
                    numbers.append(number)
    if isinstance(labels, (list, tuple)):
        if len(labels) != len(paths):
            raise ValueError(
                "Expected the lengths of `labels` to match the number of files in the target "
                f"directory. len(labels) is {len(labels)} while we found {len(paths)} files in "
                f"directory {directory}."
            )
        numbers = list(labels)
        names = [str(label) for label in sorted(set(labels))]
    if verbose:
        classes = f" belonging to {len(names)} classes" if labels is not None else ""
        print(f"Found {len(paths)} files{classes}.")
    if shuffle:
        order = np.random.RandomState(np.random.randint(10**6) if seed is None else seed)
        rows = np.arange(len(paths))
        order.shuffle(rows)
        paths, numbers = [paths[i] for i in rows], [numbers[i] for i in rows]
    return paths, numbers, names


def _part(paths, numbers: Sequence[int], split, subset: str):
    count = int(split * len(paths))
    part = slice(None, -count or None) if subset == "training" else slice(len(paths) - count, None)
    return paths[part], numbers[part]


def _label(label: Tensor, mode: str, classes: int):
    if mode == "categorical":
        return one_hot(label, classes)
    if mode == "binary":
        return expand_dims(cast(label, "float32"), -1)
    return cast(convert_to_tensor(label), "int32")

boundaries(globals())
