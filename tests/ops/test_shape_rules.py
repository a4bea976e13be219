"""Every row's shape rule, by the row's samples: what it says of partly known inputs against what really comes out."""

from __future__ import annotations

import numpy as np
import pytest
from row_samples import Generator, leaves

import tapeflow as tf
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.lists.tensor_map import TensorMap
from tapeflow.ops.ragged.variant import RaggedVariant
from tapeflow.ops.shape_inference import infer
from tapeflow.ops.sparse.csr_payload import CSRMatrix
from tapeflow.ops.table import REGISTRY

load_all_rows()

# Rows whose outputs' sizes depend on the values of inputs in ways that no rule can follow.
DATA_DEPENDENT = {
    "DecodeLibsvm": "as many features as the lines have",
    "ComputeAccidentalHits": "as many hits as there are",
    **{f"CTC{kind}Decoder": "as many labels as are found" for kind in ("BeamSearch", "Greedy")},
    "Where": "as many rows as there are true elements",
    "CombinedNonMaxSuppression": "as many boxes as are left",
    "DecodePaddedRaw": "as many numbers as the bytes hold",
    "DecodeProtoField": "as many values as the messages have",
    **{
        f"{kind}CountSparseOutput": "as many counts as there are different values"
        for kind in ("Dense", "Ragged", "Sparse")
    },
    **{
        f"{pair}SetOperation": "as many members as the results have"
        for pair in ("DenseToDense", "DenseToSparse", "SparseToSparse")
    },
    **{f"Deserialize{kind}": "the sparse tensor that the strings hold" for kind in ("ManySparse", "Sparse")},
    "RaggedCrossColumns": "as many values as there are combinations",
    "RaggedFillEmptyRows": "as many values as there are rows without any",
    "RaggedGather": "as many values as the rows that are taken have",
    "RaggedRange": "as many values as all ranges have numbers",
    "SerializeManySparse": "as many rows as the shape says",
    "StringNGrams": "as many as the rows are long enough for",
    "StringSplit": "as many rows as there are words",
    **{f"UnicodeDecode{suffix}": "as many characters as the strings hold" for suffix in ("", "WithOffsets")},
    "DecodeWav": "as many samples as the file holds",
    "DecodeRaw": "as many numbers as the bytes hold",
    "LookupTableExportV2": "as many elements as the table has",
    "LookupTableFindV2": "of the shape of the table's values",
    "ParseExampleDenseFeature": "as many elements as the message has",
    "MatchingFiles": "as many names as there are",
    **{
        f"Parse{kind}": "as many elements as the message has"
        for kind in (
            "ExampleRaggedFeature", "ExampleSparseFeature", "SequenceDenseList", "SequenceRaggedList",
            "SequenceSparseList",
        )
    },
    "ParseTensor": "the tensor that the bytes hold",
    **{
        f"Decode{kind}": "the image that the bytes hold"
        for kind in ("AndCropJpeg", "Bmp", "Gif", "Image", "Jpeg", "Png", "WebP")
    },
    **{
        f"NonMaxSuppression{version}": "as many boxes as are left"
        for version in ("", "V2", "V3", "V5", "WithOverlaps")
    },
    **{
        f"Sparse{name}": "as many elements as are left, or are in both"
        for name in ("Add", "Concat", "FillEmptyRows", "ReduceMaxSparse", "ReduceSumSparse", "Slice",
                     "SparseMaximum", "SparseMinimum", "Split")
    },
    "BroadcastGradientArgs": "as many elements as there are axes to sum over",
    "DynamicPartition": "as many rows as the partition has",
    "StringSplitV2": "as many rows as there are words",
    "UniqueV2": "as many elements as there are different ones",
    "UniqueWithCountsV2": "as many elements as there are different ones",
    "Unique": "as many elements as there are different ones",
    "UniqueWithCounts": "as many elements as there are different ones",
    "ListDiff": "as many elements as are left",
    "RaggedTensorFromVariant": "as many rows and values as the variants hold",
    **{
        f"TensorList{name}": "as many elements, and of the shape, that the list has"
        for name in ("Concat", "ConcatV2", "ElementShape", "Gather", "GetItem", "PopBack", "Stack")
    },
    **{f"CSRSparseMatrix{name}": "of the shape of the matrix" for name in ("Components", "ToDense", "ToSparseTensor")},
    **{f"SparseMatrix{name}": "of the shape of the matrix" for name in ("MatMul", "NNZ", "OrderingAMD")},
    **{f"TensorMap{name}": "of the shape of what the map has" for name in ("Lookup", "StackKeys")},
    **{
        f"SparseSegment{name}GradV2": "as many rows as there are different indices"
        for name in ("Mean", "SqrtN", "Sum")
    },
}


