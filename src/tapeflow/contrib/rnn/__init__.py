"""`tf.contrib.rnn`: cells and loops."""

from tapeflow.compat.v1.rnn_cell import (
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    ResidualWrapper,
    RNNCell,
)
from tapeflow.contrib.rnn.cells import (
    AttentionCellWrapper,
    CoupledInputForgetGateLSTMCell,
    EmbeddingWrapper,
    GRUBlockCell,
    GRUBlockCellV2,
    HighwayWrapper,
    IndRNNCell,
    InputProjectionWrapper,
    LayerNormBasicLSTMCell,
    LSTMBlockCell,
    NASCell,
    OutputProjectionWrapper,
    UGRNNCell,
)
from tapeflow.contrib.rnn.loops import (
    FusedRNNCell,
    FusedRNNCellAdaptor,
    LSTMBlockFusedCell,
    TimeReversedFusedRNN,
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
    transpose_batch_time,
)
from tapeflow.v1.rnn.base import LayerRNNCell
from tapeflow.v1.rnn.loops import (
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
)
