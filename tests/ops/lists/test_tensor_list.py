"""TensorLists: values in variant tensors, that nobody can change, whatever is made of them."""

import gc

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.lists.tensor_list import (
    EmptyTensorList,
    TensorListPopBack,
    TensorListPushBack,
    TensorListReserve,
    TensorListSetItem,
)
from tapeflow.ops.lists.tensor_list_changing import TensorListResize
from tapeflow.ops.lists.tensor_list_reading import (
    TensorListConcatV2,
    TensorListGather,
    TensorListGetItem,
    TensorListLength,
    TensorListStack,
)
from tapeflow.ops.lists.tensor_list_rows import (
    TensorListFromTensor,
    TensorListScatterIntoExistingList,
    TensorListScatterV2,
    TensorListSplit,
)


def list_of(*values, dtype="float32"):
    made = EmptyTensorList(-1, -1, dtype)
    for value in values:
        made = TensorListPushBack(made, tf.constant(value, dtype))
    return made


def values_of(elements):
    return [None if t is None else t.numpy().tolist() for t in elements.numpy().tensors()]


def test_prints_as_tensorflow_prints_it():
    elements = list_of(1.0)
    assert str(elements) == "tf.Tensor(<TensorList>, shape=(), dtype=variant)"
    assert repr(elements) == "<tf.Tensor: shape=(), dtype=variant, value=<TensorList>>"


def test_changing_makes_a_new_list():
    before = list_of(1.0, 2.0)
    TensorListPushBack(before, 3.0)
    TensorListSetItem(before, 0, 7.0)
    TensorListPopBack(before, -1, "float32")
    TensorListResize(before, 5)
    TensorListScatterIntoExistingList(before, [9.0], [1])
    tf.raw_ops.AddN(inputs=[before, before])
    assert values_of(before) == [1, 2]


@pytest.mark.parametrize("order", [[4, 1, 2], [0, 1, 2], [4, 3, 2], [2, 0, 4]])
def test_elements_may_be_set_in_any_order(order):
    elements = TensorListReserve([], 5, "float32")
    for i in order:
        elements = TensorListSetItem(elements, i, float(i))
    assert values_of(elements) == [float(i) if i in order else None for i in range(5)]
    assert int(TensorListLength(elements)) == 5
    np.testing.assert_array_equal(
        TensorListStack(elements, -1, "float32").numpy(),
        [float(i) if i in order else 0 for i in range(5)],
    )


def test_strings_are_elements_too():
    elements = list_of("a", "b", dtype="string")
    np.testing.assert_array_equal(TensorListStack(elements, -1, "string").numpy(), [b"a", b"b"])
    elements = TensorListResize(elements, 3)
    assert TensorListStack(elements, [], "string").numpy().tolist() == [b"a", b"b", b""]


def test_lists_of_lists_add_and_have_zeros():
    inner = list_of(3.0)
    outer = TensorListPushBack(EmptyTensorList([], -1, "variant"), inner)
    total = tf.add_n([outer, outer])
    assert values_of(TensorListGetItem(total, 0, [], "variant")) == [6]
    assert values_of(TensorListGetItem(tf.zeros_like(outer), 0, [], "variant")) == [0]


