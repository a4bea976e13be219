"""The signatures of traces, as TensorFlow 2.21 prints them, and what arguments must be to fit them."""

from __future__ import annotations

import collections

import pytest

import tapeflow as tf


def test_text_of_a_trace():
    v = tf.Variable(2.0)

    @tf.function
    def f(a, b=2, *args, k, d={"x": 1}, **kw):  # noqa: B006
        return {"o": a * v, "l": [a, a]}, b

    c = f.get_concrete_function(tf.constant(1.0), 3, tf.constant(2), k=[tf.constant(1), 2], z=None)
    key = next(iter(c.function_type.captures))
    scalar = "TensorSpec(shape=(), dtype=tf.float32, name=None)"
    whole = "TensorSpec(shape=(), dtype=tf.int32, name=None)"
    result = f"Tuple[Dict[['o', {scalar}], ['l', List[{scalar}, {scalar}]]], {whole}]"
    assert str(c) == (
        "ConcreteFunction Input Parameters:\n"
        f"  a (POSITIONAL_ONLY): {scalar}\n"
        "  b (POSITIONAL_ONLY): Literal[3]\n"
        f"  args_0 (POSITIONAL_ONLY): {whole}\n"
        f"  k (KEYWORD_ONLY): List[{whole}, Literal[2]]\n"
        "  d (KEYWORD_ONLY): Dict[['x', Literal[1]]]\n"
        "  z (KEYWORD_ONLY): Literal[None]\n"
        f"Output Type:\n  {result}\n"
        f"Captures:\n  {key}: TensorSpec(shape=(), dtype=tf.resource, name=None)"
    )
    assert str(c.function_type) == (
        f"(a: {scalar}, b: Literal[3], args_0: {whole}, /, *, k: List[{whole}, Literal[2]], "
        f"d: Dict[['x', Literal[1]]], z: Literal[None]) -> {result}"
    )
    assert repr(c.inference_fn).startswith(f"<AtomicFunction> {c.graph_name}(a: {scalar}")


def test_names_of_an_input_signature_are_shown():
    f = tf.function(lambda a: a, input_signature=[tf.TensorSpec([None], tf.float32, name="q")])
    assert (
        "a (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None,), dtype=tf.float32, name='q')"
        in str(f.get_concrete_function())
    )


@pytest.fixture
def power():
    def pow(a, b):
        return a**b

    return tf.function(pow).get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)


def test_python_values_of_a_trace_may_be_given_or_left_out(power):
    ten = tf.constant(10.0)
    for result in (
        power(ten),
        power(ten, 2),
        power(ten, b=2),
        power(a=ten),
        power.inference_fn(ten),
    ):
        assert float(result) == 100.0
    assert [float(x) for x in power.inference_fn.call_flat(ten)] == [100.0]


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        ((10.0,), {"b": 3}, TypeError, r"Can not cast 3 to Literal\[2\]"),
        ((), {}, TypeError, "missing a required argument: 'a'"),
        ((), {"q": 3.0}, TypeError, "missing a required argument: 'a'"),
        ((1.0, 2, 3), {}, TypeError, "too many positional arguments"),
        ((10.0,), {"q": 3.0}, TypeError, "got an unexpected keyword argument 'q'"),
        ((tf.constant(1),), {}, tf.errors.InvalidArgumentError, "as input #0"),
    ],
)
def test_arguments_that_do_not_fit(power, args, kwargs, error, message):
    with pytest.raises(error, match=message):
        power(*args, **kwargs)


def test_outputs_have_nodes_of_their_own():
    f = tf.function(lambda a: (a, a + 1)).get_concrete_function(tf.constant(1))
    assert [x.op.type for x in f.outputs] == ["Identity", "Identity"]
    assert [x.name for x in f.outputs] == ["Identity:0", "Identity_1:0"]


def test_objects_say_what_a_trace_depends_on():
    class Kind(tf.types.experimental.TraceType):
        def __init__(self, value):
            self.value = value

        def is_subtype_of(self, other):
            return self == other

        def most_specific_common_supertype(self, others):
            return self if all(self == other for other in others) else None

        def placeholder_value(self, placeholder_context=None):
            return self.value

        def __eq__(self, other):
            return type(other) is Kind and type(self.value) is type(other.value)

        def __hash__(self):
            return hash(type(self.value))

    class Fruit:
        def __tf_tracing_type__(self, context):
            return Kind(self)

    class Apple(Fruit):
        flavor = 1

    class Mango(Fruit):
        flavor = 2

    @tf.function
    def mixed(a, b):
        return tf.constant(a.flavor) * 10 + b.flavor

    assert int(mixed(Apple(), Mango())) == 12
    assert int(mixed(Apple(), Mango())) == 12
    assert mixed.experimental_get_tracing_count() == 1
    assert int(mixed(Mango(), Mango())) == 22
    assert mixed.experimental_get_tracing_count() == 2
    assert issubclass(Apple, tf.types.experimental.SupportsTracingProtocol)
    assert isinstance(tf.TensorSpec([]), tf.types.experimental.TraceType)


def test_shapes_may_change_in_a_loop_over_a_dataset():
    @tf.function
    def total(dataset):
        out = tf.constant(0)
        for x in dataset:
            out += x
        return out

    dataset = tf.data.Dataset.from_generator(lambda: [1, 2, 3], tf.int32)
    assert int(total(dataset)) == 6


@pytest.mark.parametrize("decorator", [tf.py_function, tf.numpy_function])
def test_python_functions_by_decorator(decorator):
    @decorator(Tout=tf.float32)
    def plus(x, y):
        return x + y

    assert plus.__name__ == "plus"
    assert float(plus(tf.constant(1.0), tf.constant(2.0))) == 3.0
    assert float(tf.function(lambda x: plus(x, x))(tf.constant(2.0))) == 4.0


def test_named_tuples_tell_their_names_and_fields():
    pair = collections.namedtuple("pair", "x y")
    none = collections.namedtuple("none", [])
    inner = pair(tf.constant(1), 2)
    made = tf.function(lambda a: a[0]).get_concrete_function(pair([inner], none()))
    of_inner = "pair[['x', TensorSpec(shape=(), dtype=tf.int32, name=None)], ['y', {}]]"
    assert f"pair[['x', List[{of_inner.format('Literal[2]')}]], ['y', none[]]]" in str(made)
    assert of_inner.format("TensorSpec(shape=(), dtype=tf.int32, name=None)") in str(made).split("Output Type")[1]
