"""Random and found calls of public functions against TensorFlow: values, dtypes, shapes, classes of errors.

    python test_calls_oracle.py --seed 7 --calls 20000 [--names math,linalg.trace]

makes a run by hand and prints the calls that differ.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
FOUND = HERE / "found_calls.txt"

# What TensorFlow says where it is not the call that is wrong: it has no kernel for the dtype on a CPU, its Python code
# fails in the middle, or it converts Python's numbers to an integer dtype before it would promote.
THEIRS = (
    "Could not find device for node", "No OpKernel was registered", "has constraint on attr", "not supported",
    "is not in the list of allowed values", "object __array__ method not producing an array", "has no attribute",
    "cannot access local variable", "to EagerTensor of dtype", "passed to parameter", "Expected u?int",
    "was expected to be", "expected a sequence for attr", "object is not iterable", "iteration over a 0-d",
    "cannot be interpreted as an integer", "Tensor conversion requested dtype", "must have the same dtype",
    "std::bad_alloc", "Python functions must return zero",
)  # fmt: skip
# Which error a call with several faults gets follows from the order of checks.
ERRORS = {
    "TypeError",
    "ValueError",
    "InvalidArgumentError",
    "IndexError",
    "UnimplementedError",
    "NotFoundError",
}

# Why answers differ, and where: "function: difference". What is listed may still be mended.
DIFFERENT = {
    "64-bit integers as images, whose scale float32 cannot hold": ("image.ssim: other values",),
    "NumPy floats as an index or an axis: TensorFlow truncates them": (
        "broadcast_to: only we raise InvalidArgumentError",
        "concat: only we raise InvalidArgumentError",
        "expand_dims: only we raise InvalidArgumentError",
        "nn.top_k: only we raise InvalidArgumentError",
        "reduce_sum: only we raise InvalidArgumentError",
    ),
    "Python bools are refused as numbers": (
        "image.adjust_gamma: only we raise TypeError",
        "image.random_brightness: only we raise TypeError",
        "image.random_jpeg_quality: only we raise TypeError",
        "image.random_jpeg_quality: other values",
        "image.stateless_random_brightness: only we raise TypeError",
        "linspace: only we raise TypeError",
        "reverse: only we raise InvalidArgumentError",
    ),
    "TensorFlow computes what is no number, or reads unset memory": (
        "dtypes.saturate_cast: other values",
        "linalg.lstsq: other values",
        "linalg.qr: other values",
        "math.xdivy: other values",
        "saturate_cast: other values",
        "signal.irfft: other values",
        "signal.rfft2d: other values",
    ),
    "TensorFlow has 0 for the mean of nothing": (
        "math.reduce_mean: other values",
        "nn.weighted_moments: other values",
    ),
    "TensorFlow ignores the dtype, and fails for integers": (
        "histogram_fixed_width_bins: uint32 for int32",
    ),
    "TensorFlow multiplies both by 0 or 1, so that NaN and infinity spread": (
        "image.random_flip_left_right: other values",
        "image.random_flip_up_down: other values",
        "image.stateless_random_flip_left_right: other values",
    ),
    "a lower end above the upper one": (
        "quantization.fake_quant_with_min_max_vars_per_channel: other values",
    ),
    "an attr of the op that is an int: TensorFlow truncates floats and converts bools, here they are refused": (
        "nn.approx_max_k: only we raise TypeError",
        "nn.space_to_depth: only we raise TypeError",
        "random.all_candidate_sampler: only we raise TypeError",
        "random.uniform_candidate_sampler: only we raise TypeError",
        "strings.to_hash_bucket: only we raise TypeError",
        "unstack: only we raise TypeError",
    ),
    "arguments that TensorFlow does not check": (
        "gradients: only we raise ValueError",
        "histogram_fixed_width_bins: only we raise InvalidArgumentError",
        "io.deserialize_many_sparse: only we raise InvalidArgumentError",
        "linalg.banded_triangular_solve: only we raise InvalidArgumentError",
        "linalg.eigh_tridiagonal: only we raise TypeError",
        "linalg.eigh_tridiagonal: only we raise ValueError",
        "math.is_non_decreasing: only we raise InvalidArgumentError",
        "nn.collapse_repeated: only we raise InvalidArgumentError",
        "nn.conv2d_transpose: only we raise InvalidArgumentError",
        "nn.isotonic_regression: float32 for float64",
        "nn.isotonic_regression: only we raise InvalidArgumentError",
        "quantization.fake_quant_with_min_max_args: other shape",
        "random.stateless_gamma: only we raise InvalidArgumentError",
        "random.stateless_truncated_normal: only we raise InvalidArgumentError",
        "signal.inverse_stft_window_fn: only we raise ValueError",
        "size: only we raise InvalidArgumentError",
        "unravel_index: only we raise InvalidArgumentError",
    ),
    "NumPy floats in a list are integers where an integer is asked for": (
        "convert_to_tensor: TypeError for ValueError",
        "eye: InvalidArgumentError for TypeError",
        "eye: only TensorFlow raises TypeError",
        "zeros: InvalidArgumentError for TypeError",
    ),
    "coefficients of another dtype than the argument's": (
        "math.polyval: complex64 for complex128",
    ),
    "colours outside of [0, 1], and their rounding": (
        "image.adjust_hue: other values",
        "image.adjust_saturation: other values",
        "image.convert_image_dtype: other values",
        "image.random_hue: other values",
        "image.rgb_to_hsv: other values",
        "image.stateless_random_hue: other values",
        "image.stateless_random_saturation: other values",
    ),
    "conversion of Python bools in lists, and of strings to bools": (
        "linalg.adjoint: only we raise TypeError",
        "reduce_all: only we raise TypeError",
    ),
    "counts that are tensors of another integer dtype, or no numbers at all": (
        "data.Dataset.range: TypeError for InvalidArgumentError",
        "data.Dataset.range: TypeError for ValueError",
        "data.Dataset.range: only TensorFlow raises TypeError",
    ),
    "eigenvectors and singular vectors have any sign, and eigenvalues any order": (
        "eig: other values",
        "eigvals: other values",
        "linalg.eig: other values",
        "linalg.eigh: other values",
        "linalg.eigh_tridiagonal: only we raise InvalidArgumentError",
        "linalg.eigh_tridiagonal: other shape",
        "linalg.svd: other values",
    ),
    "float64 arrays become float32 in some of TensorFlow's calls": (
        "nn.ctc_greedy_decoder: float64 for float32",
        "nn.ctc_greedy_decoder: other shape",
    ),
    "lists of arrays have their own dtype": (
        "math.unsorted_segment_mean: float64 for float32",
        "raw_ops.ConcatOffset: int64 for int32",
        "sparse.segment_sqrt_n: bfloat16 for float32",
    ),
    "NumPy's version decides what an array of bfloat16 and a float are together": (
        "nn.batch_norm_with_global_normalization: other values",
    ),
    "an array of another dtype takes the divisor's": ("math.divide: only we raise TypeError",),
    "an image with infinities that has its size already: TensorFlow copies it": (
        "image.resize_with_pad: other values",
    ),
    "a complex fraction, of which TensorFlow takes the real part": ("image.central_crop: only we raise TypeError",),
    "a permutation is known to be non-singular": ("linalg.LinearOperatorPermutation: bool for NoneType",),
    "an eager TensorArray is a list in TensorFlow, whose elements keep the dtypes that they have": (
        "TensorArray: only we raise InvalidArgumentError",
        "TensorArray: only we raise OutOfRangeError",
    ),
    "arrays of no dimensions": ("constant: array for python",),
    "bytes that are no UTF-8 are shown escaped": ("strings.format: other values",),
    "linear operators are one object to `nest`, not the tensors that they are made of": (
        "nest.flatten: another number of results",
        "nest.flatten: object for tensor",
    ),
    "an infinite attr": ("nn.lrn: other values",),
    "complex numbers by zero or infinity: TensorFlow's answer depends on the place in the array": (
        "math.truediv: other values",
        "nn.swish: other values",
    ),
    "noise has its own stream of random numbers": ("image.extract_glimpse: other values",),
    "not sorted: any order": ("nn.top_k: other values",),
    "no elements of bfloat16": ("stack: bfloat16 for float32",),
    "of a matrix that is not positive definite": (
        "linalg.cholesky: other values",
        "linalg.logdet: other values",
    ),
    "one NaN makes the statistics of all NaN": (
        "quantization.fake_quant_with_min_max_args_gradient: other values",
        "quantization.quantize: other values",
        "quantization.quantize_and_dequantize: other values",
    ),
    "NaN or a number as the largest: either, depending on the order": (
        "image.non_max_suppression: other values",
        "math.top_k: other values",
        "nn.ctc_greedy_decoder: other values",
        "nn.fractional_max_pool: other values",
        "nn.max_pool_with_argmax: other values",
    ),
    "Bessel functions at infinity: TensorFlow has NaN for their limit": (
        "math.bessel_i1: other values",
        "math.special.bessel_i1: other values",
        "math.special.bessel_j0: other values",
        "math.special.bessel_j1: other values",
        "math.special.bessel_y1: other values",
    ),
    "special functions outside of where they are defined": (
        "math.digamma: other values",
        "math.polygamma: other values",
        "math.special.bessel_k0: other values",
        "math.special.bessel_k0e: other values",
        "math.special.bessel_k1e: other values",
        "math.special.bessel_y0: other values",
        "math.special.expint: other values",
        "math.zeta: other values",
        "matrix_square_root: other values",
        "random.poisson: other values",
    ),
    "the dtype of an array; TensorFlow goes by its elements as Python's numbers": (
        "ragged.constant: float32 for int32",
        "ragged.constant: int8 for int32",
    ),
    "the encoder chose other bytes for the same values": (
        "image.adjust_jpeg_quality: other values",
        "image.encode_jpeg: other values",
        "image.encode_png: other values",
        "image.random_contrast: other values",
        "image.stateless_random_jpeg_quality: other values",
        "io.decode_json_example: other values",
        "io.encode_jpeg: other values",
        "io.encode_png: other values",
    ),
    "the stack of one tensor along a last axis": ("ragged.stack: RaggedTensor for tensor",),
    "what TensorFlow refuses is computed": (
        "audio.encode_wav: InvalidArgumentError for TypeError",
        "audio.encode_wav: other values",
        "reverse_sequence: ValueError for TypeError",
        "signal.frame: ValueError for InvalidArgumentError",
    ),
}
KNOWN = {each for calls in DIFFERENT.values() for each in calls}


def run(python, package, calls, answers):
    """What `oracle_calls.py` says of a package."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    if package == "tensorflow":
        environment.pop("PYTHONPATH", None)
    count = len(calls.read_text().splitlines())
    answers.touch()
    while len(done := answers.read_text().splitlines()) < count:
        ended = subprocess.run(
            [python, HERE / "oracle_calls.py", package, calls, answers],
            env=environment,
            capture_output=True,
        )
        if ended.returncode > 0 and len(answers.read_text().splitlines()) == len(done):
            raise RuntimeError(ended.stderr.decode(errors="replace")[-2000:])
    return [json.loads(line) for line in done]


