"""The topology of a system of TPUs."""

PACKAGE = "tensorflow.tpu"

TABLE = """
TPUHardwareFeature
    embedding_feature 1 tpu.TPUHardwareFeature.EmbeddingFeature
    num_embedding_devices_per_chip 2 int32

enum TPUHardwareFeature.EmbeddingFeature
    UNSUPPORTED 0
    V1 1
    V2 2

TopologyProto
    mesh_shape 1 int32*
    num_tasks 2 int32
    num_tpu_devices_per_task 3 int32
    device_coordinates 4 int32*
    tpu_hardware_feature 5 tpu.TPUHardwareFeature
"""
