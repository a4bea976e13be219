"""Iterators: where they are can be saved, threads may share them, functions take them."""

import random
import threading
import time

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset


def numbers(n):
    return Dataset.range(n).map(lambda x: x)  # not a stream of rows


def in_turn():
    return numbers(4).interleave(lambda x: Dataset.from_tensors(x).repeat(3), 2, 2)


PIPELINES = {
    "range": lambda: Dataset.range(9),
    "slices": lambda: Dataset.from_tensor_slices({"a": np.arange(5), "b": list("vwxyz")}),
    "rows shuffled": lambda: Dataset.range(9).shuffle(4, seed=2).repeat(2).batch(2),
    "map": lambda: numbers(9).map(lambda x: (x, tf.cast(x, tf.float32) / 2)),
    "map in threads": lambda: numbers(9).map(lambda x: x + 1, num_parallel_calls=3),
    "filter": lambda: numbers(9).filter(lambda x: x % 2 == 0),
    "flat_map": lambda: numbers(4).flat_map(lambda x: Dataset.range(x)),
    "interleave": in_turn,
    "interleave in threads": lambda: numbers(4).interleave(
        lambda x: Dataset.from_tensors(x).repeat(3), 2, num_parallel_calls=2
    ),
    "scan": lambda: numbers(9).scan(np.int64(0), lambda s, x: (s + x, s + x)),
    "take, skip, shard": lambda: numbers(20).take(17).skip(2).shard(2, 1),
    "take_while": lambda: numbers(9).take_while(lambda x: x < 7),
    "repeat": lambda: numbers(3).repeat(3),
    "shuffle": lambda: numbers(9).shuffle(4, seed=2).repeat(2),
    "shuffle, always the same": lambda: (
        numbers(9).shuffle(4, seed=2, reshuffle_each_iteration=False).repeat(2)
    ),
    "cache": lambda: numbers(5).cache().repeat(2),
    "unique": lambda: numbers(9).map(lambda x: x // 2).unique(),
    "batch": lambda: numbers(9).batch(2),
    "padded_batch": lambda: numbers(9).map(tf.range).padded_batch(2),
    "ragged_batch": lambda: numbers(9).map(tf.range).ragged_batch(2),
    "sparse": lambda: numbers(9).map(tf.range).sparse_batch(1, [10]),
    "unbatch": lambda: numbers(8).batch(3).unbatch(),
    "rebatch": lambda: numbers(9).batch(3).rebatch([1, 2]),
    "window": lambda: numbers(9).window(3, 1).flat_map(lambda w: w.batch(3)),
    "group_by_window": lambda: numbers(9).group_by_window(
        lambda x: x % 2, lambda key, group: group.batch(2), window_size=3
    ),
    "zip": lambda: Dataset.zip(numbers(6), Dataset.range(3).repeat()),
    "concatenate, enumerate": lambda: numbers(2).concatenate(numbers(4)).enumerate(),
    "sample": lambda: Dataset.sample_from_datasets([numbers(5), numbers(9)], seed=3),
    "choose": lambda: Dataset.choose_from_datasets(
        [numbers(5), numbers(9)], Dataset.range(2, output_type=tf.int64).repeat(4)
    ),
    "counter": lambda: Dataset.counter(3, 2).take(6),
    "random": lambda: Dataset.random(seed=3).take(6),
    "prefetch": lambda: numbers(9).prefetch(2),
    "generator": lambda: Dataset.from_generator(lambda: iter(range(6)), tf.int64),
    "ignore_errors": lambda: numbers(9).map(lambda x: 4 // (x - 3)).ignore_errors(),
}  # fmt: skip


@pytest.mark.parametrize("name", PIPELINES)
def test_an_iterator_goes_on_where_it_was_saved(name):
    dataset = PIPELINES[name]()
    whole = len(list(dataset.as_numpy_iterator()))
    for position in (0, 1, 2, whole):
        iterator = dataset.as_numpy_iterator()
        for _ in range(position):
            next(iterator, None)
        state = iterator.save()
        rest = list(iterator)
        again = PIPELINES[name]().as_numpy_iterator()
        again.restore(state)
        assert repr(list(again)) == repr(rest)


def test_a_thread_that_reads_ahead_rests_while_it_is_saved():
    pause = threading.Event()

    def slow():
        for i in range(12):
            pause.wait(0.002)
            yield i

    dataset = Dataset.from_generator(slow, tf.int64).prefetch(3)
    iterator = dataset.as_numpy_iterator()
    seen = [int(next(iterator)) for _ in range(6)]
    state = iterator.save()
    assert seen + [int(x) for x in iterator] == list(range(12))
    again = dataset.as_numpy_iterator()
    again.restore(state)
    assert [int(x) for x in again] == list(range(6, 12))


def test_checkpoints_keep_iterators(tmp_path):
    iterator = iter(Dataset.range(10).shuffle(5, seed=1))
    for _ in range(3):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "checkpoint"))
    rest = [int(x) for x in iterator]
    fresh = iter(Dataset.range(10).shuffle(5, seed=1))
    tf.train.Checkpoint(iterator=fresh).restore(path)
    assert [int(x) for x in fresh] == rest


