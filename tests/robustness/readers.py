"""The readers of files and of bytes: what writes a good one, what reads it, and which of its files are damaged."""

import contextlib
import gzip
import io
import os
import pickle
import sqlite3
import tarfile
import zlib

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError
from PIL import Image

import tapeflow as tf
from tapeflow import protos, safetensors
from tapeflow.keras.datasets import cifar
from tapeflow.keras.preprocessing import image as keras_image
from tapeflow.serving import warm_up

NUMBERS = np.arange(20, dtype=np.float32).reshape(4, 5)
PICTURE = np.random.default_rng(1).integers(0, 256, [6, 5, 3], np.uint8)


def content(make):
    return lambda path: path.write_bytes(make())


def _records(kind):
    def write(path):
        with tf.io.TFRecordWriter(str(path), kind) as writer:
            for i in range(20):
                writer.write(b"record %d" % i)

    return write


def _checkpoint(path):
    tf.train.Checkpoint(v=tf.Variable(NUMBERS), w=tf.Variable(["a", "b"])).write(str(path))


def _events(path):
    writer = tf.summary.create_file_writer(str(path.parent / "logs"))
    with writer.as_default():
        for step in range(5):
            tf.summary.scalar("x", 1.0, step=step)
    writer.close()
    (path.parent / "logs" / os.listdir(path.parent / "logs")[0]).rename(path)


def _picture(kind):
    content = io.BytesIO()
    Image.fromarray(PICTURE).save(content, kind)
    return content.getvalue()


def _npz():
    content = io.BytesIO()
    np.savez_compressed(content, x_train=NUMBERS, y_train=NUMBERS, x_test=NUMBERS, y_test=NUMBERS)
    return content.getvalue()


def _csv():
    return b'a,b\n1,"x, y"\n2.5,z\n'


def _cached(path):
    list(tf.data.Dataset.range(50).cache(str(path)))


def _graph_def():
    with tf.Graph().as_default() as graph:
        tf.matmul(tf.constant(NUMBERS), tf.constant(NUMBERS), transpose_b=True)
    return graph.as_graph_def().SerializeToString()


def _import(path):
    try:
        message = tf.compat.v1.GraphDef.FromString(path.read_bytes())
    except DecodeError:
        return
    with tf.Graph().as_default():
        tf.graph_util.import_graph_def(message)


def _example():
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1, 2, 3]))
    return tf.train.Example(features=tf.train.Features(feature={"a": feature})).SerializeToString()


def _decoded(decode):
    return lambda path: decode(tf.io.read_file(str(path)))


def _table(path):
    table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        str(path), tf.string, 0, tf.int64, 1, delimiter=" "), -1)  # fmt: skip
    return table.size()


def _columns(path):
    return list(tf.data.experimental.make_csv_dataset(str(path), 1, num_epochs=1, shuffle=False))


def dense():
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])


def _h5(path):
    dense().save(path)


def _weights(path):
    dense().save_weights(f"{path}.weights.h5")


def _read_weights(path):
    dense().load_weights(f"{path}.weights.h5")


def _database(path):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT, c REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(i, f"row {i}", i / 2) for i in range(50)])


def _rows(path):
    types = (tf.int32, tf.string, tf.float64)
    return list(tf.data.experimental.SqlDataset("sqlite", str(path), "SELECT a, b, c FROM t", types))


def _sequence():
    steps = [tf.train.Feature(int64_list=tf.train.Int64List(value=[i])) for i in range(4)]
    lists = tf.train.FeatureLists(feature_list={"s": tf.train.FeatureList(feature=steps)})
    return tf.train.SequenceExample(feature_lists=lists).SerializeToString()


def _animation():
    content = io.BytesIO()
    frames = [Image.fromarray(np.roll(PICTURE, i, 0)) for i in range(3)]
    frames[0].save(content, "GIF", save_all=True, append_images=frames[1:])
    return content.getvalue()


def _model(path):
    module = tf.Module()
    module.v = tf.Variable(NUMBERS)
    module.f = tf.function(lambda x: x + module.v, input_signature=[tf.TensorSpec([4, 5])])
    tf.saved_model.save(module, str(path.parent))


def _saved_text(path):
    _model(path)
    message = protos.SavedModel.FromString((path.parent / "saved_model.pb").read_bytes())
    (path.parent / "saved_model.pb").unlink()
    (path.parent / "file.pbtxt").write_text(text_format.MessageToString(message))


def _read_saved_text(path):
    (path.parent / "saved_model.pbtxt").write_bytes((path.parent / "file.pbtxt").read_bytes())
    return tf.saved_model.load(str(path.parent))


def _fingerprint(path):
    _model(path)
    os.replace(path.parent / "fingerprint.pb", path.parent / "file")


def _read_fingerprint(path):
    (path.parent / "fingerprint.pb").write_bytes(path.read_bytes())
    return tf.saved_model.experimental.read_fingerprint(str(path.parent))


