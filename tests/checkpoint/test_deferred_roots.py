"""Attributes that the root of a checkpoint gets after `restore`, folders of SavedModels, and matches of nothing."""

import pytest

import tapeflow as tf


def _module(**variables):
    module = tf.Module()
    for name, value in variables.items():
        setattr(module, name, tf.Variable(value))
    return module


@pytest.mark.parametrize("kind", [tf.Module, tf.train.Checkpoint, tf.__internal__.tracking.AutoTrackable])
@pytest.mark.parametrize(
    "checkpoint",
    [
        tf.train.Checkpoint,
        lambda root: tf.train.Checkpoint(model=root),
        lambda root: tf.train.Checkpoint(root, other=tf.Variable(0.0)),
        lambda root: tf.train.Checkpoint(outer=tf.train.Checkpoint(root)),
    ],
)
def test_attributes_that_come_later(tmp_path, kind, checkpoint):
    def made():
        owner = kind()
        owner.first = tf.Variable(1.0)
        return owner

    whole = made()
    whole.second, whole.inner = tf.Variable(2.0), _module(third=3.0)
    path = checkpoint(whole).save(tmp_path / "c")
    part = made()
    holder = checkpoint(part)
    holder.restore(path)
    part.second, part.inner = tf.Variable(0.0), tf.Module()
    part.inner.third = tf.Variable(0.0)
    assert [part.first.numpy(), part.second.numpy(), part.inner.third.numpy()] == [1, 2, 3]


def test_a_root_outlives_its_checkpoint(tmp_path):
    path = tf.train.Checkpoint(_module(v=2.0)).save(tmp_path / "c")
    module = tf.Module()
    tf.train.Checkpoint(module).restore(path)
    module.v = tf.Variable(0.0)
    assert module.v.numpy() == 2


def test_variables_of_saved_models(tmp_path):
    tf.saved_model.save(_module(v=2.0, later=3.0), tmp_path / "model")
    module = _module(v=0.0)
    tf.train.Checkpoint(module).restore(tmp_path / "model").expect_partial()
    module.later = tf.Variable(0.0)
    assert [module.v.numpy(), module.later.numpy()] == [2, 3]


def test_paths_of_nothing(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with pytest.raises(tf.errors.NotFoundError, match="Error when restoring from checkpoint or"):
        checkpoint.restore(tmp_path / "none")
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        checkpoint.read(tmp_path / "none")


def test_programs_without_values_match(tmp_path):
    path = tf.train.Checkpoint(a=[]).save(tmp_path / "c")
    empty = tf.train.Checkpoint(b=[])
    status = empty.restore(path)
    status.assert_consumed().assert_existing_objects_matched()
    status.assert_nontrivial_match()
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(path).assert_nontrivial_match()


def test_a_root_of_the_program_is_no_checkpoint(tmp_path):
    """An attribute `_root` of the program's own is nothing that a checkpoint's node describes."""
    whole = _module(v=1.0, later=2.0)
    path = tf.train.Checkpoint(model=whole).save(tmp_path / "c")
    part, other = _module(v=0.0), tf.Module()
    part.__dict__["_root"] = other
    tf.train.Checkpoint(model=part).restore(path)
    other.later = tf.Variable(5.0)
    part.later = tf.Variable(0.0)
    assert [other.later.numpy(), part.later.numpy()] == [5, 2]
