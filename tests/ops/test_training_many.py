"""Rows that update many variables by one call, and rows whose gradient is given for some rows only."""

import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.state import training
from tapeflow.ops.state.training_rule import RULES

InvalidArgumentError = tf.errors.InvalidArgumentError
NAMES = sorted(RULES)
BY_ROWS = [name for name in NAMES if RULES[name].rows]
SHAPES = [(3, 5), (), (0, 4), (70,), (2, 3, 4), (33, 3)]


@pytest.fixture(params=[False, True], ids=["as it is", "always split"], autouse=True)
def thresholds(request):
    before = _native.set_work_thresholds(1, 1) if request.param else None
    yield
    if before:
        _native.set_work_thresholds(*before)


def scalars_of(rule, dtype):
    """Settings that make sense for every rule."""
    usual = {"lr": 0.1, "alpha": 0.1, "lr_power": -0.5, "beta1_power": 0.9, "beta2_power": 0.99, "epsilon": 1e-3,
             "beta1": 0.8, "beta2": 0.9, "momentum": 0.7, "rho": 0.9}  # fmt: skip
    names = [n for n in rule.names if n != rule.gradient]
    return [
        np.int64(3) if n == "global_step" else np.asarray(usual.get(n, 0.2), dtype) for n in names
    ]


def arrays_of(rule, shapes, dtype, seed=0):
    """Variables, a list of slots for each kind, and gradients."""
    rng = np.random.default_rng(seed)
    variables = [np.asarray(rng.normal(size=s), dtype) for s in shapes]
    slots = [[first_slot(rng, name, s, dtype) for s in shapes] for name in rule.slots]
    return variables, slots, [np.asarray(rng.normal(size=s), dtype) for s in shapes]


def first_slot(rng, name, shape, dtype):
    """Positive; small in means of the gradient, whose square is to stay below the mean of its squares."""
    return np.asarray((rng.random(shape) + 0.5) * (0.1 if name == "mg" else 1), dtype)


def stepped(rule, arrays, grad, dtype):
    """The formula in NumPy, in double precision."""
    scalars = [np.asarray(s, np.float64) for s in scalars_of(rule, dtype)]
    names = [n for n in rule.names if n != rule.gradient]
    with np.errstate(all="ignore"):
        return rule.update(
            np, *(a.astype(np.float64) for a in arrays), grad.astype(np.float64),
            **dict(zip(names, scalars)), **rule.attrs,
        )  # fmt: skip


TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "float16": 2e-2, "bfloat16": 1e-1}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_many_variables_change_as_each_alone(name, dtype):
    rule, kind = RULES[name], tf.as_dtype(dtype).as_numpy_dtype
    arrays, slot_arrays, grads = arrays_of(rule, SHAPES, kind)
    variables = [tf.Variable(a) for a in arrays]
    slots = [[tf.Variable(a) for a in each] for each in slot_arrays]
    rule.apply_many(variables, slots, scalars_of(rule, kind), grads)
    for i, grad in enumerate(grads):
        wanted = stepped(rule, [arrays[i], *(s[i] for s in slot_arrays)], grad, kind)
        for variable, value in zip([variables[i], *(s[i] for s in slots)], wanted):
            got, most = variable.numpy().astype(np.float64), TOLERANCE[dtype]
            np.testing.assert_allclose(got, value, rtol=most, atol=most)


def test_a_variable_in_two_places_changes_twice_in_order():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([5.0])
    slots = [[tf.Variable([0.0, 0.0]), tf.Variable([0.0])]]
    variables, slots = [a, b, a], [[*slots[0], slots[0][0]]]
    grads = [[1.0, 1.0], [2.0], [10.0, 10.0]]
    training.Momentum.apply_many(variables, slots, [0.1, 0.5], [tf.constant(g) for g in grads])
    np.testing.assert_allclose(a.numpy(), [1 - 0.1 - 1.05, 2 - 0.1 - 1.05], rtol=1e-6)
    np.testing.assert_allclose(b.numpy(), [4.8], rtol=1e-6)
    np.testing.assert_allclose(slots[0][0].numpy(), [10.5, 10.5], rtol=1e-6)


def test_values_read_before_stay_and_gradients_may_be_values():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0])
    before = a.read_value()
    training.GradientDescent.apply_many([a, b], [], [0.5], [a.read_value(), b.read_value()])
    np.testing.assert_array_equal(before.numpy(), [1, 2])
    np.testing.assert_array_equal(a.numpy(), [0.5, 1])
    np.testing.assert_array_equal(b.numpy(), [1.5])


