"""Convolutions."""

from __future__ import annotations

from tapeflow.keras.layers.convolution_base import Convolution
from tapeflow.keras.layers.low_rank import AdaptableWeight, LowRank


class _Plain(LowRank, Convolution):
    kernel = AdaptableWeight()
    _counts_once = False  # as in Keras, unlike with other layers

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        groups=1,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        rank, alpha = kwargs.pop("lora_rank", None), kwargs.pop("lora_alpha", None)
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set_low_rank(rank, alpha)
        self._configure(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            groups,
            activation,
            use_bias,
            {
                "kernel_initializer": kernel_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "kernel_constraint": kernel_constraint,
                "bias_constraint": bias_constraint,
            },
        )

    def build(self, input_shape):
        super().build(input_shape)
        self._build_low_rank()

    def convolution_op(self, inputs, kernel):
        """The convolution of inputs, with channels last, by a kernel."""
        own, self.__dict__["kernel"] = self.__dict__.get("kernel"), kernel
        try:
            return self._convolve(inputs)
        finally:
            if own is None:
                del self.__dict__["kernel"]
            else:
                self.__dict__["kernel"] = own

    def get_config(self):
        return {**super().get_config(), **self._low_rank_config()}


class Conv1D(_Plain):
    """Convolution of (batch, steps, channels)."""

    rank = 1
    _causal = True


class Conv2D(_Plain):
    """Convolution of images."""


class Conv3D(_Plain):
    """Convolution of volumes."""

    rank = 3
