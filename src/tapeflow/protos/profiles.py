"""What the profiler of 1.x returns."""

PACKAGE = "tensorflow.tfprof"

TABLE = """
TFProfTensorProto
    dtype 1 DataType
    value_double 2 double*
    value_int64 3 int64*
    value_str 4 string*

GraphNodeProto
    name 1 string
    tensor_value 15 tfprof.TFProfTensorProto
    run_count 21 int64
    exec_micros 2 int64
    accelerator_exec_micros 17 int64
    cpu_exec_micros 18 int64
    requested_bytes 3 int64
    peak_bytes 24 int64
    residual_bytes 25 int64
    output_bytes 26 int64
    parameters 4 int64
    float_ops 13 int64
    devices 10 string*
    total_definition_count 23 int64
    total_run_count 22 int64
    total_exec_micros 6 int64
    total_accelerator_exec_micros 19 int64
    total_cpu_exec_micros 20 int64
    total_requested_bytes 7 int64
    total_peak_bytes 27 int64
    total_residual_bytes 28 int64
    total_output_bytes 29 int64
    total_parameters 8 int64
    total_float_ops 14 int64
    shapes 11 TensorShapeProto*
    input_shapes 16 map<int32,TensorShapeProto>
    children 12 tfprof.GraphNodeProto*

MultiGraphNodeProto
    name 1 string
    exec_micros 2 int64
    accelerator_exec_micros 12 int64
    cpu_exec_micros 13 int64
    requested_bytes 3 int64
    peak_bytes 16 int64
    residual_bytes 17 int64
    output_bytes 18 int64
    parameters 4 int64
    float_ops 5 int64
    total_exec_micros 6 int64
    total_accelerator_exec_micros 14 int64
    total_cpu_exec_micros 15 int64
    total_requested_bytes 7 int64
    total_peak_bytes 19 int64
    total_residual_bytes 20 int64
    total_output_bytes 21 int64
    total_parameters 8 int64
    total_float_ops 9 int64
    graph_nodes 10 tfprof.GraphNodeProto*
    children 11 tfprof.MultiGraphNodeProto*
"""
