"""tf.data.Options: types, defaults, and how they come together."""

import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
Options = tf.data.Options


def test_defaults_and_types():
    options = Options()
    assert options == Options()
    assert options.deterministic is None
    assert options.experimental_distribute.auto_shard_policy == tf.data.experimental.AutoShardPolicy.AUTO
    options.threading.private_threadpool_size = 3
    assert options != Options()
    assert options.experimental_threading is options.threading
    with pytest.raises(TypeError, match='"deterministic" must be of type'):
        options.deterministic = 3
    with pytest.raises(AttributeError, match="Cannot set the property foo on Options"):
        options.foo = 1


def test_old_names_are_the_same_option():
    options = Options()
    options.experimental_deterministic = False
    assert options.deterministic is False


def test_datasets_merge_the_options_of_what_they_are_made_of():
    first, second = Options(), Options()
    first.autotune.enabled = True
    first.deterministic = True
    second.deterministic = False
    zipped = Dataset.zip(Dataset.range(1).with_options(first), Dataset.range(1).with_options(second))
    assert zipped.batch(2).options().deterministic is False
    assert zipped.options().autotune.enabled is True
    assert Dataset.range(3).options() == Options()


def test_options_of_a_dataset_cannot_be_changed():
    options = Dataset.range(3).options()
    with pytest.raises(ValueError, match="no effect"):
        options.deterministic = True
    with pytest.raises(ValueError, match="no effect"):
        options.threading.max_intra_op_parallelism = 1


def test_merge():
    first, second = Options(), Options()
    first.dataset_name = "a"
    second.threading.max_intra_op_parallelism = 2
    merged = first.merge(second)
    assert merged.dataset_name == "a"
    assert merged.threading.max_intra_op_parallelism == 2
    assert first.threading.max_intra_op_parallelism is None
