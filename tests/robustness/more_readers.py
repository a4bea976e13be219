"""More readers, for `readers.py`: of settings, tables, states of programs, and of what checksums would hide.

A changed byte below a checksum does not come further than that; here what is within is damaged, and the checksum is
right.
"""

import argparse
import contextlib
import io
import json
import os
import struct
import tarfile
import zipfile
from pathlib import Path
from unittest import mock

import numpy as np
from google.protobuf import text_format
from readers import NUMBERS, content, dense

import tapeflow as tf
from tapeflow import doctor, protos
from tapeflow.checkpoint import warm_starting
from tapeflow.checkpoint.bundle import BundleReader
from tapeflow.checkpoint.table import read_table, write_table
from tapeflow.compat import v1
from tapeflow.contrib.gan.eval import classifiers
from tapeflow.contrib.learn.datasets import base
from tapeflow.contrib.session_bundle import session_bundle
from tapeflow.contrib.timeseries import input_pipeline
from tapeflow.core.files import examples, snappy
from tapeflow.core.files.crc32c import crc32c, mask
from tapeflow.core.files.wire import varint
from tapeflow.data.iteration import state_coding
from tapeflow.keras.utils.archives import extract_archive
from tapeflow.ops.queue.reader_state import ExampleReader, FixedReader, LineReader, WorkReader
from tapeflow.tools import files as tool_files
from tapeflow.tools import graph_transforms as tool_transforms

VERSION_1 = (Path(__file__).parents[1] / "checkpoint" / "version_1.ckpt").read_bytes()
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


# What is within the tables and records of files.


def _inner(write, index, keys):
    """A reader's write: the values of keys of a table, each a file of its own, by endings."""

    def written(path):
        write(path)
        table = read_table(index(path).read_bytes(), str(path))
        for ending, key in keys.items():
            path.with_name(path.name + ending).write_bytes(table[key])

    return written


def _rebuilt(path, index, keys):
    """Writes the table anew, with the values in the files of their own."""
    table = read_table(index(path).read_bytes(), str(path))
    for ending, key in keys.items():
        table[key] = path.with_name(path.name + ending).read_bytes()
    index(path).write_bytes(write_table(sorted(table.items())))


def _checkpoint(path):
    tf.train.Checkpoint(v=tf.Variable(NUMBERS), w=tf.Variable(["a", "b"]), n=tf.Variable(3)).write(str(path))


def _index(path):
    return path.with_name(path.name + ".index")


ENTRIES = {".head": b"", ".v": b"v/.ATTRIBUTES/VARIABLE_VALUE", ".w": b"w/.ATTRIBUTES/VARIABLE_VALUE"}


def _read_entries(path):
    _rebuilt(path, _index, ENTRIES)
    reader = tf.train.load_checkpoint(str(path))
    for name in reader.get_variable_to_shape_map():
        reader.get_tensor(name)
    tf.train.Checkpoint(v=tf.Variable(NUMBERS), w=tf.Variable(["a", "b"])).read(str(path))


def _first_table():
    table = read_table(VERSION_1, "")
    return [key for key in table if key]


FIRST = {".head": b"", ".part": _first_table()[0], ".last": _first_table()[-1]}


def _all(path):
    reader = tf.train.load_checkpoint(str(path))
    return [reader.get_tensor(name) for name in reader.get_variable_to_shape_map()]


def _read_first(path):
    path.write_bytes(VERSION_1)
    _rebuilt(path, lambda p: p, FIRST)
    return _all(path)


def _object_graph(path):
    checkpoint = path.with_name("whole")
    optimizer = tf.keras.optimizers.Adam()
    v = tf.Variable(NUMBERS)
    optimizer.apply_gradients([(tf.ones_like(v), v)])
    tf.train.Checkpoint(v=v, optimizer=optimizer).write(str(checkpoint))
    path.write_bytes(BundleReader(str(checkpoint)).read(GRAPH).item())


