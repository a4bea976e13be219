"""tf.autodiff: automatic differentiation, by tapes and by functions that are made of them."""

from tapeflow.autodiff.forward import ForwardAccumulator
from tapeflow.autodiff.tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
