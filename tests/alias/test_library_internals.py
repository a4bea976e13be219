"""Parts of TensorFlow's internals that libraries and their tests use, as these expect them."""

import contextlib
import functools
import inspect
import itertools

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.alias import (
    function_utils,
    losses_utils,
    places,
    recurrent_cells,
    tf_inspect,
    tf_utils,
)
from tapeflow.alias.keras_tracing import trace_model_call
from tapeflow.contrib.framework import nest
from tapeflow.core import decorator, eager_context, errors
from tapeflow.core.specs import type_spec_registry
from tapeflow.core.specs.bounded_tensor_spec import BoundedTensorSpec
from tapeflow.core.tracking import trackable
from tapeflow.keras.utils import tensors
from tapeflow.ops.ragged.broadcast import assert_splits_match
from tapeflow.saved_model import structures
from tapeflow.testing import case as test_case
from tapeflow.testing import combinations as test_combinations


def test_context_of_operations():
    context = eager_context.current()
    context.ensure_initialized()
    context.clear_kernel_cache()
    assert context.executing_eagerly()
    assert not context.in_graph_mode()
    assert context.num_gpus() == len(tf.config.list_logical_devices("GPU"))
    assert context.devices() == [device.name for device in tf.config.list_logical_devices()]
    assert context.device_spec.device_type is None
    with tf.device("/cpu:0"), tf.name_scope("a"):
        assert context.device_spec.device_type == "CPU"
        assert context.device_name.endswith("CPU:0")
        assert context.scope_name == "a/"
    with tf.Graph().as_default():
        assert context.in_graph_mode()
    before = context.soft_device_placement
    try:
        context.soft_device_placement = not before
        assert tf.config.get_soft_device_placement() is not before
    finally:
        context.soft_device_placement = before
    assert context.config.allow_soft_placement == before


def test_operations_take_attributes():
    with tf.Graph().as_default():
        op = tf.constant(1.0).op
        op._made_by = "a program"
        assert op._made_by == "a program"


def test_the_value_of_a_constant_is_a_message():
    with tf.Graph().as_default():
        value = tf.constant([[1, 2]], name="c").op.get_attr("value")
    assert isinstance(value, protos.TensorProto)
    np.testing.assert_array_equal(tf.make_ndarray(value), [[1, 2]])


def test_functions_of_a_graph_and_attrs_that_name_them():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [])
        y = tf.cond(x > 0, lambda: x * 2.0, lambda: x)
        tf.while_loop(lambda i: i < 10.0, lambda i: i + 1.0, [y])
    branch = next(op for op in graph.get_operations() if op.type == "If")
    loop = next(op for op in graph.get_operations() if op.type == "While")
    named = [branch.get_attr(f"{each}_branch") for each in ("then", "else")]
    named += [loop.get_attr("cond"), loop.get_attr("body")]
    assert {each.name for each in named} == set(graph._functions)
    assert branch.get_attr("Tcond") == tf.bool
    assert loop.get_attr("T")[0] == tf.float32
    definition = graph._functions[loop.get_attr("body").name].definition
    assert [node.op for node in definition.node_def if node.op != "Const"] == ["AddV2"]
    with graph.as_default():
        tf.cond(x > 1.0, lambda: x * 3.0, lambda: x)
    assert len(graph._functions) == 6


def test_minimize_calls_what_a_subclass_overrides_by_names():
    class Doubled(tf.compat.v1.train.GradientDescentOptimizer):
        def compute_gradients(self, loss, var_list=None, **kwargs):
            pairs = super().compute_gradients(loss, var_list=var_list, **kwargs)
            return [(2.0 * grad, var) for grad, var in pairs]

    v = tf.Variable(1.0)
    Doubled(0.25).minimize(lambda: v * 1.0)
    assert v.numpy() == 0.5


def test_graphs_around_a_function():
    graphs = []

    @tf.function
    def inner():
        graphs.append(tf.compat.v1.get_default_graph())
        return tf.constant(1.0)

    @tf.function
    def outer():
        graphs.append(tf.compat.v1.get_default_graph())
        return tf.cond(inner() > 0.0, lambda: 1.0, lambda: 2.0)

    outer()
    around, within = graphs
    assert within.outer_graph is around
    assert type(around.outer_graph) is tf.Graph  # the default graph, which has none around it
    assert not hasattr(around.outer_graph, "outer_graph")


