"""Public functions in a graph: the same results and gradients as eagerly, whatever is known of the shapes."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.graph


def table(name):
    """A module beside this one."""
    spec = importlib.util.spec_from_file_location(
        name, pathlib.Path(__file__).with_name(f"{name}.py")
    )
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


function_calls = table("function_calls")
table("image_calls")

KNOWLEDGE = {
    "known": lambda shape: shape,
    "ranks": lambda shape: [None] * len(shape),
    "unknown": lambda shape: None,
}


def leaves(value):
    if isinstance(value, tf.IndexedSlices):
        return [tf.convert_to_tensor(value)]
    if isinstance(value, (list, tuple)):
        return [leaf for element in value for leaf in leaves(element)]
    return [] if value is None else [value]


def collect(value, found):
    """`value` with its arrays replaced by places in `found`, where they are put."""
    if isinstance(value, (np.ndarray, np.generic)):
        found.append(tf.constant(value))
        return ("tensor", len(found) - 1)
    if isinstance(value, (list, tuple)):
        return ("sequence", type(value), [collect(v, found) for v in value])
    return ("value", value)


def filled(plan, tensors):
    if plan[0] == "tensor":
        return tensors[plan[1]]
    if plan[0] == "sequence":
        return plan[1]([filled(p, tensors) for p in plan[2]])
    return plan[1]


class Case:
    """A call as a function of its tensors."""

    def __init__(self, function, args, kwargs):
        self.inputs = []
        self.function = function
        self.args = [collect(a, self.inputs) for a in args]
        self.kwargs = {k: collect(v, self.inputs) for k, v in kwargs.items()}

    def __call__(self, *tensors):
        return self.function(
            *[filled(p, tensors) for p in self.args],
            **{k: filled(p, tensors) for k, p in self.kwargs.items()},
        )

    def staged(self, knowledge):
        specs = [
            tf.TensorSpec(KNOWLEDGE[knowledge](x.shape.as_list()), x.dtype) for x in self.inputs
        ]
        return tf.function(self, input_signature=specs, autograph=False)

    def gradients(self, function):
        watched = [x for x in self.inputs if x.dtype.is_floating or x.dtype.is_complex]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            ys = leaves(function(*self.inputs))
            ys = [y for y in ys if y.dtype.is_floating or y.dtype.is_complex]
        if not ys or not watched:
            return []
        grads = tape.gradient(ys, watched)
        return [None if g is None else tf.convert_to_tensor(g) for g in grads]


def same(got, want):
    assert [y.dtype for y in got] == [y.dtype for y in want]
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape
        if b.dtype == tf.string:
            assert np.asarray(a.numpy()).tolist() == np.asarray(b.numpy()).tolist()
        else:
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5, equal_nan=True)


# What a known rank decides: without one TensorFlow refuses these, too, or takes them for something else.
NEEDS_RANK = {
    tf.compat.v1.batch_gather,
    tf.nn.convolution,
    tf.nn.max_pool,
    tf.linalg.tridiagonal_solve,
}


def calls(kinds):
    return [
        pytest.param(*rest, knowledge, id=f"{name}-{i}-{knowledge}")
        for i, (name, *rest) in enumerate(function_calls.CALLS)
        for knowledge in kinds
        if knowledge != "unknown" or (rest[0] not in NEEDS_RANK and "needs rank" not in name)
    ]


@pytest.mark.parametrize(("function", "args", "kwargs", "knowledge"), calls(KNOWLEDGE))
def test_result_is_the_eager_one(function, args, kwargs, knowledge):
    case = Case(function, args, kwargs)
    want = leaves(case(*case.inputs))
    staged = case.staged(knowledge)
    same(leaves(staged(*case.inputs)), want)
    promised = leaves(staged.get_concrete_function().structured_outputs)
    for p, y in zip(promised, want, strict=True):
        assert p.dtype == y.dtype
        assert p.shape.is_compatible_with(y.shape)


@pytest.mark.parametrize(("function", "args", "kwargs", "knowledge"), calls(["known", "unknown"]))
def test_gradient_is_the_eager_one(function, args, kwargs, knowledge):
    case = Case(function, args, kwargs)
    if not any(x.dtype.is_floating or x.dtype.is_complex for x in case.inputs):
        pytest.skip("nothing to differentiate")
    try:
        want = case.gradients(case)
    except LookupError:
        pytest.skip("there is no gradient")
    got = case.gradients(case.staged(knowledge))
    assert [g is None for g in got] == [g is None for g in want]
    same([g for g in got if g is not None], [g for g in want if g is not None])


@pytest.mark.parametrize(("function", "args", "kwargs", "knowledge"), calls(["known"]))
def test_a_session_gives_the_eager_result(function, args, kwargs, knowledge):
    case = Case(function, args, kwargs)
    want = leaves(case(*case.inputs))
    with tf.Graph().as_default():
        fed = [
            tf.compat.v1.placeholder(x.dtype, [None] * x.shape.rank if i % 2 else x.shape)
            for i, x in enumerate(case.inputs)
        ]
        fetched = leaves(case(*fed))
        with tf.compat.v1.Session() as session:
            got = session.run(
                fetched, {p: x.numpy() for p, x in zip(fed, case.inputs, strict=True)}
            )
    assert [y.dtype for y in fetched] == [y.dtype for y in want]
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(a), np.asarray(b.numpy())
        assert a.shape == b.shape
        if a.dtype.kind in "OS":
            assert a.tolist() == b.tolist()
        else:
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
