"""`tf.contrib.input_pipeline`: the strings of a list, one a run."""

from tapeflow.contrib.input_pipeline import input_pipeline_ops
from tapeflow.contrib.input_pipeline.input_pipeline_ops import obtain_next

__all__ = ["input_pipeline_ops", "obtain_next"]
