"""tf.audio: sound files."""

from tapeflow.ops.signal.audio import decode_wav, encode_wav

__all__ = ["decode_wav", "encode_wav"]
