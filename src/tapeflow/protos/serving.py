"""The messages of TensorFlow Serving: requests, configurations of models, logs of requests, and session bundles."""

PACKAGE = "tensorflow.serving"
STUBS = True  # those of PyPI's tensorflow-serving-api

TABLE = """
Class
    label 1 string
    score 2 float

Classifications
    classes 1 serving.Class*

ClassificationResult
    classifications 1 serving.Classifications*

ClassificationRequest
    model_spec 1 serving.ModelSpec
    input 2 serving.Input

ClassificationResponse
    model_spec 2 serving.ModelSpec
    result 1 serving.ClassificationResult

SignatureDefMap
    signature_def 1 map<string,SignatureDef>

GetModelMetadataRequest
    model_spec 1 serving.ModelSpec
    metadata_field 2 string*

GetModelMetadataResponse
    model_spec 1 serving.ModelSpec
    metadata 2 map<string,google.protobuf.Any>

GetModelStatusRequest
    model_spec 1 serving.ModelSpec

SSLConfig
    server_key 1 string
    server_cert 2 string
    custom_ca 3 string
    client_verify 4 bool

ModelVersionStatus
    version 1 int64
    state 2 serving.ModelVersionStatus.State
    status 3 serving.StatusProto

enum ModelVersionStatus.State
    UNKNOWN 0
    START 10
    LOADING 20
    AVAILABLE 30
    UNLOADING 40
    END 50

GetModelStatusResponse
    model_version_status 1 serving.ModelVersionStatus*

InferenceTask
    model_spec 1 serving.ModelSpec
    method_name 2 string

InferenceResult
    model_spec 1 serving.ModelSpec
    classification_result 2 serving.ClassificationResult in result
    regression_result 3 serving.RegressionResult in result

MultiInferenceRequest
    tasks 1 serving.InferenceTask*
    input 2 serving.Input

MultiInferenceResponse
    results 1 serving.InferenceResult*

ExampleList
    examples 1 Example*

ExampleListWithContext
    examples 1 Example*
    context 2 Example

Input
    example_list 1 serving.ExampleList in kind
    example_list_with_context 2 serving.ExampleListWithContext in kind

LogMetadata
    model_spec 1 serving.ModelSpec
    sampling_config 2 serving.SamplingConfig
    saved_model_tags 3 string*
    timestamp_secs 4 int64
    dc 5 string
    request_origin 6 string
    request_criticality 7 string
    safe_aggregation_privacy_key 8 int64

ReloadConfigRequest
    config 1 serving.ModelServerConfig
    metric_names 2 string*

ReloadConfigResponse
    status 1 serving.StatusProto
    metric 2 serving.Metric*

Metric
    name 1 string
    int64_value_increase 2 int64 in value_increase

ModelSpec
    name 1 string
    version 2 google.protobuf.Int64Value in version_choice
    version_label 4 string in version_choice
    signature_name 3 string

PredictRequest
    model_spec 1 serving.ModelSpec
    inputs 2 map<string,TensorProto>
    output_filter 3 string*
    predict_streamed_options 5 serving.PredictStreamedOptions

PredictStreamedOptions
    request_state 1 serving.PredictStreamedOptions.RequestState
    split_dimensions 2 map<string,int32>
    return_single_response 3 bool

enum PredictStreamedOptions.RequestState
    NONE 0
    SPLIT 1
    END_SPLIT 2
    CANCEL 3

PredictResponse
    model_spec 2 serving.ModelSpec
    outputs 1 map<string,TensorProto>

ClassifyLog
    request 1 serving.ClassificationRequest
    response 2 serving.ClassificationResponse

RegressLog
    request 1 serving.RegressionRequest
    response 2 serving.RegressionResponse

PredictLog
    request 1 serving.PredictRequest
    response 2 serving.PredictResponse

MultiInferenceLog
    request 1 serving.MultiInferenceRequest
    response 2 serving.MultiInferenceResponse

SessionRunLog
    request 1 serving.SessionRunRequest
    response 2 serving.SessionRunResponse

PredictionLog
    log_metadata 1 serving.LogMetadata
    classify_log 2 serving.ClassifyLog in log_type
    regress_log 3 serving.RegressLog in log_type
    predict_log 6 serving.PredictLog in log_type
    multi_inference_log 4 serving.MultiInferenceLog in log_type
    session_run_log 5 serving.SessionRunLog in log_type

Regression
    value 1 float

RegressionResult
    regressions 1 serving.Regression*

RegressionRequest
    model_spec 1 serving.ModelSpec
    input 2 serving.Input

RegressionResponse
    model_spec 2 serving.ModelSpec
    result 1 serving.RegressionResult

SessionRunRequest
    model_spec 1 serving.ModelSpec
    feed 2 NamedTensorProto*
    fetch 3 string*
    target 4 string*
    tensor_name_is_alias 6 bool
    options 5 RunOptions

SessionRunResponse
    model_spec 3 serving.ModelSpec
    tensor 1 NamedTensorProto*
    metadata 2 RunMetadata

StatusProto
    error_code 1 error.Code
    error_message 2 string

FileSystemStoragePathSourceConfig
    servables 5 serving.FileSystemStoragePathSourceConfig.ServableToMonitor*
    file_system_poll_wait_seconds 3 int64
    fail_if_zero_versions_at_startup 4 bool
    servable_versions_always_present 6 bool

FileSystemStoragePathSourceConfig.ServableVersionPolicy
    latest 100 serving.FileSystemStoragePathSourceConfig.ServableVersionPolicy.Latest in policy_choice
    all 101 serving.FileSystemStoragePathSourceConfig.ServableVersionPolicy.All in policy_choice
    specific 102 serving.FileSystemStoragePathSourceConfig.ServableVersionPolicy.Specific in policy_choice

FileSystemStoragePathSourceConfig.ServableVersionPolicy.Latest
    num_versions 1 uint32

FileSystemStoragePathSourceConfig.ServableVersionPolicy.All

FileSystemStoragePathSourceConfig.ServableVersionPolicy.Specific
    versions 1 int64*

FileSystemStoragePathSourceConfig.ServableToMonitor
    servable_name 1 string
    base_path 2 string
    servable_version_policy 4 serving.FileSystemStoragePathSourceConfig.ServableVersionPolicy

LogCollectorConfig
    type 1 string
    filename_prefix 2 string

SamplingConfig
    sampling_rate 1 double
    attributes 2 int32

enum SamplingConfig.Attributes
    ATTR_DEFAULT 0
    ATTR_REQUEST_ORIGIN 1
    ATTR_REQUEST_CRITICALITY 2

LoggingConfig
    log_collector_config 1 serving.LogCollectorConfig
    sampling_config 2 serving.SamplingConfig
    custom_logging_config 3 google.protobuf.Any

ModelConfig
    name 1 string
    base_path 2 string
    model_type 3 serving.ModelType
    model_platform 4 string
    model_version_policy 7 serving.FileSystemStoragePathSourceConfig.ServableVersionPolicy
    version_labels 8 map<string,int64>
    logging_config 6 serving.LoggingConfig

ModelConfigList
    config 1 serving.ModelConfig*

ModelServerConfig
    model_config_list 1 serving.ModelConfigList in config
    custom_model_config 2 google.protobuf.Any in config

enum ModelType
    MODEL_TYPE_UNSPECIFIED 0
    TENSORFLOW 1
    OTHER 2

AssetFile
    tensor_binding 1 serving.TensorBinding
    filename 2 string

ClassificationSignature
    input 1 serving.TensorBinding
    classes 2 serving.TensorBinding
    scores 3 serving.TensorBinding

GenericSignature
    map 1 map<string,serving.TensorBinding>

RegressionSignature
    input 1 serving.TensorBinding
    output 2 serving.TensorBinding

Signature
    regression_signature 1 serving.RegressionSignature in type
    classification_signature 2 serving.ClassificationSignature in type
    generic_signature 3 serving.GenericSignature in type

Signatures
    default_signature 1 serving.Signature
    named_signatures 2 map<string,serving.Signature>

TensorBinding
    tensor_name 1 string
"""
