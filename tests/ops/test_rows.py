"""Every row of the op table, by its own samples: results, kernels against each other, gradients, bad inputs."""

from __future__ import annotations

import numpy as np
import pytest
from row_samples import Generator, array, leaves, tensors, wide

import tapeflow as tf
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

load_all_rows()


def cases(keep):
    """(row, sample) of every sample that `keep` accepts, as pytest parameters."""
    out = []
    for name, row in sorted(REGISTRY.items()):
        if row.sample_source is None:
            continue
        for i, sample in enumerate(row.sample_source(Generator())):
            if keep(row, sample):
                out.append(pytest.param(row, sample, id=f"{name}-{i}"))
    return out


def good_samples(row):
    source = row.sample_source
    return [s for s in source(Generator()) if s.raises is None] if source else []


def close(got, want, dtype=None):
    got, want = wide(array(got)), wide(array(want))
    assert got.shape == want.shape
    if got.dtype.kind in "OSU" or want.dtype.kind in "OSU":
        assert got.tolist() == want.tolist()
        return
    narrow = got.dtype.itemsize <= (8 if got.dtype.kind == "c" else 4) or want.dtype.itemsize <= 4
    tolerance = 2e-4 if narrow else 1e-7
    if dtype in (tf.float16, tf.bfloat16):
        tolerance = 3e-2
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)


def call(row, sample):
    return row(*tensors(sample.inputs), **sample.attrs)


def as_arrays(row, sample):
    """A sample's inputs as the row sees them: arrays of the dtypes that the call settled on."""

    def convert(value):
        return [np.asarray(v) for v in value] if isinstance(value, list) else np.asarray(value)

    return [convert(value) for value in sample.inputs]


@pytest.mark.parametrize(("row", "sample"), cases(lambda row, s: s.raises is not None))
def test_bad_input_raises(row, sample):
    with pytest.raises(sample.raises) as caught:
        call(row, sample)
    assert str(caught.value)


@pytest.mark.parametrize(
    ("row", "sample"),
    cases(lambda row, s: s.raises is None and (s.expect is not None or row.formula is not None)),
)
def test_result_is_the_reference(row, sample):
    got = leaves(call(row, sample))
    if sample.expect is not None:
        want = leaves(sample.expect)
    else:
        attrs = {**row.defaults, **sample.attrs}
        with np.errstate(all="ignore"):
            want = leaves(row.formula(*as_arrays(row, sample), **attrs))
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        close(a, b, a.dtype)


WHOLE = {0: lambda v: np.float32(v + 0.5), 6: lambda v: [x + 0.5 for x in v]}


def truncated(row, sample):
    """The attrs of a sample, those of integers at least 0 as numbers with a fraction."""
    out = dict(sample.attrs)
    for key, value in sample.attrs.items():
        number = row.attrs[key].number
        if number in WHOLE and value is not None and np.all(np.asarray(value) >= 0):
            out[key] = WHOLE[number](value)
    return out


@pytest.mark.parametrize(
    ("row", "sample"),
    cases(lambda row, s: s.raises is None and not row.stateful and truncated(row, s) != s.attrs),
)
@pytest.mark.parametrize("how", ["eager", "function"])
def test_attrs_of_integers_lose_their_fractions(row, sample, how):
    attrs = truncated(row, sample)
    call = lambda: leaves(row(*tensors(sample.inputs), **attrs))  # noqa: E731
    got = call() if how == "eager" else tf.function(call, autograph=False)()
    for ours, theirs in zip(got, leaves(row(*tensors(sample.inputs), **sample.attrs)), strict=True):
        np.testing.assert_array_equal(array(ours), array(theirs))


def test_attrs_of_integers_are_numbers():
    value = tf.ones([2])
    for bad in ("2", b"2", np.inf, np.nan, None, [2]):
        with pytest.raises(TypeError, match="Expected int for argument 'num_split'"):
            tf.raw_ops.Split(axis=0, value=value, num_split=bad)


