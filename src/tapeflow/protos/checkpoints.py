"""Checkpoints: tensor bundles, and the files of slices before them."""

TABLE = """
BundleHeaderProto
    num_shards 1 int32
    endianness 2 BundleHeaderProto.Endianness
    version 3 VersionDef

enum BundleHeaderProto.Endianness
    LITTLE 0
    BIG 1

BundleEntryProto
    dtype 1 DataType
    shape 2 TensorShapeProto
    shard_id 3 int32
    offset 4 int64
    size 5 int64
    crc32c 6 fixed32
    slices 7 TensorSliceProto*

SavedSliceMeta
    name 1 string
    shape 2 TensorShapeProto
    type 3 DataType
    slice 4 TensorSliceProto*

SavedTensorSliceMeta
    tensor 1 SavedSliceMeta*
    versions 2 VersionDef

SavedSlice
    name 1 string
    slice 2 TensorSliceProto
    data 3 TensorProto

SavedTensorSlices
    meta 1 SavedTensorSliceMeta
    data 2 SavedSlice
"""
