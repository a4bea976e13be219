"""Calls of `keras.ops` with arguments of many dtypes and shapes, for tapeflow and TensorFlow.

    python oracle_ops.py tensorflow|tapeflow FILE

saves to a JSON file for each call a list of [dtype, values], or the name of the error's class. Functions of one array,
of two, and reductions are called with all arrays; others have arguments of their own.
"""

import importlib
import json
import sys
import warnings

import numpy as np

UNARY = (
    "abs absolute arccos arccosh arcsin arcsinh arctan arctanh ceil conj conjugate copy cos cosh deg2rad erf erfc "
    "erfinv exp exp2 expm1 floor imag isfinite isinf isnan log log10 log1p log2 log_sigmoid logical_not nan_to_num "
    "ndim negative ones_like rad2deg ravel real reciprocal relu relu6 round rsqrt selu sigmoid sign silu sin sinh "
    "size softplus softsign sqrt square tan tanh trunc zeros_like empty_like hard_sigmoid hard_silu hard_tanh "
    "tanh_shrink sparse_plus sparse_sigmoid elu celu gelu leaky_relu soft_shrink hard_shrink squareplus softmax "
    "log_softmax sparsemax normalize layer_normalization rms_normalization flip transpose squeeze sort argsort "
    "nonzero array diagflat bitwise_not stop_gradient convert_to_tensor"
)
BINARY = (
    "add arctan2 divide divide_no_nan equal floor_divide greater greater_equal hypot isclose allclose less less_equal "
    "logaddexp logical_and logical_or logical_xor maximum minimum mod multiply not_equal power subtract true_divide "
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift outer vdot append"
)
REDUCTIONS = (
    "all amax amin any argmax argmin average count_nonzero cumprod cumsum logsumexp max mean median min prod ptp std "
    "sum var"
)


def arrays():
    """Arrays by name."""
    rng = np.random.RandomState(0)
    x = rng.normal(size=(2, 3)) * 2
    yield "float32", x.astype("float32")
    yield "float64", x
    yield "float16", x.astype("float16")
    yield "int32", rng.randint(-4, 5, (2, 3)).astype("int32")
    yield "int64", rng.randint(-4, 5, (2, 3))
    yield "int8", rng.randint(-4, 5, (2, 3)).astype("int8")
    yield "uint8", rng.randint(0, 5, (2, 3)).astype("uint8")
    yield "bool", rng.randint(0, 2, (2, 3)).astype(bool)
    yield "special", np.array([[np.nan, np.inf, -np.inf], [0.0, -0.0, 1.0]], "float32")
    yield "scalar", np.float32(0.7)
    yield "float", 0.7
    yield "int", 3
    yield "list", [[1.0, 2.0, 3.0], [3.0, 2.0, 0.5]]
    yield "ints", [[1, 2, 3], [3, 2, 1]]
    yield "empty", np.zeros((0, 3), "float32")
    yield "cube", rng.normal(size=(2, 3, 4)).astype("float32")


