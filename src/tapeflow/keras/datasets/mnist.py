"""The MNIST digits."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from tapeflow.core.files.numpy_files import damage_is_an_error
from tapeflow.core.public import boundaries

SUBSET = Path(__file__).with_name("mnist10k.npz")


def load_data(path: str = "mnist.npz"):
    """Handwritten digits: `(x_train, y_train), (x_test, y_test)`.

    Images are uint8 arrays of shape (n, 28, 28), labels uint8 arrays of shape (n,).

    What comes with the package is a subset of MNIST: 10,000 of its 70,000 real digits, 8,000 to
    train and 2,000 to test. Nothing is downloaded. For the full set, put Keras' `mnist.npz` where
    Keras keeps it (`~/.keras/datasets`, or `$KERAS_HOME/datasets`), or pass the path of the file.

    Raises:
      FileNotFoundError: `path` names a folder, and no such file is in it.
      ValueError: the file is not in Keras' format.
    """
    file = _file(os.fspath(path))
    wanted = "an .npz with the arrays x_train, y_train, x_test and y_test"
    why = f"{file} is not an MNIST file in Keras' format: {wanted}"
    with damage_is_an_error(why), np.load(file, allow_pickle=False) as arrays:
        x_train, y_train = arrays["x_train"], arrays["y_train"]
        x_test, y_test = arrays["x_test"], arrays["y_test"]
    return (x_train, y_train), (x_test, y_test)


def _file(path: str):
    given = Path(path).expanduser()
    keras_home = Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras")
    for file in (given, keras_home / "datasets" / given):
        if file.is_file():
            return file
    # A bare name is where Keras would keep its download; a folder is something the caller meant.
    if given.parent != Path():
        raise FileNotFoundError(f"MNIST was looked for in {given}, and there is no such file")
    return SUBSET


boundaries(globals())
