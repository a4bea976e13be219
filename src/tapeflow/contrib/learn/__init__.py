"""`tf.contrib.learn`: the modes of a model and the preparation of texts."""

from tapeflow.contrib.learn import preprocessing

__all__ = ["ModeKeys", "preprocessing"]


class ModeKeys:
    """What a model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"
