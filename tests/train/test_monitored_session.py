"""Monitored sessions with their hooks."""

import glob
import json

import numpy as np
import pytest

import tapeflow.compat.v1 as tf


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def counted():
    """The global step, and what counts it."""
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def values_in(folder, tag):
    return [
        (event.step, value.simple_value)
        for path in sorted(glob.glob(f"{folder}/events*"))
        for event in tf.train.summary_iterator(path)
        for value in event.summary.value
        if value.tag == tag
    ]


def test_the_program_of_the_slides(graph, tmp_path):
    x = tf.constant([[1.0], [2.0], [3.0]])
    w = tf.get_variable("w", [1, 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 2 * x))
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    hooks = [tf.train.StopAtStepHook(last_step=20)]
    with tf.train.MonitoredTrainingSession(hooks=hooks, checkpoint_dir=str(tmp_path)) as mon_sess:
        while not mon_sess.should_stop():
            mon_sess.run(train_op)
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(tmp_path)))
    assert reader.get_tensor("global_step") == 20
    np.testing.assert_allclose(reader.get_tensor("w"), [[2.0]], atol=1e-4)


def test_training_goes_on_from_the_last_checkpoint(tmp_path):
    for last in (5, 8):
        with tf.Graph().as_default():
            _step, count = counted()
            hooks = [tf.train.StopAtStepHook(num_steps=last - (0 if last == 5 else 5))]
            with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=hooks) as session:
                while not session.should_stop():
                    found = session.run(count)
            assert found == last


def test_a_lost_machine_brings_back_the_last_checkpoint(graph, tmp_path):
    step, count = counted()
    failures = [tf.errors.AbortedError(None, None, "lost")]

    class FailOnce(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            if failures and run_context.session.run(step) == 4:
                raise failures.pop()

    hooks = [
        tf.train.CheckpointSaverHook(str(tmp_path), save_steps=2, scaffold=(scaffold := tf.train.Scaffold())),
        FailOnce(),
    ]
    creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=str(tmp_path))
    with tf.train.MonitoredSession(creator, hooks=hooks) as session:
        found = [session.run(count) for _ in range(4)]
    assert not failures
    assert found[:3] == [1, 2, 3]
    assert found[3] in (4, 5)


def test_an_error_of_the_program_goes_out(graph):
    x = tf.placeholder(tf.float32)
    checked = tf.check_numerics(x, "bad")
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"), tf.train.MonitoredSession() as session:
        session.run(checked, {x: float("nan")})


def test_the_end_of_input_ends_the_block(graph):
    with tf.train.MonitoredSession() as session:
        raise tf.errors.OutOfRangeError(None, None, "end")
    assert session.should_stop()


def test_hooks_are_called_in_order(graph):
    said = []

    class Tell(tf.train.SessionRunHook):
        def begin(self):
            said.append("begin")

        def after_create_session(self, session, coord):
            said.append("created")

        def before_run(self, run_context):
            said.append("before")
            return tf.train.SessionRunArgs(one, feed_dict={x: 3})

        def after_run(self, run_context, run_values):
            said.append(("after", run_values.results))

        def end(self, session):
            said.append("end")

    x = tf.placeholder(tf.int32)
    one = tf.constant(1)
    more = x + one
    with tf.train.SingularMonitoredSession(hooks=[Tell()]) as session:
        assert session.run(more) == 4
        with pytest.raises(RuntimeError, match="fed by a SessionRunHook and user"):
            session.run(x, {x: 1})
    assert said == ["begin", "created", "before", ("after", 1), "before", "end"]


def test_the_graph_is_final_while_it_runs(graph):
    with tf.train.MonitoredSession(), pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1)
    tf.constant(1)


def test_steps_without_hooks(graph):
    _step, count = counted()

    def body(step_context):
        step_context.session.run(count)
        return step_context.run_with_hooks(count)

    with tf.train.MonitoredSession() as session:
        assert session.run_step_fn(body) == 2
        session.run_step_fn(lambda step_context: step_context.request_stop())
    with tf.train.MonitoredSession() as session, pytest.raises(ValueError, match="step_context"):
        session.run_step_fn(lambda a, b: None)


def test_nan_losses(graph):
    loss = tf.constant(float("nan"))
    session = tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss)])
    with pytest.raises(tf.train.NanLossDuringTrainingError, match=r"NaN loss during training\."):
        session.run(loss)
    session.close()
    with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss, fail_on_nan_loss=False)]) as session:
        session.run(loss)
        assert session.should_stop()


