"""The checksums and frames of TFRecord files."""

import random

import pytest

from tapeflow import _native


def test_known_checksums():
    assert _native.crc32c(b"") == 0
    assert _native.crc32c(b"123456789") == 0xE3069283
    assert _native.crc32c(bytes(32)) == 0x8A9136AA
    assert _native.crc32c(b"\xff" * 32) == 0x62A8AB43


def test_checksums_go_on():
    data = random.Random(0).randbytes(200_001)
    for cut in (0, 1, 7, 8, 9, 100_000, len(data)):
        assert _native.crc32c(data[cut:], _native.crc32c(data[:cut])) == _native.crc32c(data)
    assert _native.crc32c(memoryview(data)[3:]) == _native.crc32c(data[3:])


def test_frames_are_split():
    records = [b"", b"a", b"hello" * 1000]
    data = b"".join(_native.frame_record(record) for record in records)
    assert _native.split_records(data) == (records, len(data), 0, 12)
    found, end, outcome, wanted = _native.split_records(data[:-1])
    assert (found, end, outcome, wanted) == (records[:2], 33, 0, 5016)
    assert _native.split_records(data, 16)[0] == records[1:]
    with pytest.raises(ValueError, match="not in the buffer"):
        _native.split_records(data, len(data) + 1)
    with pytest.raises(TypeError):
        _native.frame_record("text")


def test_damage_is_found():
    data = _native.frame_record(b"abcdef")
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 16
        records, end, outcome, _ = _native.split_records(damaged)
        assert (records, end, outcome) == ([], 0, 1 if at < 12 else 2)


def test_lengths_that_would_wrap():
    chance = random.Random(1)
    for length in (2**64 - 1, 2**64 - 16, 2**63, 2**63 - 1, chance.randrange(2**40, 2**64)):
        head = length.to_bytes(8, "little")
        crc = _native.crc32c(head)
        masked = (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
        found = _native.split_records(head + masked.to_bytes(4, "little") + b"x" * 64)
        assert found[:3] == ([], 0, 0)
        assert found[3] > 64
