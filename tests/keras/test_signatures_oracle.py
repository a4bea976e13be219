"""Calls that Keras 3 takes are taken: the arguments of its functions, classes and methods, compared with TensorFlow's.

There may be more arguments, after those of Keras 3, for the programs of Keras 2, and defaults where Keras 3 has none.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

# Names, as patterns, and why calls differ.
_EXCEPTIONS = {
    r".*\.add_metric": "Keras 3 refuses all calls; a program for Keras 2 may make them",
    r".*\.(add_weight|constant|l1_l2|export|compile|plot_model|LossScaleOptimizer|ConvLSTM\dD)":
    "None, or a default by "
    "release, has the effect of the default that Keras 3 shows",
    r".*\.compute_mask": "Keras calls the argument by position: its layers have different names for it",
    r"keras\.(optimizers|mixed_precision)\.\w+\.build|keras\.backend\.relu":
    "Keras itself has two names for the argument, and both are taken",
    r"keras\.(optimizers\.)?(Optimizer|Adadelta\.update_step)": "classes of programs derive from it in either way",
    r".*\.(Model|FeatureSpace|Layer|Operation|Function|Wrapper)\.(call|compute_output_shape|rematerialized_call)":
    "what is abstract in Keras 3 has the arguments that are meant",
    r"keras\.layers\.\w+\.(build|call|compute_output_shape|get_initial_state|inner_loop)": "called by Keras, by "
    "position; recurrent layers and attention have the names of Keras 2",
    r"keras\.layers\.\w+\.(transform_\w+|get_random_transformation)": "steps of preprocessing, called by Keras",
    r"keras\.layers\.\w+\.(from_config|adapt)": "what `custom_objects`, `safe_mode` and the order of Keras 2 are for",
    r".*\.(save_model|ExportArchive)": "there is one way to do it: models are saved whole, archives are of TensorFlow",
    r"keras\.Variable\.numpy": "a method of a built-in class",
}


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_calls_of_keras_3_are_taken(tmp_path):
    program = str(pathlib.Path(__file__).with_name("oracle_signatures.py"))
    files = {package: str(tmp_path / f"{package}.json") for package in ("tensorflow", "tapeflow")}
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    theirs_only = {key: value for key, value in environment.items() if key != "PYTHONPATH"}
    first = [os.environ["TF_PYTHON"], program, "tensorflow", files["tensorflow"]]
    second = [sys.executable, program, "tapeflow", files["tapeflow"], files["tensorflow"]]
    subprocess.run(first, check=True, env=theirs_only, timeout=600)
    subprocess.run(second, check=True, env=environment, timeout=600)
    theirs, ours = (json.loads(pathlib.Path(file).read_text()) for file in files.values())
    assert len(ours) > 2000
    found, excused = {}, set()
    for name, arguments in ours.items():
        if theirs[name] is None:
            continue
        wrong = ["unknown"] if arguments is None else differences(theirs[name], arguments)
        pattern = next((each for each in _EXCEPTIONS if re.fullmatch(each, name)), None)
        if wrong and pattern is None:
            found[name] = wrong
        elif wrong:
            excused.add(pattern)
    assert found == {}
    assert excused == set(_EXCEPTIONS)


def test_differences_are_found():
    theirs = [["x", "POSITIONAL_OR_KEYWORD", ""], ["axis", "POSITIONAL_OR_KEYWORD", "-1"]]
    assert differences(theirs, theirs) == []
    assert differences(theirs, [*theirs, ["name", "POSITIONAL_OR_KEYWORD", "None"]]) == []
    assert differences(theirs, [*theirs, ["name", "POSITIONAL_OR_KEYWORD", ""]]) == ["name: required"]
    assert differences(theirs, theirs[:1]) == ["axis: absent"]
    assert differences(theirs, theirs[::-1]) == ["x: place 1, not 0", "axis: place 0, not 1"]
    assert differences(theirs, [theirs[0], ["axis", "POSITIONAL_OR_KEYWORD", "0"]]) == ["axis: default 0, not -1"]
    assert differences(theirs, [theirs[0], ["axis", "KEYWORD_ONLY", "-1"]]) == ["axis: place None, not 1"]


def places(arguments):
    """The places of arguments that calls give by position."""
    return {name: place for place, (name, kind, _) in enumerate(arguments) if kind.startswith("POSITIONAL_OR")}


def differences(theirs, ours):
    """What calls of theirs ours does not take, or takes otherwise."""
    found = []
    mine = {name: default for name, _, default in ours}
    kinds = {kind for _, kind, _ in ours}
    for name, kind, default in theirs:
        if kind.startswith("VAR"):
            continue
        if name not in mine:
            if "VAR_KEYWORD" not in kinds:
                found.append(f"{name}: absent")
        elif places(theirs).get(name, places(ours).get(name)) != places(ours).get(name):
            found.append(f"{name}: place {places(ours).get(name)}, not {places(theirs)[name]}")
        elif default != mine[name] and default:
            found.append(f"{name}: default {mine[name] or 'absent'}, not {default}")
    names = {name for name, _, _ in theirs}
    found += [f"{n}: required" for n, k, d in ours if not d and n not in names and not k.startswith("VAR")]
    return found
