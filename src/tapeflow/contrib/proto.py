"""`tf.contrib.proto`: messages of protocol buffers as tensors."""

from tapeflow.io import decode_proto, encode_proto

__all__ = ["decode_proto", "encode_proto"]
