"""Types that programs define: their fields, their specs, and their use as tensors are used."""

from __future__ import annotations

import inspect
import pickle
import typing
from collections.abc import Mapping
from typing import Any, Optional, Union

import pytest

import tapeflow as tf


class Masked(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    shape = property(lambda self: self.values.shape)

    def with_values(self, values):
        return Masked(values, self.mask)


class Pencil(tf.experimental.ExtensionType):
    color: str = "black"
    length: tf.Tensor = 1.0
    sizes: tuple[int, ...] = ()
    parts: Mapping[str, tf.Tensor] = {}
    note: Optional[float] = None  # noqa: UP045 (programs spell it both ways)
    either: Union[int, str] = 1  # noqa: UP007
    pair: tuple[int, str] = (1, "a")
    shape: tf.TensorShape = tf.TensorShape([None])


class Node(tf.experimental.ExtensionType):
    value: tf.Tensor
    children: tuple[Node, ...] = ()


class Toy(tf.experimental.ExtensionType):
    name: str
    price: tf.Tensor

    def __init__(self, name, price, discount=0.0):
        self.name = name
        self.price = price * (1 - discount)


class Checked(Masked):
    def __validate__(self):
        self.values.shape.assert_is_compatible_with(self.mask.shape)
        assert self.mask.dtype.is_bool, "mask.dtype must be bool"


@pytest.fixture
def masked():
    return Masked([1.0, 2.0, 3.0], [True, False, True])


def test_fields_are_converted():
    made = Pencil("red", 2, [3, 4], {"tip": 1.5}, either="x", shape=[2, 3])
    assert (made.color, float(made.length), made.sizes) == ("red", 2.0, (3, 4))
    assert float(made.parts["tip"]) == 1.5
    assert (made.either, made.shape) == ("x", tf.TensorShape([2, 3]))
    assert (
        repr(Node(3, [Node(5)]).children[0].value) == "<tf.Tensor: shape=(), dtype=int32, numpy=5>"
    )
    assert float(Toy("ball", 5.0, discount=0.2).price) == 4.0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Masked([1], None), TypeError, "mask: expected a Tensor, got 'NoneType'"),
        (lambda: Masked([1]), TypeError, "missing a required argument: 'mask'"),
        (lambda: Masked(1, 2, 3), TypeError, "too many positional arguments"),
        (lambda: Masked(1, 2, q=3), TypeError, "got an unexpected keyword argument 'q'"),
        (lambda: Pencil(3), TypeError, "color: expected 'str', got 'int'"),
        (lambda: Pencil(sizes=["a"]), TypeError, r"sizes\[0\]: expected 'int', got 'str'"),
        (lambda: Pencil(pair=(1,)), TypeError, "pair: expected tuple with length 2"),
        (lambda: Pencil(parts={1: 2}), TypeError, r"parts\[<key>\]: expected 'str', got 'int'"),
        (lambda: Pencil(either=1.5), TypeError, r"either: expected (typing.Union|int \| str)"),
        (lambda: Checked([1, 2], [True]), ValueError, "incompatible"),
        (lambda: Checked([1], [1]), AssertionError, "must be bool"),
        (lambda: Masked.Spec(3, 4), TypeError, "values: expected a TensorSpec, got 'int'"),
        (tf.experimental.ExtensionType, AssertionError, "abstract base class"),
    ],
)
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def _class_of(body):
    return type(tf.experimental.ExtensionType)("Bad", (tf.experimental.ExtensionType,), body)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (list, "Unsupported type annotation 'list'"),
        (typing.List[int], r"Unsupported type annotation typing.List\[int\]"),  # noqa: UP006 (programs spell it so)
        (tuple[complex, ...] | int, "Unsupported type annotation 'complex'"),
        (typing.Callable, "Unsupported type annotation typing.Callable"),
        (tf.TensorSpec([None]), "Unsupported type annotation TensorSpec"),
        (Mapping[tf.Tensor, int], "Mapping had a key 'Tensor'"),
    ],
)
def test_annotations_that_no_field_has(annotation, message):
    with pytest.raises(TypeError, match=f"In field 'x': {message}"):
        _class_of({"__annotations__": {"x": annotation}})


@pytest.mark.parametrize(
    "name", ["self", "Spec", "_type_spec", "value_type", "_tf_extension_type_x", "is_compatible_with"]
)
def test_reserved_names(name):
    with pytest.raises(ValueError, match=f"Field '?{name}'? is reserved|must be a nested class"):
        _class_of({"__annotations__": {name: int}, name: 3})


