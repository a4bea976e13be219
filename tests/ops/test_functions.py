"""Public functions against what TensorFlow answered to the same calls; see function_calls.py and its like."""

import json
import pathlib
import runpy

import pytest

import tapeflow as tf

CALLED = {
    name: runpy.run_path(str(pathlib.Path(__file__).with_name(f"{name}_calls.py")))
    for name in (
        "function", "text", "ragged", "ragged_constant", "ragged_getitem", "sparse", "quantized", "regex", "size",
    )
}
WRITTEN = {name: json.loads(called["VECTORS"].read_text()) for name, called in CALLED.items()}


@pytest.mark.parametrize(
    ("name", "call"), [(name, call) for name in CALLED for call in CALLED[name]["CALLS"]]
)
def test_function_does_as_tensorflow(name, call):
    got = CALLED["function"]["answers"](tf, [call], CALLED[name]["SETUP"])[call]
    want = CALLED[name].get("DIFFERENCES", {}).get(call, WRITTEN[name][call])
    CALLED["function"]["same"](got, want)
