"""Files that replace others: links, permissions, names, and what is left after an error."""

import os
import stat

import pytest
from effects import confined

import tapeflow as tf
from tapeflow import safetensors
from tapeflow.core.files.whole_files import new_file, replace_file, replacing, temporary_name

pytest.importorskip("h5py")


def _keras(path):
    tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)]).save(path)


def _safetensors(path):
    safetensors.save_file({"a": tf.ones([2])}, path)


# Functions of the public API that write one file.
WRITERS = {
    "keras": (_keras, "m.keras"),
    "h5": (_keras, "m.h5"),
    "safetensors": (_safetensors, "m.safetensors"),
    "graph": (lambda path: tf.io.write_graph(tf.Graph(), os.path.dirname(path), os.path.basename(path)), "g.pbtxt"),
    "bytes": (lambda path: replace_file(path, b"new"), "bytes"),
}


@pytest.fixture(params=WRITERS)
def writer(request):
    return WRITERS[request.param]


def test_the_target_of_a_link_is_replaced(tmp_path, writer):
    write, name = writer
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "file", tmp_path / name
    target.write_bytes(b"old")
    link.symlink_to(target)
    write(str(link))
    assert link.is_symlink()
    assert target.read_bytes() not in (b"old", b"")
    assert os.listdir(tmp_path / "real") == ["file"]
    assert sorted(os.listdir(tmp_path)) == sorted(["real", name])


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_are_kept(tmp_path, writer, mode):
    write, name = writer
    (tmp_path / name).write_bytes(b"old")
    (tmp_path / name).chmod(mode)
    write(str(tmp_path / name))
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode
    assert (tmp_path / name).read_bytes() != b"old"


def test_permissions_of_checkpoints_are_kept(tmp_path):
    prefix = str(tmp_path / "c")
    for _ in range(3):
        tf.train.Checkpoint(v=tf.Variable(1.0)).write(prefix)
        modes = [stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()]
        for file in tmp_path.iterdir():
            file.chmod(0o600)
    assert modes == [0o600, 0o600]


def test_a_file_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(str(path)) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600


def test_a_new_file_has_the_permissions_of_new_files(tmp_path, writer):
    write, name = writer
    old = os.umask(0o027)
    try:
        write(str(tmp_path / name))
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640


def test_names_are_not_known_before(tmp_path, monkeypatch):
    path = str(tmp_path / "f")
    assert len({temporary_name(path) for _ in range(100)}) == 100
    monkeypatch.setattr("tapeflow.core.files.whole_files.temporary_name", lambda path: f"{path}.known")
    (tmp_path / "victim").write_text("victim")
    (tmp_path / "f.known").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        replace_file(path, b"new")
    with pytest.raises(FileExistsError):
        new_file(f"{path}.known")
    assert (tmp_path / "victim").read_text() == "victim"
    assert (tmp_path / "f.known").is_symlink()


def test_long_names(tmp_path):
    path = str(tmp_path / ("\N{SNOWMAN}" * 85))  # 255 bytes
    replace_file(path, b"new")
    assert os.listdir(tmp_path) == [os.path.basename(path)]


def test_what_is_no_regular_file_is_written_to(tmp_path):
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        replace_file(pipe, b"text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


def test_a_link_to_nothing_is_filled(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "new")
    replace_file(str(tmp_path / "link"), b"new")
    assert (tmp_path / "new").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


def test_an_error_leaves_the_old_file_only(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), replacing(str(path)) as file:
        file.writelines([b"half", None])
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_only_the_folder_is_written(tmp_path, writer):
    write, name = writer
    write(str(tmp_path / name))  # what is imported is imported
    with confined(tmp_path, writes=[tmp_path]):
        write(str(tmp_path / name))