def difference(ours, theirs):
    """How two answers differ, in a few words; None if they agree."""
    if "died" in theirs:
        return None if "died" not in ours else "died"
    if "died" in ours:
        return "died"
    if "error" in theirs:
        if "error" not in ours:
            return f"only TensorFlow raises {theirs['error'][0]}"
        a, b = ours["error"][0], theirs["error"][0]
        return None if a == b else f"{a} for {b}"
    if "error" in ours:
        return f"only we raise {ours['error'][0]}"
    return unlike(ours["value"], theirs["value"])


def unlike(a, b):
    """How two results differ."""
    if a[0] != b[0]:
        return f"{a[0]} for {b[0]}"
    if a[0] == "object":
        return None  # their classes have other names
    if a[0] == "dict":
        if list(a[1]) != list(b[1]):
            return "other keys, or another order of them"
        return next((d for k in a[1] if (d := unlike(a[1][k], b[1][k]))), None)
    if len(a) == 2:
        if not isinstance(a[1], list):
            return None if a == b else f"{a[1]} for {b[1]}"
        if len(a[1]) != len(b[1]):
            return "another number of results"
        return next((d for x, y in zip(a[1], b[1]) if (d := unlike(x, y))), None)
    if a[1] != b[1]:
        return f"{a[1]} for {b[1]}"
    if a[2] != b[2]:
        return "other shape"
    return None if same(a[3], b[3], a[1]) else "other values"


