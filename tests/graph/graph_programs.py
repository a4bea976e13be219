"""Graphs that TensorFlow and tapeflow both build, and that each of them runs from the other's file.

Run by a Python that has TensorFlow:

    python graph_programs.py write DIRECTORY      builds each program: NAME.pb, and its results in NAME.pickle
    python graph_programs.py run DIRECTORY        runs each NAME.pb there: results in NAME.pickle

Both do the same with a MetaGraph, model.meta and model.pickle.
"""

import os
import pathlib
import pickle
import sys

import numpy as np

PROGRAMS = {}


def program(function):
    """`function(tf)` builds in the default graph and returns feeds and fetches, both by names."""
    PROGRAMS[function.__name__] = function
    return function


def _names(*tensors):
    return [t.name for t in tensors]


@program
def arithmetic(tf):
    x = tf.compat.v1.placeholder(tf.float32, [None, 3], name="x")
    y = tf.matmul(x, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), transpose_b=False)
    z = tf.tanh(y) * 2.0 + tf.cast(tf.shape(x)[0], tf.float32)
    s = tf.reduce_sum(z, axis=[0, 1], keepdims=True)
    return {"x:0": np.float32([[1, -1, 0.5], [0, 2, 1]])}, _names(
        y, z, s, tf.argmax(z, 1), tf.exp(-y)
    )


@program
def layout(tf):
    x = tf.compat.v1.placeholder(tf.int32, [4, 6], name="x")
    a, b = tf.split(x, 2, axis=1)
    c = tf.concat([b, a], 0)
    d = tf.transpose(tf.reshape(c, [2, -1, 3]), [1, 0, 2])
    e = tf.stack([x[1:3, ::2], x[-2:, :3]])
    f, g = tf.unstack(e)
    fetches = [c, d, e, f, g, tf.gather(x, [3, 0], axis=0), tf.pad(x, [[0, 1], [1, 0]]), tf.tile(a, [1, 2]),
               tf.one_hot(x[0], 5, on_value=2.0), tf.where(x > 5, x, -x), tf.squeeze(x[0:1]),
               tf.reverse(x, [1])]  # fmt: skip
    return {"x:0": np.arange(24, dtype=np.int32).reshape(4, 6) % 7}, _names(*fetches)


@program
def constants(tf):
    values = [
        tf.constant(value, getattr(tf, kind))
        for kind in [
            "float16",
            "bfloat16",
            "float32",
            "float64",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "complex64",
        ]
        for value in (3, [1, 2, 2, 2], [[0, 0], [0, 0]])
    ]
    values += [
        tf.constant(True),
        tf.constant([True, False]),
        tf.constant("text"),
        tf.constant([b"\xff\x00", b"", b"a"]),
    ]
    values += [
        tf.constant([], tf.float32),
        tf.constant(np.nan),
        tf.constant(7, shape=[2, 3]),
        tf.zeros([0, 3]),
    ]
    return {}, _names(*[tf.identity(v) for v in values])


@program
def conditions(tf):
    x = tf.compat.v1.placeholder(tf.float32, [], name="x")
    y = tf.cond(
        x > 0, lambda: tf.cond(x > 10, lambda: x * 100, lambda: x * 10), lambda: x - 1, name="outer"
    )
    z = tf.switch_case(tf.cast(x, tf.int32), [lambda: x, lambda: x + 1, lambda: tf.square(x)])
    a, b = tf.cond(x < 3, lambda: (x, tf.constant([1, 2])), lambda: (-x, tf.constant([3, 4])))
    return {"x:0": np.float32(2.5)}, _names(
        tf.identity(y), tf.identity(z), tf.identity(a), tf.identity(b)
    )


@program
def loops(tf):
    n = tf.compat.v1.placeholder(tf.int32, [], name="n")
    scale = tf.constant([1.0, 0.5])

    def body(i, total):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: total + scale, lambda: total * 2.0)

    i, total = tf.while_loop(lambda i, total: i < n, body, [0, tf.zeros([2])])
    grown = tf.while_loop(
        lambda k, v: k < n, lambda k, v: [k + 1, tf.concat([v, [k]], 0)], [0, tf.constant([7])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )[1]  # fmt: skip
    return {"n:0": np.int32(5)}, _names(tf.identity(i), tf.identity(total), tf.identity(grown))


@program
def gradients(tf):
    x = tf.compat.v1.placeholder(tf.float32, [2, 2], name="x")
    y = tf.reduce_sum(tf.nn.softmax(tf.matmul(x, x)) * tf.sin(x))
    (dx,) = tf.compat.v1.gradients(y, [x])
    z = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [0, x])[1]
    (dz,) = tf.compat.v1.gradients(z, [x])
    c = tf.cond(y > 0, lambda: tf.reduce_sum(x * x), lambda: tf.reduce_sum(x))
    (dc,) = tf.compat.v1.gradients(c, [x])
    return {"x:0": np.float32([[0.5, 1], [2, -1]])}, _names(y, dx, tf.identity(dz), tf.identity(dc))


@program
def convolution(tf):
    x = tf.compat.v1.placeholder(tf.float32, [None, 6, 6, 2], name="x")
    w = tf.constant(np.linspace(-1, 1, 3 * 3 * 2 * 4).reshape(3, 3, 2, 4).astype(np.float32))
    y = tf.nn.bias_add(
        tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME"), tf.constant([0.1, 0.2, 0.3, 0.4])
    )
    p = tf.nn.max_pool2d(tf.nn.relu(y), 2, 2, "VALID")
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.constant([1, 2]), logits=tf.reduce_mean(p, [1, 2])
    )
    feeds = {"x:0": np.sin(np.arange(144)).reshape(2, 6, 6, 2).astype(np.float32)}
    return feeds, _names(y, p, loss, tf.nn.avg_pool2d(x, 3, 2, "SAME"))


