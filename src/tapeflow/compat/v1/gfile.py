"""tf.compat.v1.gfile: `tf.io.gfile` with the names of 1.x."""

from __future__ import annotations

from tapeflow.core.annotations import PathLike
from tapeflow.core.files.file_system import GFile, walk
from tapeflow.core.files.file_system import GFile as FastGFile
from tapeflow.core.files.file_system import GFile as Open
from tapeflow.core.files.file_system import copy as _copy
from tapeflow.core.files.file_system import exists as _exists
from tapeflow.core.files.file_system import glob as _glob
from tapeflow.core.files.file_system import isdir as _isdir
from tapeflow.core.files.file_system import listdir as _listdir
from tapeflow.core.files.file_system import makedirs as _makedirs
from tapeflow.core.files.file_system import mkdir as _mkdir
from tapeflow.core.files.file_system import remove as _remove
from tapeflow.core.files.file_system import rename as _rename
from tapeflow.core.files.file_system import rmtree as _rmtree
from tapeflow.core.files.file_system import stat as _stat
from tapeflow.core.public import boundaries

__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory", "ListDirectory",
    "MakeDirs", "MkDir", "Open", "Remove", "Rename", "Stat", "Walk",
]  # fmt: skip


def Copy(oldpath, newpath, overwrite: bool = False):
    """`tf.io.gfile.copy`."""
    _copy(oldpath, newpath, overwrite)


def DeleteRecursively(dirname: PathLike):
    """`tf.io.gfile.rmtree`."""
    _rmtree(dirname)


def Exists(filename):
    """`tf.io.gfile.exists`."""
    return _exists(filename)


def Glob(filename: PathLike):
    """`tf.io.gfile.glob`."""
    return _glob(filename)


def IsDirectory(dirname: PathLike):
    """`tf.io.gfile.isdir`."""
    return _isdir(dirname)


def ListDirectory(dirname: PathLike):
    """`tf.io.gfile.listdir`."""
    return _listdir(dirname)


def MakeDirs(dirname: PathLike):
    """`tf.io.gfile.makedirs`."""
    _makedirs(dirname)


def MkDir(dirname: PathLike):
    """`tf.io.gfile.mkdir`."""
    _mkdir(dirname)


def Remove(filename):
    """`tf.io.gfile.remove`."""
    _remove(filename)


def Rename(oldname, newname, overwrite: bool = False):
    """`tf.io.gfile.rename`."""
    _rename(oldname, newname, overwrite)


def Stat(filename: PathLike):
    """`tf.io.gfile.stat`."""
    return _stat(filename)


def Walk(top, in_order: bool = True):
    """`tf.io.gfile.walk`."""
    return walk(top, in_order)


boundaries(globals())