def other_calls(ops):
    """(name, call) for functions with arguments of their own."""
    rng = np.random.RandomState(1)
    x, v, c = (rng.normal(size=s).astype("float32") for s in ((3, 4), (5,), (2, 3, 4)))
    i = rng.randint(0, 9, (3, 4)).astype("int32")
    square = rng.normal(size=(2, 3, 3)).astype("float32")
    positive = square @ square.transpose(0, 2, 1) + np.eye(3, dtype="float32")
    for array, kind in ((x, "floats"), (i, "ints"), (c, "cube")):
        last = array.ndim - 1
        table = {
            "reshape": [((-1,),), ((2, -1),), ((5, 5),)],
            "expand_dims": [(0,), (-1,), ((0, 2),), (9,)],
            "squeeze": [(0,), (None,)],
            "swapaxes": [(0, -1)],
            "moveaxis": [(0, -1), ((0, 1), (1, 0))],
            "transpose": [(tuple(range(last, -1, -1)),)],
            "flip": [(0,), (-1,), ((0, 1),)],
            "flipud": [()], "fliplr": [()],
            "roll": [(2,), (1, 0), ((1, 2), (0, 1))],
            "rot90": [(), (2,), (3,), (-1,), (0,), (1, (0, 0))],
            "repeat": [(2,), (2, 0), (2, -1)],
            "tile": [(2,), ((2, 1),), ((2, 1, 1, 2),)],
            "pad": [(1,), ((1, 2),), (((1, 2),) * array.ndim, "reflect"), (1, "symmetric"), (1, "constant", 3),
                    (1, "edge"), (1, "reflect", 3)],
            "take": [([0, 2],), ([0, -1], 0), ([[0, 1]], -1), (1, 1)],
            "take_along_axis": [(np.zeros_like(array, "int32"), 0), (np.ones_like(array, "int64"), -1)],
            "diff": [(), (2,), (1, 0)],
            "diagonal": [(), (1,), (-1,), (0, 1, 0)],
            "trace": [(), (1,)],
            "diag": [(), (1,)],
            "tril": [(), (1,), (-1,)],
            "triu": [(), (1,), (-1,)],
            "split": [(3,), ([1, 2],), (2, -1), (5,)],
            "array_split": [(2,), (3, 1)],
            "unstack": [(), (None, 1)],
            "clip": [(0, 1), (-0.5, 0.5)],
            "round": [(1,), (-1,)],
            "quantile": [(0.3,), ([0.1, 0.9],), (0.3, 0), (0.3, -1, "linear", True), (0.5, None, "lower"),
                         (0.4, 0, "higher"), (0.4, 0, "midpoint"), (0.4, 0, "nearest"), (0.4, 0, "none")],
            "percentile": [(30,), ([10, 90], 1)],
            "sort": [(0,)], "argsort": [(0,), (None,)],
            "top_k": [(2,)],
            "cast": [("float64",), ("int32",), ("bool",)],
            "saturate_cast": [("uint8",)],
            "softmax": [(0,), ((0, 1),)], "log_softmax": [((0, 1),)],
            "glu": [()], "threshold": [(0.2, 9.0)],
            "normalize": [(0,), (-1, 3)],
            "moments": [([0],), ((0, 1), True)],
            "full_like": [(2,), (2.5, "float64")],
            "zeros_like": [("int32",)], "ones_like": [("int32",)],
            "broadcast_to": [((2, *array.shape),)],
            "slice": [((1,) * array.ndim, (1,) * array.ndim)],
            "get_item": [(0,), ((Ellipsis, 1),)],
            "slice_update": [((0, 1) + (0,) * (array.ndim - 2), array[:2, :2] * 2)],
            "searchsorted": [(v,)],
            "inner": [(array,)], "tensordot": [(array, ((0,), (0,)))], "matmul": [(array,), (array.T,)],
            "dot": [(array.T,), (2,)],
            "where": [(array, 0), (array, 0.5), ()],
            "shape": [()], "dtype": [()],
        }  # fmt: skip
        for name, arguments in table.items():
            for args in arguments:
                yield f"{name} | {kind} | {str(args)[:60]}", lambda n=name, a=array, r=args: getattr(ops, n)(a, *r)
    for name in ("vstack", "hstack", "dstack", "concatenate", "stack", "meshgrid"):
        for pair in ((v, v), (x, i), (x, x), (v, 2 * v.astype("float64"))):
            call = (lambda n=name, p=pair: getattr(ops, n)(*p)) if name == "meshgrid" else (
                lambda n=name, p=pair: getattr(ops, n)(p))  # fmt: skip
            yield f"{name} | {[a.shape for a in pair]} {pair[1].dtype}", call
    own = {
        "arange": [(5,), (1, 5), (1, 5, 2), (0.0, 1.0, 0.25), (5, None, None, "float64"), (5, 0, -2)],
        "linspace": [(0, 1), (0, 1, 5), (0, 1, 5, False), (0, 1, 1), (0, 1, 5, True, True), (v, 1, 3),
                     (0, 9, 4, True, False, "int32"), (v, v + 1, 3, True, False, None, -1), (0, 1, -1)],
        "logspace": [(0, 2, 5), (0, 2, 5, False, 2)],
        "eye": [(3,), (3, 4), (3, 4, 1), (3, None, -1, "int32")],
        "identity": [(3,)],
        "tri": [(3,), (3, 4, 1), (3, None, 0, "int32")],
        "zeros": [((2, 3),), ((2,), "int32")], "ones": [((2, 3),), ((2,), "int32")], "empty": [((2, 3),)],
        "full": [((2, 3), 2), ((2,), 2, "int32"), ((2, 5), v)],
        "one_hot": [([0, 2, 5], 3), ([[0, 1]], 2, 0), ([0, 1], 2, -1, "int32"), ([-1, 1], 2)],
        "multi_hot": [([[0, 2], [1, 1]], 3), ([0, 1], 4)],
        "cholesky": [(positive,), (positive, True)],
        "det": [(square,)], "slogdet": [(square,)], "inv": [(square,)], "logdet": [(positive,)], "pinv": [(x,)],
        "solve": [(positive, square), (positive[0], v[:3]), (positive, square[:, 0])],
        "solve_triangular": [(np.tril(positive), square, True), (np.triu(positive), square)],
        "eigh": [(np.diag([3.0, 1.0, 2.0]).astype("float32"),)],
        "svd": [(square, True, False)],
        "cross": [(square, square[::-1]), (square[0], square[1], 0, 0, 0), (v, v)],
        "einsum": [("ij,kj->ik", x, x), ("ij,kj", x, i), ("ijk->ik", c)],
        "digitize": [(v, np.array([-1.0, 0.0, 1.0], "float32")), (x, [0.0, 0.5])],
        "average": [(x, 0, [1.0, 2.0, 3.0]), (x, None, np.abs(x)), (i, 1, [1, 2, 3, 4])],
        "scatter": [([[0], [2]], [1.0, 2.0], [4]), ([[0], [0]], [1, 2], [2])],
        "scatter_update": [(v, [[0], [2]], [7.0, 8.0]), (v, [[0], [0]], [7.0, 8.0], "add"), (v, [[1]], [9.0], "max"),
                           (v, [[1]], [-9.0], "min"), (v, [[1]], [1.0], "none")],
        "segment_sum": [(x, [0, 0, 1]), (x, [0, 2, 1], 4)], "segment_max": [(x, [0, 0, 1])],
        "segment_prod": [(x, [0, 0, 1])], "segment_min": [(x, [0, 0, 1])],
        "in_top_k": [([1, 2, 0], x, 2)],
        "psnr": [(x, x + 1, 2.0)], "polar": [(x, x)],
        "binary_crossentropy": [(x > 0, np.abs(x) / 9), (x > 0, x, True)],
        "batch_normalization": [(x, x[0], x[0] ** 2, 1), (x, x[0], x[0] ** 2, -1, x[1], x[2])],
        "layer_normalization": [(x, x[0], x[1]), (c, None, None, (1, 2))],
        "rms_normalization": [(x, x[0]), (x, None, 0)],
    }  # fmt: skip
    for name, arguments in own.items():
        for args in arguments:
            yield f"{name} | {str(args)[:150]}", lambda n=name, a=args: getattr(ops, n)(*a)
    yield "cond", lambda: ops.cond(True, lambda: 1.0, lambda: 2.0)
    yield "while_loop", lambda: ops.while_loop(lambda i: i < 5, lambda i: i + 2, 0)
    yield "while_loop of two", lambda: ops.while_loop(lambda i, j: i < 5, lambda i, j: (i + 2, j * 2), (0, 1.0))
    yield "fori_loop", lambda: ops.fori_loop(0, 4, lambda i, x: x + i, 1)
    yield "map", lambda: ops.map(lambda row: ops.sum(row), x)
    yield "vectorized_map", lambda: ops.vectorized_map(lambda row: row * 2, x)


