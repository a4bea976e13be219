"""Files from the net, kept in Keras' folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path
from typing import Any


def keras_home() -> Path:
    """Where Keras keeps what it downloads: `$KERAS_HOME`, or `~/.keras`."""
    return Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras")


def _digest(path: Any, algorithm: str) -> str:
    found = hashlib.new(algorithm)
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            found.update(part)
    return found.hexdigest()


def _same(path: Any, wanted: str, algorithm: str) -> bool:
    if algorithm == "auto":
        algorithm = "sha256" if len(wanted) == 64 else "md5"
    return _digest(path, algorithm) == str(wanted)


def _unpack(path: Path, into: Path, archive_format: Any) -> None:
    formats = ["tar", "zip"] if archive_format == "auto" else archive_format
    for each in [formats] if isinstance(formats, str) else formats or []:
        if each == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                archive.extractall(into, filter="data")
            return
        if each == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as zipped:
                zipped.extractall(into)
            return


def get_file(
    fname=None, origin=None, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets",
    hash_algorithm="auto", extract=False, archive_format="auto", cache_dir=None, force_download=False,
):  # fmt: skip
    """The path of a file, which is downloaded from `origin` where it is not there yet.

    With extract (or untar) the archive is unpacked, and the path is that of the folder.

    Raises ValueError without an origin or for a file of another hash; OSError where it cannot be downloaded.
    """
    if origin is None:
        raise ValueError('Please specify the "origin" argument (URL of the file to download).')
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    folder = (Path(cache_dir) if cache_dir else keras_home()) / (cache_subdir or "")
    folder.mkdir(parents=True, exist_ok=True)
    name = os.fspath(fname) if fname else os.path.basename(urllib.parse.urlsplit(origin).path)
    if not name:
        raise ValueError(f"Can't parse the file name from the origin provided: '{origin}'.")
    unpacked = None
    if untar or extract:
        base = name
        for suffix in (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tar", ".zip"):
            if base.endswith(suffix):
                base = base.removesuffix(suffix)
                break
        unpacked = folder / (base + ("" if untar else "_extracted"))
        target = folder / (f"{base}.tar.gz" if untar and base == name else name)
    else:
        target = folder / name
    wanted = force_download or not target.exists()
    if not wanted and file_hash is not None:
        wanted = not _same(target, file_hash, hash_algorithm)
    if wanted:
        print(f"Downloading data from {origin}")
        partial = target.with_name(target.name + ".part")
        try:
            with urllib.request.urlopen(origin) as source, open(partial, "wb") as file:
                shutil.copyfileobj(source, file)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise OSError(f"URL fetch failure on {origin}: {error}") from error
        partial.replace(target)
        if file_hash is not None and not _same(target, file_hash, hash_algorithm):
            raise ValueError(
                f"Incomplete or corrupted file detected. The {hash_algorithm} file hash does not match "
                f"the provided value of {file_hash}."
            )
    if unpacked is None:
        return str(target)
    if wanted or not unpacked.exists():
        _unpack(target, folder if untar else unpacked, "tar" if untar else archive_format)
    return str(unpacked)