def test_no_variables_at_all():
    training.GradientDescent.apply_many([], [], [0.5], [])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda v, s, n, g: g.__setitem__(1, np.ones(3, g[1].dtype)), r"var and grad .* shape\[2,2\] \[3\]"),
        (lambda v, s, n, g: s[1].__setitem__(1, tf.Variable(g[0])), r"var and v .* shape\[2,2\] \[3\]"),
        (lambda v, s, n, g: n.__setitem__(2, [0.1, 0.2]), "lr is not a scalar"),
        (lambda v, s, n, g: g.pop(), "For 2 gradients there must be as many variables, each with its slots: 6, got 9"),
        (lambda v, s, n, g: s[0].pop(), "For 3 gradients .*: 9, got 8"),
        (lambda v, s, n, g: g.append(g[0]), "For 4 gradients .*: 12, got 9"),
    ],
)  # fmt: skip
def test_bad_input_in_the_middle_changes_nothing(change, text, dtype):
    shapes = [(3,), (2, 2), (4,)]
    values = [np.ones(s, dtype) for s in shapes]
    variables = [tf.Variable(v) for v in values]
    slots = [[tf.Variable(v) for v in values] for _ in "mv"]
    everything = [*variables, *slots[0], *slots[1]]
    scalars, grads = [np.asarray(s, dtype) for s in (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3)], [*values]
    change(variables, slots, scalars, grads)
    scalars = [np.asarray(s, dtype) for s in scalars]
    with pytest.raises(InvalidArgumentError, match=text):
        training.Adam.apply_many(variables, slots, scalars, grads)
    for variable in everything:
        assert (variable.numpy() == 1).all()


def test_what_is_uninitialized_or_gone_is_an_error():
    a, b = tf.Variable([1.0]), tf.Variable([1.0])
    handle = b.handle
    del b
    with pytest.raises(tf.errors.FailedPreconditionError, match="deleted"):
        training.GradientDescent.many([a, handle], 0.1, [[1.0], [1.0]])
    assert a.numpy() == 1


def test_a_gradient_of_another_dtype():
    a = tf.Variable([1.0])
    with pytest.raises(InvalidArgumentError):
        training.GradientDescent.many(
            [a, a], tf.constant(0.1), [[1.0], tf.constant([1.0], tf.float64)]
        )
    assert a.numpy() == 1


# By rows

ROWS, COLUMNS = 200, 7
GIVEN = np.array([3, 199, 64, 3, 0, 63, 3, 64], np.int64)


def row_case(rule, dtype, zero_rows=True):
    rng = np.random.default_rng(1)
    var = rng.normal(size=(ROWS, COLUMNS)).astype(dtype)
    slots = [first_slot(rng, name, (ROWS, COLUMNS), dtype) for name in rule.slots]
    if zero_rows:
        for slot in slots:
            slot[10:150] = 0
    return var, slots, rng.normal(size=(len(GIVEN), COLUMNS)).astype(dtype)


@pytest.mark.parametrize("indices", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", BY_ROWS)
def test_rows_are_a_dense_gradient_of_their_sums(name, dtype, indices):
    """Three steps: what is remembered of the rows between them changes nothing."""
    rule = RULES[name]
    var, slots, grad = row_case(rule, dtype)
    scalars = scalars_of(rule, dtype)
    mine = [tf.Variable(var), *map(tf.Variable, slots)]
    other = [tf.Variable(var), *map(tf.Variable, slots)]
    for shift in (0, 0, 21):
        given = (GIVEN + shift) % ROWS
        dense = np.zeros_like(var)
        np.add.at(dense, given, grad)
        rule.apply_sparse(rule.rows, mine[0], mine[1:], scalars, grad, given.astype(indices))
        rule.apply(other[0], other[1:], scalars, dense)
        most = TOLERANCE[dtype]
        for a, b in zip(mine, other):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=most, atol=most)


