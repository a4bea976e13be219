"""Folders of tests: for what they write, and with what they read."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from tapeflow.core.public import boundaries

_folder: str | None = None


def get_temp_dir() -> str:
    """A folder of this process for the files of its tests; gone when the process ends."""
    global _folder
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="tapeflow_test_")
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    return _folder


def test_src_dir_path(relative_path: str) -> str:
    """A path below the folder that the program was started in."""
    return os.path.join(os.getcwd(), relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined] # a name that test runners would take for a test


boundaries(globals())
