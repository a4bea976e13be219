"""`tf.contrib.ffmpeg`: sound in files, which the program `ffmpeg` decodes."""

from tapeflow.contrib.ffmpeg.audio import decode_audio, encode_audio

__all__ = ["decode_audio", "encode_audio"]
