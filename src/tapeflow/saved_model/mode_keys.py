"""What a graph of a model is for."""

from __future__ import annotations


class KerasModeKeys:
    """The names that Keras has for it."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"
