"""`tf.contrib.legacy_seq2seq`: sequences as Python lists of tensors, one for each step; each step is in the graph."""

from tapeflow.contrib.legacy_seq2seq.decoders import (
    attention_decoder,
    embedding_attention_decoder,
    embedding_rnn_decoder,
    rnn_decoder,
)
from tapeflow.contrib.legacy_seq2seq.loss import sequence_loss, sequence_loss_by_example
from tapeflow.contrib.legacy_seq2seq.models import (
    basic_rnn_seq2seq,
    embedding_attention_seq2seq,
    embedding_rnn_seq2seq,
    embedding_tied_rnn_seq2seq,
    model_with_buckets,
    one2many_rnn_seq2seq,
    tied_rnn_seq2seq,
)
