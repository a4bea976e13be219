"""Models that are not trusted: what they may not do is refused when they are loaded, what they may use is limited."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.graph.interchange import trust
from tapeflow.graph.nodes import from_node_def as nodes
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops import node_rows
from tapeflow.ops.node_rows import NODES
from tapeflow.ops.state.resource_op import ResourceOp

v1 = tf.compat.v1
errors = tf.errors
Limits = tf.saved_model.Limits
nodes.load_all_rows()
node_rows.load_all()

SECRET = "secret"


def module(function, *specs):
    made = tf.Module()
    made.f = tf.function(function, input_signature=list(specs))
    return made


def saved(tmp_path, function, *specs):
    path = str(tmp_path / "model")
    tf.saved_model.save(module(function, *specs), path)
    return path


# What is refused.


def _read(path):
    return tf.io.read_file(path)


def _written(path):
    with tf.control_dependencies([tf.io.write_file(path, "overwritten")]):
        return tf.constant("")


def _matched(path):
    return tf.strings.join([tf.io.matching_files(path)[0]])


def _printed(path):
    name = path.numpy().decode() if hasattr(path, "numpy") else path
    tf.print("text", output_stream=f"file://{name}")
    return tf.constant("")


TOUCHING = {"ReadFile": _read, "WriteFile": _written, "MatchingFiles": _matched, "PrintV2": _printed}


def _plain(make):
    return lambda flag: make()


def _nested(make):
    inner = tf.function(make)
    middle = tf.function(lambda: inner())
    return lambda flag: middle()


def _branch(make):
    return lambda flag: tf.cond(flag, make, lambda: tf.constant(""))


def _loop(make):
    def run(flag):
        return tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, make()), (0, tf.constant("")))[1]

    return run


def _element(make):
    def run(flag):
        found = tf.data.Dataset.range(1).map(lambda i: make())
        return found.reduce(tf.constant(""), lambda state, x: x)

    return run


PLACES = {"plain": _plain, "nested": _nested, "branch": _branch, "loop": _loop, "element": _element}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", TOUCHING)
def test_a_function_that_touches_files_is_refused_when_it_is_loaded(kind, place, tmp_path, effects):
    target = tmp_path / "target"
    target.write_text(SECRET)
    path = saved(
        tmp_path, PLACES[place](lambda: TOUCHING[kind](str(target))), tf.TensorSpec([], tf.bool)
    )
    with effects() as found, pytest.raises(errors.PermissionDeniedError, match=f"\\({kind}\\).* of function '"):
        tf.saved_model.load(path, trusted=False)
    assert not [each for each in found if str(target) in each[1]]
    assert target.read_text() == SECRET
    tf.saved_model.load(path, trusted=True)


KINDS = op_defs.names()
REFUSED = [k for k in KINDS if op_defs.touches(k) not in ("", "streams") and k != "PrintV2"]


@pytest.mark.parametrize("kind", REFUSED)
def test_every_op_that_touches_something_is_refused_in_graphs_and_functions(kind):
    node = protos.NodeDef(name="here", op=kind)
    node.attr["descriptor_source"].s = b"/a/file"
    with trust.loading(False):
        for message in (
            v1.GraphDef(node=[node]),
            v1.GraphDef(node=[protos.NodeDef(name="call", op="inner")], library=_library(node)),
        ):
            with tf.Graph().as_default(), pytest.raises(errors.PermissionDeniedError, match=f"'here' \\({kind}\\)"):
                tf.import_graph_def(message)


def _library(node):
    made = protos.FunctionDefLibrary()
    made.function.add(node_def=[node]).signature.name = "inner"
    return made


def test_ops_that_wait_for_others_are_refused():
    waiting = [k for k, row in NODES.items() if isinstance(row, ResourceOp) and row.patience]
    assert "QueueDequeueV2" in waiting
    for kind in waiting:
        message = v1.GraphDef(node=[protos.NodeDef(name="here", op=kind)])
        with trust.loading(False), tf.Graph().as_default(), pytest.raises(errors.PermissionDeniedError, match=kind):
            tf.import_graph_def(message)


def test_streams_of_the_process_may_be_printed_to(tmp_path, capsys):
    def shown(x):
        tf.print(x, output_stream=sys.stdout)
        return x

    path = saved(tmp_path, shown, tf.TensorSpec([], tf.int32))
    tf.saved_model.load(path, trusted=False).f(tf.constant(3))
    assert capsys.readouterr().out == "3\n"


def test_functions_that_call_python_are_refused(tmp_path):
    path = saved(tmp_path, lambda: tf.numpy_function(lambda: np.float32(1), [], tf.float32))
    with pytest.raises(errors.PermissionDeniedError, match=r"touches python"):
        tf.saved_model.load(path, trusted=False)


# A model's own files.


class WithTable(tf.Module):
    def __init__(self, vocabulary):
        super().__init__()
        index = tf.lookup.TextFileIndex
        initializer = tf.lookup.TextFileInitializer(
            str(vocabulary), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(initializer, -1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def f(self, words):
        return self.table.lookup(words)


@pytest.fixture
def with_asset(tmp_path):
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("a\nb\n")
    tf.saved_model.save(WithTable(vocabulary), str(tmp_path / "model"))
    vocabulary.unlink()
    return tmp_path / "model"


def test_a_table_of_the_models_own_file_is_filled(with_asset):
    for trusted in (True, False):
        loaded = tf.saved_model.load(str(with_asset), trusted=trusted)
        assert loaded.f(tf.constant(["b", "a", "c"])).numpy().tolist() == [1, 0, -1]


def test_a_table_of_another_file_is_refused(with_asset, tmp_path, effects):
    other = tmp_path / "other"
    other.write_text(SECRET)
    data = protos.SavedModel.FromString((with_asset / "saved_model.pb").read_bytes())
    changed = 0
    for function in data.meta_graphs[0].graph_def.library.function:
        for node in function.node_def:
            if node.op == "InitializeTableFromTextFileV2":
                function.node_def.append(_constant("path", str(other)))
                node.input[1] = "path:output:0"
                changed += 1
    assert changed
    (with_asset / "saved_model.pb").write_bytes(data.SerializeToString())
    with effects() as found, pytest.raises(errors.PermissionDeniedError, match="InitializeTableFromTextFileV2"):
        tf.saved_model.load(str(with_asset), trusted=False)
    assert not [each for each in found if str(other) in each[1]]


def _constant(name, text):
    made = protos.NodeDef(name=name, op="Const")
    made.attr["dtype"].type = tf.string.as_datatype_enum
    made.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(text))
    return made


def _renamed_asset(model, filename):
    data = protos.SavedModel.FromString((model / "saved_model.pb").read_bytes())
    data.meta_graphs[0].asset_file_def[0].filename = filename
    (model / "saved_model.pb").write_bytes(data.SerializeToString())


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("way", ["absolute", "upwards", "file link", "folder link"])
def test_assets_stay_inside_of_the_model(way, trusted, with_asset, tmp_path, effects):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "words.txt").write_text(SECRET)
    assets = with_asset / "assets"
    if way == "absolute":
        _renamed_asset(with_asset, str(outside / "words.txt"))
    elif way == "upwards":
        _renamed_asset(with_asset, "../../outside/words.txt")
    else:
        (assets / "words.txt").unlink()
        if way == "file link":
            (assets / "words.txt").symlink_to(outside / "words.txt")
        else:
            assets.rmdir()
            assets.symlink_to(outside)
    with effects() as found, pytest.raises(ValueError, match="outside of it"):
        tf.saved_model.load(str(with_asset), trusted=trusted)
    assert not [each for each in found if each[0] == "open" and "words.txt" in each[1]]


def test_links_inside_of_a_model_and_to_one_are_followed(with_asset, tmp_path):
    (with_asset / "assets" / "words.txt").rename(with_asset / "assets" / "kept.txt")
    (with_asset / "assets" / "words.txt").symlink_to("kept.txt")
    (tmp_path / "latest").symlink_to(with_asset)
    loaded = tf.saved_model.load(str(tmp_path / "latest"), trusted=False)
    assert int(loaded.f(tf.constant(["b"]))[0]) == 1


def test_variables_stay_inside_of_a_model_that_is_not_trusted(tmp_path):
    made = tf.Module()
    made.v = tf.Variable(1.0)
    tf.saved_model.save(made, str(tmp_path / "model"))
    index = tmp_path / "model" / "variables" / "variables.index"
    index.rename(tmp_path / "index")
    index.symlink_to(tmp_path / "index")
    with pytest.raises(ValueError, match="link to what is outside"):
        tf.saved_model.load(str(tmp_path / "model"), trusted=False)


# Limits.

SMALL = Limits(steps=20_000, memory=1 << 24)


def _counting(n):
    return tf.while_loop(lambda i: i < n, lambda i: (i + 1,), (0,))[0]


def _in_branches(n):
    return tf.while_loop(
        lambda i: i < n, lambda i: (tf.cond(i % 2 > 0, lambda: i + 1, lambda: i + tf.strings.length("a")),), (0,)
    )[0]


def _elements(n):
    dataset = tf.data.Dataset.range(tf.cast(n, tf.int64)).repeat().take(tf.cast(n, tf.int64))
    return dataset.reduce(0, lambda state, x: state + 1)


def _filtered(n):
    dataset = tf.data.Dataset.range(10).repeat().filter(lambda x: x >= tf.cast(n, tf.int64))
    first = dataset.concatenate(tf.data.Dataset.range(1)).take(1)
    return tf.cast(first.reduce(tf.constant(0, tf.int64), tf.add), tf.int32)


def _skipped(n):
    dataset = tf.data.Dataset.range(3).repeat().map(lambda x: x + 1).skip(tf.cast(n, tf.int64)).take(1)
    return tf.cast(dataset.reduce(tf.constant(0, tf.int64), tf.add), tf.int32)


def _doubled(n):
    text = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x + x), (0, tf.constant("0123456789")))[1]
    return tf.strings.length(text)


STEPS = {
    "loop": (_counting, 100, 1 << 30),
    "branches": (_in_branches, 100, 1 << 30),
    "elements": (_elements, 100, 1 << 30),
    "filtered": (_filtered, 5, 11),
    "skipped": (_skipped, 10, 1 << 30),
    "strings": (_doubled, 3, 40),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_limited(name, tmp_path):
    function, few, many = STEPS[name]
    path = saved(tmp_path, function, tf.TensorSpec([], tf.int32))
    loaded = tf.saved_model.load(path, trusted=False, limits=SMALL)
    with pytest.raises(errors.ResourceExhaustedError, match="larger limits"):
        loaded.f(tf.constant(many))
    want = tf.saved_model.load(path).f(tf.constant(few))
    for _ in range(3):  # each call has steps of its own
        assert int(loaded.f(tf.constant(few))) == int(want)


def test_errors_that_a_dataset_ignores_are_steps(tmp_path):
    def never(n):
        dataset = tf.data.Dataset.range(10).repeat()
        dataset = dataset.map(lambda x: tf.debugging.check_numerics(tf.cast(x, tf.float32) / 0.0, ""))
        return dataset.prefetch(1).take(1).reduce(tf.constant(0.0), tf.add)

    path = saved(tmp_path, never, tf.TensorSpec([], tf.int32))
    file = tmp_path / "model" / "saved_model.pb"
    data = protos.SavedModel.FromString(file.read_bytes())
    library = data.meta_graphs[0].graph_def.library.function
    found = [node for function in library for node in function.node_def if node.op == "PrefetchDataset"]
    for node in found:
        node.op = "IgnoreErrorsDataset"
        del node.input[1]
    assert found
    file.write_bytes(data.SerializeToString())
    loaded = tf.saved_model.load(path, trusted=False, limits=SMALL)
    with pytest.raises(errors.ResourceExhaustedError):
        loaded.f(tf.constant(1))


def _filled(n):
    return tf.reduce_sum(tf.fill([n, 1024], 1.0))


def _outer(n):
    row = tf.range(n, dtype=tf.int32)
    return row[:, None] * row[None, :]


def _one_hot(n):
    return tf.one_hot(tf.range(n), n * 8)


def _accumulated(n):
    return tf.map_fn(lambda i: tf.fill([1024], i), tf.range(n))


def _variants(n):
    array = tf.TensorArray(tf.float32, n)
    return tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.zeros([1024]))), (0, array)
    )[1].stack()


def _transformed(n):
    return tf.signal.fft(tf.zeros([n * 64], tf.complex64))


MEMORY = {
    "filled": (_filled, 10, 1 << 20), "outer": (_outer, 10, 1 << 15), "one hot": (_one_hot, 10, 1 << 13),
    "accumulated": (_accumulated, 10, 1 << 13), "variants": (_variants, 10, 1 << 13),
    "fft": (_transformed, 10, 1 << 18),
}  # fmt: skip


@pytest.mark.parametrize("name", MEMORY)
def test_memory_is_limited(name, tmp_path):
    function, few, many = MEMORY[name]
    path = saved(tmp_path, function, tf.TensorSpec([], tf.int32))
    limits = Limits(steps=10_000_000, memory=1 << 24)
    loaded = tf.saved_model.load(path, trusted=False, limits=limits)
    with pytest.raises(errors.ResourceExhaustedError):
        loaded.f(tf.constant(many))
    for _ in range(3):
        np.testing.assert_array_equal(loaded.f(tf.constant(few)), tf.saved_model.load(path).f(tf.constant(few)))


def test_memory_that_was_freed_counts_no_more(tmp_path):
    def diagonal(n):
        return tf.linalg.diag_part(tf.signal.fft2d(tf.zeros([n, n], tf.complex64)))

    path = saved(tmp_path, diagonal, tf.TensorSpec([], tf.int32))
    loaded = tf.saved_model.load(path, trusted=False, limits=Limits(memory=1 << 24))
    for _ in range(200):  # 100 MB altogether
        loaded.f(tf.constant(256))


def test_limits_hold_inside_of_functions_of_the_program(tmp_path):
    path = saved(tmp_path, _filled, tf.TensorSpec([], tf.int32))
    loaded = tf.saved_model.load(path, trusted=False, limits=SMALL)
    around = tf.function(lambda n: loaded.f(n) + 1.0)
    assert float(around(tf.constant(1))) == 1025.0
    with pytest.raises(errors.ResourceExhaustedError):
        around(tf.constant(1 << 20))


def test_constants_that_planning_would_compute_are_limited(tmp_path):
    path = saved(tmp_path, lambda: tf.reduce_sum(tf.zeros([1 << 14, 1 << 12]) + tf.ones([1 << 12])))
    loaded = tf.saved_model.load(path, trusted=False, limits=SMALL)
    with pytest.raises(errors.ResourceExhaustedError):
        loaded.f()


def test_a_dataset_of_a_function_is_limited_element_by_element(tmp_path):
    def endless():
        dataset = tf.data.Dataset.range(10).repeat().filter(lambda x: x > 10)
        return tf.data.experimental.to_variant(dataset)

    found = tf.saved_model.load(saved(tmp_path, endless), trusted=False, limits=SMALL).f()
    dataset = tf.data.experimental.from_variant(found, tf.TensorSpec([], tf.int64))
    with pytest.raises(errors.ResourceExhaustedError):
        next(iter(dataset))


def test_what_is_trusted_has_no_limits(tmp_path):
    path = saved(tmp_path, _counting, tf.TensorSpec([], tf.int32))
    loaded = tf.saved_model.load(path)
    assert int(loaded.f(tf.constant(100_000))) == 100_000
    with pytest.raises(ValueError, match="trusted=False"):
        tf.saved_model.load(path, trusted=True, limits=SMALL)
    with pytest.raises(ValueError, match="positive"):
        tf.saved_model.load(path, trusted=False, limits=Limits(steps=0))


# Ordinary models.


def test_a_model_that_is_not_trusted_computes_and_trains_as_ever(tmp_path):
    model = tf.Module()
    model.w = tf.Variable([[1.0, -2.0], [3.0, 4.0]])
    model.f = tf.function(
        lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x @ model.w) @ model.w, lambda: x),
        input_signature=[tf.TensorSpec([None, 2], tf.float32)],
    )
    x = tf.constant([[1.0, 2.0]])
    tf.saved_model.save(model, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"), trusted=False)
    found = []
    for each in (model, loaded):
        with tf.GradientTape() as tape:
            y = each.f(x)
        found.append((y, tape.gradient(y, each.w)))
    np.testing.assert_array_equal(*(y for y, _ in found))
    np.testing.assert_array_equal(*(gradient for _, gradient in found))


def test_a_keras_model_that_is_not_trusted_computes_as_ever(tmp_path):
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input([6]), layers.Embedding(9, 4), layers.LSTM(5), layers.Dense(2)])
    ids = np.arange(12).reshape(2, 6) % 9
    model.export(str(tmp_path / "model"), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "model"), trusted=False)
    np.testing.assert_allclose(loaded.serve(tf.constant(ids, tf.float32)), model(ids), rtol=1e-5)


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def graph_model(tmp_path, request):
    """A SavedModel of 1.x with variables and a saver."""
    path = str(tmp_path / "graph")
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], "x")
        w = v1.get_variable("w", initializer=3.0, use_resource=request.param)
        y = tf.multiply(x, w, name="y")
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, path, {"x": x}, {"y": y})
    return path


def test_a_model_of_1_x_loads_without_its_saver(graph_model):
    loaded = tf.saved_model.load(graph_model, trusted=False)
    found = loaded.signatures["serving_default"](x=tf.constant([2.0]))
    assert found["y"].numpy().tolist() == [6.0]
    assert not [op.type for op in loaded.graph.get_operations() if op_defs.touches(op.type) == "files"]


def test_a_model_of_1_x_with_a_file_in_a_signature_is_refused(tmp_path):
    path = str(tmp_path / "graph")
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.string, [], "x")
        v1.saved_model.simple_save(session, path, {"x": x}, {"y": tf.io.read_file(x, name="reads")})
    with pytest.raises(errors.PermissionDeniedError, match=r"'reads' \(ReadFile\)"):
        tf.saved_model.load(path, trusted=False)


def test_a_session_restores_a_model_that_is_not_trusted(graph_model):
    with trust.loading(False), tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["serve"], graph_model)
        assert session.run("y:0", {"x:0": [2.0]}).tolist() == [6.0]
        with pytest.raises(errors.ResourceExhaustedError):
            session.run(tf.zeros([1 << 17, 1 << 17]))


# The runner.

PROGRAM = """
import sys
import tensorflow as tf
try:
    tf.saved_model.load(sys.argv[1])
