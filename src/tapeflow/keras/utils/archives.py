"""Tar and zip archives, unpacked into a folder and nowhere else.

All members are checked before the first is written: a name or a link that leads out of the folder, a device, two
members of one name, or contents out of all proportion to the archive refuse the whole archive. What passed is written
to a folder of its own first, where nothing waits, and then moved.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import posixpath
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tapeflow.core.files.expansion import expands_too_much
from tapeflow.core.files.whole_files import new_file

_CHUNK = 1 << 20
_TAR_BLOCK = 512
_MOST_LINKS = 40  # in a row, as Linux has it
_OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError,
           RuntimeError)  # fmt: skip


class _Member(NamedTuple):
    """What an archive holds under a name.

    Attributes:
      kind: "file", "folder", "link" (symbolic) or "copy" (a hard link).
      target: where a link leads, as it is written; the name of the member that a copy has the contents of.
      source: the archive's own record of it.
    """

    kind: str
    mode: int = 0
    size: int = 0
    target: str = ""
    source: Any = None

    def copy_of(self, target: str) -> _Member:
        """This member, with the contents of another."""
        return self._replace(target=target)


def extract_archive(file_path: str, path: str = ".", archive_format: str = "auto"):
    """Unpacks a tar or zip archive into a folder.

    Args:
      archive_format: "tar", "zip", a list of these, "auto" for either, or None for neither.

    Returns:
      Whether the file is such an archive.

    Raises:
      ValueError: the archive is damaged, or has members that no archive should have. Nothing is unpacked then.
    """
    formats = ["tar", "zip"] if archive_format == "auto" else archive_format or []
    for kind in [formats] if isinstance(formats, str) else formats:
        if kind not in ("tar", "zip"):
            raise NotImplementedError(f"Archives of kind {kind!r} cannot be extracted.")
        try:
            archive = _open_tar(file_path) if kind == "tar" else _open_zip(file_path)
        except _DAMAGE:
            continue  # of another kind
        with archive:
            try:
                _unpack(archive, file_path, path)
            except _DAMAGE as error:
                raise ValueError(f"{file_path} is damaged: {error}") from error
        return True
    return False


def _unpack(archive: Any, file_path: Any, path: Any) -> None:
    size = os.path.getsize(file_path)
    is_tar = isinstance(archive, tarfile.TarFile)
    members = _checked(_tar_members(archive) if is_tar else _zip_members(archive), file_path, size)
    path = os.path.realpath(path)
    os.makedirs(path, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=path) as fresh:
        for name, member in members.items():
            place = os.path.join(fresh, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if member.kind == "folder":
                os.makedirs(place, exist_ok=True)
            elif member.kind == "link":
                os.symlink(member.target, place)
            else:
                source = members[member.target] if member.kind == "copy" else member
                with _contents(archive, source.source) as content, new_file(place) as file:
                    shutil.copyfileobj(content, file, _CHUNK)
                    os.fchmod(file.fileno(), source.mode & 0o755 | 0o644)
        _move(fresh, path)


def _contents(archive: Any, source: Any) -> Any:
    return archive.extractfile(source) if isinstance(archive, tarfile.TarFile) else archive.open(source)


def _move(source: str, target: str) -> None:
    """Moves what is in one folder into another; what has the same name there is replaced, but for folders."""
    for name in os.listdir(source):
        new, old = os.path.join(source, name), os.path.join(target, name)
        if os.path.isdir(new) and not os.path.islink(new) and os.path.isdir(old) and not os.path.islink(old):
            _move(new, old)
        else:
            if os.path.islink(old):
                os.unlink(old)
            os.replace(new, old)


class _Bounded(io.BufferedReader):
    """A decompressed file, of which no more is read at once than any header of a tar file needs."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > _CHUNK:
            raise ValueError(f"a tar archive has a header of {size} bytes")
        return super().read(size)


class _Tar(tarfile.TarFile):
    """A tar archive that closes the file it reads."""

    def close(self) -> None:
        super().close()
        self.fileobj.close()

    def __exit__(self, *_: Any) -> None:
        self.close()


