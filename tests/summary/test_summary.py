"""Event files and what goes into them: 2.x, contrib and 1.x; conditions, steps, functions, damage."""

import io
import os
import re
import wave

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.core.files.tensor_proto import make_ndarray
from tapeflow.ops.io.summary_encoding import png, wav
from tapeflow.summary.events import read_events

v1 = tf.compat.v1
contrib = tf.contrib.summary


def events(folder):
    """All events but the first of the files of a folder."""
    found = []
    for name in sorted(os.listdir(folder), key=lambda name: [int(n) for n in re.findall(r"\d+", name)]):
        first, *rest = read_events(os.path.join(folder, name))
        assert first.file_version == "brain.Event:2"
        found += rest
    return found


def values(folder):
    """(step, value) of all summaries."""
    return [(event.step, value) for event in events(folder) for value in event.summary.value]


def test_kinds_of_summaries(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=3):
        tf.summary.scalar("a", 1.5, description="what")
        tf.summary.histogram("h", [1.0, 2.0, 2.0, 5.0], buckets=2)
        tf.summary.image("i", np.full([2, 3, 4, 3], 0.5), max_outputs=1)
        tf.summary.text("t", "hello")
        tf.summary.audio("s", np.zeros([1, 5, 2]), 8000)
        with tf.name_scope("inner"):
            assert tf.summary.scalar("b", 2)
    writer.close()
    found = {value.tag: value for step, value in values(tmp_path) if step == 3}
    assert list(found) == ["a", "h", "i", "t", "s", "inner/b"]
    plugins = [value.metadata.plugin_data.plugin_name for value in found.values()]
    assert plugins == ["scalars", "histograms", "images", "text", "audio", "scalars"]
    assert found["a"].metadata.summary_description == "what"
    assert make_ndarray(found["a"].tensor) == np.float32(1.5)
    np.testing.assert_array_equal(make_ndarray(found["h"].tensor), [[1, 3, 3], [3, 5, 1]])
    image = make_ndarray(found["i"].tensor)
    assert image[:2].tolist() == [b"4", b"3"]
    assert len(image) == 3
    assert make_ndarray(found["t"].tensor).item() == b"hello"


def test_when_summaries_are_recorded(tmp_path):
    assert not tf.summary.scalar("x", 1.0)
    assert tf.summary.should_record_summaries() is False
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.scalar("x", 1.0)
        tf.summary.experimental.set_step(tf.Variable(7, dtype=tf.int64))
        with tf.summary.record_if(False):
            assert not tf.summary.scalar("x", 1.0)
        with tf.summary.record_if(lambda: tf.constant(True)):
            assert tf.summary.write("x", lambda: tf.constant(1.0))
        tf.summary.experimental.set_step(None)
    writer.close()
    assert [(step, value.tag) for step, value in values(tmp_path)] == [(7, "x")]
    with pytest.raises(RuntimeError, match="already closed"):
        writer.set_as_default()


