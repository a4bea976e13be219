"""The data service: what readers get in each mode, and what happens when servers end."""

import gc
import time

import numpy as np
import pytest

import tapeflow as tf

service = tf.data.experimental.service
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def servers(ray):
    """A dispatcher and two workers."""
    dispatcher = service.DispatchServer(service.DispatcherConfig(worker_addresses=["localhost:%port%"] * 2))
    address = dispatcher.target.partition("://")[2]
    return dispatcher, [service.WorkerServer(service.WorkerConfig(address)) for _ in range(2)]


@pytest.fixture(scope="module")
def target(servers):
    return servers[0].target


def numbers(dataset):
    return [int(x) for x in dataset]


def test_target(servers):
    assert servers[0].target.startswith("grpc://localhost:")


def test_every_worker_makes_all_elements(target):
    made = tf.data.Dataset.range(10).apply(service.distribute("parallel_epochs", target))
    assert sorted(numbers(made)) == sorted([*range(10), *range(10)])


@pytest.mark.parametrize(
    "mode",
    ["distributed_epoch", *(service.ShardingPolicy[name] for name in ("DYNAMIC", "DATA", "FILE_OR_DATA"))],
)
def test_workers_share_the_elements(target, mode):
    made = tf.data.Dataset.range(50).map(lambda x: x * 3).apply(service.distribute(mode, target))
    for _ in range(2):  # passes are independent
        assert sorted(numbers(made)) == list(range(0, 150, 3))


def test_sources_are_shared_in_each_epoch(target):
    made = tf.data.Dataset.range(7).repeat(3).apply(service.distribute("distributed_epoch", target))
    assert sorted(numbers(made)) == sorted([*range(7)] * 3)


@pytest.fixture
def files(tmp_path):
    paths = []
    for i in range(4):
        paths.append(str(tmp_path / f"{i}.txt"))
        with open(paths[-1], "w") as file:
            file.writelines(f"{i}-{k}\n" for k in range(3))
    return paths


@pytest.mark.parametrize("policy", [service.ShardingPolicy.FILE, service.ShardingPolicy.FILE_OR_DATA])
@pytest.mark.parametrize("nested", [True, False])
def test_workers_share_the_files(target, files, policy, nested):
    if nested:
        data = tf.data.Dataset.from_tensor_slices(files).interleave(tf.data.TextLineDataset)
    else:
        data = tf.data.TextLineDataset(files)
    made = data.apply(service.distribute(policy, target))
    assert sorted(x.numpy().decode() for x in made) == [f"{i}-{k}" for i in range(4) for k in range(3)]


def test_no_files_to_share(target):
    made = tf.data.Dataset.range(3).apply(service.distribute(service.ShardingPolicy.FILE, target))
    with pytest.raises(tf.errors.NotFoundError, match="no files"):
        numbers(made)


def test_structures_strings_and_further_transformations(target):
    data = tf.data.Dataset.range(6).map(lambda x: {"n": (x, tf.cast(x, tf.bfloat16)), "a": tf.strings.as_string(x)})
    made = data.apply(service.distribute("distributed_epoch", target))
    assert made.element_spec == data.element_spec
    found = sorted((int(e["n"][0]), float(e["n"][1]), e["a"].numpy()) for e in made.prefetch(2))
    assert found == [(i, float(i), str(i).encode()) for i in range(6)]


def test_readers_of_one_job_share_a_pass(target):
    data = tf.data.Dataset.range(500)
    readers = [
        iter(data.map(lambda x: x + 1).apply(service.distribute("distributed_epoch", target, job_name="shared")))
        for _ in range(2)
    ]
    first = [int(next(r)) for r in readers]
    rest = [int(x) for r in readers for x in r]
    assert sorted(first + rest) == list(range(1, 501))


def test_one_job_has_one_dataset(target):
    iter(tf.data.Dataset.range(30).apply(service.distribute("parallel_epochs", target, job_name="one")))
    with pytest.raises(tf.errors.InvalidArgumentError, match="different parameters"):
        iter(tf.data.Dataset.range(31).apply(service.distribute("parallel_epochs", target, job_name="one")))


def test_readers_take_turns(target):
    data = tf.data.Dataset.range(1000).repeat()
    readers = [
        iter(data.apply(service.distribute(
            "parallel_epochs", target, job_name="turns", consumer_index=i, num_consumers=2)))
        for i in range(2)
    ]  # fmt: skip
    rounds = [[int(next(r)) for r in readers] for _ in range(4)]
    assert rounds == [[0, 1], [0, 1], [2, 3], [2, 3]]  # of one worker, then of the other


def test_turns_need_an_endless_dataset(target):
    data = tf.data.Dataset.range(2)
    reader = iter(data.apply(service.distribute(
        "parallel_epochs", target, job_name="short", consumer_index=0, num_consumers=1)))  # fmt: skip
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be infinite"):
        list(reader)


def test_registered_datasets(target):
    data = tf.data.Dataset.range(4).map(lambda x: x * x)
    number = service.register_dataset(target, data)
    assert number.dtype == tf.string
    assert service.register_dataset(target, data).numpy() == number.numpy()
    assert sorted(numbers(service.from_dataset_id("distributed_epoch", target, number))) == [0, 1, 4, 9]
    assert service.register_dataset(target, data, dataset_id="mine").numpy() == b"mine"
    made = service.from_dataset_id("distributed_epoch", target, "mine", data.element_spec)
    assert sorted(numbers(made)) == [0, 1, 4, 9]
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
        service.register_dataset(target, tf.data.Dataset.from_tensors("x"), dataset_id="mine")
    with pytest.raises(tf.errors.NotFoundError, match="absent"):
        service.from_dataset_id("parallel_epochs", target, "absent")


