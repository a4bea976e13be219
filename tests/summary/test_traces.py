"""Graphs of functions that run, and profiles, as TensorBoard reads them."""

import gzip
import json

import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.core.files.wire import fields
from tapeflow.summary.events import read_events


@tf.function
def double(x):
    return x * 2.0 + 1.0


def events_of(folder):
    (path,) = folder.glob("events*")
    return list(read_events(path))


def test_graphs_of_functions(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=3):
        tf.summary.trace_on(graph=True)
        double(tf.constant(1.0))
        tf.summary.trace_export("mine")
    value = events_of(tmp_path)[1].summary.value[0]
    assert value.tag == "mine"
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"
    metadata = protos.RunMetadata.FromString(value.tensor.string_val[0])
    nodes = {node.op for node in metadata.function_graphs[0].pre_optimization_graph.node}
    assert "Mul" in nodes
    assert double(tf.constant(1.0)).numpy() == 3.0


def test_traces_out_of_place(tmp_path):
    with pytest.raises(ValueError, match="Must enable trace before export"):
        tf.summary.trace_export("x", 0)
    tf.summary.trace_on(graph=True, profiler=True)
    with pytest.raises(ValueError, match="profiler_outdir"):
        tf.summary.trace_export("x", 0)
    tf.summary.trace_off()
    tf.summary.trace_off()


def test_profiles(tmp_path):
    with tf.profiler.experimental.Profile(str(tmp_path)):
        for step in range(2):
            with tf.profiler.experimental.Trace("train", step_num=step):
                double(tf.constant(1.0) * 3.0)
    (text,) = tmp_path.glob("plugins/profile/*/*.trace.json.gz")
    with gzip.open(text, "rt") as file:
        events = json.load(file)["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert names.count("train") == 2
    assert names.count("double") == 2
    assert "Mul" in names
    marked = next(event for event in events if event["name"] == "train")
    assert marked["args"] == {"step_num": "0"}
    assert marked["dur"] > 0
    (space,) = tmp_path.glob("plugins/profile/*/*.xplane.pb")
    plane = next(value for number, _, value in fields(space.read_bytes()) if number == 1)
    assert b"/host:CPU" in plane
    assert sum(number == 4 for number, _, _ in fields(plane)) >= 3  # names of events


def test_one_profile_at_a_time(tmp_path):
    profiler = tf.profiler.experimental
    profiler.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError):
        profiler.start(str(tmp_path))
    profiler.stop(save=False)
    with pytest.raises(tf.errors.UnavailableError):
        profiler.stop()
    assert list(tmp_path.iterdir()) == []


def test_writers_of_graphs_start_in_sessions(tmp_path):
    v1 = tf.compat.v1
    summary = tf.contrib.summary
    with tf.Graph().as_default(), v1.Session() as session:
        writer = summary.create_file_writer(str(tmp_path), max_queue=0)
        with writer.as_default(), summary.always_record_summaries():
            summary.scalar("x", 2.0, step=1)
        assert list(tmp_path.iterdir()) == []
        session.run(summary.summary_writer_initializer_op())
        session.run(summary.all_summary_ops())
        session.run(writer.close())
    assert events_of(tmp_path)[1].summary.value[0].simple_value == 2.0


def test_conditions_are_asked_once(tmp_path):
    asked = []

    def condition():
        asked.append(1)
        return len(asked) % 2 == 1

    with tf.summary.create_file_writer(str(tmp_path)).as_default(), tf.summary.record_if(condition):
        written = [bool(tf.summary.write("x", 1.0, step=i)) for i in range(4)]
    assert written == [True, False, True, False]
