"""tf.variable_scope, tf.get_variable and the functions of 1.x around variables, eagerly."""

import subprocess
import sys

import numpy as np
import pytest

import tapeflow
from tapeflow.compat import v1 as tf
from tapeflow.contrib.eager import EagerVariableStore


def test_names_and_scopes():
    with tf.variable_scope("net") as net:
        assert tf.get_variable("w", [2]).name == "net/w:0"
        with tf.variable_scope("inner", reuse=True) as inner:
            assert (inner.name, inner.original_name_scope) == ("net/inner", "net/inner/")
            assert inner.reuse is tf.AUTO_REUSE
            with tf.name_scope("only_ops"):
                assert tf.get_variable("w", [2]).name == "net/inner/w:0"
    with tf.variable_scope("other"):
        with tf.variable_scope(net) as again:
            assert (again.name, again.original_name_scope) == ("net", "net/")
            assert tf.Variable(1.0).name == "other/net/Variable:0"
        with tf.variable_scope(net, auxiliary_name_scope=False):
            assert tf.Variable(1.0).name == "other/Variable:0"
    assert tf.get_variable_scope().name == ""


def test_default_names_are_unique():
    with tf.variable_scope("around"):
        names = []
        for _ in range(3):
            with tf.variable_scope(None, "layer") as scope:
                names.append(scope.name)
    assert names == ["around/layer", "around/layer_1", "around/layer_2"]


def test_variables_are_new_without_a_store():
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w", [2]) is not tf.get_variable("w", [2])


def test_a_store_shares_variables():
    store = EagerVariableStore()
    found = []
    for _ in range(2):
        with store.as_default(), tf.variable_scope("m"):
            found.append(tf.get_variable("w", [2]))
            tf.get_variable("fixed", [2], trainable=False)
    assert found[0] is found[1]
    assert [v.name for v in store.variables()] == ["m/fixed:0", "m/w:0"]
    assert [v.name for v in store.trainable_variables()] == ["m/w:0"]
    assert [v.name for v in store.non_trainable_variables()] == ["m/fixed:0"]
    copied = store.copy().variables()
    assert [v.name for v in copied] == ["m/fixed:0", "m/w:0"]
    assert copied[1] is not found[0]
    with store.as_default(), tf.variable_scope("m"):
        with pytest.raises(ValueError, match=r"specified shape \(3,\) and found shape \(2,\)"):
            tf.get_variable("w", [3])
        with pytest.raises(ValueError, match="specified dtype int32 and found dtype float32"):
            tf.get_variable("w", [2], tf.int32)
    assert tf.get_variable("w", [2]) is not found[0]


def test_defaults_of_the_scope():
    with tf.variable_scope("z", initializer=tf.ones_initializer(), dtype=tf.float64):
        v = tf.get_variable("w", [2])
    assert v.dtype == tf.float64
    assert v.numpy().tolist() == [1, 1]
    calls = []

    def getter(getter, name, *args, **kwargs):
        calls.append(name)
        return getter(name, *args, **kwargs)

    with tf.variable_scope("a", custom_getter=getter), tf.variable_scope("b", custom_getter=getter):
        tf.get_variable("w", [1])
    assert calls == ["a/b/w", "a/b/w"]


def test_initial_values():
    assert tf.get_variable("i", [2], tf.int32).numpy().tolist() == [0, 0]
    assert tf.get_variable("c", initializer=[1, 2]).dtype == tf.int32
    assert tf.get_variable("f", initializer=lambda: tf.constant(2.0)).numpy() == 2
    assert tf.get_variable("k", [1], initializer=tf.ones_initializer).numpy().tolist() == [1]
    with pytest.raises(ValueError, match="`shape` argument must be specified"):
        tf.get_variable("n")
    with pytest.raises(ValueError, match="do not specify shape"):
        tf.get_variable("n", [2], initializer=[1.0, 2.0])
    with pytest.raises(ValueError, match="don't match"):
        tf.get_variable("n", initializer=3.0, dtype=tf.float64)


def test_bad_scopes_are_refused():
    with pytest.raises(TypeError, match="name_or_scope is required"):
        tf.variable_scope(None)
    with pytest.raises(TypeError, match="must be a string or VariableScope"):
        tf.variable_scope(3)
    with pytest.raises(ValueError, match="reuse parameter"):
        tf.variable_scope("x", reuse=3)


