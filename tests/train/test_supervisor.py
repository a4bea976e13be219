"""Supervisors and session managers."""

import pytest

import tapeflow.compat.v1 as tf


def test_a_supervisor_restores_what_it_saved(tmp_path):
    for expected in (1, 2):
        with tf.Graph().as_default():
            step = tf.train.get_or_create_global_step()
            count = tf.assign_add(step, 1)
            supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0, save_summaries_secs=0)
            with supervisor.managed_session() as session:
                assert session.run(count) == expected
                supervisor.saver.save(session, supervisor.save_path, global_step=step)


def test_an_error_in_its_block_goes_out():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="mine"), tf.train.Supervisor().managed_session():
        raise ValueError("mine")


def test_loops_of_training():
    with tf.Graph().as_default():
        v = tf.Variable(0)
        count = tf.assign_add(v, 1)
        supervisor = tf.train.Supervisor()

        def step(session, limit):
            if session.run(count) == limit:
                supervisor.request_stop()

        tf.train.basic_train_loop(supervisor, step, args=[3])
        assert supervisor.should_stop()


def test_a_manager_says_what_is_not_initialised():
    with tf.Graph().as_default():
        tf.Variable(1, name="v")
        manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
        with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
            manager.prepare_session("")
        with pytest.raises(RuntimeError, match=r"did not make model ready.*Variables not initialized: v"):
            manager.prepare_session("", init_fn=lambda session: None)
        session = manager.prepare_session("", init_op=tf.global_variables_initializer())
        assert session.run("v:0") is not None


def test_not_eagerly():
    with pytest.raises(RuntimeError, match="incompatible with eager execution"):
        tf.train.Supervisor()