def test_bad_classes():
    with pytest.raises(ValueError, match="Field y is missing a type annotation"):

        class Unannotated(tf.experimental.ExtensionType):
            x: tf.Tensor
            y = 3

    with pytest.raises(TypeError, match=r"default value for x\[1\]: expected 'int', got 'str'"):

        class WrongDefault(tf.experimental.ExtensionType):
            x: tuple[int, ...] = (1, "b")

    with pytest.raises(ValueError, match=r"Spec must be a nested class; got 12"):

        class NoSpec(tf.experimental.ExtensionType):
            Spec = 12

    with pytest.raises(ValueError, match=r"must be directly subclassed from tf\.TypeSpec"):

        class OtherSpec(tf.experimental.ExtensionType):
            class Spec(tf.TensorSpec):
                pass

    class Forgetful(tf.experimental.ExtensionType):
        x: tf.Tensor

        def __init__(self):
            pass

    with pytest.raises(ValueError, match=r"Missing required fields: \{.x.\}"):
        Forgetful()

    class Later(tf.experimental.ExtensionType):
        x: Nowhere  # noqa: F821

    with pytest.raises(TypeError, match="x: Unsupported type annotation 'Nowhere'"):
        Later(x=1)


def test_constructors_have_signatures():
    """What follows a default without having one is given by keyword; defaults of tensors stay as they were written."""

    class Own(tf.experimental.ExtensionType):
        a: int = 1
        b: typing.Annotated[tf.Tensor, "unit"]
        c: tf.Tensor = [2.0]  # noqa: RUF012
        d: Optional[typing.Annotated[int, "count"]] = None  # noqa: UP045

    parameters = inspect.signature(Own.__init__).parameters
    assert list(parameters) == ["self", "a", "b", "c", "d"]
    assert inspect.signature(Own).parameters["b"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["b"].annotation is tf.Tensor
    assert parameters["c"].default == [2.0]
    assert inspect.signature(Own).return_annotation is Own
    assert list(inspect.signature(Own.Spec.__init__).parameters) == ["self", "a", "b", "c", "d"]
    assert Own(b=3).b.numpy() == 3
    with pytest.raises(TypeError, match="too many positional arguments"):
        Own(1, 3)
    with pytest.raises(TypeError, match="missing a required argument: 'c'"):
        Own.Spec(1, b=tf.TensorSpec([]))

    class More(Toy):
        size: int

    assert list(inspect.signature(More).parameters) == ["name", "price", "size"]
    assert More("ball", 2.0, 3).size == 3


def test_names_that_the_package_uses_are_free():
    class Free(tf.experimental.ExtensionType):
        _values: tf.Tensor
        _parts: int
        fields: tf.Tensor

        def _finish(self):
            return self._values

        def flatten(self):
            return tf.reshape(self._values, [-1])

    free = Free([[1.0]], 3, [2])
    assert free._finish().numpy() == [1.0]
    assert free.flatten().shape == [1]
    assert tf.experimental.extension_type.as_dict(free).keys() == {"_values", "_parts", "fields"}
    assert free == Free([[1.0]], 3, [2])
    assert free != Free([[1.0]], 4, [2])
    assert tf.type_spec_from_value(free) == tf.type_spec_from_value(Free([[2.0]], 3, [2]))
    assert tf.function(lambda x: x.flatten())(free).numpy() == [1.0]
    assert hash(tf.type_spec_from_value(free)) == hash(tf.type_spec_from_value(Free([[2.0]], 3, [2])))


def test_equality_compares_shapes_that_only_the_run_knows():
    class One(tf.experimental.ExtensionType):
        a: tf.Tensor

    unknown = tf.TensorSpec(None, tf.int32)
    same = tf.function(lambda x, y: One(x) == One(y), input_signature=[unknown, unknown])
    assert same([1, 1], [1, 1])
    assert not same([1, 1], [[1, 1]])
    assert not same([1], [1, 1])


def test_nothing_changes_it(masked):
    for change in (
        lambda: setattr(masked, "mask", 1),
        lambda: delattr(masked, "mask"),
        lambda: setattr(masked, "q", 1),
    ):
        with pytest.raises(AttributeError, match="Cannot mutate attribute"):
            change()


def test_equality(masked):
    assert masked == Masked([1.0, 2.0, 3.0], [True, False, True])
    assert masked != Masked([1.0, 2.0, 4.0], [True, False, True])
    assert (masked == Masked([1.0], [True])) is False
    assert (masked == 3) is False
    with pytest.raises(TypeError, match="unhashable"):
        hash(masked)


def test_specs(masked):
    spec = tf.type_spec_from_value(masked)
    assert repr(spec) == (
        "Masked.Spec(values=TensorSpec(shape=(3,), dtype=tf.float32, name=None), "
        "mask=TensorSpec(shape=(3,), dtype=tf.bool, name=None))"
    )
    assert spec == Masked.Spec(tf.TensorSpec([3]), tf.TensorSpec([3], tf.bool))
    assert spec.is_compatible_with(masked)
    other = tf.type_spec_from_value(Masked([1.0], [True]))
    common = spec.most_specific_common_supertype([other])
    assert common.values.shape == [None]
    assert spec.is_subtype_of(common)
    assert not common.is_subtype_of(spec)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert hash(spec) == hash(tf.type_spec_from_value(masked))
    assert spec.value_type is Masked


def test_structures(masked):
    assert tf.nest.flatten(masked) == [masked] or len(tf.nest.flatten(masked)) == 1
    values, mask = tf.nest.flatten(masked, expand_composites=True)
    assert values is masked.values
    assert mask is masked.mask
    doubled = tf.nest.map_structure(lambda x: x, {"a": masked}, expand_composites=True)
    assert isinstance(doubled["a"], Masked)


def test_functions_trace_once_for_each_spec(masked):
    traces = []

    @tf.function
    def double(m: Any):
        traces.append(m)
        return m.with_values(2.0 * m.values)

    assert list(double(masked).values.numpy()) == [2.0, 4.0, 6.0]
    double(Masked([4.0, 5.0, 6.0], [True, True, True]))
    assert len(traces) == 1
    double(Masked([4.0], [True]))
    assert len(traces) == 2
    signed = tf.function(
        lambda m: m.values + 1.0,
        input_signature=[Masked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))],
    )
    assert list(signed(masked).numpy()) == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("stage", [lambda f: f, tf.function], ids=["eager", "function"])
