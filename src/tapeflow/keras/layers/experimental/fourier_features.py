"""`RandomFourierFeatures`: a layer whose products approximate a kernel of its inputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import initializers
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.trigonometric import cos

_KERNELS = ("gaussian", "laplacian")


class _Laplacian(initializers.Initializer):
    """Draws from the Cauchy distribution, the Fourier transform of the Laplacian kernel."""

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        uniform = initializers.RandomUniform(1e-7, 1 - 1e-7)(shape, dtype="float64")
        return convert_to_tensor(np.tan(math.pi * (np.asarray(uniform) - 0.5)), dtype)


class RandomFourierFeatures(Layer):
    """Features cos(inputs W / scale + b) with random W and b, whose dot products approximate a kernel.

    A linear model on them approximates a kernel machine (Rahimi and Recht, "Random Features for Large-Scale Kernel
    Machines", 2007).

    Input shape: `(batch, input_dim)`.
    Output shape: `(batch, output_dim)`.

    Args:
      output_dim: the number of features, above 0.
      kernel_initializer: "gaussian" for the kernel exp(-|x - y|^2 / (2 scale^2)), "laplacian" for
        exp(-|x - y| / scale), or an initializer of W.
      scale: the width of the kernel, above 0; None for that of the initializer: sqrt(input_dim / 2) for "gaussian",
        1 for others.
      trainable: whether `scale` is trained.
      name: of the layer.
      **kwargs: `dtype` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for an `output_dim` or a `scale` that is not above 0, an unknown kernel, and inputs of another rank
        than 2.
    """

    def __init__(
        self, output_dim: int, kernel_initializer: Any = "gaussian", scale: float | None = None,
        trainable: bool = False, name: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        if output_dim <= 0:
            raise ValueError(f"`output_dim` should be a positive integer. Received: {output_dim}")
        if isinstance(kernel_initializer, str) and kernel_initializer.lower() not in _KERNELS:
            raise ValueError(
                f"Unsupported `kernel_initializer`: {kernel_initializer} Expected one of: {list(_KERNELS)}"
            )
        if scale is not None and scale <= 0:
            raise ValueError(f"When provided, `scale` should be a positive float. Received: {scale}")
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.output_dim, self.kernel_initializer, self.scale = output_dim, kernel_initializer, scale

    def _initializer(self) -> Any:
        if not isinstance(self.kernel_initializer, str):
            return self.kernel_initializer
        gaussian = self.kernel_initializer.lower() == "gaussian"
        return initializers.RandomNormal(stddev=1.0) if gaussian else _Laplacian()

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if shape.rank != 2:
            raise ValueError(f"The rank of the input tensor should be 2. Received input with rank {shape.rank}.")
        if shape[-1] is None:
            raise ValueError(
                "The last dimension of the input tensor should be defined. Found `None`. Full input shape received: "
                f"input_shape={input_shape}"
            )
        width = int(shape[-1])
        self.unscaled_kernel = self.add_weight(
            name="unscaled_kernel", shape=(width, self.output_dim), dtype="float32", initializer=self._initializer(),
            trainable=False,
        )  # fmt: skip
        self.bias = self.add_weight(
            name="bias", shape=(self.output_dim,), dtype="float32",
            initializer=initializers.RandomUniform(0.0, 2 * math.pi), trainable=False,
        )  # fmt: skip
        scale = self.scale
        if scale is None:
            gaussian = isinstance(self.kernel_initializer, str) and self.kernel_initializer.lower() == "gaussian"
            scale = math.sqrt(width / 2.0) if gaussian else 1.0
        self.kernel_scale = self.add_weight(
            name="kernel_scale", shape=(1,), dtype="float32", initializer=initializers.Constant(scale),
            trainable=True, constraint="NonNeg",
        )  # fmt: skip
        super().build(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        inputs = convert_to_tensor(inputs, self.compute_dtype)
        kernel = (1.0 / self.kernel_scale) * self.unscaled_kernel
        return cos(matmul(inputs, kernel) + self.bias)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape)
        if shape.rank is not None and shape.rank != 2:
            raise ValueError(f"The rank of the input tensor should be 2. Received input with rank {shape.rank}.")
        return TensorShape([None if shape.rank is None else shape[0], self.output_dim])

    def get_config(self) -> dict[str, Any]:
        own = self.kernel_initializer
        return {
            **super().get_config(),
            "output_dim": self.output_dim,
            "kernel_initializer": own if isinstance(own, str) else initializers.serialize(own),
            "scale": self.scale,
        }