def test_slots_that_others_change_between_updates_are_looked_at_again():
    var, m, v = (tf.Variable(tf.zeros([100, 2])) for _ in range(3))
    scalars = scalars_of(training.Adam, np.float32)

    def step(at):
        training.Adam.apply_sparse(training.Adam.rows, var, [m, v], scalars, tf.ones([1, 2]), [at])

    step(5)
    assert (var.numpy() != 0).any(1).nonzero()[0].tolist() == [5]
    m.scatter_nd_add([[70]], [[1.0, 1.0]])
    v.assign_add(np.eye(100, 2, -71, np.float32))
    m.assign(tf.tensor_scatter_nd_add(m, [[72]], [[1.0, 1.0]]))
    step(6)
    assert (var.numpy() != 0).any(1).nonzero()[0].tolist() == [5, 6, 70, 72]
    assert v.numpy()[71, 0] == pytest.approx(0.9)


def test_without_an_epsilon_no_row_stays_as_it_is():
    var, m, v = (
        tf.Variable(tf.ones([3, 1])),
        tf.Variable(tf.zeros([3, 1])),
        tf.Variable(tf.zeros([3, 1])),
    )
    scalars = [np.float32(s) for s in (0.9, 0.99, 0.1, 0.9, 0.99, 0.0)]
    training.Adam.apply_sparse(training.Adam.rows, var, [m, v], scalars, tf.ones([1, 1]), [0])
    assert np.isnan(var.numpy()[:, 0]).tolist() == [
        False,
        True,
        True,
    ]  # 0 / 0, as in the dense update


def test_many_tables_take_turns():
    """More than are remembered."""
    tables = [[tf.Variable(tf.zeros([70, 2])) for _ in range(3)] for _ in range(40)]
    scalars = scalars_of(training.Adam, np.float32)
    for step in range(3):
        for var, m, v in tables:
            training.Adam.apply_sparse(
                training.Adam.rows, var, [m, v], scalars, tf.ones([1, 2]), [step]
            )
    for var, _, _ in tables:
        np.testing.assert_array_equal(var.numpy(), tables[0][0].numpy())
        assert (var.numpy() != 0).all(1).nonzero()[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("grad", "indices", "text"),
    [
        (np.ones((1, 2)), [3], "Index 3 at offset 0 in indices is out of range"),
        (np.ones((2, 2)), [0, -1], "Index -1 at offset 1 in indices is out of range"),
        (np.ones((2, 2)), [1], "grad must be the same size as indices in the first dimension"),
        (np.ones((1, 3)), [1], "var and grad must match in dimension 1"),
        (np.ones(2), [1], "var and grad do not have the same rank"),
        (np.ones((1, 2)), [[1]], "indices must be one-dimensional"),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_bad_rows_change_nothing(grad, indices, text, dtype):
    variables = [tf.Variable(np.ones((3, 2), dtype)) for _ in range(3)]
    scalars = scalars_of(training.Adam, dtype)
    with pytest.raises(InvalidArgumentError, match=text):
        training.Adam.apply_sparse(
            training.Adam.rows, variables[0], variables[1:], scalars, grad.astype(dtype), indices
        )
    for variable in variables:
        assert (variable.numpy() == 1).all()


def test_no_rows_still_decay():
    var, m, v = tf.Variable([[1.0]]), tf.Variable([[1.0]]), tf.Variable([[1.0]])
    scalars = scalars_of(training.Adam, np.float32)
    training.Adam.apply_sparse(
        training.Adam.rows, var, [m, v], scalars, np.zeros((0, 1), np.float32), np.zeros(0, int)
    )
    assert m.numpy() == pytest.approx(0.8)


def test_threads_that_update_the_same_variables_do_no_harm():
    """Updates may be lost, as without locks in TensorFlow; memory may not."""
    shapes = [(300, 64), (70,), (64, 64)]
    variables = [tf.Variable(tf.zeros(s)) for s in shapes]
    slots = [[tf.Variable(tf.zeros(s)) for s in shapes] for _ in "mv"]
    scalars = scalars_of(training.Adam, np.float32)
    failures = []

    def work(seed):
        try:
            for step in range(20):
                training.Adam.apply_many(variables, slots, scalars, [tf.ones(s) for s in shapes])
                training.Adam.apply_sparse(
                    training.Adam.rows, variables[0], [s[0] for s in slots], scalars,
                    tf.ones([50, 64]), np.random.default_rng(seed + step).integers(0, 300, 50),
                )  # fmt: skip
                variables[step % 3].assign(tf.zeros(shapes[step % 3]))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(np.isfinite(v.numpy()).all() for v in variables)
