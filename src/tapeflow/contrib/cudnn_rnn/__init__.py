"""`tf.contrib.cudnn_rnn`: stacks of recurrent layers with one vector of parameters, and cells of the same formulas."""

from tapeflow.contrib.cudnn_rnn.cells import CudnnCompatibleGRUCell, CudnnCompatibleLSTMCell
from tapeflow.contrib.cudnn_rnn.layers import CudnnGRU, CudnnLSTM, CudnnRNNRelu, CudnnRNNTanh
