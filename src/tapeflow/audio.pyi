# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.signal.audio import decode_wav as decode_wav
from tapeflow.ops.signal.audio import encode_wav as encode_wav
__all__ = [
    "decode_wav",
    "encode_wav",
]
