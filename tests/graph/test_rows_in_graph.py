"""Every row of the op table in a graph: its samples give what they give eagerly, whatever is known of shapes."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.graph
import tapeflow.ops
from tapeflow.graph.build.building import call, converter
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

load_all_rows()

# Results that depend on where other results lie in memory, or on no input at all.
UNREPEATABLE = {"Timestamp"}
# What they hold is in the file or message, not in the type of the tensor that it is.
DECODERS = {"DecodeImage", "DecodeWebP", "ParseTensor"}


class Generator:
    """What samples draw from: `normal(*shape)`."""

    def __init__(self):
        self.numbers = np.random.default_rng(7)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


def cases(keep):
    """(row, sample) of every sample that `keep` accepts, as pytest parameters."""
    out = []
    for name, row in sorted(REGISTRY.items()):
        if row.sample_source is None or name in UNREPEATABLE:
            continue
        for i, sample in enumerate(row.sample_source(Generator())):
            if keep(row, sample):
                out.append(pytest.param(row, sample, id=f"{name}-{i}"))
    return out


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for element in value for leaf in leaves(element)]
    return [] if value is None else [value]


def wide(value):
    """bfloat16 and the like as float64, so that NumPy's comparisons know them."""
    value = np.asarray(value)
    kind = value.dtype.kind
    narrow = kind == "V" or (value.dtype.itemsize <= 2 and kind not in "biuOS")
    return value.astype(np.float64) if narrow else value


def same(got, want):
    assert [y.dtype for y in got] == [y.dtype for y in want]
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape
        if a.dtype in (tf.variant, tf.resource):
            continue
        a, b = wide(a.numpy()), wide(b.numpy())
        if a.dtype.kind in "OSU":
            assert a.tolist() == b.tolist()
        else:
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)


class Case:
    """A sample as a function of its flat inputs, which have the dtypes that the call settles on."""

    def __init__(self, row, sample):
        count = len(row.inputs)
        beyond = dict(zip(row.attrs, sample.inputs[count:], strict=False))
        self.row, self.attrs = row, {**beyond, **sample.attrs}
        self.inputs = sample.inputs[:count]
        graph = FuncGraph("sample")
        with graph.as_default():
            flat, self.sizes = row.schema.bind(self.inputs, converter(graph, row.name))
        captured = {id(inner): outer for outer, inner in graph.captures}
        self.flat = [x.op.attrs["value"] if x.op.type == "Const" else captured[id(x)] for x in flat]

    def __call__(self, *flat):
        inputs, at = [], 0
        for size in self.sizes:
            inputs.append(flat[at] if size is None else list(flat[at : at + size]))
            at += 1 if size is None else size
        # Functions may not return the operations of rows without results.
        return [y for y in leaves(self.row(*inputs, **self.attrs)) if not isinstance(y, tf.Operation)]

    def function(self, shapes):
        specs = [tf.TensorSpec(s, x.dtype) for s, x in zip(shapes, self.flat, strict=True)]
        return tf.function(self, input_signature=specs, autograph=False)

    def known(self):
        return [x.shape for x in self.flat]

    def ranks(self):
        return [[None] * x.shape.rank for x in self.flat]

    def unknown(self):
        return [None for _ in self.flat]


def good(row, sample):
    return sample.raises is None


def bad(row, sample):
    return sample.raises is not None


KNOWLEDGE = ["known", "ranks", "unknown"]


@pytest.mark.parametrize(("row", "sample"), cases(good))
def test_result_is_the_eager_one(row, sample):
    case = Case(row, sample)
    want = case(*case.flat)
    for knowledge in KNOWLEDGE:
        function = case.function(getattr(case, knowledge)())
        tf.random.set_seed(1)
        got = leaves(function(*case.flat))
        outputs = function.get_concrete_function().graph.outputs
        if row.stateful:
            assert [(y.dtype, y.shape) for y in got] == [(y.dtype, y.shape) for y in want]
        else:
            same(got, want)
        for promised, y in zip(outputs, got, strict=True):
            assert promised.dtype == y.dtype
            assert promised.shape.is_compatible_with(y.shape), knowledge


@pytest.mark.parametrize(("row", "sample"), cases(good))
def test_shape_from_constants_is_the_eager_one(row, sample):
    case = Case(row, sample)
    want = case(*case.flat)
    graph = FuncGraph("constants")
    with graph.as_default():
        op = call(graph, row, case.inputs, case.attrs)
    for promised, y in zip(op.outputs, want, strict=True):
        assert promised.shape.is_compatible_with(y.shape)
        if row.name in DECODERS or any(x.dtype in (tf.variant, tf.resource) for x in case.flat):
            continue  # what a list or a table holds is not known from a constant
        assert promised.shape.rank is not None or y.shape.rank is None


def differentiable(row, sample):
    return good(row, sample) and sample.differentiable and row._gradient is not None


def gradients(function, flat, wanted):
    with tf.GradientTape() as tape:
        for i in wanted:
            tape.watch(flat[i])
        ys = leaves(function(*flat))
    ys = [y for y in ys if y.dtype.is_floating or y.dtype.is_complex]
    if not ys:
        return []
    return [
        None if g is None else tf.convert_to_tensor(g)
        for g in tape.gradient(ys, [flat[i] for i in wanted])
    ]


@pytest.mark.parametrize(("row", "sample"), cases(differentiable))
def test_gradient_is_the_eager_one(row, sample):
    case = Case(row, sample)
    flat = [tf.identity(x) if x.dtype.is_floating or x.dtype.is_complex else x for x in case.flat]
    wanted = [i for i, x in enumerate(flat) if x.dtype.is_floating or x.dtype.is_complex]
    if not wanted:
        pytest.skip("no input is differentiable")
    want = gradients(case, flat, wanted)
    for knowledge in KNOWLEDGE:
        got = gradients(case.function(getattr(case, knowledge)()), flat, wanted)
        assert [g is None for g in got] == [g is None for g in want]
        same([g for g in got if g is not None], [g for g in want if g is not None])


@pytest.mark.parametrize(("row", "sample"), cases(bad))
def test_bad_input_raises(row, sample):
    """While the graph is built, where what is wrong is known then; as eagerly where it is not."""
    try:
        case = Case(row, sample)
        function = case.function(case.unknown())
        function.get_concrete_function()
    except (TypeError, ValueError, tf.errors.OpError):
        return
    with pytest.raises(sample.raises) as caught:
        function(*case.flat)
    assert str(caught.value)
    with pytest.raises((sample.raises, ValueError, TypeError)) as caught:
        case.function(case.known())(*case.flat)
    assert str(caught.value)
