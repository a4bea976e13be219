"""Errors of programs: the class, what is said, and a traceback that ends at the program's own line.

Each case is a program; the line where its traceback is to end carries the comment `# here`.
"""

import linecache
import os
import re
import subprocess
import sys
import textwrap
import traceback
import zipfile

import pytest

import tapeflow as tf
from tapeflow._native import PublicFunction

NOT_ALLOWED = tf.errors.OperatorNotAllowedInGraphError
INVALID = tf.errors.InvalidArgumentError

CASES = {
    # Values of symbolic tensors.
    "if, AutoGraph switched off": (NOT_ALLOWED, r"`bool` is not allowed.* AutoGraph did not convert 'f'", """
        @tf.function(autograph=False)
        def f(x):
            if x > 0:  # here
                return x
            return -x
        f(tf.constant(1.0))"""),
    "if, left alone by do_not_convert": (NOT_ALLOWED, r"AutoGraph did not convert 'g'", """
        @tf.autograph.experimental.do_not_convert
        def g(x):
            if x > 0:  # here
                return x
            return -x
        tf.function(lambda x: g(x))(tf.constant(1.0))"""),
    "comparison by a function of Python": (NOT_ALLOWED, r"AutoGraph converted '<lambda>', but does not", """
        f = tf.function(lambda x: sorted([x, x + 1])[0])  # here
        f(tf.constant(1.0))"""),
    "if, in a graph of 1.x": (NOT_ALLOWED, r"(?s)`bool` is not.* when a session runs its graph(?!.*AutoGraph)", """
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.bool)
            if x:  # here
                pass"""),
    "if, of a leaked tensor": (NOT_ALLOWED, r"made at .*:5, in f, has no value outside of function 'f'", """
        kept = []
        @tf.function
        def f(x):
            kept.append(x > 2)
            return x
        f(tf.constant(1.0))
        if kept[0]:  # here
            pass"""),
    "iteration, unknown size": (NOT_ALLOWED, r"Iterating over a symbolic `tf.Tensor` is not allowed", """
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def f(x):
            a, b = x  # here
            return a
        f(tf.constant([1.0, 2.0]))"""),
    "iteration, in a graph of 1.x": (NOT_ALLOWED, r"Iterating over .* when a session runs its graph", """
        with tf.Graph().as_default():
            for i in tf.compat.v1.placeholder(tf.float32):  # here
                pass"""),
    "len of a symbolic tensor": (TypeError, "len is not well defined", """
        @tf.function(autograph=False)
        def f(x):
            return len(x)  # here
        f(tf.constant([1.0]))"""),
    "NumPy function of a symbolic tensor": (NotImplementedError, "Cannot convert a symbolic tf.Tensor", """
        import numpy as np
        tf.function(lambda x: np.sin(x))(tf.constant(1.0))  # here"""),
    "if, of a Keras tensor": (TypeError, "symbolic KerasTensor", """
        if tf.keras.Input((2,)) > 1:  # here
            pass"""),
    # Tensors in the wrong place.
    "operator on tensors of two graphs": (ValueError,
        r"'a:0'.*made at .*:4, in <module> and belongs to <.*Graph.*>, must be from the same graph as "
        r".*'b:0'.*made at .*:6, in <module> and belongs to <.*Graph", """
        first, second = tf.Graph(), tf.Graph()
        with first.as_default():
            a = tf.constant(1.0, name="a")
        with second.as_default():
            b = tf.constant(2.0, name="b")
            a + b  # here"""),
    "list of tensors of two graphs": (ValueError, r"'a:0'.* must be from the same graph as .*'b:0'", """
        first, second = tf.Graph(), tf.Graph()
        with first.as_default():
            a = tf.constant(1.0, name="a")
        with second.as_default():
            b = tf.constant(2.0, name="b")
            tf.add_n([b, a])  # here"""),
    "tensor of a graph, eagerly": (TypeError, r"out of scope.*at .*:3, in <module>.*while executing eagerly", """
        with tf.Graph().as_default():
            a = tf.constant(1.0)
        a + 1  # here"""),
    "leaked tensor, eagerly": (TypeError, r"out of scope.*defined at .*:5, in f, and belongs to function 'f'", """
        kept = []
        @tf.function
        def f(x):
            kept.append(x * 2)
            return x
        f(tf.constant(1.0))
        tf.reduce_sum(kept[0])  # here"""),
    "leaked tensor, in another function": (TypeError, r"out of scope.* function 'f'; it is used in function 'g'", """
        kept = []
        @tf.function
        def f(x):
            kept.append(x * 2)
            return x
        f(tf.constant(1.0))
        @tf.function
        def g(x):
            return kept[0] + x  # here
        g(tf.constant(1.0))"""),
    "tensor of a branch": (TypeError, r"out of scope.*defined at .*:6, in f", """
        kept = []
        @tf.function
        def f(x):
            if x > 0:
                kept.append(x * 2)
            return kept[0] + x  # here
        f(tf.constant(1.0))"""),
    # Mixed types.
    "str + tensor": (TypeError, "Cannot convert 'a' to EagerTensor of dtype int32", '"a" + tf.constant(1)  # here'),
    "tensor + str": (TypeError, "Cannot convert 'a' to EagerTensor of dtype int32", 'tf.constant(1) + "a"  # here'),
    "str tensor + int": (INVALID, "input #1.*string tensor but is a int32", 'tf.constant("a") + 1  # here'),
    "str tensor - str tensor": (INVALID, "string is not in the list", 'tf.constant("a") - tf.constant("b")  # here'),
    "tensor + None": (ValueError, "unsupported type.*NoneType", "tf.constant(1) + None  # here"),
    "tensor + object": (ValueError, "unsupported type.*object", "tf.constant(1) + object()  # here"),
    "str + tensor in a function": (TypeError, "Expected int32 passed to parameter 'x' of op 'AddV2', got 'a'", """
        tf.function(lambda x: "a" + x)(tf.constant(1))  # here"""),
    # Names.
    "mistyped function": (AttributeError, r"'relu'.* tf\.nn\.relu", "tf.relu  # here"),
    "mistyped namespace": (AttributeError, r"'layer'.* tf\.keras\.layers", "tf.keras.layer  # here"),
    "mistyped layer": (AttributeError, r"'Dens'.* tf\.keras\.layers\.Dense", "tf.keras.layers.Dens  # here"),
    "mistyped name of 1.x": (AttributeError, r"tf\.compat\.v1\.placeholder", "tf.compat.v1.placehlder  # here"),
    "name of 1.x": (AttributeError, r"(?i)name of TensorFlow 1\.x: .* value .*tf\.compat\.v1\.placeholder\.",
                    "tf.placeholder(tf.float32)  # here"),
    "property of NumPy's arrays": (AttributeError, r"'T'. Use tf\.transpose.*enable_numpy", "tf.ones([2]).T  # here"),
    "method of NumPy's arrays": (AttributeError, r"Use tf\.reshape\(x, shape\).*enable_numpy_behavior",
                                 "tf.ones([2]).reshape(2, 1)  # here"),
    "method of NumPy's arrays in a function": (AttributeError, r"Use tf\.cast\(x, dtype\)", """
        tf.function(lambda x: x.astype("int32"))(tf.ones([2]))  # here"""),
    # Keras.
    "unknown activation": (ValueError, "identifier: rellu. Did you mean 'relu'.*custom_object_scope",
                           'tf.keras.layers.Dense(3, activation="rellu")  # here'),
    "unknown initializer": (ValueError, "identifier: glorot_unifrom. Did you mean 'glorot_uniform'",
                            'tf.keras.layers.Dense(3, kernel_initializer="glorot_unifrom")  # here'),
    "unknown optimizer": (ValueError, "identifier: adm. Did you mean 'adam'",
                          'tf.keras.Sequential().compile("adm")  # here'),
    "unknown loss": (ValueError, "Did you mean 'mean_squared_error'",
                     'tf.keras.losses.get("mean_square_error")  # here'),
    "unknown metric": (ValueError, "Did you mean .*'binary_accuracy'",
                       'tf.keras.metrics.get("acuracy")  # here'),
    "unknown regularizer": (ValueError, "'l3'", 'tf.keras.layers.Dense(3, kernel_regularizer="l3")  # here'),
    "unknown constraint": (ValueError, "'non_neg'", 'tf.keras.layers.Dense(3, kernel_constraint="nonneg")  # here'),
    "unknown layer": (TypeError, "'Dens'. Did you mean 'Dense'.*register_keras_serializable",
                      'tf.keras.layers.deserialize({"class_name": "Dens", "config": {}})  # here'),
    "no super().__init__() of a layer": (RuntimeError, r"'L'.*super\(\).__init__\(\)", """
        class L(tf.keras.layers.Layer):
            def __init__(self):
                self.units = 3
            def call(self, x):
                return x
        L()(tf.ones([1]))  # here"""),
    "no super().__init__() before a sublayer": (RuntimeError, r"super\(\).__init__\(\)", """
        class M(tf.keras.Model):
            def __init__(self):
                self.inner = tf.keras.layers.Dense(2)  # here
        M()"""),
    "no super().__init__() of a compiled model": (RuntimeError, r"'M'.*super\(\).__init__\(\)", """
        class M(tf.keras.Model):
            def __init__(self):
                pass
        M().compile("adam", "mse")  # here"""),
    "no super().__init__() of a metric": (RuntimeError, r"'M'.*super\(\).__init__\(\)", """
        class M(tf.keras.metrics.Metric):
            def __init__(self):
                self.total = self.add_weight(name="t", initializer="zeros")  # here
        M()"""),
    "no super().__init__() of an optimizer": (RuntimeError, r"'O'.*super\(\).__init__\(\)", """
        class O(tf.keras.optimizers.Optimizer):
            def __init__(self):
                self.rate = 0.1
        O().apply_gradients([(tf.constant(1.0), tf.Variable(1.0))])  # here"""),
    "no super().__init__() of a module": (AttributeError, r"'M'.*super\(\).__init__\(\)", """
        class M(tf.Module):
            def __init__(self):
                self.v = tf.Variable(1.0)
            @tf.Module.with_name_scope
            def __call__(self, x):
                return x
        M()(1.0)  # here"""),
    "disconnected graph": (ValueError, r"disconnected.*layer \"last\".*follow from the inputs of the model, <Keras", """
        a, b = tf.keras.Input((2,)), tf.keras.Input((2,))
        tf.keras.Model(a, tf.keras.layers.Dense(1, name="last")(b))  # here"""),
    "model of a tensor": (ValueError, "Output tensors of a Functional model", """
        tf.keras.Model(tf.keras.Input((2,)), tf.constant([1.0]))  # here"""),
    "call of a model on another shape": (ValueError, "expected axis -1 of input shape to have value 2", """
        m = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        m(tf.ones([1, 3]))  # here"""),
    # Files.
    "no .keras file": (ValueError, "No file or directory found at nowhere.keras",
                       'tf.keras.models.load_model("nowhere.keras")  # here'),
    "no .h5 file": (FileNotFoundError, "nowhere.h5", 'tf.keras.models.load_model("nowhere.h5")  # here'),
    "no SavedModel": (OSError, "SavedModel file does not exist", 'tf.saved_model.load("nowhere")  # here'),
    "damaged .keras file": (ValueError, "not a `.keras` file, or is damaged", """
        import pathlib
        pathlib.Path("bad.keras").write_bytes(b"not a zip archive")
        tf.keras.models.load_model("bad.keras")  # here"""),
    ".keras file without its config": (ValueError, "has no config.json", """
        import zipfile
        with zipfile.ZipFile("empty.keras", "w") as file:
            file.writestr("other", "x")
        tf.keras.models.load_model("empty.keras")  # here"""),
    "damaged .h5 file": (OSError, "not an HDF5 file, or is damaged", """
        import pathlib
        pathlib.Path("bad.h5").write_bytes(b"not HDF5")
        tf.keras.models.load_model("bad.h5")  # here"""),
    "assert_consumed, a variable was not saved": (AssertionError, "1 Python objects that were not bound", """
        path = tf.train.Checkpoint(a=tf.Variable(1.0)).save("saved")
        new = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0))
        new.restore(path).assert_consumed()  # here"""),
    "assert_consumed, a value has no variable": (AssertionError, r"Unresolved object in checkpoint \(root\).b", """
        path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).save("saved")
        tf.train.Checkpoint(a=tf.Variable(1.0)).restore(path).assert_consumed()  # here"""),
    # Datasets.
    "slices of unequal lengths": (ValueError, "Dimensions 3 and 2 are not compatible.* 3 of 'a', 2 of 'b/c'", """
        tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": {"c": [1, 2]}})  # here"""),
    "map, while it is traced": (ValueError, "Cannot reshape", """
        def f(x):
            return tf.reshape(x, [3])  # here
        tf.data.Dataset.from_tensor_slices([[1, 2]]).map(f)"""),
    "map, while it runs": (INVALID, r"(?s)shape has 3.*defined at .*:3, in f.*in Dataset.map, at element 2", """
        def f(x):
            return tf.reshape(tf.range(x), [3])
        for each in tf.data.Dataset.from_tensor_slices([3, 3, 2]).map(f):  # here
            pass"""),
    "map of Python": (tf.errors.UnknownError, r"IndexError.*in Dataset.map, at element 2, raised at .*:3, in g", """
        def g(x):
            return [1, 2][x]
        data = tf.data.Dataset.range(4).map(lambda x: tf.py_function(g, [x], tf.int32))
        for each in data:  # here
            pass"""),
    "filter of numbers": (ValueError, "must return a `tf.bool` scalar", """
        tf.data.Dataset.range(4).filter(lambda x: x)  # here"""),
    # Training.
    "gradient of another shape, Keras": (INVALID, r"variable 'kernel:0', whose shape is \(2,\), has shape \(3,\)", """
        kernel = tf.Variable([1.0, 2.0], name="kernel")
        tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.ones([3]), kernel)])  # here"""),
    "gradient of another shape, 1.x": (INVALID, r"variable 'kernel:0', whose shape is \(2,\), has shape \(3,\)", """
        kernel = tf.Variable([1.0, 2.0], name="kernel")
        tf.compat.v1.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.ones([3]), kernel)])  # here"""),
    "fit of an uncompiled model": (Exception, "compile", """
        import numpy as np
        tf.keras.Sequential([tf.keras.layers.Dense(1)]).fit(np.ones([1, 1]), np.ones([1, 1]))  # here"""),
    # Methods of classes.
    "class method of a row partition": (ValueError, "must have rank 1|rank", """
        tf.experimental.RowPartition.from_row_splits([[1]])  # here"""),
    "class method of a ragged tensor": (ValueError, "rank", """
        tf.RaggedTensor.from_row_splits([1, 2], [[0]])  # here"""),
    "static method of a structured tensor": (ValueError, "", """
        tf.experimental.StructuredTensor.from_pyval([1, {}])  # here"""),
}  # fmt: skip


