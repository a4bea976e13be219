"""Converts models by tf2onnx's functions; run as `python -m tapeflow.run convert_to_onnx.py FOLDER`.

Every model becomes FOLDER/NAME.onnx, with its arguments and results in FOLDER/NAME.npz. Prints the ops that tf2onnx
could not convert, a line each.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import export_models as models
import numpy as np
import tensorflow as tf
import tf2onnx


def write(folder, name, proto, arguments, results):
    Path(folder, f"{name}.onnx").write_bytes(proto.SerializeToString())
    arrays = {f"argument{i}": np.asarray(x) for i, x in enumerate(arguments)}
    arrays.update((f"result{i}", y.numpy()) for i, y in enumerate(tf.nest.flatten(results)))
    np.savez(Path(folder, f"{name}.npz"), **arrays)


def main(folder):
    for make in (models.cnn, models.masked_lstm, models.masked_gru, models.transformer):
        function, arguments = make()
        specs = [tf.TensorSpec(x.shape, x.dtype, x.op.name) for x in function.inputs[: len(arguments)]]
        again = tf.function(lambda *given, call=function: call(*given), input_signature=specs)
        proto, _ = tf2onnx.convert.from_function(again, specs, opset=18)
        write(folder, make.__name__, proto, arguments, function(*map(tf.constant, arguments)))
    for model, name, shape in (keras_cnn(), "keras_cnn", (2, 8, 8, 3)), (keras_lstm(), "keras_lstm", (2, 5, 3)):
        x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
        spec = tf.TensorSpec([None, *shape[1:]], tf.float32, "x")
        proto, _ = tf2onnx.convert.from_keras(model, [spec], opset=18)
        write(folder, name, proto, [x], model(x, training=False))


def keras_cnn():
    L = tf.keras.layers
    x = L.Input((8, 8, 3))
    return tf.keras.Model(x, L.Dense(3)(L.Flatten()(L.BatchNormalization()(L.Conv2D(4, 3)(x)))))


def keras_lstm():
    L = tf.keras.layers
    x = L.Input((5, 3))
    return tf.keras.Model(x, L.Dense(2)(L.LSTM(4)(x)))


if __name__ == "__main__":
    main(sys.argv[1])
