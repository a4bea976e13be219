"""Archives that somebody else has made: nothing of them is written outside of the folder, and of bad ones nothing."""

import contextlib
import gzip
import io
import os
import random
import stat
import tarfile
import zipfile

import pytest
from effects import confined

import tapeflow as tf
from tapeflow.core.files import expansion
from tapeflow.keras.utils.archives import extract_archive

TYPES = {"file": tarfile.REGTYPE, "folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE, "copy": tarfile.LNKTYPE,
         "device": tarfile.CHRTYPE, "block": tarfile.BLKTYPE, "pipe": tarfile.FIFOTYPE}  # fmt: skip


def _tar(path, members, mode="w"):
    """A tar archive of (kind, name[, contents or target[, mode]])."""
    with tarfile.open(path, mode) as archive:
        for kind, name, *more in members:
            info = tarfile.TarInfo(name)
            info.type = TYPES[kind]
            content = b""
            if kind in ("link", "copy"):
                info.linkname = more[0]
            elif more:
                content = more[0]
            info.mode = more[1] if len(more) > 1 else 0o644
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return str(path)


def _zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for _, name, *more in members:
            info = zipfile.ZipInfo("x")
            info.filename = name
            archive.writestr(info, more[0] if more else b"", zipfile.ZIP_DEFLATED)
    return str(path)


def _tree(folder):
    """What is below a folder: contents, the targets of links, None for folders."""
    found = {}
    for where, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(where, name)
            key = os.path.relpath(path, folder)
            if os.path.islink(path):
                found[key] = ("link", os.readlink(path))
            elif os.path.isdir(path):
                found[key] = None
            else:
                with open(path, "rb") as file:
                    found[key] = file.read()
    return found


NAMES = ["/etc/passwd", "../out", "a/../../out", "a/../b", "..", "C:/out", "..\\out", "//out", "a\0b", "./../out"]
TARS = {
    **{f"name {name!r}": [("file", name, b"bad")] for name in NAMES if "\0" not in name},
    "folder": [("folder", "../out")],
    "link out": [("link", "a", "../out")],
    "absolute link": [("link", "a", "/etc/passwd")],
    "link out of a folder": [("link", "a/b", "../../out")],
    "link to a link out": [("link", "a/b", "c"), ("link", "a/c", "../.."), ("file", "x", b"")],
    # b is the folder d/d/d, from which .. leads less far up than its name says
    "link through a link": [("folder", "d/d/d"), ("link", "b", "d"), ("link", "c", "b/../../out")],
    "links that each stay": [("link", "a", "."), ("link", "b", "a/.."), ("link", "c", "b/../out")],
    "link in a circle": [("link", "a", "b"), ("link", "b", "a")],
    "file through a link": [("link", "a", "b"), ("folder", "b"), ("file", "a/x", b"bad")],
    "file over a link": [("link", "a", "b"), ("file", "a", b"bad")],
    "copy of a file outside": [("copy", "a", "../out")],
    "copy of an absolute file": [("copy", "a", "/etc/passwd")],
    "copy of a link": [("link", "a", "b"), ("copy", "c", "a")],
    "copy of what comes later": [("copy", "c", "a"), ("file", "a", b"")],
    "twice": [("file", "a", b"1"), ("file", "./a", b"2")],
    "file and folder": [("file", "a", b"1"), ("folder", "a")],
    "file in a file": [("file", "a", b"1"), ("file", "a/b", b"2")],
    "device": [("device", "null")],
    "block device": [("block", "disk")],
    "pipe": [("pipe", "pipe")],
    "no name": [("file", ".", b"")],
}


@pytest.fixture
def target(tmp_path):
    (tmp_path / "t").mkdir()
    return tmp_path / "t"


def _check_refused(archive, target, tmp_path):
    before = _tree(tmp_path)
    with pytest.raises(ValueError, match=r"holds|bytes"), confined(archive, writes=[target]):
        extract_archive(archive, target)
    assert _tree(tmp_path) == before


