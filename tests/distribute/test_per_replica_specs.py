"""The specs of PerReplica values: what distributed datasets say of their elements, and signatures of functions."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def batches(**kwargs):
    return tf.data.Dataset.range(8).map(lambda x: (tf.cast(x, tf.float32), x)).batch(4, **kwargs)


@pytest.mark.parametrize(("drops", "size"), [(False, None), (True, 2)])
def test_specs_of_elements(strategy, drops, size):
    dataset = strategy.experimental_distribute_dataset(batches(drop_remainder=drops))
    for source in (dataset, iter(dataset)):
        spec, _ = source.element_spec
        assert type(spec).__name__ == "PerReplicaSpec"
        one = tf.TensorSpec([size], tf.float32)
        assert spec._component_specs == (one, one)
        assert repr(spec) == f"PerReplicaSpec({one!r}, {one!r})"
        first, _ = next(iter(dataset))
        assert spec.is_compatible_with(first)


def test_one_replica_has_plain_specs():
    strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    dataset = strategy.experimental_distribute_dataset(batches())
    assert dataset.element_spec == batches().element_spec


def test_signatures(strategy):
    dataset = strategy.experimental_distribute_dataset(batches())

    @tf.function(input_signature=dataset.element_spec)
    def step(x, n):
        assert x.values[0].shape.as_list() == [None]
        return strategy.run(lambda x, n: x * 2 + tf.cast(n, tf.float32), (x, n))

    results = [step(*element) for element in dataset]
    assert [value.numpy().tolist() for value in results[0].values] == [[0, 3], [6, 9]]
    assert step.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError):
        step(tf.ones([2]), tf.ones([2], tf.int64))


def test_optionals_in_functions(strategy):
    dataset = strategy.experimental_distribute_dataset(batches())

    @tf.function
    def total(elements):
        found = 0.0
        for _ in tf.range(3):
            each = elements.get_next_as_optional()
            if each.has_value():
                x, _ = each.get_value()
                found += strategy.reduce("SUM", strategy.run(tf.reduce_sum, (x,)), axis=None)
        return found

    assert float(total(iter(dataset))) == 28.0


def test_text(strategy):
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(2).batch(2))
    value = next(iter(dataset))
    assert str(value) == (
        "PerReplica:{\n  0: tf.Tensor([0], shape=(1,), dtype=int64),\n  1: tf.Tensor([1], shape=(1,), dtype=int64)\n}"
    )
    assert repr(value).splitlines()[1] == "  0: <tf.Tensor: shape=(1,), dtype=int64, numpy=array([0])>,"


class Pair:
    def __init__(self, spec, a, b):
        self._type_spec, self.a, self.b = spec, a, b


class PairSpec(tf.TypeSpec):
    value_type = Pair

    def __init__(self, a, b):
        self.specs = (a, b)

    def _serialize(self):
        return self.specs

    @property
    def _component_specs(self):
        return {"a": self.specs[0], "b": self.specs[1]}

    def _to_components(self, value):
        return {"a": value.a, "b": value.b}

    def _from_components(self, parts):
        return Pair(self, parts["a"], parts["b"])


def test_values_of_a_programs_own_spec_stand_in_for_arguments():
    spec = PairSpec(tf.TensorSpec([None], tf.float32), tf.RaggedTensorSpec([2, None], tf.int32))
    made = spec._from_placeholders(lambda dtype, sizes: np.zeros([n or 0 for n in sizes], dtype.as_numpy_dtype))
    assert made.a.shape == (0,)
    assert isinstance(made.b, tf.RaggedTensor)


def test_specs_of_ragged_elements(strategy):
    rows = tf.data.Dataset.range(4).map(lambda n: tf.range(n)).ragged_batch(4)
    dataset = strategy.experimental_distribute_dataset(rows)
    one = tf.RaggedTensorSpec([None, None], tf.int64)
    assert dataset.element_spec._component_specs == (one, one)
    value = next(iter(dataset))
    assert [part.to_list() for part in value.values] == [[[], [0]], [[0, 1], [0, 1, 2]]]
    assert dataset.element_spec.is_compatible_with(value)


def test_types_of_values():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    kinds = tf.types.experimental.distributed
    with strategy.scope():
        variable = tf.Variable(1.0)
    each = strategy.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group)
    assert isinstance(variable, kinds.Mirrored)
    assert not isinstance(tf.Variable(1.0), kinds.Mirrored)
    assert isinstance(each, kinds.PerReplica)
