"""Servers of a cluster."""

TABLE = """
TaskDeviceFilters
    device_filters 1 string*

JobDeviceFilters
    name 1 string
    tasks 2 map<int32,TaskDeviceFilters>

ClusterDeviceFilters
    jobs 1 JobDeviceFilters*

ServerDef
    cluster 1 ClusterDef
    job_name 2 string
    replica 8 int32
    task_index 3 int32
    default_session_config 4 ConfigProto
    protocol 5 string
    port 6 int32
    cluster_device_filters 7 ClusterDeviceFilters
"""