@program
def strings(tf):
    s = tf.compat.v1.placeholder(tf.string, [None], name="s")
    joined = tf.strings.join([s, tf.strings.as_string(tf.strings.length(s))], separator="-")
    return {"s:0": np.array([b"a", b"bcd"], object)}, _names(
        joined, tf.strings.upper(s), tf.strings.substr(s, 0, 1)
    )


@program
def dependencies(tf):
    with tf.compat.v1.name_scope("outer"):
        x = tf.compat.v1.placeholder_with_default(tf.constant([1.0, 2.0]), [None], name="x")
        with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(x > 0), [x])]):
            y = tf.identity(x * 3.0, name="y")
    with tf.device("/device:CPU:0"), tf.control_dependencies([y]):
        z = tf.constant(4.0, name="z")
    many = tf.identity_n([y, z])
    return {}, _names(y, z, *many)


@program
def variables(tf):
    w = tf.compat.v1.get_variable("w", initializer=tf.constant([[1.0], [2.0]]), use_resource=True)
    x = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
    with tf.control_dependencies([w.assign_add([[1.0], [1.0]])]):
        y = tf.matmul(x, tf.identity(w))
    with tf.control_dependencies([y]):
        z = tf.cond(tf.reduce_sum(x) > 0, lambda: w * 2.0, lambda: w + 1.0)
    init = tf.compat.v1.global_variables_initializer()
    return {"x:0": np.float32([[1, 1]]), "init": init.name}, _names(y, tf.identity(z))


@program
def lists(tf):
    x = tf.compat.v1.placeholder(tf.float32, [4], name="x")
    ys = tf.map_fn(lambda v: v * v + 1.0, x)
    sums = tf.scan(lambda a, v: a + v, x)
    return {"x:0": np.float32([1, 2, 3, 4])}, _names(tf.identity(ys), tf.identity(sums))


@program
def functions(tf):
    @tf.function(autograph=False)
    def inner(a):
        return a * 2.0 + 1.0

    @tf.function(autograph=False)
    def outer(a, b):
        return inner(a) - inner(b), tf.reduce_sum(a)

    x = tf.compat.v1.placeholder(tf.float32, [3], name="x")
    y, s = outer(x, tf.square(x))
    return {"x:0": np.float32([1, 2, 3])}, _names(tf.identity(y), tf.identity(s))


@program
def random_numbers(tf):
    a = tf.random.stateless_uniform([3], seed=[1, 2])
    b = tf.random.stateless_normal([2, 2], seed=tf.constant([3, 4]))
    return {}, _names(a, b)


# Running them.


def build(tf, name):
    """(GraphDef, feeds, fetches) of a program, built in a graph of its own."""
    graph = tf.Graph()
    with graph.as_default():
        feeds, fetches = PROGRAMS[name](tf)
        return graph.as_graph_def(), feeds, fetches


def run(tf, graph_def, feeds, fetches):
    """What a session computes from a GraphDef."""
    feeds = dict(feeds)
    init = feeds.pop("init", None)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    with tf.compat.v1.Session(graph=graph) as session:
        if init is not None:
            session.run(init)
        return [np.asarray(v, np.float32) if str(np.asarray(v).dtype) == "bfloat16" else v
                for v in session.run(fetches, feeds)]  # fmt: skip


def write_meta_graph(tf, folder):
    """Writes a graph with a variable and collections."""
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
        with tf.compat.v1.variable_scope("layer"):
            w = tf.compat.v1.get_variable(
                "w", initializer=tf.constant([[1.0], [2.0]]), use_resource=True
            )
            y = tf.matmul(x, w, name="y")
        for key, value in (("losses", y), ("n", 3), ("f", 1.5), ("s", b"text"), ("ops", y.op)):
            tf.compat.v1.add_to_collection(key, value)
        tf.compat.v1.train.export_meta_graph(str(folder / "model.meta"))


def read_meta_graph(tf, folder):
    """What is in the graph that was written: collections, names, and the result for one input."""
    graph = tf.Graph()
    with graph.as_default():
        tf.compat.v1.train.import_meta_graph(str(folder / "model.meta"), import_scope="in")
        found = {
            key: [getattr(item, "name", item) for item in graph.get_collection(key)]
            for key in ("variables", "trainable_variables", "losses", "n", "f", "s", "ops")
        }
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            (w,) = tf.compat.v1.global_variables()
            session.run(w.assign([[3.0], [4.0]]))
            found["y"] = session.run(found["losses"][0], {"in/x:0": [[1.0, 1.0]]}).tolist()
    return found


def prepare(tf):
    """Control flow as functions and resource variables, as tapeflow has them."""
    tf.compat.v1.enable_control_flow_v2()
    tf.compat.v1.enable_resource_variables()


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow

    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    prepare(tensorflow)
    if what == "write":
        write_meta_graph(tensorflow, folder)
    (folder / "model.pickle").write_bytes(pickle.dumps(read_meta_graph(tensorflow, folder)))
    for name in PROGRAMS:
        try:
            if what == "write":
                made, feeds, fetches = build(tensorflow, name)
                (folder / f"{name}.pb").write_bytes(made.SerializeToString())
            else:
                made = tensorflow.compat.v1.GraphDef.FromString(
                    (folder / f"{name}.pb").read_bytes()
                )
                feeds, fetches = pickle.loads((folder / f"{name}.feeds").read_bytes())
            answer = feeds, fetches, run(tensorflow, made, feeds, fetches)
        except Exception as error:
            answer = {}, [], f"{type(error).__name__}: {error}"
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(answer))
