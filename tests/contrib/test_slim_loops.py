"""`slim.learning.train` and `slim.evaluation`: what their arguments do to a small regression."""

import json

import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import slim


@pytest.fixture
def step():
    with tf.Graph().as_default():
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        number = tf.train.get_or_create_global_step()
        with tf.control_dependencies([w.assign_add(1.0)]):
            moved = tf.cast(number.assign_add(1), tf.float32)
        yield moved


def test_traces_are_written(step, tmp_path):
    loss = slim.learning.train(step, str(tmp_path), number_of_steps=4, trace_every_n_steps=2)
    assert loss == 4
    traces = sorted(path.name for path in tmp_path.glob("tf_trace-*.json"))
    assert traces == ["tf_trace-0.json", "tf_trace-2.json"]
    assert json.loads((tmp_path / traces[0]).read_text())["traceEvents"]
    with pytest.raises(ValueError, match="because logdir=None"):
        slim.learning.train(step, None, number_of_steps=4, trace_every_n_steps=2)


def test_variables_without_a_value_are_found(step):
    with pytest.raises(RuntimeError, match="Variables not initialized: w"):
        slim.learning.train(step, None, number_of_steps=1, init_op=None)
    only = tf.variables_initializer([tf.train.get_global_step()])
    with pytest.raises(RuntimeError, match="Variables not initialized: w"):
        slim.learning.train(step, None, number_of_steps=1, init_op=only)
    with pytest.raises(tf.errors.FailedPreconditionError):
        slim.learning.train(step, None, number_of_steps=1, init_op=only, ready_op=None)


def test_steps_and_delays_that_are_none(step):
    with pytest.raises(ValueError, match="positive number"):
        slim.learning.train(step, None, number_of_steps=0)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
    with pytest.raises(ValueError, match="startup_delay_steps must be zero"):
        slim.learning.train(step, None, number_of_steps=1, startup_delay_steps=2, sync_optimizer=optimizer)


def test_a_worker_waits_for_its_step(step):
    begin = tf.group(tf.global_variables_initializer())
    with tf.control_dependencies([begin]):
        begun = tf.train.get_global_step().assign(7)
    loss = slim.learning.train(
        step, None, number_of_steps=9, is_chief=False, startup_delay_steps=5, init_op=begun
    )
    assert loss == 9


def test_a_synchronous_optimizer_gets_what_it_needs():
    with tf.Graph().as_default():
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 1)
        train = slim.learning.create_train_op(w * w / 2, optimizer)
        losses = []

        def counted(session, train_op, number, settings):
            losses.append(session.run(train_op))
            return losses[-1], len(losses) == 3

        slim.learning.train(train, None, counted, sync_optimizer=optimizer)
    assert len(losses) == 3
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("ignored", [True, False])
def test_threads_that_do_not_end(step, monkeypatch, ignored):
    joins = []
    monkeypatch.setattr(tf.train.Coordinator, "join", lambda self, threads, **settings: joins.append(settings))
    slim.learning.train(step, None, number_of_steps=1, ignore_live_threads=ignored)
    assert joins == [{"ignore_live_threads": ignored}]


class Counting(tf.train.SessionRunHook):
    def __init__(self, most=None):
        self.runs, self.ended, self.most = 0, False, most

    def after_run(self, run_context, run_values):
        self.runs += 1
        if self.runs == self.most:
            run_context.request_stop()

    def end(self, session):
        self.ended = True


def test_hooks_see_evaluations(step, tmp_path):
    slim.learning.train(step, str(tmp_path), number_of_steps=3)
    path = tf.train.latest_checkpoint(str(tmp_path))
    w = tf.global_variables()[0]
    seen = tf.get_variable("seen", [], initializer=tf.zeros_initializer(), collections=["local_variables"])
    hook, early = Counting(), Counting(2)
    options = {"num_evals": 5, "eval_op": seen.assign_add(1.0), "final_op": [w, seen]}
    assert slim.evaluation.evaluate_once("", path, None, hooks=[hook], **options) == [3, 5]
    assert (hook.runs, hook.ended) == (5, True)
    assert slim.evaluation.evaluate_once("", path, None, hooks=[early], **options) == [3, 2]


def test_what_runs_before_each_evaluation(step, tmp_path):
    slim.learning.train(step, str(tmp_path), number_of_steps=3)
    w = tf.global_variables()[0]
    tf.summary.scalar("w", w)
    sessions = []
    final = slim.evaluation.evaluation_loop(
        "", str(tmp_path), str(tmp_path / "eval"), initial_op=w.assign_add(1.0), init_fn=sessions.append, final_op=w,
        max_number_of_evaluations=1, eval_interval_secs=0, timeout=1,
    )  # fmt: skip
    assert (final, len(sessions)) == (4, 1)
    assert list((tmp_path / "eval").glob("events*"))


@pytest.mark.parametrize("shown", [True, False])
def test_progress_of_evaluations(step, tmp_path, monkeypatch, shown):
    from tapeflow.contrib import training
    from tapeflow.v1 import logging

    slim.learning.train(step, str(tmp_path), number_of_steps=1)
    lines = []
    monkeypatch.setattr(logging, "info", lambda text, *values: lines.append(text % values))
    path = tf.train.latest_checkpoint(str(tmp_path))
    hook = training.StopAfterNEvalsHook(2, log_progress=shown)
    training.evaluate_once(path, eval_ops=step, hooks=[hook])
    found = [line for line in lines if "Evaluation" in line]
    assert found == (["Evaluation [1/2]", "Evaluation [2/2]"] if shown else [])
