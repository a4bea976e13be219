"""A program that ends while its threads work: `exit_program.py WORK:WAY ...`. test_exit.py runs it.

A work is a function that prepares something and returns a step, which threads repeat. A way is how the program ends.
Given several, forks such programs one after the other, before anything is computed, and prints a line of JSON for each.
"""

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time

if os.environ.get("EXIT_ORACLE"):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
else:
    import tapeflow as tf

v1 = tf.compat.v1
WORKS = {}
WAYS = {}


def work(f):
    WORKS[f.__name__] = f
    return f


def way(f):
    WAYS[f.__name__] = f
    return f


# -- what the threads do ------------------------------------------------------------------------------


@work
def short_kernel():
    x = tf.ones((20, 20))
    return lambda: tf.matmul(x, x)


@work
def kernel():
    x = tf.random.normal((400, 400))
    return lambda: tf.matmul(x, x)


@work
def long_kernel():
    x = tf.random.normal((2000, 2000))
    return lambda: tf.matmul(x, x)


@work
def convolution():
    x, w = tf.random.normal((4, 32, 32, 16)), tf.random.normal((3, 3, 16, 16))
    return lambda: tf.nn.conv2d(x, w, 1, "SAME")


@work
def random_numbers():
    generator = tf.random.Generator.from_seed(1)
    return lambda: (tf.random.normal((300, 300)), generator.normal((300, 300)))


@work
def plan():
    x = tf.random.normal((200, 200))

    @tf.function
    def f(x):
        for _ in tf.range(5):
            x = tf.tanh(tf.matmul(x, x))
        return x

    return lambda: f(x)


@work
def tracing():
    tf.get_logger().setLevel("ERROR")  # which would warn of so many traces

    def step():
        f = tf.function(lambda x: tf.matmul(x, x) + 1)
        f(tf.ones((30, 30)))

    return step


@work
def session():
    with v1.Graph().as_default():
        x = v1.placeholder(tf.float32, (200, 200))
        y = tf.matmul(x, x)
        s = v1.Session()
    import numpy as np

    value = np.ones((200, 200), np.float32)
    return lambda: s.run(y, {x: value})


@work
def training():
    v = tf.Variable(tf.random.normal((200, 200)))
    optimizer = tf.keras.optimizers.SGD(1e-6)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(v, v) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])

    return step


@work
def gradient_in_python():
    @tf.custom_gradient
    def f(x):
        def grad(dy):
            for _ in range(100):
                dy = dy + 0
            return dy

        return x * 2, grad

    x = tf.ones((100, 100))

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(x))
        tape.gradient(y, x)

    return step


@work
def python_function():
    def python(x):
        return x + sum(range(1000))

    @tf.function
    def f(x):
        return tf.py_function(python, [x], tf.float32)

    return lambda: f(tf.ones((50, 50)))


def _steps_of(dataset):
    iterator = iter(dataset)
    return lambda: next(iterator)


def _endless():
    i = 0
    while True:
        yield i
        i += 1


def _slow(i):
    x = tf.fill((150, 150), tf.cast(i, tf.float32))
    return tf.reduce_sum(tf.matmul(x, x))


@work
def prefetch():
    return _steps_of(tf.data.Dataset.range(10**9).map(_slow).prefetch(4))


@work
def parallel_map():
    return _steps_of(tf.data.Dataset.range(10**9).map(_slow, num_parallel_calls=4))


@work
def parallel_map_of_python():
    def python(i):
        time.sleep(0.001)
        return i

    dataset = tf.data.Dataset.range(10**9)
    return _steps_of(dataset.map(lambda i: tf.py_function(python, [i], tf.int64), num_parallel_calls=4).prefetch(2))


@work
def parallel_interleave():
    dataset = tf.data.Dataset.range(10**9)
    return _steps_of(
        dataset.interleave(
            lambda i: tf.data.Dataset.from_tensors(i).map(_slow), cycle_length=4, num_parallel_calls=4
        )
    )


@work
def generator():
    spec = tf.TensorSpec((), tf.int64)
    return _steps_of(tf.data.Dataset.from_generator(_endless, output_signature=spec).map(_slow).prefetch(2))


@work
def shuffled_batches():
    return _steps_of(tf.data.Dataset.range(10**9).shuffle(100).batch(50).map(lambda b: b * 2).prefetch(2))


@work
def blocked_pipeline():
    """A pipeline whose function never returns: what reads it in advance waits for ever."""
    from_here = threading.Event()

    def python(i):
        if i > 2:
            from_here.wait()
        return i

    dataset = tf.data.Dataset.range(10).map(lambda i: tf.py_function(python, [i], tf.int64), num_parallel_calls=2)
    iterator = iter(dataset.prefetch(2))
    next(iterator)
    return lambda: time.sleep(0.001)


@work
def queue_runner():
    with v1.Graph().as_default():
        queue = v1.FIFOQueue(8, tf.float32, shapes=((50, 50),))
        runner = v1.train.QueueRunner(queue, [queue.enqueue(v1.random_normal((50, 50)))] * 2)
        v1.train.add_queue_runner(runner)
        taken = queue.dequeue()
        s = v1.Session()
        v1.train.start_queue_runners(s, v1.train.Coordinator())
    return lambda: s.run(taken)


@work
def summaries():
    folder = tempfile.mkdtemp(dir=os.environ.get("EXIT_FOLDER"))
    writer = tf.summary.create_file_writer(folder)

    def step():
        with writer.as_default():
            tf.summary.scalar("a", 1.0, step=1)

    return step