def _read_object_graph(path):
    reader = BundleReader(str(path.with_name("whole")))
    tensors = {name: reader.read(name) for name in reader.keys()} | {GRAPH: np.array(path.read_bytes(), object)}  # noqa: SIM118
    changed = str(path.with_name("changed"))
    values = [tf.constant(value.tolist(), v1.as_dtype(value.dtype)) for value in tensors.values()]
    tf.raw_ops.SaveV2(prefix=changed, tensor_names=list(tensors), shape_and_slices=[""] * len(values), tensors=values)
    v = tf.Variable(NUMBERS)
    status = tf.train.Checkpoint(v=v, optimizer=tf.keras.optimizers.Adam()).read(changed)
    with contextlib.suppress(AssertionError):  # what it says of objects that are not there
        status.assert_consumed()
    tf.train.list_variables(changed)
    tf.contrib.checkpoint.dot_graph_from_checkpoint(changed)


def _arrays(path):
    np.save(path.with_name("array.npy"), NUMBERS)
    path.write_bytes(path.with_name("array.npy").read_bytes())


def _read_arrays(path):
    kept = tf.contrib.checkpoint.NumpyState()
    kept.a = NUMBERS
    kept._lookup_dependency("a").deserialize(path.read_bytes())


def _record(make, read):
    """A reader of one record, whose bytes are damaged."""

    def read_record(path):
        file = path.with_name("events.records")
        with tf.io.TFRecordWriter(str(file)) as writer:
            writer.write(path.read_bytes())
        return read(file)

    return content(make), read_record, [""]


def _event():
    event = protos.Event(wall_time=1.0, step=3)
    event.summary.value.add(tag="a", tensor=tf.make_tensor_proto(NUMBERS))
    return event.SerializeToString()


def _state():
    ragged = tf.ragged.constant([[1], [2, 3]])
    words = [None, True, 7, -(2**70), 1.5, "é", b"x", (1, {"a": tf.constant(NUMBERS)}), tf.constant(["a", "bc"]),
             tf.sparse.from_dense(NUMBERS), ragged]  # fmt: skip
    return state_coding.encode(words)


def _works():
    reader = WorkReader("r")
    reader.started = reader.finished = reader.produced = 3
    reader._work = b"a file"
    return reader.serialize()


def _restore_works(path):
    WorkReader("r").restore(path.read_bytes())


# Messages.


def _topology():
    return tf.tpu.experimental.Topology(
        mesh_shape=[2, 1, 1, 2], device_coordinates=[[[0, 0, 0, 0], [0, 0, 0, 1]], [[1, 0, 0, 0], [1, 0, 0, 1]]]
    ).serialized()


def _read_topology(path):
    found = tf.tpu.experimental.Topology(path.read_bytes() or b"\0")
    return found.missing_devices, found.tpu_device_name_at_coordinates([0, 0, 0, 0])


def _summary():
    summary = protos.Summary()
    summary.value.add(tag="a", simple_value=1.0)
    summary.value.add(tag="b", tensor=tf.make_tensor_proto(NUMBERS)).metadata.plugin_data.plugin_name = "scalars"
    return summary.SerializeToString()


def _read_summary(path):
    merged = tf.raw_ops.MergeSummary(inputs=[path.read_bytes(), b""]).numpy()
    tf.contrib.testing.to_summary_proto(merged)
    writer = tf.summary.create_file_writer(str(path.parent / "logs"))
    with writer.as_default(step=1):
        tf.summary.experimental.write_raw_pb(path.read_bytes())
        tf.raw_ops.TensorSummaryV2(tag="a", tensor=NUMBERS, serialized_summary_metadata=path.read_bytes())
    with v1.summary.FileWriter(str(path.parent / "old_logs")) as old:
        old.add_summary(path.read_bytes())
    writer.close()


def _record_graph(path):
    writer = tf.contrib.summary.create_file_writer(str(path.parent / "logs"))
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        tf.contrib.summary.graph(path.read_bytes(), step=0)


