"""What event files hold."""

TABLE = """
HistogramProto
    min 1 double
    max 2 double
    num 3 double
    sum 4 double
    sum_squares 5 double
    bucket_limit 6 double*
    bucket 7 double*

enum DataClass
    DATA_CLASS_UNKNOWN 0
    DATA_CLASS_SCALAR 1
    DATA_CLASS_TENSOR 2
    DATA_CLASS_BLOB_SEQUENCE 3

SummaryDescription
    type_hint 1 string

SummaryMetadata
    plugin_data 1 SummaryMetadata.PluginData
    display_name 2 string
    summary_description 3 string
    data_class 4 DataClass

SummaryMetadata.PluginData
    plugin_name 1 string
    content 2 bytes

Summary
    value 1 Summary.Value*

Summary.Image
    height 1 int32
    width 2 int32
    colorspace 3 int32
    encoded_image_string 4 bytes

Summary.Audio
    sample_rate 1 float
    num_channels 2 int64
    length_frames 3 int64
    encoded_audio_string 4 bytes
    content_type 5 string

Summary.Value
    node_name 7 string
    tag 1 string
    metadata 9 SummaryMetadata
    simple_value 2 float in value
    obsolete_old_style_histogram 3 bytes in value
    image 4 Summary.Image in value
    histo 5 HistogramProto in value
    audio 6 Summary.Audio in value
    tensor 8 TensorProto in value

enum WorkerHealth
    OK 0
    RECEIVED_SHUTDOWN_SIGNAL 1
    INTERNAL_ERROR 2
    SHUTTING_DOWN 3

enum WorkerShutdownMode
    DEFAULT 0
    NOT_CONFIGURED 1
    WAIT_FOR_COORDINATOR 2
    SHUTDOWN_AFTER_TIMEOUT 3

Event
    wall_time 1 double
    step 2 int64
    file_version 3 string in what
    graph_def 4 bytes in what
    summary 5 Summary in what
    log_message 6 LogMessage in what
    session_log 7 SessionLog in what
    tagged_run_metadata 8 TaggedRunMetadata in what
    meta_graph_def 9 bytes in what
    source_metadata 10 SourceMetadata

SourceMetadata
    writer 1 string

LogMessage
    level 1 LogMessage.Level
    message 2 string

enum LogMessage.Level
    UNKNOWN 0
    DEBUGGING 10
    INFO 20
    WARN 30
    ERROR 40
    FATAL 50

SessionLog
    status 1 SessionLog.SessionStatus
    checkpoint_path 2 string
    msg 3 string

enum SessionLog.SessionStatus
    STATUS_UNSPECIFIED 0
    START 1
    STOP 2
    CHECKPOINT 3

TaggedRunMetadata
    tag 1 string
    run_metadata 2 bytes

WatchdogConfig
    timeout_ms 1 int64

RequestedExitCode
    exit_code 1 int32

WorkerHeartbeatRequest
    shutdown_mode 1 WorkerShutdownMode
    watchdog_config 2 WatchdogConfig
    exit_code 3 RequestedExitCode

WorkerHeartbeatResponse
    health_status 1 WorkerHealth
    worker_log 2 Event*
    hostname 3 string
"""