@work
def checkpoints():
    folder = tempfile.mkdtemp(dir=os.environ.get("EXIT_FOLDER"))
    checkpoint = tf.train.Checkpoint(v=tf.Variable(tf.ones((50, 50))))
    options = tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)
    lock = threading.Lock()

    def step():
        with lock:
            checkpoint.write(os.path.join(folder, "c"), options)
        time.sleep(0.01)

    return step


@work
def finalizers():
    """Objects whose `__del__` computes, some of which live until the interpreter ends."""
    x = tf.ones((300, 300))
    f = tf.function(lambda x: tf.matmul(x, x))
    f(x)
    v = tf.Variable(x)
    kept = []

    class Computes:
        def __del__(self):
            try:
                f(x)
                tf.matmul(x, x)
                v.assign_add(x)
                next(iter(tf.data.Dataset.range(3).map(lambda i: i + 1, num_parallel_calls=2).prefetch(1)))
                float(tf.reduce_sum(x))
            except Exception:
                # At the end modules are gone: an exception is fine, a crash is not.
                pass

    kept.extend(Computes() for _ in range(3))
    kept.append(kept)
    threading.kept = kept

    def step():
        Computes()
        tf.matmul(x, x)

    return step


@work
def leftovers():
    """Objects with finalizers, found in a cycle when the modules that they need are gone."""
    dataset = tf.data.Dataset.range(10**9)
    datasets = [
        dataset.map(_slow, num_parallel_calls=2).prefetch(2),
        dataset.shuffle(10).batch(2).cache(),
        tf.data.Dataset.from_generator(_endless, output_signature=tf.TensorSpec((), tf.int64)),
        dataset.interleave(tf.data.Dataset.from_tensors, num_parallel_calls=2),
    ]
    kept = [iter(each) for each in datasets]
    for iterator in kept:
        next(iterator)
    kept.append(tf.summary.create_file_writer(tempfile.mkdtemp(dir=os.environ.get("EXIT_FOLDER"))))
    with kept[-1].as_default():
        tf.summary.scalar("a", 1.0, step=1)
    with v1.Graph().as_default():
        x = v1.placeholder(tf.float32)
        iterator = v1.data.make_one_shot_iterator(tf.data.Dataset.range(9).prefetch(2)).get_next()
        kept += [v1.Session(), v1.Session()]
        for s in kept[-2:]:
            s.run([x + 1, iterator], {x: 1.0})
        kept += [s.make_callable(iterator), s.run(v1.get_session_handle(x + 1), {x: 1.0})]
    section = tf.CriticalSection()
    section.execute(lambda: tf.constant(1))
    kept += [section, tf.function(lambda x: x + 1), tf.io.gfile.GFile(__file__)]
    kept[-2](tf.ones(2))
    kept[-1].read(1)
    kept.append(kept)
    threading.kept = kept
    sys.kept = [tf.Variable(1.0), iter(dataset.map(_slow, num_parallel_calls=2))]
    next(sys.kept[1])
    return lambda: time.sleep(0.001)


@work
def xla():
    x = tf.ones((100, 100))
    f = tf.function(lambda x: tf.matmul(x, x), jit_compile=True)
    f(x)
    return lambda: f(x)


# -- how the program ends ------------------------------------------------------------------------------


def threads_of(step, daemon, seconds=None):
    """Two threads that repeat `step`; both have done so once."""
    ready = threading.Semaphore(0)

    def run():
        end = None if seconds is None else time.monotonic() + seconds
        step()
        ready.release()
        while end is None or time.monotonic() < end:
            step()

    threads = [threading.Thread(target=run, daemon=daemon) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in threads:
        ready.acquire()
    time.sleep(0.02)


@way
def returns(step):
    threads_of(step, True)


@way
def waits_for_threads(step):
    threads_of(step, False, 0.2)


@way
def sys_exit(step):
    threads_of(step, True)
    sys.exit(3)


@way
def raises(step):
    threads_of(step, True)
    raise ValueError("the end")


@way
def interrupted(step):
    """SIGINT arrives in the main thread's own work."""
    threads_of(step, True)
    # Whatever started this program may ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        step()


def _sum():
    x = tf.ones((200, 200))
    return float(tf.reduce_sum(tf.matmul(x, x)))


@way
def forks(step):
    """The child, which has none of the threads, computes and ends in the ordinary way."""
    threads_of(step, True)
    pid = os.fork()
    if pid == 0:
        sys.exit(5 if _sum() == 200**3 else 6)
    _, status = os.waitpid(pid, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


def _in_child(name):
    threads_of(WORKS[name](), True)


@way
def spawns(step):
    threads_of(step, True)
    process = multiprocessing.get_context("spawn").Process(target=_in_child, args=(chosen_work,))
    process.start()
    process.join()
    sys.exit(process.exitcode)


def _ended(pid, seconds):
    """The exit code of a child; None if it had to be killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def one_of(cases):
    """In each of the children, its case; the parent tells how they ended, and ends."""
    for case in cases:
        with tempfile.TemporaryFile() as errors:
            pid = os.fork()
            if pid == 0:
                os.dup2(errors.fileno(), 2)
                return case
            code = _ended(pid, 300)  # on a busy machine a program that spawns another one takes a minute
            errors.seek(0)
            print(json.dumps([case, code, errors.read().decode()]), flush=True)
    sys.exit()


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) == 2 else one_of(sys.argv[1:])
    chosen_work, chosen_way = chosen.split(":")
    WAYS[chosen_way](WORKS[chosen_work]())
