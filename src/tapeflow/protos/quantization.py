"""Attrs of ops on uniformly quantized numbers."""

TABLE = """
UniformQuantizedConvolutionDimensionNumbersAttr
    input_batch_dimension 1 int64
    input_feature_dimension 2 int64
    input_spatial_dimensions 3 int64*
    kernel_input_feature_dimension 4 int64
    kernel_output_feature_dimension 5 int64
    kernel_spatial_dimensions 6 int64*
    output_batch_dimension 7 int64
    output_feature_dimension 8 int64
    output_spatial_dimensions 9 int64*
"""
