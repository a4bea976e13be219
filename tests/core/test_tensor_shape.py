import pickle

import numpy as np
import pytest

from tapeflow.core import tensor_shape
from tapeflow.core.tensor_shape import Dimension, TensorShape


@pytest.fixture
def v1():
    tensor_shape.disable_v2_tensorshape()
    yield
    tensor_shape.enable_v2_tensorshape()


@pytest.mark.parametrize(
    ("dims", "text", "printed"),
    [
        (None, "TensorShape(None)", "<unknown>"),
        ([], "TensorShape([])", "()"),
        (3, "TensorShape([3])", "(3,)"),
        ([1, None], "TensorShape([1, None])", "(1, None)"),
        ((2,), "TensorShape([2])", "(2,)"),
        (range(3), "TensorShape([0, 1, 2])", "(0, 1, 2)"),
        (np.array([1, 2]), "TensorShape([1, 2])", "(1, 2)"),
        ([np.int32(3), Dimension(None)], "TensorShape([3, None])", "(3, None)"),
        (TensorShape([1]), "TensorShape([1])", "(1,)"),
        (Dimension(3), "TensorShape([3])", "(3,)"),
    ],
)
def test_text(dims, text, printed):
    shape = TensorShape(dims)
    assert repr(shape) == text
    assert str(shape) == printed


@pytest.mark.parametrize(
    ("dims", "error", "message"),
    [
        (-1, ValueError, "Dimension -1 must be >= 0"),
        ([0, -2], ValueError, "Dimension -2 must be >= 0"),
        (
            [1.5],
            TypeError,
            "Dimension value must be integer or None or have an __index__ method, got value '1.5' "
            "with type '<class 'float'>'",
        ),
        (
            "3",
            TypeError,
            "Failed to convert ''3'' to a shape: ''3''could not be converted to a dimension. A shape "
            "should either be single dimension (e.g. 10), or an iterable of dimensions "
            "(e.g. [1, 10, None]).",
        ),
    ],
)
def test_rejected(dims, error, message):
    with pytest.raises(error) as caught:
        TensorShape(dims)
    assert str(caught.value) == message


def test_facts():
    shape = TensorShape([2, None])
    assert shape.rank == shape.ndims == len(shape) == 2
    assert shape.as_list() == [2, None]
    assert shape.num_elements() is None
    assert TensorShape([2, 3]).num_elements() == 6
    assert TensorShape([]).num_elements() == 1
    assert not shape.is_fully_defined()
    assert [d.value for d in shape.dims] == [2, None]
    assert TensorShape(None).rank is None
    assert not TensorShape(None)
    assert TensorShape([])


def test_indexing():
    shape = TensorShape([1, 2, 3])
    assert shape[1] == 2
    assert repr(shape[1:]) == "TensorShape([2, 3])"
    assert repr(shape[::2]) == "TensorShape([1, 3])"
    assert list(shape) == [1, 2, 3]
    assert list(reversed(shape)) == [3, 2, 1]
    with pytest.raises(IndexError):
        _ = shape[5]


def test_indexing_of_unknown_rank():
    unknown = TensorShape(None)
    assert unknown[0] is None
    assert repr(unknown[1:3]) == "TensorShape([None, None])"
    assert repr(unknown[1:]) == "TensorShape(None)"
    assert repr(unknown[:-1]) == "TensorShape(None)"
    assert repr(unknown[3:1]) == "TensorShape([])"
    with pytest.raises(ValueError, match="Steps are not yet handled"):
        _ = unknown[1:3:1]
    with pytest.raises(ValueError, match="Cannot iterate over a shape with unknown rank"):
        list(unknown)
    with pytest.raises(ValueError, match="Cannot take the length of shape with unknown rank"):
        len(unknown)


def test_equality():
    assert TensorShape([1, 2]) == [1, 2]
    assert TensorShape([1, None]) == (1, None)
    assert TensorShape([1]) == 1
    assert TensorShape(None) == TensorShape(None)
    assert TensorShape([None]) != TensorShape([3])
    assert TensorShape([1]) != "a"
    assert hash(TensorShape([1, 2])) == hash((1, 2))