@pytest.mark.parametrize(
    "spec",
    [
        tf.TensorSpec([None, 1], tf.float32, "x"),
        tf.SparseTensorSpec([2, 3], tf.int32),
        tf.RaggedTensorSpec([2, None, 1], tf.float32, 1, tf.int64),
        tf.TensorArraySpec([2], tf.float32),
    ],
    ids=lambda spec: type(spec).__name__,
)
def test_specs_are_registered(spec):
    name = type_spec_registry.get_name(type(spec))
    assert name == f"tf.{type(spec).__name__}"
    assert type_spec_registry.lookup(name)._deserialize(spec._serialize()) == spec


class Halved(tf.Variable):
    """A variable as libraries make them that only holds another one: half of it, in float16."""

    def __init__(self, inside):
        self.inside = inside

    shape = property(lambda self: self.inside.shape)
    dtype = property(lambda self: tf.float16)

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.cast(self.inside.read_value() / 2.0, tf.float16)


def test_a_variable_that_holds_another_converts_itself():
    inside = tf.Variable([[2.0], [4.0]])
    halved = Halved(inside)
    one = tf.ones([1, 2], tf.float16)
    with tf.GradientTape() as tape:
        y = tf.matmul(one, halved)
    assert y.dtype == tf.float16
    assert y.numpy() == 3.0
    assert tape.gradient(y, inside).numpy().tolist() == [[0.5], [0.5]]
    np.testing.assert_array_equal(tf.convert_to_tensor(halved), [[1.0], [2.0]])
    np.testing.assert_array_equal(tf.function(lambda: tf.matmul(one, halved))(), [[3.0]])


def test_noise_shape_of_tensors_and_none():
    @tf.function
    def f(x):
        return tf.nn.dropout(x, 0.5, noise_shape=(tf.shape(x)[0], 1, None))

    noise = f(tf.ones([2, 5, 3])).numpy()
    assert (noise == noise[:, :1]).all()


def test_nested_structures_of_1x():
    assert nest.is_sequence([1, (2,)])
    assert not nest.is_sequence("ab")
    assert nest.flatten_up_to([0, 0], [1, [2, 3]]) == [1, [2, 3]]


class Extension(tf.experimental.ExtensionType):
    x: tf.Tensor


class LikeATensor(tf.__internal__.types.Tensor):
    pass


def test_what_counts_as_a_tensor():
    counts = [
        tf.constant(1.0), tf.Variable(1.0), tf.sparse.eye(2), tf.ragged.constant([[1], [2, 3]]),
        tf.IndexedSlices(tf.ones([1]), tf.constant([0])), LikeATensor(),
    ]  # fmt: skip
    others = [
        Extension(tf.constant(1.0)), tf.TensorArray(tf.float32, 2), tf.data.Dataset.range(2), np.ones(2),
        tf.experimental.Optional.from_value(1), iter(tf.data.Dataset.range(2)),
    ]  # fmt: skip
    assert all(map(tf.is_tensor, counts))
    assert not any(map(tf.is_tensor, others))


def test_variables_are_renamed_by_their_handles():
    v = tf.Variable(1.0, name="before")
    v._handle_name = "scope/after:0"
    assert (v._handle_name, v.name) == ("scope/after:0", "scope/after:0")


def test_what_a_graph_computes_from_a_tensor():
    with tf.Graph().as_default():
        a, b = tf.constant(1.0), tf.constant(2.0)
        c = a * 2.0
        d = c + b
        e = b + 1.0
    found = tf_utils.get_reachable_from_inputs([a])
    assert {a, c, d} <= found
    assert not {b, e} & found
    assert c in tf_utils.get_reachable_from_inputs([a], targets=[c])


def test_zeros_for_states_of_cells():
    for batch in (5, tf.constant(5)):
        state = recurrent_cells._zero_state_tensors((3, tf.TensorShape([2, 4])), batch, tf.float32)
        assert [each.shape.as_list() for each in state] == [[5, 3], [5, 2, 4]]
    with tf.Graph().as_default():
        state = recurrent_cells._zero_state_tensors(3, tf.compat.v1.placeholder(tf.int32, []), tf.float32)
        assert state.shape.as_list() == [None, 3]


