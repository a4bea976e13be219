"""Lookup tables of all pairs of dtypes, and searches in sorted numbers, in TensorFlow Lite's runtime."""

import export_models as models
import lite_running as lite
import numpy as np
import pytest

import tapeflow as tf
from tapeflow.lite import interface
from tapeflow.lite.lowering import ConverterError
from tapeflow.lite.verifying import verify

for package in ("litert_converter", "ai_edge_litert", "ai_edge_quantizer"):
    pytest.importorskip(package)
pytestmark = pytest.mark.lite

KEYS = {"string": ["a", "cat", "\0é"], "int64": [5, -7, 1 << 40], "int32": [5, -7, 3], "float32": [0.5, 1.5, 2.5]}
ASKED = {"string": [["a", "dog"], ["\0é", ""]], "int64": [[5, 6], [1 << 40, -7]], "int32": [[5, 6], [3, -7]],
         "float32": [[0.5, 6], [3, 2.5]]}  # fmt: skip
VALUES = {"string": ["x", "", "zz"], "int64": [5, 1 << 40, -3], "int32": [5, -7, 3], "float32": [0.5, 1.5, 2.5],
          "bool": [True, False, True]}  # fmt: skip
OTHERS = {"string": "?", "int64": -1, "int32": -1, "float32": -1.0, "bool": True}
PAIRS = [(k, v) for k in KEYS for v in VALUES]


def table_of(keys, values):
    entries = tf.lookup.KeyValueTensorInitializer(tf.constant(KEYS[keys], keys), tf.constant(VALUES[values], values))
    return tf.lookup.StaticHashTable(entries, OTHERS[values])


def array(values, dtype):
    return tf.constant(values, dtype).numpy()


def same(function, arguments):
    """The model of a function, after a check that it computes the same."""
    model = lite.converted(function)
    for found, wanted in zip(lite.run(model, arguments), lite.expected(function, arguments), strict=True):
        assert found.dtype == wanted.dtype
        assert found.tolist() == wanted.tolist()
    return model


def op_names(model):
    opened = interface.unpacked(model)
    return {interface.op_name(opened, op) for graph in opened.subgraphs for op in graph.operators or ()}


@pytest.mark.parametrize(("keys", "values"), PAIRS, ids="-".join)
def test_tables(keys, values):
    table = table_of(keys, values)
    find = tf.function(lambda x: (table.lookup(x), table.size(), table.lookup(x[0, :1])))
    model = same(find.get_concrete_function(tf.TensorSpec([None, 2], keys)), [array(ASKED[keys], keys)])
    runtime_has = keys == "string" or (keys, values) == ("int64", "string")
    assert ("HASHTABLE_FIND" in op_names(model)) == runtime_has


@pytest.mark.parametrize(("keys", "values"), [p for p in PAIRS if p[1] != "string"], ids="-".join)
def test_defaults_that_are_arguments(keys, values):
    table = table_of(keys, values)

    @tf.function
    def find(x, default):
        return tf.raw_ops.LookupTableFindV2(table_handle=table.resource_handle, keys=x, default_value=default)

    function = find.get_concrete_function(tf.TensorSpec([None, 2], keys), tf.TensorSpec([], values))
    same(function, [array(ASKED[keys], keys), array(OTHERS[values], values)])


@pytest.mark.parametrize("keys", KEYS)
def test_tables_that_change_have_what_they_hold_now(keys):
    table = tf.lookup.experimental.MutableHashTable(keys, "float32", [-1.0, -2.0])
    find = tf.function(table.lookup).get_concrete_function(tf.TensorSpec([None, 2], keys))
    same(find, [array(ASKED[keys], keys)])
    table.insert(tf.constant(KEYS[keys], keys), np.arange(6.0, dtype=np.float32).reshape(3, 2))
    same(find, [array(ASKED[keys], keys)])
    export = tf.function(lambda: table.export()).get_concrete_function()
    assert [sorted(x.ravel().tolist()) for x in lite.run(lite.converted(export), [])] == [
        sorted(x.ravel().tolist()) for x in lite.expected(export, [])
    ]


