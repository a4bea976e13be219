"""Tasks that die: errors name them, and monitored sessions go on once they are back."""

import itertools
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("grpc")

from processes import HERE, cluster, output, wait_for

import tapeflow.compat.v1 as tf


@pytest.mark.slow
def test_training_goes_on_after_a_server_died(tmp_path):
    with cluster(ps=1, worker=1) as made:
        server = made.start("serve_task.py", "ps", 0)
        worker = made.start("train_regression.py", "worker", 0, "async", 150, tmp_path)
        wait_for(worker, "step 50")
        server.send_signal(signal.SIGKILL)
        server.wait()
        made.start("serve_task.py", "ps", 0)
        text = output(worker)
    steps = [int(each) for each in re.findall(r"^step (\d+)$", text, re.MULTILINE)]
    # The state of the server was lost: it is that of the last checkpoint, and not the first step.
    again = next(after for before, after in itertools.pairwise([50, *steps]) if after < before)
    assert 20 < again <= 50
    assert steps[-1] >= 149
    assert float(re.search(r"^loss (\S+)", text, re.MULTILINE)[1]) < 0.05


@pytest.mark.slow
def test_a_worker_that_is_started_again_finds_the_state_of_the_servers():
    with cluster(ps=1, worker=2) as made:
        made.start("serve_task.py", "ps", 0)
        chief = made.start("train_regression.py", "worker", 0, "async", 400, "")
        wait_for(chief, "step 20")
        other = made.start("train_regression.py", "worker", 1, "async", 400, "")
        wait_for(other, "step")
        other.send_signal(signal.SIGKILL)
        other.wait()
        again = made.start("train_regression.py", "worker", 1, "async", 400, "")
        wait_for(again, "begun")
        first = wait_for(again, "step")
        text = output(chief)
        output(again)
    assert int(first.split()[1]) > 20
    assert float(re.search(r"^loss (\S+)", text, re.MULTILINE)[1]) < 1e-3


@pytest.mark.slow
def test_a_task_that_died_is_named():
    with cluster(ps=1, worker=1) as made, tf.Graph().as_default():
        server = made.start("serve_task.py", "ps", 0)
        made.start("serve_task.py", "worker", 0)
        with tf.device("/job:ps/task:0"):
            x = tf.constant([1.0, 2.0]) * 2.0
        with tf.device("/job:worker/task:0"):
            y = tf.reduce_sum(x)
        session = tf.Session(made.target("worker"))
        assert session.run(y) == 6.0
        server.send_signal(signal.SIGKILL)
        server.wait()
        with pytest.raises(tf.errors.UnavailableError, match=r"/job:ps/replica:0/task:0 at localhost:.* cannot be"):
            session.run(y)
        # The same address is another process now, which does not know the session.
        wait_for(made.start("serve_task.py", "ps", 0), "serving")
        with pytest.raises((tf.errors.AbortedError, tf.errors.UnavailableError)):
            session.run(y)
        assert tf.Session(made.target("worker")).run(y) == 6.0


@pytest.mark.slow
def test_sessions_wait_for_tasks_that_do_not_answer():
    with cluster(ps=1, worker=1) as made, tf.Graph().as_default():
        made.start("serve_task.py", "worker", 0)
        x = tf.constant(1.0)
        config = tf.ConfigProto(operation_timeout_in_ms=4000)
        with pytest.raises(tf.errors.DeadlineExceededError):
            tf.Session(made.target("worker"), config=config)
        filtered = tf.ConfigProto(device_filters=["/job:worker"], operation_timeout_in_ms=30000)
        assert tf.Session(made.target("worker"), config=filtered).run(x) == 1.0


def test_what_a_client_waited_for_is_not_taken_when_it_dies():
    with cluster(worker=1) as made, tf.Graph().as_default():
        wait_for(made.start("serve_task.py", "worker", 0), "serving")
        command = [sys.executable, str(HERE / "wait_for_element.py"), made.target("worker")]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        made.processes.append(client)
        wait_for(client, "waiting")
        time.sleep(0.5)
        client.kill()
        client.wait()
        with tf.device("/job:worker/task:0"):
            queue = tf.FIFOQueue(2, tf.int32, shared_name="waited_for")
        with tf.Session(made.target("worker")) as session:
            time.sleep(0.5)
            session.run(queue.enqueue(3))
            assert session.run(queue.size()) == 1


def test_nobody_at_a_target_is_an_error():
    with cluster(worker=1) as made, tf.Graph().as_default():
        config = tf.ConfigProto(operation_timeout_in_ms=500)
        with pytest.raises(tf.errors.DeadlineExceededError):
            tf.Session(made.target("worker"), config=config)
        with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
            tf.Session("elsewhere")
