"""Signatures and folders of exported models, as the package tensorflow-estimator asks for them."""

import os

import pytest

import tapeflow as tf
from tapeflow.estimator import model_utils
from tapeflow.estimator.model_utils import mode_keys
from tapeflow.estimator.model_utils.supervised import SupervisedOutput

v1 = tf.compat.v1


@pytest.fixture
def x():
    with tf.Graph().as_default():
        yield v1.placeholder(tf.float32, [None, 2], name="x")


def test_signature_of_training(x):
    total = tf.reduce_sum(x, name="total")
    output = model_utils.TrainOutput(
        loss={"a": total, ("b", "c"): tf.add(x, 1.0, name="more")},
        predictions={"loss": x, "predictions_1": x},
        metrics={"accuracy": (total, tf.no_op())},
    )
    signature = output.as_signature_def({"x": x})
    assert signature.method_name == "tensorflow/supervised/training"
    assert {key: info.name for key, info in signature.inputs.items()} == {"x": "x:0"}
    outputs = {key: info.name for key, info in signature.outputs.items()}
    outputs.pop("metrics/accuracy/update_op")  # a tensor that waits for the operation
    assert outputs == {
        "loss/a": "total:0",
        "loss/b/c": "more:0",
        "predictions/loss": "x:0",
        "predictions_1": "x:0",
        "metrics/accuracy/value": "total:0",
    }


def test_signature_of_evaluation_names_single_tensors_by_what_they_are(x):
    signature = model_utils.EvalOutput(tf.reduce_sum(x), x).as_signature_def({"x": x})
    assert signature.method_name == "tensorflow/supervised/eval"
    assert set(signature.outputs) == {"loss", "predictions"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"loss": 3.0},
        {"predictions": {"p": "text"}},
        {"metrics": {"m": (1.0, 2.0)}},
        {"loss": {3: None}},
    ],
    ids=["loss", "prediction", "metric", "key"],
)
def test_what_is_no_tensor_is_refused(x, arguments):
    with pytest.raises(ValueError):
        model_utils.TrainOutput(**arguments)


def test_only_what_can_be_served_has_signatures(x):
    outputs = {None: model_utils.PredictOutput(x), "c": model_utils.ClassificationOutput(x)}
    made = model_utils.build_all_signature_defs(x, outputs, {"other": {"z": x}})
    assert set(made) == {"None", "other:None"}  # classes need serialized examples
    training = {"train": model_utils.TrainOutput(x)}
    assert not model_utils.build_all_signature_defs(x, training)
    assert set(model_utils.build_all_signature_defs(x, training, serving_only=False)) == {"train"}
    with pytest.raises(ValueError, match="must be a dict"):
        model_utils.build_all_signature_defs(x, 3)


@pytest.mark.parametrize(
    ("mode", "key", "kind"),
    [
        ("train", "train", model_utils.TrainOutput),
        ("eval", "eval", model_utils.EvalOutput),
        ("test", "eval", model_utils.EvalOutput),
        ("infer", "serving_default", model_utils.PredictOutput),
        ("predict", "serving_default", model_utils.PredictOutput),
    ],
)
def test_outputs_for_modes_of_keras_and_of_estimators(x, mode, key, kind):
    ((name, output),) = model_utils.export_outputs_for_mode(mode, None, {"p": x}, x).items()
    assert name == key
    assert type(output) is kind
    assert isinstance(output, SupervisedOutput) == (kind is not model_utils.PredictOutput)


def test_one_output_is_the_default_and_several_name_it(x):
    output = model_utils.PredictOutput(x)
    assert model_utils.get_export_outputs({"a": output}, None) == {
        "a": output,
        "serving_default": output,
    }
    with pytest.raises(ValueError, match="serving_default"):
        model_utils.get_export_outputs({"a": output, "b": output}, None)
    for wrong in (3, {"a": 3}):
        with pytest.raises(TypeError):
            model_utils.get_export_outputs(wrong, None)


def test_a_mode_has_two_names():
    values = mode_keys.ModeKeyMap(train=1, infer=2, test=3)
    assert (values["predict"], values["infer"], values["eval"], len(values)) == (2, 2, 3, 3)
    with pytest.raises(ValueError, match="other"):
        values["other"]
    with pytest.raises(ValueError, match="same mode"):
        mode_keys.ModeKeyMap(infer=1, predict=2)


def test_folders_are_named_after_the_time(tmp_path):
    folder = model_utils.get_timestamped_export_dir(os.fspath(tmp_path))
    os.mkdir(folder)
    assert os.path.dirname(folder) == os.fsencode(tmp_path)
    assert model_utils.get_timestamped_export_dir(tmp_path) != folder
    assert model_utils.get_temp_export_dir(b"/a/b/123") == b"/a/b/temp-123"