def test_errors_of_elements(target):
    data = tf.data.Dataset.from_tensor_slices([1.0, 2.0]).map(lambda x: tf.debugging.check_numerics(x / 0.0, "bad"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        list(data.apply(service.distribute("parallel_epochs", target)))


def test_python_stays_here(target):
    data = tf.data.Dataset.range(2).map(lambda x: tf.py_function(lambda y: y, [x], tf.int64))
    with pytest.raises(tf.errors.UnimplementedError, match="Python"):
        data.apply(service.distribute("parallel_epochs", target))


def test_padded_batches(target):
    data = tf.data.Dataset.range(1, 5).map(lambda x: (tf.fill([x], x), tf.strings.as_string(x)))
    padded = data.padded_batch(2, ([None], []), (np.int64(-1), "none"))
    made = padded.apply(service.distribute("parallel_epochs", target))
    assert made.element_spec == padded.element_spec
    assert sorted(x.numpy().tolist() for x, _ in made)[::2] == sorted(x.numpy().tolist() for x, _ in padded)


def test_tables_and_variables_stay_here(target):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    count = tf.Variable(1)
    for function in (table.lookup, lambda x: tf.strings.length(x) + count):
        with pytest.raises(tf.errors.UnimplementedError, match="a variable or a table"):
            tf.data.Dataset.from_tensors("a").map(function).apply(service.distribute("parallel_epochs", target))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("every",), "processing mode should be"),
        (("parallel_epochs", "localhost:1"), "protocol://address"),
        (("parallel_epochs", "grpc://localhost:1", 7), "must be a string"),
        (("parallel_epochs", "grpc://localhost:1", ""), "must not be empty"),
        (("parallel_epochs", "grpc://localhost:1", "j", 1), "Must either set both"),
        (("parallel_epochs", "grpc://localhost:1", "j", 2, 2), "less than num_consumers 2"),
        (("parallel_epochs", "grpc://localhost:1", "j", -1, 2), "at least 0"),
        (("parallel_epochs", "grpc://localhost:1", "j", None, None, 0), "max_outstanding_requests must be positive"),
    ],
)
def test_bad_arguments(target, arguments, message):
    mode, where, *rest = [*arguments, target][: max(2, len(arguments))]
    where = target if where.startswith("grpc") else where
    with pytest.raises(ValueError, match=message):
        tf.data.Dataset.range(1).apply(service.distribute(mode, where, *rest))


@pytest.mark.parametrize("most", [1, tf.data.AUTOTUNE])
def test_requests_under_way(target, most):
    data = tf.data.Dataset.range(40)
    made = data.apply(service.distribute("distributed_epoch", target, max_outstanding_requests=most))
    assert sorted(numbers(made)) == list(range(40))


def test_workers_end_passes_that_nobody_reads_on(ray):
    with service_of(1) as (dispatcher, workers):
        data = tf.data.Dataset.range(400).repeat().apply(service.distribute("parallel_epochs", dispatcher.target))
        reader = iter(data.take(100))
        next(reader)
        actor = workers[0]._actor
        assert ray.get(actor.held.remote()) == 1
        del reader
        gc.collect()
        end = time.monotonic() + 20
        while ray.get(actor.held.remote()) and time.monotonic() < end:
            time.sleep(0.05)
        assert ray.get(actor.held.remote()) == 0


def test_no_dispatcher(ray):
    with pytest.raises(tf.errors.UnavailableError, match="no dispatcher"):
        service.register_dataset("grpc://localhost:1", tf.data.Dataset.range(1))


def test_in_a_function(target):
    made = tf.data.Dataset.range(5).apply(service.distribute("distributed_epoch", target))

    @tf.function
    def total():
        found = tf.constant(0, tf.int64)
        for x in made:
            found += x
        return found

    assert total().numpy() == 10


def test_large_elements(target):
    data = tf.data.Dataset.from_tensors(np.ones([64, 1000], np.float32)).repeat(40)
    made = data.apply(service.distribute("distributed_epoch", target))
    assert sum(float(tf.reduce_sum(x)) for x in made.take(5)) == 5 * 64000


def test_workers_come_and_go(ray):
    with service_of(1) as (dispatcher, workers):
        data = tf.data.Dataset.range(400).repeat()
        reader = iter(data.apply(service.distribute("parallel_epochs", dispatcher.target)))
        next(reader)
        address = dispatcher.target.partition("://")[2]
        workers.append(service.WorkerServer(service.WorkerConfig(address)))
        workers.pop(0).stop()
        assert len([next(reader) for _ in range(200)]) == 200


class service_of:
    """A dispatcher and some workers for a block."""

    def __init__(self, count):
        self._dispatcher = service.DispatchServer()
        address = self._dispatcher.target.partition("://")[2]
        self._workers = [service.WorkerServer(service.WorkerConfig(address)) for _ in range(count)]

    def __enter__(self):
        return self._dispatcher, self._workers

    def __exit__(self, *_):
        for server in [*self._workers, self._dispatcher]:
            server.stop()


def test_a_stopped_dispatcher_is_gone(ray):
    with service_of(1) as (dispatcher, _):
        target = dispatcher.target
    with pytest.raises(tf.errors.UnavailableError):
        service.register_dataset(target, tf.data.Dataset.range(1))