def test_sums_take_elements_that_only_one_list_has():
    a = TensorListSetItem(TensorListReserve([], 3, "float32"), 0, 1.0)
    b = TensorListSetItem(TensorListReserve([], 3, "float32"), 2, 2.0)
    assert values_of(tf.add_n([a, b])) == [1, None, 2]
    assert values_of(tf.add_n([a, b, a])) == [2, None, 2]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: [list_of(1.0), list_of(1.0, 2.0)],
            "different lengths. One is 1 and the other is 2",
        ),
        (lambda: [list_of(1.0), list_of(1, dtype="int32")], "different dtypes. One is float"),
        (lambda: [list_of([1.0]), list_of([1.0, 2.0])], r"One is \[1\] and the other is \[2\]"),
    ],
)
def test_sums_of_lists_that_do_not_fit(make, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.raw_ops.AddN(inputs=make())


def through_push(x):
    elements = EmptyTensorList([], -1, "float64")
    for i in range(3):
        elements = TensorListPushBack(elements, x[i] * x[i])
    rest, last = TensorListPopBack(elements, -1, "float64")
    return tf.reduce_sum(TensorListStack(rest, [], "float64")) * last


def through_items(x):
    elements = TensorListFromTensor(x, -1)
    elements = TensorListSetItem(elements, 1, x[0] * x[2])
    elements = TensorListResize(elements, 4)
    a = TensorListGetItem(elements, 1, [], "float64")
    b = TensorListGetItem(elements, 0, [], "float64")
    return a * b + TensorListGetItem(elements, 3, [], "float64")


def through_rows(x):
    elements = TensorListScatterV2(x, [2, 0, 1], [], 4)
    elements = TensorListScatterIntoExistingList(elements, x[:2] * 2.0, [0, 3])
    return tf.reduce_prod(TensorListGather(elements, [0, 3, 0], [], "float64"))


def through_split(x):
    parts = TensorListSplit(x * x, [-1], np.array([1, 2]))
    whole = TensorListConcatV2(parts, [-1], np.zeros(0, np.int64), "float64").tensor
    return tf.reduce_sum(whole * [1.0, 2.0, 3.0])


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("function", [through_push, through_items, through_rows, through_split])
def test_gradients_of_both_orders(function, staged):
    call = tf.function(function) if staged else function

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        return tf.convert_to_tensor(tape.gradient(y, x))

    x, step = tf.constant([0.5, -1.5, 2.0], tf.float64), 1e-6
    for direction in np.eye(3):
        numeric = float(call(x + step * direction) - call(x - step * direction)) / (2 * step)
        assert float(tf.reduce_sum(slope(x) * direction)) == pytest.approx(numeric, abs=1e-5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        dy = slope(x)
    numeric = (slope(x + step).numpy() - slope(x - step).numpy()) / (2 * step)
    np.testing.assert_allclose(tape.gradient(dy, x).numpy(), numeric, atol=1e-4)


def test_a_reserved_list_costs_no_memory():
    elements = TensorListReserve([], 2**31 - 1, "float32")
    elements = TensorListSetItem(elements, 2**31 - 2, 1.0)
    assert float(TensorListGetItem(elements, 2**31 - 2, [], "float32")) == 1


def count_lists():
    gc.collect()
    return sum(isinstance(o, _native.TensorList) for o in gc.get_objects())


def test_lists_nest_deeply_and_go_away():
    before = count_lists()
    elements = EmptyTensorList(-1, -1, "variant")
    for _ in range(100_000):
        elements = TensorListPushBack(EmptyTensorList(-1, -1, "variant"), elements)
    del elements
    assert count_lists() == before


def test_the_payload():
    payload = list_of([1.0], [2.0]).numpy()
    assert (len(payload), payload.dtype, payload.element_shape) == (2, tf.float32, None)
    assert payload.max_num_elements == -1
    assert payload[1].numpy() == [2]
    assert payload == list_of([1.0], [2.0]).numpy() != list_of([1.0]).numpy()
    made = _native.TensorList([None, payload[0]], tf.float32, (None,), 3)
    assert made.tensors()[0] is None
    assert made.element_shape == (None,)
    with pytest.raises(IndexError):
        payload[2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 0 is no int32 tensor"):
        _native.TensorList([payload[0]], tf.int32)


def test_variants_that_hold_no_list():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input handle is not a list"):
        TensorListLength(_native.tensor_of(np.array(0, object), tf.variant))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be a scalar saw: \[2\]"):
        TensorListLength(tf.stack([list_of(), list_of()]))


def test_variants_stack_and_unstack():
    both = tf.stack([list_of(1.0), list_of(2.0)])
    assert both.shape == (2,)
    assert [values_of(v) for v in tf.unstack(both)] == [[1], [2]]
    assert values_of(tf.reshape(tf.reshape(list_of(1.0), [1]), [])) == [1]
