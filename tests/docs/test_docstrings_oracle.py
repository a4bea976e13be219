"""The examples in TensorFlow's docstrings give here what they give there."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

# Names, as patterns, and why an example gives something else.
_EXCEPTIONS = {
    r".*data_service_ops:.*|.*service\.server_lib:.*|.*distributed_save_op:.*": "there are no servers of datasets",
    r".*structured_tensor:.*": "structured tensors: not there yet",
    r".*mlir:convert_function": "there is no MLIR underneath",
    r".*(checkpoint_view:CheckpointView.*|trackable_view:TrackableView)": "lists that are tracked show as lists",
    r".*(distribute_lib:StrategyBase\.scope|distribute_lib:ReplicaContext\._update|mirrored_strategy:MirroredStrategy)":
    "a variable of replicas is one variable",
    r".*(array_ops:identity|state_ops:assign|variables:Variable)": "an assignment returns the variable itself",
    r".*variables:VariableAggregationV2": "replicas that read one variable give one value",
    r".*(math_ops:add|gen_math_ops:sub)": "numbers that a dtype cannot hold raise; TensorFlow wraps them around",
    r".*image_ops_impl:(adjust_hue|(stateless_random|adjust|random)_jpeg_quality)":
    "another decoder, and hues of integers",
    r".*decode_json_example": "packed fields, which mean the same",
    r".*DynamicRaggedShape\._merge_dims|.*IndexedSlices": "internals, and addresses",
    r".*sysconfig:.*": "paths",
    r".*test_util:sync_devices": "it prints how long it took",
    r"tensorflow\.python\.keras\..*": "documentation of Keras 2, which TensorFlow's own Keras does not follow",
    r"keras\.src\.(dtype_policies|optimizers\.multi|ops\.numpy).*": "imports of Keras's own modules",
    r"keras\.src\.metrics\.iou_metrics:.*": "updates return nothing",
    r"keras\.src\.(ops\.math:view_as_complex)": "precision of complex numbers",
    r"keras\.src\.(initializers\.__init__:get|losses\.losses:BinaryCrossentropy)": "how objects show themselves",
    r"keras\.src\.metrics\.regression_metrics:MeanAbsolutePercentageError": "no division by zero",
}
# Examples that draw numbers, whose generators differ.
_RANDOM = re.compile(r"rand|shuffle|initializer|normal|uniform|Dropout|fit\(|predict|VarianceScaling|psnr|polar")

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)")
_TOLERANCE = 1e-3


def differences(theirs, ours):
    """The first example whose results differ, with both; None if there is none.

    Examples after one that TensorFlow itself cannot run say nothing.
    """
    draws = any(_RANDOM.search(source) for source, *_ in theirs)
    for (source, printed, raised), (_, own, own_raised) in zip(theirs, ours, strict=True):
        if raised:
            return None
        if own_raised or not alike(printed, own, draws):
            return source, printed, own_raised or own
    return None


def alike(a, b, draws):
    """Whether two texts are the same but for addresses, white space and the last digits of numbers.

    Where numbers are drawn, nothing is compared: what matters is that the examples run.
    """
    if draws:
        return True
    a, b = (re.sub(r"0x[0-9a-f]+|\x1b\[[0-9;]*m", "", text) for text in (a, b))
    plain = [re.sub(r"\s+", "", _NUMBER.sub("#", text)) for text in (a, b)]
    if plain[0] != plain[1]:
        return False
    numbers = [[float(x) for x in _NUMBER.findall(text)] for text in (a, b)]
    if len(numbers[0]) != len(numbers[1]):
        return False
    return np.allclose(*numbers, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_examples_of_docstrings(tmp_path):
    program = str(pathlib.Path(__file__).with_name("oracle_docstrings.py"))
    examples = str(tmp_path / "examples.json")
    files = {package: str(tmp_path / f"{package}.json") for package in ("tensorflow", "tapeflow")}
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    theirs_only = {key: value for key, value in environment.items() if key != "PYTHONPATH"}
    for python, own, package in (
        (os.environ["TF_PYTHON"], theirs_only, "tensorflow"), (sys.executable, environment, "tapeflow"),
    ):  # fmt: skip
        subprocess.run([python, program, package, examples, files[package]], check=True, env=own, timeout=3600)
    theirs, ours = (json.loads(pathlib.Path(file).read_text()) for file in files.values())
    assert len(theirs) > 1200
    found, excused = {}, set()
    for name, results in theirs.items():
        if results is None:
            continue
        wrong = (None, None, "nothing") if ours[name] is None else differences(results, ours[name])
        if wrong is None:
            continue
        pattern = next((each for each in _EXCEPTIONS if re.fullmatch(each, name)), None)
        if pattern is None:
            found[name] = wrong
        else:
            excused.add(pattern)
    assert found == {}
    assert excused == set(_EXCEPTIONS)
