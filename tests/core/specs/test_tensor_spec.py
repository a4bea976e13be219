import pickle

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import dtypes
from tapeflow.core.indexed_slices import IndexedSlices, IndexedSlicesSpec
from tapeflow.core.specs import tensor_spec
from tapeflow.core.specs.bounded_tensor_spec import BoundedTensorSpec
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.tensor_shape import TensorShape


class Value:
    """What a spec needs of a tensor."""

    def __init__(self, shape, dtype=dtypes.float32):
        self.shape = TensorShape(shape)
        self.dtype = dtype

    def __str__(self):
        return f"Value{self.shape}"

    def __neg__(self):
        return "negated"


@pytest.fixture
def tensors(monkeypatch):
    monkeypatch.setattr(tensor_spec, "_tensor_classes", (Value,))


def test_text():
    assert repr(TensorSpec([1, None], "int32", name="a")) == (
        "TensorSpec(shape=(1, None), dtype=tf.int32, name='a')"
    )
    assert repr(TensorSpec(None)) == "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"


@pytest.mark.usefixtures("tensors")
def test_compatibility():
    assert TensorSpec([None]).is_compatible_with(Value([1]))
    assert TensorSpec([2]).is_compatible_with(TensorSpec([None]))
    assert not TensorSpec([2]).is_compatible_with(Value([1]))
    assert not TensorSpec([2]).is_compatible_with(Value([2], dtypes.int32))
    assert not TensorSpec([2]).is_compatible_with([1.0, 2.0])


@pytest.mark.usefixtures("tensors")
def test_from_tensor():
    assert TensorSpec.from_tensor(Value([1]), "x") == TensorSpec([1], name="x")
    with pytest.raises(
        ValueError, match=r"`tensor` should be a tf.Tensor, but got type <class 'int'>"
    ):
        TensorSpec.from_tensor(3)
    assert TensorSpec.from_spec(TensorSpec([1], name="q")).name == "q"


def test_equality():
    assert TensorSpec([1]) == TensorSpec([1])
    assert TensorSpec([1]) != TensorSpec([1], name="a")
    assert TensorSpec([1]) != TensorSpec([None])
    assert hash(TensorSpec([1])) == hash(TensorSpec([1]))
    assert pickle.loads(pickle.dumps(TensorSpec([1, None]))) == TensorSpec([1, None])


def test_supertypes():
    assert TensorSpec([1]).is_subtype_of(TensorSpec([None]))
    assert not TensorSpec([1]).is_subtype_of(TensorSpec([None], "int32"))
    general = TensorSpec([1], name="a").most_specific_compatible_type(TensorSpec([2], name="a"))
    assert general == TensorSpec([None], name="a")
    with pytest.raises(ValueError, match="No TypeSpec is compatible with both TensorSpec"):
        TensorSpec([1]).most_specific_compatible_type(TensorSpec([1], "int32"))


def test_bounded():
    spec = BoundedTensorSpec([2], "float32", 0, [1, 2])
    assert repr(spec) == (
        "BoundedTensorSpec(shape=(2,), dtype=tf.float32, name=None, "
        "minimum=array(0., dtype=float32), maximum=array([1., 2.], dtype=float32))"
    )
    assert spec == BoundedTensorSpec([2], "float32", 0, [1, 2])
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert BoundedTensorSpec.from_spec(TensorSpec([1], "int8")).maximum == 127
    with pytest.raises(ValueError, match="`minimum` can not be None"):
        BoundedTensorSpec([1], "float32", None, 1)
    with pytest.raises(ValueError, match=r"`minimum` \[0, 0, 0\] is not compatible with shape"):
        BoundedTensorSpec([None, 2], "float32", [0, 0, 0], 1)
    with pytest.raises(ValueError, match="read-only"):
        spec.minimum[...] = np.float32(3)


def test_indexed_slices():
    slices = IndexedSlices(Value([1, 2]), Value([1], dtypes.int32))
    assert str(slices) == "IndexedSlices(indices=Value(1,), values=Value(1, 2))"
    assert slices.shape == TensorShape(None)
    assert slices.dtype is dtypes.float32
    assert (-slices).values == "negated"
    assert (-slices).indices is slices.indices
    assert repr(slices._type_spec) == (
        "IndexedSlicesSpec(TensorShape([None, 2]), tf.float32, tf.int32, None, TensorShape([1]))"
    )
    with pytest.raises(ValueError, match="Tensor conversion requested for IndexedSlices"):
        slices.to_dense()


def test_indexed_slices_spec():
    assert repr(IndexedSlicesSpec()) == (
        "IndexedSlicesSpec(TensorShape(None), tf.float32, tf.int64, None, TensorShape([None]))"
    )
    slices = IndexedSlices(Value([1, 2]), Value([1], dtypes.int64))
    assert IndexedSlicesSpec([None, 2]).is_compatible_with(slices)
    assert not IndexedSlicesSpec([None, 2], "int32").is_compatible_with(slices)
    assert not IndexedSlicesSpec([None, 3]).is_compatible_with(slices)
    assert IndexedSlicesSpec([1]) == IndexedSlicesSpec([1])


def test_the_spec_of_an_array_makes_no_constant():
    with tf.Graph().as_default() as graph:
        array = np.array([1, 2, 3], np.int32)
        assert tf.type_spec_from_value(array) == tf.TensorSpec([3], tf.int32)
        assert tf.type_spec_from_value(np.float64(2)) == tf.TensorSpec([], tf.float64)
        assert graph.get_operations() == []
