"""The messages of boosted trees."""

from tapeflow.contrib.boosted_trees.proto import learner_pb2

__all__ = ["learner_pb2"]
