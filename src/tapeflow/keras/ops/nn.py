"""`keras.ops.nn`: what networks are made of: activations, convolutions, attention, normalization, losses."""

from tapeflow.keras.ops.convolution import *  # noqa: F403
from tapeflow.keras.ops.creation import multi_hot as multi_hot
from tapeflow.keras.ops.creation import one_hot as one_hot
from tapeflow.keras.ops.network import *  # noqa: F403
from tapeflow.keras.ops.sequences import *  # noqa: F403
