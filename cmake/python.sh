#!/usr/bin/env bash
# Prints an interpreter of a version, 3.14 or, without a GIL, 3.14t: `python.sh FOLDER VERSION`. One that is installed, on
# the PATH or where tools for Pythons put them; else Debian's newest, unpacked into a folder with the libraries that it
# needs, glibc among them; without a GIL, one built there from Debian's source package, or the archive that CPYTHON_SOURCE
# names. Needs apt-get, and patchelf or a compiler, neither root nor a container.
set -e

# usable PYTHON VERSION: whether it runs, is of that version and has headers.
usable() {
  "$1" - "$2" 2>/dev/null <<'END'
import os, sys, sysconfig
os.stat(sysconfig.get_path("include") + "/Python.h")
sys.exit(sys.argv[1] != "%d.%d" % sys.version_info[:2] + ("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""))
END
}
for each in "python$2" "${PYENV_ROOT:-$HOME/.pyenv}/versions/${2%t}"*/"bin/python$2" \
    "${XDG_DATA_HOME:-$HOME/.local/share}/uv/python/cpython-${2%t}"*/"bin/python$2" \
    /usr/local/bin/"python$2" /opt/python/*/"bin/python$2" /opt/"python$2"/bin/"python$2"; do
  if usable "$each" "$2"; then
    command -v "$each"
    exit
  fi
done

mkdir -p "$1"
folder=$(cd "$1" && pwd) version=$2
root=$folder/$version
# Lists of its own, and a system that has nothing: what is needed is downloaded whole.
mkdir -p "$folder"/apt/{lists,cache/archives}/partial
: > "$folder/apt/status"
printf '%s http://deb.debian.org/debian sid main\n' deb deb-src > "$folder/apt/sources.list"
apt="-qq -o Dir::Etc::SourceList=$folder/apt/sources.list -o Dir::Etc::SourceParts=- -o Dir::Etc::Parts=-
  -o Dir::State=$folder/apt -o Dir::State::Status=$folder/apt/status -o Dir::Cache=$folder/apt/cache
  -o APT::Sandbox::User= -o APT::Install-Recommends=0 -o Debug::NoLocking=1"

if [ "${version%t}" != "$version" ]; then
  if [ ! -x "$root/bin/python$version" ]; then
    mkdir -p "$folder/source-$version"
    cd "$folder/source-$version"
    if [ -z "$CPYTHON_SOURCE" ]; then
      apt-get $apt update >&2
      apt-get $apt source --download-only "python${version%t}" >&2
      CPYTHON_SOURCE=$(ls "python${version%t}"_*.orig.tar.*)
    fi
    tar -x --strip-components 1 -f "$CPYTHON_SOURCE"
    ./configure --quiet --prefix="$root" --disable-gil --disable-test-modules >&2
    make --quiet -j "${JOBS:-2}" >&2
    make --quiet install >&2
  fi
  echo "$root/bin/python$version"
  exit
fi

if [ ! -x "$root/usr/bin/python$version" ]; then
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
