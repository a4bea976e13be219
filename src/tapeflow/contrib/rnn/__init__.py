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
from tapeflow.contrib.rnn.block_cells import GRUBlockCell, GRUBlockCellV2, LSTMBlockCell
from tapeflow.contrib.rnn.cells import (
    CFNCell,
    IndRNNCell,
    IndyGRUCell,
    IndyLSTMCell,
    IntersectionRNNCell,
    MinimalRNNCell,
    SRUCell,
    UGRNNCell,
)
from tapeflow.contrib.rnn.convolutional import (
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
)
from tapeflow.contrib.rnn.grid import BidirectionalGridLSTMCell, GridLSTMCell, TimeFreqLSTMCell
from tapeflow.contrib.rnn.loops import (
    FusedRNNCell,
    FusedRNNCellAdaptor,
    LSTMBlockFusedCell,
    TimeReversedFusedRNN,
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
    transpose_batch_time,
)
from tapeflow.contrib.rnn.lstm_cells import (
    CoupledInputForgetGateLSTMCell,
    GLSTMCell,
    LayerNormBasicLSTMCell,
    LayerNormLSTMCell,
    NASCell,
    PhasedLSTMCell,
    WeightNormLSTMCell,
)
from tapeflow.contrib.rnn.wrappers import (
    AttentionCellWrapper,
    CompiledWrapper,
    EmbeddingWrapper,
    HighwayWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from tapeflow.v1.rnn.base import LayerRNNCell
from tapeflow.v1.rnn.static import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