# What variants hold.
PAYLOADS = (tf._native.TensorList, RaggedVariant, CSRMatrix, TensorMap)


class Known:
    """What a rule may know of an input: its shape, its value."""

    def __init__(self, shape, value=None, handle_shape=None, dtype=None):
        self.shape_tuple = shape
        self.dtype = dtype
        self.value = value
        self.handle_shape = handle_shape

    def constant_value(self):
        return self.value

    def __repr__(self):
        return f"{self.shape_tuple}{'' if self.value is None else '=' + str(self.value.tolist())}"


def converted(row, sample):
    """A sample's inputs and attrs as the row's kernel gets them."""
    seen = []

    def spy(xp, *inputs, **attrs):
        seen.append((inputs, attrs))
        return row.kernel(xp, *inputs, **attrs)

    row._kernel = spy
    try:
        row.call_python(*sample.inputs, **sample.attrs)
    except Exception:
        pass
    finally:
        row._kernel = row.kernel
    return seen[0] if seen else (None, None)


def is_variable(value):
    return isinstance(value, (tf.Variable, tf._native.Variable))


def known(value):
    """An input of which everything is known."""
    if is_variable(value):
        return Known((), None, tuple(value.shape), dtype_of(value))
    if not isinstance(value, np.ndarray):
        return Known((), dtype=dtype_of(value))
    return Known(value.shape, value, dtype=dtype_of(value))


def with_shape(known, shape):
    """`known` without its value, and with another shape."""
    return Known(shape, None, known.handle_shape if shape is not None else None, known.dtype)


def variants(inputs):
    """(name, inputs) with more and more left out."""
    yield "all known", inputs
    shapes = [with_shape(x, x.shape_tuple) for x in inputs]
    yield "no values", shapes
    for i in range(len(inputs)):
        if inputs[i].value is not None and len(inputs) > 1:
            yield f"no value {i}", [*inputs[:i], shapes[i], *inputs[i + 1 :]]
    for i, x in enumerate(shapes):
        for k in range(len(x.shape_tuple)):
            less = with_shape(x, (*x.shape_tuple[:k], None, *x.shape_tuple[k + 1 :]))
            yield f"dimension {k} of {i} unknown", [*inputs[:i], less, *inputs[i + 1 :]]
        yield f"rank {i} unknown", [*inputs[:i], with_shape(x, None), *inputs[i + 1 :]]
        if x.shape_tuple:
            less = with_shape(x, (None,) * len(x.shape_tuple))
            yield f"dimensions of {i} unknown", [*inputs[:i], less, *inputs[i + 1 :]]
    yield "dimensions unknown", [with_shape(x, (None,) * len(x.shape_tuple)) for x in shapes]
    yield "ranks unknown", [with_shape(x, None) for x in shapes]


def cases(keep):
    """(row, sample) of every sample that `keep` accepts, as pytest parameters."""
    found = []
    for name, row in sorted(REGISTRY.items()):
        if row.sample_source is not None:
            for i, sample in enumerate(row.sample_source(Generator())):
                if keep(sample):
                    found.append(pytest.param(row, sample, id=f"{name}-{i}"))
    return found


def list_sizes(inputs):
    return [len(value) for value in inputs if isinstance(value, list)]


def compatible(shape, real):
    return shape is None or (
        len(shape) == len(real)
        and all(a is None or a == b for a, b in zip(shape, real, strict=True))
    )


def plain(shape):
    """Whether a shape is what it has to be: a tuple of plain integers and None."""
    return shape is None or (type(shape) is tuple and all(d is None or type(d) is int for d in shape))


