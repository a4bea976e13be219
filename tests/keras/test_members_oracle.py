"""What programs reach of an instance of a public class of Keras 3: its members, compared with TensorFlow's."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

# Members, as patterns of "Class.member", that there are none of here; and why.
_EXCEPTIONS = {
    r".*\.(quantized_\w+|quantization_config|variable_serialization_spec|get_quantization_layer_structure|gptq_\w+"
    r"|default_amax_history_length)": "steps of quantization",
    r".*\.(backend|generator|height_axis|width_axis|channel_axis|token_counts)": "what preprocessing computes with",
    r"(AugMix|RandAugment|RandomColorJitter)\.(random_\w+|auto_contrast|equalization|solarization)": "layers that it "
    "is made of in Keras",
    r"(\w*Equalization|MaxNumBoundingBoxes|MixUp|RandomColorJitter|RandomCrop)\.factor": "an argument of the base "
    "class that these do not have",
    r"(DataParallel|DeviceMesh|TensorLayout)\.\w+": "of several devices or processes",
    r"Muon\.(lr_adjust|transpose_last_axis|zeropower_\w+)|\w+\.unrolled_steps_per_execution|TensorBoard\.summary"
    r"|SpectralNormalization\.kernel_shape|ExportArchive\.tensorflow_version|CustomObjectScope\.backup"
    r"|custom_object_scope\.backup|name_scope\.\w+|Random(Height|Width)\.seed_generator": "steps of what it does",
}
# Classes that are not compared, because no instance can be made of them here.
_NOT_MADE = r"(AWQ|GPTQ|Int4|Float8)\w+|\w*Distill\w+"
# Plain values that differ, as patterns of "Class.member", and why.
_DIFFERENT = {
    r"\w+\.(path|built)": "layers without weights have no path in Keras, or count as built at once",
    r"\w+\.seed": "drawn at random",
    r"\w+\.input_spec": "checks of shapes that Keras makes elsewhere",
    r"(IntegerLookup|StringLookup|TextVectorization)\.\w*dtype": "weights of lookups are tables here",
    r"\w+\.(states|variables|theta|l1|l2|curve|summation_method|size|axis|factor|scale)": "an array, or a list, of "
    "what is a number, or the other way round",
    r"(Model|Sequential)\.(compiled_\w+|distribute_\w+|supports_masking|input|output)": "of Keras 2, or known earlier",
    r"\w+\.autocast": "layers of preprocessing cast by themselves here, and some others in Keras",
    r"ConvLSTM\dD\.single_state": "there are two states",
    r"\w+IoU\.dtype|IoU\.dtype": "weights of samples are numbers here, whole ones in Keras",
    r"Variable\.(aggregation|synchronization)|CallbackList\.model": "as TensorFlow's variables have it, or known "
    "earlier",
    r"KerasTensor\.row_splits_dtype|BatchNormalization\.renorm_clipping|MeanMetricWrapper\.name": "of Keras 2",
    r"\w*QuantizationConfig\.\w+|Sequence\.num_batches": "abstract, or made when asked for",
}


def of_pattern(patterns, member):
    """The first pattern that matches, or None."""
    return next((each for each in patterns if re.fullmatch(each, member)), None)


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """(TensorFlow's, ours): members of instances, by class."""
    folder = tmp_path_factory.mktemp("members")
    program = str(pathlib.Path(__file__).with_name("oracle_members.py"))
    files = {package: str(folder / f"{package}.json") for package in ("tensorflow", "tapeflow")}
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    theirs_only = {key: value for key, value in environment.items() if key != "PYTHONPATH"}
    first = [os.environ["TF_PYTHON"], program, "tensorflow", files["tensorflow"]]
    second = [sys.executable, program, "tapeflow", files["tapeflow"], files["tensorflow"]]
    subprocess.run(first, check=True, env=theirs_only, timeout=600, cwd=folder)
    subprocess.run(second, check=True, env=environment, timeout=600, cwd=folder)
    theirs, ours = (json.loads(pathlib.Path(file).read_text()) for file in files.values())
    made = {name: found for name, found in theirs.items() if isinstance(found, dict)}
    assert len(made) > 300
    return made, ours


oracle = [pytest.mark.oracle, pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")]


class TestMembers:
    pytestmark = oracle

    def test_members_of_keras_3_are_there(self, members):
        theirs, ours = members
        absent, excused = [], set()
        for name, found in theirs.items():
            short = name.rpartition(".")[2]
            if re.fullmatch(_NOT_MADE, short):
                continue
            if isinstance(ours[name], str):
                absent.append(f"{name}: {ours[name]}")
                continue
            for member in sorted(set(found) - set(ours[name])):
                pattern = of_pattern(_EXCEPTIONS, f"{short}.{member}")
                excused.add(pattern)
                if pattern is None:
                    absent.append(f"{name}.{member}")
        assert absent == []
        assert excused == set(_EXCEPTIONS)

    def test_plain_members_have_the_values_of_keras_3(self, members):
        theirs, ours = members
        found, excused = [], set()
        for name, expected in theirs.items():
            short = name.rpartition(".")[2]
            mine = ours[name] if isinstance(ours[name], dict) else {}
            for member in sorted(set(expected) & set(mine)):
                if expected[member] == mine[member]:
                    continue
                pattern = of_pattern(_DIFFERENT, f"{short}.{member}")
                excused.add(pattern)
                if pattern is None:
                    found.append(f"{name}.{member}: {mine[member]}, not {expected[member]}")
        assert found == []
        assert excused == set(_DIFFERENT)