@pytest.mark.parametrize(
    ("prefix", "suffix", "sizes"),
    [
        (3, 4, [3, 4]),
        (3, tf.TensorShape([2, 4]), [3, 2, 4]),
        (np.int32(3), 5, [3, 5]),
        ([3, 1], [2], [3, 1, 2]),
        (None, 4, None),
        (tf.TensorShape(None), 3, None),
        ([2], [None, 3], [2, None, 3]),
    ],
)
def test_sizes_one_after_the_other(prefix, suffix, sizes):
    assert recurrent_cells._concat(prefix, suffix, static=True) == sizes
    if sizes is None or None in sizes:
        with pytest.raises(ValueError, match="None"):
            recurrent_cells._concat(prefix, suffix)
        return
    for a in (prefix, tf.constant(tf.TensorShape(prefix).as_list())):
        found = recurrent_cells._concat(a, suffix)
        assert found.dtype == tf.int32
        assert found.numpy().tolist() == sizes
        assert recurrent_cells._concat(a, suffix, static=True) == sizes


def test_sizes_are_vectors():
    assert recurrent_cells._concat(tf.constant(3), tf.constant(4), static=True) == [3, 4]
    with pytest.raises(ValueError, match="scalar or vector"):
        recurrent_cells._concat(tf.zeros([1, 1], tf.int32), 1)


def test_checks_of_cells():
    class Cell:
        output_size = 2

        @property
        def state_size(self):
            raise RuntimeError("not yet")

    assert recurrent_cells._hasattr(Cell(), "state_size")
    assert not recurrent_cells._hasattr(Cell(), "zero_state")
    with pytest.raises(TypeError, match=recurrent_cells.ASSERT_LIKE_RNNCELL_ERROR_REGEXP):
        recurrent_cells.assert_like_rnncell("cell", object())
    recurrent_cells.assert_like_rnncell("cell", tf.compat.v1.nn.rnn_cell.GRUCell(2))


def test_an_error_made_of_the_parts_of_another():
    error = errors.InvalidArgumentError(None, None, "bad", errors.INVALID_ARGUMENT)
    assert (error.message, error.error_code, error.experimental_payloads) == ("bad", errors.INVALID_ARGUMENT, {})


def test_splits_that_match():
    a, b = tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[4], [5, 6]])
    other = tf.ragged.constant([[1, 2], [3]])
    assert_splits_match([a.nested_row_splits, b.nested_row_splits])
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        assert_splits_match([a.nested_row_splits, other.nested_row_splits])
    with pytest.raises(ValueError, match="identical ragged splits"):
        assert_splits_match([a.nested_row_splits, tf.ragged.constant([[[1]]]).nested_row_splits])


@pytest.mark.parametrize("in_function", [False, True])
def test_methods_of_arrays_by_their_class(in_function):
    def use(n):
        array = tf.TensorArray(tf.float32, n)
        for i in tf.range(n):
            array = tf.TensorArray.write(array, i, tf.cast(i, tf.float32))
        return tf.TensorArray.stack(array), tf.TensorArray.size(array)

    stacked, size = (tf.function(use) if in_function else use)(tf.constant(3))
    assert stacked.numpy().tolist() == [0, 1, 2]
    assert size.numpy() == 3


def test_a_decorated_method_shows_the_arguments_without_self():
    class Layer:
        def call(self, x, training=False):
            return x * 2.0

    layer = Layer()
    inner = decorator.make_decorator(
        layer.call, lambda *args, **kwargs: layer.call(*args, **kwargs),
        decorator_argspec=inspect.getfullargspec(layer.call),
    )  # fmt: skip
    assert list(inspect.signature(inner).parameters) == ["self", "x", "training"]
    outer = decorator.make_decorator(inner, lambda *args, **kwargs: inner(*args, **kwargs))
    assert list(inspect.signature(outer).parameters) == ["x", "training"]
    assert outer.__self__ is layer
    concrete = tf.function(outer).get_concrete_function(tf.TensorSpec([None]), training=True)
    np.testing.assert_array_equal(concrete(tf.constant([1.0])), [2.0])


def test_what_can_become_a_tensor_is_none_yet():
    class Convertible:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant(1.0, dtype)

    value = Convertible()
    assert not tf.is_tensor(value)
    assert tf.add(value, 1.0).numpy() == 2.0


