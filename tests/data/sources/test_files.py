"""Datasets of files, and datasets kept in files."""

import gzip
import os
import sqlite3
import zlib

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
experimental = tf.data.experimental


def values(dataset):
    return [x.tolist() if hasattr(x, "tolist") else x for x in dataset.as_numpy_iterator()]


def write(path, data):
    path.write_bytes(data)
    return str(path)


# CSV


def test_records_of_csv_files(tmp_path):
    path = write(tmp_path / "a.csv", b'x,y\n1,"a ""b""\r\nc"\r\n,z\n3,')
    dataset = experimental.CsvDataset(path, [[7], tf.string], header=True)
    found = []
    iterator = iter(dataset)
    found = [tuple(part.numpy() for part in next(iterator)) for _ in range(2)]
    assert found == [(1, b'a "b"\r\nc'), (7, b"z")]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 1 is required but missing"):
        next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1,2,3", "Expect 2 fields but have more in record"),
        (b"1", "Expect 2 fields but have 1 in record"),
        (b"x,2", "Field 0 in record is not a valid int32: x"),
        (b'"1"2,2', "Quote inside a string has to be escaped"),
        (b'1",2', "Unquoted fields cannot have quotes inside"),
        (b'"1,2', "without closing quoted field"),
        (b"99999999999,2", "not a valid int32"),
    ],
)
def test_bad_csv_records_are_named_and_passed_by(tmp_path, line, message):
    path = write(tmp_path / "a.csv", line + b"\n5,6\n")
    iterator = iter(experimental.CsvDataset(path, [tf.int32, tf.int32]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        next(iterator)
    if line != b'"1,2':
        assert [int(x) for x in next(iterator)] == [5, 6]


def test_selected_columns_and_compression(tmp_path):
    text = b"1:2:3\n4:NA:6\n"
    for kind, data in {"GZIP": gzip.compress(text), "ZLIB": zlib.compress(text), "": text}.items():
        path = write(tmp_path / f"a{kind}", data)
        dataset = experimental.CsvDataset(
            path, [[0.5], tf.int64], kind, field_delim=":", na_value="NA", select_cols=[1, 2]
        )
        assert [[x.numpy() for x in row] for row in dataset] == [[2.0, 3], [0.5, 6]]
        rest = experimental.CsvDataset(path, [tf.int64], kind, field_delim=":", exclude_cols=[1, 2])
        assert [int(row[0]) for row in rest] == [1, 4]


def test_make_csv_dataset_finds_names_and_types(tmp_path):
    path = write(tmp_path / "a.csv", b"n,big,x,word\n1,5000000000,2.5,hi\n2,1,3,ho\n")
    dataset = experimental.make_csv_dataset(
        path, 2, label_name="x", num_epochs=1, shuffle=False, select_columns=["n", "big", "x", "word"]
    )
    features, label = next(iter(dataset))
    assert [features[k].dtype.name for k in ("n", "big", "word")] == ["int32", "int64", "string"]
    assert label.numpy().tolist() == [2.5, 3.0]
    with pytest.raises(ValueError, match="must be one of the columns"):
        experimental.make_csv_dataset(path, 2, label_name="z")
    with pytest.raises(ValueError, match="No files match"):
        experimental.make_csv_dataset(str(tmp_path / "none*"), 2)


# Databases


def test_rows_of_a_query(tmp_path):
    path = str(tmp_path / "base")
    with sqlite3.connect(path) as connection:
        connection.execute("create table t(a int, b text, c real)")
        connection.executemany("insert into t values (?, ?, ?)", [(1, "x", 2.5), (None, None, 3.0)])
    dataset = experimental.SqlDataset(
        "sqlite", path, "select a, b, c from t", (tf.int32, tf.string, tf.float64)
    )
    assert [tuple(x.numpy() for x in row) for row in dataset] == [(1, b"x", 2.5), (0, b"", 3.0)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="number of columns"):
        list(experimental.SqlDataset("sqlite", path, "select a from t", (tf.int32, tf.int32)))
    with pytest.raises(tf.errors.UnknownError, match="no such table"):
        list(experimental.SqlDataset("sqlite", path, "select a from u", (tf.int32,)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not supported"):
        experimental.SqlDataset("mysql", path, "", (tf.int32,))


# Lines and records


def test_lines_of_compressed_files(tmp_path):
    text = b"one\r\ntwo\n\nfour"
    expected = [b"one", b"two", b"", b"four"]
    joined = gzip.compress(text[:7]) + gzip.compress(text[7:])  # a file of two members
    for kind, data in {None: text, "GZIP": joined, "ZLIB": zlib.compress(text)}.items():
        path = write(tmp_path / f"t{kind}", data)
        assert values(tf.data.TextLineDataset([path], kind)) == expected
    with pytest.raises(tf.errors.DataLossError, match="ends too early"):
        values(tf.data.TextLineDataset(write(tmp_path / "cut", zlib.compress(text)[:-3]), "ZLIB"))
    with pytest.raises(tf.errors.NotFoundError):
        values(tf.data.TextLineDataset(str(tmp_path / "nothing")))


def test_several_files_at_once(tmp_path):
    paths = [write(tmp_path / str(i), b"%da\n%db\n" % (i, i)) for i in range(3)]
    dataset = tf.data.TextLineDataset(paths, num_parallel_reads=2)
    assert values(dataset) == [b"0a", b"1a", b"0b", b"1b", b"2a", b"2b"]


def test_records_that_are_damaged_or_cut_off(tmp_path):
    path = str(tmp_path / "records")
    experimental.TFRecordWriter(path).write(Dataset.from_tensor_slices(["first", "second", "third"]))
    data = (tmp_path / "records").read_bytes()
    assert values(tf.data.TFRecordDataset(path)) == [b"first", b"second", b"third"]
    flipped = bytearray(data)
    flipped[21 + 14] ^= 1
    for bad, message in ((bytes(flipped), "corrupted record at 21"), (data[:-2], "truncated record at 43")):
        dataset = tf.data.TFRecordDataset(write(tmp_path / "bad", bad))
        with pytest.raises(tf.errors.DataLossError, match=message):
            values(dataset)
        assert values(dataset.ignore_errors())[0] == b"first"
    huge = (2**62).to_bytes(8, "little")
    from tapeflow.core.files.crc32c import masked_crc32c

    head = huge + masked_crc32c(huge).to_bytes(4, "little")
    with pytest.raises(tf.errors.DataLossError, match="truncated record at 0"):
        values(tf.data.TFRecordDataset(write(tmp_path / "bad", head + b"x" * 100)))


def test_fixed_length_records(tmp_path):
    path = write(tmp_path / "f", b"HEADaabbccF")
    dataset = tf.data.FixedLengthRecordDataset(path, 2, header_bytes=4, footer_bytes=1)
    assert values(dataset) == [b"aa", b"bb", b"cc"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="body length 7 bytes"):
        values(tf.data.FixedLengthRecordDataset(path, 2, header_bytes=4))


def test_list_files(tmp_path):
    for name in "abc":
        write(tmp_path / f"{name}.txt", b"")
    pattern = str(tmp_path / "*.txt")
    assert [os.path.basename(x) for x in values(Dataset.list_files(pattern, shuffle=False))] == [
        b"a.txt", b"b.txt", b"c.txt",
    ]  # fmt: skip
    assert sorted(values(Dataset.list_files(pattern))) == values(Dataset.list_files(pattern, False))
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched"):
        Dataset.list_files(str(tmp_path / "*.nothing"))


def test_batches_of_examples(tmp_path):
    def example(i):
        features = tf.train.Features(
            feature={
                "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                "y": tf.train.Feature(float_list=tf.train.FloatList(value=[i / 2])),
            }
        )
        return tf.train.Example(features=features).SerializeToString()

    path = str(tmp_path / "examples")
    with tf.io.TFRecordWriter(path) as file:
        for i in range(5):
            file.write(example(i))
    features = {
        "x": tf.io.FixedLenFeature([], tf.int64),
        "y": tf.io.FixedLenFeature([], tf.float32),
    }
    dataset = experimental.make_batched_features_dataset(
        path, 2, features, label_key="y", num_epochs=1, shuffle=False
    )
    found = [(batch["x"].numpy().tolist(), label.numpy().tolist()) for batch, label in dataset]
    assert found == [([0, 1], [0.0, 0.5]), ([2, 3], [1.0, 1.5]), ([4], [2.0])]
    with pytest.raises(TypeError, match="vectors of strings"):
        Dataset.range(3).apply(experimental.parse_example_dataset(features))


# Kept in files


def test_cache_in_files(tmp_path):
    runs = []

    def noted(x):
        runs.append(int(x))
        return x

    prefix = str(tmp_path / "cache")

    def make():
        return Dataset.range(3).map(lambda x: tf.py_function(noted, [x], tf.int64)).cache(prefix)

    dataset = make()
    part = iter(dataset)
    next(part)
    with pytest.raises(tf.errors.AlreadyExistsError, match="concurrent caching iterator"):
        values(dataset)
    del part
    assert os.listdir(tmp_path) == []
    assert values(dataset) == values(dataset) == values(make()) == [0, 1, 2]
    assert runs == [0, 0, 1, 2]
    assert sorted(os.listdir(tmp_path)) == ["cache.data-00000-of-00001", "cache.index"]
    data = tmp_path / "cache.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-5])
    with pytest.raises(tf.errors.DataLossError):
        values(dataset)


def test_save_and_load(tmp_path):
    path = str(tmp_path / "saved")
    dataset = Dataset.range(6).map(lambda x: {"a": x, "b": tf.range(x)})
    dataset.save(path, shard_func=lambda features: features["a"] % 2, compression="GZIP")
    loaded = Dataset.load(path)
    assert loaded.element_spec == dataset.element_spec
    assert len(loaded) == 6
    assert [x["b"].tolist() for x in loaded.as_numpy_iterator()] == [list(range(i)) for i in range(6)]
    in_turn = Dataset.load(path, reader_func=lambda shards: shards.flat_map(lambda shard: shard))
    assert [int(x["a"]) for x in in_turn] == [0, 2, 4, 1, 3, 5]
    with pytest.raises(tf.errors.NotFoundError, match="element_spec file not found"):
        Dataset.load(str(tmp_path / "nothing"))


def test_a_failed_save_leaves_the_last_one(tmp_path):
    path = str(tmp_path / "saved")
    Dataset.range(3).save(path)
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(3).map(lambda x: x // (x - 2)).save(path)
    assert values(Dataset.load(path)) == [0, 1, 2]


def test_snapshot(tmp_path):
    runs = []

    def noted(x):
        runs.append(1)
        return x

    def make():
        made = Dataset.range(4).map(lambda x: tf.py_function(noted, [x], tf.int64))
        return made.snapshot(str(tmp_path / "snapshot"))

    part = iter(make())
    next(part)
    del part
    assert values(make()) == values(make()) == [0, 1, 2, 3]
    assert len(runs) == 5


def test_tables_of_datasets():
    table = experimental.index_table_from_dataset(Dataset.from_tensor_slices(["a", "b"]), num_oov_buckets=1)
    assert table.lookup(tf.constant(["b", "z", "a"])).numpy().tolist() == [1, 2, 0]
    pairs = Dataset.from_tensor_slices((["a", "b"], np.array([5, 6])))
    table = experimental.table_from_dataset(pairs, default_value=-3)
    assert table.lookup(tf.constant(["b", "z"])).numpy().tolist() == [6, -3]
    with pytest.raises(ValueError, match="exactly two scalar components"):
        experimental.DatasetInitializer(Dataset.range(3))


def test_defaults_of_csv_columns_are_numbers_or_vectors():
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most rank 1"):
        tf.data.experimental.CsvDataset("none.csv", [[[1]]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Either select_cols or exclude_cols should be empty"):
        tf.data.experimental.CsvDataset("none.csv", [1], select_cols=[0], exclude_cols=[1])


def test_scan_functions_give_pairs():
    with pytest.raises(TypeError, match="`scan_func` should return a pair consisting of new state"):
        tf.data.Dataset.range(3).scan(0, lambda state, x: state)
