"""tapeflow: TensorFlow's eager execution, `import tapeflow as tf`.

The names of TensorFlow 2.x; those of 1.x are in `tf.compat.v1`. Each is loaded when it is first used.
"""

from tapeflow.api import openmp as _openmp  # before the native core loads OpenMP

# isort: split
from types import ModuleType as _ModuleType

from tapeflow.api import namespaces as _namespaces
from tapeflow.api import providers as _providers
from tapeflow.api.namespaces import extend as _extend
from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(
    __name__, "__internal__", "autodiff", "compat", "contrib", "data", "distribute", "estimator", "experimental",
    "feature_column", "keras", "layers", "lite", "ragged", "raw_ops", "saved_model", "summary", "sysconfig", "test",
    "tpu", "train", "xla", initializers="tapeflow.keras.initializers", losses="tapeflow.keras.losses",
    metrics="tapeflow.keras.metrics", optimizers="tapeflow.keras.optimizers",
)  # fmt: skip

# What packages need of those above them.
_providers.provide(
    accelerators="tapeflow.xla.accelerators",
    all_rows="tapeflow.ops.all_rows",
    cluster_client="tapeflow.cluster.grpc_client",
    cluster_server="tapeflow.cluster.grpc_server",
    clusters="tapeflow.xla.clusters",
    compiled_computations="tapeflow.contrib.compiler.xla",
    coordinated_training="tapeflow.keras.engine.fitting.coordinated",
    dataset_nodes="tapeflow.data.nodes.value_nodes",
    mesh_memory="tapeflow.xla.mesh_memory",
    missing_names="tapeflow.alias.missing",
    names=__name__,
    numpy_methods="tapeflow.experimental.numpy.tensor_methods",
    operators="tapeflow.ops.operators",
    parameter_servers="tapeflow.distribute.parameter_servers.cluster",
    scoping="tapeflow.v1.variable_getting",
    sparse_operators="tapeflow.ops.sparse.arithmetic",
    tape="tapeflow.autodiff.tape",
    targets="tapeflow.cluster.targets",
    test_nodes="tapeflow.testing.test_ops",
)
_extend("compat.v1", contrib="tapeflow.contrib")


def _explain(module: _ModuleType, name: str) -> str:
    return _providers.load("missing_names").explain_here(module, name)


_namespaces.explain_missing_names(_explain)
