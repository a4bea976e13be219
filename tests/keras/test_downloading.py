"""Files from the net, here from the disk; and the line that shows progress."""

import hashlib
import tarfile

import pytest

import tapeflow as tf


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    return tmp_path


def test_get_file(home, capsys):
    (home / "a.txt").write_text("hello")
    origin = (home / "a.txt").as_uri()
    path = tf.keras.utils.get_file("b.txt", origin)
    assert path == str(home / "home" / "datasets" / "b.txt")
    (home / "a.txt").write_text("changed")
    again = tf.keras.utils.get_file("b.txt", origin)
    with open(again) as file:
        assert file.read() == "hello"
    assert capsys.readouterr().out.count("Downloading") == 1
    with open(tf.keras.utils.get_file("b.txt", origin, force_download=True)) as file:
        assert file.read() == "changed"


def test_get_file_checks_the_hash(home):
    (home / "a.txt").write_text("hello")
    origin = (home / "a.txt").as_uri()
    right = hashlib.sha256(b"hello").hexdigest()
    tf.keras.utils.get_file("a.txt", origin, file_hash=right)
    with pytest.raises(ValueError, match="corrupted"):
        tf.keras.utils.get_file("c.txt", origin, file_hash="0" * 64)
    with pytest.raises(OSError, match="URL fetch failure"):
        tf.keras.utils.get_file("none.txt", (home / "none.txt").as_uri())
    with pytest.raises(ValueError, match="origin"):
        tf.keras.utils.get_file("none.txt")


def test_get_file_unpacks(home):
    (home / "x.txt").write_text("inside")
    with tarfile.open(home / "set.tar.gz", "w:gz") as archive:
        archive.add(home / "x.txt", "set/x.txt")
    folder = tf.keras.utils.get_file("set", (home / "set.tar.gz").as_uri(), untar=True)
    with open(f"{folder}/x.txt") as file:
        assert file.read() == "inside"
    folder = tf.keras.utils.get_file("set.tar.gz", (home / "set.tar.gz").as_uri(), extract=True)
    with open(f"{folder}/set/x.txt") as file:
        assert file.read() == "inside"


def test_progress(capsys):
    bar = tf.keras.utils.Progbar(2, interval=0)
    bar.update(1, [("loss", 1.0)])
    bar.update(2, [("loss", 2.0)])
    shown = capsys.readouterr().out
    assert shown.startswith("\r\x1b[1m1/2\x1b[0m \x1b[32m" + "━" * 10)
    assert "\x1b[1m2/2\x1b[0m" in shown
    assert shown.endswith("\n")
    bar = tf.keras.utils.Progbar(2, verbose=2)
    bar.update(2, [("loss", 0.5)])
    assert capsys.readouterr().out.startswith("2/2 - 0s - ")
