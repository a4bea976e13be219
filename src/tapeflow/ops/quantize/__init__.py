"""Quantization, fake quantization, and arithmetic on quantized numbers."""
