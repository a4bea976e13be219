"""The files of TF.js models."""

import json
import subprocess
import sys
from pathlib import Path

import export_models as models
import numpy as np
import pytest

import tapeflow as tf
from tapeflow.export import tfjs


def read(folder):
    model = json.loads(Path(folder, "model.json").read_text())
    group = model["weightsManifest"][0]
    return model, group["weights"], b"".join(Path(folder, name).read_bytes() for name in group["paths"])


def test_the_files_of_a_model(tmp_path):
    function, _ = models.signature()
    path = tfjs.save(function, tmp_path, metadata={"labels": ["a"]}, shard_bytes=25)
    assert path == str(tmp_path / "model.json")
    model, weights, data = read(tmp_path)
    assert model["format"] == "graph-model"
    assert model["userDefinedMetadata"] == {"labels": ["a"]}
    assert model["weightsManifest"][0]["paths"] == [f"group1-shard{i}of3.bin" for i in (1, 2, 3)]
    assert [Path(tmp_path, f"group1-shard{i}of3.bin").stat().st_size for i in (1, 2, 3)] == [25, 25, 14]
    assert [(w["shape"], w["dtype"]) for w in weights] == [([4, 4], "float32")]
    np.testing.assert_array_equal(np.frombuffer(data, "<f4").reshape(4, 4), models.SEVERAL.w)
    assert set(model["signature"]["inputs"]) == {"x"}
    assert model["signature"]["inputs"]["x"]["tensorShape"] == {"dim": [{"size": "-1"}, {"size": "4"}]}
    assert set(model["signature"]["outputs"]) == {"y"}
    nodes = {node["name"]: node for node in model["modelTopology"]["node"]}
    assert nodes[weights[0]["name"]]["op"] == "Const"
    assert set(nodes[weights[0]["name"]]["attr"]["value"]["tensor"]) == {"dtype", "tensorShape"}


def test_weights_of_functions_have_names_of_their_own(tmp_path):
    tfjs.save(models.module()[0], tmp_path)
    model, weights, _ = read(tmp_path)
    names = [w["name"] for w in weights]
    assert len(set(names)) == len(names)
    functions = model["modelTopology"]["library"]["function"]
    assert {node["name"] for f in functions for node in f["nodeDef"] if node["op"] == "Const"} <= set(names)


def test_results_of_functions_name_nodes_of_their_own(tmp_path):
    tfjs.save(models.masked_lstm()[0], tmp_path)
    for f in read(tmp_path)[0]["modelTopology"]["library"]["function"]:
        known = {x["name"] for x in f["signature"].get("inputArg", [])} | {n["name"] for n in f.get("nodeDef", [])}
        assert {text.split(":")[0] for text in f["ret"].values()} <= known


@pytest.mark.parametrize(("kind", "bytes_each"), [("uint8", 1), ("uint16", 2), ("float16", 2)])
def test_quantized_weights_are_smaller(kind, bytes_each, tmp_path):
    tfjs.save(models.signature()[0], tmp_path, quantization=kind)
    _, weights, data = read(tmp_path)
    assert len(data) == 16 * bytes_each
    assert weights[0]["dtype"] == "float32"
    assert weights[0]["quantization"]["dtype"] == kind


def test_an_op_that_tfjs_lacks_is_named(tmp_path):
    with pytest.raises(tf.errors.UnimplementedError, match=r"UnsortedSegmentSum \(node '"):
        tfjs.save(models.ragged()[0], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_table_is_filled_by_a_graph_of_its_own(tmp_path):
    tfjs.save(models.text()[0], tmp_path)
    model, weights, data = read(tmp_path)
    filling = {node["op"]: node for node in model["modelInitializer"]["node"]}
    table = filling["HashTableV2"]
    assert table in model["modelTopology"]["node"]
    name = table["name"]
    assert filling["LookupTableImportV2"]["input"] == [name, f"{name}/keys", f"{name}/values"]
    entries = {w["name"]: (w["shape"], w["dtype"]) for w in weights}
    assert entries[f"{name}/keys"] == ([3], "string")
    assert entries[f"{name}/values"] == ([3], "int32")
    assert b"\3\0\0\0cat" in data


def test_a_table_in_a_loop_is_refused(tmp_path):
    @tf.function
    def f(words):
        total = tf.zeros([2], tf.int64)
        for _ in tf.range(2):
            total += models.WORDS.table.lookup(words)
        return total

    with pytest.raises(tf.errors.UnimplementedError, match=r"branches and loops: .* is a LookupTableFindV2"):
        tfjs.save(f.get_concrete_function(tf.TensorSpec([2], tf.string)), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_queue_is_refused(tmp_path):
    queue = tf.queue.FIFOQueue(2, tf.float32)
    function = tf.function(lambda: queue.dequeue()).get_concrete_function()
    with pytest.raises(tf.errors.UnimplementedError, match="QueueDequeueV2"):
        tfjs.save(function, tmp_path)


def test_wrong_arguments(tmp_path):
    with pytest.raises(TypeError):
        tfjs.save(lambda x: x, tmp_path)
    with pytest.raises(ValueError, match="positive"):
        tfjs.save(models.signature()[0], tmp_path, shard_bytes=0)


def test_the_command(tmp_path):
    tf.saved_model.save(models.SEVERAL, str(tmp_path / "saved"), signatures={"once": models.SEVERAL.once})
    command = [sys.executable, "-m", "tapeflow.export", str(tmp_path / "saved"), str(tmp_path / "js")]
    done = subprocess.run([*command, "--signature", "once"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path / "js" / "model.json")
    model, _, _ = read(tmp_path / "js")
    assert set(model["signature"]["outputs"]) == {"y"}
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no signature 'serving_default'" in done.stderr
