"""Elements that are objects of classes of the program's, which say what tensors are in them."""

import dataclasses

import pytest

import tapeflow as tf

Dataset = tf.data.Dataset


@dataclasses.dataclass
class Masked:
    """A value, and beside it what is no tensor."""

    mask: bool
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*metadata, *components)


ROWS = Dataset.from_tensor_slices(Masked(True, [3, 1, 2]))
CHANGES = {
    "slices": lambda: (ROWS, [3, 1, 2]),
    "one": lambda: (Dataset.from_tensors(Masked(True, 4)), [4]),
    "mapped": lambda: (Dataset.range(3).map(lambda x: Masked(True, x)), [0, 1, 2]),
    "mapped again": lambda: (ROWS.map(lambda m: Masked(m.mask, m.value * 2)), [6, 2, 4]),
    "filtered": lambda: (ROWS.filter(lambda m: m.value > 1), [3, 2]),
    "batched": lambda: (ROWS.batch(2), [[3, 1], [2]]),
    "unbatched": lambda: (ROWS.batch(2).unbatch(), [3, 1, 2]),
    "repeated": lambda: (ROWS.repeat(2).skip(1).take(4), [1, 2, 3, 1]),
    "cached": lambda: (ROWS.cache().prefetch(1), [3, 1, 2]),
    "side by side": lambda: (Dataset.zip(Masked(True, Dataset.range(2))), [0, 1]),
    "nested": lambda: (Dataset.zip((ROWS, ROWS)).map(lambda m, n: Masked(m.mask, m.value + n.value)), [6, 2, 4]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_objects_keep_their_class_and_what_is_no_tensor(name):
    dataset, expected = CHANGES[name]()
    found = list(dataset)
    assert all(type(m) is Masked and m.mask is True for m in found)
    assert [m.value.numpy().tolist() for m in found] == expected
    assert type(dataset.element_spec) is Masked
    assert isinstance(dataset.element_spec.value, tf.TensorSpec)


def test_objects_in_other_structures_and_in_functions():
    both = Dataset.range(3).map(lambda x: {"a": Masked(True, x), "b": Masked(False, 2 * x)})
    assert [int(x) for x in both.map(lambda d: d["a"].value + d["b"].value)] == [0, 3, 6]
    assert int(tf.function(lambda: next(iter(ROWS)).value)()) == 3


def test_objects_of_other_classes_are_other_structures():
    @dataclasses.dataclass
    class Other(Masked):
        pass

    with pytest.raises((TypeError, ValueError)):
        ROWS.concatenate(Dataset.from_tensors(Other(True, 1)))
