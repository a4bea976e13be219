"""Queues between threads, eagerly and in graphs. The order of the random queue is what TensorFlow gives."""

import signal
import threading
import time

import pytest

import tapeflow as tf2
import tapeflow.compat.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def later(function, seconds=0.1):
    thread = threading.Timer(seconds, function)
    thread.start()
    return thread


def test_elements_come_in_order():
    q = tf2.queue.FIFOQueue(5, [tf.float32, tf.string], shapes=[[2], []])
    q.enqueue(([1.0, 2.0], "a"))
    q.enqueue_many(([[3.0, 4.0], [5.0, 6.0]], ["b", "c"]))
    assert q.size().numpy() == 3
    x, text = q.dequeue()
    assert x.numpy().tolist() == [1.0, 2.0]
    assert text.numpy() == b"a"
    x, text = q.dequeue_many(2)
    assert x.numpy().tolist() == [[3.0, 4.0], [5.0, 6.0]]
    assert text.numpy().tolist() == [b"b", b"c"]


def test_a_dequeue_waits_for_elements():
    q = tf2.queue.FIFOQueue(5, tf.int32, shapes=[[]])
    thread = later(lambda: q.enqueue_many([[1, 2, 3]]))
    assert q.dequeue_many(3).numpy().tolist() == [1, 2, 3]
    thread.join()


def test_an_enqueue_waits_for_room():
    q = tf2.queue.FIFOQueue(1, tf.int32, shapes=[[]])
    q.enqueue(1)
    thread = later(lambda: q.dequeue())
    q.enqueue(2)
    thread.join()
    assert q.dequeue().numpy() == 2


def test_a_closed_queue_gives_what_it_has_and_ends():
    q = tf2.queue.FIFOQueue(5, tf.int32, shapes=[[]])
    q.enqueue_many([[1, 2]])
    q.close()
    assert q.is_closed().numpy()
    with pytest.raises(tf.errors.OutOfRangeError, match=r"insufficient elements \(requested 3, current size 2\)"):
        q.dequeue_many(3)
    assert q.dequeue_up_to(3).numpy().tolist() == [1, 2]
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        q.enqueue(3)


def test_closing_can_cancel_what_waits():
    q = tf2.queue.FIFOQueue(1, tf.int32)
    q.enqueue(1)
    later(lambda: q.close(cancel_pending_enqueues=True))
    with pytest.raises(tf.errors.CancelledError, match="Enqueue operation was cancelled"):
        q.enqueue(2)


def test_padding():
    q = tf2.queue.PaddingFIFOQueue(5, tf.int32, shapes=[[None]])
    q.enqueue([[1]])
    q.enqueue([[2, 3]])
    assert q.dequeue_many(2).numpy().tolist() == [[1, 0], [2, 3]]


def test_priorities():
    q = tf2.queue.PriorityQueue(5, tf.string, shapes=[[]])
    q.enqueue_many([[3, 1, 2], ["c", "a", "b"]])
    numbers, texts = q.dequeue_many(3)
    assert numbers.numpy().tolist() == [1, 2, 3]
    assert texts.numpy().tolist() == [b"a", b"b", b"c"]


def test_names_make_elements_dicts():
    q = tf2.queue.FIFOQueue(5, [tf.int32, tf.float32], names=["i", "f"])
    q.enqueue({"i": 1, "f": 2.0})
    assert {k: v.numpy() for k, v in q.dequeue().items()} == {"i": 1, "f": 2.0}
    with pytest.raises(ValueError, match="You must enqueue a dictionary in a Queue with names"):
        q.enqueue([1, 2.0])