def _description(path):
    node = v1.NodeDef(op="TensorSummary")
    node.attr["description"].s = path.read_bytes()
    return v1.summary.get_summary_description(node)


def _layout():
    return protos.UniformQuantizedConvolutionDimensionNumbersAttr(
        input_batch_dimension=0, input_feature_dimension=1, input_spatial_dimensions=[2, 3],
        kernel_output_feature_dimension=0, kernel_input_feature_dimension=1, kernel_spatial_dimensions=[2, 3],
        output_batch_dimension=0, output_feature_dimension=1, output_spatial_dimensions=[2, 3],
    ).SerializeToString()  # fmt: skip


def _convolve(path):
    one, zero = np.float32(1), np.int32(0)
    given = tf.cast(tf.ones([1, 2, 3, 3], tf.int32), tf.qint8)
    return tf.raw_ops.UniformQuantizedConvolution(
        lhs=given, rhs=given, lhs_scales=one, lhs_zero_points=zero, rhs_scales=one, rhs_zero_points=zero,
        output_scales=one, output_zero_points=zero, Tout=tf.qint32, padding="VALID",
        lhs_quantization_min_val=-128, lhs_quantization_max_val=127, rhs_quantization_min_val=-128,
        rhs_quantization_max_val=127, output_quantization_min_val=-(2**31), output_quantization_max_val=2**31 - 1,
        dimension_numbers=path.read_bytes(),
    )  # fmt: skip


def _sparse(path):
    packed = tf.io.serialize_sparse(tf.sparse.from_dense(NUMBERS)).numpy()
    for ending, part in zip(SPARSE, packed, strict=True):
        path.with_name(path.name + ending).write_bytes(part)


SPARSE = (".indices", ".values", ".shape")


def _read_sparse(path):
    packed = [path.with_name(path.name + ending).read_bytes() for ending in SPARSE]
    for read in (
        lambda: tf.raw_ops.DeserializeSparse(serialized_sparse=[packed], dtype=tf.float32),
        lambda: tf.io.deserialize_many_sparse([packed, packed], tf.float32),
    ):
        with contextlib.suppress(tf.errors.OpError):
            tf.sparse.to_dense(tf.sparse.SparseTensor(*read()) if isinstance(read(), tuple) else read())


def _descriptors():
    from google.protobuf import descriptor_pb2

    found = descriptor_pb2.FileDescriptorSet()
    file = found.file.add(name="a.proto", package="p", syntax="proto2")
    file.message_type.add(name="M").field.add(name="x", number=1, type=5, label=1)
    return found.SerializeToString()


def _decode_by_descriptors(path):
    for source in (str(path), b"bytes://" + path.read_bytes()):
        with contextlib.suppress(tf.errors.OpError):
            tf.io.decode_proto([b"\x08\x05"], "p.M", ["x"], [tf.int32], descriptor_source=source)
    for kind in ("text", "binary"):
        with contextlib.suppress(tf.errors.OpError):
            tf.io.decode_proto([path.read_bytes()], "tensorflow.Example", ["features"], [tf.string],
                               message_format=kind)  # fmt: skip
    with contextlib.suppress(tf.errors.OpError):
        tf.io.encode_proto([[1]], [[[path.read_bytes()]]], ["features"], "tensorflow.Example")


# Graphs and models.


def _frozen():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2, 2], "x")
        tf.matmul(x, x, name="y")
    return graph.as_graph_def()


def _converted(path):
    return v1.lite.TFLiteConverter.from_frozen_graph(str(path), ["x"], ["y"])


def _in_archive(path):
    data = _frozen().SerializeToString()
    with tarfile.open(path, "w:gz") as tar:
        member = tarfile.TarInfo("graph.pb")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))


def _graph_text():
    return text_format.MessageToString(_frozen()).encode()