@pytest.mark.parametrize(
    ("row", "sample"), cases(lambda row, s: s.raises is None and bool(row.native_dtypes()))
)
def test_native_kernel_agrees_with_the_python_kernel(row, sample):
    native = leaves(call(row, sample))
    python = leaves(row.call_python(*tensors(sample.inputs), **sample.attrs))
    assert [t.dtype for t in native] == [t.dtype for t in python]
    for a, b in zip(native, python, strict=True):
        close(a, b, a.dtype)


def key_inputs(row):
    """The row's first type variable and the positions of the inputs that have it."""
    arguments = row.signature.partition("->")[0].split(",")
    types = [argument.partition(":")[2].strip().rpartition("*")[2] for argument in arguments]
    key = next((t for t in types if t in row.types), None)
    return key, [i for i, t in enumerate(types) if t == key]


def in_dtype(value, dtype):
    if isinstance(value, list):
        return [in_dtype(v, dtype) for v in value]
    value = np.asarray(value)
    if dtype.is_integer:
        value = np.nan_to_num(value, nan=0, posinf=9, neginf=-9).clip(
            0 if dtype.is_unsigned else -99, 99
        )
    with np.errstate(over="ignore"):
        return value.astype(dtype.as_numpy_dtype)


def numeric(row, sample):
    key, at = key_inputs(row)
    return (
        sample.raises is None
        and key is not None
        and row.types[key][0] is tf.float32
        and all(np.asarray(v).dtype.kind == "f" for i in at for v in leaves([sample.inputs[i]]))
    )


@pytest.mark.parametrize(("row", "sample"), cases(numeric))
def test_every_dtype_of_the_schema_runs(row, sample):
    key, at = key_inputs(row)
    for dtype in row.types[key]:
        if not (dtype.is_floating or dtype.is_integer) or dtype.size == 1 or dtype.is_quantized:
            continue
        inputs = [in_dtype(v, dtype) if i in at else v for i, v in enumerate(sample.inputs)]
        try:
            got = leaves(row(*inputs, **sample.attrs))
        except tf.errors.InvalidArgumentError:  # division by a zero that rounding made, say
            with pytest.raises(tf.errors.InvalidArgumentError):
                row.call_python(*inputs, **sample.attrs)
            continue
        python = leaves(row.call_python(*inputs, **sample.attrs))
        for i, (a, b) in enumerate(zip(got, python, strict=True)):
            assert a.dtype == b.dtype
            try:
                close(a, b, dtype)
            except AssertionError:
                if dtype not in (tf.float16, tf.bfloat16) or int(dtype) not in row.native_dtypes():
                    raise
                # Computed in float, and rounded once: what rounding at every step gives may be far off.
                floats = [in_dtype(v, tf.float32) if k in at else v for k, v in enumerate(inputs)]
                close(a, leaves(row.call_python(*floats, **sample.attrs))[i], dtype)


def float_inputs(sample):
    """Positions of the inputs to differentiate, and all inputs with those as float64 tensors."""
    inputs, at = [], []
    for i, value in enumerate(sample.inputs):
        if isinstance(sample.differentiable, tuple) and i not in sample.differentiable:
            inputs.append(value)
        elif (
            isinstance(value, list)
            and value
            and all(np.asarray(v).dtype.kind == "f" for v in value)
        ):
            at.append(i)
            inputs.append([tf.constant(np.asarray(v, np.float64)) for v in value])
        elif not isinstance(value, list) and np.asarray(value).dtype.kind == "f":
            at.append(i)
            inputs.append(tf.constant(np.asarray(value, np.float64)))
        else:
            inputs.append(value)
    return at, inputs


def accepts_double(row):
    return not row.types or any(tf.float64 in allowed for allowed in row.types.values())


def differentiable(row, sample):
    return (
        sample.raises is None
        and sample.differentiable
        and row._gradient is not None
        and accepts_double(row)
        and bool(float_inputs(sample)[0])
        and sum(np.size(v) for v in leaves(list(sample.inputs))) < 300
    )


