"""`get_file`: a file from the internet, kept on this machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.parse
import urllib.request

from tapeflow.core.files.whole_files import replacing
from tapeflow.core.public import boundaries
from tapeflow.keras.utils.archives import extract_archive

_ENDINGS = (".tar.gz", ".tgz", ".tar", ".zip", ".tar.bz2", ".tar.xz")


def get_file(
    fname: str | None = None, origin: str | None = None, untar: bool = False, md5_hash=None,
    file_hash: str | None = None, cache_subdir: str = "datasets", hash_algorithm: str = "auto", extract: bool = False,
    archive_format: str = "auto", cache_dir=None, force_download: bool = False,
):
    """Find a file: the one kept in the cache, else downloaded from `origin`.

    A file enters the cache only when it is complete and has the hash that it should have.

    Args:
      fname: its name in the cache; None for that of `origin`.
      origin: the URL to download it from.
      untar: whether it is a tar archive to unpack; `extract` is the newer way.
      md5_hash: what the file's MD5 must be; `file_hash` is the newer way.
      file_hash: what the file's MD5 or SHA-256 must be; None for any.
      cache_subdir: the folder in the cache.
      hash_algorithm: "md5", "sha256", or "auto" for what the hash's length says.
      extract: unpacks a tar or zip archive beside it, and returns the path of the folder.
      archive_format: "tar", "zip", "auto", a list of these, or None for none.
      cache_dir: the cache; None for `$KERAS_HOME`, or `~/.keras`.
      force_download: whether it is downloaded even if it is there.

    Returns:
      The path.

    Raises:
      ValueError: the file has another hash, there is no origin, or an archive holds what no archive should.
    """
    if origin is None:
        raise ValueError('Please specify the "origin" argument (URL of the file to download).')
    if cache_dir is None:
        cache_dir = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    folder = os.path.join(os.path.expanduser(cache_dir), cache_subdir or "")
    os.makedirs(folder, exist_ok=True)
    if not fname:
        fname = os.path.basename(urllib.parse.urlsplit(origin).path)
        if fname in ("", ".", ".."):
            raise ValueError(f"Can't parse the file name from the origin provided: '{origin}'.")
    name = os.fspath(fname)
    if untar:
        name = next((name.removesuffix(e) for e in _ENDINGS if name.endswith(e)), name)
    target = os.path.join(folder, name) + (".tar.gz" if untar else "")
    known = (
        not force_download
        and os.path.exists(target)
        and (file_hash is None or validate_file(target, file_hash, hash_algorithm))
    )
    if not known:
        _download(origin, target, file_hash, hash_algorithm)
    if untar:
        unpacked = os.path.join(folder, name)
        if not known or not os.path.exists(unpacked):
            extract_archive(target, folder, "tar")
        return unpacked
    if extract:
        unpacked = os.path.join(folder, f"{name.partition('.')[0]}_extracted")
        if not known or not os.path.exists(unpacked):
            extract_archive(target, unpacked, archive_format)
        return unpacked
    return target


def _download(origin: str, target: str, file_hash: str | None, algorithm: str):
    print(f"Downloading data from {origin}")
    with replacing(target) as file:
        try:
            with urllib.request.urlopen(origin) as source:
                shutil.copyfileobj(source, file)
        except OSError as error:
            raise OSError(f"URL fetch failure on {origin}: {error}") from error
        file.flush()
        if file_hash is not None and not validate_file(file.name, file_hash, algorithm):
            raise ValueError(
                f"Incomplete or corrupted file detected. The {algorithm} file hash does not match the "
                f"provided value of {file_hash}."
            )


def validate_file(fpath: str, file_hash: str, algorithm: str = "auto", chunk_size: int = 65535):
    """Whether the MD5 or SHA-256 of a file is `file_hash`."""
    long = algorithm == "sha256" or (algorithm == "auto" and len(file_hash) == 64)
    found = hashlib.new("sha256" if long else "md5")
    with open(fpath, "rb") as file:
        for chunk in iter(lambda: file.read(chunk_size), b""):
            found.update(chunk)
    return found.hexdigest() == str(file_hash)


boundaries(globals())
