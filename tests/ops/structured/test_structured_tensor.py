"""Tensors of structures: what they are made of is what comes back, however they are changed on the way."""

import itertools

import numpy as np
import pytest

import tapeflow as tf

Structured, Partition = tf.experimental.StructuredTensor, tf.experimental.RowPartition


def structures(seed: int, rank: int):
    """Random nested lists of dicts, of one depth, whose fields are numbers, lists, dicts, and lists of dicts."""
    rng = np.random.default_rng(seed)

    def one():
        words = [int(n) for n in rng.integers(0, 9, rng.integers(0, 3))]
        inner = [{"id": int(rng.integers(9))} for _ in range(rng.integers(0, 3))]
        return {"age": int(rng.integers(99)), "words": words, "of": {"x": float(rng.integers(9))}, "inner": inner}

    def many(depth):
        if depth == 0:
            return one()
        # An outer list always has something in it, which tells the depth of the dicts.
        return [many(depth - 1) for _ in range(rng.integers(1, 4))]

    return many(rank)


CASES = [structures(seed, rank) for seed, rank in itertools.product(range(4), range(4))]


def with_items(value):
    """Whether some list of dicts has something in it, without which nothing says what it is a list of."""
    return "id" in repr(value)


CASES = [case for case in CASES if with_items(case)]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_what_went_in_comes_out(case):
    value = CASES[case]
    made = Structured.from_pyval(value)
    assert made.to_pyval() == value
    assert tf.function(lambda s: s)(made).to_pyval() == value
    assert Structured.from_fields_and_rank(
        {name: made.field_value(name) for name in made.field_names()}, made.rank
    ).to_pyval() == value  # fmt: skip
    assert tf.type_spec_from_value(made).is_compatible_with(made)
    depth, inner = 0, value
    while isinstance(inner, list):
        depth, inner = depth + 1, inner[0]
    assert made.rank == depth == len(made.shape)
    if depth:
        assert int(made.nrows()) == len(value)
        assert len(made.row_partitions) == depth - 1


@pytest.mark.parametrize("case", range(len(CASES)))
def test_indexing_is_that_of_lists(case):
    value = CASES[case]
    made = Structured.from_pyval(value)
    if made.rank == 0:
        assert made[:].to_pyval() == value
        assert int(made["age"]) == value["age"]
        assert float(made["of", "x"]) == value["of"]["x"]
        return
    for i in range(len(value)):
        assert made[i].to_pyval() == value[i]
    assert made[1:].to_pyval() == value[1:] if len(value) > 1 else True
    if made.rank == 1:
        assert made[:, "age"].numpy().tolist() == [each["age"] for each in value]
        assert made[0, "words"].numpy().tolist() == value[0]["words"]


@pytest.mark.parametrize("case", [i for i, value in enumerate(CASES) if isinstance(value, list)])
def test_functions_that_move_whole_structures(case):
    value = CASES[case]
    made = Structured.from_pyval(value)
    assert tf.concat([made, made], 0).to_pyval() == value + value
    order = list(range(len(value)))[::-1]
    assert tf.gather(made, order).to_pyval() == [value[i] for i in order]
    assert tf.expand_dims(made, 0).to_pyval() == [value]
    assert tf.expand_dims(made, 1).to_pyval() == [[each] for each in value]
    lengths = [len(value) - 1, 0, 1]
    cut = made.partition_outer_dimension(Partition.from_row_lengths(lengths))
    assert cut.to_pyval() == [value[:-1], [], value[-1:]]
    assert cut.merge_dims(0, 1).to_pyval() == value
    flat = value
    for _ in range(made.rank - 1):
        flat = [inner for row in flat for inner in row]
    assert int(tf.size(made)) == len(flat)
    if made.rank > 1:
        assert made.merge_dims(0, -1).to_pyval() == flat
    assert int(tf.reduce_sum(tf.ones_like(made, tf.int32))) == len(flat)
    assert tf.shape(made).rank == tf.rank(made).numpy() == made.rank


