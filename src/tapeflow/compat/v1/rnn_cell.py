"""`tf.nn.rnn_cell` of 1.x."""

from tapeflow.v1.rnn import *  # noqa: F403
from tapeflow.v1.rnn import __all__  # noqa: F401