def test_damaged_states_are_refused():
    iterator = Dataset.range(20).map(lambda x: x).shuffle(5, seed=1).as_numpy_iterator()
    next(iterator)
    state = iterator.save()
    chance = random.Random(0)
    for _ in range(300):
        damaged = bytearray(state)
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        other = Dataset.range(20).map(lambda x: x).shuffle(5, seed=1).as_numpy_iterator()
        try:
            other.restore(bytes(damaged[: chance.randrange(len(damaged) + 1)]))
        except tf.errors.OpError:
            continue
    with pytest.raises(tf.errors.DataLossError):
        iterator.restore(state[:-1])
    with pytest.raises(tf.errors.OpError):
        Dataset.range(3).batch(2).map(lambda x: x).as_numpy_iterator().restore(state)


def test_threads_share_an_iterator():
    iterator = iter(Dataset.range(2000).map(lambda x: x * 2))
    seen = []

    def read():
        for value in iterator:
            seen.append(int(value))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [2 * i for i in range(2000)]


def test_threads_share_a_dataset():
    dataset = Dataset.range(300).map(lambda x: x + 1).shuffle(10).batch(3)
    sums = []

    def read():
        sums.append(sum(int(tf.reduce_sum(batch)) for batch in dataset))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [300 * 301 // 2] * 4


def test_functions_take_datasets_iterators_and_optionals_without_tracing_again():
    traces = []

    @tf.function
    def total(elements):
        traces.append(elements)
        result = np.int64(0)
        for element in elements:
            result += element
        return result

    assert [int(total(iter(Dataset.range(n)))) for n in (5, 10, 3)] == [10, 45, 3]
    assert len(traces) == 1
    assert [int(total(Dataset.range(n))) for n in (5, 10, 3)] == [10, 45, 3]
    assert len(traces) == 2

    @tf.function
    def value(optional):
        traces.append(optional)
        return optional.get_value() + 1

    Optional = tf.data.experimental.Optional
    assert [int(value(Optional.from_value(n))) for n in (1, 2)] == [2, 3]
    assert len(traces) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        value(Optional.empty(tf.TensorSpec([], tf.int32)))


def test_next_in_code_that_is_not_converted_takes_an_element_each_time():
    given, captured = iter(Dataset.range(5)), iter(Dataset.range(5))

    @tf.function(autograph=False)
    def taken(elements):
        return next(elements), next(captured)

    assert [[int(x) for x in taken(given)] for _ in range(3)] == [[0, 0], [1, 1], [2, 2]]
    assert [int(next(captured)), int(next(given))] == [3, 3]


def test_functions_return_datasets():
    @tf.function
    def squares(n):
        return Dataset.range(n).map(lambda x: x * x + n)

    assert [int(x) for x in squares(tf.constant(3, tf.int64))] == [3, 4, 7]


def test_a_pass_lets_its_generator_go():
    gone = threading.Event()

    class Endless:
        def __iter__(self):
            return self

        def __next__(self):
            return 42

        def __del__(self):
            gone.set()

    iterator = iter(Dataset.from_generator(Endless, tf.int64).take(2))
    assert [int(x) for x in iterator] == [42, 42]
    assert gone.is_set()


def test_an_iterator_of_a_generator_that_waits_can_be_given_up():
    hold = threading.Event()

    ended = threading.Event()

    def stuck():
        try:
            for i in range(6):
                hold.wait(0.002)
                yield i
            hold.wait(60)
        finally:
            ended.set()

    iterator = iter(Dataset.from_generator(stuck, tf.int64).prefetch(2))
    assert [int(next(iterator)) for _ in range(5)] == list(range(5))
    began = time.monotonic()
    del iterator
    assert time.monotonic() - began < 30
    hold.set()
    assert ended.wait(30)


def test_iterators_of_graphs_are_saved_too(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        iterator = v1.data.make_initializable_iterator(Dataset.range(10).map(lambda x: x * 2))
        element = iterator.get_next()
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, saveable)
        saver = v1.train.Saver()
        checkpoint = tf.train.Checkpoint(iterator=iterator)
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(3)] == [0, 2, 4]
        by_name = saver.save(session, str(tmp_path / "by_name"))
        by_object = checkpoint.save(str(tmp_path / "by_object"))
        assert session.run(element) == 6
        saver.restore(session, by_name)
        assert session.run(element) == 6
        checkpoint.restore(by_object)
        assert session.run(element) == 6
    with pytest.raises(ValueError, match=r"tf\.train\.Checkpoint"):
        tf.data.experimental.make_saveable_from_iterator(iter(Dataset.range(3)))


