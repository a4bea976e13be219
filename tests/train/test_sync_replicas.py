"""Gradients of several workers, summed."""

import threading

import pytest

import tapeflow.compat.v1 as tf


def test_one_worker():
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=[4.0])
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 1)
        train = optimizer.minimize(tf.reduce_sum(v * v) / 2, global_step=step)
        hooks = [optimizer.make_session_run_hook(is_chief=True, num_tokens=0), tf.train.StopAtStepHook(last_step=3)]
        with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
            while not session.should_stop():
                session.run(train)
            raw = session._tf_sess()
            assert raw.run(step) == 3
            assert raw.run(v).tolist() == [0.5]


def test_two_workers_make_a_step():
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=[0.0])
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2)
        g = tf.placeholder(tf.float32, [1])
        train = optimizer.apply_gradients([(g, v)], step)
        start, runner = optimizer.get_init_tokens_op(0), optimizer.get_chief_queue_runner()
        init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
        with tf.Session() as session:
            session.run(init)
            session.run([optimizer.chief_init_op, start])
            coord = tf.train.Coordinator()
            threads = runner.create_threads(session, coord, start=True, daemon=True)
            workers = [
                threading.Thread(target=lambda x=x: session.run(train, {g: [x]})) for x in (1.0, 3.0)
            ]
            for w in workers:
                w.start()
            for w in workers:
                w.join(20)
            assert session.run(v).tolist() == [-2.0]
            assert session.run(step) == 1
            coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
        assert graph is not None


def test_mistakes():
    with tf.Graph().as_default():
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 3, 1)
        with pytest.raises(ValueError, match="should be called after apply_gradients"):
            optimizer.get_init_tokens_op()
        with pytest.raises(ValueError, match="Must supply at least one variable"):
            optimizer.apply_gradients([])
        v = tf.get_variable("v", initializer=[0.0])
        with pytest.raises(ValueError, match="Global step is required"):
            optimizer.apply_gradients([(tf.constant([1.0]), v)])
        optimizer.apply_gradients([(tf.constant([1.0]), v)], tf.train.get_or_create_global_step())
        with pytest.raises(ValueError, match=r"Too few tokens to finish the first step: 1 \(given\) vs 2 \(needed\)"):
            optimizer.get_init_tokens_op(1)