def test_summaries_and_speed(graph, tmp_path):
    step, count = counted()
    tf.summary.scalar("x", tf.cast(step, tf.float32) * 0 + 1.5)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), save_summaries_steps=2, log_step_count_steps=2, save_checkpoint_steps=4
    ) as session:
        for _ in range(8):
            session.run(count)
    assert [s for s, _ in values_in(tmp_path, "x")] == [1, 3, 5, 7]
    assert values_in(tmp_path, "global_step/sec")
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert [path.rpartition("-")[2] for path in state.all_model_checkpoint_paths] == ["0", "4", "8"]
    assert (tmp_path / "graph.pbtxt").exists()


def test_listeners_can_stop_training(graph, tmp_path):
    _step, count = counted()

    class Enough(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            return global_step_value >= 2

    hook = tf.train.CheckpointSaverHook(
        str(tmp_path), save_steps=1, saver=tf.train.Saver(), listeners=[Enough()]
    )
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            last = session.run(count)
    assert last == 2


def test_logged_values(graph, caplog):
    x = tf.constant(2.5, name="x")
    hook = tf.train.LoggingTensorHook({"value": "x:0"}, every_n_iter=2, formatter=lambda v: f"saw {v['value']}")
    said = []
    hook._formatter = lambda v: said.append(v["value"]) or "said"
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(3):
            session.run(x)
    assert said == [2.5, 2.5]


def test_final_values_and_feeds(graph):
    x = tf.placeholder_with_default(1, [])
    same = x + 0
    final = tf.train.FinalOpsHook(x, {x: 7})
    with tf.train.MonitoredSession(hooks=[final, tf.train.FeedFnHook(lambda: {x: 5})]) as session:
        assert session.run(same) == 5
    assert final.final_ops_values == 7


def test_traces(graph, tmp_path):
    _step, count = counted()
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(5):
            session.run(count)
    traces = sorted(tmp_path.glob("timeline-*.json"))
    assert traces
    assert json.loads(traces[0].read_text())["traceEvents"]


def test_workers_wait_for_the_chief(graph):
    tf.get_variable("v", [])
    with pytest.raises(tf.errors.DeadlineExceededError, match="not ready after waiting 0 secs"):
        tf.train.MonitoredTrainingSession(is_chief=False, max_wait_secs=0)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: tf.train.StopAtStepHook(), ValueError, "One of num_steps or last_step must be specified"),
        (lambda: tf.train.StopAtStepHook(1, 2), ValueError, "Only one of num_steps or last_step"),
        (lambda: tf.train.LoggingTensorHook(["a"]), ValueError, "exactly one of every_n_iter and every_n_secs"),
        (lambda: tf.train.LoggingTensorHook(["a"], every_n_iter=0), ValueError, "invalid every_n_iter=0"),
        (lambda: tf.train.SecondOrStepTimer(), ValueError, "Either every_secs or every_steps"),
        (lambda: tf.train.StepCounterHook(None), ValueError, "exactly one of every_n_steps and every_n_secs"),
        (lambda: tf.train.SummarySaverHook(1), ValueError, "Exactly one of scaffold or summary_op"),
        (lambda: tf.train.StopAtStepHook(1).begin(), RuntimeError, "Global step should be created"),
        (lambda: tf.train.Scaffold(copy_from_scaffold=1), TypeError, "not a Scaffold instance"),
    ],
)  # fmt: skip
def test_mistakes(graph, make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_tensor_to_log_goes_by_the_name_of_its_operation():
    with tf.Graph().as_default():
        tf.identity([1.0, 2.0], name="pair")
        first, _ = tf.split(tf.constant([3.0, 4.0]), 2, name="halves")
        seen = []
        hook = tf.train.LoggingTensorHook(["pair"], every_n_iter=1, formatter=seen.append)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(first)
        np.testing.assert_array_equal(seen[0]["pair"], [1.0, 2.0])
    with tf.Graph().as_default():
        tf.split(tf.constant([3.0, 4.0]), 2, name="halves")
        hook = tf.train.LoggingTensorHook(["halves"], every_n_iter=1)
        with pytest.raises(ValueError, match="Name halves is ambiguous"):
            hook.begin()