@pytest.fixture
def fails(tmp_path, monkeypatch):
    """Run a program in a file of its own; returns its exception, the file, and the line marked `# here`."""
    monkeypatch.chdir(tmp_path)

    def run(source):
        file = str(tmp_path / "program.py")
        code = textwrap.dedent(source if source.startswith("\n") else "\n" + source)
        with open(file, "w") as f:
            f.write(code)
        linecache.checkcache(file)
        with pytest.raises(Exception) as caught:
            exec(compile(code, file, "exec"), {"tf": tf, "__name__": "program"})
        line = next(i for i, text in enumerate(code.split("\n"), 1) if text.endswith("# here"))
        return caught.value, file, line

    return run


# Cases that h5py has a part in.
OF_FILES = {"damaged .keras file", ".keras file without its config", "damaged .h5 file"}


@pytest.mark.parametrize("case", CASES)
def test_the_error_is_explained_at_the_program_s_line(case, fails):
    if case in OF_FILES:
        pytest.importorskip("h5py")
    kind, pattern, source = CASES[case]
    error, file, line = fails(source)
    assert isinstance(error, kind)
    said = "\n".join([str(error), *getattr(error, "__notes__", ())])
    assert re.search(pattern, said), said
    frames = traceback.extract_tb(error.__traceback__)[1:]  # below this file's own
    assert (frames[-1].filename, frames[-1].lineno) == (file, line)
    assert not [frame for frame in frames if "/tapeflow/" in frame.filename]