def _bundle(path):
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=NUMBERS)
        session.run(v.initializer)
        saver = v1.train.Saver()
        (path.parent / "bundle").mkdir()
        saver.save(session, str(path.parent / "bundle" / "export"))
    os.replace(path.parent / "bundle" / "export.meta", path)


def _read_bundle(path):
    (path.parent / "bundle" / "export.meta").write_bytes(path.read_bytes())
    # Within a graph there is none to reset, and outside of one it is not the time of 1.x.
    with tf.Graph().as_default(), mock.patch.object(v1, "reset_default_graph"):
        session, _ = session_bundle.load_session_bundle_from_path(str(path.parent / "bundle"))
        session.close()


def _old_model(path):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 5], "x")
        y = tf.matmul(x, v1.get_variable("v", initializer=NUMBERS), transpose_b=True)
        (path.parent / "words").write_text("a\n")
        asset = tf.constant(str(path.parent / "words"))
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, asset)
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(path.parent / "model"))
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature},
                                             assets_collection=[asset])  # fmt: skip
        builder.save()
    os.replace(path.parent / "model" / "saved_model.pb", path)


def _read_old_model(path):
    (path.parent / "model" / "saved_model.pb").write_bytes(path.read_bytes())
    with contextlib.suppress(tf.errors.OpError, ValueError, TypeError, KeyError):
        tf.saved_model.load(str(path.parent / "model"))
    with contextlib.suppress(tf.errors.OpError, ValueError, TypeError, KeyError, RuntimeError):
        tf.saved_model.load(str(path.parent / "model"), trusted=False)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["serve"], str(path.parent / "model"))


def _keras_metadata(path):
    model = dense()
    folder = path.parent / "model"
    root = tf.Module()
    root.layers = [model]
    tf.saved_model.save(root, str(folder))
    config = {"class_name": "Sequential", "config": model.get_config(), "training_config": None}
    metadata = protos.SavedMetadata()
    metadata.nodes.add(node_id=0, metadata=json.dumps(config))
    path.write_bytes(metadata.SerializeToString())


def _read_keras_metadata(path):
    (path.parent / "model" / "keras_metadata.pb").write_bytes(path.read_bytes())
    with contextlib.suppress(AssertionError):  # variables that are not in the checkpoint
        tf.keras.models.load_model(str(path.parent / "model"))


def _shards(path):
    dense().save_weights(path.with_name("w.weights.json"), max_shard_size=3e-8)
    os.replace(path.with_name("w.weights.json"), path)


def _read_shards(path):
    path.with_name("w.weights.json").write_bytes(path.read_bytes())
    dense().load_weights(path.with_name("w.weights.json"))


def _vocabulary_in_archive(path):
    layer = tf.keras.layers.TextVectorization()
    layer.adapt(["a cat", "a dog"])
    tf.keras.Sequential([tf.keras.Input((1,), dtype="string"), layer]).save(f"{path}.keras")


def _pack(kind):
    def write(path):
        (path.parent / "in").mkdir(exist_ok=True)
        (path.parent / "in" / "a.txt").write_text("text " * 20)
        if kind == "zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.write(path.parent / "in" / "a.txt", "d/a.txt")
            return
        with tarfile.open(path, f"w:{kind}") as archive:
            archive.add(path.parent / "in" / "a.txt", "d/a.txt")

    return write


def _unpack(path):
    extract_archive(str(path), str(path.parent / "out"))


# Settings, and tables.


def _backup(path):
    path.write_text(json.dumps({"epoch": 1, "batch": 0, "weights": "backup-0"}))
    model = dense()
    model.save_weights(str(path.parent / "backup" / "backup-0"), save_format="tf")


def _read_backup(path):
    (path.parent / "backup" / "training_metadata.json").write_bytes(path.read_bytes())
    callback = tf.keras.callbacks.BackupAndRestore(str(path.parent / "backup"))
    callback.set_model(dense())
    callback.on_train_begin()


