"""tf.contrib.ffmpeg: WAV files, and what the program ffmpeg is asked for and gives."""

import io
import stat
import sys
import wave

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

from .contrib_values import BOTH, value

ffmpeg = tf.contrib.ffmpeg
SOUND = np.array([[0.0, 0.5], [-1.0, 0.25], [1.0, -0.125]], "f")
# Decodes WAV files as they are, and refuses others.
PROGRAM = """#!{python}
import sys, wave
words = sys.argv[1:]
assert words[words.index("-ac:a:0") + 1] == "2" and words[words.index("-ar:a:0") + 1] == "8000"
try:
    file = wave.open(words[words.index("-i") + 1])
except wave.Error:
    sys.exit("unknown data")
sys.stdout.buffer.write(file.readframes(file.getnframes()))
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    path = tmp_path / "ffmpeg"
    path.write_text(PROGRAM.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(tmp_path))


@BOTH
def test_wav_files(how):
    data = value(how, lambda: ffmpeg.encode_audio(SOUND, "wav", 8000))
    with wave.open(io.BytesIO(data)) as file:
        assert file.getparams()[:4] == (2, 2, 8000, 3)
        samples = np.frombuffer(file.readframes(3), "<i2").reshape(3, 2)
    np.testing.assert_array_equal(samples, [[0, 16384], [-32768, 8192], [32767, -4096]])


@BOTH
@pytest.mark.usefixtures("program")
def test_decoded_sound(how):
    data = value(how, lambda: ffmpeg.encode_audio(SOUND, "wav", 8000))
    found = value(how, lambda: ffmpeg.decode_audio(data, "WAV", 8000, 2))
    np.testing.assert_allclose(found, SOUND, atol=1 / (1 << 15))


@pytest.mark.usefixtures("program")
def test_what_is_no_sound():
    assert ffmpeg.decode_audio(b"nothing", "ogg", 8000, 2).shape == (0, 0)


def test_static_shapes():
    with tf.Graph().as_default():
        assert ffmpeg.decode_audio(tf.placeholder(tf.string, []), "mp3", 8000, 2).shape.as_list() == [None, 2]
        assert ffmpeg.encode_audio(SOUND, "wav", 8000).shape == ()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("flac", 8000, 2), "file_format must be one of"),
        (("mp3", 0, 2), "samples_per_second must be positive"),
        (("mp3", 8000, 0), "channel_count must be positive"),
    ],
)
def test_bad_input(words, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        ffmpeg.decode_audio(b"", *words)


@pytest.mark.parametrize(
    ("sound", "words", "message"),
    [
        (SOUND, ("mp3", 8000), "file_format must be \"wav\""),
        (SOUND, ("wav", 0), "samples_per_second must be positive"),
        (SOUND[0], ("wav", 8000), "rank-2 tensor"),
    ],
)  # fmt: skip
def test_bad_sound(sound, words, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        ffmpeg.encode_audio(sound, *words)


def test_the_program_is_needed(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tf.errors.UnavailableError, match="FFmpeg must be installed"):
        ffmpeg.decode_audio(b"", "mp3", 8000, 2)