def test_updates():
    people = Structured.from_pyval([{"age": 1, "of": {"x": 2, "y": 3}}, {"age": 4, "of": {"x": 5, "y": 6}}])
    changed = people.with_updates({"age": lambda age: age * 10, ("of", "x"): None, "new": [7, 8]})
    assert changed.to_pyval() == [{"age": 10, "of": {"y": 3}, "new": 7}, {"age": 40, "of": {"y": 6}, "new": 8}]
    for updates, text in (
        ({"of": 1, ("of", "x"): 2}, "both parent and child nodes"),
        ({("no", "x"): 2}, "if parent field .*'no'.* is not set"),
        ({("age", "x"): 2}, "is not a `StructuredTensor`"),
        ({"no": None}, "cannot delete field .*'no'"),
        ({"no": lambda x: x}, "does not already exist"),
        ({"new": [1, 2, 3]}, "`StructuredTensor.with_updates` failed"),
    ):
        with pytest.raises(ValueError, match=text):
            people.with_updates(updates)


def test_promoted_fields():
    value = [{"docs": [{"tokens": [1, 2]}, {"tokens": [3]}]}, {"docs": [{"tokens": [7]}]}]
    found = Structured.from_pyval(value).promote(("docs", "tokens"), "all")
    assert [each["all"] for each in found.to_pyval()] == [[1, 2, 3], [7]]


def test_structures_without_fields():
    for value in ([{}, {}], [[{}, {}], [], [{}]], {}):
        made = Structured.from_pyval(value)
        assert made.to_pyval() == value
        assert made.field_names() == ()
    shape = tf.experimental.DynamicRaggedShape.from_lengths([2, (1, 2)])
    assert Structured.from_shape(shape).to_pyval() == [[{}], [{}, {}]]


def test_values_of_a_spec():
    spec = tf.type_spec_from_value(Structured.from_pyval([{"a": 1, "b": [[1], []]}]))
    spec = type(spec)._from_fields_and_rank(
        {"a": tf.TensorSpec([None], tf.int64), "b": tf.RaggedTensorSpec([None, None, None], tf.float32)}, 1
    )
    made = Structured.from_pyval([{"a": 1, "b": [[1.0], []]}, {"a": 2, "b": []}], spec)
    assert (made["a"] if made.rank == 0 else made[:, "a"]).dtype == tf.int64
    assert made.to_pyval() == [{"a": 1, "b": [[1.0], []]}, {"a": 2, "b": []}]
    assert Structured.from_pyval([], spec).to_pyval() == []
    with pytest.raises(ValueError, match="does not match typespec"):
        Structured.from_pyval([{"c": 1}], spec)


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: Structured.from_fields({"a": [1, 2], "b": [1, 2, 3]}, shape=[None]), ValueError, "Error in shape of b"),
    (lambda: Structured.from_fields({"a b": 1}), ValueError, "Field name 'a b' is not currently allowed"),
    (lambda: Structured.from_fields({1: 1}), TypeError, "Unexpected type for key"),
    (lambda: Structured.from_fields({"a": object()}), TypeError, "Unexpected type for value"),
    (lambda: Structured.from_fields({}, shape=[None]), ValueError, "Must specify `nrows`"),
    (lambda: Structured.from_fields({"a": 1}, shape=None), ValueError, "must have known rank"),
    (lambda: Structured.from_fields_and_rank({}, 1), ValueError, "at least one field"),
    (lambda: Structured.from_pyval([{"a": 1}, [{"a": 2}]]), ValueError, "Inconsistent depth"),
    (lambda: Structured.from_pyval([1, [2]]), ValueError, r"Error parsing path \(\)"),
    (lambda: Structured.from_pyval([{"a": 1}])[...], ValueError, "Slicing not supported"),
    (lambda: Structured.from_pyval({"a": 1})[0], ValueError, "a string or a full slice"),
    (lambda: tf.concat([Structured.from_pyval([{name: 1}]) for name in "ab"], 0), ValueError, "Some paths"),
])  # fmt: skip
def test_what_is_no_tensor_of_structures(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_text_and_a_fixed_shape():
    made = Structured.from_fields({"foo": [1, 2], "bar": [3, 4]}, shape=[2])
    assert repr(made) == (
        '<StructuredTensor(\n    fields={\n        "bar": tf.Tensor([3 4], shape=(2,), dtype=int32),\n'
        '        "foo": tf.Tensor([1 2], shape=(2,), dtype=int32)},\n    shape=(2,))>'
    )
    assert repr(Structured.from_fields({"a": [[1, 2], [3, 4]]}, shape=[2, 2]).row_partitions) == (
        "(tf.RowPartition(nrows=2, uniform_row_length=2),)"
    )
