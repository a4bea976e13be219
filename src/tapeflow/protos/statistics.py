"""What a run reports: steps, costs, memory, devices."""

TABLE = """
AllocationDescription
    requested_bytes 1 int64
    allocated_bytes 2 int64
    allocator_name 3 string
    allocation_id 4 int64
    has_single_reference 5 bool
    ptr 6 uint64

TensorDescription
    dtype 1 DataType
    shape 2 TensorShapeProto
    allocation_description 4 AllocationDescription

AllocationRecord
    alloc_micros 1 int64
    alloc_bytes 2 int64

AllocatorMemoryUsed
    allocator_name 1 string
    total_bytes 2 int64
    peak_bytes 3 int64
    live_bytes 4 int64
    allocation_records 6 AllocationRecord*
    allocator_bytes_in_use 5 int64

NodeOutput
    slot 1 int32
    tensor_description 3 TensorDescription

MemoryStats
    temp_memory_size 1 int64
    persistent_memory_size 3 int64
    persistent_tensor_alloc_ids 5 int64*
    device_temp_memory_size 2 int64
    device_persistent_memory_size 4 int64
    device_persistent_tensor_alloc_ids 6 int64*

NodeExecStats
    node_name 1 string
    all_start_micros 2 int64
    op_start_rel_micros 3 int64
    op_end_rel_micros 4 int64
    all_end_rel_micros 5 int64
    memory 6 AllocatorMemoryUsed*
    output 7 NodeOutput*
    timeline_label 8 string
    scheduled_micros 9 int64
    thread_id 10 uint32
    referenced_tensor 11 AllocationDescription*
    memory_stats 12 MemoryStats
    all_start_nanos 13 int64
    op_start_rel_nanos 14 int64
    op_end_rel_nanos 15 int64
    all_end_rel_nanos 16 int64
    scheduled_nanos 17 int64

DeviceStepStats
    device 1 string
    node_stats 2 NodeExecStats*
    thread_names 3 map<uint32,string>

StepStats
    dev_stats 1 DeviceStepStats*

CostGraphDef
    node 1 CostGraphDef.Node*
    cost 2 CostGraphDef.AggregatedCost*

CostGraphDef.Node
    name 1 string
    device 2 string
    id 3 int32
    input_info 4 CostGraphDef.Node.InputInfo*
    output_info 5 CostGraphDef.Node.OutputInfo*
    temporary_memory_size 6 int64
    persistent_memory_size 12 int64
    host_temp_memory_size 10 int64
    device_temp_memory_size 11 int64
    device_persistent_memory_size 16 int64
    compute_cost 9 int64
    compute_time 14 int64
    memory_time 15 int64
    is_final 7 bool
    control_input 8 int32*
    inaccurate 17 bool

CostGraphDef.Node.InputInfo
    preceding_node 1 int32
    preceding_port 2 int32

CostGraphDef.Node.OutputInfo
    size 1 int64
    alias_input_port 2 int64
    shape 3 TensorShapeProto
    dtype 4 DataType

CostGraphDef.AggregatedCost
    cost 1 float
    dimension 2 string

InterconnectLink
    device_id 1 int32
    type 2 string
    strength 3 int32

LocalLinks
    link 1 InterconnectLink*

DeviceLocality
    bus_id 1 int32
    numa_node 2 int32
    links 3 LocalLinks

DeviceAttributes
    name 1 string
    device_type 2 string
    memory_limit 4 int64
    locality 5 DeviceLocality
    incarnation 6 fixed64
    physical_device_desc 7 string
    xla_global_id 8 int64
"""
