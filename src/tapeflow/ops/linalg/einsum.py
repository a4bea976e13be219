"""Einstein summation: products of tensors summed over named axes."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import shapes, static
from tapeflow.ops.array import broadcasting, construction
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.indexing import gather
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.signature import string as text
from tapeflow.ops.table import NUMERIC, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall

ELLIPSIS = "..."


@cache
def parsed(equation: str) -> tuple[tuple[str, ...], str]:
    """The labels of the inputs and of the output. Raises InvalidArgumentError for what is not an equation."""
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    if "->" in right:
        raise invalid(f"Expecting exactly one '->' in einsum equation: {equation}")
    inputs = tuple(left.split(","))
    for term in (*inputs, right):
        letters = term.replace(ELLIPSIS, "", 1)
        if not all(c in string.ascii_letters for c in letters):
            raise invalid(f"Invalid character in einsum equation: {equation}")
    everything = left.replace(ELLIPSIS, "").replace(",", "")
    if not arrow:
        once = sorted(c for c in set(everything) if everything.count(c) == 1)
        right = (ELLIPSIS if ELLIPSIS in left else "") + "".join(once)
    for label in right.replace(ELLIPSIS, ""):
        if label not in everything:
            raise invalid(
                f"Output subscripts contain the label '{label}' not present in the input subscripts"
            )
    return inputs, right


def _spelled_out(inputs: Sequence[str], output: str, ranks):
    """The labels with capital-free letters in place of each ellipsis, aligned at the right."""
    used = set("".join(inputs) + output)
    spare = [c for c in string.ascii_letters if c not in used]
    wide = 0
    for i, (term, rank) in enumerate(zip(inputs, ranks, strict=True)):
        named = len(term.replace(ELLIPSIS, ""))
        if rank < named or (rank > named and ELLIPSIS not in term):
            raise invalid(
                f"Expected input {i} to have rank {'at least ' if ELLIPSIS in term else ''}{named} but got: {rank}"
            )
        if ELLIPSIS in term:
            wide = max(wide, rank - named)
    if wide > len(spare):
        raise invalid("Too many dimensions in an einsum equation with an ellipsis")
    batch = "".join(spare[:wide])
    terms = []
    for term, rank in zip(inputs, ranks, strict=True):
        count = rank - len(term.replace(ELLIPSIS, ""))
        terms.append(term.replace(ELLIPSIS, batch[wide - count :] if count else ""))
    return terms, output.replace(ELLIPSIS, batch), batch


def _lengths(terms: Sequence[str], arrays: Sequence[Any], batch: str):
    """The length of each label. Raises InvalidArgumentError where two inputs disagree."""
    lengths: dict[str, int] = {}
    for term, x in zip(terms, arrays, strict=True):
        for label, n in zip(term, x.shape, strict=True):
            known = lengths.setdefault(label, n)
            if known != n and label in batch and 1 in (known, n):
                lengths[label] = max(known, n) if 0 not in (known, n) else 0
            elif known != n:
                raise invalid(
                    f"Expected dimension {known} at axis {term.index(label)} of the input shaped "
                    f"{shape_text(x.shape)} but got dimension {n}"
                )
    return lengths


def _rule(call: ShapeCall):
    inputs, output = parsed(call.attr("equation"))
    if len(inputs) != call.count:
        raise invalid(f"Expected {len(inputs)} inputs but got: {call.count}")
    known = []
    for i, term in enumerate(inputs):
        shape = call.shape(i)
        if shape is None and ELLIPSIS in term:
            return [None]
        known.append((None,) * len(term) if shape is None else shape)
    terms, output, batch = _spelled_out(inputs, output, [len(s) for s in known])
    dims: dict[str, int | None] = {}
    for term, shape in zip(terms, known, strict=True):
        for label, n in zip(term, shape, strict=True):
            dims[label] = _joined_dimension(dims.get(label, 1 if label in batch else None), n, label in batch)
    return [tuple(dims[label] for label in output)]


def _joined_dimension(a: int | None, b: int | None, broadcasts: bool) -> int | None:
    if not broadcasts:
        return shapes.same_dimension(a, b)
    return shapes.broadcast((a,), (b,))[0]  # type: ignore[index]


@op(
    "Einsum",
    "inputs: N>=1*T -> output: T",
    types={"T": NUMERIC},
    attrs={"equation": text},
    shape=_rule,
)
def Einsum(xp, inputs, equation):
    terms, output = parsed(equation)
    if len(terms) != len(inputs):
        raise invalid(f"Expected {len(terms)} inputs but got: {len(inputs)}")
    terms, output, batch = _spelled_out(terms, output, [x.ndim for x in inputs])
    lengths = _lengths(terms, inputs, batch)
    kind = inputs[0].dtype
    if kind.itemsize == 2 and kind.kind not in "iu":
        inputs = [x.astype(np.float32) for x in inputs]
    pairs = [_without_repeats(xp, term, x) for term, x in zip(terms, inputs, strict=True)]
    while len(pairs) > 1:
        rest = output + "".join(term for term, _ in pairs[2:])
        pairs[:2] = [_contract(xp, *pairs[0], *pairs[1], set(rest))]
    out = _placed(xp, *pairs[0], output, lengths)
    return out.astype(kind)


@Einsum.batching
def _(call: BatchedCall):
    terms, arrow, output = call.attrs["equation"].replace(" ", "").partition("->")
    if not arrow:
        return None
    letter = next(c for c in string.ascii_letters if c not in call.attrs["equation"])
    marked = [letter + t if b else t for t, b in zip(terms.split(","), call.batched, strict=True)]
    return call.run(call.inputs, equation=",".join(marked) + "->" + letter + output)


def _without_repeats(xp: ModuleType, term: str, x: Array):
    """The diagonal of every label that a term names more than once."""
    for label in dict.fromkeys(term):
        while term.count(label) > 1:
            i = term.index(label)
            j = term.index(label, i + 1)
            x = xp.diagonal(x, 0, i, j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + label
    return term, x


def _summed(xp: ModuleType, term: str, x: Array, keep):
    gone = tuple(i for i, label in enumerate(term) if label not in keep)
    return "".join(c for c in term if c in keep), xp.sum(x, gone, dtype=x.dtype) if gone else x


def _contract(xp: ModuleType, a_term: str, a: Array, b_term: str, b: Array, keep):
    """The product of two, as a stack of matrix products: [batch, free of a, summed] by [batch, summed, free of b]."""
    a_term, a = _summed(xp, a_term, a, keep | set(b_term))
    b_term, b = _summed(xp, b_term, b, keep | set(a_term))
    both = [c for c in a_term if c in b_term]
    batch = [c for c in both if c in keep]
    inner = [c for c in both if c not in keep]
    a_free = [c for c in a_term if c not in b_term]
    b_free = [c for c in b_term if c not in a_term]
    a = a.transpose([a_term.index(c) for c in batch + a_free + inner])
    b = b.transpose([b_term.index(c) for c in batch + inner + b_free])
    n = len(batch)
    a_rows, b_columns = a.shape[n : n + len(a_free)], b.shape[n + len(inner) :]
    if inner and any(a.shape[a.ndim - len(inner) + i] != b.shape[n + i] for i in range(len(inner))):
        # An ellipsis summed away whose lengths broadcast.
        common = np.broadcast_shapes(a.shape[a.ndim - len(inner) :], b.shape[n : n + len(inner)])
        a = xp.broadcast_to(a, (*a.shape[: a.ndim - len(inner)], *common))
        b = xp.broadcast_to(b, (*b.shape[:n], *common, *b_columns))
    width = math.prod(b.shape[n : n + len(inner)])
    a = a.reshape(*a.shape[:n], math.prod(a_rows), width)
    b = b.reshape(*b.shape[:n], width, math.prod(b_columns))
    product = xp.matmul(a, b)
    return "".join(batch + a_free + b_free), product.reshape(
        (*product.shape[:-2], *a_rows, *b_columns)
    )


def _placed(xp: ModuleType, term: str, x: Array, output: str, lengths: dict[str, Any]):
    """`x` with its axes in the order of the output, in which a label may be repeated: its diagonal."""
    order = list(dict.fromkeys(output))
    term, x = _summed(xp, term, x, set(order))
    x = x.transpose([term.index(c) for c in order])
    if len(order) == len(output):
        return x
    for i, label in enumerate(output):
        if output.index(label) != i:
            x = xp.expand_dims(x, i)
            n, first = lengths[label], output.index(label)
            place = [1] * x.ndim
            place[first] = place[i] = n
            x = x * xp.eye(n, dtype=x.dtype).reshape(place)
    return x


@Einsum.gradient(needs="inputs")
def _(call: GradientCall, dy: Tensor):
    terms, output = parsed(call.equation)
    inputs = call.inputs
    factors = [(term, conj(x)) for term, x in zip(terms, inputs, strict=True)]
    return [
        _input_gradient(dy, output, term, x, factors[:i] + factors[i + 1 :])
        for i, (term, x) in enumerate(zip(terms, inputs, strict=True))
    ]


def _input_gradient(dy: Tensor, output: str, term: str, x: Tensor, others: Sequence[Any]):
    """The sum of `dy` times the other inputs over all labels but those of `term`."""
    labels = _labels(term)
    known = {c for t in (output, *(t for t, _ in others)) for c in _labels(t)}
    # What only this input has was summed on its own: each of its elements gets the same.
    alone = [c for c in labels if c not in known]
    if alone:
        others = [*others, ("".join(alone), _ones(x, term, alone))]
    equation = ",".join([output, *(t for t, _ in others)]) + "->" + "".join(labels)
    dx = Einsum([dy, *(z for _, z in others)], equation)
    if "".join(labels) != term:
        dx = Einsum([dx], f"{''.join(labels)}->{term}")
    return broadcasting.sum_to_shape(dx, x.shape, Shape(x)) if ELLIPSIS in term else dx


def _labels(term: str):
    """The different labels of a term, an ellipsis as one."""
    letters = term.replace(ELLIPSIS, ".")
    return [ELLIPSIS if c == "." else c for c in dict.fromkeys(letters)]


def _ones(x, term, labels):
    """Ones, as many along each of the `labels` as `x` has."""
    if x.shape.rank is None:
        return construction.ones(_dynamic_sizes(Shape(x), term, labels), x.dtype)
    wide = x.shape.rank - len(term.replace(ELLIPSIS, ""))
    axes = []
    for label in _labels(term):
        start = term.index(label)
        if ELLIPSIS in term and start > term.index(ELLIPSIS):
            start += wide - len(ELLIPSIS)
        if label in labels:
            axes += range(start, start + wide) if label == ELLIPSIS else [start]
    static = [x.shape.as_list()[d] for d in axes]
    shape = gather.GatherV2(Shape(x), axes, 0) if None in static else np.array(static, np.int32)
    return construction.ones(shape, x.dtype)


def _dynamic_sizes(shape: Sequence[Any], term, labels):
    """What the vector `shape` has at each of the `labels`."""
    before, _, after = term.partition(ELLIPSIS)
    parts = []
    for label in _labels(term):
        if label not in labels:
            continue
        if label == ELLIPSIS:
            parts.append(shape[len(before) : -len(after) or None])
        else:
            at = before.index(label) if label in before else after.index(label) - len(after)
            parts.append(shape[at : at + 1 or None])
    return static.joined(*parts)


@Einsum.samples
def _(rng: SampleGenerator):
    yield Sample([rng.normal(2, 3), rng.normal(3, 4)], equation="ij,jk->ik")
    yield Sample([rng.normal(5, 2, 3), rng.normal(5, 4, 3)], equation="bij,bkj->bik")
    yield Sample([rng.normal(2, 3)], equation="ij->ji")
    yield Sample([rng.normal(2, 3)], equation="ij->")
    a, b = rng.normal(2, 3, 2), rng.normal(2, 4)
    yield Sample([a, b], equation="i...j,jk->ik", expect=np.einsum("iaj,jk->ik", a, b))
    yield Sample([rng.normal(3, 3, 2)], equation="ii...->...")
    yield Sample([rng.normal(3, 3)], equation="ii->i")
    yield Sample([rng.normal(3, 3)], equation="ii")
    yield Sample([rng.normal(2), rng.normal(3)], equation="i,j->ij")
    yield Sample([rng.normal(2, 3), rng.normal(3)], equation="ij,j")
    yield Sample([rng.normal(2, 1, 3, 4), rng.normal(5, 4, 2)], equation="...ij,...jk->...ik")
    yield Sample([rng.normal(2, 3), rng.normal(3, 2), rng.normal(2, 4)], equation="ab,bc,cd->ad")
    yield Sample(
        [rng.normal(2, 3), rng.normal(4, 2)], equation="ij,jk->ik", raises=InvalidArgumentError
    )
    yield Sample([rng.normal(2, 3)], equation="i->i", raises=InvalidArgumentError)
    yield Sample([rng.normal(2)], equation="i->j", raises=InvalidArgumentError)
    yield Sample([rng.normal(2)], equation="i->i->i", raises=InvalidArgumentError)


@Einsum.reference
def _(inputs: Sequence[np.ndarray], equation):
    return np.einsum(equation, *inputs)


@api("linalg.einsum", "einsum")
@tensor_function
@graph_scope("einsum/")
def einsum(equation: str, *inputs, **kwargs):
    """Multiply tensors, and sum over the axes that the right side of an equation leaves out.

    Args:
      equation: comma-separated labels of the axes of each input, `->`, and the labels of the result: `"ij,jk->ik"`
        is the matrix product. Without `->` the result has the labels that appear once, sorted. `...` stands for
        axes that broadcast; a label twice in one input means its diagonal.
      *inputs: tensors of one dtype, as many as the equation has terms.
      **kwargs: `optimize` and `name`, which have no effect on the result.

    Returns:
      A tensor of the dtype of the inputs.

    Raises:
      ValueError: for an equation that cannot be read, or has another number of terms.
      InvalidArgumentError: where the inputs do not have the axes that it says.

    >>> a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.einsum("ij,jk->ik", a, a)
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[ 7., 10.],
           [15., 22.]], dtype=float32)>
    >>> tf.einsum("ii->", a)
    <tf.Tensor: shape=(), dtype=float32, numpy=5.0>
    """
    kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments for this function: {sorted(kwargs)}")
    try:
        terms, output = parsed(equation)
    except InvalidArgumentError as error:
        raise ValueError(error.message) from None
    if len(terms) != len(inputs):
        raise ValueError(
            f"Einsum equation '{equation}' expects {len(terms)} inputs but got {len(inputs)}."
        )
    first = convert_to_tensor(inputs[0])
    tensors = [first, *(convert_to_tensor(x, dtype_hint=first.dtype) for x in inputs[1:])]
    return _in_pairs(list(terms), output, tensors)


def _in_pairs(terms: Sequence[str], output: str, tensors: Any):
    """Three and more inputs two at a time, in the order that NumPy finds cheapest."""
    if len(tensors) > 2 and all(x.shape.is_fully_defined() for x in tensors):
        ranks = [x.shape.rank for x in tensors]
        spelled, out, _ = _spelled_out(terms, output, ranks)
        equation = ",".join(spelled) + "->" + out
        zeros = [np.broadcast_to(np.zeros(()), x.shape.as_list()) for x in tensors]
        if len(set(out)) == len(out):
            path = np.einsum_path(
                equation, *zeros, optimize="optimal" if len(tensors) < 6 else "greedy"
            )[0][1:]
            for places in path[:-1]:
                chosen = [(spelled[i], tensors[i]) for i in places]
                spelled = [t for i, t in enumerate(spelled) if i not in places]
                tensors = [x for i, x in enumerate(tensors) if i not in places]
                keep = set(out).union(*spelled)
                term = "".join(dict.fromkeys(c for t, _ in chosen for c in t if c in keep))
                step = ",".join(t for t, _ in chosen) + "->" + term
                tensors.append(Einsum([x for _, x in chosen], step))
                spelled.append(term)
            return Einsum(tensors, ",".join(spelled) + "->" + out)
    return Einsum(tensors, ",".join(terms) + "->" + output)
