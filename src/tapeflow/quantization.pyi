# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
from tapeflow.ops.quantize.fake_quant_functions import fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
from tapeflow.ops.quantize.functions import dequantize as dequantize
from tapeflow.ops.quantize.functions import quantize as quantize
from tapeflow.ops.quantize.functions import quantized_concat as quantized_concat
from tapeflow.ops.quantize.quantize_and_dequantize import quantize_and_dequantize as quantize_and_dequantize
from tapeflow.ops.quantize.quantize_and_dequantize import quantize_and_dequantize_v2 as quantize_and_dequantize_v2
__all__ = [
    "dequantize",
    "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
    "quantize",
    "quantize_and_dequantize",
    "quantize_and_dequantize_v2",
    "quantized_concat",
]
