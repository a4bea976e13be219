"""`tf.contrib.distributions.bijectors`: invertible functions with the logarithms of their Jacobian determinants.

Here is what maps tensors to tensors and back; what has samples and probabilities is a distribution.
"""

from tapeflow.contrib.distributions.bijectors.affine import (
    Affine,
    AffineLinearOperator,
    AffineScalar,
)
from tapeflow.contrib.distributions.bijectors.base import Bijector, ConditionalBijector
from tapeflow.contrib.distributions.bijectors.batch_normalization import BatchNormalization
from tapeflow.contrib.distributions.bijectors.composed import Chain, Inline, Invert
from tapeflow.contrib.distributions.bijectors.distribution_functions import (
    Gumbel,
    Kumaraswamy,
    Weibull,
)
from tapeflow.contrib.distributions.bijectors.elementwise import (
    AbsoluteValue,
    Exp,
    Identity,
    PowerTransform,
    Sigmoid,
    SinhArcsinh,
    Softplus,
    Softsign,
    Square,
)
from tapeflow.contrib.distributions.bijectors.flows import (
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
)
from tapeflow.contrib.distributions.bijectors.matrices import (
    CholeskyOuterProduct,
    FillTriangular,
    MatrixInverseTriL,
    ScaleTriL,
    TransformDiagonal,
)
from tapeflow.contrib.distributions.bijectors.shapes import Reshape
from tapeflow.contrib.distributions.bijectors.vectors import Ordered, Permute, SoftmaxCentered

__all__ = [
    "AbsoluteValue", "Affine", "AffineLinearOperator", "AffineScalar", "BatchNormalization", "Bijector", "Chain",
    "CholeskyOuterProduct", "ConditionalBijector", "Exp", "FillTriangular", "Gumbel", "Identity", "Inline", "Invert",
    "Kumaraswamy", "MaskedAutoregressiveFlow", "MatrixInverseTriL", "Ordered", "Permute", "PowerTransform", "RealNVP",
    "Reshape", "ScaleTriL", "Sigmoid", "SinhArcsinh", "SoftmaxCentered", "Softplus", "Softsign", "Square",
    "TransformDiagonal", "Weibull", "masked_autoregressive_default_template", "masked_dense",
    "real_nvp_default_template",
]  # fmt: skip
