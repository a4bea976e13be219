#!/usr/bin/env bash
# Prints an interpreter of a version, 3.14 say: the system's, or Debian's newest, unpacked into a folder with the
# libraries that it needs, glibc among them: `python.sh FOLDER VERSION`. Needs apt-get and patchelf, neither root nor a
# container.
set -e
if "python$2" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null; then
  command -v "python$2"
  exit
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd) version=$2
root=$folder/$version
if [ ! -x "$root/usr/bin/python$version" ]; then
  # Lists of its own, and a system that has nothing: what is needed is downloaded whole.
  mkdir -p "$folder"/apt/{lists,cache/archives}/partial
  : > "$folder/apt/status"
  echo "deb http://deb.debian.org/debian sid main" > "$folder/apt/sources.list"
  apt="-qq -o Dir::Etc::SourceList=$folder/apt/sources.list -o Dir::Etc::SourceParts=- -o Dir::Etc::Parts=-
    -o Dir::State=$folder/apt -o Dir::State::Status=$folder/apt/status -o Dir::Cache=$folder/apt/cache
    -o APT::Sandbox::User= -o APT::Install-Recommends=0 -o Debug::NoLocking=1"
  apt-get $apt update >&2
  rm -f "$folder"/apt/cache/archives/*.deb
  apt-get $apt --download-only --yes install "libpython$version-dev" "python$version-venv" libstdc++6 >&2
  rm -rf "$root.part" && mkdir -p "$root.part"
  for each in "$folder"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$each" | tar -x -C "$root.part" --keep-directory-symlink
  done
  mv "$root.part" "$root"
  multiarch=$(dpkg-architecture -q DEB_HOST_MULTIARCH)
  cp "$root/usr/include/$multiarch/python$version/pyconfig.h" "$root/usr/include/python$version/"
  # Run with the libraries unpacked beside it, wherever it is called from.
  libraries=$root/usr/lib/$multiarch
  loader=$(ls "$libraries"/ld-linux-*.so.* "$root"/usr/lib*/ld-linux-*.so.* 2>/dev/null | head -1)
  patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$root/usr/bin/python$version"
fi
echo "$root/usr/bin/python$version"
