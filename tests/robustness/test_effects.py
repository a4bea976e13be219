"""The guard of readers itself: it sees each kind of effect, and lets the reader read."""

import contextlib
import ctypes
import importlib
import marshal
import os
import pickle
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

import pytest
from effects import Refused, confined


class Reduced:
    def __reduce__(self):
        return os.getcwd, ()


def _import_of(folder):
    sys.path.insert(0, str(folder))
    try:
        importlib.import_module("a_new_module_of_the_user")
    finally:
        sys.path.remove(str(folder))


PICKLED, MARSHALLED = pickle.dumps(Reduced()), marshal.dumps(compile("1", "", "eval"))
EFFECTS = {
    "write": lambda here, out: open(here / "w", "w").close(),
    "append": lambda here, out: open(here / "f", "a").close(),
    "update": lambda here, out: open(here / "f", "r+b").close(),
    "create": lambda here, out: os.open(here / "n", os.O_CREAT | os.O_WRONLY),
    "read outside": lambda here, out: open(out / "f").close(),
    "read by a link": lambda here, out: open(here / "link").close(),
    "read by ..": lambda here, out: open(here / ".." / "out" / "f").close(),
    "list": lambda here, out: os.listdir(out),
    "remove": lambda here, out: os.remove(here / "f"),
    "rename": lambda here, out: os.rename(here / "f", here / "g"),
    "mkdir": lambda here, out: os.mkdir(here / "d"),
    "symlink": lambda here, out: os.symlink(here / "f", here / "l"),
    "chmod": lambda here, out: os.chmod(here / "f", 0o777),
    "copy": lambda here, out: shutil.copyfile(here / "f", here / "g"),
    "temporary": lambda here, out: tempfile.mkdtemp(),
    "socket": lambda here, out: socket.socket(),
    "lookup": lambda here, out: socket.getaddrinfo("localhost", 1),
    "process": lambda here, out: subprocess.run(["true"]),
    "system": lambda here, out: os.system("true"),
    "exec": lambda here, out: exec("1"),
    "eval": lambda here, out: eval("1"),
    "marshal": lambda here, out: marshal.loads(MARSHALLED),
    "pickle": lambda here, out: pickle.loads(PICKLED),
    "library": lambda here, out: ctypes.CDLL("libm.so.6"),
    "import": lambda here, out: _import_of(here),
}


@pytest.fixture
def folders(tmp_path):
    here, out = tmp_path / "here", tmp_path / "out"
    for folder in (here, out):
        folder.mkdir()
        (folder / "f").write_text("text")
    (here / "link").symlink_to(out / "f")
    (here / "a_new_module_of_the_user.py").write_text("x = 1")
    return here, out


@pytest.mark.parametrize("name", EFFECTS)
def test_an_effect_fails(folders, name):
    with pytest.raises(AssertionError, match="effects of what only reads"), confined(folders[0]):
        EFFECTS[name](*folders)


def test_an_effect_that_is_hushed_up_fails(folders):
    def hush():
        with contextlib.suppress(Refused):
            EFFECTS["write"](*folders)

    with pytest.raises(AssertionError, match="to write"), confined(folders[0]):
        hush()
    assert not (folders[0] / "w").exists()


def test_an_effect_of_another_thread_fails(folders, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda args: None)

    def in_a_thread():
        thread = threading.Thread(target=EFFECTS["write"], args=folders)
        thread.start()
        thread.join()

    with pytest.raises(AssertionError, match="to write"), confined(folders[0]):
        in_a_thread()


def test_what_is_allowed(folders):
    here, out = folders
    with confined(here):
        assert (here / "f").read_text() == "text"
        assert os.listdir(here)
        sys.modules.pop("colorsys", None)
        import colorsys  # noqa: F401
    with confined(here, writes=[out]):
        (out / "new").write_text("1")
        os.replace(out / "new", out / "f")
    with confined(here, allowed=("compile", "exec")):
        exec("1")


def test_errors_of_the_block_are_its_own(folders):
    with pytest.raises(ValueError, match="own"), confined(folders[0]):
        raise ValueError("own")
    (folders[1] / "f").write_text("nobody watches any more")