@pytest.mark.parametrize("name", TARS)
def test_a_bad_tar_is_refused_as_a_whole(tmp_path, target, name):
    archive = _tar(tmp_path / "a.tar", [("file", "good", b"good"), *TARS[name]])
    _check_refused(archive, target, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_zip_is_refused_as_a_whole(tmp_path, target, name):
    archive = _zip(tmp_path / "a.zip", [("file", "good", b"good"), ("file", name, b"bad")])
    _check_refused(archive, target, tmp_path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_zip_with_a_name_twice(tmp_path, target):
    _check_refused(_zip(tmp_path / "a.zip", [("file", "a", b"1"), ("file", "a", b"2")]), target, tmp_path)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_good_tar(tmp_path, target, mode):
    archive = _tar(tmp_path / "a", [
        ("folder", "./"), ("folder", "d"), ("file", "d/x", b"text", 0o4777), ("copy", "d/y", "d/x"),
        ("copy", "z", "d/y"), ("link", "l", "d/x"), ("link", "d/up", "../d/./x"), ("link", "dir", "d"),
        ("link", "later", "dir/y"),
        ("file", "e/f/g", b"deep"), ("file", "run", b"#!", 0o755),
    ], mode)  # fmt: skip
    with confined(archive, writes=[target]):
        assert extract_archive(archive, target)
    assert _tree(target) == {
        "d": None, "d/x": b"text", "d/y": b"text", "z": b"text", "l": ("link", "d/x"), "d/up": ("link", "../d/./x"),
        "dir": ("link", "d"), "later": ("link", "dir/y"), "e": None, "e/f": None, "e/f/g": b"deep", "run": b"#!",
    }  # fmt: skip
    assert stat.S_IMODE((target / "d/x").stat().st_mode) == 0o755  # no set-user-id, no writing by others
    assert stat.S_IMODE((target / "run").stat().st_mode) == 0o755
    assert stat.S_IMODE((target / "e/f/g").stat().st_mode) == 0o644


def test_a_good_zip(tmp_path, target):
    archive = _zip(tmp_path / "a", [("folder", "d/"), ("file", "d/x", b"text"), ("file", "e/y", bytes(10_000))])
    assert extract_archive(archive, target, ["zip"])
    assert _tree(target) == {"d": None, "d/x": b"text", "e": None, "e/y": bytes(10_000)}
    assert not extract_archive(archive, target, "tar")
    assert not extract_archive(archive, target, None)


def test_links_that_wait_in_the_folder_are_replaced(tmp_path, target):
    (tmp_path / "out").mkdir()
    (tmp_path / "victim").write_text("victim")
    (target / "d").symlink_to(tmp_path / "out")
    (target / "x").symlink_to(tmp_path / "victim")
    (target / "kept").mkdir()
    (target / "kept" / "old").write_text("old")
    archive = _tar(tmp_path / "a.tar", [("file", "d/f", b"1"), ("file", "x", b"2"), ("file", "kept/new", b"3")])
    assert extract_archive(archive, target)
    assert (tmp_path / "victim").read_text() == "victim"
    assert not os.listdir(tmp_path / "out")
    assert (target / "x").read_bytes() == b"2"
    assert (target / "d/f").read_bytes() == b"1"
    assert sorted(os.listdir(target / "kept")) == ["new", "old"]


def test_members_out_of_proportion(tmp_path, target, monkeypatch):
    monkeypatch.setattr(expansion, "LARGEST", 1 << 22)
    much = [("file", "a", bytes(1 << 23))]
    _check_refused(_tar(tmp_path / "a.tar.gz", much, "w:gz"), target, tmp_path)
    _check_refused(_zip(tmp_path / "a.zip", much), target, tmp_path)
    many = [("file", str(i)) for i in range(9000)]
    _check_refused(_tar(tmp_path / "b.tar.xz", many, "w:xz"), target, tmp_path)
    copies = [("file", "a", random.Random(1).randbytes(50_000)), *(("copy", f"c{i}", "a") for i in range(200))]
    _check_refused(_tar(tmp_path / "c.tar.gz", copies, "w:gz"), target, tmp_path)
    assert extract_archive(_tar(tmp_path / "plain.tar", much), target)


def test_a_header_of_very_many_bytes(tmp_path, target):
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 30
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(info.tobuf() + bytes(1 << 20)))
    with pytest.raises(ValueError, match="header of"):
        extract_archive(tmp_path / "a.tar.gz", target)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_archives(tmp_path, target, seed):
    rng = random.Random(seed)
    members = [("file", "a", rng.randbytes(3000)), ("folder", "d"), ("link", "d/l", "../a"), ("file", "d/x", b"text")]
    goods = [_tar(tmp_path / "a.tar", members), _tar(tmp_path / "a.tgz", members, "w:gz"),
             _zip(tmp_path / "a.zip", [m for m in members if m[0] == "file"])]  # fmt: skip
    for good in goods:
        with open(good, "rb") as file:
            data = file.read()
        for _ in range(25):
            changed = bytearray(data)
            for _ in range(rng.randrange(1, 6)):
                changed[rng.randrange(len(changed))] = rng.randrange(256)
            path = tmp_path / "damaged"
            path.write_bytes(changed[: rng.randrange(len(changed)) if rng.random() < 0.3 else None])
            with confined(path, writes=[target]), contextlib.suppress(ValueError, OSError):
                extract_archive(path, target)


def test_the_hash_is_checked_before_the_file_is_in_the_cache(tmp_path):
    (tmp_path / "a").write_bytes(b"new")
    cache = tmp_path / "cache"
    with pytest.raises(ValueError, match="hash does not match"):
        tf.keras.utils.get_file("a", (tmp_path / "a").as_uri(), file_hash="0" * 64, cache_dir=cache)
    assert os.listdir(cache / "datasets") == []
    (cache / "datasets" / "a").write_bytes(b"old")
    with pytest.raises(ValueError, match="hash does not match"):
        tf.keras.utils.get_file("a", (tmp_path / "a").as_uri(), file_hash="0" * 64, cache_dir=cache)
    assert (cache / "datasets" / "a").read_bytes() == b"old"


@pytest.mark.parametrize("origin", ["file:///a/..", "file:///a/", "file:///a/."])
def test_an_origin_without_a_name(tmp_path, origin):
    with pytest.raises(ValueError, match="parse the file name"):
        tf.keras.utils.get_file(origin=origin, cache_dir=tmp_path)


def test_every_dataset_has_a_hash(monkeypatch, tmp_path):
    """What is downloaded by datasets and applications is refused where it is not what was published."""
    import importlib
    import pkgutil
    import urllib.request

    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    asked = []

    def urlopen(origin):
        asked.append(origin)
        return io.BytesIO(b"something else")

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    from tapeflow.keras import datasets
    from tapeflow.keras.applications.imagenet_utils import decode_predictions

    calls = [lambda: decode_predictions(tf.zeros([1, 1000]))]
    for each in pkgutil.iter_modules(datasets.__path__):
        module = importlib.import_module(f"tapeflow.keras.datasets.{each.name}")
        calls += [getattr(module, name) for name in ("load_data", "get_word_index")
                  if each.name != "mnist" and hasattr(module, name)]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match="hash does not match"):
            call()
    assert len(asked) == len(calls) >= 9
