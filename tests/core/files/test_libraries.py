"""Libraries of operations that were compiled for TensorFlow."""

import re

import pytest

import tapeflow as tf


def test_libraries_are_rejected_as_tensorflow_rejects_those_it_cannot_load(tmp_path):
    absent, library = str(tmp_path / "absent.so"), tmp_path / "ops.so"
    library.write_bytes(b"\x7fELF")
    with pytest.raises(tf.errors.NotFoundError, match=re.escape(f"{absent}: cannot open shared object file")):
        tf.load_op_library(absent)
    with pytest.raises(OSError, match="does not exist"):
        tf.load_library(absent)
    for load, where in ((tf.load_op_library, library), (tf.load_library, library), (tf.load_library, tmp_path)):
        with pytest.raises(tf.errors.NotFoundError, match=re.escape(str(library))):
            load(where)


def test_folders_without_libraries_are_accepted(tmp_path):
    (tmp_path / "notes.txt").write_text("none")
    tf.load_library(str(tmp_path))
