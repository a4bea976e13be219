"""`tf.contrib.learn`: the modes of a model, the digits, and the preparation of texts."""

from tapeflow.contrib.learn import datasets, preprocessing

__all__ = ["ModeKeys", "datasets", "preprocessing"]


class ModeKeys:
    """What a model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"
