"""Extension types in batches: by the parts that their encoder gives, which may be ragged."""

from __future__ import annotations

from typing import Union

import pytest

import tapeflow as tf

Either = Union[tf.Tensor, tf.RaggedTensor]  # noqa: UP007 (programs spell it both ways)


class Masked(tf.experimental.BatchableExtensionType):
    values: Either
    mask: Either


class _Scaled(tf.experimental.ExtensionTypeBatchEncoder):
    """Keeps ten times the coefficients in a dict."""

    def batch(self, spec, batch_size):
        return Polynomial.Spec(tf.TensorSpec([batch_size, *spec.coefficients.shape]), spec.variable)

    def unbatch(self, spec):
        return Polynomial.Spec(tf.TensorSpec(spec.coefficients.shape[1:]), spec.variable)

    def encode(self, spec, value, minimum_rank=0):
        return {"scaled": value.coefficients * 10.0}

    def decode(self, spec, encoded_value):
        return Polynomial(encoded_value["scaled"] / 10.0, spec.variable)

    def encoding_specs(self, spec):
        return {"scaled": spec.coefficients}


class Polynomial(tf.experimental.BatchableExtensionType):
    coefficients: tf.Tensor
    variable: str

    __batch_encoder__ = _Scaled()


@pytest.fixture
def ragged():
    return Masked(tf.ragged.constant([[1], [2, 3], [4]]), tf.ragged.constant([[True], [False, True], [True]]))


def test_ragged_fields_are_rows_of_datasets(ragged):
    rows = tf.data.Dataset.from_tensor_slices(ragged)
    assert [row.values.numpy().tolist() for row in rows] == [[1], [2, 3], [4]]
    batches = list(rows.batch(2))
    assert [batch.values.to_list() for batch in batches] == [[[1], [2, 3]], [[4]]]
    assert batches[0].mask.to_list() == [[True], [False, True]]
    assert [row.values.numpy().tolist() for row in rows.batch(2).unbatch()] == [[1], [2, 3], [4]]
    assert next(iter(rows.batch(3, drop_remainder=True))) == ragged
    assert next(iter(tf.data.Dataset.from_tensors(ragged).unbatch())).mask.numpy().tolist() == [True]


@pytest.mark.parametrize("stage", [lambda f: f, tf.function], ids=["eager", "function"])
def test_map_fn_over_ragged_fields(ragged, stage):
    doubled = stage(lambda x: tf.map_fn(lambda one: Masked(one.values * 2, one.mask), x))(ragged)
    assert doubled.values.to_list() == [[2], [4, 6], [8]]
    assert doubled.mask.to_list() == [[True], [False, True], [True]]


def test_a_class_says_how_it_is_encoded():
    several = Polynomial([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "x")
    each = tf.data.Dataset.from_tensor_slices(several)
    assert each.element_spec == Polynomial.Spec(tf.TensorSpec([2]), "x")
    batches = list(each.batch(2))
    assert [batch.coefficients.numpy().tolist() for batch in batches] == [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]]
    assert batches[0].variable == "x"
    moved = tf.map_fn(lambda one: Polynomial(one.coefficients + 1.0, one.variable), several)
    assert moved.coefficients.numpy().tolist() == [[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]
    sums = tf.map_fn(lambda one: tf.reduce_sum(one.coefficients), several, fn_output_signature=tf.float32)
    assert sums.numpy().tolist() == [3.0, 7.0, 11.0]


def test_parts_of_specs():
    one = Polynomial([1.0, 2.0], "x")
    spec = tf.type_spec_from_value(one)
    plain = tf.experimental.ExtensionTypeBatchEncoder()
    assert plain.encoding_specs(spec) == (tf.TensorSpec([2]),)
    assert [part.numpy().tolist() for part in plain.encode(spec, one)] == [[1.0, 2.0]]
    assert plain.decode(spec, plain.encode(spec, one)) == one
    assert plain.unbatch(plain.batch(spec, 3)) == spec


def test_replicas_get_shares():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    batches = tf.data.Dataset.from_tensor_slices(Polynomial([[1.0], [2.0], [3.0], [4.0]], "x")).batch(2)
    first = next(iter(strategy.experimental_distribute_dataset(batches)))
    assert [one.coefficients.numpy().tolist() for one in first.values] == [[[1.0]], [[2.0]]]