def _cluster(path):
    before = os.environ.get("TF_CONFIG")
    os.environ["TF_CONFIG"] = path.read_bytes().decode("utf-8", "surrogateescape").replace("\0", "")
    try:
        resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        return resolver.cluster_spec().as_dict(), resolver.master(), resolver.task_id
    finally:
        if before is None:
            del os.environ["TF_CONFIG"]
        else:
            os.environ["TF_CONFIG"] = before


CLUSTER = {"cluster": {"worker": ["a:1", "b:2"], "chief": ["c:3"]}, "task": {"type": "worker", "index": 1},
           "rpc_layer": "grpc"}  # fmt: skip


def _tokenizer():
    made = tf.keras.preprocessing.text.Tokenizer(num_words=9, oov_token="?")
    made.fit_on_texts(["a cat and a dog", "the dog"])
    return made.to_json().encode()


def _read_tokenizer(path):
    found = tf.keras.preprocessing.text.tokenizer_from_json(path.read_bytes().decode())
    return found.texts_to_sequences(["a cat"])


MODELS = b"""model_config_list { config { name: "m" base_path: "/m" model_platform: "tensorflow"
  model_version_policy { specific { versions: 1 versions: 2 } } version_labels { key: "stable" value: 1 } } }"""


def _served(path):
    from tapeflow import serve

    options = argparse.Namespace(model=[], model_config_file=str(path), ssl_config_file=str(path))
    found = serve._configs(options)
    with contextlib.suppress(ValueError):
        serve._ssl(options)
    return found


REQUEST = json.dumps({"signature_name": "s", "instances": [
    {"x": [1, 2.5], "t": "é"}, {"x": [3, 4], "t": {"b64": "AAAA"}}]}).encode()  # fmt: skip


def _requested(path):
    from tapeflow.serving import json_tensors

    request = json_tensors.parse(path.read_bytes())
    signature = protos.SignatureDef()
    signature.inputs["x"].dtype, signature.inputs["t"].dtype = 1, 7
    arrays, by_row = json_tensors.inputs_of(request, signature)
    return json_tensors.response_of(arrays, by_row)


def _series(path):
    return input_pipeline.CSVReader(str(path))


def _rows(path):
    base.load_csv_with_header(str(path), np.int64, np.float64, -1)


def _words(path):
    tf.contrib.text.skip_gram_sample_with_text_vocab(
        tf.constant(["one", "two"]), str(path), vocab_token_index=0, vocab_token_dtype=tf.string, vocab_freq_index=1
    )


def _frequencies(path):
    tf.random.fixed_unigram_candidate_sampler([[0]], 1, 2, True, 3, vocab_file=str(path))


def _remapped(path):
    tf.raw_ops.GenerateVocabRemapping(new_vocab_file=str(path), old_vocab_file=str(path), new_vocab_offset=0,
                                      num_new_vocab=2)  # fmt: skip
    warm_starting._words(str(path), 3)


def _column(path):
    column = tf.feature_column.categorical_column_with_vocabulary_file("w", str(path))
    with tf.Graph().as_default(), v1.Session() as session:
        given = {"w": tf.constant([["one"], ["two"]])}
        out = v1.feature_column.input_layer(given, [tf.feature_column.indicator_column(column)])
        session.run(v1.tables_initializer())
        session.run(out)


def _old_records(path):
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"a record")


def _old_readers(path):
    name = os.fsencode(path)
    for reader in (ExampleReader("r", ""), LineReader("r", 0), FixedReader("r", 1, 5, 2, 0, "")):
        with contextlib.suppress(tf.errors.OpError):
            list(reader.records(name))


def _merge(path):
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[str(path)], destination_prefix=str(path.with_name("merged")))


def _ranges(path):
    graph = v1.GraphDef()
    with contextlib.suppress(tf.errors.OpError):
        tool_transforms.TransformGraph(graph, [], [], [f'freeze_requantization_ranges(min_max_log_file="{path}")'])


