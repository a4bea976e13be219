"""`import tensorflow` on tapeflow: each case is a process of its own, as the alias lasts as long as the process."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest


def run(code, *options, env=None):
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow.run", *options, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, check=False, env=env and {**os.environ, **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_forms_of_import():
    shown = run("""
        import tensorflow as tf
        import tensorflow.compat.v1 as tf1
        import tensorflow.contrib.eager as tfe
        import tensorflow.keras.backend as K
        from tensorflow import keras
        from tensorflow.keras import layers
        from tensorflow.keras.layers import Dense
        from tensorflow.contrib import summary
        from tensorflow.compat.v1 import nn as nn1
        print(keras is tf.keras, layers is tf.keras.layers, Dense is layers.Dense)
        print(tf1 is tf.compat.v1, tf1.placeholder.__name__, callable(tfe.defun), callable(summary.scalar))
        print(K.__name__, nn1.__name__, tf.__name__)
        print(sorted(n for n in ("zeros", "keras", "compat") if n in dir(tf)))
    """)
    assert shown == [
        "True True True",
        "True placeholder True True",
        "tensorflow.keras.backend tensorflow.compat.v1.nn tensorflow",
        "['compat', 'keras', 'zeros']",
    ]


def test_packages_of_contrib_are_attributes():
    shown = run("""
        import tensorflow as tf
        from tapeflow.alias.places import _contrib_packages
        lost = []
        for package, inner in sorted(_contrib_packages().items()):
            if not hasattr(tf.contrib, package):
                continue
            for path in sorted(p for p in inner if p.split(".")[0] == "python"):
                found = getattr(tf.contrib, package)
                for part in path.split("."):
                    found = getattr(found, part, None)
                if found is None:
                    lost.append(f"{package}.{path}")
        print(lost)
        print(tf.contrib.learn.python.learn.datasets.base.maybe_download.__name__)
        print(tf.contrib.rnn.python.ops.core_rnn_cell._linear.__name__)
        print([hasattr(tf.contrib.rnn, name) for name in ("pythons", "nothing")])
    """)
    assert shown == ["[]", "maybe_download", "_linear", "[False, False]"]


def test_internals():
    shown = run("""
        import tensorflow as tf
        from tensorflow.python.framework import ops, dtypes, tensor_util, test_util
        from tensorflow.python.ops import array_ops, math_ops, variable_scope as vs, control_flow_ops
        from tensorflow.python.ops.rnn_cell_impl import BasicLSTMCell, RNNCell
        from tensorflow.python.keras.layers import Dense
        from tensorflow.python.platform import gfile, tf_logging as logging
        from tensorflow.python.util import nest
        from tensorflow.python.client import device_lib
        from tensorflow.python.training import optimizer
        from tensorflow.core.framework import graph_pb2
        print(ops.Graph is tf.Graph, dtypes.float32 is tf.float32, Dense is tf.keras.layers.Dense)
        print(tensor_util.constant_value(tf.constant(3)), nest.flatten([1, [2, 3]]))
        print(math_ops.reduce_sum([1, 2], keep_dims=True).numpy(), array_ops.shape(tf.zeros([2])).numpy())
        print(device_lib.list_local_devices()[0].device_type, graph_pb2.GraphDef().node[:])
        print(optimizer.Optimizer.__name__, issubclass(BasicLSTMCell, RNNCell))
    """)
    assert shown == [
        "True True True",
        "3 [1, 2, 3]",
        "[3] [2]",
        "CPU []",
        "Optimizer True",
    ]


def test_version_of_each_namespace():
    code = """
        import tensorflow as tf
        print(tf.__version__.split(".")[0], tf.executing_eagerly(), hasattr(tf, "placeholder"))
    """
    assert run(code) == ["2 True False"]
    assert run(code, "--v1") == ["1 False True"]


def test_eager_execution_can_be_enabled_in_1x():
    shown = run(
        """
        import tensorflow as tf
        tf.enable_eager_execution()
        print(tf.add(1, 2))
        """,
        "--v1",
    )
    assert shown == ["tf.Tensor(3, shape=(), dtype=int32)"]


@pytest.mark.parametrize(
    ("code", "error", "parts"),
    [
        ("tf.placeholder", "AttributeError", ["in 1.x only, up to 1.15", "tf.compat.v1.placeholder", "run --v1"]),
        ("tf.nn.rulu", "AttributeError", ["nor among the public names", "tf.nn.relu"]),
        ("tf.contrib.cloud.configure_gcs", "AttributeError", ["tensorflow.contrib.cloud", "in 1.x only"]),
        ("from tensorflow.nn import rulu", "ImportError", ["tensorflow.nn.rulu", "tf.nn.relu"]),
        ("import tensorflow.contrib.hadoop", "ImportError", ["in 1.x only, up to 1.15"]),
        ("from tensorflow.python.framework import nothing", "ImportError", ["internals"]),
    ],
)
def test_missing_name_says_what_it_is(code, error, parts):
    shown = run(f"""
        import tensorflow as tf
        try:
            exec({code!r})
        except {error} as e:
            print(e)
    """)
    assert all(part in shown[0] for part in parts), shown


def test_probing_for_a_name_is_false():
    assert run("import tensorflow as tf; print(hasattr(tf, 'no_such'), getattr(tf.nn, 'x', 0))") == [
        "False 0"
    ]


def test_keras_is_that_of_tapeflow_where_there_is_none():
    shown = run("""
        import importlib.util, sys
        import tensorflow as tf
        import keras
        from keras.layers import Dense
        mine = Dense is tf.keras.layers.Dense
        print(mine or "tapeflow" not in keras.__file__)
    """)
    assert shown == ["True"]


def test_digits_in_batches():
    shown = run("""
        from tensorflow.examples.tutorials.mnist import input_data
        data = input_data.read_data_sets("MNIST_data", one_hot=True)
        x, y = data.train.next_batch(32)
        print(x.shape, y.shape, y.sum(), 0 <= x.min() < x.max() <= 1, len(data.test.images))
        x, y = data.train.next_batch(2, fake_data=True)
        print(x == [[1] * 784] * 2, y == [[1] + [0] * 9] * 2)
    """)
    assert shown == ["(32, 784) (32, 10) 32.0 True 2000", "True True"]


def test_install_in_a_process():
    code = """
        import sys
        import tapeflow
        assert "tensorflow" not in sys.modules
        tf = tapeflow.install_as_tensorflow()
        import tensorflow
        assert tensorflow is tf and tapeflow.install_as_tensorflow() is tf
        try:
            tapeflow.install_as_tensorflow(v1=True)
        except RuntimeError as e:
            print("installed already" in str(e))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