def test_code_without_a_source_is_not_said_to_be_converted():
    names = {}
    exec("def g(x):\n    if x > 0:\n        return x\n    return -x\n", names)
    with pytest.raises(NOT_ALLOWED, match="AutoGraph did not convert 'g'"):
        tf.function(names["g"])(tf.constant(1.0))


def public_classes():
    """The package's classes that programs see."""
    spaces = [tf, tf.experimental, tf.data, tf.io, tf.lookup, tf.linalg, tf.random, tf.summary, tf.train, tf.distribute]
    found = {getattr(space, name) for space in spaces for name in dir(space) if name[0] != "_"}
    return sorted((c for c in found if isinstance(c, type) and str(c.__module__).startswith("tapeflow.")), key=repr)


def test_methods_of_classes_end_tracebacks_as_those_of_objects_do():
    """Where the methods of a class end tracebacks in the program, so do its class methods and static methods."""
    unmarked = []
    for cls in public_classes():
        own = {name: value for name, value in vars(cls).items() if name[0] != "_"}
        if any(isinstance(value, PublicFunction) for value in own.values()):
            kinds = (classmethod, staticmethod)
            of_class = {name: value for name, value in own.items() if isinstance(value, kinds)}
            plain = [name for name, value in of_class.items() if not isinstance(value.__func__, PublicFunction)]
            unmarked += [f"{cls.__name__}.{name}" for name in plain]
    assert not unmarked


