"""`keras.ops.linalg`: products, factors, norms and equations of matrices."""

from tapeflow.keras.ops.control import jvp as jvp
from tapeflow.keras.ops.linear_algebra import *  # noqa: F403
from tapeflow.keras.ops.matrices import *  # noqa: F403