def _calls(path):
    from tapeflow.distribute import preemption

    os.replace(path, f"{path}.calls")
    return preemption._calls_of(str(path))


def _constants(path):
    return tf.raw_ops.ImmutableConst(dtype=tf.float32, shape=[4, 5], memory_region_name=str(path))


def _compressed():
    """Bytes that snappy would make: as they are, with a length before them, and the three kinds of copies."""
    copies = b"\x15\x07" + b"\xee\x05\x00" + b"\x37\x09\0\0\0"
    return b"\x98\x01" + b"\x18abcdefg" + b"\xf0\x3d" + bytes(range(62)) + copies


def _compressed_table():
    """The table of one entry whose block is compressed."""
    plain = b"\0\3\x08key" + b"value567" + bytes(4) + b"\1\0\0\0"
    block = bytes([len(plain), (len(plain) - 1) << 2]) + plain
    whole, index = _with_checksum(block, 1), b"\0\3\2kez" + bytes([0, len(block)]) + bytes(4) + b"\1\0\0\0"
    place = varint(len(whole)) + varint(len(index))
    return whole + _with_checksum(index, 0) + (b"\0\0" + place).ljust(40, b"\0") + write_table([])[-8:]


def _with_checksum(block, method):
    return block + bytes([method]) + struct.pack("<I", mask(crc32c(bytes([method]), crc32c(block))))


def _features():
    kinds = {"a": {"float_list": {"value": [1.0, 2.0]}}, "b": {"int64_list": {"value": [1, 300, -1]}},
             "c": {"bytes_list": {"value": [b"x", b"yz"]}}}  # fmt: skip
    return tf.train.Features(feature={key: tf.train.Feature(**kind) for key, kind in kinds.items()}).SerializeToString()


def _dataset():
    dataset = tf.data.Dataset.range(3).batch(2)
    return tf.raw_ops.DatasetToGraphV2(input_dataset=dataset._variant_tensor).numpy()


