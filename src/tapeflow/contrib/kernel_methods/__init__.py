"""`tf.contrib.kernel_methods`: linear models over random features that approximate a kernel."""

from tapeflow.contrib.kernel_methods import dense_kernel_mapper, random_fourier_features
from tapeflow.contrib.kernel_methods.kernel_estimators import KernelLinearClassifier
from tapeflow.contrib.kernel_methods.losses import sparse_multiclass_hinge_loss
from tapeflow.contrib.kernel_methods.random_fourier_features import RandomFourierFeatureMapper

__all__ = ["KernelLinearClassifier", "RandomFourierFeatureMapper", "sparse_multiclass_hinge_loss"]
