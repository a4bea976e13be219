"""Why public symbols of TensorFlow are not here: reason, then names, with `*` for all that are below a namespace."""

from __future__ import annotations

import fnmatch

REASONS: dict[str, str] = {
    "There is no MLIR, and no quantizer of graphs, underneath": "mlir.* quantization.experimental.*",
    "Hints of a converter that TensorFlow has replaced": "lite.OpHint lite.experimental.convert_op_hints_to_stubs",
    "Layers of a quantized model beside those of the float one: not there yet":
        "lite.experimental.QuantizationDebug*",
    "TPUs are programmed through JAX here":
        "tpu.experimental.AdagradParameters "
        "tpu.experimental.AdamParameters tpu.experimental.FtrlParameters "
        "tpu.experimental.StochasticGradientDescentParameters tpu.experimental.embedding_column "
        "tpu.experimental.shared_embedding_columns",
    "Processes train together by strategies: there are no servers that others connect to":
        "config.experimental.ClusterDeviceFilters data.experimental.service.* data.experimental.distributed_save "
        "distribute.experimental.rpc.* "
        "distribute.experimental.PreemptionWatcher profiler.experimental.client.* profiler.experimental.server.*",
    "There is no MLIR underneath":
        "config.experimental.disable_mlir_bridge config.experimental.enable_mlir_bridge "
        "data.experimental.get_model_proto",
    "Libraries of kernels are compiled against TensorFlow's own C++ classes":
        "load_file_system_library experimental.register_filesystem_plugin",
    "What it wraps, or turns on, is a part of TensorFlow's runtime that has no counterpart":
        "check_pinned experimental.enable_strict_mode "
        "errors.raise_exception_on_not_ok_status "
        "debugging.experimental.*",
    "Pictures in JPEG XL, and proposals of boxes, which TensorFlow computes on GPUs only":
        "image.decode_jxl io.decode_jxl image.generate_bounding_box_proposals",
    "Layers of other frameworks": "keras.layers.FlaxLayer keras.layers.JaxLayer keras.layers.TorchModuleWrapper",
    "Parts of Keras 3 that choose another backend, or turn on what only others have":
        "keras.config.set_backend keras.config.is_nnx_enabled keras.config.*flash_attention* "
        "keras.callbacks.OrbaxCheckpoint",
    "Teachers of models, and models as estimators of scikit-learn: not there yet":
        "keras.distillation* keras.wrappers*",
    "Weights that are rounded by what the model computes of samples: not there yet":
        "keras.dtype_policies.AWQDTypePolicy keras.dtype_policies.GPTQDTypePolicy keras.quantizers.AWQConfig "
        "keras.quantizers.GPTQConfig",
    "Boxes in pictures, and galleries drawn with matplotlib: not there yet":
        "keras.utils.bounding_boxes* keras.visualization*",
    "Networks for pictures: not there yet":
        "keras.applications.NASNet* keras.applications.nasnet*",
    "The profiler of 1.x reads traces of TensorFlow's own executor": "profiler.*",
    "Ops of estimators": "train.sdca_*",
}  # fmt: skip

NAMES = [name for listed in REASONS.values() for name in listed.split()]

# Functions whose whole meaning is to refuse, or to do nothing outside of what they are for.
REFUSED = {
    "autograph.experimental.set_loop_options", "experimental.async_clear_error", "logging.flush", "no_regularizer",
    "experimental.output_all_intermediates",
}  # fmt: skip


def reason(name: str) -> str | None:
    """Why the symbol is not here; None where nobody knows."""
    for text, listed in REASONS.items():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in listed.split()):
            return text
    return None
