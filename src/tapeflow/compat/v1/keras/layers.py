"""`tf.compat.v1.keras.layers`: the layers of Keras; some have the defaults of 1.x."""

from __future__ import annotations

from typing import Any

from tapeflow.keras import layers as _layers


class BatchNormalization(_layers.BatchNormalization):
    """As in 2.x, but a layer that is not trainable still uses the batch's statistics while training."""

    _frozen_is_at_rest = False


class GRUCell(_layers.GRUCell):
    """As in 2.x, with the gates and the order of the reset that were usual in 1.x."""

    def __init__(self, units: int, activation: str = "tanh", recurrent_activation: str = "hard_sigmoid", **kwargs):
        kwargs.setdefault("reset_after", False)
        super().__init__(units, activation, recurrent_activation, **kwargs)


class GRU(_layers.GRU):
    """As in 2.x, with the gates and the order of the reset that were usual in 1.x."""

    def __init__(self, units: int, activation: str = "tanh", recurrent_activation: str = "hard_sigmoid", **kwargs):
        kwargs.setdefault("reset_after", False)
        super().__init__(units, activation, recurrent_activation, **kwargs)


class LSTMCell(_layers.LSTMCell):
    """As in 2.x, with the gates that were usual in 1.x."""

    def __init__(self, units: int, activation: str = "tanh", recurrent_activation: str = "hard_sigmoid", **kwargs):
        super().__init__(units, activation, recurrent_activation, **kwargs)


class LSTM(_layers.LSTM):
    """As in 2.x, with the gates that were usual in 1.x."""

    def __init__(self, units: int, activation: str = "tanh", recurrent_activation: str = "hard_sigmoid", **kwargs):
        super().__init__(units, activation, recurrent_activation, **kwargs)


def __getattr__(name: str) -> Any:
    if name == "DenseFeatures":
        from tapeflow.v1.feature_column.layer import DenseFeatures

        return DenseFeatures
    return getattr(_layers, name)


def __dir__() -> list[str]:
    return sorted({*dir(_layers), *globals()})