def test_a_generator_that_asks_its_own_iterator():
    def generate():
        yield 0
        next(iterator)
        yield 1

    iterator = iter(tf.data.Dataset.from_generator(generate, output_signature=tf.TensorSpec([], tf.int32)))
    assert int(next(iterator)) == 0
    with pytest.raises(tf.errors.OpError, match="generator already executing"):
        next(iterator)


def test_iterators_of_graphs_go_on_in_another_process_graph(tmp_path):
    """The meta graph holds the operations that save and restore an iterator, and the state is that of TensorFlow's."""
    v1, prefix = tf.compat.v1, str(tmp_path / "model")
    with tf.Graph().as_default() as graph, v1.Session() as session:
        iterator = v1.data.make_initializable_iterator(Dataset.range(10).map(lambda x: x * 2))
        policy = tf.data.experimental.ExternalStatePolicy.WARN
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator, policy)
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, saveable)
        element = iterator.get_next()
        for each in (iterator.initializer, element):
            v1.add_to_collection("parts", each)
        saver = v1.train.Saver()
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(3)] == [0, 2, 4]
        saver.save(session, prefix)
        kinds = {op.type for op in graph.get_operations()}
    assert {"SerializeIterator", "DeserializeIterator"} <= kinds
    assert "PyFunc" not in kinds
    with tf.Graph().as_default(), v1.Session() as session:
        saver = v1.train.import_meta_graph(prefix + ".meta")
        initializer, element = v1.get_collection("parts")
        session.run(initializer)
        saver.restore(session, prefix)
        assert session.run(element) == 6


VARIABLE = tf.Variable(tf.constant(1, tf.int64))
STATEFUL = {
    "filter": lambda x: x.filter(lambda _: tf.random.uniform([]) < 1),
    "flat_map": lambda x: x.flat_map(lambda _: Dataset.range(tf.random.uniform([], 0, 2, tf.int64))),
    "map": lambda x: x.map(lambda _: tf.random.uniform([])).batch(2),
    "variable": lambda x: x.map(lambda y: y + VARIABLE),
    "python": lambda x: x.map(lambda y: tf.py_function(lambda z: z, [y], tf.int64)),
}


@pytest.mark.parametrize("name", STATEFUL)
def test_state_outside_of_an_iterator_is_not_lost_silently(tmp_path, name, caplog):
    dataset = STATEFUL[name](Dataset.range(4))

    def saved(policy):
        options = tf.data.Options()
        options.experimental_external_state_policy = policy
        iterator = iter(dataset if policy is None else dataset.with_options(options))
        return tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "at"))

    with pytest.raises(tf.errors.FailedPreconditionError, match="is stateful"):
        saved(None)
    policies = tf.data.experimental.ExternalStatePolicy
    saved(policies.IGNORE)
    assert "is stateful" not in caplog.text
    saved(policies.WARN)
    assert "is stateful" in caplog.text
