"""The functions that configs of Keras 3 look for in its module `math`; programs find them in `keras.ops`."""

from tapeflow.keras.ops.core import segment_max as segment_max
from tapeflow.keras.ops.core import segment_min as segment_min
from tapeflow.keras.ops.core import segment_prod as segment_prod
from tapeflow.keras.ops.core import segment_sum as segment_sum
from tapeflow.keras.ops.elementwise import erf as erf
from tapeflow.keras.ops.elementwise import erfc as erfc
from tapeflow.keras.ops.elementwise import erfinv as erfinv
from tapeflow.keras.ops.elementwise import rsqrt as rsqrt
from tapeflow.keras.ops.layout import view_as_complex as view_as_complex
from tapeflow.keras.ops.layout import view_as_real as view_as_real
from tapeflow.keras.ops.linear_algebra import logdet as logdet
from tapeflow.keras.ops.matrices import cdist as cdist
from tapeflow.keras.ops.network import in_top_k as in_top_k
from tapeflow.keras.ops.order import top_k as top_k
from tapeflow.keras.ops.reductions import logsumexp as logsumexp
from tapeflow.keras.ops.signal import *  # noqa: F403
