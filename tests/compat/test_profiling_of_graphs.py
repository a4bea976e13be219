"""tf.profiler of 1.x: numbers of operations and parameters, by scopes and by types, as TensorFlow's."""

import types

import pytest

import tapeflow as tf

v1 = tf.compat.v1
profiler = v1.profiler
Builder = profiler.ProfileOptionBuilder

# What TensorFlow counts.
FLOAT_OPERATIONS = {
    "matmul": (
        120,
        lambda: tf.matmul(tf.ones([3, 4]), tf.ones([5, 4]), transpose_b=True),
    ),
    "matmul of a transpose": (
        120,
        lambda: tf.matmul(tf.ones([4, 3]), tf.ones([4, 5]), transpose_a=True),
    ),
    "stacks of matrices": (
        240,
        lambda: tf.matmul(tf.ones([2, 3, 4]), tf.ones([2, 4, 5])),
    ),
    "conv2d": (
        5760,
        lambda: tf.nn.conv2d(tf.ones([2, 8, 9, 3]), tf.ones([3, 2, 3, 4]), 2, "SAME"),
    ),
    "conv3d": (
        13824,
        lambda: tf.nn.conv3d(tf.ones([1, 5, 6, 7, 2]), tf.ones([2, 3, 2, 2, 3]), [1, 1, 1, 1, 1], "VALID"),
    ),
    "depthwise": (
        10368,
        lambda: tf.nn.depthwise_conv2d(
            tf.ones([2, 8, 9, 3]), tf.ones([3, 2, 3, 2]), [1, 1, 1, 1], "SAME"),
    ),
    "dilation": (
        400,
        lambda: tf.nn.dilation2d(
            tf.ones([1, 5, 5, 2]), tf.ones([2, 2, 2]), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]),
    ),
    "conv2d, gradients": (
        16128,
        lambda: tf.compat.v1.gradients(
            tf.nn.conv2d(x := tf.ones([2, 8, 9, 3]), w := tf.ones([3, 2, 3, 4]), 2, "SAME"), [x, w]),
    ),
    "max_pool": (
        864,
        lambda: tf.nn.max_pool2d(tf.ones([2, 7, 8, 3]), 3, 2, "SAME"),
    ),
    "avg_pool": (
        288,
        lambda: tf.nn.avg_pool2d(tf.ones([2, 7, 8, 3]), 2, 2, "VALID"),
    ),
    "pools, gradients": (
        3024,
        lambda: tf.compat.v1.gradients(
            [tf.nn.avg_pool2d(x := tf.ones([2, 7, 8, 3]), 2, 2, "VALID"), tf.nn.max_pool2d(x, 3, 2, "SAME")], [x]),
    ),
    "bias": (
        10,
        lambda: tf.nn.bias_add(tf.ones([2, 5]), tf.ones([5])),
    ),
    "softmax": (
        60,
        lambda: tf.nn.softmax(tf.ones([3, 4])),
    ),
    "l2_loss": (
        35,
        lambda: tf.nn.l2_loss(tf.ones([3, 4])),
    ),
    "one for each input": (
        75,
        lambda: [f(tf.ones([3, 5])) for f in (tf.square, tf.math.log, tf.negative, tf.math.rsqrt)],
    ),
    "one for each output": (
        165,
        lambda: [
            f(tf.ones([3, 1]), tf.ones([5])) for f in (
            tf.add, tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.minimum, tf.pow, tf.greater, tf.less_equal,
            tf.math.squared_difference)],
    ),
    "reductions": (
        51,
        lambda: [f(tf.ones([3, 5]), 1) for f in (tf.reduce_sum, tf.reduce_mean, tf.argmax, tf.argmin)],
    ),
    "add_n": (
        45,
        lambda: tf.add_n([tf.ones([3, 5])] * 4),
    ),
    "not counted": (
        0,
        lambda: [tf.nn.relu(tf.ones([3])), tf.exp(tf.ones([3])), tf.concat([tf.ones([3])] * 2, 0)],
    ),
}


def counted(make, **options):
    chosen = {**Builder.float_operation(), "output": "none", **options}
    with tf.Graph().as_default() as graph:
        make()
    return profiler.profile(graph, options=chosen)


@pytest.mark.parametrize("name", FLOAT_OPERATIONS)
def test_float_operations(name):
    number, make = FLOAT_OPERATIONS[name]
    assert counted(make).total_float_ops == number


def test_unknown_shapes_are_not_counted():
    def make():
        x = v1.placeholder(tf.float32, [None, 4])
        tf.matmul(x, tf.ones([4, 2]))
        tf.matmul(tf.ones([3, 4]), tf.ones([4, 2]))

    assert counted(make).total_float_ops == 48


def layers():
    x = v1.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    with v1.variable_scope("c1"):
        w = v1.get_variable("w", [3, 3, 3, 4], initializer=v1.zeros_initializer())
        b = v1.get_variable("b", [4], initializer=v1.zeros_initializer(), trainable=False)
        y = tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b)
    with v1.variable_scope("fc"):
        w2 = v1.get_variable("w", [256, 10], initializer=v1.zeros_initializer())
        tf.matmul(tf.reshape(y, [2, 256]), w2, name="out")


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        layers()
    return graph


def report(graph, capsys, cmd="scope", **options):
    found = profiler.profile(graph, cmd=cmd, options=options)
    return found, capsys.readouterr().out.partition("Profile:\n")[2].partition("\n\n")[0].split("\n")