def test_assignments():
    v = tf.Variable([1.0, 2.0])
    assert tf.assign(v, [3.0, 4.0]).numpy().tolist() == [3, 4]
    assert tf.assign_add(v, [1.0, 1.0]).numpy().tolist() == [4, 5]
    assert tf.assign_sub(v, [2.0, 2.0]).numpy().tolist() == [2, 3]
    with pytest.raises(ValueError, match="Shape mismatch"):
        tf.assign(v, [1.0])
    with pytest.raises(AttributeError):
        tf.assign(tf.constant(1.0), 2.0)


def test_declaring_that_there_is_no_gradient():
    with pytest.raises(TypeError, match="must be a string"):
        tf.NotDifferentiable(3)
    with pytest.raises(KeyError, match="Floor"):
        tf.NotDifferentiable("Floor")
    tf.NotDifferentiable("AnOpOfTheTests")
    with pytest.raises(KeyError):
        tapeflow.no_gradient("AnOpOfTheTests")


def test_a_scope_is_one_of_the_graph_of_its_values():
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0)
    with tf.Graph().as_default() as other:
        b = tf.constant(1.0)
        with tf.variable_scope("x", values=[a]):
            assert tf.get_default_graph() is graph
            assert tf.get_variable("w", []).graph is graph
        with tf.variable_op_scope([a], "x"):
            assert tf.get_default_graph() is graph
        with tapeflow.summary.experimental.summary_scope("x", values=[a]):
            assert tf.get_default_graph() is graph
        assert tf.get_default_graph() is other
        with pytest.raises(ValueError, match="must be from the same graph"):
            tf.variable_scope("x", values=[a, b])


def test_a_scope_in_a_function_stays_in_it():
    with tf.Graph().as_default():
        a = tf.constant(1.0)

        @tapeflow.function
        def f():
            with tf.variable_scope("x", values=[a]):
                return a + 1

        assert tf.Session().run(f()) == 2


@pytest.fixture(params=["eager", "graph"])
def mode(request):
    """Runs the test eagerly and in a graph; evaluates what it is called with."""
    if request.param == "eager":
        yield lambda x: x.numpy()
        return
    with tf.Graph().as_default(), tf.Session() as session:

        def value(x):
            session.run(tf.global_variables_initializer())
            return session.run(x)

        yield value


def test_partitioned_variables(mode):
    with tf.variable_scope("part", partitioner=tf.fixed_size_partitioner(2)):
        whole = tf.get_variable("whole", initializer=np.arange(8.0).reshape(4, 2))
        scalar = tf.get_variable("scalar", shape=[], initializer=tf.ones_initializer())
    assert [tuple(part.shape) for part in whole] == [(2, 2), (2, 2)]
    assert [part.name for part in whole] == ["part/whole/part_0:0", "part/whole/part_1:0"]
    np.testing.assert_array_equal(mode(whole.as_tensor()), np.arange(8.0).reshape(4, 2))
    np.testing.assert_array_equal(mode(tf.nn.embedding_lookup(list(whole), [1, 2])), [[4.0, 5.0], [2.0, 3.0]])
    assert mode(scalar + 0) == 1  # a number has no parts


def test_initializers_are_told_which_part_they_fill(mode):
    seen = []

    def initializer(shape, dtype, partition_info):
        seen.append(partition_info and (list(shape), *partition_info))
        return tf.ones(shape, dtype)

    tf.get_variable("parted", [5, 2], initializer=initializer, partitioner=tf.fixed_size_partitioner(2))
    tf.get_variable("alone", [5, 2], initializer=initializer)
    assert seen == [([3, 2], [5, 2], [0, 0]), ([2, 2], [5, 2], [3, 0]), None]


def test_the_variance_of_a_part_is_that_of_the_whole(mode):
    initializer = tf.variance_scaling_initializer(mode="fan_in", distribution="uniform")
    parts = tf.get_variable(
        "scaled", [1000, 100], initializer=initializer, partitioner=tf.fixed_size_partitioner(10)
    )
    value = mode(parts.as_tensor())
    np.testing.assert_allclose(np.abs(value).max(), np.sqrt(3 / 1000), rtol=1e-2)


def test_parts_have_the_dtype_of_their_values(mode):
    parts = tf.create_partitioned_variables([4], [2], tf.constant([1, 2, 3, 4]))
    assert [part.dtype.base_dtype for part in parts] == [tf.int32, tf.int32]
    np.testing.assert_array_equal(mode(tf.concat([part.value() for part in parts], 0)), [1, 2, 3, 4])