def test_symbolic_tensors_and_what_becomes_one():
    class Convertible:
        def __init__(self, tensor):
            self.tensor = tensor

        def __tf_tensor__(self, dtype=None, name=None):
            return self.tensor

    tensors.register_symbolic_tensor_type(Convertible)
    assert tensors.is_symbolic_tensor(tf.keras.Input([2]))
    assert not tensors.is_symbolic_tensor(tf.constant(1.0))
    assert not tensors.is_symbolic_tensor(Convertible(tf.constant(1.0)))
    with tf.Graph().as_default():
        assert tensors.is_symbolic_tensor(Convertible(tf.constant(1.0)))


def test_arguments_of_traced_functions():
    f = tf.function(lambda x, y=2: x)
    assert inspect.getfullargspec(f).args == ["x", "y"]
    assert "python_function" in inspect.signature(type(f)).parameters


@pytest.mark.parametrize("make", [lambda d: d, lambda d: d.batch(2), lambda d: tf.distribute.get_strategy()
                                  .experimental_distribute_dataset(d)])  # fmt: skip
def test_datasets_are_told_by_a_class_of_tensorflow(make):
    """Libraries that work with several frameworks look for it without an import of TensorFlow."""
    parents = type(make(tf.data.Dataset.range(4))).__mro__
    assert any(c.__name__ == "DatasetV2" and c.__module__.startswith("tensorflow.python.") for c in parents)