MORE_READERS = {
    "entries of a checkpoint": (_inner(_checkpoint, _index, ENTRIES), _read_entries, list(ENTRIES)),
    "checkpoint of version 1": (content(lambda: VERSION_1), _all, [""]),
    "compressed table": (content(_compressed_table), lambda p: read_table(p.read_bytes(), str(p)), [""]),
    "compressed block": (content(_compressed), lambda p: snappy.expanded(p.read_bytes()), [""]),
    "entries of version 1": (_inner(lambda p: p.write_bytes(VERSION_1), lambda p: p, FIRST),
                             _read_first, list(FIRST)),
    "graph of objects": (_object_graph, _read_object_graph, [""]),
    "array in a checkpoint": (_arrays, _read_arrays, [""]),
    "event": _record(_event, lambda p: list(v1.train.summary_iterator(str(p)))),
    "state of a pass": (content(_state), lambda p: state_coding.decode(p.read_bytes()), [""]),
    "state of a reader": (content(_works), _restore_works, [""]),
    "topology": (content(_topology), _read_topology, [""]),
    "summary": (content(_summary), _read_summary, [""]),
    "graph to record": (content(lambda: _frozen().SerializeToString()), _record_graph, [""]),
    "description of a summary": (content(lambda: b'{"typeHint": "scalar"}'), _description, [""]),
    "dimension numbers": (content(_layout), _convolve, [""]),
    "sparse tensor": (_sparse, _read_sparse, list(SPARSE)),
    "descriptors": (content(_descriptors), _decode_by_descriptors, [""]),
    "frozen graph": (content(lambda: _frozen().SerializeToString()), _converted, [""]),
    "frozen graph in text": (content(_graph_text), _converted, [""]),
    "classifier": (content(lambda: _frozen().SerializeToString()), lambda p: classifiers.get_graph_def_from_disk(
        str(p)), [""]),
    "graph in an archive": (_in_archive, lambda p: classifiers.get_graph_def_from_url_tarball(
        "", "graph.pb", str(p)), [""]),
    "graph of a tool": (content(lambda: _frozen().SerializeToString()), lambda p: tool_files.read_message(
        v1.GraphDef(), str(p), True, "graph"), [""]),
    "text of a tool": (content(_graph_text), lambda p: tool_files.read_message(
        v1.GraphDef(), str(p), False, "graph"), [""]),
    "session bundle": (_bundle, _read_bundle, [""]),
    "SavedModel of 1.x": (_old_model, _read_old_model, [""]),
    "metadata of Keras 2": (_keras_metadata, _read_keras_metadata, [""]),
    "list of shards": (_shards, _read_shards, [""]),
    "vocabulary in .keras": (_vocabulary_in_archive, lambda p: tf.keras.models.load_model(f"{p}.keras"), [".keras"]),
    "zip": (_pack("zip"), _unpack, [""]),
    "tar": (_pack(""), _unpack, [""]),
    "tar of gzip": (_pack("gz"), _unpack, [""]),
    "tar of xz": (_pack("xz"), _unpack, [""]),
    "backup of a training": (_backup, _read_backup, [""]),
    "cluster": (content(lambda: json.dumps(CLUSTER).encode()), _cluster, [""]),
    "tokenizer": (content(_tokenizer), _read_tokenizer, [""]),
    "models to serve": (content(lambda: MODELS), _served, [""]),
    "request in json": (content(lambda: REQUEST), _requested, [""]),
    "files of 1.x readers": (_old_records, _old_readers, [""]),
    "checkpoint to merge": (_checkpoint, _merge, [".index"]),
    "weights in .keras": (lambda p: dense().save(f"{p}.keras"), lambda p: dense().load_weights(f"{p}.keras"),
                          [".keras"]),
    "tensor of values": (content(lambda: tf.make_tensor_proto([1, 300, -1], tf.int32).SerializeToString()),
                         lambda p: tf.io.parse_tensor(p.read_bytes(), tf.int32), [""]),
    "tensor of floats": (content(lambda: protos.TensorProto(dtype=1, float_val=[1.0, 2.0, 3.0], tensor_shape={
        "dim": [{"size": 3}]}).SerializeToString()), lambda p: tf.io.parse_tensor(p.read_bytes(), tf.float32), [""]),
    "program": (content(lambda: b"import tensorflow as tf\nx = tf.constant([1.0])\n"),
                lambda p: doctor.uses_in(str(p)), [""]),
    "vocabulary to remap": (content(lambda: b"one\ntwo\nthree\n"), _remapped, [""]),
    "vocabulary of a column": (content(lambda: b"one\ntwo\nthree\n"), _column, [""]),
    "log of ranges": (content(lambda: b";a__print__;__requant_min_max:[-1][2]\n"), _ranges, [""]),
    "series": (content(lambda: b"1,2.5\n2,3.5\n3,nan\n"), _series, [""]),
    "table of numbers": (content(lambda: b"2,2\n1.5,2,0\n2.5,3,1\n"), _rows, [""]),
    "words and counts": (content(lambda: b"one,1\ntwo,2\nthree,3\n"), _words, [""]),
    "frequencies": (content(lambda: b"one,1\ntwo,2\nthree,3\n"), _frequencies, [""]),
    "features": (content(_features), lambda p: examples.features_in_python(p.read_bytes()), [""]),
    "characters": (content(lambda: "aé€😀".encode("utf-16-be")), lambda p: tf.strings.unicode_decode(
        p.read_bytes(), "UTF-16-BE", errors="strict"), [""]),
    "graph of a dataset": (content(_dataset), lambda p: tf.raw_ops.DatasetFromGraph(graph_def=p.read_bytes()), [""]),
    "count of calls": (content(lambda: b"17"), _calls, [""]),
    "memory region": (content(lambda: NUMBERS.tobytes()), _constants, [""]),
}  # fmt: skip