def same(a, b, dtype):
    """Whether two lists of numbers or strings are alike."""
    if a is None or b is None or not re.match(r"float|bfloat|complex|half|double", dtype):
        return a == b
    # Images of float64 are computed in float32 by both.
    close = {"float16": 4e-3, "bfloat16": 3e-2, "float64": 1e-6, "complex128": 1e-6}.get(
        dtype, 1e-4
    )
    x, y = np.array(a, float), np.array(b, float)
    scale = np.max(np.abs(y[np.isfinite(y)]), initial=0) * close * 0.1
    with np.errstate(all="ignore"):
        return np.allclose(x, y, rtol=close, atol=close * 1e-2 + scale, equal_nan=True)


def accepted(call, how, theirs, errors=False):
    """Whether a difference is a known one; without `errors`, any other class of an error is."""
    if f"{function_of(call)}: {how}" in KNOWN:
        return True
    if "error" not in theirs:
        return False
    if not how.startswith("only"):
        return not errors or {*how.split(" for ")} <= ERRORS
    return not errors or any(re.search(text, theirs["text"]) for text in THEIRS)


def compared(calls, folder):
    """(call, difference, our answer, TensorFlow's) for all calls that differ."""
    ours = run(sys.executable, "tapeflow", calls, folder / "ours")
    theirs = run(os.environ["TF_PYTHON"], "tensorflow", calls, folder / "theirs")
    for call, a, b in zip(calls.read_text().splitlines(), ours, theirs):
        if how := difference(a, b):
            yield call, how, a, b