def calls(ops):
    """(name, function that makes the call)."""
    values = dict(arrays())
    for name in UNARY.split():
        for kind, x in values.items():
            yield f"{name} | {kind}", lambda n=name, x=x: getattr(ops, n)(x)
    for name in BINARY.split():
        for left, x in values.items():
            for right, y in values.items():
                if np.ndim(x) < 3 and np.ndim(y) < 3 and "empty" not in (left, right):
                    yield f"{name} | {left} | {right}", lambda n=name, x=x, y=y: getattr(ops, n)(x, y)
    for name in REDUCTIONS.split():
        for kind, x in values.items():
            for axis in (None, 0, -1, (0, 1), 5):
                yield f"{name} | {kind} | {axis}", lambda n=name, x=x, a=axis: getattr(ops, n)(x, axis=a)
            if name not in ("average", "count_nonzero", "cumprod", "cumsum"):
                yield f"{name} | {kind} | keepdims", lambda n=name, x=x: getattr(ops, n)(x, axis=0, keepdims=True)
    yield from other_calls(ops)


def answer(tf, value):
    """A result as [dtype, values] of each of its parts."""
    if isinstance(value, str):
        return value
    flat = tf.nest.flatten(value)
    return [[x.dtype.name if hasattr(x, "dtype") else type(x).__name__, *_numbers(np.asarray(x))] for x in flat]


def _numbers(x):
    if x.dtype.kind == "c":
        return [x.real.astype("float64").tolist(), x.imag.astype("float64").tolist()]
    return [x.astype("float64").tolist()]


def main(package, file):
    """Run all calls on a package and write the answers."""
    tf = importlib.import_module(package)
    warnings.simplefilter("ignore")
    answers = {}
    for name, call in calls(tf.keras.ops):
        try:
            answers[name] = answer(tf, call())
        except Exception as error:
            answers[name] = type(error).__name__
    with open(file, "w") as f:
        json.dump(answers, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
