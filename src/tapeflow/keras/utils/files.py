"""`get_file`: a file from the internet, kept on this machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import urllib.parse
import urllib.request
import zipfile


def get_file(
    fname=None,
    origin=None,
    untar=False,
    md5_hash=None,
    file_hash=None,
    cache_subdir="datasets",
    hash_algorithm="auto",
    extract=False,
    archive_format="auto",
    cache_dir=None,
    force_download=False,
):
    """The path of a file: of the one kept in the cache, else downloaded from `origin`.

    Args:
      file_hash: what the file's MD5 or SHA-256 must be.
      extract: unpacks a tar or zip archive beside it, and returns the path of the folder.
    Raises ValueError for a file with another hash, or without an origin.
    """
    if origin is None:
        raise ValueError('Please specify the "origin" argument (URL of the file to download).')
    if cache_dir is None:
        cache_dir = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    folder = os.path.join(os.path.expanduser(cache_dir), cache_subdir)
    os.makedirs(folder, exist_ok=True)
    if not fname:
        fname = os.path.basename(urllib.parse.urlsplit(origin).path)
        if not fname:
            raise ValueError(f"Can't parse the file name from the origin provided: '{origin}'.")
    name = os.fspath(fname)
    if extract or untar:
        for ending in (".tar.gz", ".tgz", ".tar", ".zip", ".tar.bz2"):
            if untar and name.endswith(ending):
                name = name[: -len(ending)]
        target = os.path.join(folder, name) + (".tar.gz" if untar else "")
    else:
        target = os.path.join(folder, name)
    known = os.path.exists(target)
    if known and file_hash is not None and not validate_file(target, file_hash, hash_algorithm):
        known = False
    if force_download or not known:
        _download(origin, target, file_hash, hash_algorithm)
    if untar:
        unpacked = os.path.join(folder, name)
        if not os.path.exists(unpacked):
            extract_archive(target, folder, "tar")
        return unpacked
    if extract:
        unpacked = os.path.join(folder, f"{name.partition('.')[0]}_extracted")
        if force_download or not known or not os.path.exists(unpacked):
            extract_archive(target, unpacked, archive_format)
        return unpacked
    return target


def _download(origin, target, file_hash, algorithm):
    print(f"Downloading data from {origin}")
    temporary = f"{target}.temporary{os.getpid()}"
    try:
        try:
            with urllib.request.urlopen(origin) as source, open(temporary, "wb") as file:
                shutil.copyfileobj(source, file)
        except OSError as error:
            raise OSError(f"URL fetch failure on {origin}: {error}") from error
        if file_hash is not None and not validate_file(temporary, file_hash, algorithm):
            raise ValueError(
                f"Incomplete or corrupted file detected. The {algorithm} file hash does not match the "
                f"provided value of {file_hash}."
            )
        os.replace(temporary, target)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def validate_file(fpath, file_hash, algorithm="auto", chunk_size=65535):
    """Whether the MD5 or SHA-256 of a file is `file_hash`."""
    long = algorithm == "sha256" or (algorithm == "auto" and len(file_hash) == 64)
    return _hash_file(fpath, "sha256" if long else "md5", chunk_size) == str(file_hash)


def _hash_file(fpath, algorithm="sha256", chunk_size=65535):
    found = hashlib.new("md5" if algorithm == "md5" else "sha256")
    with open(fpath, "rb") as file:
        for chunk in iter(lambda: file.read(chunk_size), b""):
            found.update(chunk)
    return found.hexdigest()


def extract_archive(file_path, path=".", archive_format="auto"):
    """Unpacks a tar or zip archive into a folder, and nowhere else; False where it is none."""
    if archive_format is None:
        return False
    formats = ("tar", "zip") if archive_format == "auto" else (archive_format,)
    if isinstance(formats[0], (list, tuple)):
        formats = tuple(formats[0])
    for kind in formats:
        if kind == "tar" and tarfile.is_tarfile(file_path):
            with tarfile.open(file_path) as archive:
                archive.extractall(path, filter="data")
            return True
        if kind == "zip" and zipfile.is_zipfile(file_path):
            root = os.path.realpath(path)
            with zipfile.ZipFile(file_path) as archive:
                for member in archive.namelist():
                    place = os.path.realpath(os.path.join(root, member))
                    if os.path.commonpath([root, place]) != root:
                        raise ValueError(f"{file_path} holds a file outside of itself: {member!r}")
                archive.extractall(path)
            return True
    return False
