"""`tf.contrib.quantization`: integers of 8 bits for floats, by its first name."""

from tapeflow.quantization import dequantize, quantize, quantized_concat

__all__ = ["dequantize", "quantize_v2", "quantized_concat"]

quantize_v2 = quantize