def test_control_flow_and_mapping(stage, masked):
    @stage
    def run(m, flag):
        m = tf.cond(flag, lambda: m, lambda: m.with_values(-m.values))
        _, m = tf.while_loop(
            lambda i, _: i < 3, lambda i, m: (i + 1, m.with_values(m.values + 1.0)), [0, m]
        )
        return tf.map_fn(lambda row: Masked(row.values * 2.0, row.mask), m)

    assert list(run(masked, tf.constant(False)).values.numpy()) == [4.0, 2.0, 0.0]


def test_gradients_go_through(masked):
    with tf.GradientTape() as tape:
        tape.watch(masked)
        loss = tf.reduce_sum(masked.with_values(masked.values**2).values)
    assert list(tape.gradient(loss, masked.values).numpy()) == [2.0, 4.0, 6.0]


def test_functions_of_the_api_take_it(masked):
    @tf.experimental.dispatch_for_api(tf.stack)
    def stacked(values: list[Masked], axis=0):
        return Masked(
            tf.stack([v.values for v in values], axis), tf.stack([v.mask for v in values], axis)
        )

    @tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
    def unary(api_func, x):
        return Masked(api_func(x.values), x.mask)

    @tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Union[Masked, tf.Tensor])  # noqa: UP007
    def binary(api_func, x, y):
        return Masked(api_func(x.values, y.values if isinstance(y, Masked) else y), x.mask)

    try:
        assert tf.stack([masked, masked]).shape == [2, 3]
        assert list(tf.abs(masked.with_values(-masked.values)).values.numpy()) == [1.0, 2.0, 3.0]
        assert tf.cast(masked, tf.int32).values.dtype == tf.int32
        assert list(tf.add(masked, masked).values.numpy()) == [2.0, 4.0, 6.0]
        assert list(tf.multiply(masked, tf.constant(2.0)).values.numpy()) == [2.0, 4.0, 6.0]
        with pytest.raises(ValueError, match="already been registered"):
            tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(unary)
    finally:
        for target in (stacked, unary, binary):
            tf.experimental.unregister_dispatch_for(target)
    with pytest.raises(ValueError, match="unsupported type"):
        tf.stack([masked])
    with pytest.raises(ValueError, match="not registered"):
        tf.experimental.unregister_dispatch_for(stacked)


def test_bad_dispatch_targets():
    with pytest.raises(ValueError, match="does not match API's signature"):

        @tf.experimental.dispatch_for_api(tf.stack)
        def other(v: list[Masked], axis=0):
            return v

    with pytest.raises(ValueError, match="at least one signature"):

        @tf.experimental.dispatch_for_api(tf.stack)
        def unannotated(values, axis=0):
            return values

    with pytest.raises(ValueError, match="does not support dispatch"):
        tf.experimental.dispatch_for_api(len)


@pytest.mark.parametrize("signature", [tf.int32, tf.TensorSpec([], tf.int32)])
def test_map_fn_to_tensors(signature):
    """The elements are an extension type, and the results are tensors of which a dtype or spec is given."""

    class Pair(tf.experimental.BatchableExtensionType):
        a: tf.Tensor
        b: tf.Tensor

    pairs = Pair(tf.constant([1, 2]), tf.constant([30, 40]))
    found = tf.map_fn(lambda pair: pair.a + pair.b, pairs, fn_output_signature=signature)
    assert found.numpy().tolist() == [31, 42]