def function_of(call):
    """The name of the function that a call is about."""
    return re.search(r"tf\.([\w.]+)", re.sub(r"^\w+\(lambda [^:]*: ", "", call))[1]


def wrong(calls, folder, errors):
    """The calls that differ without a known reason."""
    return [
        (call, how, a, b)
        for call, how, a, b in compared(calls, folder)
        if not accepted(call, how, b, errors)
    ]


pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]


def test_found_calls(tmp_path):
    """What random calls once found, errors included."""
    assert not wrong(FOUND, tmp_path, errors=True)


def test_random_calls(tmp_path):
    """Random calls: what TensorFlow computes is computed, with equal results, and no process dies."""
    calls, seed, count = (
        tmp_path / "calls",
        os.environ.get("SEED", "1"),
        os.environ.get("CALLS", "1500"),
    )
    generate(calls, seed, count)
    assert len(calls.read_text().splitlines()) == int(count)
    found = wrong(calls, tmp_path, errors=False)
    # A change of the code draws other calls; what is new is looked at in a longer run, by hand.
    assert len(found) <= int(count) // 100, found
    assert not [call for call, how, *_ in found if how == "died"]


def test_random_pipelines(tmp_path):
    """Random pipelines of datasets: equal elements, specs, cardinalities and errors."""
    calls = tmp_path / "calls"
    seed, count = os.environ.get("SEED", "1"), int(os.environ.get("CALLS", "1500")) // 3
    generate(calls, seed, count, script="random_pipelines.py")
    assert len(calls.read_text().splitlines()) == count
    found = wrong(calls, tmp_path, errors=False)
    assert len(found) <= count // 100, found


def test_random_methods(tmp_path):
    """Random calls of methods, operators and of what prints objects."""
    calls = tmp_path / "calls"
    seed, count = os.environ.get("SEED", "1"), int(os.environ.get("CALLS", "1500")) // 3
    generate(calls, seed, count, script="random_methods.py")
    found = wrong(calls, tmp_path, errors=False)
    assert len(found) <= count // 100, found


def generate(calls, seed, count, *options, script="random_calls.py"):
    """Have a script write a file of calls."""
    options = [f"--seed={seed}", f"--calls={count}", *options]
    subprocess.run([sys.executable, HERE / script, *options, calls], check=True)


def main():
    """A run by hand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--calls", default="20000")
    parser.add_argument("--names", default="")
    parser.add_argument("--pipelines", action="store_true", help="of tf.data, instead of calls")
    parser.add_argument("--methods", default="", help="topics of random_methods.py, instead of calls")
    parser.add_argument("--how", default="", help="how random_calls.py makes calls")
    parser.add_argument("--folder", default=None, help="where the calls and answers are kept")
    parser.add_argument("--errors", action="store_true", help="compare also the classes of errors")
    given = parser.parse_args()
    folder = pathlib.Path(given.folder or tempfile.mkdtemp())
    calls = folder / "calls"
    if not calls.exists():
        if given.pipelines:
            generate(calls, given.seed, given.calls, script="random_pipelines.py")
        elif given.methods:
            generate(calls, given.seed, given.calls, f"--of={given.methods}", script="random_methods.py")
        else:
            generate(calls, given.seed, given.calls, f"--names={given.names}", f"--how={given.how}")
    found = collections.defaultdict(list)
    for call, how, a, b in wrong(calls, folder, given.errors):
        found[function_of(call), how].append((call, a, b))
    for (function, how), cases in sorted(found.items()):
        call, a, b = min(cases, key=lambda case: len(case[0]))
        print(
            f"{function}: {how} ({len(cases)})\n    {call}\n    ours:   {str(a)[:300]}\n    theirs: {str(b)[:300]}"
        )
    print(f"{sum(map(len, found.values()))} of {len(calls.read_text().splitlines())} calls differ")


if __name__ == "__main__":
    main()
