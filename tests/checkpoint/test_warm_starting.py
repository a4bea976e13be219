"""Variables that begin with values of a checkpoint; clusters."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf


@pytest.fixture
def saved(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("old/a", initializer=[1.0, 2.0])
        tf.get_variable("words", initializer=[[1.0], [2.0], [3.0]])
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "model"))


def initialised(*variables):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(variables))


def test_a_variable_and_a_scope(saved):
    with tf.Graph().as_default():
        a, b = tf.get_variable("new/a", [2]), tf.get_variable("b", [2])
        tf.train.init_from_checkpoint(saved, {"old/": "new/", "old/a": b})
        for found in initialised(a, b):
            assert found.tolist() == [1.0, 2.0]


def test_names_and_shapes_must_fit(saved):
    with tf.Graph().as_default():
        a = tf.get_variable("a", [3])
        with pytest.raises(ValueError, match="Tensor nothing is not found"):
            tf.train.init_from_checkpoint(saved, {"nothing": a})
        with pytest.raises(ValueError, match=r"Shape of variable a \(\(3,\)\) doesn't match"):
            tf.train.init_from_checkpoint(saved, {"old/a": a})


def test_a_vocabulary_that_changed(saved, tmp_path):
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("a\nb\nc\n")
    new.write_text("c\nd\na\n")
    with tf.Graph().as_default():
        words = tf.get_variable("words", [3, 1])
        info = tf.train.VocabInfo(str(new), 3, 0, str(old), backup_initializer=tf.ones_initializer())
        tf.train.warm_start(saved, "words", var_name_to_vocab_info={"words": info})
        (found,) = initialised(words)
    np.testing.assert_array_equal(found, [[3.0], [1.0], [1.0]])


BEGINNINGS = {
    "average": lambda a: tf.train.ExponentialMovingAverage(0.9).apply([a]) and None,
    "initialized value": lambda a: tf.get_variable("other", initializer=a.initialized_value()),
    "value": lambda a: tf.get_variable("other", initializer=a + 0.0),
    "function": lambda a: tf.get_variable("other", initializer=lambda: a.read_value(), dtype=tf.float32),
}


@pytest.mark.parametrize("how", BEGINNINGS)
@pytest.mark.parametrize("start", ["init", "warm"])
def test_what_begins_with_such_a_variable_follows_it(saved, how, start):
    with tf.Graph().as_default():
        a = tf.get_variable("old/a", initializer=[7.0, 7.0])
        BEGINNINGS[how](a)
        follower = tf.global_variables()[-1]
        assert follower is not a
        if start == "init":
            tf.train.init_from_checkpoint(saved, {"old/a": a})
        else:
            tf.train.warm_start(saved, [a])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run([a, follower])[1].tolist() == [1.0, 2.0]
            session.run(a.assign([5.0, 5.0]))
            session.run(follower.initializer)
            assert session.run(a).tolist() == [5.0, 5.0]


def test_names_that_are_not_used(saved):
    with tf.Graph().as_default():
        tf.get_variable("words", [3, 1])
        with pytest.raises(ValueError, match="were not used"):
            tf.train.warm_start(saved, "words", var_name_to_prev_var_name={"other": "x"})


def test_clusters():
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:2"], "worker": {1: "c:3"}})
    assert cluster.as_dict() == {"ps": ["a:1", "b:2"], "worker": {1: "c:3"}}
    assert cluster.job_tasks("worker") == [None, "c:3"]
    assert cluster.num_tasks("ps") == 2
    assert tf.train.ClusterSpec(cluster.as_cluster_def()) == cluster
    with pytest.raises(ValueError, match="No such job in cluster: 'x'"):
        cluster.num_tasks("x")
    with pytest.raises(ValueError, match="No task with index 7 in job 'ps'"):
        cluster.task_address("ps", 7)


def test_variables_go_to_servers_in_turn():
    with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        first, second = tf.Variable(1), tf.Variable(2)
        assert (first.device, second.device) == ("/job:ps/task:0", "/job:ps/task:1")
        assert tf.constant(1).device == "/job:worker"
    assert tf.train.replica_device_setter() is None


@pytest.mark.parametrize("saved_parts", [1, 3])
@pytest.mark.parametrize("parts", [None, 1, 2, 3])
@pytest.mark.parametrize("way", ["variable", "name", "scope", "warm_start", "vocabulary"])
def test_parts_begin_with_their_share_of_a_whole(saved_parts, parts, way, tmp_path):
    whole = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("s/w", initializer=whole, partitioner=tf.fixed_size_partitioner(saved_parts))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    words = tmp_path / "words.txt"
    words.write_text("a\nb\nc\nd\n")
    with tf.Graph().as_default():
        partitioner = None if parts is None else tf.fixed_size_partitioner(parts)
        new = tf.get_variable("s/w", [4, 2], partitioner=partitioner)
        if way == "warm_start":
            tf.train.warm_start(path)
        elif way == "vocabulary":
            info = tf.train.VocabInfo(str(words), 4, 0, str(words))
            tf.train.warm_start(path, var_name_to_vocab_info={"s/w": info})
        else:
            target = new if parts is None else list(new)
            mapping = {"variable": {"s/w": target}, "name": {"s/w": "s/w"}, "scope": {"s/": "s/"}}[way]
            tf.train.init_from_checkpoint(path, mapping)
        (found,) = initialised(tf.convert_to_tensor(new))
    np.testing.assert_array_equal(found, whole)


def test_warm_start_from_a_checkpoint_of_objects(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        old = tf.get_variable("fruit", initializer=[1.0, 2.0])
        session.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(v=old).save(str(tmp_path / "c"), session=session)
    with tf.Graph().as_default():
        new = tf.get_variable("fruit", [2])
        tf.train.warm_start(path)
        (found,) = initialised(new)
    assert found.tolist() == [1.0, 2.0]