def test_random_order_is_tensorflows(session):
    q = tf.queue.RandomShuffleQueue(10, 2, tf.int32, shapes=[()], seed=7)
    fill, take, close, rest = q.enqueue_many([list(range(6))]), q.dequeue(), q.close(), q.dequeue_up_to(5)
    session.run(fill)
    assert [session.run(take) for _ in range(4)] == [3, 2, 1, 5]
    session.run(close)
    assert session.run(rest).tolist() == [0, 4]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.FIFOQueue(1, [tf.int32], shapes=[[None]]), "All shapes must be fully defined"),
        (lambda: tf.FIFOQueue(1, [tf.int32], shapes=[(), ()]), "Queue shapes must have the same length as dtypes"),
        (lambda: tf.FIFOQueue(1, [tf.int32], names=["a", "b"]), "List of names must have the same length"),
        (lambda: tf.PaddingFIFOQueue(1, [tf.int32], None), "a list of shapes must be provided"),
        (lambda: tf.FIFOQueue(1, [tf.int32], shapes=[(2,)]).enqueue([[1, 2, 3]]), "are incompatible"),
    ],
)  # fmt: skip
def test_mistakes(session, make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_shapes_are_checked_when_a_graph_runs(session):
    q = tf.FIFOQueue(5, [tf.int32], shapes=[(2,)])
    x = tf.placeholder(tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"component 0. Expected \[2\], got \[3\]"):
        session.run(q.enqueue(x), {x: [1, 2, 3]})


def test_queues_of_one_name_must_agree(session):
    first = tf.FIFOQueue(10, [tf.int32], shared_name="a")
    second = tf.FIFOQueue(11, [tf.int32], shared_name="a")
    session.run(first.enqueue(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="has capacity 10 but requested capacity was 11"):
        session.run(second.size())
    same = tf.FIFOQueue(10, [tf.int32], shared_name="a")
    assert session.run(same.dequeue()) == 1


def test_sessions_have_queues_of_their_own():
    with tf.Graph().as_default():
        q = tf.FIFOQueue(10, [tf.int32])
        put, size = q.enqueue(1), q.size()
        with tf.Session() as one, tf.Session() as other:
            one.run(put)
            assert one.run(size) == 1
            assert other.run(size) == 0


def test_the_end_of_a_session_ends_what_waits_in_it():
    with tf.Graph().as_default():
        take = tf.FIFOQueue(10, [tf.int32]).dequeue()
        session = tf.Session()
        later(session.close)
        with pytest.raises(tf.errors.CancelledError, match="Dequeue operation was cancelled"):
            session.run(take)


def test_time_limits():
    with tf.Graph().as_default():
        q = tf.FIFOQueue(10, [tf.int32])
        take, put = q.dequeue(), q.enqueue(1)
        with tf.Session() as session:
            options = tf.RunOptions(timeout_in_ms=50)
            with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out"):
                session.run(take, options=options)
            session.run(put)  # the call that gave up takes nothing
            assert session.run(take) == 1


def test_ctrl_c_ends_a_wait():
    q = tf2.queue.FIFOQueue(10, tf.int32)
    main = threading.get_ident()
    later(lambda: signal.pthread_kill(main, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        q.dequeue()
    q.enqueue(1)
    assert q.dequeue().numpy() == 1


def test_what_waits_runs_after_what_does_not(session):
    q = tf.FIFOQueue(10, [tf.int32])
    taken = q.dequeue()
    put = q.enqueue(5)
    assert session.run([taken, put])[0] == 5


def test_many_threads_lose_and_double_nothing():
    q = tf2.queue.FIFOQueue(7, tf.int32, shapes=[[]])
    found, lock = [], threading.Lock()

    def take():
        for _ in range(50):
            value = int(q.dequeue())
            with lock:
                found.append(value)

    def put(first):
        q.enqueue_many([list(range(first, first + 50))])

    threads = [threading.Thread(target=take) for _ in range(4)]
    threads += [threading.Thread(target=put, args=(50 * i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(20)
    assert sorted(found) == list(range(200))


def test_a_branch_can_enqueue(session):
    q = tf.FIFOQueue(10, [tf.int32])
    keep = tf.placeholder(tf.bool, [])
    step = tf.group(tf.cond(keep, lambda: q.enqueue([3]), tf.no_op))
    for flag in (True, False, True):
        session.run(step, {keep: flag})
    assert session.run(q.size()) == 2


def test_one_of_a_list(session):
    one, two = tf.FIFOQueue(5, tf.int32), tf.FIFOQueue(5, tf.int32)
    which = tf.placeholder(tf.int32)
    session.run([one.enqueue(1), two.enqueue(2)])
    assert session.run(tf.QueueBase.from_list(which, [one, two]).dequeue(), {which: 1}) == 2


def test_nodes_are_tensorflows():
    with tf.Graph().as_default() as graph:
        q = tf.FIFOQueue(5, [tf.int32, tf.float32], shapes=[(), (2,)], shared_name="s", name="Q")
        put, take = q.enqueue([1, [1.0, 2.0]]), q.dequeue_many(3)
        q.size()
        assert (q.queue_ref.op.type, put.type, put.name) == ("FIFOQueueV2", "QueueEnqueueV2", "Q_enqueue")
        assert take[1].shape.as_list() == [3, 2]
        text = graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(text, name="")
        session.run("Q_enqueue")
        assert session.run("Q_Size:0") == 1


def test_a_wait_lets_other_threads_run():
    q = tf2.queue.FIFOQueue(5, tf.int32)
    thread = threading.Thread(target=q.dequeue, daemon=True)
    thread.start()
    began = time.perf_counter()
    sum(range(200_000))
    assert time.perf_counter() - began < 5
    q.enqueue(1)
    thread.join(10)
    assert not thread.is_alive()


def test_no_timeout_in_rows():
    handle = tf2.queue.FIFOQueue(1, tf.int32).queue_ref
    with pytest.raises(tf.errors.InvalidArgumentError, match="Timeout not supported yet"):
        tf2.raw_ops.QueueEnqueueV2(handle=handle, components=[tf.constant(1)], timeout_ms=5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Timeout not supported yet"):
        tf2.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.int32], timeout_ms=5)