def _meta_graph(path):
    with tf.Graph().as_default():
        v = tf.compat.v1.get_variable("v", initializer=NUMBERS)
        tf.compat.v1.add_to_collection("found", tf.matmul(v, v, transpose_b=True))
        tf.compat.v1.train.export_meta_graph(f"{path}.meta")


def _read_meta_graph(path):
    with tf.Graph().as_default():
        tf.compat.v1.train.import_meta_graph(f"{path}.meta")


def _state(path):
    tf.compat.v1.train.update_checkpoint_state(str(path.parent), str(path.parent / "a"), latest_filename=path.name)


def _cifar(path):
    batch = {b"data": np.zeros([2, 3072], np.uint8), b"labels": [1, 2]}
    with tarfile.open(path, "w:gz") as tar:
        member, content = tarfile.TarInfo("x/batch"), pickle.dumps(batch)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))


class _Asked(Exception):
    """A stored request was read and came this far."""


class _NoModel:
    """A version whose folder has stored requests, which ends with the first."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def signature(self, key):
        raise _Asked


def _requests(path):
    log = getattr(protos, "serving.PredictionLog")()
    log.predict_log.request.model_spec.name = "m"
    log.predict_log.request.inputs["x"].CopyFrom(tf.make_tensor_proto(NUMBERS))
    with tf.io.TFRecordWriter(str(path)) as writer:
        for _ in range(3):
            writer.write(log.SerializeToString())


def _warm(path):
    folder = path.parent / "assets.extra"
    folder.mkdir(exist_ok=True)
    (folder / "tf_serving_warmup_requests").write_bytes(path.read_bytes())
    with contextlib.suppress(_Asked):
        warm_up.warm_up(_NoModel(path.parent))


def _parts(folder):
    """The files of a saved dataset, by the endings under which they are damaged."""
    return {
        "": next(folder.glob("*/*.shard/*.snapshot")), ".spec": folder / "dataset_spec.pb",
        ".metadata": folder / "snapshot.metadata",
    }  # fmt: skip


def _save_dataset(path):
    folder = path.parent / "saved"
    words = [str(x) for x in NUMBERS.ravel()[: len(NUMBERS)]]
    tf.data.Dataset.from_tensor_slices({"a": NUMBERS, "b": words}).save(str(folder))
    for ending, file in _parts(folder).items():
        path.with_name(path.name + ending).write_bytes(file.read_bytes())


def _load_dataset(path):
    folder = path.parent / "saved"
    for ending, file in _parts(folder).items():
        file.write_bytes(path.with_name(path.name + ending).read_bytes())
    return list(tf.data.Dataset.load(str(folder)))


# name: (what writes a good file, what reads it, the endings of the files that are damaged).
READERS = {
    "records": (_records(""), lambda p: list(tf.data.TFRecordDataset(str(p))), [""]),
    "gzip records": (_records("GZIP"), lambda p: list(tf.data.TFRecordDataset(str(p), "GZIP")), [""]),
    "zlib records": (_records("ZLIB"), lambda p: list(tf.data.TFRecordDataset(str(p), "ZLIB")), [""]),
    "lines": (content(lambda: gzip.compress(b"a\nb\n" * 9)),
              lambda p: list(tf.data.TextLineDataset(str(p), "GZIP")), [""]),
    "blocks": (content(lambda: gzip.compress(bytes(50))),
               lambda p: list(tf.data.FixedLengthRecordDataset(str(p), 5, compression_type="GZIP")), [""]),
    "csv": (content(_csv), lambda p: list(tf.data.experimental.CsvDataset(
        str(p), [tf.string, tf.string], header=True)), [""]),
    "csv columns": (content(_csv), _columns, [""]),
    "checkpoint": (_checkpoint, lambda p: [tf.train.load_checkpoint(str(p)).get_tensor(name) for name, _ in
                                           tf.train.list_variables(str(p))], [".index", ".data-00000-of-00001"]),
    "events": (_events, lambda p: list(tf.compat.v1.train.summary_iterator(str(p))), [""]),
    "safetensors": (lambda p: safetensors.save_file({"a": tf.constant(NUMBERS)}, str(p)),
                    lambda p: safetensors.load_file(str(p)), [""]),
    "npz": (content(_npz), lambda p: tf.keras.datasets.mnist.load_data(str(p)), [""]),
    "graph": (content(_graph_def), _import, [""]),
    "cache": (_cached, lambda p: list(tf.data.Dataset.range(50).cache(str(p))), [".index", ".data-00000-of-00001"]),
    "saved dataset": (_save_dataset, _load_dataset, ["", ".spec", ".metadata"]),
    "vocabulary": (content(lambda: b"one 1\ntwo 2\nthree 3\n"), _table, [""]),
    "example": (content(_example), _decoded(lambda x: tf.io.parse_single_example(
        x, {"a": tf.io.FixedLenFeature([3], tf.float32)})), [""]),
    "tensor": (content(lambda: tf.io.serialize_tensor(NUMBERS).numpy()),
               _decoded(lambda x: tf.io.parse_tensor(x, tf.float32)), [""]),
    "png": (content(lambda: tf.io.encode_png(PICTURE).numpy()), _decoded(tf.io.decode_image), [""]),
    "png of 16 bits": (content(lambda: tf.io.encode_png(PICTURE.astype(np.uint16)).numpy()),
                       _decoded(lambda x: tf.io.decode_png(x, dtype=tf.uint16)), [""]),
    "jpeg": (content(lambda: tf.io.encode_jpeg(PICTURE).numpy()), _decoded(tf.io.decode_jpeg), [""]),
    "gif": (content(lambda: _picture("GIF")), _decoded(tf.io.decode_gif), [""]),
    "bmp": (content(lambda: _picture("BMP")), _decoded(tf.io.decode_bmp), [""]),
    "image file": (content(lambda: _picture("PNG")), lambda p: keras_image.load_img(str(p)), [""]),
    "wav": (content(lambda: tf.audio.encode_wav(np.zeros([50, 1], np.float32), 8000).numpy()),
            _decoded(tf.audio.decode_wav), [""]),
    "gzip string": (content(lambda: gzip.compress(bytes(100))),
                    _decoded(lambda x: tf.io.decode_compressed(x, "GZIP")), [""]),
    "webp": (content(lambda: _picture("WEBP")), _decoded(tf.image.decode_webp), [""]),
    "animation": (content(_animation), _decoded(tf.io.decode_image), [""]),
    "jpeg's head": (content(lambda: tf.io.encode_jpeg(PICTURE).numpy()), _decoded(tf.image.extract_jpeg_shape), [""]),
    "rows of csv": (content(lambda: b'1,"x, y",2.5'), _decoded(lambda x: tf.io.decode_csv(x, [0, "", 0.0])), [""]),
    "database": (_database, _rows, [""]),
    "sequence": (content(_sequence), _decoded(lambda x: tf.io.parse_single_sequence_example(
        x, sequence_features={"s": tf.io.FixedLenSequenceFeature([], tf.int64)})), [""]),
    "examples": (content(_example), _decoded(lambda x: tf.io.parse_example(
        [x, x], {"a": tf.io.VarLenFeature(tf.float32), "b": tf.io.RaggedFeature(tf.int64)})), [""]),
    "json example": (content(lambda: b'{"features": {"feature": {"a": {"floatList": {"value": [1, 2.5]}},'
                             b' "b": {"bytesList": {"value": ["YQ=="]}}}}}'),
                     _decoded(tf.io.decode_json_example), [""]),
    "message": (content(_example), _decoded(lambda x: tf.io.decode_proto(
        x, "tensorflow.Example", ["features"], [tf.string])), [""]),
    "base64": (content(lambda: tf.io.encode_base64("some text, longer").numpy()), _decoded(tf.io.decode_base64), [""]),
    "unicode": (content(lambda: "Grüße, 世界".encode()),
                _decoded(lambda x: tf.strings.unicode_decode(x, "UTF-8")), [""]),
    "zlib string": (content(lambda: zlib.compress(bytes(100))),
                    _decoded(lambda x: tf.io.decode_compressed(x, "ZLIB")), [""]),
    ".weights.h5": (_weights, _read_weights, [".weights.h5"]),
    "model in text": (_saved_text, _read_saved_text, [".pbtxt"]),
    "fingerprint": (_fingerprint, _read_fingerprint, [""]),
    "meta graph": (_meta_graph, _read_meta_graph, [".meta"]),
    "state of checkpoints": (_state, lambda p: tf.train.get_checkpoint_state(str(p.parent), p.name), [""]),
    "stored requests": (_requests, _warm, [""]),
    "images of cifar": (_cifar, lambda p: cifar.read(str(p), ["batch"], "labels"), [""]),
    "index of words": (content(lambda: b"one\ntwo\nthree\n"),
                       lambda p: tf.keras.layers.StringLookup(vocabulary=str(p)).get_vocabulary(), [""]),
    "parameters": (content(lambda: b'{"a": 1, "b": [2.5, 3.5]}'), lambda p: tf.contrib.training.HParams(
        a=0, b=[0.0]).parse_json(p.read_text()), [""]),
    "model in json": (content(lambda: dense().to_json().encode()),
                      lambda p: tf.keras.models.model_from_json(p.read_text()), [""]),
    ".keras": (lambda p: _h5(f"{p}.keras"), lambda p: tf.keras.models.load_model(f"{p}.keras"), [".keras"]),
    ".h5": (lambda p: _h5(f"{p}.h5"), lambda p: tf.keras.models.load_model(f"{p}.h5"), [".h5"]),
}  # fmt: skip
