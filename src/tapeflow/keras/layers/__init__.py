"""`tf.keras.layers`."""

from __future__ import annotations

import functools as _functools
import importlib as _importlib
from types import ModuleType as _ModuleType

from tapeflow.core.public import boundaries as _boundaries
from tapeflow.keras.engine.added import AddLoss as _AddLoss
from tapeflow.keras.engine.added import AddMetric as _AddMetric
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.functional.inputs import make_input as Input
from tapeflow.keras.engine.functional.op_layer import SlicingOpLambda as _SlicingOpLambda
from tapeflow.keras.engine.functional.op_layer import TFOpLambda as _TFOpLambda
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers import experimental
from tapeflow.keras.layers.activation import ELU, LeakyReLU, PReLU, ReLU, Softmax, ThresholdedReLU
from tapeflow.keras.layers.adaptive_pooling import (
    AdaptiveAveragePooling1D,
    AdaptiveAveragePooling2D,
    AdaptiveAveragePooling3D,
    AdaptiveMaxPooling1D,
    AdaptiveMaxPooling2D,
    AdaptiveMaxPooling3D,
)
from tapeflow.keras.layers.attention import AdditiveAttention, Attention
from tapeflow.keras.layers.convolution_separable import (
    DepthwiseConv1D,
    DepthwiseConv2D,
    SeparableConv1D,
    SeparableConv2D,
)
from tapeflow.keras.layers.convolution_transposed import (
    Conv1DTranspose,
    Conv2DTranspose,
    Conv3DTranspose,
)
from tapeflow.keras.layers.convolutional import Conv1D, Conv2D, Conv3D
from tapeflow.keras.layers.core.dense import Dense
from tapeflow.keras.layers.core.dropout import (
    Dropout,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from tapeflow.keras.layers.core.input_layer import InputLayer
from tapeflow.keras.layers.core.same_shape import (
    Activation,
    ActivityRegularization,
    Identity,
    Masking,
)
from tapeflow.keras.layers.core.shaping import Flatten, Permute, RepeatVector, Reshape
from tapeflow.keras.layers.einsum_dense import EinsumDense
from tapeflow.keras.layers.embeddings import Embedding, ReversibleEmbedding
from tapeflow.keras.layers.function_layer import Lambda
from tapeflow.keras.layers.group_normalization import (
    GroupNormalization,
    RMSNormalization,
    SpectralNormalization,
    UnitNormalization,
)
from tapeflow.keras.layers.grouped_attention import GroupQueryAttention
from tapeflow.keras.layers.joining import Concatenate, Dot, concatenate, dot
from tapeflow.keras.layers.layer_normalization import LayerNormalization
from tapeflow.keras.layers.local import LocallyConnected1D, LocallyConnected2D
from tapeflow.keras.layers.merging import (
    Add,
    Average,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    multiply,
    subtract,
)
from tapeflow.keras.layers.merging import maximum_of as maximum
from tapeflow.keras.layers.merging import minimum_of as minimum
from tapeflow.keras.layers.multi_head_attention import MultiHeadAttention
from tapeflow.keras.layers.noise import AlphaDropout, GaussianDropout, GaussianNoise
from tapeflow.keras.layers.normalization import BatchNormalization
from tapeflow.keras.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from tapeflow.keras.layers.preprocessing.audio import MelSpectrogram, STFTSpectrogram
from tapeflow.keras.layers.preprocessing.color import (
    RandomBrightness,
    RandomColorDegeneration,
    RandomColorJitter,
    RandomContrast,
    RandomGrayscale,
    RandomHue,
    RandomInvert,
    RandomSaturation,
)
from tapeflow.keras.layers.preprocessing.encoding import CategoryEncoding
from tapeflow.keras.layers.preprocessing.erasing import RandomErasing
from tapeflow.keras.layers.preprocessing.geometry import (
    RandomCrop,
    RandomElasticTransform,
    RandomFlip,
    RandomHeight,
    RandomWidth,
)
from tapeflow.keras.layers.preprocessing.hashing import HashedCrossing, Hashing
from tapeflow.keras.layers.preprocessing.levels import (
    AutoContrast,
    ContrastLimitedAdaptiveHistogramEqualization,
    Equalization,
    RandomPosterization,
    Solarization,
)
from tapeflow.keras.layers.preprocessing.lookup import IntegerLookup, StringLookup
from tapeflow.keras.layers.preprocessing.mixing import AugMix, CutMix, MixUp, RandAugment
from tapeflow.keras.layers.preprocessing.numerical import Discretization, Normalization, Rescaling
from tapeflow.keras.layers.preprocessing.pipeline import Pipeline
from tapeflow.keras.layers.preprocessing.projections import (
    RandomPerspective,
    RandomRotation,
    RandomShear,
    RandomTranslation,
    RandomZoom,
)
from tapeflow.keras.layers.preprocessing.sharpness import RandomGaussianBlur, RandomSharpness
from tapeflow.keras.layers.preprocessing.sizing import CenterCrop, MaxNumBoundingBoxes, Resizing
from tapeflow.keras.layers.preprocessing.text import TextVectorization
from tapeflow.keras.layers.resizing import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from tapeflow.keras.layers.rnn.base import RNN
from tapeflow.keras.layers.rnn.bidirectional import Bidirectional
from tapeflow.keras.layers.rnn.cells import AbstractRNNCell
from tapeflow.keras.layers.rnn.convolutional import ConvLSTM1D, ConvLSTM2D, ConvLSTM3D
from tapeflow.keras.layers.rnn.convolutional_cell import ConvLSTMCell
from tapeflow.keras.layers.rnn.dropout import DropoutRNNCellMixin
from tapeflow.keras.layers.rnn.gru import GRU, CuDNNGRU, GRUCell
from tapeflow.keras.layers.rnn.lstm import LSTM, CuDNNLSTM, LSTMCell
from tapeflow.keras.layers.rnn.simple import SimpleRNN, SimpleRNNCell
from tapeflow.keras.layers.rnn.stacked import StackedRNNCells
from tapeflow.keras.layers.saved_model_layer import TFSMLayer
from tapeflow.keras.layers.wrappers import TimeDistributed, Wrapper
from tapeflow.keras.old_names import leaves_out as _leaves_out
from tapeflow.keras.registry import namespaces as _namespaces
from tapeflow.keras.registry import resolve as _resolve
from tapeflow.keras.registry import to_config as _to_config

Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Convolution1DTranspose = Conv2DTranspose, Conv1DTranspose
Convolution3DTranspose = Conv3DTranspose
Deconvolution2D, Deconvolution3D = Conv2DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = (
    GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D,
)  # fmt: skip
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = (
    GlobalAveragePooling1D, GlobalAveragePooling2D, GlobalAveragePooling3D,
)  # fmt: skip


# Layers that few programs use, loaded when they are first used, with the modules that hold them.
_LATE = {"DenseFeatures": "tapeflow.keras.layers.dense_features"}
# Layers that are not in this namespace, but configs name them.
_ELSEWHERE = {
    **dict.fromkeys(("LayerScale", "StochasticDepth"), "tapeflow.keras.applications.convnext_blocks"),
    "RandomFourierFeatures": "tapeflow.keras.layers.experimental.fourier_features",
}
# Names that configs of 1.x and 2.0 have.
_VERSIONED = ("BatchNormalization", "LSTM", "GRU", "LSTMCell", "GRUCell")


def __getattr__(name: str):
    if name not in _LATE:
        raise AttributeError(f"module 'tapeflow.keras.layers' has no attribute {name!r}")
    found = globals()[name] = getattr(_importlib.import_module(_LATE[name]), name)
    return found


@_leaves_out("use_legacy_format")
def serialize(layer: Layer):
    """The config of a layer."""
    return _to_config(layer)


@_leaves_out("use_legacy_format")
def deserialize(config, custom_objects=None):
    """Make a layer of its config.

    Args:
      config: what `serialize` gave.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The layer, with new weights.
    """
    name = config.get("class_name") if isinstance(config, dict) else config
    found = _named(name) if isinstance(name, str) else None
    return _resolve(config, _names() if found is None else {name: found}, "layer", custom_objects)


def _named(name: str):
    """The class of layers or models that a config means by a name, or None."""
    if name in _ELSEWHERE:
        return getattr(_importlib.import_module(_ELSEWHERE[name]), name)
    return __getattr__(name) if name in _LATE else _names().get(name)


@_functools.cache
def _names():
    public = {name: value for name, value in globals().items() if not name.startswith("_")}
    found = {name: value for name, value in public.items() if isinstance(value, type) and issubclass(value, Layer)}
    found |= {name: _namespaces["keras"].named(name) for name in ("Model", "Functional", "Sequential")}
    found |= {"TFOpLambda": _TFOpLambda, "SlicingOpLambda": _SlicingOpLambda}
    found |= {"AddLoss": _AddLoss, "AddMetric": _AddMetric}
    return found | {f"{name}V{n}": found[name] for name in _VERSIONED for n in (1, 2)}


_OWN = {name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _ModuleType)}
__all__ = sorted({*_OWN, *_LATE} - {"annotations"})

_boundaries(globals())