@pytest.mark.parametrize(("row", "sample"), cases(lambda s: s.raises is None))
def test_rule_agrees_with_the_result(row, sample):
    result = [tuple(t.shape) for t in leaves(row(*sample.inputs, **sample.attrs))]
    inputs, attrs = converted(row, sample)
    sizes = list_sizes(inputs)
    for name, given in variants([known(x) for x in leaves(list(inputs))]):
        shapes = infer(row, given, attrs, sizes)
        where = f"{name}: {given} -> {shapes}, really {result}"
        if result or row.outputs:
            assert len(shapes) == len(result) == sum(row.schema.output_counts(attrs, sizes, len(given))), where
        assert all(plain(s) for s in shapes), where
        assert all(map(compatible, shapes, result)), where
        if name == "all known" and row.name not in DATA_DEPENDENT:
            assert shapes == result, where


@pytest.mark.parametrize(("row", "sample"), cases(lambda s: s.raises is None))
def test_dtypes_agree_with_the_result(row, sample):
    result = [t.dtype for t in leaves(row(*sample.inputs, **sample.attrs))]
    inputs, attrs = converted(row, sample)
    given = [dtype_of(x) for x in leaves(list(inputs))]
    assert row.schema.output_dtypes(given, attrs, list_sizes(inputs)) == result


def dtype_of(x):
    if is_variable(x):
        return tf.resource
    if not isinstance(x, np.ndarray) or any(isinstance(v, PAYLOADS) for v in x.flat):
        return tf.variant
    if x.dtype == object and any(not isinstance(v, (bytes, str)) for v in x.flat):
        return tf.resource  # a table or the like
    return tf.string if x.dtype.kind in "OSU" else tf.as_dtype(x.dtype)


def test_every_row_has_a_rule():
    without = [n for n, row in sorted(REGISTRY.items()) if row.shape_rule is None and row.outputs]
    assert without == []


def test_rules_refuse_what_cannot_be_right():
    """Of the calls that fail, those with wrong shapes fail with the same class before anything has run."""
    refused = []
    for parameter in cases(lambda s: s.raises is not None):
        row, sample = parameter.values
        inputs, attrs = converted(row, sample)
        if inputs is None:
            continue
        given = [known(x) for x in leaves(list(inputs))]
        try:
            infer(row, given, attrs, list_sizes(inputs))
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError):
            refused.append(parameter.id)
    assert len(refused) > 400, len(refused)


@pytest.mark.parametrize(
    ("name", "shapes", "attrs"),
    [
        ("AddV2", [(2, 3), (4, 3)], {}),
        ("MatMul", [(2, 3), (2, 3)], {}),
        ("Conv2D", [(1, 8, 8, 3), (3, 3, 4, 8)], {"strides": [1, 1, 1, 1], "padding": "SAME"}),
        ("BiasAdd", [(None, 4), (3,)], {}),
        ("Softmax", [()], {}),
        ("ConcatV2", [(2, 3), (2, 3, 4), ()], {}),
        ("Cholesky", [(None, 2, 3)], {}),
        ("SparseSoftmaxCrossEntropyWithLogits", [(4, 10), (5,)], {}),
        ("ReadFile", [(1,)], {}),
        ("AdjustHue", [(3, 3), ()], {}),
        ("QuantizedConcat", [(), (2,), (2,), (), (1,), (), ()], {}),
        ("MatrixDiagPartV3", [(3, 3), (1, 1), ()], {}),
        ("SparseConcat", [(4, 2), (3, 2), (4,), (2,), (2,), (2,)], {"concat_dim": 0}),
    ],
)
def test_shapes_that_do_not_fit_are_refused(name, shapes, attrs):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"[Dd]imension|rank|[Dd]epth"):
        infer(REGISTRY[name], [Known(s) for s in shapes], attrs)


