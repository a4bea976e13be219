"""Every reader of files, given damaged ones: a value or a Python exception, and no effect but that the file is read."""

import contextlib
import gzip
import io
import os
import random

import numpy as np
import pytest
from effects import confined
from google.protobuf.message import DecodeError
from PIL import Image

import tapeflow as tf
from tapeflow import safetensors
from tapeflow.keras.preprocessing import image as keras_image

# What NumPy reads headers with.
COMPILED = ("compile",)
ALLOWED = (tf.errors.OpError, ValueError, OSError, TypeError, KeyError, UnicodeError)
NUMBERS = np.arange(20, dtype=np.float32).reshape(4, 5)
PICTURE = np.random.default_rng(1).integers(0, 256, [6, 5, 3], np.uint8)


def _bytes(make):
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


def _h5(path):
    tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)]).save(path)


# name: (what writes a good file, what reads it, the endings of the files that are damaged).
READERS = {
    "records": (_records(""), lambda p: list(tf.data.TFRecordDataset(str(p))), [""]),
    "gzip records": (_records("GZIP"), lambda p: list(tf.data.TFRecordDataset(str(p), "GZIP")), [""]),
    "zlib records": (_records("ZLIB"), lambda p: list(tf.data.TFRecordDataset(str(p), "ZLIB")), [""]),
    "lines": (_bytes(lambda: gzip.compress(b"a\nb\n" * 9)),
              lambda p: list(tf.data.TextLineDataset(str(p), "GZIP")), [""]),
    "blocks": (_bytes(lambda: gzip.compress(bytes(50))),
               lambda p: list(tf.data.FixedLengthRecordDataset(str(p), 5, compression_type="GZIP")), [""]),
    "csv": (_bytes(_csv), lambda p: list(tf.data.experimental.CsvDataset(
        str(p), [tf.string, tf.string], header=True)), [""]),
    "csv columns": (_bytes(_csv), _columns, [""]),
    "checkpoint": (_checkpoint, lambda p: [tf.train.load_checkpoint(str(p)).get_tensor(name) for name, _ in
                                           tf.train.list_variables(str(p))], [".index", ".data-00000-of-00001"]),
    "events": (_events, lambda p: list(tf.compat.v1.train.summary_iterator(str(p))), [""]),
    "safetensors": (lambda p: safetensors.save_file({"a": tf.constant(NUMBERS)}, str(p)),
                    lambda p: safetensors.load_file(str(p)), [""]),
    "npz": (_bytes(_npz), lambda p: tf.keras.datasets.mnist.load_data(str(p)), [""]),
    "graph": (_bytes(_graph_def), _import, [""]),
    "cache": (_cached, lambda p: list(tf.data.Dataset.range(50).cache(str(p))), [".index", ".data-00000-of-00001"]),
    "vocabulary": (_bytes(lambda: b"one 1\ntwo 2\nthree 3\n"), _table, [""]),
    "example": (_bytes(_example), _decoded(lambda x: tf.io.parse_single_example(
        x, {"a": tf.io.FixedLenFeature([3], tf.float32)})), [""]),
    "tensor": (_bytes(lambda: tf.io.serialize_tensor(NUMBERS).numpy()),
               _decoded(lambda x: tf.io.parse_tensor(x, tf.float32)), [""]),
    "png": (_bytes(lambda: tf.io.encode_png(PICTURE).numpy()), _decoded(tf.io.decode_image), [""]),
    "png of 16 bits": (_bytes(lambda: tf.io.encode_png(PICTURE.astype(np.uint16)).numpy()),
                       _decoded(lambda x: tf.io.decode_png(x, dtype=tf.uint16)), [""]),
    "jpeg": (_bytes(lambda: tf.io.encode_jpeg(PICTURE).numpy()), _decoded(tf.io.decode_jpeg), [""]),
    "gif": (_bytes(lambda: _picture("GIF")), _decoded(tf.io.decode_gif), [""]),
    "bmp": (_bytes(lambda: _picture("BMP")), _decoded(tf.io.decode_bmp), [""]),
    "image file": (_bytes(lambda: _picture("PNG")), lambda p: keras_image.load_img(str(p)), [""]),
    "wav": (_bytes(lambda: tf.audio.encode_wav(np.zeros([50, 1], np.float32), 8000).numpy()),
            _decoded(tf.audio.decode_wav), [""]),
    "gzip string": (_bytes(lambda: gzip.compress(bytes(100))),
                    _decoded(lambda x: tf.io.decode_compressed(x, "GZIP")), [""]),
    ".keras": (lambda p: _h5(f"{p}.keras"), lambda p: tf.keras.models.load_model(f"{p}.keras"), [".keras"]),
    ".h5": (lambda p: _h5(f"{p}.h5"), lambda p: tf.keras.models.load_model(f"{p}.h5"), [".h5"]),
}  # fmt: skip
# A cache whose index is not there, or that ends early, is written anew.
WRITES = {"cache"}


def _damaged(data, rng):
    """The bytes with something cut, lost, changed, or put in."""
    if not data:
        return b"\xff"
    at, kind = rng.randrange(len(data)), rng.randrange(5)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + data[at + rng.randrange(1, 64) :]
    if kind == 2:
        return data[:at] + rng.randbytes(rng.randrange(1, 20)) + data[at:]
    changed = bytearray(data)
    for _ in range(1 if kind == 3 else 10):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


@pytest.mark.filterwarnings("ignore")  # Pillow's, of damaged images
@pytest.mark.parametrize("name", READERS)
def test_damaged_files(tmp_path, name):
    if name in (".keras", ".h5"):
        pytest.importorskip("h5py")
    write, read, endings = READERS[name]
    path = tmp_path / "file"
    write(path)
    Image.init()  # imports what Pillow tries, if it can
    read(path)  # the good one, which also imports what is imported on first use
    good = {ending: (tmp_path / f"file{ending}").read_bytes() for ending in endings}
    rng = random.Random(name)
    for _ in range(30):
        for ending in endings:
            for other, data in good.items():
                (tmp_path / f"file{other}").write_bytes(_damaged(data, rng) if other == ending else data)
            writes = [tmp_path] if name in WRITES else []
            allowed = COMPILED if name == "npz" else ()
            with contextlib.suppress(*ALLOWED), confined(tmp_path, writes=writes, allowed=allowed):
                read(path)
