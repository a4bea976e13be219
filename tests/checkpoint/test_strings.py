"""Strings in checkpoints: every byte of them comes back."""

import pytest

import tapeflow as tf
from tapeflow.checkpoint.first_writing import write_first
from tapeflow.checkpoint.saving_nodes import restore_node, save_node

VALUES = [b"ends in zeros\0\0", b"\0", b"", [b"a\0", b"\0\0"]]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_strings_that_end_in_zeros(tmp_path, value):
    path = tf.train.Checkpoint(v=tf.Variable(value)).save(str(tmp_path / "a"))
    got = tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
    assert (got if isinstance(got, bytes) else got.tolist()) == value


def test_in_nodes(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        path = str(tmp_path / "a")
        session.run(save_node(path, ["x"], [tf.constant(VALUES[0])]))
        assert session.run(restore_node(path, ["x"], [(tf.string, [])])) == [VALUES[0]]


def test_in_checkpoints_of_version_1(tmp_path):
    path = str(tmp_path / "a")
    write_first(path, [("x", VALUES[0])])
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        assert session.run(restore_node(path, ["x"], [(tf.string, [])])) == [VALUES[0]]