def test_sessions_with_hooks_can_be_made():
    """Libraries with a training loop of their own put hooks around a session that they have."""
    hooked = places.Internal("python.training.monitored_session").get("_HookedSession")
    seen = []

    class Hook(tf.compat.v1.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.compat.v1.train.SessionRunArgs(double)

        def after_run(self, run_context, run_values):
            seen.append(run_values.results)

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(3)
        double = x * 2
        assert hooked(session, [Hook()]).run(x) == 3
    assert seen == [6]


@pytest.mark.parametrize("name", ["equal", "less", "add", "concat", "reduce_sum", "zeros", "rank", "cast"])
def test_functions_are_described_without_annotations(name):
    """Libraries compare them with functions of their own, which have none."""
    assert tf_inspect.getfullargspec(getattr(tf, name)).annotations == {}
    assert inspect.getfullargspec(getattr(tf, name)).args == tf_inspect.getfullargspec(getattr(tf, name)).args


def test_functions_of_others_keep_their_annotations():
    def f(x: int) -> int:
        return x

    assert tf_inspect.getfullargspec(f) == inspect.getfullargspec(f)


def test_control_dependencies_of_any_iterable():
    @tf.function
    def f(x):
        with tf.control_dependencies(itertools.chain([tf.debugging.assert_positive(x)], [])):
            return x * 2.0

    assert f(1.0).numpy() == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(-1.0)
    with tf.Graph().as_default():
        a = tf.constant(1.0)
        with tf.control_dependencies(each for each in [a]):
            assert tf.constant(2.0).op.control_inputs == [a.op]


def test_the_device_of_the_blocks_around():
    class Capture:
        device = None

        def _set_device_from_string(self, device):
            self.device = device

    with tf.Graph().as_default() as graph:
        cases = [(["/gpu:1"], "/device:GPU:1"), (["/cpu:0", lambda op: "/job:w"], "/job:w/device:CPU:0")]
        for scopes, expected in cases:
            with contextlib.ExitStack() as stack:
                for scope in scopes:
                    stack.enter_context(graph.device(scope))
                capture = Capture()
                graph._apply_device_functions(capture)
                assert capture.device == expected
        capture = Capture()
        graph._apply_device_functions(capture)
        assert capture.device is None


@type_spec_registry.register("tests.PairSpec")
class PairSpec(tf.TypeSpec):
    """A spec of a program's own, of two tensors."""

    value_type = property(lambda self: tuple)

    def __init__(self, shape):
        self.shape = tf.TensorShape(shape)

    def _serialize(self):
        return (self.shape,)

    @property
    def _component_specs(self):
        return [tf.TensorSpec(self.shape), tf.TensorSpec(self.shape)]

    def _to_components(self, value):
        return list(value)

    def _from_components(self, components):
        return tuple(components)


def test_registered_specs_in_files():
    message = structures.encode({"pair": PairSpec([None, 2])})
    value = message.dict_value.fields["pair"].type_spec_value
    assert value.type_spec_class == protos.TypeSpecProto.TypeSpecClass.Value("REGISTERED_TYPE_SPEC")
    assert (value.type_spec_class_name, value.num_flat_components) == ("tests.PairSpec", 2)
    assert structures.decode(message) == {"pair": PairSpec([None, 2])}
    value.type_spec_class_name = "tests.Unknown"
    with pytest.raises(ValueError, match=r"tests\.Unknown"):
        structures.decode(message)


class Cases(test_case.TestCase):
    def test_ragged(self):
        a = tf.ragged.constant([[1.0], [2.0, 3.0]])
        self.assertAllClose(a, [[1.0], [2.0, 3.0 + 1e-7]])
        self.assertAllEqual([[1.0], [2.0, 3.0]], a)
        for wrong in ([[1.0], [2.0]], [[1.0], [2.0, 4.0]], [[1.0, 2.0], [3.0]]):
            with pytest.raises(AssertionError):
                self.assertAllEqual(a, wrong)
            with pytest.raises(AssertionError):
                self.assertAllClose(a, wrong)

    def test_random_numbers(self):
        expected = np.random.RandomState(87654321).uniform(size=3)
        np.testing.assert_array_equal(np.random.uniform(size=3), expected)

    @tf.test.disable_with_predicate(lambda: True, "not today")
    def test_skipped(self):
        raise AssertionError

    @tf.test.disable_with_predicate(lambda: False, "not today")
    def test_not_skipped(self):
        assert self._testMethodName == "test_not_skipped"


def test_names_of_tests_of_named_objects():
    objects = [test_combinations.NamedObject(name, lambda: 1) for name in ("first", "second")]
    found = [test_combinations._label(each) for each in test_combinations.combine(fn=objects)]
    assert found == ["_fn_first", "_fn_second"]


def test_reference_variables_are_renamed_by_their_handles():
    v = tf.compat.v1.Variable(1.0, name="before", use_resource=False)
    v._handle_name = "scope/after:0"
    assert v.name == "scope/after:0"


def test_exported_names_of_1_x_do_not_hide_those_of_2_x():
    from tapeflow.alias.symbols import get_symbol_from_name, keras_export

    @keras_export("keras.things.Thing", v1=[])
    class Thing:
        pass

    @keras_export(v1=["keras.things.Thing"])
    class OldThing:
        pass

    assert get_symbol_from_name("keras.things.Thing") is Thing
    assert get_symbol_from_name("compat.v1.keras.things.Thing") is OldThing


@pytest.mark.parametrize("graph", [False, True])
def test_name_scope_has_no_slash_at_its_end(graph):
    with tf.Graph().as_default() if graph else contextlib.nullcontext(), tf.name_scope("a/b/"):
        assert tf.__internal__.get_name_scope() == "a/b"


def test_specs_of_libraries_compare_by_keys_of_their_parts():
    key = tf.TensorSpec([2])._TypeSpec__make_cmp_key
    parts = [(1,), {"b": [2], "a": None}, np.arange(2)]
    assert key(parts) == key([(1,), {"a": None, "b": [2]}, np.arange(2)])
    assert hash(key(parts)) == hash(key(parts))
    for other in ([(1,)], [[1], *parts[1:]], [*parts[:2], np.arange(3)]):
        assert key(other) != key(parts)
    agree = tf.TensorSpec([2])._TypeSpec__is_compatible
    assert agree({"a": tf.TensorShape([None])}, {"a": tf.TensorShape([3])})
    assert agree((tf.TensorSpec([None]),), (tf.TensorSpec([3]),))
    assert not agree((1, 2), [1, 2])
    assert not agree(1, 1.0)
    assert not agree((1, 2), (1, 2, 3))


def test_state_of_a_generator_may_be_another_variable():
    generator = tf.random.Generator.from_seed(1)
    state = tf.Variable(generator._state_var)
    wanted = tf.random.Generator.from_seed(1).normal([2])
    generator.normal([3])
    generator._state_var = state
    np.testing.assert_array_equal(generator.normal([2]), wanted)


def test_comparing_nested_values_of_different_shapes():
    case = test_case.TestCase()
    case.assertAllEqual(((10, 5), {"b": (10, 20)}), ((10, 5), {"b": (10, 20)}))
    with pytest.raises(AssertionError, match="not equal"):
        case.assertAllEqual(((10, 5), {"b": (10, 20)}), ((10, 5), {"b": (10, 21)}))


class Doubled(tf.Variable):
    """A variable that wraps another, as libraries of quantization have it."""

    def __init__(self, wrapped):
        self.wrapped = wrapped

    def value(self):
        return 2.0 * self.wrapped.value()


def test_operators_of_variables_that_wrap_others():
    Doubled._OverloadAllOperators()
    x = Doubled(tf.Variable([1.0, 2.0]))
    assert (x + 1.0).numpy().tolist() == [3.0, 5.0]
    assert (3.0 - x).numpy().tolist() == [1.0, -1.0]
    assert float(x[1]) == 4.0


def test_results_of_eager_assignments_have_no_operation():
    assert tf.compat.v1.scatter_update(tf.Variable([1.0, 2.0]), [0], [3.0]).op is None


def test_attributes_that_are_not_followed():
    class Owner(tf.Module):
        pass

    owner = Owner()
    with trackable.no_automatic_dependency_tracking_scope(owner):
        owner.hidden = tf.Variable(1.0)
    owner.seen = tf.Variable(2.0)
    assert set(trackable.children(owner)) == {"seen"}


def test_versions():
    assert tf.__version__ == tf.version.VERSION == tf.compat.v2.__version__  # programs choose their ways by it
    assert tf.__git_version__ == tf.version.GIT_VERSION
    assert tf.__compiler_version__ == tf.version.COMPILER_VERSION


def test_bounds_of_specs_with_numpy_s_dtypes():
    class Spec:
        shape, dtype, name = (2,), np.dtype(np.int8), "a"

    spec = BoundedTensorSpec.from_spec(Spec)
    assert (spec.dtype, int(spec.minimum), int(spec.maximum)) == (tf.int8, -128, 127)


def test_what_converters_read():
    L = tf.keras.layers
    x = L.Input((4,), name="given")
    model = tf.keras.Model(x, L.Dense(3, name="made")(x))
    traced = trace_model_call(model).get_concrete_function()
    assert set(traced.structured_outputs) == {"made"}
    assert [x.name for x in tf.nest.flatten(traced.structured_input_signature)] == ["given"]
    captures = traced.graph.function_captures
    assert captures.by_val_external.keys() == captures.by_val_internal.keys()
    assert [x.name for x in captures.by_val_internal.values()] == [inner.name for _, inner in traced.graph.captures]
    with pytest.raises(ValueError, match="input shapes have not been set"):
        trace_model_call(tf.keras.Sequential([L.Dense(2)]))


def test_losses_of_keras_2():
    x = tf.constant([1.0, 3.0])
    widest = losses_utils.cast_losses_to_common_dtype([tf.constant(1), tf.constant(1.0, tf.float16), x])
    assert {loss.dtype for loss in widest} == {tf.float32}
    assert losses_utils.cast_losses_to_common_dtype([1, 2]) == [1, 2]
    assert losses_utils.compute_weighted_loss(x, [1.0, 0.0]).numpy() == 0.5
    assert losses_utils.reduce_weighted_loss(x, losses_utils.ReductionV2.SUM).numpy() == 4
    assert [y.shape for y in losses_utils.squeeze_or_expand_dimensions(tf.ones([2, 1]), x)] == [[2], [2]]
    assert [y.shape for y in losses_utils.squeeze_or_expand_dimensions(tf.ones([2, 3]), None, x)[2:]] == [[2, 1]]
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    parts = strategy.run(lambda: losses_utils.scale_loss_for_distribution(tf.constant(4.0)))
    assert strategy.reduce("SUM", parts, axis=None).numpy() == 4


def test_arguments_of_functions():
    """What libraries ask by `function_utils` before they call what they were given."""

    class Model:
        def method(self, features, labels=None, *, mode):
            return features

        def __call__(self, features, **params):
            return features

    assert function_utils.fn_args(Model().method) == ("features", "labels")
    assert function_utils.fn_args(functools.partial(Model().method, 1, mode=2)) == ("labels",)
    assert function_utils.fn_args(Model()) == ("features",)
    assert function_utils.fn_args(lambda a, *b: a) == ("a",)
    assert function_utils.has_kwargs(Model())
    assert not function_utils.has_kwargs(Model().method)
    with pytest.raises(TypeError, match="should be a callable"):
        function_utils.has_kwargs(3)
