"""What a newcomer's mistakes raise: the class that TensorFlow raises, at the program's line, and what helps.

Each case is a program; the line where its traceback is to end carries the comment `# here`.
"""

import linecache
import re
import textwrap
import traceback

import numpy as np
import pytest

import tapeflow as tf

INVALID = tf.errors.InvalidArgumentError
DATA = "x, y = np.ones([8, 3], np.float32), np.ones([8, 1], np.float32)\n"
MODEL = DATA + "model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])\n"
COMPILED = MODEL + 'model.compile("sgd", "mse")\n'
CLASSES = """
class Scale(tf.keras.layers.Layer):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor
    def call(self, x):
        return x * self.factor
"""

CASES = {
    # Shapes
    "shapes of a sum": (INVALID, r"Incompatible shapes: \[2,3\] vs. \[4\]", "tf.ones([2, 3]) + tf.ones([4])  # here"),
    "shapes of a product": (INVALID, r"In\[0\]: \[2,3\], In\[1\]: \[2,3\]",
        "tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))  # here"),
    "a vector in a matrix product": (INVALID, "ndims must be >= 2", "tf.ones([2, 3]) @ tf.ones([3])  # here"),
    "reshape to another size": (INVALID, "6 values, but the requested shape has 8",
        "tf.reshape(tf.ones([2, 3]), [4, 2])  # here"),
    "concat without an axis": (TypeError, "'axis'", "tf.concat([tf.ones([2]), tf.ones([3])])  # here"),
    "index out of range": (INVALID, "index 5 of dimension 0 out of bounds", "tf.constant([1, 2])[5]  # here"),
    "assignment of another shape": (ValueError, r"shape \(2,\), and the assigned value shape \(3,\)",
        "tf.Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0])  # here"),
    "ragged list": (ValueError, "non-rectangular", "tf.constant([[1, 2], [3]])  # here"),
    "batch dimension forgotten": (INVALID, "output size would be negative",
        "model = tf.keras.Sequential([tf.keras.Input([28, 28, 1]), tf.keras.layers.Conv2D(2, 3)])\n"
        "model(tf.ones([28, 28, 1]))  # here"),
    "channel dimension forgotten": (ValueError, "expected min_ndim=4, found ndim=3",
        "tf.keras.layers.Conv2D(2, 3)(tf.ones([4, 28, 28]))  # here"),
    "matrix into an LSTM": (ValueError, "expected ndim=3, found ndim=2",
        "tf.keras.layers.LSTM(2)(tf.ones([4, 28]))  # here"),
    "fit on another width": (ValueError, "axis -1 of input shape to have value 3",
        COMPILED + "model.fit(x[:, :2], y, verbose=0)  # here"),
    "predict on another width": (ValueError, "axis -1 of input shape to have value 3",
        MODEL + "model.predict(x[:, :2], verbose=0)  # here"),
    "fit on unequal lengths": (ValueError, "same number of samples.'x' sizes: 8",
        COMPILED + "model.fit(x, y[:5], verbose=0)  # here"),
    "labels that are not one-hot": (ValueError, "same shape",
        "loss = tf.keras.losses.CategoricalCrossentropy()\nloss(tf.ones([2]), tf.ones([2, 4]))  # here"),
    "labels that are one-hot": (ValueError, "rank",
        "loss = tf.keras.losses.SparseCategoricalCrossentropy()\nloss(tf.ones([2, 4]), tf.ones([2, 4]))  # here"),
    "weights of another shape": (ValueError, r"\(3, 2\) is not compatible with provided weight shape \(2, 2\)",
        "layer = tf.keras.layers.Dense(2)\nlayer.build([None, 3])\n"
        "layer.set_weights([np.ones([2, 2]), np.ones(2)])  # here"),
    # Dtypes
    "float + int": (INVALID, "expected to be a float tensor but is a int32",
        "tf.constant(1.0) + tf.constant(1)  # here"),
    "root of an int": (INVALID, "int32 is not in the list of allowed values: .*float", "tf.sqrt(4)  # here"),
    "float into an int variable": (TypeError, "dtype int32", "tf.Variable([1, 2]).assign([1.5, 2.0])  # here"),
    "cast of a string": (tf.errors.UnimplementedError, "Cast string to float", 'tf.cast(["1"], tf.float32)  # here'),
    "number from a word": (INVALID, "could not correctly convert string: x",
        'tf.strings.to_number(["1", "x"])  # here'),
    "mixed list": (ValueError, "mixed types", 'tf.constant([1, "a"])  # here'),
    "labels of strings": (tf.errors.UnimplementedError, "Cast string to float",
        COMPILED + 'model.fit(x, np.array(["a"] * 8), verbose=0)  # here'),
    "label out of range": (INVALID, r"label value of 7 .* outside the valid range of \[0, 4\)",
        "loss = tf.keras.losses.SparseCategoricalCrossentropy()\nloss([7], tf.ones([1, 4]))  # here"),
    "NaN": (INVALID, "the loss : Tensor had NaN", 'tf.debugging.check_numerics([np.nan], "the loss")  # here'),
    # Names and arguments
    "mistyped argument of a layer": (ValueError, "Dense: {'activaton': 'relu'}. Did you mean 'activation'",
        'tf.keras.layers.Dense(3, activaton="relu")  # here'),
    "mistyped argument of a layer's base": (ValueError, "{'trainabel': False}. Did you mean 'trainable'",
        "tf.keras.layers.Dense(3, trainabel=False)  # here"),
    "mistyped argument of an optimizer": (ValueError, "{'learnin_rate': 0.1}. Did you mean 'learning_rate'",
        "tf.keras.optimizers.Adam(learnin_rate=0.1)  # here"),
    "mistyped argument of fit": (TypeError, "'epoch'", COMPILED + "model.fit(x, y, epoch=1)  # here"),
    "mistyped argument of a function": (TypeError, "'axs'", "tf.reduce_sum([1.0], axs=0)  # here"),
    "units as a string": (ValueError, "`units`, expected a positive integer", 'tf.keras.layers.Dense("3")  # here'),
    "units as a float": (ValueError, "`units`, expected a positive integer", "tf.keras.layers.Dense(3.5)  # here"),
    "a layer's class for a layer": (ValueError, r"Call the class: Flatten\(\.\.\.\)",
        "tf.keras.Sequential([tf.keras.layers.Flatten])  # here"),
    "a name for a layer": (ValueError, "must be an instance of class Layer",
        'tf.keras.Sequential().add("dense")  # here'),
    "inputs under another name": (ValueError, r"input 'a' .* keys \['b'\], and expects the keys \['a'\]", """
        a = tf.keras.Input([2], name="a")
        tf.keras.Model(a, tf.keras.layers.Dense(1)(a))({"b": tf.ones([1, 2])})  # here"""),
    "device": (ValueError, "'gpux'", 'with tf.device("gpux"):  # here\n    pass'),
    # The order of things
    "fit before compile": (ValueError, r"call `compile\(\)`", MODEL + "model.fit(x, y)  # here"),
    "evaluate before compile": (ValueError, r"call `compile\(\)`", MODEL + "model.evaluate(x, y)  # here"),
    "count_params before build": (ValueError, "layer isn't built",
        "tf.keras.Sequential([tf.keras.layers.Dense(1)]).count_params()  # here"),
    "layer without call": (NotImplementedError, "Layer L does not have a `call` method", """
        class L(tf.keras.layers.Layer):
            pass
        L()(tf.ones([1, 2]))  # here"""),
    "constructor that cannot be called again": (TypeError, r"'name'.*super\(\).__init__\(\*\*kwargs\).*get_config",
        CLASSES + """
config = {"class_name": "Scale", "config": {"name": "scale", "factor": 2}}
tf.keras.layers.deserialize(config, {"Scale": Scale})  # here"""),
    "get_config without an argument": (TypeError, r"'factor'.*super\(\).get_config\(\) with all|get_config",
        CLASSES + 'tf.keras.layers.deserialize({"class_name": "Scale", "config": {}}, {"Scale": Scale})  # here'),
    # Gradients
    "no gradients": (ValueError, "No gradients provided for any variable", """
        v, w = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as tape:
            loss = v * 2
        tf.keras.optimizers.SGD().apply_gradients(zip(tape.gradient(loss, [w]), [w]))  # here"""),
    "gradients without variables": (TypeError, "pairs of a gradient and a variable",
        "tf.keras.optimizers.SGD().apply_gradients([tf.constant(1.0)])  # here"),
    "tape used twice": (RuntimeError, "non-persistent", """
        v = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = v * 2
        tape.gradient(loss, v)
        tape.gradient(loss, v)  # here"""),
    "gradient of nothing": (TypeError, "target .* None",
        "with tf.GradientTape() as tape:\n    pass\ntape.gradient(None, [])  # here"),
    # Functions
    "variable in each call": (ValueError, "only supports singleton tf.Variables", """
        @tf.function
        def f(x):
            return tf.Variable(1.0) + x  # here
        f(tf.constant(1.0))"""),
    "numpy() in a function": (AttributeError, "'numpy'", """
        @tf.function
        def f(x):
            return x.numpy()  # here
        f(tf.constant(1.0))"""),
    "NumPy function in a function": (NotImplementedError, "NumPy call, which is not supported", """
        @tf.function
        def f(x):
            return np.sin(x)  # here
        f(tf.constant(1.0))"""),
    "one branch only": (ValueError, "'y' must also be initialized in the else branch", """
        @tf.function
        def f(x):
            if x > 0:  # here
                y = 1.0
            return y
        f(tf.constant(1.0))"""),
    "branches of two dtypes": (TypeError, "'y' has dtype float32 .* int32 in the else branch", """
        @tf.function
        def f(x):
            if x > 0:  # here
                y = 1.0
            else:
                y = 1
            return y
        f(tf.constant(1.0))"""),
    "growing tensor in a loop": (ValueError, "'x' has shape .*shape invariants", """
        @tf.function
        def f(n):
            x = tf.ones([1])
            for _ in tf.range(n):  # here
                x = tf.concat([x, x], 0)
            return x
        f(tf.constant(2))"""),
    "arguments of a signature": (TypeError, "Can not cast", """
        f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([2])])
        f(tf.ones([3]))  # here"""),
    # 1.x in 2.x
    "placeholder": (RuntimeError, "not compatible with eager", "tf.compat.v1.placeholder(tf.float32)  # here"),
    "tf.gradients": (RuntimeError, "Use tf.GradientTape", "x = tf.constant(1.0)\ntf.gradients(x * x, x)  # here"),
    "session without a graph": (RuntimeError, "graph is empty",
        "tf.compat.v1.Session().run(tf.constant(1.0))  # here"),
    "placeholder without a value": (INVALID, "must feed a value for placeholder tensor 'p'", """
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            p = tf.compat.v1.placeholder(tf.float32, [2], name="p")
            session.run(p * 2)  # here"""),
    # Data
    "length of a filtered dataset": (TypeError, "length is unknown",
        "len(tf.data.Dataset.range(3).filter(lambda x: x > 1))  # here"),
    "generator instead of a function": (TypeError, "must be a Python callable",
        "tf.data.Dataset.from_generator(iter([]), output_signature=tf.TensorSpec([]))  # here"),
    "map of one argument on pairs": (TypeError, "positional argument", """
        pairs = tf.data.Dataset.from_tensor_slices(([1], [2]))
        pairs.map(lambda x: x)  # here"""),
    "batch of unequal shapes": (INVALID, r"shape \[1\] and element 1 had shape \[2\]", """
        data = tf.data.Dataset.range(1, 3).map(lambda n: tf.ones([n]))
        list(data.batch(2))  # here"""),
    # Files
    "weights of another model": (ValueError, r"\(3, 2\)", MODEL + """
other = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(2)])
model.save_weights("w.weights.h5")
other.load_weights("w.weights.h5")  # here"""),
    "no file of weights": (FileNotFoundError, "nowhere.weights.h5",
        MODEL + 'model.load_weights("nowhere.weights.h5")  # here'),
    "no checkpoint": (tf.errors.NotFoundError, "nowhere",
        'tf.train.Checkpoint(v=tf.Variable(1.0)).restore("nowhere")  # here'),
    "no text file": (tf.errors.NotFoundError, "nowhere.txt", 'tf.io.read_file("nowhere.txt")  # here'),
    "no directory of images": (FileNotFoundError, "nowhere",
        'tf.keras.utils.image_dataset_from_directory("nowhere")  # here'),
    "no image": (INVALID, "Unknown image file format", 'tf.io.decode_image(b"no image")  # here'),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_a_mistake_raises(case, tmp_path, monkeypatch):
    kind, pattern, source = CASES[case]
    monkeypatch.chdir(tmp_path)
    code = textwrap.dedent(source)
    file = str(tmp_path / "program.py")
    (tmp_path / "program.py").write_text(code)
    linecache.checkcache(file)
    with pytest.raises(kind) as caught:
        exec(compile(code, file, "exec"), {"tf": tf, "np": np, "__name__": "program"})
    assert re.search(pattern, str(caught.value), re.S), caught.value
    here = next(number for number, line in enumerate(code.split("\n"), 1) if line.endswith("# here"))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno) == (file, here)