def test_in_a_function(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function
    def step_of(x, step):
        with writer.as_default(step=step), tf.summary.record_if(tf.equal(step % 2, 0)):
            tf.summary.scalar("loss", x)
        return x

    for i in range(4):
        step_of(tf.constant(float(i)), tf.constant(i, tf.int64))
    writer.close()
    found = [(step, float(make_ndarray(value.tensor))) for step, value in values(tmp_path)]
    assert found == [(0, 0.0), (2, 2.0)]


def test_contrib_every_n_global_steps(tmp_path):
    step = v1.train.get_or_create_global_step()
    step.assign(0)
    writer = contrib.create_file_writer(str(tmp_path))
    with writer.as_default():
        assert not contrib.scalar("loss", 1.0)
        for _ in range(250):
            step.assign_add(1)
            with contrib.record_summaries_every_n_global_steps(100):
                contrib.scalar("loss", tf.cast(step, tf.float32) / 2)
        with contrib.always_record_summaries():
            contrib.histogram("h", [1.0, 2.0, 2.0], step=5)
            contrib.image("i", tf.zeros([1, 2, 2, 3]), step=5, max_images=1)
            contrib.generic("g", [1, 2], step=5, family="f")
            with contrib.never_record_summaries():
                contrib.scalar("never", 1.0)
    writer.close()
    found = values(tmp_path)
    assert [(s, v.simple_value) for s, v in found[:2]] == [(100, 50.0), (200, 100.0)]
    assert [value.tag for _, value in found[2:]] == ["h", "i/image", "f/g"]
    assert found[2][1].histo.num == 3
    assert sum(found[2][1].histo.bucket) == 3


def test_graphs_sessions_and_file_writer(tmp_path):
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [3])
        v1.summary.scalar("mean", tf.reduce_mean(x), family="fam")
        v1.summary.histogram("all", x)
        merged = v1.summary.merge_all()
        writer = v1.summary.FileWriter(tmp_path, graph)
        with v1.Session() as session:
            for step in range(2):
                data = session.run(merged, {x: [1.0, 2.0, 3.0 + step]})
                writer.add_summary(data, step)
        writer.close()
    found = events(tmp_path)
    assert protos.GraphDef.FromString(found[0].graph_def).node
    assert [value.tag for value in found[1].summary.value] == ["fam/fam/mean", "all"]
    np.testing.assert_allclose(found[2].summary.value[0].simple_value, 7 / 3, rtol=1e-6)
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(protos.Summary(), 1)
    writer.reopen()
    writer.add_summary(protos.Summary(value=[{"tag": "again", "simple_value": 1.0}]), 9)
    writer.close()
    assert values(tmp_path)[-1][0] == 9
    with pytest.raises(RuntimeError, match="eager execution"):
        v1.summary.merge([b""])


def test_wrong_data(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=1):
        with pytest.raises(ValueError, match="scalar"):
            tf.summary.scalar("x", [1.0, 2.0])
        with pytest.raises(ValueError, match="batch, height"):
            tf.summary.image("x", [1.0])
        with pytest.raises(ValueError, match="strings"):
            tf.summary.text("x", 1.0)
        with pytest.raises(ValueError, match="graph_data"):
            tf.summary.graph(3)


def test_damaged_files(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=1):
        tf.summary.scalar("x", 1.0)
    writer.close()
    (path,) = tmp_path.iterdir()
    sound = path.read_bytes()
    for at in range(0, len(sound), 5):
        broken = bytearray(sound)
        broken[at] ^= 0x10
        path.write_bytes(broken)
        with pytest.raises(tf.errors.DataLossError):
            list(read_events(path))
    path.write_bytes(sound[:-3])
    with pytest.raises(tf.errors.DataLossError, match="truncated"):
        list(read_events(path))


def test_png_and_wav(rng):
    image = rng.integers(0, 255, (5, 7, 3)).astype(np.uint8)
    pil = pytest.importorskip("PIL.Image")
    np.testing.assert_array_equal(np.asarray(pil.open(io.BytesIO(png(image)))), image)
    sound = np.array([[0.0, 0.5], [-1.0, 1.0]])
    with wave.open(io.BytesIO(wav(sound, 8000))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (8000, 2, 2)
        samples = np.frombuffer(file.readframes(2), "<i2")
    assert samples.tolist() == [0, 16384, -32768, 32767]


def test_graphs_of_contrib_have_a_step(tmp_path):
    definition = tf.Graph().as_graph_def()
    with contrib.create_file_writer(str(tmp_path)).as_default(), contrib.never_record_summaries():
        contrib.graph(definition, step=7)
        with pytest.raises(TypeError, match="must be a graph"):
            contrib.graph(3, step=7)
        contrib.flush()
    assert [(event.step, event.WhichOneof("what")) for event in events(tmp_path)] == [(7, "graph_def")]


def test_means_write_themselves(tmp_path):
    mean = tf.contrib.eager.metrics.Mean("share")
    mean([1.0, 3.0])
    tf.compat.v1.train.get_or_create_global_step()
    with contrib.create_file_writer(str(tmp_path)).as_default(), contrib.always_record_summaries():
        assert mean.result(write_summary=False).numpy() == 2
        assert mean.result(write_summary=tf.constant(False)).numpy() == 2
        contrib.flush()
        assert values(tmp_path) == []
        assert mean.result(write_summary=tf.constant(True)).numpy() == 2
        assert mean.result().numpy() == 2
        contrib.flush()
    assert [(value.tag, value.simple_value) for _, value in values(tmp_path)] == [("share", 2.0)] * 2