def test_a_loaded_tensorflow_is_not_shadowed():
    code = """
        import sys, types
        sys.modules["tensorflow"] = types.ModuleType("tensorflow")
        import tapeflow
        try:
            tapeflow.install_as_tensorflow()
        except RuntimeError as e:
            print("loaded already" in str(e))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


def test_the_alias_loads_few_modules():
    # Time is too noisy to test; what the alias adds is its own few modules.
    code = """
        import sys, tapeflow
        tapeflow.Variable(1.0) + 1.0, tapeflow.SparseTensor, tapeflow.version.VERSION
        before = set(sys.modules)
        tapeflow.install_as_tensorflow()
        import tensorflow
        print(len(set(sys.modules) - before))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 22


def test_a_module_that_the_import_of_tensorflow_had_loaded():
    shown = run("""
        import urllib
        import tensorflow as tf
        print(urllib.request.urlretrieve.__name__, hasattr(urllib, "urlretrieve"))
    """)
    assert shown == ["urlretrieve False"]


def test_projector(tmp_path):
    shown = run(f"""
        import tensorflow as tf
        from tensorflow.contrib.tensorboard.plugins import projector
        config = projector.ProjectorConfig()
        embedding = config.embeddings.add()
        embedding.tensor_name = "words"
        embedding.sprite.single_image_dim.extend([28, 28])
        projector.visualize_embeddings(tf.summary.FileWriter({str(tmp_path)!r}), config)
        try:
            projector.visualize_embeddings(None, config)
        except ValueError as error:
            print(error)
    """, "--v1")  # fmt: skip
    assert shown == ["Summary writer must have a logdir, got: None"]
    text = (tmp_path / "projector_config.pbtxt").read_text()
    assert " ".join(text.split()) == (
        'embeddings { tensor_name: "words" sprite { single_image_dim: 28 single_image_dim: 28 } }'
    )


