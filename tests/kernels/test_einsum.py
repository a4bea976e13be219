"""Einsum of two operands against NumPy: all orders of a stack of products, which the native kernel takes or leaves."""

import itertools
import string

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native

SIZES = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6, "f": 1}


def check(equation, rng, dtype=np.float32, sizes=SIZES):
    x, y = (rng.normal(size=[sizes[c] for c in term]).astype(dtype) for term in equation.split("->")[0].split(","))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    got = tf.raw_ops.Einsum(inputs=[x, y], equation=equation).numpy()
    np.testing.assert_allclose(got, np.einsum(equation, x, y), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_orders_of_small_products(dtype, rng):
    orders = [["".join(p) for p in itertools.permutations(labels)] for labels in ("abc", "acd", "abd")]
    for x, y, out in itertools.product(*orders):
        check(f"{x},{y}->{out}", rng, dtype)


@pytest.mark.parametrize("seed", range(40))
def test_random_products(seed):
    rng = np.random.default_rng(seed)
    labels = list("abcdef")
    kinds = rng.integers(4, size=len(labels))  # 0: stack, 1: rows, 2: columns, 3: summed
    terms = []
    for absent in (2, 1, 3):
        term = [c for c, kind in zip(labels, kinds, strict=True) if kind != absent]
        terms.append("".join(rng.permutation(term) if rng.random() < 0.5 else term))
    check(f"{terms[0]},{terms[1]}->{terms[2]}", rng)


def test_attention_of_a_layer(rng):
    sizes = {"a": 3, "b": 50, "c": 4, "d": 64, "e": 60}
    before = _native.set_work_thresholds(1, 1)
    try:
        for equation in ("aecd,abcd->acbe", "acbe,aecd->abcd", "abc,cde->abde", "abcd,cde->abe", "abc,abd->cd"):
            check(equation, rng, np.float32, sizes)
    finally:
        _native.set_work_thresholds(*before)


def test_gradients(rng):
    x, y = (tf.constant(rng.normal(size=s)) for s in ((2, 3, 4), (2, 5, 4)))

    def f(x, y):
        return tf.einsum("abc,adc->abd", x, y) ** 2

    theory, numeric = tf.test.compute_gradient(f, [x, y])
    for a, b in zip(theory, numeric, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ab,bc->ac", ([2, 3], [4, 5])), ("ab,bc->ad", ([2, 3], [3, 5])), ("ab,bc->ac", ([2], [3, 5])),
     ("ab,b(->a", ([2, 3], [3, 5]))],
)  # fmt: skip
def test_what_is_wrong_is_refused(equation, shapes):
    x, y = (tf.zeros(s) for s in shapes)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.raw_ops.Einsum(inputs=[x, y], equation=equation)


def test_empty_operands():
    for shapes in (([0, 3], [3, 2]), ([2, 0], [0, 2]), ([3, 2], [2, 0])):
        x, y = (np.zeros(s, np.float32) for s in shapes)
        got = tf.raw_ops.Einsum(inputs=[x, y], equation="ab,bc->ac").numpy()
        np.testing.assert_array_equal(got, x @ y)


def test_as_many_labels_as_letters(rng):
    labels = string.ascii_letters[:20]
    sizes = {c: 1 + (i < 6) for i, c in enumerate(labels)}
    check(f"{labels},{labels[::-1]}->{labels[:3]}", rng, np.float32, sizes)
