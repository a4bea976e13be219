"""A function with an `input_signature` takes values of each kind that has a spec, and sees them as such."""

import pytest

import tapeflow as tf


class Pair(tf.experimental.ExtensionType):
    first: tf.Tensor
    second: tf.Tensor


def dataset():
    return tf.data.Dataset.from_tensor_slices([3, 4])


def array():
    return tf.TensorArray(tf.int32, 2, element_shape=[]).unstack([3, 4])


optional = tf.experimental.Optional

# A value of each spec, and a function of it whose result is 7.
VALUES = {
    "TensorSpec": (lambda: tf.constant([3, 4]), tf.reduce_sum),
    "SparseTensorSpec": (lambda: tf.sparse.from_dense([[3, 0], [0, 4]]), tf.sparse.reduce_sum),
    "RaggedTensorSpec": (lambda: tf.ragged.constant([[3], [], [4]]), lambda x: tf.reduce_sum(x.flat_values)),
    "IndexedSlicesSpec": (
        lambda: tf.IndexedSlices(tf.constant([3, 4]), tf.constant([1, 0]), tf.constant([5])),
        lambda x: tf.reduce_sum(x.values),
    ),
    "TensorArraySpec": (array, lambda x: tf.reduce_sum(x.stack())),
    "OptionalSpec": (lambda: optional.from_value(tf.constant(7)), lambda x: x.get_value()),
    "data.DatasetSpec": (dataset, lambda x: x.reduce(0, lambda a, b: a + b)),
    "data.IteratorSpec": (lambda: iter(dataset()), lambda x: x.get_next() + x.get_next()),
    "a nested OptionalSpec": (
        lambda: optional.from_value((dataset(), optional.from_value(tf.constant(7)))),
        lambda x: x.get_value()[1].get_value(),
    ),
    "a spec of an extension type": (lambda: Pair([3], [4]), lambda x: tf.reduce_sum(x.first + x.second)),
}
# Bases of specs, and that of None.
OTHERS = {"TypeSpec", "NoneTensorSpec", "experimental.ExtensionTypeSpec"}


def public_specs():
    for prefix, module in (("", tf), ("data.", tf.data), ("experimental.", tf.experimental)):
        for name in dir(module):
            if isinstance(getattr(module, name), type) and issubclass(getattr(module, name), tf.TypeSpec):
                yield prefix + name


def test_all_specs_are_here():
    assert set(public_specs()) <= {*VALUES, *OTHERS}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_a_spec(name):
    make, compute = VALUES[name]
    value = make()
    spec = tf.type_spec_from_value(value)
    if name in dir(tf):
        assert type(spec) is getattr(tf, name)
    traced = tf.function(lambda x: compute(x), input_signature=[spec])
    assert traced(value).numpy() == 7
    if not name.startswith("data.Iterator"):
        assert traced(make()).numpy() == 7
        assert traced.experimental_get_tracing_count() == 1
    (found,) = traced.get_concrete_function().structured_input_signature[0]
    assert found.is_compatible_with(spec)


def test_an_absent_value():
    spec = tf.OptionalSpec(tf.TensorSpec([], tf.int32))

    @tf.function(input_signature=[spec])
    def square_or_zero(x):
        return tf.cond(x.has_value(), lambda: x.get_value() ** 2, lambda: 0)

    assert square_or_zero(optional.empty(spec.element_spec)).numpy() == 0
    assert square_or_zero(optional.from_value(3)).numpy() == 9