def test_classes_as_libraries_see_them():
    shown = run("""
        import importlib.metadata
        import pickle
        import tensorflow as tf
        from tensorflow.python.framework import ops
        x, v = tf.constant([1.0, 2.0]), tf.Variable(3.0)
        print(type(x).__module__.split(".")[0], type(v).__module__.split(".")[0], isinstance(x, ops.EagerTensor))
        print(tf.Tensor.__add__(1.0, x).numpy(), tf.Tensor.__getitem__(x, 1).numpy(), bool(tf.Tensor.__bool__(1)))
        print(importlib.metadata.version("tensorflow") == tf.__version__, x._numpy().tolist(), v._shape)
        print(isinstance(x, tf.__internal__.types.Tensor), isinstance(v, tf.__internal__.tracking.Trackable))
        composites = tf.sparse.eye(2), tf.ragged.constant([[1], [2, 3]]), tf.IndexedSlices(x, [0, 1])
        print(*(type(c).__module__.startswith("tensorflow.python.") for c in composites))
        print(*(pickle.loads(pickle.dumps(type(c))) is type(c) for c in composites))
    """)
    assert shown == [
        "tensorflow tensorflow True", "[2. 3.] 2.0 True", "True [1.0, 2.0] ()", "True True", *["True True True"] * 2
    ]  # fmt: skip


@pytest.mark.parametrize("first", ["import keras.backend", "import tensorflow, keras"])
def test_keras_has_what_was_inside_of_it(first):
    shown = run(f"""
        {first}
        from keras import backend as K
        from keras.utils.vis_utils import model_to_dot
        from tensorflow.python.keras.utils.data_utils import _extract_archive
        from tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_ops import tf_export
        print(K.get_graph().unique_name("scope"), callable(K.get_uid), hasattr(K, "get_nothing"))
    """)
    assert shown == ["scope True False"]


def test_operations_of_generated_modules():
    shown = run("""
        from tensorflow.python.ops import gen_array_ops, gen_math_ops
        from tensorflow.core.framework import types_pb2
        from tensorflow.python.ops.rnn import rnn_cell_impl
        print(gen_math_ops.mat_mul([[2.0]], [[3.0]], False, transpose_b=True).numpy(), types_pb2.DT_HALF)
        print(gen_array_ops.gather_v2([5, 6], [1], 0).numpy(), rnn_cell_impl.__name__)
    """)
    assert shown == ["[[6.]] 19", "[6] tensorflow.python.ops.rnn_cell_impl"]


def test_signatures_of_1x():
    code = """
        import inspect, tensorflow as tf
        print(list(inspect.signature(tf.ones).parameters), inspect.signature(tf.shape).parameters["out_type"].default)
        print(tf.ones([2]).shape)
    """
    assert run(code, "--v1") == ["['shape', 'dtype', 'name'] <dtype: 'int32'>", "(2,)"]


