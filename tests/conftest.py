"""What all tests share: one seed for every generator, and the mode that tapeflow is imported in."""

import contextlib
import gc
import os
import random
import signal
import sys
import sysconfig
import zlib

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("quick", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# A shell that starts the tests in the background lets them ignore Ctrl-C, which some of them send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--one-in", type=int, default=1, metavar="N", help="run one of N tests, always the same ones, by their names"
    )


def pytest_collection_modifyitems(config, items):
    """Leaves a sample of the tests where one was asked for."""
    count = config.getoption("one_in")
    if count > 1:
        left = [item for item in items if zlib.crc32(item.nodeid.encode()) % count]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if zlib.crc32(item.nodeid.encode()) % count == 0]


@pytest.fixture(scope="module", autouse=True)
def little_garbage():
    """What is there before a file's tests, the tens of thousands of tests among it, no collection looks at again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def seeded():
    """Every test starts from the same random state, so that it fails or passes alone as in company."""
    import tapeflow as tf

    random.seed(1)
    np.random.seed(1)
    tf.random.set_seed(1)


_MAY_USE_XLA = {"xla", "gpu", "oracle", "slow", "stress"}


@pytest.fixture(autouse=True)
def without_xla(request):
    """Only tests that say so start XLA: no process that has can be forked without a warning of jax, which others do."""
    before = xla_is_started()
    yield
    marks = {mark.name for mark in request.node.iter_markers()}
    assert before or not xla_is_started() or marks & _MAY_USE_XLA, "the test starts XLA: mark it xla"


def xla_is_started():
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bridge is not None and bridge.backends_are_initialized()


@pytest.fixture
def rng():
    """A NumPy generator with a fixed seed."""
    return np.random.default_rng(1)


# Audit events of Python that reach outside of the process, by their beginnings.
_OUTSIDE = (
    "open", "os.", "shutil.", "glob.", "tempfile.", "subprocess.", "pty.", "socket.", "urllib.", "http.", "ftplib.",
    "smtplib.", "telnetlib.", "sqlite3.", "webbrowser.", "ctypes.dlopen", "code.__new__", "marshal.", "pickle.",
    "signal.", "fcntl.", "syslog.", "resource.set", "winreg.",
)  # fmt: skip
_INSTALLED = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), sysconfig.get_path("stdlib")})
_recorded: list[tuple[str, str]] | None = None


def _is_own(event, args):
    """Whether an event belongs to an import, or reads the data of an installed package: both happen on first use."""
    if event == "open" and str(args[1]) in ("r", "rb") and str(args[0]).startswith(_INSTALLED):
        return True
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _audit(event, args):
    if _recorded is not None and event.startswith(_OUTSIDE) and not _is_own(event, args):
        _recorded.append((event, repr(args)[:200]))


@contextlib.contextmanager
def _effects():
    global _recorded
    before, _recorded = _recorded, []
    try:
        yield _recorded
    finally:
        _recorded = before


@pytest.fixture(scope="session")
def effects():
    """A context that lists what the process does outside of itself: (audit event, arguments) of files, sockets, ..."""
    sys.addaudithook(_audit)
    return _effects
