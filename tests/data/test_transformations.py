"""What each transformation does to small datasets."""

import threading
import time

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
X = np.arange(12, dtype=np.float32).reshape(6, 2)
Y = np.arange(6)


def plain(element):
    """An element as nested lists."""
    if isinstance(element, tuple):
        return tuple(plain(part) for part in element)
    if isinstance(element, dict):
        return {key: plain(part) for key, part in element.items()}
    value = element.numpy()
    return value.tolist() if hasattr(value, "tolist") else value


def ragged(n):
    return tf.ones([n], tf.int32)


def pairs():
    yield [1], "a"
    yield [1, 2], "b"


CASES = {
    "range": (lambda: Dataset.range(2, 8, 3), [2, 5]),
    "range down": (lambda: Dataset.range(5, 0, -2), [5, 3, 1]),
    "from_tensors": (lambda: Dataset.from_tensors((1, [2, 3])), [(1, [2, 3])]),
    "slices": (
        lambda: Dataset.from_tensor_slices((Y[:2], {"x": X[:2]})),
        [(0, {"x": [0, 1]}), (1, {"x": [2, 3]})],
    ),
    "batch": (lambda: Dataset.range(5).batch(2), [[0, 1], [2, 3], [4]]),
    "batch, whole ones only": (lambda: Dataset.range(5).batch(2, True), [[0, 1], [2, 3]]),
    "batch of elements": (
        lambda: Dataset.range(3).map(lambda x: (x, x * 2)).batch(2),
        [([0, 1], [0, 2]), ([2], [4])],
    ),
    "take": (lambda: Dataset.range(9).take(2), [0, 1]),
    "take all": (lambda: Dataset.range(2).take(-1), [0, 1]),
    "skip": (lambda: Dataset.range(4).skip(2), [2, 3]),
    "skip all": (lambda: Dataset.range(4).skip(-1), []),
    "shard": (lambda: Dataset.range(7).shard(3, 1), [1, 4]),
    "repeat": (lambda: Dataset.range(2).repeat(2), [0, 1, 0, 1]),
    "repeat nothing": (lambda: Dataset.range(0).repeat(), []),
    "endless": (lambda: Dataset.range(2).repeat().take(5), [0, 1, 0, 1, 0]),
    "map to a list": (lambda: Dataset.range(1).map(lambda x: [x, x]), [(0, 0)]),
    "map in threads": (
        lambda: Dataset.range(6).map(lambda x: x * x, num_parallel_calls=3),
        [0, 1, 4, 9, 16, 25],
    ),
    "map, autotuned": (
        lambda: Dataset.range(9).map(lambda x: x + 1, tf.data.AUTOTUNE),
        list(range(1, 10)),
    ),
    "filter": (lambda: Dataset.range(6).filter(lambda x: x % 2 == 0), [0, 2, 4]),
    "flat_map": (lambda: Dataset.range(3).flat_map(lambda x: Dataset.range(x)), [0, 0, 1]),
    "interleave": (
        lambda: Dataset.range(5).interleave(lambda x: Dataset.from_tensors(x).repeat(4), 3, 2),
        [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4],
    ),
    "zip": (lambda: Dataset.zip((Dataset.range(3), Dataset.range(5, 7))), [(0, 5), (1, 6)]),
    "concatenate": (lambda: Dataset.range(2).concatenate(Dataset.range(1)), [0, 1, 0]),
    "enumerate": (lambda: Dataset.range(7, 9).enumerate(start=1), [(1, 7), (2, 8)]),
    "unbatch": (lambda: Dataset.range(4).batch(3).unbatch(), [0, 1, 2, 3]),
    "window": (
        lambda: Dataset.range(5).window(2, 1).flat_map(lambda w: w.batch(2)),
        [[0, 1], [1, 2], [2, 3], [3, 4], [4]],
    ),
    "window with stride": (
        lambda: Dataset.range(7).window(3, 2, 2, True).flat_map(lambda w: w.batch(3)),
        [[0, 2, 4], [2, 4, 6]],
    ),
    "padded_batch": (
        lambda: (
            Dataset.range(1, 4).map(ragged).padded_batch(2, padded_shapes=[None], padding_values=7)
        ),
        [[[1, 7], [1, 1]], [[1, 1, 1]]],
    ),
    "padded_batch of pairs": (
        lambda: Dataset.from_generator(pairs, (tf.int32, tf.string), ((None,), ())).padded_batch(
            2, ((None,), ())
        ),
        [([[1, 0], [1, 2]], [b"a", b"b"])],
    ),
    "scan": (lambda: Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s + x)), [0, 1, 3, 6]),
    "take_while": (lambda: Dataset.range(9).take_while(lambda x: x < 2), [0, 1]),
    "group_by_window": (
        lambda: Dataset.range(5).group_by_window(
            lambda x: x % 2, lambda k, d: d.batch(5), window_size=2
        ),
        [[0, 2], [1, 3], [4]],
    ),
    "unique": (lambda: Dataset.from_tensor_slices([1, 2, 1, 3, 2]).unique(), [1, 2, 3]),
    "prefetch and cache": (
        lambda: Dataset.range(3).map(lambda x: x).prefetch(2).cache(),
        [0, 1, 2],
    ),
    "choose": (
        lambda: Dataset.choose_from_datasets(
            [Dataset.range(3), Dataset.range(7, 9)],
            Dataset.from_tensor_slices(np.array([0, 1, 0], np.int64)),
        ),
        [0, 7, 1],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_elements(name):
    make, expected = CASES[name]
    dataset = make()
    assert [plain(element) for element in dataset] == expected
    assert [plain(element) for element in dataset] == expected, "on the second pass"


@pytest.mark.parametrize(
    ("dataset", "size"),
    [
        (lambda: Dataset.range(10).batch(3), 4),
        (lambda: Dataset.range(10).batch(3, True).repeat(2), 6),
        (lambda: Dataset.range(10).shard(3, 0).take(2), 2),
        (lambda: Dataset.range(3).repeat(), tf.data.INFINITE_CARDINALITY),
        (lambda: Dataset.range(3).filter(lambda x: True), tf.data.UNKNOWN_CARDINALITY),
    ],
)
def test_cardinality(dataset, size):
    assert int(dataset().cardinality()) == size


def test_length_of_what_has_none():
    with pytest.raises(TypeError, match="The dataset is infinite"):
        len(Dataset.range(3).repeat())
    with pytest.raises(TypeError, match="The dataset length is unknown"):
        len(Dataset.range(3).filter(lambda x: True))
    assert Dataset.range(0)


def test_specs():
    dataset = Dataset.from_tensor_slices((X, Y)).batch(4).map(lambda x, y: (tf.reduce_sum(x, 1), y))
    x, y = dataset.element_spec
    assert (x.shape.as_list(), x.dtype, y.dtype) == ([None], tf.float32, tf.int64)
    assert "_BatchDataset element_spec=TensorSpec(shape=(None,)" in repr(Dataset.range(3).batch(2))


def test_reduce():
    total = Dataset.range(5).reduce(np.int64(0), lambda state, x: state + x)
    assert int(total) == 10


def test_shuffled_batches_gather_matching_rows():
    for x, y in Dataset.from_tensor_slices((X, Y)).shuffle(6).batch(4):
        np.testing.assert_array_equal(x.numpy()[:, 0], 2 * y.numpy())


def test_iteration_forms_of_1x():
    dataset = Dataset.range(2)
    iterator = dataset.make_one_shot_iterator()
    assert [int(iterator.get_next()), int(iterator.next())] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        iterator.get_next()
    assert int(iter(dataset).next()) == 0
    assert [int(x) for x in tf.contrib.eager.Iterator(dataset)] == [0, 1]


BAD = {
    "batch of nothing": (
        lambda: Dataset.range(3).batch(0),
        tf.errors.InvalidArgumentError,
        "Batch size must be greater than zero",
    ),
    "batch of a string": (lambda: Dataset.range(3).batch("a"), TypeError, "Cannot convert 'a'"),
    "shuffle of nothing": (
        lambda: Dataset.range(3).shuffle(0),
        tf.errors.InvalidArgumentError,
        "buffer_size must be greater than zero",
    ),
    "step 0": (lambda: Dataset.range(1, 2, 0), tf.errors.InvalidArgumentError, "non-zero"),
    "shard out of range": (
        lambda: Dataset.range(3).shard(3, 3),
        tf.errors.InvalidArgumentError,
        r"Index must be between 0 and 2 \(currently index = 3\)",
    ),
    "no range": (lambda: Dataset.range(), ValueError, "between 1 and 3"),
    "rows that differ": (
        lambda: Dataset.from_tensor_slices((X, Y[:4])),
        ValueError,
        "Dimensions 6 and 4 are not compatible",
    ),
    "slices of a scalar": (lambda: Dataset.from_tensor_slices(3), ValueError, "rank >= 1"),
    "nothing": (lambda: Dataset.from_tensor_slices(()), ValueError, "should not be empty"),
    "no function": (lambda: Dataset.range(3).map(3), ValueError, "must be a callable"),
    "no dataset": (lambda: Dataset.zip(Dataset.range(3), 4), TypeError, "Invalid input to `zip`"),
    "filter by numbers": (
        lambda: list(Dataset.range(3).filter(lambda x: x)),
        ValueError,
        "`predicate` must return a `tf.bool` scalar",
    ),
    "flat_map to a tensor": (
        lambda: list(Dataset.range(3).flat_map(lambda x: x)),
        TypeError,
        "must return a `Dataset`",
    ),
    "concatenate of types": (
        lambda: Dataset.range(3).concatenate(Dataset.from_tensors(1.0)),
        TypeError,
        "Incompatible dataset elements",
    ),
    "batch of shapes": (
        lambda: list(Dataset.range(1, 3).map(ragged).batch(2)),
        tf.errors.InvalidArgumentError,
        r"First element had shape \[1\] and element 1 had shape \[2\]",
    ),
    "generator of shapes": (
        lambda: list(Dataset.from_generator(lambda: iter([[1], [2, 3]]), tf.int64, [1])),
        tf.errors.InvalidArgumentError,
        "an element of shape",
    ),
    "no generator": (
        lambda: Dataset.from_generator(3, tf.int64),
        TypeError,
        "must be a Python callable",
    ),
    "unbatch of scalars": (lambda: Dataset.range(3).unbatch(), ValueError, "scalar components"),
    "state of another type": (
        lambda: Dataset.range(3).reduce(np.int64(0), lambda s, x: 1.0),
        TypeError,
        "must match the initial state",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    make, error, message = BAD[name]
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("workers", [None, 2])
def test_errors_name_transformation_and_element(workers):
    dataset = Dataset.range(5).map(lambda x: 1 // (2 - x), num_parallel_calls=workers)
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero") as caught:
        list(dataset)
    assert "in Dataset.map, at element 2" in caught.value.__notes__


def test_threads_end_with_the_pass():
    before = threading.active_count()
    iterator = iter(Dataset.range(100).map(lambda x: x, num_parallel_calls=2).prefetch(1))
    next(iterator)
    del iterator
    for _ in range(200):
        if threading.active_count() <= before:
            break
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_slow_elements_are_read_ahead_and_errors_arrive():
    release = threading.Event()

    def slow():
        for i in range(8):
            if i < 4:
                release.wait(0.002)
            yield i
        raise OSError("disk gone")

    dataset = Dataset.from_generator(slow, tf.int64).prefetch(2)
    seen = []
    with pytest.raises(tf.errors.UnknownError, match="disk gone") as caught:
        seen.extend(int(x) for x in dataset)
    assert seen == list(range(8))
    assert isinstance(caught.value.__cause__, OSError)


def test_batches_of_strings():
    texts = [b"a", b"", "\u00e9".encode(), b"\0b"]
    dataset = tf.data.Dataset.from_generator(lambda: iter(texts), output_signature=tf.TensorSpec([], tf.string))
    first, second = dataset.batch(3)
    assert (first.dtype, first.shape, first.numpy().tolist()) == (tf.string, [3], texts[:3])
    assert second.numpy().tolist() == texts[3:]


def test_strings_of_different_shapes_are_no_batch():
    values = [b"a", [b"b"]]
    dataset = tf.data.Dataset.from_generator(lambda: iter(values), output_signature=tf.TensorSpec(None, tf.string))
    with pytest.raises(tf.errors.InvalidArgumentError, match="different shapes in component 0"):
        list(dataset.batch(2))