def test_scopes_of_parameters(graph, capsys):
    found, lines = report(graph, capsys, **Builder.trainable_variables_parameter())
    assert lines == [
        "node name | # parameters",
        "_TFProfRoot (--/2.67k params)",
        "  c1 (--/108 params)",
        "    c1/w (3x3x3x4, 108/108 params)",
        "  fc (--/2.56k params)",
        "    fc/w (256x10, 2.56k/2.56k params)",
    ]
    assert found.total_parameters == 2668
    assert [(each.name, each.total_parameters, each.parameters) for each in found.children] == [
        ("c1", 108, 0), ("fc", 2560, 0),
    ]  # fmt: skip
    assert [dim.size for dim in found.children[0].children[0].shapes[0].dim] == [3, 3, 3, 4]


def test_what_counts_moves_out_of_scopes_that_do_not(graph, capsys):
    found, lines = report(graph, capsys, **Builder.float_operation())
    assert lines == [
        "node name | # float_ops",
        "_TFProfRoot (--/38.40k flops)",
        "  c1/Conv2D (27.65k/27.65k flops)",
        "  fc/out (10.24k/10.24k flops)",
        "  c1/BiasAdd (512/512 flops)",
    ]
    assert found.total_float_ops == 38400
    assert not found.float_ops


def test_types(graph, capsys):
    options = Builder(Builder.float_operation()).select(["params", "float_ops", "occurrence"]).build()
    found, lines = report(graph, capsys, "op", **options)
    assert lines == [
        "node name | # parameters | # float_ops | op occurrence (run|defined)",
        "Conv2D                          0 params (0.00%, 0.00%), 27.65k float_ops (100.00%, 72.00%),        0|1",
        "MatMul                          0 params (0.00%, 0.00%), 10.24k float_ops (28.00%, 26.67%),        0|1",
        "BiasAdd                         0 params (0.00%, 0.00%),   512 float_ops (1.33%, 1.33%),        0|1",
    ]
    first = found.children[0]
    assert (first.name, first.float_ops, first.total_float_ops) == ("Conv2D", 27648, 38400)
    assert [node.name for node in first.graph_nodes] == ["c1/Conv2D"]
    assert first.children[0].name == "MatMul"


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda b: b.with_node_names(start_name_regexes=["fc"]), {"fc/out"}),
        (lambda b: b.with_node_names(trim_name_regexes=["c1"]), {"fc/out"}),
        (lambda b: b.with_node_names(hide_name_regexes=[".*Conv.*"]), {"fc/out", "c1/BiasAdd"}),
        (lambda b: b.with_node_names(show_name_regexes=["fc.*"]), {"fc/out"}),
        (lambda b: b.with_min_float_operations(1000), {"fc/out", "c1/Conv2D"}),
        (lambda b: b.with_accounted_types(["MatMul"]), {"fc/out"}),
        (lambda b: b.with_max_depth(1), set()),
    ],
)
def test_choices(graph, change, names):
    options = change(Builder(Builder.float_operation())).with_empty_output().build()
    found = profiler.profile(graph, options=options)
    assert {child.name for child in found.children} == names
    assert found.total_float_ops == sum(child.float_ops for child in found.children)


def test_totals_of_what_is_hidden(graph):
    options = Builder(Builder.float_operation()).with_node_names(hide_name_regexes=[".*"]).with_empty_output()
    assert profiler.profile(graph, options=options.build()).total_float_ops == 0
    options = options.account_displayed_op_only(False)
    assert profiler.profile(graph, options=options.build()).total_float_ops == 38400


def test_times_and_memory_of_a_run(graph, capsys):
    memory = types.SimpleNamespace(total_bytes=2048, peak_bytes=3000, live_bytes=0)
    stats = types.SimpleNamespace(
        node_name="fc/out", op_start_rel_micros=5, op_end_rel_micros=2505, memory=[memory], output=[]
    )
    device = types.SimpleNamespace(node_stats=[stats])
    run = types.SimpleNamespace(step_stats=types.SimpleNamespace(dev_stats=[device]))
    found = profiler.profile(graph, run, options=Builder.time_and_memory())
    lines = capsys.readouterr().out.split("\n")
    assert "    fc/out (2.05KB/2.05KB, 2.50ms/2.50ms, 0us/0us, 2.50ms/2.50ms)" in lines
    assert (found.total_exec_micros, found.total_requested_bytes) == (2500, 2048)


def test_a_file_of_a_profile(graph, tmp_path):
    path = tmp_path / "profile.txt"
    profiler.profile(graph, options=Builder(Builder.float_operation()).with_file_output(str(path)).build())
    text = path.read_text()
    assert "-min_float_ops              1\n" in text
    assert "c1/Conv2D (27.65k/27.65k flops)" in text


def test_bad_input(graph):
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown cmd: bogus"):
        profiler.profile(graph, cmd="bogus")
    with pytest.raises(tf.errors.UnimplementedError, match="'code'"):
        profiler.profile(graph, cmd="code")
    with pytest.raises(ValueError, match="output"):
        profiler.profile(graph, options={"output": "timeline"})


def test_builders_do_not_share_options():
    first = Builder()
    assert first.with_min_parameters(3).build()["min_params"] == 3
    assert Builder().build()["min_params"] == 0
    first.build()["select"].append("params")
    assert first.build()["select"] == ["micros"]
