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
    "nonzero array diagflat bitwise_not stop_gradient convert_to_tensor angle cbrt fabs i0 isneginf isposinf isreal "
    "signbit sinc corrcoef unique trapezoid view view_as_real norm bincount"
)
BINARY = (
    "add arctan2 divide divide_no_nan equal floor_divide greater greater_equal hypot isclose allclose less less_equal "
    "logaddexp logical_and logical_or logical_xor maximum minimum mod multiply not_equal power subtract true_divide "
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift outer vdot append "
    "fmax fmin fmod gcd lcm heaviside ldexp logaddexp2 nextafter kron isin"
)
REDUCTIONS = (
    "all amax amin any argmax argmin average count_nonzero cumprod cumsum logsumexp max mean median min prod ptp std "
    "sum var nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar"
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


def more_calls(ops):
    """(name, call) for convolutions, signals, images, factors of matrices and functions of functions."""
    rng = np.random.RandomState(2)

    def floats(*shape):
        return rng.normal(size=shape).astype("float32")

    x, v, c = floats(3, 4), floats(7), floats(2, 3, 4)
    missing = np.where(rng.uniform(size=(3, 4)) < 0.3, np.nan, x).astype("float32")
    square = floats(2, 3, 3)
    lower = np.linalg.cholesky(square @ square.transpose(0, 2, 1) + np.eye(3)).astype("float32")
    line, picture, volume = floats(2, 9, 4), rng.uniform(size=(2, 8, 7, 4)).astype("float32"), floats(1, 5, 6, 5, 2)
    colors = rng.uniform(size=(2, 8, 7, 3)).astype("float32")
    first = picture.transpose(0, 3, 1, 2)
    infinity = float("inf")
    small = rng.randint(0, 6, (9,)).astype("int32")
    table = {
        "nanquantile": [(missing, 0.3), (missing, [0.1, 0.9], 0), (missing, 0.5, 1, "linear", True),
                        (missing, 0.4, 0, "lower"), (missing, 0.4, 0, "higher"), (missing, 0.4, 0, "midpoint"),
                        (missing, 0.4, 0, "nearest")],
        "nanpercentile": [(missing, 30), (missing, [10, 90], 1)],
        "nanmedian": [(missing, 0), (missing, (0, 1), True)],
        "argpartition": [(small, 4)],
        "bincount": [(small,), (small, v[:1].repeat(9)), (small, None, 10), (small.reshape(3, 3), None, 7),
                     (small, small), (small.astype("uint8"), None)],
        "histogram": [(v,), (v, 4), (v, 4, (-1.0, 1.0)), (x, 3), (v, -1)],
        "unique": [(small,), (small, True, True), (small, True, True, True, True), (small, False),
                   (small.reshape(3, 3), True, False, True),
                   (np.array([[1, 2], [0, 5], [1, 2]]), True, True, True, True, 0),
                   (small, True, True, False, True, None, 8, -1), (small, True, False, False, False, None, 2),
                   (np.array([[1, 0, 1], [2, 2, 2]]), True, False, False, False, 1)],
        "unravel_index": [([5, 2, 11], (3, 4)), ([[5, 2]], (3, 4)), ([1], (None, 2))],
        "isin": [(small, [1, 2]), (small, [1, 2], False, True), (small.reshape(3, 3), [[5]], True)],
        "select": [([x > 0, x > -1], [x, 2 * x]), ([x > 0], [x], 7.0), ([x > 0, x > 1], [1, 2], 3)],
        "trapezoid": [(x, None, 0.5), (x, None, 1.0, 0), (x, x.cumsum(1)), (small,)],
        "vander": [(v,), (v, 3), (small, 3, True)],
        "geomspace": [(1.0, 1000.0, 4), (1, 256, 9), (-1.0, -100.0, 3), (1.0, 8.0, 3, False)],
        "hsplit": [(x, 2), (x, [1]), (v, [3])], "vsplit": [(x, 3), (x, [1])], "dsplit": [(c, 2), (x, 2)],
        "rearrange": [(c, "a b c -> a (b c)"), (c, "a b c -> c b a"), (c, "a b (c d) -> (a c) b d"),
                      (x, "(a b) c -> a b c")],
        "view": [(small, "float32"), (x, "uint8"), (small[:8].astype("int8"), "int32"), (v, "float64")],
        "view_as_complex": [(x.reshape(2, 3, 2),), (x,)],
        "corrcoef": [(x,)], "correlate": [(v, v[:3]), (v, v[:3], "same"), (v, v[:4], "same"), (v, v[:3], "full"),
                                          (small, small[:2]), (v[:3], v, "full"), (v, v[:3], "none")],
        "cdist": [(x, x[:2]), (c, c[:, :2]), (v, v)],
        "cholesky_inverse": [(lower,), (lower.transpose(0, 2, 1), True)],
        "lstsq": [(x.T, v[:4]), (x, floats(3, 2)), (x.T, x.T, 0.5)], "lu_factor": [(square,)],
        "matrix_rank": [(square,), (np.ones((3, 3), "float32"),)],
        "norm": [(c, order, axis, keep) for order in (None, 1, 2, 3, 0, infinity, -infinity, "fro") for axis in (0, -1)
                 for keep in (False, True)]
              + [(c, order, axis, keep) for order in (None, "fro", "nuc", 1, -1, 2, -2, infinity, -infinity, 3)
                 for axis in ((0, 1), (-1, 0)) for keep in (False, True)] + [(c, 2, (0, 1, 2))],
        "fft": [((x, x),), ((x, x[:2]),), (x,)], "fft2": [((x, x),)], "ifft2": [((x, x),)],
        "rfft": [(v,), (x, 6), (x, 3)], "irfft": [((x, x),), ((x, x), 5)],
        "extract_sequences": [(v, 3, 2), (x, 2, 1)],
        "stft": [(floats(2, 20), 5, 2, 8), (floats(20), 8, 4, 8, "hamming", False), (floats(20), 4, 2, 4, None),
                 (small, 4, 2, 4), (floats(20), 8, 2, 4), (floats(20), 4, 2, 4, "none")],
        "istft": [((floats(2, 6, 5), floats(2, 6, 5)), 5, 2, 8), ((floats(6, 5), floats(6, 5)), 8, 4, 8, 15),
                  ((floats(6, 5), floats(6, 5)), 8, 4, 8, None, "hamming", False)],
        "bartlett": [(7,), (1,), (0,)], "blackman": [(7,), (1,)], "hamming": [(7,)], "hanning": [(8,)],
        "kaiser": [(7, 3.0)],
        "conv": [(line, floats(3, 4, 5)), (line, floats(3, 4, 5), 2, "same"), (picture, floats(2, 3, 4, 5), 1, "same"),
                 (picture, floats(2, 3, 4, 5), (2, 1), "valid"), (picture, floats(2, 3, 4, 5), 1, "valid", None, 2),
                 (picture, floats(2, 3, 2, 6)), (first, floats(2, 3, 4, 5), 1, "same", "channels_first"),
                 (volume, floats(2, 2, 2, 2, 3), 2, "same"), (picture, floats(2, 3, 4, 5), 1, "none")],
        "depthwise_conv": [(line, floats(3, 4, 2)), (picture, floats(3, 2, 4, 2), 2, "same"),
                           (picture, floats(3, 2, 4, 1), 1, "valid", None, 2), (line, floats(3, 4, 1), 2, "same"),
                           (picture, floats(3, 2, 4, 1), 2, "same", None, 2),
                           (first, floats(3, 2, 4, 1), 1, "same", "channels_first")],
        "separable_conv": [(line, floats(3, 4, 2), floats(1, 8, 5)),
                           (picture, floats(3, 2, 4, 1), floats(1, 1, 4, 3), 2),
                           (picture, floats(3, 2, 4, 1), floats(1, 1, 4, 3), 2, "same", None, 2)],
        "conv_transpose": [(line, floats(3, 5, 4)), (line, floats(3, 5, 4), 2, "same"),
                           (line, floats(3, 5, 4), 2, "valid", 1),
                           (picture, floats(3, 2, 5, 4), 2, "valid"), (picture, floats(3, 2, 5, 4), 2, "same", 1),
                           (picture, floats(2, 2, 5, 4), 3, "valid"),
                           (volume, floats(2, 2, 2, 3, 2), 2)],
        "max_pool": [(line, 2), (picture, 2), (picture, (2, 3), (1, 2), "same"), (volume, 2),
                     (first, 2, None, "valid", "channels_first")],
        "average_pool": [(line, 2), (picture, 2), (picture, (2, 3), 1, "same"), (volume, 2)],
        "adaptive_max_pool": [(line, 4), (picture, (3, 2)), (volume, 2), (first, 3, "channels_first")],
        "adaptive_average_pool": [(line, 4), (picture, (3, 2)), (volume, 2)],
        "space_to_depth": [(floats(1, 4, 6, 3), 2), (floats(1, 3, 4, 6), 2, "channels_first")],
        "depth_to_space": [(floats(1, 2, 3, 8), 2), (floats(1, 8, 2, 3), 2, "channels_first")],
        "unfold": [(first, 2), (first, (3, 2), 1, 1, 2), (first, 2, 2)],
        "fold": [(floats(2, 12, 9), (4, 4), 2), (floats(1, 8, 16), 7, 2, 1, 1, 2), (floats(1, 8, 9), 5, 2, 2)],
        "dot_product_attention": [(floats(2, 3, 4, 5), floats(2, 6, 4, 5), floats(2, 6, 4, 5)),
                                  (floats(2, 3, 4, 5), floats(2, 3, 2, 5), floats(2, 3, 2, 5), None, None, 0.3, True),
                                  (floats(2, 3, 1, 5), floats(2, 4, 1, 5), floats(2, 4, 1, 5), floats(2, 1, 3, 4),
                                   rng.uniform(size=(2, 1, 3, 4)) > 0.3), (x, x, x)],
        "ctc_loss": [(np.array([[1, 2], [2, 0]]), floats(2, 5, 4), np.array([2, 1]), np.array([5, 4]))],
        "ctc_decode": [(floats(2, 6, 4), np.array([6, 4])), (floats(2, 6, 4), np.array([6, 4]), "beam_search", 10, 2),
                       (floats(2, 6, 4), np.array([6, 4]), "greedy", 1, 1, False, 3),
                       (floats(2, 6, 4), [6, 4], "none")],
        "categorical_crossentropy": [(np.eye(4, dtype="float32")[:3], np.abs(x)),
                                     (np.eye(4, dtype="float32")[:3], x, True),
                                     (np.abs(x), np.abs(x), False, 0), (v, x)],
        "sparse_categorical_crossentropy": [([0, 3, 1], np.abs(x) / 9), ([[0], [3], [1]], x, True), ([0, 1], x)],
    }  # fmt: skip
    for name, arguments in table.items():
        for i, args in enumerate(arguments):
            yield f"{name} | own {i}", lambda n=name, a=args: getattr(ops, n)(*a)
    corners = np.array([[0, 0], [6, 0], [0, 7], [6, 7]], "float32")
    pictures = {
        "rgb_to_grayscale": [(colors,), (colors[0],), (colors.transpose(0, 3, 1, 2), "channels_first")],
        "rgb_to_hsv": [(colors,), ((colors * 255).astype("uint8"),)], "hsv_to_rgb": [(colors,)],
        "sobel_edges": [(colors,), (first, "channels_first")],
        "ssim": [(colors.repeat(2, 1).repeat(2, 2), 0.5 * colors.repeat(2, 1).repeat(2, 2))],
        "resize": [(colors, (5, 9)), (colors[0], (4, 4), "nearest"), (colors, (3, 3), "bicubic", True),
                   ((colors * 255).astype("uint8"), (5, 5)), (colors, (4, 6), "bilinear", False, True),
                   (colors, (4, 12), "bilinear", False, False, True, "constant", 0.5), (colors, (2, 2), "none"),
                   (first, (4, 4), "bilinear", False, False, False, "constant", 0.0, "channels_first")],
        "affine_transform": [(colors, np.array([1, 0.2, 1, -0.1, 0.9, 0, 0, 0], "float32"), interpolation, mode)
                             for interpolation in ("nearest", "bilinear")
                             for mode in ("constant", "nearest", "wrap", "reflect")],
        "perspective_transform": [(colors, corners, corners + [[0.5, 1], [-1, 0], [0, 0.25], [0.5, -1]]),
                                  (colors[0], corners, corners + 1, "nearest")],
        "extract_patches": [(colors, 3), (colors, (3, 2), 1, 1, "same"), (colors[0], 2, 3), (colors, (1, 2, 3, 4, 5))],
        "extract_patches_3d": [(volume, 2), (volume, (2, 3, 1), (1, 2, 1))],
        "pad_images": [(colors, 1, 2, 3, 4), (colors[0], 1, None, None, 2, 12, 12), (colors, 1), (colors, 1, 2, -3, 4)],
        "crop_images": [(colors, 1, 2, 3, 1), (colors[0], 1, None, None, 2, 4, 4), (colors, 1)],
        "gaussian_blur": [(colors,), (colors, (5, 5), (2.0, 2.0)), (colors[0], (3, 3), (0.5, 1.5))],
        "map_coordinates": [(x, np.array([[0.5, 1.2, 2.7, -1.0], [3.3, 0.1, 1.5, 2.0]], "float32"), order, mode)
                            for order in (0, 1) for mode in ("constant", "nearest", "wrap", "reflect")],
        "scale_and_translate": [(colors, (2, 5, 9, 3), np.array([0.6, 1.3], "float32"), np.array([0.5, -1], "float32"),
                                 (1, 2), method, antialias)
                                for method in ("linear", "cubic", "lanczos3", "lanczos5")
                                for antialias in (True, False)],
    }  # fmt: skip
    for name, arguments in pictures.items():
        for i, args in enumerate(arguments):
            yield f"image.{name} | {i}", lambda n=name, a=args: getattr(ops.image, n)(*a)
    yield "eig", lambda: ops.eig(np.array([[2.0, 1.0], [0.0, 3.0]], "float32"))[0]
    yield "switch", lambda: [ops.switch(i, [lambda a: a + 1, lambda a: a * 2], x) for i in (0, 1, 5)]
    yield "scan", lambda: ops.scan(lambda carry, x: (carry + x, carry * x), np.zeros(4, "float32"), x)
    yield "scan in reverse", lambda: ops.scan(lambda carry, x: (carry + x, carry * x), v[:4], x, None, True)
    yield "scan of a length", lambda: ops.scan(lambda carry, _: (carry * 2, carry), 1.0, None, 5)
    for n in range(1, 10):
        yield f"associative_scan {n}", lambda n=n: ops.associative_scan(lambda a, b: a * 0.5 + b, floats(n, 2))
    yield "associative_scan in reverse", lambda: ops.associative_scan(lambda a, b: a + b, x, True, 1)
    yield "vectorize", lambda: ops.vectorize(lambda a, b: a * b + 1)(x, 2.0)
    yield "vectorize signature", lambda: ops.vectorize(ops.dot, signature="(m,n),(n)->(m)")(c, v[:4])
    yield "jvp", lambda: ops.jvp(lambda a: ops.sin(a) * 2, (x,), (np.ones_like(x),))


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
            if name not in ("average", "count_nonzero", "cumprod", "cumsum", "nancumprod", "nancumsum"):
                yield f"{name} | {kind} | keepdims", lambda n=name, x=x: getattr(ops, n)(x, axis=0, keepdims=True)
    yield from other_calls(ops)
    yield from more_calls(ops)


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
