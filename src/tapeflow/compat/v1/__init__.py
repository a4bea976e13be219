"""tf.compat.v1: the names and signatures of TensorFlow 1.x."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(
    __name__, "app", "autograph", "data", "distribute", "distributions", "dtypes", "errors", "estimator",
    "experimental", "feature_column", "flags", "gfile", "keras", "lite", "logging", "losses", "metrics",
    "mixed_precision", "python_io", "ragged", "resource_loader", "saved_model", "sets", "summary", "test", "tpu",
    "user_ops", __internal__="tapeflow.__internal__", __operators__="tapeflow.__operators__",
    audio="tapeflow.audio", autodiff="tapeflow.autodiff", compat="tapeflow.compat", config="tapeflow.config",
    initializers="tapeflow.v1.initializers", layers="tapeflow.layers",
    lookup="tapeflow.lookup", nest="tapeflow.nest", quantization="tapeflow.quantization", queue="tapeflow.queue",
    raw_ops="tapeflow.raw_ops", signal="tapeflow.signal", spectral="tapeflow.v1.spectral",
    sysconfig="tapeflow.sysconfig", train="tapeflow.train", types="tapeflow.types", version="tapeflow.version",
    xla="tapeflow.xla",
)  # fmt: skip
