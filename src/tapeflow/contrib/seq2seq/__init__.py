"""`tf.contrib.seq2seq`: decoders, helpers, attention, beam search, and the loss of sequences."""

from tapeflow.contrib.seq2seq.attention import AttentionWrapper, AttentionWrapperState
from tapeflow.contrib.seq2seq.beams import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    gather_tree,
    gather_tree_from_array,
    tile_batch,
)
from tapeflow.contrib.seq2seq.decoding import (
    BasicDecoder,
    BasicDecoderOutput,
    Decoder,
    dynamic_decode,
)
from tapeflow.contrib.seq2seq.helpers import (
    CustomHelper,
    GreedyEmbeddingHelper,
    Helper,
    InferenceHelper,
    SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    TrainingHelper,
)
from tapeflow.contrib.seq2seq.loss import sequence_loss
from tapeflow.contrib.seq2seq.mechanisms import (
    AttentionMechanism,
    BahdanauAttention,
    BahdanauMonotonicAttention,
    LuongAttention,
    LuongMonotonicAttention,
    _BaseAttentionMechanism,
    hardmax,
    monotonic_attention,
    safe_cumprod,
)