KERAS = """
    import tensorflow as tf
    import tensorflow.keras as K
    from tensorflow.keras import layers
    print(tf.keras.__name__, K is tf.keras, getattr(layers, "mine", None))
"""


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ({"TAPEFLOW_KERAS": "tf_keras"}, "tf_keras True 3"),
        ({"TF_USE_LEGACY_KERAS": "1"}, "tf_keras True 3"),
        ({"TF_USE_LEGACY_KERAS": "1", "TAPEFLOW_KERAS": "tapeflow"}, "tensorflow.keras True None"),
        ({}, "tensorflow.keras True None"),
        ({"TAPEFLOW_KERAS": "other"}, "must be tapeflow, keras or tf_keras"),
    ],
)
def test_keras_is_that_which_the_environment_names(tmp_path, setting, shown):
    package = tmp_path / "tf_keras"
    (package / "layers").mkdir(parents=True)
    (package / "__init__.py").write_text("from tf_keras import layers\n")
    (package / "layers" / "__init__.py").write_text("mine = 3\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow.run", "-c", textwrap.dedent(KERAS)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path, **setting},
    )  # fmt: skip
    assert shown in done.stdout + done.stderr


def test_variables_can_be_pickled():
    shown = run("""
        import pickle
        import tensorflow as tf

        class Mine(tf.Variable):
            pass

        for made in (tf.Variable(1.0), Mine(1.0)):
            again = pickle.loads(pickle.dumps(made))
            print(type(again) is type(made), float(again.numpy()))
    """)
    assert shown == ["True 1.0", "True 1.0"]


def test_the_switch_to_2x_is_a_name_of_2x_too():
    shown = run("""
        import tensorflow.compat.v2 as tf
        print(tf.enable_v2_behavior(), tf.constant(1) + 1)
    """)
    assert shown == ["None tf.Tensor(2, shape=(), dtype=int32)"]


def test_classes_of_libraries_of_1_x_keep_their_own_equality():
    code = "import tensorflow as tf; print({'__eq__', '__ne__', '__add__'} & tf.Tensor.OVERLOADABLE_OPERATORS)"
    assert run(code, "--v1") == ["{'__add__'}"]


