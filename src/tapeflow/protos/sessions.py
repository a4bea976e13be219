"""What clients, masters and workers of a cluster ask of each other."""

TABLE = """
CreateSessionRequest
    graph_def 1 GraphDef
    config 2 ConfigProto
    target 3 string

CreateSessionResponse
    session_handle 1 string
    graph_version 2 int64

ExtendSessionRequest
    session_handle 1 string
    graph_def 2 GraphDef
    current_graph_version 3 int64

ExtendSessionResponse
    new_graph_version 4 int64

RunStepRequest
    session_handle 1 string
    feed 2 NamedTensorProto*
    fetch 3 string*
    target 4 string*
    options 5 RunOptions
    partial_run_handle 6 string
    store_errors_in_response_body 7 bool
    request_id 8 int64

RunStepResponse
    tensor 1 NamedTensorProto*
    metadata 2 RunMetadata
    status_code 3 error.Code
    status_error_message 4 string

CloseSessionRequest
    session_handle 1 string

CloseSessionResponse

ResetRequest
    container 1 string*
    device_filters 2 string*

ResetResponse

ListDevicesRequest
    session_handle 1 string

ListDevicesResponse
    local_device 1 DeviceAttributes*
    remote_device 2 DeviceAttributes*

MakeCallableRequest
    session_handle 1 string
    options 2 CallableOptions
    request_id 3 int64

MakeCallableResponse
    handle 1 int64

RunCallableRequest
    session_handle 1 string
    handle 2 int64
    feed 3 TensorProto*
    request_id 4 int64

RunCallableResponse
    fetch 1 TensorProto*
    metadata 2 RunMetadata

ReleaseCallableRequest
    session_handle 1 string
    handle 2 int64

ReleaseCallableResponse

GetStatusRequest

GetStatusResponse
    device_attributes 1 DeviceAttributes*

CreateWorkerSessionRequest
    session_handle 1 string
    server_def 2 ServerDef
    isolate_session_state 3 bool
    cluster_device_attributes 4 DeviceAttributes*

CreateWorkerSessionResponse

DeleteWorkerSessionRequest
    session_handle 1 string

DeleteWorkerSessionResponse

RegisterGraphRequest
    session_handle 1 string
    create_worker_session_called 6 bool
    graph_def 2 GraphDef
    graph_options 4 GraphOptions
    debug_options 5 DebugOptions
    collective_graph_key 7 int64

RegisterGraphResponse
    graph_handle 1 string

DeregisterGraphRequest
    session_handle 2 string
    create_worker_session_called 3 bool
    graph_handle 1 string

DeregisterGraphResponse

CleanupAllRequest
    container 1 string*

CleanupAllResponse

ExecutorOpts
    record_costs 1 bool
    record_timeline 3 bool
    record_partition_graphs 4 bool
    report_tensor_allocations_upon_oom 5 bool

RunGraphRequest
    session_handle 8 string
    create_worker_session_called 10 bool
    graph_handle 1 string
    step_id 2 int64
    exec_opts 5 ExecutorOpts
    send 3 NamedTensorProto*
    recv_key 4 string*
    is_partial 6 bool
    is_last_partial_run 7 bool
    store_errors_in_response_body 9 bool
    request_id 11 int64

RunGraphResponse
    recv 1 NamedTensorProto*
    step_stats 2 StepStats
    cost_graph 3 CostGraphDef
    partition_graph 4 GraphDef*
    status_code 5 error.Code
    status_error_message 6 string

CleanupGraphRequest
    step_id 1 int64

CleanupGraphResponse

RecvTensorRequest
    step_id 1 int64
    rendezvous_key 2 string
    dma_ok 3 bool
    client_locality 4 DeviceLocality
    server_locality 5 DeviceLocality
    transport_options 6 google.protobuf.Any
    request_id 7 int64

RecvTensorResponse
    tensor 1 TensorProto
    is_dead 2 bool
    send_start_micros 3 int64
    transport_options 4 google.protobuf.Any
    require_ack 5 bool
"""
