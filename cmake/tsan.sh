#!/usr/bin/env bash
# Builds CPython, without a GIL if PYTHON has none, and the native code with ThreadSanitizer: `tsan.sh FOLDER PYTHON JOBS`.
# What is built is kept; FOLDER/python then runs with it. CPython's source is Debian's (apt-get source), or the archive that
# CPYTHON_SOURCE names.
#
# OpenMP is off, because the runtime's own synchronisation is invisible to the sanitizer; so is oneDNN, which needs it.
# NumPy is the ordinary wheel: its memory is not watched, but calls into libc are.
set -e
folder=$1 python=$2 jobs=$3
root=$(cd "$(dirname "$0")/.." && pwd)
version=$("$python" -c 'import sys, sysconfig
print("%d.%d" % sys.version_info[:2] + ("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""))')
gil=
[ "${version%t}" = "$version" ] || gil=--disable-gil
mkdir -p "$folder"
cd "$folder"

if [ ! -e cpython/bin/python"$version" ]; then
  if [ -z "$CPYTHON_SOURCE" ]; then
    # A list of sources of its own: neither root nor a change of the system's is needed.
    mkdir -p apt/lists/partial apt/cache
    . /etc/os-release
    echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" > apt/sources.list
    apt="-o Dir::Etc::SourceList=$folder/apt/sources.list -o Dir::Etc::SourceParts=- -o APT::Sandbox::User=
      -o Dir::State::Lists=$folder/apt/lists -o Dir::Cache=$folder/apt/cache"
    apt-get $apt update
    apt-get $apt source --download-only "python${version%t}"
    CPYTHON_SOURCE=$(ls "$folder"/python"${version%t}"_*.orig.tar.*)
  fi
  mkdir -p source && tar -x --strip-components 1 -C source -f "$CPYTHON_SOURCE"
  cd source
  # From 3.13 on configure knows --with-thread-sanitizer; the flags do the same for older versions.
  ./configure --prefix="$folder/cpython" --without-pymalloc $gil CFLAGS="-fsanitize=thread -g -O1" LDFLAGS=-fsanitize=thread
  # The interpreter's own reports, as it runs while it is built, are not of interest. The sanitizer's layout of memory
  # does not go with many bits of address randomisation, hence setarch.
  export TSAN_OPTIONS="report_bugs=0 exitcode=0"
  setarch -R make -j "$jobs"
  setarch -R make inclinstall sharedinstall bininstall
  setarch -R make libinstall PYTHON_FOR_BUILD=true >/dev/null  # compiling the library ahead is not needed
  cd ..
fi

"$python" "$root/cmake/requirements.py" run > requirements.txt
"$python" -m pip install --quiet --disable-pip-version-check --upgrade --target site -r requirements.txt \
  nanobind pytest hypothesis
cat > python <<END
#!/bin/sh
export TSAN_OPTIONS="\${TSAN_OPTIONS:-suppressions=$root/cmake/tsan.supp halt_on_error=0 history_size=4 exitcode=66 log_path=$folder/report}"
export PYTHONPATH="$folder/site\${PYTHONPATH:+:\$PYTHONPATH}"
exec setarch -R "$folder/cpython/bin/python$version" "\$@"
END
chmod +x python
rm -f report.*

TSAN_OPTIONS="report_bugs=0" cmake -S "$root" -B native -G Ninja -DPython_EXECUTABLE="$folder/python" \
  -DPython_INCLUDE_DIR="$folder/cpython/include/python$version" \
  -DPython_NumPy_INCLUDE_DIR="$folder/site/numpy/_core/include" \
  -DTAPEFLOW_SANITIZE=thread -DTAPEFLOW_ONEDNN=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON
cmake --build native -j "$jobs"
rm -rf site/tapeflow && cp -R "$root/src/tapeflow" site/
rm -f site/tapeflow/_onednn*.so
cmake --install native --prefix site > native/install.txt
