"""MetaGraphs and SavedModels."""

TABLE = """
SaverDef
    filename_tensor_name 1 string
    save_tensor_name 2 string
    restore_op_name 3 string
    max_to_keep 4 int32
    sharded 5 bool
    keep_checkpoint_every_n_hours 6 float
    version 7 SaverDef.CheckpointFormatVersion

enum SaverDef.CheckpointFormatVersion
    LEGACY 0
    V1 1
    V2 2

MetaGraphDef
    meta_info_def 1 MetaGraphDef.MetaInfoDef
    graph_def 2 GraphDef
    saver_def 3 SaverDef
    collection_def 4 map<string,CollectionDef>
    signature_def 5 map<string,SignatureDef>
    asset_file_def 6 AssetFileDef*
    object_graph_def 7 SavedObjectGraph

MetaGraphDef.MetaInfoDef
    meta_graph_version 1 string
    stripped_op_list 2 OpList
    any_info 3 google.protobuf.Any
    tags 4 string*
    tensorflow_version 5 string
    tensorflow_git_version 6 string
    stripped_default_attrs 7 bool
    function_aliases 8 map<string,string>

CollectionDef
    node_list 1 CollectionDef.NodeList in kind
    bytes_list 2 CollectionDef.BytesList in kind
    int64_list 3 CollectionDef.Int64List in kind
    float_list 4 CollectionDef.FloatList in kind
    any_list 5 CollectionDef.AnyList in kind

CollectionDef.NodeList
    value 1 string*

CollectionDef.BytesList
    value 1 bytes*

CollectionDef.Int64List
    value 1 int64*

CollectionDef.FloatList
    value 1 float*

CollectionDef.AnyList
    value 1 google.protobuf.Any*

TensorInfo
    name 1 string in encoding
    coo_sparse 4 TensorInfo.CooSparse in encoding
    composite_tensor 5 TensorInfo.CompositeTensor in encoding
    dtype 2 DataType
    tensor_shape 3 TensorShapeProto

TensorInfo.CooSparse
    values_tensor_name 1 string
    indices_tensor_name 2 string
    dense_shape_tensor_name 3 string

TensorInfo.CompositeTensor
    type_spec 1 TypeSpecProto
    components 2 TensorInfo*

SignatureDef
    inputs 1 map<string,TensorInfo>
    outputs 2 map<string,TensorInfo>
    method_name 3 string
    defaults 4 map<string,TensorProto>

AssetFileDef
    tensor_info 1 TensorInfo
    filename 2 string

SavedModel
    saved_model_schema_version 1 int64
    meta_graphs 2 MetaGraphDef*

FingerprintDef
    saved_model_checksum 1 uint64
    graph_def_program_hash 2 uint64
    signature_def_hash 3 uint64
    saved_object_graph_hash 4 uint64
    checkpoint_hash 5 uint64
    uuid 7 string
    version 6 VersionDef

SavedMetadata
    nodes 1 SavedMetadata.SavedObject*

SavedMetadata.SavedObject
    node_id 2 int32
    node_path 3 string
    identifier 4 string
    metadata 5 string
    version 6 VersionDef
"""
