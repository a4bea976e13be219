"""Sounds: WAV files, spectra and mel-frequency cepstral coefficients, as ops of their names."""

from tapeflow.ops.signal.audio import decode_wav, encode_wav
from tapeflow.ops.signal.audio_features import audio_spectrogram, mfcc

__all__ = ["audio_spectrogram", "decode_wav", "encode_wav", "mfcc"]