except tf.errors.PermissionDeniedError as error:
    print("refused")
graph = tf.Graph()
with graph.as_default():
    tf.io.read_file("name")
message = graph.as_graph_def()
with tf.Graph().as_default():
    try:
        tf.import_graph_def(message)
    except tf.errors.PermissionDeniedError as error:
        print("refused")
tf.saved_model.load(sys.argv[1], trusted=True)
print("loaded")
"""


@pytest.mark.parametrize(("flags", "want"), [([], ["loaded"]), (["--untrusted"], ["refused", "refused", "loaded"])])
def test_the_runner_trusts_no_model_where_it_is_asked_to(flags, want, tmp_path):
    path = saved(tmp_path, lambda: tf.io.read_file("name"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow.run", *flags, "-c", PROGRAM, path],
        capture_output=True, text=True, env=environment, check=True,
    )  # fmt: skip
    assert done.stdout.split() == want


def test_a_row_that_is_not_loaded_yet_is_refused_too():
    """Rows are loaded when they are first used: an unknown name is no harmless one."""
    program = (
        "import tapeflow as tf; from tapeflow.graph.interchange import trust; from tapeflow import protos\n"
        "trust.set_default(trust.Limits())\n"
        "for op in ('ReadFile', 'WriteFile', 'NoSuchOp', 'TextLineDataset', 'ReaderReadV2', 'GetSessionTensor'):\n"
        "    try:\n"
        "        with tf.Graph().as_default():\n"
        "            tf.import_graph_def(protos.GraphDef(node=[protos.NodeDef(name='x', op=op)]))\n"
        "    except (tf.errors.PermissionDeniedError, tf.errors.NotFoundError) as error:\n"
        "        print(type(error).__name__)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    denied = "PermissionDeniedError"
    assert done.stdout.split() == [denied, denied, "NotFoundError", denied, denied, denied]