def scalar_function(row, sample, weights):
    """sum of weights * outputs, a scalar function of the row's flattened float inputs."""
    at, inputs = float_inputs(sample)
    flat = leaves([inputs[i] for i in at])

    def f(values):
        values = iter(values)
        now = [
            ([next(values) for _ in v] if isinstance(v, list) else next(values)) if i in at else v
            for i, v in enumerate(inputs)
        ]
        total = tf.constant(0.0, tf.float64)
        for k, y in enumerate(leaves(row(*now, **sample.attrs))):
            if y.dtype == tf.float64:
                if k not in weights:
                    # What stands for no number at all (the maximum of nothing) would drown the rest.
                    weights[k] = np.random.default_rng(k).uniform(0.5, 1.5, y.shape)
                    weights[k][np.abs(y.numpy()) > 1e300] = 0.0
                total = total + tf.reduce_sum(y * weights[k])
        return total

    return f, flat


def directional(f, flat, directions, step):
    up = f([x + step * d for x, d in zip(flat, directions, strict=True)])
    down = f([x - step * d for x, d in zip(flat, directions, strict=True)])
    return float(up - down) / (2 * step)


def gradient_along(f, flat, directions):
    """The derivative of f along `directions`, by the tape; a tensor."""
    with tf.GradientTape() as tape:
        for x in flat:
            tape.watch(x)
        y = f(flat)
    grads = tape.gradient(y, flat, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    total = tf.constant(0.0, tf.float64)
    for g, d in zip(grads, directions, strict=True):
        total = total + tf.reduce_sum(tf.convert_to_tensor(g) * d)
    return total


@pytest.mark.parametrize(("row", "sample"), cases(differentiable))
def test_gradient_is_the_numeric_one(row, sample):
    f, flat = scalar_function(row, sample, {})
    rng = np.random.default_rng(3)
    directions = [tf.constant(rng.normal(size=x.shape)) for x in flat]
    got = float(gradient_along(f, flat, directions))
    want = directional(f, flat, directions, 1e-6)
    if not np.isfinite(want):
        pytest.skip("the function is not finite there")
    assert got == pytest.approx(want, rel=2e-4, abs=2e-5)


@pytest.mark.parametrize(("row", "sample"), cases(differentiable))
def test_second_order_gradient_is_the_numeric_one(row, sample):
    f, flat = scalar_function(row, sample, {})
    rng = np.random.default_rng(4)
    first = [tf.constant(rng.normal(size=x.shape)) for x in flat]
    second = [tf.constant(rng.normal(size=x.shape)) for x in flat]

    def slope(values):
        return gradient_along(f, values, first)

    try:
        got = float(gradient_along(slope, flat, second))
    except LookupError:
        pytest.skip("TensorFlow has no second-order gradient here either")
    want = directional(slope, flat, second, 1e-5)
    if not np.isfinite(want):
        pytest.skip("the function is not finite there")
    assert got == pytest.approx(want, rel=2e-3, abs=2e-4)


def test_every_row_has_a_reference_or_written_results():
    """Rows of state and of random numbers have theirs in files that TensorFlow wrote, or tests by hand."""
    elsewhere = ("Assign", "BytesInUse", "BytesLimit", "DestroyResource", "MaxBytesInUse", "Multinomial")
    elsewhere += ("NonDeterministic", "VarHandle", "Random")
    elsewhere += ("ReadVariable", "Resource", "Rng")
    elsewhere += ("Stateful", "Stateless", "Timestamp", "TruncatedNormal", "VarIsInitialized", "VariableShape")
    without = [
        name
        for name, row in sorted(REGISTRY.items())
        if row.formula is None
        and not any(s.expect is not None for s in good_samples(row))
        and not name.startswith(elsewhere)
    ]
    assert len(REGISTRY) >= 400
    assert without == []
