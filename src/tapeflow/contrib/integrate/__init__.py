"""`tf.contrib.integrate`: ordinary differential equations."""

from tapeflow.contrib.integrate.adaptive import odeint
from tapeflow.contrib.integrate.fixed import odeint_fixed

__all__ = ["odeint", "odeint_fixed"]