def test_full_tracebacks_show_the_package(fails, monkeypatch):
    source = CASES["unknown activation"][2]
    assert "/tapeflow/" not in "".join(traceback.format_tb(fails(source)[0].__traceback__))
    monkeypatch.setenv("TAPEFLOW_FULL_TRACEBACK", "1")
    assert "/tapeflow/" in "".join(traceback.format_tb(fails(source)[0].__traceback__))


def test_a_truncated_model_file(tmp_path, fails):
    pytest.importorskip("h5py")
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.save(tmp_path / "whole.keras")
    whole = (tmp_path / "whole.keras").read_bytes()
    assert zipfile.is_zipfile(tmp_path / "whole.keras")
    (tmp_path / "half.keras").write_bytes(whole[: len(whole) // 2])
    error, file, line = fails('tf.keras.models.load_model("half.keras")  # here')
    assert isinstance(error, ValueError)
    assert "damaged" in str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert (last.filename, last.lineno) == (file, line)


def test_what_python_prints(tmp_path):
    """The whole text of an uncaught error, as a user sees it."""
    file = tmp_path / "program.py"
    file.write_text("import tapeflow as tf\n\ndef use():\n    return tf.relu(1.0)\n\nuse()\n")
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=False,
        env={k: v for k, v in os.environ.items() if k != "TAPEFLOW_FULL_TRACEBACK"},
    )  # fmt: skip
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("  File")] == [
        f'  File "{file}", line 6, in <module>', f'  File "{file}", line 4, in use',
    ]  # fmt: skip
    assert "tf.nn.relu" in lines[-1]
