"""How checkpoints are written: while the program goes on, in several files, without slots; and what is in them."""

import os

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.checkpoint.bundle import BundleReader


def test_a_write_that_goes_on(tmp_path):
    v = tf.Variable(tf.zeros([1000]))
    checkpoint = tf.train.Checkpoint(v=v)
    written = []
    options = tf.train.CheckpointOptions(
        enable_async=True, experimental_write_callbacks=[written.append]
    )
    path = checkpoint.save(str(tmp_path / "ck"), options)
    v.assign(tf.ones([1000]))  # what is written is what was there
    checkpoint.sync()
    assert written == [path]
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    checkpoint.restore(path).assert_consumed()
    assert v.numpy().sum() == 0.0


def test_a_manager_that_goes_on(tmp_path):
    v = tf.Variable(0.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), str(tmp_path), 2)
    for i in range(4):
        v.assign(float(i))
        manager.save(options=tf.train.CheckpointOptions(enable_async=True))
    manager.sync()
    assert len(manager.checkpoints) == 2
    assert tf.train.load_variable(manager.latest_checkpoint, "v/.ATTRIBUTES/VARIABLE_VALUE") == 3.0


def test_an_error_of_a_write_that_goes_on(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0))

    def fails():
        raise OSError("the disk is gone")

    options = tf.train.CheckpointOptions(enable_async=True, experimental_write_callbacks=[fails])
    checkpoint.write(str(tmp_path / "ck"), options)
    with pytest.raises(OSError, match="the disk is gone"):
        checkpoint.sync()
    checkpoint.sync()


def test_callbacks_take_one_argument():
    with pytest.raises(AssertionError):
        tf.train.CheckpointOptions(experimental_write_callbacks=[lambda a, b: None])


def test_without_slots(tmp_path):
    v = tf.Variable([1.0])
    optimizer = tf.compat.v1.train.AdamOptimizer(0.1)
    optimizer.apply_gradients([(tf.constant([1.0]), v)])
    checkpoint = tf.train.Checkpoint(v=v, optimizer=optimizer)
    options = tf.train.CheckpointOptions(experimental_skip_slot_variables=True)
    names = [n for n, _ in tf.train.list_variables(checkpoint.write(str(tmp_path / "a"), options))]
    assert not any("OPTIMIZER_SLOT" in n for n in names)
    names = [n for n, _ in tf.train.list_variables(checkpoint.write(str(tmp_path / "b")))]
    assert any("OPTIMIZER_SLOT" in n for n in names)


def test_several_files(tmp_path):
    values = {"a": np.arange(100.0), "b": np.arange(300.0), "c": np.float64(3)}
    checkpoint = tf.train.Checkpoint(**{k: tf.Variable(v) for k, v in values.items()})
    policy = tf.train.experimental.MaxShardSizePolicy(1000)
    options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    path = checkpoint.write(str(tmp_path / "ck"), options)
    reader = BundleReader(path)
    assert reader.shards > 3
    sizes = [os.path.getsize(tmp_path / n) for n in os.listdir(tmp_path) if "data" in n]
    assert max(sizes) <= 1000
    for name, value in values.items():
        np.testing.assert_array_equal(reader.read(f"{name}/.ATTRIBUTES/VARIABLE_VALUE"), value)
    for name in values:
        getattr(checkpoint, name).assign(getattr(checkpoint, name) * 0.0)
    checkpoint.read(path).assert_consumed()
    np.testing.assert_array_equal(checkpoint.b, values["b"])


def test_a_callback_must_keep_everything(tmp_path):
    class Forgets(tf.train.experimental.ShardingCallback):
        description = "forgets all"

        def __call__(self, shardable_tensors):
            return [{}]

    options = tf.train.CheckpointOptions(experimental_sharding_callback=Forgets())
    with pytest.raises(ValueError, match="left out"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).write(str(tmp_path / "ck"), options)
    assert os.listdir(tmp_path) == []


def test_tables(tmp_path):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b"], [1, 2])
    path = tf.train.Checkpoint(table=table).write(str(tmp_path / "ck"))
    assert "table/.ATTRIBUTES/table-keys" in dict(tf.train.list_variables(path))
    other = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    other.insert(["z"], [9])
    tf.train.Checkpoint(table=other).read(path).assert_consumed()
    assert other.lookup(tf.constant(["a", "b", "z"])).numpy().tolist() == [1, 2, -1]


def test_views(tmp_path):
    checkpoint = tf.train.Checkpoint(a=tf.Variable(1.0), b=[tf.Variable(2.0)])
    view = tf.train.CheckpointView(checkpoint.save(str(tmp_path / "ck")))
    assert view.children(0) == {"a": 1, "b": 2, "save_counter": 3}
    assert view.descendants() == [0, 1, 2, 3, 4]
    matched, rest, own = view.diff(tf.train.Checkpoint(a=tf.Variable(0.0), c=tf.Variable(0.0)))
    assert sorted(matched) == [0, 1]
    assert rest == [2, 3, 4]
    assert len(own) == 1
    objects = tf.train.TrackableView(checkpoint)
    assert list(objects.children(checkpoint)) == ["a", "b", "save_counter"]
    assert len(objects.descendants()) == 5


def test_a_checkpoint_written_by_a_function(tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)

    @tf.function
    def write():
        return checkpoint.write(str(tmp_path / "ck"))

    for value in (1.0, 3.0):
        v.assign(value)
        path = write().numpy().decode()
        assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == value


def test_partitioned_variables_of_sessions(tmp_path):
    v1 = tf.compat.v1
    whole = path = None
    for parts in (3, 1, 4):
        with tf.Graph().as_default(), v1.Session() as session:
            v = v1.get_variable("v", [10, 3], partitioner=v1.fixed_size_partitioner(parts))
            saver = v1.train.Saver()
            if path is None:
                session.run(v1.global_variables_initializer())
                whole = session.run(tf.convert_to_tensor(v))
                path = saver.save(session, str(tmp_path / "ck"))
            else:
                saver.restore(session, path)
                np.testing.assert_array_equal(session.run(tf.convert_to_tensor(v)), whole)
    np.testing.assert_array_equal(tf.train.load_variable(path, "v"), whole)


def test_variables_begin_with_a_checkpoint(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("old/a", initializer=1.0)
        v1.get_variable("b", initializer=2.0)
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "ck"))
    with tf.Graph().as_default(), v1.Session() as session:
        a = v1.get_variable("new/a", initializer=0.0)
        b = v1.get_variable("c", initializer=0.0)
        v1.train.init_from_checkpoint(path, {"old/": "new/", "b": b})
        with pytest.raises(ValueError, match="is not found in"):
            v1.train.init_from_checkpoint(path, {"x": b})
        session.run(v1.global_variables_initializer())
        assert session.run([a, b]) == [1.0, 2.0]


def test_savers_read_checkpoints_of_objects(tmp_path):
    v1 = tf.compat.v1
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    path = tf.train.Checkpoint(x=a, y=[b]).save(str(tmp_path / "ck"))
    a.assign(0.0)
    v1.train.Saver([a, b]).restore(None, path)
    assert a.numpy() == 1.0
    with tf.Graph().as_default(), v1.Session() as session:
        own = v1.get_variable("b", initializer=0.0)
        v1.train.Saver().restore(session, path)
        assert session.run(own) == 2.0
        other = v1.get_variable("other", initializer=0.0)
        with pytest.raises(tf.errors.NotFoundError, match="Could not find some variables"):
            v1.train.Saver([own, other]).restore(session, path)