def _open_tar(path: Any) -> tarfile.TarFile:
    with open(path, "rb") as file:
        start = file.read(6)
    opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), open)
    content = _Bounded(opener(path, "rb"), _CHUNK)
    try:
        return _Tar(fileobj=content)
    except (OSError, *_DAMAGE) as error:
        content.close()
        raise tarfile.ReadError(str(error)) from None


def _open_zip(path: Any) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def _tar_members(archive: tarfile.TarFile) -> Iterator[tuple[str, _Member]]:
    for each in archive:
        if each.isfile():
            yield each.name, _Member("file", each.mode, each.size + _TAR_BLOCK, source=each)
        elif each.isdir():
            yield each.name, _Member("folder", size=_TAR_BLOCK)
        elif each.issym():
            yield each.name, _Member("link", size=_TAR_BLOCK, target=each.linkname)
        elif each.islnk():
            yield each.name, _Member("copy", size=_TAR_BLOCK, target=each.linkname)
        else:
            yield each.name, _Member("special")


def _zip_members(archive: zipfile.ZipFile) -> Iterator[tuple[str, _Member]]:
    for each in archive.infolist():
        # The name as it is written: the library changes what its system cannot have.
        if each.is_dir():
            yield each.orig_filename, _Member("folder")
        else:
            mode = each.external_attr >> 16
            yield each.orig_filename, _Member("file", mode & 0o777, each.file_size, source=each)


def _checked(found: Iterator[tuple[str, _Member]], path: Any, size: int) -> dict[str, _Member]:
    """The members by their plain names. Raises ValueError for what no archive should have."""
    members: dict[str, _Member] = {}
    total = 0
    for written, member in found:
        total += member.size
        if expands_too_much(total, size):
            raise ValueError(f"{path} would be {total} bytes large or more, unpacked from {size}")
        name = _plain_name(written, path)
        if member.kind == "special":
            raise ValueError(f"{path} holds a device or pipe: {written!r}")
        if not name:
            if member.kind != "folder":
                raise ValueError(f"{path} holds a file without a name: {written!r}")
            continue
        if name in members and (member.kind, members[name].kind) != ("folder", "folder"):
            raise ValueError(f"{path} holds two members of the name {written!r}")
        if member.kind == "copy":
            target = _plain_name(member.target, path)
            if target not in members or members[target].kind not in ("file", "copy"):
                raise ValueError(f"{path} holds a link to a file that is not in it: {written!r} to {member.target!r}")
            original = members[target]
            member = member.copy_of(original.target if original.kind == "copy" else target)
            total += members[member.target].size
        members[name] = member
    for name, member in members.items():
        for parent in _parents(name):
            if parent in members and members[parent].kind != "folder":
                raise ValueError(f"{path} holds {name!r} in {parent!r}, which is not a folder of it")
        if member.kind == "link" and _destination(name, members) is None:
            raise ValueError(f"{path} holds a link that leads outside of itself: {name!r} to {member.target!r}")
    return members


def _plain_name(name: str, path: Any) -> str:
    """The name without `.` and double slashes. Raises ValueError where it leads out of the archive."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    drive = len(name) > 1 and name[1] == ":"
    if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name or drive:
        raise ValueError(f"{path} holds a file outside of itself: {name!r}")
    return "/".join(parts)


def _parents(name: str) -> Iterator[str]:
    while name := posixpath.dirname(name):
        yield name


def _destination(name: str, members: dict[str, _Member]) -> str | None:
    """Where a link leads in the end, by way of other links; None where that is outside of the archive."""
    at: list[str] = posixpath.dirname(name).split("/") if "/" in name else []
    left = _steps(members[name].target)
    links = 1
    while left is not None and links <= _MOST_LINKS:
        if not left:
            return "/".join(at)
        step, left = left[0], left[1:]
        if step == "..":
            if not at:
                return None
            at.pop()
            continue
        at.append(step)
        member = members.get("/".join(at))
        if member is not None and member.kind == "link":
            at.pop()
            links += 1
            steps = _steps(member.target)
            left = None if steps is None else steps + left
    return None


def _steps(target: str) -> list[str] | None:
    """The parts of a relative path; None for any other one."""
    if not target or target.startswith("/") or "\\" in target or "\0" in target or target[1:2] == ":":
        return None
    return [part for part in target.split("/") if part not in ("", ".")]
