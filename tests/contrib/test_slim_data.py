"""slim's data sets: decoders of examples, readers of files, queues; summaries of tensors."""

import contextlib

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import slim

d = slim.tfexample_decoder


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def example(**features):
    made = tf.train.Example()
    for name, values in features.items():
        values = np.asarray(values).reshape(-1).tolist()
        feature = made.features.feature[name.replace("__", "/")]
        if isinstance(values[0], bytes):
            feature.bytes_list.value.extend(values)
        elif isinstance(values[0], float):
            feature.float_list.value.extend(values)
        else:
            feature.int64_list.value.extend(values)
    return made.SerializeToString()


def run(fetch):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(fetch)


VAR = tf.VarLenFeature
FIXED = tf.FixedLenFeature
# (features of the example, how they are parsed, the handler, the item)
DECODED = {
    "dense": ({"x": [[1.5, 2.0], [3.0, 4.0]]}, {"x": FIXED([2, 2], tf.float32)}, d.Tensor("x"), [[1.5, 2], [3, 4]]),
    "shape": ({"x": [1, 2, 3, 4]}, {"x": VAR(tf.int64)}, d.Tensor("x", shape=[2, 2]), [[1, 2], [3, 4]]),
    "shape of a feature": (
        {"x": [1, 2, 3, 4], "s": [2, 2]}, {"x": VAR(tf.int64), "s": VAR(tf.int64)}, d.Tensor("x", "s"),
        [[1, 2], [3, 4]],
    ),
    "shape of features": (
        {"x": [1, 2, 3, 4], "h": [1], "w": [4]},
        {"x": FIXED([4], tf.int64), "h": FIXED([1], tf.int64), "w": FIXED([1], tf.int64)}, d.Tensor("x", ["h", "w"]),
        [[1, 2, 3, 4]],
    ),
    "boxes": (
        {f"b/{k}": [i, i + 0.5] for i, k in enumerate(["ymin", "xmin", "ymax", "xmax"])},
        {f"b/{k}": VAR(tf.float32) for k in ["ymin", "xmin", "ymax", "xmax"]}, d.BoundingBox(prefix="b/"),
        [[0, 1, 2, 3], [0.5, 1.5, 2.5, 3.5]],
    ),
    "sparse": (
        {"indices": [1, 3], "values": [0.5, 2.5]}, {"indices": VAR(tf.int64), "values": VAR(tf.float32)},
        d.SparseTensor(shape=[5], densify=True), [0, 0.5, 0, 2.5, 0],
    ),
    "callback": (
        {"x": [1, 2], "y": [3, 4]}, {"x": VAR(tf.int64), "y": VAR(tf.int64)},
        d.ItemHandlerCallback(["x", "y"], lambda f: f["x"].values * f["y"].values), [3, 8],
    ),
    "backup": (
        {"y": [7]}, {"x": VAR(tf.int64), "y": VAR(tf.int64)}, d.BackupHandler(d.Tensor("x"), d.Tensor("y")), [7],
    ),
    "no backup": (
        {"x": [5], "y": [7]}, {"x": VAR(tf.int64), "y": VAR(tf.int64)}, d.BackupHandler(d.Tensor("x"), d.Tensor("y")),
        [5],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DECODED)
def test_items(name):
    features, parsed, handler, want = DECODED[name]
    decoder = d.TFExampleDecoder(parsed, {"item": handler, "again": handler})
    assert decoder.list_items() == ["item", "again"]
    (got,) = run(decoder.decode(example(**features), ["item"]))
    np.testing.assert_array_equal(got, want)
    assert len(decoder.decode(example(**features))) == 2


def test_words_are_looked_up():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([b"a", b"b"], [10, 20]), -1)
    decoder = d.TFExampleDecoder({"x": VAR(tf.string)}, {"item": d.LookupTensor("x", table)})
    np.testing.assert_array_equal(run(decoder.decode(example(x=[b"b", b"c"])))[0], [20, -1])