def test_modules_of_ops_have_their_generated_functions():
    code = """
        import tapeflow
        tf = tapeflow.install_as_tensorflow()
        from tensorflow.python.keras.saving import saving_utils
        from tensorflow.python.ops import lookup_ops
        handle = lookup_ops.hash_table_v2(tf.string, tf.int64, shared_name="table")
        print(int(lookup_ops.lookup_table_size_v2(handle)), hasattr(lookup_ops, "no_such_op"))
        print(saving_utils.trace_model_call.__name__)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0 False\ntrace_model_call\n"


def test_paths_within_contrib():
    """They lead to the module of that name where there is one, and a name that is absent is no module."""
    shown = run("""
        from tensorflow.contrib.slim.python.slim.nets import vgg
        from tensorflow.contrib.slim.nets import vgg as public
        from tensorflow.contrib.rnn.python.ops.core_rnn_cell_impl import BasicLSTMCell, _linear
        from tensorflow.contrib.losses.python.metric_learning import triplet_semihard_loss
        from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets
        from tensorflow.contrib.learn.python.learn.preprocessing.text import VocabularyProcessor
        from tensorflow.contrib.gan.python.features.python.virtual_batchnorm_impl import VBN
        print(vgg.vgg_16 is public.vgg_16, callable(_linear), callable(read_data_sets))
        try:
            from tensorflow.contrib.rnn.python.ops.core_rnn_cell import no_such_name
        except ImportError as error:
            print(type(error).__name__)
    """, "--v1")  # fmt: skip
    assert shown == ["True True True", "ModuleNotFoundError"]


def test_modules_of_distributions():
    """Names that TensorFlow has in modules of its own only are found there, too."""
    shown = run("""
        from tensorflow.contrib import distributions as ds
        from tensorflow.contrib.distributions.python.ops import mvn_linear_operator, test_util
        from tensorflow.contrib.distributions.python.ops import vector_laplace_linear_operator as laplace
        from tensorflow.contrib.distributions.python.ops.estimator import estimator_head_distribution_regression
        from tensorflow.contrib.distributions.python.ops.wishart import WishartFull
        from tensorflow.python.ops.distributions import bijector, identity_bijector, transformed_distribution, util
        print(issubclass(ds.MultivariateNormalDiag, mvn_linear_operator.MultivariateNormalLinearOperator))
        print(issubclass(ds.VectorLaplaceDiag, laplace.VectorLaplaceLinearOperator))
        print(issubclass(identity_bijector.Identity, bijector.Bijector), WishartFull is ds.WishartFull)
        print(transformed_distribution.TransformedDistribution is ds.TransformedDistribution)
        print(callable(util.fill_triangular), callable(estimator_head_distribution_regression))
        print(test_util.VectorDistributionTestHelpers.__name__)
    """, "--v1")  # fmt: skip
    assert shown == ["True", "True", "True True", "True", "True True", "VectorDistributionTestHelpers"]


@pytest.mark.parametrize("path", [
    "tensorflow.contrib.keras.api.keras", "tensorflow.contrib.keras.python.keras",
    "tensorflow.python.keras._impl.keras",
])  # fmt: skip
def test_former_paths_of_keras(path):
    shown = run(f"""
        import tensorflow as tf
        import tensorflow
        import tensorflow.contrib.keras
        import {path}.backend as K
        from {path}.layers import Dense
        from {path} import models
        from tensorflow.python.keras.engine import base_layer
        public = tensorflow.contrib.keras.layers.Dense, base_layer.Layer
        print(Dense is public[0], models.Sequential is tf.keras.Sequential, issubclass(Dense, public[1]), K.floatx())
    """, "--v1")  # fmt: skip
    assert shown == ["True True True float32"]


def test_tensors_of_graphs_are_of_the_class_that_programs_of_1_x_name():
    shown = run("""
        import numpy as np
        import tensorflow as tf
        from tensorflow.python.framework import ops
        x, v, w = tf.placeholder(tf.float32, [2]), tf.Variable([1.0, 2.0]), tf.Variable(3.0)
        print(type(x) is tf.Tensor, type(x + 1) is ops.Tensor, isinstance(v, tf.Tensor), isinstance(x, ops.EagerTensor))
        print(issubclass(ops.EagerTensor, tf.Tensor), issubclass(int, tf.Tensor))
        tf.Tensor.doubled = lambda self: self * 2
        print(tf.Session().run((x + 1).doubled(), {x: [1.0, 2.0]}).tolist(), tf.Tensor.__add__(x, x).shape)
        print(np.array(v).item() is v, np.array([v, w])[1] is w)
    """, "--v1")  # fmt: skip
    assert shown == ["True True False False", "True False", "[4.0, 6.0] (2,)", "True True"]


def test_eager_tensors_of_1_x_are_of_that_class_too():
    code = """
        import tensorflow as tf
        tf.enable_eager_execution()
        print(isinstance(tf.constant(1), tf.Tensor), isinstance(1, tf.Tensor))
    """
    assert run(code, "--v1") == ["True False"]


@pytest.mark.skipif(importlib.util.find_spec("keras") is not None, reason="the installed Keras is that")
def test_what_is_inside_of_keras_since_2_13():
    shown = run("""
        import tensorflow as tf
        from keras.src import backend
        from keras.src.engine import keras_tensor
        from keras.src.utils import tf_utils
        symbolic = tf.keras.Input([2])
        print(backend.floatx(), isinstance(symbolic, keras_tensor.KerasTensor), tf_utils.is_symbolic_tensor(symbolic))
    """)
    assert shown == ["float32 True True"]


def test_modules_inside_of_the_installed_keras_2(tmp_path):
    for folder, text in {
        "": "from tf_keras import layers", "layers": "mine = 3", "src": "inside = 4", "src/engine": "",
        "src/engine/base_layer": "mine = 5",
    }.items():  # fmt: skip
        package = tmp_path / "tf_keras" / folder
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text(text + "\n")
    shown = run(
        """
        import tensorflow as tf
        from tensorflow.python.keras.engine import base_layer
        from tensorflow.python.keras import inside
        from tensorflow.python.keras.utils import tf_utils
        print(base_layer.mine, inside, callable(tf_utils.is_symbolic_tensor))
        """,
        env={
            "TF_USE_LEGACY_KERAS": "1",
            "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        },
    )
    assert shown == ["5 4 True"]