class Words(tf.Module):
    """Two functions that read one table."""

    table = table_of("string", "int64")

    @tf.function(input_signature=[tf.TensorSpec([2], tf.string, "x")])
    def once(self, x):
        return self.table.lookup(x)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.string, "x")])
    def twice(self, x):
        return self.table.lookup(x) * 2


def test_signatures_that_share_a_table():
    words = Words()
    functions = [words.once.get_concrete_function(), words.twice.get_concrete_function()]
    model = tf.lite.TFLiteConverter.from_concrete_functions(functions, words).convert()
    interpreter, given = tf.lite.Interpreter(model_content=model), array(["cat", "dog"], "string")
    found = {key: interpreter.get_signature_runner(key)(x=given)["output_0"].tolist()
             for key in interpreter.get_signature_list()}  # fmt: skip
    assert found == {"once": [1 << 40, -1], "twice": [1 << 41, -2]}


def in_a_branch(x, n):
    table = Words.table
    return tf.cond(n > 2, lambda: table.lookup(x), lambda: table.lookup(x) * 2)


def in_a_loop(x, n):
    total = tf.zeros([2], tf.int64)
    for _ in tf.range(n):
        total += Words.table.lookup(x)
    return total


@pytest.mark.parametrize("function", [in_a_branch, in_a_loop])
@pytest.mark.parametrize("number", [1, 3])
def test_tables_in_branches_and_loops(function, number):
    specs = tf.TensorSpec([2], tf.string, "x"), tf.TensorSpec([], tf.int32, "n")
    same(tf.function(function).get_concrete_function(*specs), [array(["cat", "dog"], "string"), np.int32(number)])


def test_tables_beside_quantized_layers():
    table = table_of("string", "int64")
    rng = np.random.default_rng(1)
    rows, kernel = (tf.constant(rng.normal(size=s).astype(np.float32)) for s in ((4, 64), (64, 64)))

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.string, "words")])
    def f(words):
        return tf.nn.relu(tf.reduce_mean(tf.gather(rows, tf.minimum(table.lookup(words), 2) + 1), 1) @ kernel)

    words = array([["a", "cat", "dog"]], "string")
    wanted = f(words).numpy()
    for settings in ({}, {"representative_dataset": lambda: [[words]] * 2}, {"types": [tf.float16]}):
        model = lite.converted(f.get_concrete_function(), optimizations={tf.lite.Optimize.DEFAULT}, **settings)
        np.testing.assert_allclose(lite.run(model, [words])[0], wanted, atol=0.05 * np.abs(wanted).max())


def test_a_function_that_changes_a_table_is_refused():
    table = tf.lookup.experimental.MutableHashTable("string", "int64", 0)

    @tf.function(input_signature=[tf.TensorSpec([1], tf.string)])
    def add(x):
        table.insert(x, tf.ones(1, tf.int64))
        return table.lookup(x)

    with pytest.raises(ConverterError, match=r"LookupTableInsertV2 \(node '.*', defined at .*\) changes a table"):
        lite.converted(add.get_concrete_function())


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_searches(side, dtype):
    numbers, asked = array([[1, 2, 2, 3], [4, 5, 6, 7]], dtype), array([[0, 2, 9], [4, 5, 7]], dtype)
    function = tf.function(lambda x, y: tf.searchsorted(x, y, side)).get_concrete_function(
        tf.TensorSpec([None, None], dtype), tf.TensorSpec([None, 3], dtype)
    )
    same(function, [numbers, asked])


def test_damaged_strings_are_no_model():
    opened = interface.unpacked(lite.converted(models.text()[0]))
    strings = next(t for g in opened.subgraphs for t in g.tensors
                   if t.type == 5 and opened.buffers[t.buffer].data is not None)  # fmt: skip
    data = bytes(opened.buffers[strings.buffer].data)
    for place in (0, 4, 8, len(data)):
        changed = bytearray(data[: max(place, 8)] if place == len(data) else data)
        changed[place : place + 4] = (1 << 20).to_bytes(4, "little")
        opened.buffers[strings.buffer].data = np.frombuffer(bytes(changed), np.uint8)
        with pytest.raises(ValueError, match="not a valid Flatbuffer buffer"):
            verify(interface.packed(opened))
