"""`tf.contrib.quantize`: graphs that train, and compute, as if weights and activations had few bits.

Ranges are measured while the graph trains; `FakeQuantWithMinMaxVars` rounds to what so many bits can say of them.
"""

from tapeflow.contrib.quantize import (
    common,
    fold_batch_norms,
    graph_matcher,
    input_to_ops,
    quant_ops,
)
from tapeflow.contrib.quantize.quantize_graph import (
    create_eval_graph,
    create_training_graph,
    experimental_create_eval_graph,
    experimental_create_training_graph,
)
from tapeflow.contrib.quantize.rewriting import Quantize

__all__ = [
    "create_eval_graph", "create_training_graph", "experimental_create_eval_graph",
    "experimental_create_training_graph",
]  # fmt: skip