@pytest.mark.parametrize("kind", ["jpeg", "png", "raw"])
@pytest.mark.parametrize("repeated", [False, True])
def test_images(kind, repeated):
    image = np.random.default_rng(0).integers(0, 255, (4, 6, 3)).astype(np.uint8)
    encoders = {"jpeg": tf.io.encode_jpeg, "png": tf.io.encode_png, "raw": lambda x: tf.constant(image.tobytes())}
    encoded = run(encoders[kind](image))
    want = image if kind == "raw" else run(tf.io.decode_image(encoded))
    handler = d.Image(shape=[4, 6, 3], repeated=repeated)
    parsed = {
        "image/encoded": VAR(tf.string) if repeated else FIXED((), tf.string),
        "image/format": FIXED((), tf.string),
    }
    given = {"image__encoded": [encoded] * 2 if repeated else [encoded], "image__format": [kind.encode()]}
    (got,) = run(d.TFExampleDecoder(parsed, {"item": handler}).decode(example(**given)))
    np.testing.assert_array_equal(got, np.stack([want] * 2) if repeated else want)


@pytest.fixture
def files(tmp_path):
    for i in range(2):
        with tf.io.TFRecordWriter(str(tmp_path / f"data-{i}")) as writer:
            for j in range(3):
                writer.write(example(x=[10 * i + j]))
    return str(tmp_path / "data-*")


def all_of(fetch):
    found = []
    with tf.Session() as session:
        session.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
        with slim.queues.QueueRunners(session), contextlib.suppress(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(fetch))
    return found


def test_one_pass(files):
    found = all_of(slim.parallel_reader.single_pass_read(files, tf.TFRecordReader)[1])
    assert [tf.train.Example.FromString(f).features.feature["x"].int64_list.value[0] for f in found] == [
        0, 1, 2, 10, 11, 12,
    ]  # fmt: skip


@pytest.mark.parametrize("shuffle", [True, False])
def test_data_sets(files, shuffle):
    decoder = d.TFExampleDecoder({"x": FIXED([], tf.int64)}, {"number": d.Tensor("x")})
    data = slim.dataset.Dataset([files], tf.TFRecordReader, decoder, 6, {"number": "a number"}, classes=3)
    assert data.classes == 3
    provider = slim.dataset_data_provider.DatasetDataProvider(
        data, num_readers=2, shuffle=shuffle, num_epochs=2, common_queue_capacity=8, common_queue_min=2
    )
    assert set(provider.list_items()) == {"number", "record_key"}
    assert provider.num_samples() == 6
    with pytest.raises(ValueError, match="is invalid"):
        provider.get(["other"])
    found = all_of(provider.get(["number", "record_key"]))
    assert sorted(number for number, _ in found) == sorted([0, 1, 2, 10, 11, 12] * 2)
    assert all(b"data-" in key for _, key in found)


def test_no_files():
    with pytest.raises(ValueError, match="No data files"):
        slim.parallel_reader.get_data_files("/no/such/path-*")


@pytest.mark.parametrize("pad", [False, True])
def test_prefetched(pad):
    number = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    parts = {"number": number, "copies": tf.fill([number], number) if pad else number * 2}
    queue = slim.prefetch_queue.prefetch_queue(parts, capacity=2, dynamic_pad=pad)
    found = all_of(queue.dequeue())
    assert [f["number"] for f in found] == list(range(5))
    assert found[4]["copies"].tolist() == ([4] * 4 if pad else 8)


def test_queue_runners_do_not_nest():
    nested = pytest.raises(slim.queues.NestedQueueRunnerError)
    with tf.Session() as session, slim.queues.QueueRunners(session), nested, slim.queues.QueueRunners(session):
        pass


@pytest.mark.parametrize("printed", [False, True])
def test_summaries(printed, capfd):
    x = tf.constant([0.0, 2.0], name="x")
    slim.summaries.add_zero_fraction_summary(x, prefix="in", print_summary=printed)
    slim.summaries.add_scalar_summaries([tf.reduce_max(x, name="most")], print_summary=printed)
    slim.summaries.add_histogram_summary(x, "h")
    assert len(tf.get_collection("summaries")) == 3
    found = tf.Summary.FromString(run(tf.summary.merge_all()))
    values = {value.tag: value for value in found.value}
    assert values["in/x/Fraction_of_Zero_Values"].simple_value == 0.5
    assert values["most_1"].simple_value == 2
    assert values["h"].histo.num == 2
    assert ("in/x/Fraction_of_Zero_Values" in capfd.readouterr().err) == printed
