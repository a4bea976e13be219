"""`tf.keras.layers.experimental`: where layers were from TensorFlow 2.1 to 2.12 before they were settled."""

from tapeflow.keras.layers.einsum_dense import EinsumDense
from tapeflow.keras.layers.experimental import preprocessing
from tapeflow.keras.layers.experimental.fourier_features import RandomFourierFeatures
from tapeflow.keras.layers.normalization import BatchNormalization as SyncBatchNormalization

__all__ = ["EinsumDense", "RandomFourierFeatures", "SyncBatchNormalization", "preprocessing"]
