"""Parts of graphs, carved out, computed otherwise, and put back: the whole still computes the same."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.tools import carving

v1 = tf.compat.v1
RNG = np.random.RandomState(0)
X = RNG.normal(size=(3, 4)).astype(np.float32)
KERNEL = RNG.normal(size=(4, 5)).astype(np.float32)


def tower():
    """A graph whose scope "tower" has one input and two outputs, one of which another operation waits for."""
    graph = v1.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        y = tf.sin(x, name="before")
        with v1.name_scope("tower"):
            hidden = tf.nn.relu(y @ tf.constant(KERNEL), name="hidden")
            small = tf.exp(-hidden, name="small")
        total = tf.reduce_sum(hidden * small, name="total")
        with v1.control_dependencies([small]):
            tf.identity(total, name="later")
    return graph


def inside(op):
    return op.name.startswith("tower/")


def run(graph, names=("total:0", "later:0")):
    with v1.Session(graph=graph) as session:
        return session.run(list(names), {"x:0": X})


def in_numpy(y):
    hidden = np.maximum(y @ KERNEL, 0)
    return [hidden, np.exp(-hidden)]


def through_another_graph(part):
    """Each call imports the part into a graph of its own and runs it there."""

    def compute(y):
        with v1.Graph().as_default() as graph:
            outputs = part.function()(tf.constant(y))
            with v1.Session(graph=graph) as session:
                return session.run(outputs)

    return carving.in_python(part, compute)


REPLACEMENTS = {
    "xla": carving.compile_with_xla,
    "numpy": lambda part: part.replace(carving.in_python(part, in_numpy)),
    "another graph": lambda part: part.replace(through_another_graph(part)),
    "lite": lambda part: part.replace(carving.in_lite(part)),
    "itself": lambda part: part.replace(part.function()),
}

BY_XLA = pytest.param("xla", marks=pytest.mark.xla)


@pytest.mark.parametrize("replacement", [BY_XLA if name == "xla" else name for name in REPLACEMENTS])
@pytest.mark.parametrize("by", ["names", "predicate"])
def test_the_whole_computes_the_same(replacement, by):
    for needed in {"xla": ["jax"], "lite": ["ai_edge_litert", "litert_converter"]}.get(replacement, []):
        pytest.importorskip(needed)
    graph = tower()
    want = run(graph)
    chosen = inside if by == "predicate" else [op.name for op in graph.get_operations() if inside(op)]
    part = carving.carve(graph, chosen)
    assert [t.name for t in part.inputs] == ["before:0"]
    assert [t.name for t in part.outputs] == ["tower/hidden:0", "tower/small:0"]
    results = REPLACEMENTS[replacement](part)
    assert [t.shape.as_list() for t in results] == [[None, 5], [None, 5]]
    np.testing.assert_allclose(run(graph), want, rtol=1e-5)
    # Nothing that is fetched needs the part any more.
    needed = v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["total", "later"])
    assert not [node.name for node in needed.node if node.name.startswith("tower/")]
    part.restore()
    np.testing.assert_array_equal(run(graph), want)
    needed = v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["total", "later"])
    assert "tower/small" in {node.name for node in needed.node}


def test_a_part_in_few_bits():
    for needed in ("ai_edge_litert", "ai_edge_quantizer", "litert_converter"):
        pytest.importorskip(needed)
    graph, given = v1.Graph(), {"x:0": RNG.normal(size=(3, 64)).astype(np.float32)}
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 64], name="x")
        tf.identity(tf.matmul(x, tf.constant(RNG.normal(size=(64, 64)), tf.float32), name="product"), name="y")
    with v1.Session(graph=graph) as session:
        want = session.run("y:0", given)
        part = carving.carve(graph, lambda op: op.type in ("Const", "MatMul"))
        part.replace(carving.in_lite(part, optimizations=[tf.lite.Optimize.DEFAULT]))
        found = session.run("y:0", given)
        part.restore()
        np.testing.assert_array_equal(session.run("y:0", given), want)
    assert 0 < np.abs(found - want).max() < 0.05 * np.abs(want).max()


def test_another_computation_changes_the_whole():
    graph = tower()
    want = run(graph)
    part = carving.carve(graph, inside)
    part.replace(carving.in_python(part, lambda y: [2 * each for each in in_numpy(y)]))
    np.testing.assert_allclose(run(graph)[0], 4 * want[0], rtol=1e-5)


@pytest.mark.parametrize("replacement", [BY_XLA, "itself"])
def test_gradients_go_through_what_took_the_place(replacement):
    if replacement == "xla":
        pytest.importorskip("jax")
    grads = []
    for replaced in (False, True):
        graph = tower()
        if replaced:
            REPLACEMENTS[replacement](carving.carve(graph, inside))
        with graph.as_default():
            found = v1.gradients(graph.get_tensor_by_name("total:0"), graph.get_tensor_by_name("x:0"))
        grads += run(graph, [found[0].name])
    np.testing.assert_allclose(*grads, rtol=1e-4, atol=1e-6)


def test_parts_wait_for_what_they_waited_for():
    with v1.Graph().as_default() as graph:
        variable = v1.Variable(1.0)
        added = v1.assign_add(variable, 2.0)
        with v1.control_dependencies([added.op if hasattr(added, "op") else added]):
            doubled = tf.identity(variable.read_value(), name="value")
            out = tf.multiply(doubled, 2.0, name="part")
        tf.identity(out, name="end")
        part = carving.carve(graph, ["part", "part/y"])
        part.replace(part.function())
        with v1.Session() as session:
            session.run(variable.initializer)
            assert session.run("end:0") == 6.0


def test_a_part_as_a_graph_of_its_own():
    part = carving.carve(tower(), inside)
    made = part.graph_def
    assert [node.op for node in made.node] == ["Placeholder", "Const", "MatMul", "Relu", "Neg", "Exp"]
    assert made.node[0].name == "input_0"


def test_parts_that_cannot_be_carved():
    graph = tower()
    with pytest.raises(KeyError, match="nothing"):
        carving.carve(graph, ["nothing"])
    with pytest.raises(ValueError, match="no operations"):
        carving.carve(graph, lambda op: False)
    with pytest.raises(ValueError, match="not in one piece: 'tower/Neg' is outside"):
        carving.carve(graph, ["tower/hidden", "tower/small"])


def test_replacements_that_do_not_fit():
    part = carving.carve(tower(), inside)
    with pytest.raises(ValueError, match="has 2 outputs, the function returned 1"):
        part.replace(lambda y: y)
    with pytest.raises(ValueError, match="has the shape"):
        part.replace(lambda y: [y, tf.zeros([3])])
    part.replace(part.function())
    with pytest.raises(ValueError, match="replaced already"):
        part.replace(part.function())


def test_variables_stay_in_their_graph():
    with v1.Graph().as_default() as graph:
        variable = v1.Variable([1.0, 2.0], name="v")
        tf.multiply(variable.read_value(), 2.0, name="out")
    reads = [op.name for op in graph.get_operations() if op.type == "ReadVariableOp"]
    part = carving.carve(graph, reads)
    with pytest.raises(ValueError, match="is a handle"):
        carving.in_python(part, lambda x: x)
    with pytest.raises(ValueError, match="has effects or state"):
        carving.compile_with_xla(part)
