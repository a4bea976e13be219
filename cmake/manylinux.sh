#!/usr/bin/env bash
# What wheels for old systems are linked with: `manylinux.sh FOLDER PYTHON`, PYTHON one that has ziglang. FOLDER/lib
# gets glibc 2.28 as the linker sees it, names and versions without code, as zig makes it for any version; FOLDER/openmp
# an OpenMP runtime that asks for no newer one, Debian 11's, which becomes part of the wheels. The compiler, its headers
# and its C++ library, which is linked statically, are the system's.
set -e
mkdir -p "$1"
folder=$(cd "$1" && pwd) python=$2
machine=$(uname -m)
glibc=2.28

if [ ! -e "$folder/lib/libc.so" ]; then
  echo 'int main(void) { return 0; }' > "$folder/empty.c"
  ZIG_GLOBAL_CACHE_DIR=$folder/zig "$python" -m ziglang cc -target "$machine-linux-gnu.$glibc" "$folder/empty.c" \
    -o "$folder/empty" -lpthread
  rm -rf "$folder/lib" && mkdir "$folder/lib"
  cp "$(dirname "$(find "$folder/zig" -name libpthread.so.0)")"/lib*.so.* "$folder/lib"
  cp "$(find "$folder/zig" -name libc_nonshared.a)" "$folder/lib"
  for each in m pthread dl rt; do
    ln -s "$(basename "$folder/lib/lib$each".so.*)" "$folder/lib/lib$each.so"
  done
  cd "$folder/lib"
  echo "GROUP ( $PWD/libc.so.6 $PWD/libc_nonshared.a AS_NEEDED ( $PWD/libld.so.2 ) )" > libc.so
  rm -rf "$folder/zig" "$folder"/empty*
fi

if [ ! -e "$folder/openmp/libgomp.so.1" ]; then
  mkdir -p "$folder"/apt/{lists,cache/archives}/partial
  : > "$folder/apt/status"
  echo "deb http://deb.debian.org/debian bullseye main" > "$folder/apt/sources.list"
  apt="-qq -o Dir::Etc::SourceList=$folder/apt/sources.list -o Dir::Etc::SourceParts=- -o Dir::Etc::Parts=-
    -o Dir::State=$folder/apt -o Dir::State::Status=$folder/apt/status -o Dir::Cache=$folder/apt/cache
    -o APT::Sandbox::User= -o Debug::NoLocking=1"
  apt-get $apt update
  cd "$folder/apt"
  apt-get $apt download libgomp1 gcc-10-base
  for each in *.deb; do dpkg-deb -x "$each" unpacked; done
  mkdir -p "$folder/openmp" "$folder/licenses/libgomp"
  cp unpacked/usr/lib/*/libgomp.so.1 "$folder/openmp"
  cp unpacked/usr/share/doc/gcc-10-base/copyright "$folder/licenses/libgomp/LICENSE"
  dpkg-deb -f libgomp1_*.deb Version > "$folder/licenses/libgomp/VERSION"
  rm -rf "$folder/apt"
fi