@pytest.mark.parametrize(
    ("name", "dtypes", "text"),
    [
        (
            "AddV2",
            [tf.int32, tf.float32],
            "Input 'y' of 'AddV2' Op has type float32 that does not match type int32 of argument 'x'.",
        ),
        (
            "Fill",
            [tf.float32, tf.float32],
            "Value passed to parameter 'dims' has DataType float32 not in list of allowed values: int32, int64",
        ),
        (
            "Select",
            [tf.int32, tf.float32, tf.float32],
            "Input 'condition' of 'Select' Op has type int32 that does not match expected type of bool.",
        ),
        (
            "Pack",
            [tf.int32, tf.float32],
            "Tensors in list passed to 'values' of 'Pack' Op have types [int32, float32] that don't all match.",
        ),
    ],
)
def test_dtypes_that_do_not_fit_are_refused(name, dtypes, text):
    with pytest.raises(TypeError) as caught:
        REGISTRY[name].schema.output_dtypes(dtypes, {})
    assert str(caught.value) == text


def test_an_input_of_one_rank_has_its_dimensions_where_nothing_is_known():
    assert infer(REGISTRY["SparseReorder"], [Known(None)] * 3, {}) == [(None, None), (None,)]


@pytest.mark.parametrize(("given", "shape"), [((4, 0), (0, 2, 2)), ((5, 0), (0, 2, 2)), ((4,), None)])
def test_a_size_of_an_empty_tensor_is_found_as_the_kernel_finds_it(given, shape):
    target = Known((3,), np.array([0, -1, 2], np.int32))
    if shape is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"4 elements to shape \[0,\?,2\]"):
            infer(REGISTRY["Reshape"], [Known(given), target], {})
    else:
        assert infer(REGISTRY["Reshape"], [Known(given), target], {}) == [shape]
        assert tf.raw_ops.Reshape(tensor=np.zeros(given), shape=[0, -1, 2]).shape == shape


class Node:
    """An operation and its output, as far as shapes are followed through them."""

    def __init__(self, type, *inputs, shape=None, dtype=tf.int32, **attrs):
        self.op = self
        self.outputs = [self]
        self.type = type
        self.inputs = inputs
        self.attrs = attrs
        self.shape_tuple = shape
        self.dtype = dtype

    def constant_value(self):
        return None


def constant(value):
    value = np.asarray(value, np.int32)
    return Known(value.shape, value)


def test_sizes_are_followed_through_the_ops_that_compute_them():
    x = Known((None, 4, 6))
    shape = Node("Shape", x, shape=(3,))
    first = Node("StridedSlice", shape, constant([0]), constant([1]), constant([1]), shape=(), shrink_axis_mask=1)
    last = Node("StridedSlice", shape, constant([-1]), constant([0]), constant([1]), shape=(), shrink_axis_mask=1)
    twice = Node("Mul", last, constant(2), shape=())
    target = Node("Pack", first, constant(2), twice, shape=(3,))
    assert infer(REGISTRY["Reshape"], [x, target], {}) == [(None, 2, 12)]
    joined = Node("ConcatV2", target, constant([5]), constant(0), shape=(4,))
    assert infer(REGISTRY["Fill"], [joined, Known(())], {}) == [(None, 2, 12, 5)]
    assert infer(REGISTRY["StridedSlice"], [x, constant([0, 1]), Node("Pack", first, constant(3), shape=(2,)),
                                            constant([1, 1])], {}) == [(None, 2, 6)]  # fmt: skip


@pytest.mark.parametrize(
    ("begin", "size", "expected"),
    [
        ([0, 2], [3, 3], (3, 3)),  # whether it lies inside is known when it runs
        ([0, 4], [3, -1], (3, 0)),
        ([-1, -1], [2, -1], (2, None)),  # -1 stands for what is not known
        ([0, 5], [3, -1], "Negative dimension size caused by subtracting 5 from 4"),
        ([0, 0], [1, -2], "Invalid value in tensor used for shape: -2"),
        ([0, -3], [1, 1], "Invalid value in tensor used for shape: -3"),
        ([0], [3], "Shape must be rank 1 but is rank 2"),
        ([0, 0, 0], [1, 1, 1], "Shape must be rank 3 but is rank 2"),
    ],
)
def test_slices_of_known_sizes(begin, size, expected):
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [3, 4])
        if isinstance(expected, tuple):
            assert tuple(tf.slice(x, begin, size).shape) == expected
        else:
            with pytest.raises(ValueError, match=expected):
                tf.slice(x, begin, size)
