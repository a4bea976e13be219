"""What rows say of themselves holds for their samples."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.state.resource_op import object_of
from tapeflow.ops.table import REGISTRY, op
from tapeflow.tools.graph_transforms.quantizing import _counterpart

load_all_rows()


class Generator:
    """What samples draw from: `normal(*shape)`."""

    def __init__(self):
        self.numbers = np.random.default_rng(7)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


def rows(keep):
    return sorted(name for name, row in REGISTRY.items() if keep(row))


def samples(row):
    return [s for s in (row.sample_source(Generator()) if row.sample_source else ()) if s.raises is None]


def leaves(value):
    return [y for part in value for y in leaves(part)] if isinstance(value, (list, tuple)) else [value]


def in_graph(row, sample):
    """The values of the outputs that are known while a graph is built, None for others."""
    with tf.Graph().as_default():
        found = leaves(row(*sample.inputs, **sample.attrs))
        assert all(y.op.row is row for y in found)
        return [y.constant_value() for y in found]


@pytest.mark.parametrize("name", rows(lambda row: row.of_shape is not None))
def test_shapes_alone_give_the_result(name):
    row = REGISTRY[name]
    assert samples(row)
    for sample in samples(row):
        values = leaves(sample.inputs[0])
        got = leaves(row(*sample.inputs, **sample.attrs))
        for x, y in zip(values, got, strict=True):
            np.testing.assert_array_equal(row.of_shape(np.shape(x)), y.numpy())
        assert [v.tolist() for v in in_graph(row, sample)] == [y.numpy().tolist() for y in got]


def test_unknown_sizes_are_left_to_the_run():
    assert [REGISTRY[name].of_shape((None, 2)) for name in ("Shape", "ShapeN", "Size", "Rank")] == [None, None, None, 2]


@pytest.mark.parametrize("name", rows(lambda row: row.foldable))
def test_what_is_folded_is_what_a_call_gives(name):
    row = REGISTRY[name]
    assert not row.stateful
    known = 0
    for sample in samples(row):
        eager = leaves(row(*sample.inputs, **sample.attrs))
        for value, y in zip(in_graph(row, sample), eager, strict=True):
            if value is not None:
                known += 1
                np.testing.assert_array_equal(value, y.numpy())
                assert value.dtype == y.numpy().dtype
    assert known


@pytest.mark.parametrize(
    "name", rows(lambda row: row.outputs and samples(row) and not (row.foldable or row.of_shape))
)
def test_nothing_else_is_folded(name):
    row = REGISTRY[name]
    for sample in samples(row)[:1]:
        assert set(in_graph(row, sample)) <= {None}


@pytest.mark.parametrize("name", rows(lambda row: row.forwards))
def test_forwarded_inputs_are_the_outputs(name):
    row = REGISTRY[name]
    for sample in samples(row):
        for x, y in zip(leaves(list(sample.inputs)), leaves(row(*sample.inputs, **sample.attrs)), strict=False):
            np.testing.assert_array_equal(x, y.numpy())


@pytest.mark.parametrize("name", rows(lambda row: row.reads_only and row.effects and "table_handle" in row.inputs))
def test_reads_leave_tables_as_they_are(name):
    row = REGISTRY[name]
    for sample in samples(row):
        table = object_of(sample.inputs[0])
        before = dict(table.entries)
        row(*sample.inputs, **sample.attrs)
        assert table.entries == before


@pytest.mark.parametrize("name", rows(lambda row: row.quantizes))
def test_counterparts_take_the_inputs_of_what_they_stand_for(name):
    row = REGISTRY[name]
    counterpart = _counterpart(row)
    for of_floats in map(REGISTRY.get, row.quantizes):
        assert len(row.inputs) == len(of_floats.inputs) + 2 * counterpart.floats
        assert len(row.outputs) == len(of_floats.outputs) + 2


def test_unknown_facts_are_refused():
    with pytest.raises(TypeError, match="Misspelt: unknown facts: foldabel"):
        op("Misspelt", "x: float32 -> y: float32", foldabel=True)
