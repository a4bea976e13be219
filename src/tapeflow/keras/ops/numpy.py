"""`keras.ops.numpy`: what NumPy has, by its names."""

from tapeflow.keras.ops.control import vectorize as vectorize
from tapeflow.keras.ops.counting import *  # noqa: F403
from tapeflow.keras.ops.creation import *  # noqa: F403
from tapeflow.keras.ops.diagonals import *  # noqa: F403
from tapeflow.keras.ops.elementwise import *  # noqa: F403
from tapeflow.keras.ops.elementwise_special import *  # noqa: F403
from tapeflow.keras.ops.indexing import *  # noqa: F403
from tapeflow.keras.ops.layout import *  # noqa: F403
from tapeflow.keras.ops.linear_algebra import *  # noqa: F403
from tapeflow.keras.ops.logical import *  # noqa: F403
from tapeflow.keras.ops.matrices import *  # noqa: F403
from tapeflow.keras.ops.nan_reductions import *  # noqa: F403
from tapeflow.keras.ops.order import *  # noqa: F403
from tapeflow.keras.ops.reductions import *  # noqa: F403
from tapeflow.keras.ops.shaping import *  # noqa: F403
from tapeflow.keras.ops.windows import *  # noqa: F403
