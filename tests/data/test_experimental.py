"""tf.data.experimental: transformations, element types, random numbers, debugging."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.data.transform import tracing

Dataset = tf.data.Dataset
experimental = tf.data.experimental


def values(dataset):
    return [x.tolist() if hasattr(x, "tolist") else x for x in dataset.as_numpy_iterator()]


def test_random_numbers_are_tensorflows():
    tf.random.set_seed(3)
    assert values(Dataset.random(seed=4).take(4)) == [1995848961, 2377083460, 192503441, 2649255194]
    tf.random.set_seed(42)
    datasets = [Dataset.range(5), Dataset.range(10, 15)]
    assert values(Dataset.sample_from_datasets(datasets, seed=3)) == [0, 10, 11, 12, 13, 14, 1, 2, 3, 4]


def test_random_functions_begin_anew_with_each_iterator_but_not_with_each_pass():
    dataset = Dataset.range(3).map(lambda x: tf.random.uniform([], seed=5))
    first = values(dataset)
    assert values(dataset) == first
    assert len(set(first)) == 3
    assert len(set(values(dataset.repeat(2)))) == 6


def test_weights_may_be_a_dataset():
    weights = Dataset.from_tensors([1.0, 0.0]).repeat(3).concatenate(Dataset.from_tensors([0.0, 1.0]).repeat())
    dataset = Dataset.sample_from_datasets([Dataset.range(9), Dataset.range(20, 23)], weights)
    assert values(dataset.take(5)) == [0, 1, 2, 20, 21]


def test_group_by_reducer():
    mean = experimental.Reducer(
        lambda key: (np.float32(0), np.float32(0)),
        lambda state, x: (state[0] + tf.cast(x, tf.float32), state[1] + 1),
        lambda total, count: total / count,
    )
    dataset = Dataset.range(6).apply(experimental.group_by_reducer(lambda x: x % 2, mean))
    assert values(dataset) == [2.0, 3.0]


def test_rejection_resample():
    dataset = Dataset.from_tensor_slices([0, 0, 0, 1] * 500)
    for initial in (None, [0.75, 0.25]):
        kept = dataset.rejection_resample(lambda x: x, [0.5, 0.5], initial, seed=1)
        classes = [int(number) for number, _ in kept]
        # Two of three elements come from the dataset itself, until all of the rarer class were kept once more.
        assert 1300 < len(classes) < 1700
        assert 0.4 < np.mean(classes) < 0.6


def test_rejection_resample_warns(capfd):
    dataset = Dataset.from_tensor_slices([0, 0, 0, 0, 1] * 20)
    assert len(list(dataset.rejection_resample(lambda x: x, [0.5, 0.5], [0.75, 0.25], seed=1))) > 1
    lines = capfd.readouterr().err.splitlines()
    assert lines == ["Proportion of examples rejected by sampler is high: [0.75][0.75 0.25][0 1]"] * 10
    list(dataset.rejection_resample(lambda x: x, [0.5, 0.5], [0.4, 0.6], seed=1))
    assert len(capfd.readouterr().err.splitlines()) == 10
    list(dataset.rejection_resample(lambda x: x, [0.5, 0.3, 0.2], [0.4, 0.3, 0.3], seed=1))
    assert not capfd.readouterr().err


def test_errors_in_batches():
    bad = Dataset.range(6).map(lambda x: 6 // (x - 3))
    iterator = iter(bad.batch(2))
    assert next(iterator).numpy().tolist() == [-2, -3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    assert next(iterator).numpy().tolist() == [6, 3]
    assert values(bad.ignore_errors().batch(5)) == [[-2, -3, -6, 6, 3]]
    whole = iter(Dataset.range(6).apply(experimental.map_and_batch(lambda x: 6 // (x - 3), 2)))
    next(whole)
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(whole)
    assert next(whole).numpy().tolist() == [6, 3]


def test_assert_cardinality():
    dataset = Dataset.range(5).filter(lambda x: x > 0)
    assert len(dataset.apply(experimental.assert_cardinality(4))) == 4
    for wrong in (3, 5):
        with pytest.raises(tf.errors.FailedPreconditionError, match=f"expected to contain {wrong}"):
            values(dataset.apply(experimental.assert_cardinality(wrong)))


def test_pad_to_cardinality():
    dataset = Dataset.from_tensor_slices({"a": [1, 2]}).apply(experimental.pad_to_cardinality(3))
    assert [(int(x["a"]), bool(x["valid"])) for x in dataset] == [(1, True), (2, True), (0, False)]
    with pytest.raises(ValueError, match="less than the target"):
        Dataset.from_tensor_slices({"a": [1, 2]}).apply(experimental.pad_to_cardinality(1))


def test_elements_by_number():
    assert int(experimental.at(Dataset.range(10).map(lambda x: x * x), 3)) == 9
    with pytest.raises(tf.errors.OutOfRangeError):
        experimental.at(Dataset.range(3), 3)


@pytest.mark.parametrize("buffer_size", [3, 100])
@pytest.mark.parametrize(
    ("reshuffle", "order"), [(True, [8, 6, 3, 1, 5, 7, 4, 2]), (False, [6, 3, 5, 8, 2, 1, 4, 7])]
)
def test_shuffled_elements_by_number(buffer_size, reshuffle, order):
    tf.random.set_seed(87654321)
    dataset = Dataset.range(1, 9).shuffle(buffer_size, seed=5, reshuffle_each_iteration=reshuffle)
    for made in dataset, dataset.map(lambda x: x), dataset.filter(lambda x: x > 0).apply(
        experimental.assert_cardinality(8)
    ):
        assert [int(experimental.at(made, i)) for i in range(8)] == order
        assert sorted(int(x) for x in made) == sorted(order)


@pytest.mark.parametrize("change", ["repeat", "batch", "cache", "prefetch", "take", "concatenate", "enumerate"])
def test_shuffled_elements_are_each_found_once(change):
    dataset = Dataset.range(6).shuffle(6)
    made = {
        "repeat": lambda: dataset.repeat(2), "batch": lambda: dataset.batch(2), "cache": dataset.cache,
        "prefetch": lambda: dataset.prefetch(2), "take": lambda: dataset.take(6),
        "concatenate": lambda: dataset.concatenate(dataset),
        "enumerate": lambda: dataset.enumerate().map(lambda i, x: x),
    }[change]()  # fmt: skip
    found = np.array([experimental.at(made, i) for i in range(int(made.cardinality()))]).reshape(-1)
    np.testing.assert_array_equal(np.unique(found, return_counts=True)[1], found.size // 6)


def test_from_list():
    dataset = experimental.from_list([(1, [2.0]), (3, [4.0, 5.0])])
    assert dataset.element_spec[1].shape.as_list() == [None]
    assert [int(x) for x, _ in dataset] == [1, 3]
    with pytest.raises(ValueError, match="should not be empty"):
        experimental.from_list([])


def test_variants():
    dataset = experimental.from_variant(
        experimental.to_variant(Dataset.range(3)), tf.TensorSpec([], tf.int64)
    )
    assert values(dataset) == [0, 1, 2]


def test_ragged_sparse_and_nested_elements():
    rows = Dataset.range(1, 4).map(tf.range)
    batch = next(iter(rows.ragged_batch(3)))
    assert batch.to_list() == [[0], [0, 1], [0, 1, 2]]
    again = Dataset.from_tensors(batch).unbatch()
    assert [x.tolist() for x in again.as_numpy_iterator()] == [[0], [0, 1], [0, 1, 2]]
    assert next(iter(Dataset.from_tensors(batch).repeat(2).batch(2))).ragged_rank == 2
    sparse = next(iter(rows.sparse_batch(3, [4])))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 2, 0]]
    assert [tf.sparse.to_dense(x).numpy().tolist() for x in Dataset.from_tensors(sparse).unbatch()][2] == [
        0, 1, 2, 0,
    ]  # fmt: skip
    windows = Dataset.range(4).window(2).batch(2)
    assert [values(w) for w in windows.unbatch()] == [[0, 1], [2, 3]]
    assert values(Dataset.from_tensor_slices([Dataset.range(2), Dataset.range(1)]).flat_map(lambda d: d)) == [0, 1, 0]


def test_optionals_as_elements():
    dataset = Dataset.range(2).map(experimental.Optional.from_value)
    assert [int(x.get_value()) for x in dataset] == [0, 1]
    iterator = iter(Dataset.range(1))
    assert bool(experimental.get_next_as_optional(iterator).has_value())
    assert not experimental.get_next_as_optional(iterator).has_value()


def test_buckets():
    rows = Dataset.range(1, 6).map(tf.range)
    batches = rows.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])
    assert [b.shape.as_list() for b in batches] == [[2, 2], [2, 4], [1, 5]]
    padded = rows.bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2], pad_to_bucket_boundary=True
    )
    assert [b.shape.as_list() for b in padded] == [[2, 2], [2, 5], [1, 5]]


def test_debug_mode_runs_plain_python():
    seen = []

    def noted(x):
        seen.append(hasattr(x, "numpy"))
        return x + 1

    experimental.enable_debug_mode()
    try:
        assert values(Dataset.range(3).map(noted)) == [1, 2, 3]
    finally:
        tracing.set_debugging(False)
    assert seen == [False, True, True, True]
    seen.clear()
    assert values(Dataset.range(3).map(noted)) == [1, 2, 3]
    assert seen == [False]


def test_functions_are_converted_by_autograph():
    def clipped(x):
        if x > 2:
            x = x * 0
        for _ in tf.range(2):
            x += 1
        return x

    assert values(Dataset.range(5).map(clipped)) == [2, 3, 4, 2, 2]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (NotImplementedError, tf.errors.UnimplementedError),
        (MemoryError, tf.errors.ResourceExhaustedError),
        (KeyError, tf.errors.UnknownError),
        (StopIteration, tf.errors.InvalidArgumentError),
    ],
)
def test_errors_of_python_functions(error, expected):
    def fail(x):
        if x == 1:
            raise error("no")
        return x

    iterator = iter(Dataset.range(3).map(lambda x: tf.py_function(fail, [x], tf.int64)))
    assert int(next(iterator)) == 0
    with pytest.raises(expected, match=r"Dataset\.map, at element 1"):
        next(iterator)
    assert int(next(iterator)) == 2


def test_fingerprints():
    def make(n, k=2):
        return Dataset.from_tensor_slices(np.arange(n)).map(lambda x: x * k).batch(2)

    assert make(3).fingerprint() == make(3).fingerprint()
    different = {int(make(3).fingerprint()), int(make(4).fingerprint()), int(make(3, 5).fingerprint())}
    assert len(different) == 3

    def branching(k):
        return Dataset.range(3).map(lambda x: tf.cond(x > 1, lambda: x * k, lambda: x))

    assert branching(2).fingerprint() == branching(2).fingerprint()
    assert branching(2).fingerprint() != branching(3).fingerprint()


class Masked(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


def test_elements_of_a_programs_own_type():
    pair = Masked(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[True, False], [True, True]]))
    rows = Dataset.from_tensor_slices(pair).map(lambda m: Masked(m.values * 2, m.mask))
    assert [x.values.numpy().tolist() for x in rows] == [[2.0, 4.0], [6.0, 8.0]]
    batch = next(iter(rows.batch(2)))
    assert isinstance(batch, Masked)
    assert batch.mask.shape.as_list() == [2, 2]
    assert len(list(Dataset.from_tensors(pair).unbatch())) == 2
    iterator = iter(rows.repeat().shuffle(2))
    next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be saved"):
        iterator._save()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: experimental.parallel_interleave(Dataset.range, 2, buffer_output_elements=0), ValueError),
        (lambda: experimental.parallel_interleave(Dataset.range, 2, prefetch_input_elements=-1), ValueError),
        (lambda: experimental.parallel_interleave(Dataset.range, 2, buffer_output_elements="a"), TypeError),
        (lambda: experimental.prefetch_to_device("banana"), ValueError),
        (lambda: experimental.copy_to_device("banana"), ValueError),
        (lambda: tf.data.TextLineDataset("a", buffer_size=-1), ValueError),
        (lambda: tf.data.TFRecordDataset("a", buffer_size=-2), ValueError),
        (lambda: tf.data.FixedLengthRecordDataset("a", 1, buffer_size=-1), ValueError),
        (lambda: tf.data.TextLineDataset("a", buffer_size="x"), TypeError),
        (lambda: Dataset.range(3).map(abs, 2, synchronous=True), ValueError),
    ],
)
def test_hints_that_make_no_sense_are_errors(make, error):
    with pytest.raises((error, tf.errors.InvalidArgumentError) if error is ValueError else error):
        make()


def test_a_loaded_dataset_is_compressed_as_it_was_saved(tmp_path):
    path = str(tmp_path / "saved")
    Dataset.range(3).save(path, compression="GZIP")
    assert values(Dataset.load(path, compression="GZIP")) == values(Dataset.load(path)) == [0, 1, 2]
    with pytest.raises(tf.errors.DataLossError, match="'GZIP', not None"):
        Dataset.load(path, compression="NONE")
    with pytest.raises(tf.errors.InvalidArgumentError, match="'ZIP'"):
        Dataset.load(path, compression="ZIP")


def test_only_known_policies_and_hashes():
    with tf.Graph().as_default():
        iterator = tf.compat.v1.data.make_one_shot_iterator(Dataset.range(3))
        experimental.make_saveable_from_iterator(iterator, "warn")
        with pytest.raises(ValueError, match=r"'warn', 'ignore', and 'fail\.'"):
            experimental.make_saveable_from_iterator(iterator, "never")
    words = Dataset.from_tensor_slices(["a", "b"])
    with pytest.raises(TypeError, match="must be of type HasherSpec"):
        experimental.index_table_from_dataset(words, num_oov_buckets=1, hasher_spec="fast")