def test_reading_a_partitioned_variable_waits_for_nothing():
    with tf.Graph().as_default() as graph:
        before = tf.constant(1.0)
        with tf.control_dependencies([before]):
            parts = tf.get_variable("x", [2, 3], partitioner=tf.fixed_size_partitioner(2))
            count = len(graph.get_operations())
            assert parts.as_tensor().shape.as_list() == [2, 3]
        assert not [op for op in graph.get_operations()[count:] if op.control_inputs]


def test_parts_of_an_identity(mode):
    with tf.variable_scope("identity", partitioner=tf.fixed_size_partitioner(3)):
        for dtype in (tf.float32, tf.float64):
            matrix = tf.get_variable(dtype.name, [5, 4], dtype, tf.initializers.identity(2.0))
            parts = list(matrix)
            assert [part.shape.as_list() for part in parts] == [[2, 4], [2, 4], [1, 4]]
            np.testing.assert_array_equal(mode(tf.convert_to_tensor(matrix)), 2 * np.eye(5, 4))


def test_variables_of_eager_templates_are_in_collections():
    program = """
import tapeflow as tf  # nothing of 1.x is loaded before the template is made
template = tf.compat.v1.make_template("t", lambda: tf.compat.v1.get_variable("v", [2]) + 1)
assert template().shape == template().shape == [2]
v1 = tf.compat.v1
assert [v.name for v in v1.global_variables()] == ["t/v:0"] == [v.name for v in template.variables]
assert [v.name for v in v1.trainable_variables()] == ["t/v:0"]
alone = v1.get_variable("alone", [1])
assert len(v1.global_variables()) == 1
with tf.Graph().as_default():
    assert v1.global_variables() == []
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_scopes_without_a_name():
    """A given empty name adds a slash to names of variables alone; an empty default name leads to the root, too."""
    with tapeflow.Graph().as_default():
        with tf.variable_scope("a"):
            with tf.variable_scope("") as given:
                assert (tf.get_variable("w", [1]).name, given.name) == ("a//w:0", "a/")
                assert tf.constant(1).name == "a/Const:0"
            with tf.variable_scope(None, "") as default:
                assert (tf.get_variable("w", [1]).name, default.name) == ("a/_1/w:0", "a/_1")
                assert tf.constant(1).name == "Const:0"
        with tf.variable_scope(""):
            assert tf.get_variable("x", [1]).name == "x:0"
        with tf.variable_scope("b"), tf.variable_scope(""), tf.variable_scope("c"):
            assert tf.get_variable("z", [1]).name == "b//c/z:0"


def test_penalties_of_eager_variables_follow_them():
    losses = tf.get_collection_ref(tf.GraphKeys.REGULARIZATION_LOSSES)
    before = list(losses)
    losses.clear()
    try:
        ones = tf.ones_initializer()
        w = tf.get_variable("w", [2], initializer=ones, regularizer=lambda v: tf.reduce_sum(v * v))
        tf.get_variable("u", [2], initializer=ones, regularizer={})
        tf.get_variable("n", [2], initializer=ones, regularizer=lambda v: None)
        assert len(tf.losses.get_regularization_losses()) == 1
        with tf.GradientTape() as tape:
            penalty = tf.losses.get_regularization_loss()
        assert penalty.numpy() == 2
        assert (sum(losses) * 2).numpy() == (1 - losses[0] + 5).numpy() == losses[0].numpy() * 2 == 4
        assert (losses[0].dtype, losses[0].shape) == (tf.float32, ())
        np.testing.assert_array_equal(tape.gradient(penalty, w), [2, 2])
        w.assign([3.0, 3.0])
        assert tf.losses.get_total_loss().numpy() == tf.add_n(losses).numpy() == 18
    finally:
        losses[:] = before


def test_variables_made_around_the_calls_of_a_template_belong_to_it():
    """Libraries enter the store of a template, by TensorFlow's name for it, to make variables beside those of calls."""
    template = tf.make_template("net", lambda: tf.get_variable("w", [2]), create_scope_now_=True)
    with template._template_store.as_default(), tf.variable_scope(template.variable_scope):
        b = tf.get_variable("b", [3])
    w = template()
    assert template() is w
    assert template.variables == [b, w]