def test_arithmetic():
    assert repr(TensorShape([1, 2]) + [3]) == "TensorShape([1, 2, 3])"
    assert repr([3] + TensorShape([1, 2])) == "TensorShape([3, 1, 2])"
    assert repr(TensorShape([1]).concatenate(None)) == "TensorShape(None)"


def test_merge():
    assert repr(TensorShape([None, 2]).merge_with([1, None])) == "TensorShape([1, 2])"
    assert repr(TensorShape(None).merge_with([1])) == "TensorShape([1])"
    with pytest.raises(ValueError) as caught:
        TensorShape([1]).merge_with([1, 2])
    assert str(caught.value) == "Shapes (1,) and (1, 2) are not compatible"


def test_generalize():
    shape = TensorShape([1, 2])
    assert repr(shape.most_specific_compatible_shape([1, 3])) == "TensorShape([1, None])"
    assert repr(shape.most_specific_compatible_shape([1])) == "TensorShape(None)"
    assert shape.is_subtype_of(TensorShape([1, None]))
    assert not TensorShape([1, None]).is_subtype_of(shape)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda s: s.assert_is_compatible_with([1, 3, 4]),
            "Shapes (1, None) and [1, 3, 4] are incompatible",
        ),
        (lambda s: s.assert_has_rank(3), "Shape (1, None) must have rank 3"),
        (lambda s: s.assert_same_rank([1]), "Shapes (1, None) and (1,) must have the same rank"),
        (lambda s: s.assert_is_fully_defined(), "Shape (1, None) is not fully defined"),
        (lambda s: s.with_rank(3), "Shape (1, None) must have rank 3"),
        (lambda s: s.with_rank_at_least(3), "Shape (1, None) must have rank at least 3"),
        (lambda s: s.with_rank_at_most(1), "Shape (1, None) must have rank at most 1"),
    ],
)
def test_assertions(call, message):
    with pytest.raises(ValueError) as caught:
        call(TensorShape([1, None]))
    assert str(caught.value) == message


def test_numpy_accepts_shapes():
    assert np.zeros(TensorShape([1, 2])).shape == (1, 2)
    assert np.array(TensorShape([1, 2])).tolist() == [1, 2]


def test_pickle():
    assert pickle.loads(pickle.dumps(TensorShape([1, None]))) == TensorShape([1, None])
    assert pickle.loads(pickle.dumps(Dimension(3))).value == 3


@pytest.mark.usefixtures("v1")
def test_dimensions_of_1x():
    shape = TensorShape([1, None])
    assert repr(shape[0]) == "Dimension(1)"
    assert repr(shape) == "TensorShape([Dimension(1), Dimension(None)])"
    assert str(shape) == "(1, ?)"
    assert tensor_shape.dimension_value(shape[0]) == 1
    assert repr(shape[1:]) == "TensorShape([Dimension(None)])"


def test_dimension():
    assert repr(Dimension(3) + 1) == "Dimension(4)"
    assert repr(5 - Dimension(3)) == "Dimension(2)"
    assert repr(Dimension(7) // 2) == "Dimension(3)"
    assert repr(7 % Dimension(2)) == "Dimension(1)"
    assert repr(Dimension(None) * 3) == "Dimension(None)"
    assert (Dimension(None) == 3) is None
    assert (Dimension(None) < 3) is None
    assert Dimension(3) != 4
    assert Dimension(3) != "a"
    assert int(Dimension(3)) == 3
    assert [1, 2, 3, 4][Dimension(3)] == 4
    assert str(Dimension(None)) == "?"
    assert repr(Dimension(None).merge_with(3)) == "Dimension(3)"
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        Dimension(3).merge_with(4)
    with pytest.raises(TypeError, match="please use // instead"):
        _ = Dimension(7) / 2
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = Dimension(7) + 1.5
