# Every target makes what it needs: a virtual environment, its packages, the native code (ninja
# rebuilds what changed). VENV=path uses another environment, JOBS=n another number of compilers.
VENV ?= .venv
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PYTHON ?= python3
ARGS ?=
MINUTES ?= 10

PY := $(abspath $(VENV))/bin/python
NATIVE := build/$(notdir $(VENV))
# Two builds of one folder at a time would spoil each other.
ALONE := $(if $(shell command -v flock),flock build/lock,)
export PYTHONPATH := $(CURDIR)/src$(if $(PYTHONPATH),:$(PYTHONPATH))
export PATH := $(abspath $(VENV))/bin:$(PATH)

.PHONY: demo test test-base wheel sdist wheels release-check sbom test-sample test-slow test-stress test-tsan test-oracle test-js tfjs-ops test-lite test-stubs test-onnx test-c fuzz-oracle test-xla bench api api-names lint docs \
	build sanitize build-sanitized test-stress-sanitized fuzz fuzz-objects clean

# An environment within the checkout imports the package from it, from any folder.
build: $(VENV)/.ready-base
	@mkdir -p $(NATIVE)
	@test -e $(NATIVE)/build.ninja || $(ALONE) cmake -S . -B $(NATIVE) -G Ninja \
		-DPython_EXECUTABLE=$(PY) -DCMAKE_INSTALL_MESSAGE=NEVER --log-level=STATUS
	@$(ALONE) cmake --build $(NATIVE) -j $(JOBS)
	@$(ALONE) cmake --install $(NATIVE) --prefix src > $(NATIVE)/install.txt
	@$(if $(filter $(CURDIR)/%,$(abspath $(VENV))),echo $(CURDIR)/src > \
		$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tapeflow-checkout.pth)

demo: build $(VENV)/.ready-demo
	$(PY) examples/mnist.py $(ARGS)

test: build $(VENV)/.ready-test
	$(PY) -m pytest -n $(JOBS) -m "not slow and not stress and not oracle and not gpu and not xla" $(ARGS)

# What works without extras, in an environment that has the run-time dependencies only.
BASE_TESTS := tests/ops/numeric tests/ops/linalg/test_lu.py tests/ops/test_without_extras.py tests/test_import.py \
	tests/ops/test_rows.py
test-base: build $(VENV)-base/.ready-base-tests
	$(abspath $(VENV)-base)/bin/python -m pytest -n $(JOBS) $(BASE_TESTS) $(ARGS) \
		-k "not test_rows or (($(BASE_ROWS)) and not second_order)"

BASE_ROWS := Matrix or Lu or Cholesky or Bessel or Erf or gamma or Zeta or Beta or Fresnel or Dawsn or Expint or Spence \
	or Ndtri or oftmax or Isotonic

$(VENV)-base/.ready-base-tests: pyproject.toml
	$(PYTHON) -m venv $(VENV)-base
	$(PYTHON) cmake/requirements.py run > $@.txt
	$(abspath $(VENV)-base)/bin/python -m pip install --quiet --disable-pip-version-check \
		-r $@.txt pytest pytest-xdist hypothesis
	@touch $@

# The wheel, and its bill of materials in CycloneDX's format.
wheel: $(VENV)/.ready-base
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

sdist: $(VENV)/.ready-base
	$(PY) -c 'from scikit_build_core.build import build_sdist; print("dist/" + build_sdist("dist"))'

# Wheels for other machines, one for each Python, each tried by the tests of the core: cmake/wheels.sh.
PYTHONS ?= 3.11 3.14 3.15
wheels:
	JOBS=$(JOBS) cmake/wheels.sh build/wheels $(PYTHONS)

# What `make sdist wheels` left in dist/: versions, licences, what is bundled.
release-check: $(VENV)/.ready-base
	$(PY) cmake/release_check.py $(wildcard dist/tapeflow-*)

sbom: wheel
	$(PY) cmake/sbom.py $$(ls -t dist/tapeflow-*.whl | head -1) > dist/sbom.cdx.json

# One in 40 of what takes long, and of the rows under XLA, and what runs on virtual GPUs: what each change is tried with.
test-sample: build $(VENV)/.ready-test $(VENV)/.ready-xla
	$(PY) -m pytest -n $(JOBS) -m "(slow or xla) and not stress and not oracle and not gpu" --one-in 40 $(ARGS)
	TAPEFLOW_VIRTUAL_GPUS=2 $(PY) -m pytest -n $(JOBS) -m xla tests/xla/test_devices.py tests/xla/test_sessions.py tests/xla/test_replicas.py
	TAPEFLOW_VIRTUAL_TPUS=4 $(PY) -m pytest -n $(JOBS) -m xla tests/tpu/test_strategy.py

test-slow: build $(VENV)/.ready-test
	$(PY) -m pytest -m "slow and not oracle and not gpu and not xla" $(ARGS)

# Many threads for a long time; `make test-stress-sanitized`: those that share variables, under ASan.
test-stress: build $(VENV)/.ready-test
	TAPEFLOW_STRESS_MINUTES=$(MINUTES) $(PY) -m pytest -m "stress and not gpu and not xla" $(ARGS)

# Against TensorFlow itself: TF_PYTHON names an interpreter that has it.
test-oracle: build $(VENV)/.ready-test
	$(PY) -m pytest -m oracle $(ARGS)

# Exported models in TF.js; needs node. The package goes to build/js.
test-js: build $(VENV)/.ready-test build/js/.ready
	TFJS_PACKAGE=$(CURDIR)/build/js/node_modules/@tensorflow/tfjs $(PY) -m pytest tests/export tests/examples -m js $(ARGS)

# The list of the ops that TF.js executes, without those of decision forests, from its package.
tfjs-ops: build/js/.ready
	grep -ohP "['\"]tfOpName['\"]\s*:\s*['\"]\K(?!SimpleML)\w+" \
		build/js/node_modules/@tensorflow/tfjs-converter/dist/operations/op_list/*.js | LC_ALL=C sort -u > src/tapeflow/export/tfjs_ops.txt

# Models that tf2onnx converts, in onnxruntime; installs both.
test-onnx: build $(VENV)/.ready-test $(VENV)/.ready-onnx
	$(PY) -m pytest tests/export -m onnx $(ARGS)

# The loader in C; installs jax, and XLA's PJRT plugin for CPUs. PJRT_PLUGIN=path takes another plugin.
test-c: build $(VENV)/.ready-test $(VENV)/.ready-xla $(VENV)/.ready-pjrt
	$(PY) -m pytest tests/export/test_c_loader.py -m "xla and not oracle" $(ARGS)

build/js/.ready:
	@mkdir -p build/js
	npm install --silent --no-audit --no-fund --prefix build/js @tensorflow/tfjs@4.22.0
	@touch $@

# The server, asked by the stubs of TensorFlow Serving. Their package needs TensorFlow, in whose place this package is.
test-stubs: build $(VENV)/.ready-test build/stubs/.ready
	SERVING_STUBS=$(CURDIR)/build/stubs $(PY) -m pytest tests/serving/test_clients.py -k stubs -m "not oracle" $(ARGS)

build/stubs/.ready: | $(VENV)/.ready-test
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --target build/stubs tensorflow-serving-api==2.21.0
	@touch $@

# Models of TensorFlow Lite; installs its converter, quantizer and runtime.
test-lite: build $(VENV)/.ready-test $(VENV)/.ready-lite
	$(PY) -m pytest tests/lite tests/tools/test_carving.py $(ARGS)

# A long run of random calls of public functions against TensorFlow; ARGS="--names math,linalg.trace --errors".
CALLS ?= 20000
SEED ?= 1
fuzz-oracle: build $(VENV)/.ready-test
	$(PY) tests/api/test_calls_oracle.py --calls $(CALLS) --seed $(SEED) $(ARGS)

# What compiles graphs with XLA, some of its CPU devices standing for GPUs and TPUs; installs jax.
test-xla: build $(VENV)/.ready-test $(VENV)/.ready-xla
	$(PY) tests/ops/row_coverage.py
	TAPEFLOW_VIRTUAL_GPUS=2 $(PY) -m pytest -n $(JOBS) -m "xla and not slow and not gpu" $(ARGS)
	TAPEFLOW_VIRTUAL_TPUS=4 $(PY) -m pytest -n $(JOBS) -m xla tests/tpu/test_strategy.py

# TF_PYTHON, TORCH_PYTHON, JAX_PYTHON name the interpreters of the peers to compare with.
bench: build
	$(PY) benchmarks/bench.py $(ARGS)

api: build
	$(PY) tests/api/names.py

# The table of public names, and the stub files of the namespaces, from what is declared at definitions.
api-names:
	$(PYTHON) src/tapeflow/api/generate.py

# With the packages of the tests: mypy reads the types of the optional ones.
lint: $(VENV)/.ready-lint $(VENV)/.ready-test
	$(PY) -m ruff check .
	$(PY) -m mypy

docs: build $(VENV)/.ready-docs
	$(PY) -m mkdocs build --strict

# The native code under AddressSanitizer and UBSan: the quick tests, and random calls of every row.
# CPython's own arenas would hide overruns, and what Python keeps to its end is no leak.
SANITIZED := PYTHONPATH=$(CURDIR)/build/sanitize/site PYTHONMALLOC=malloc UBSAN_OPTIONS=halt_on_error=1 \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024 \
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libstdc++.so)"

sanitize: build-sanitized
	$(SANITIZED) $(PY) -m pytest -p no:cacheprovider -m "not slow and not stress and not oracle and not gpu and not xla" $(ARGS)

test-stress-sanitized: build-sanitized
	TAPEFLOW_STRESS_MINUTES=$(MINUTES) $(SANITIZED) $(PY) -m pytest -p no:cacheprovider tests/stress $(ARGS)

# The native code under ThreadSanitizer, on an interpreter built with it (cmake/tsan.sh): the stress tests.
TSAN_BUILD ?= build/tsan
test-tsan:
	cmake/tsan.sh $(abspath $(TSAN_BUILD)) $(PY) $(JOBS)
	$(abspath $(TSAN_BUILD))/python -m pytest -p no:cacheprovider tests/stress $(ARGS) || \
		{ cat $(TSAN_BUILD)/report.*; false; }

MINUTES ?= 10
fuzz: build-sanitized
	$(SANITIZED) $(PY) tests/robustness/fuzz_rows.py --minutes $(MINUTES) $(ARGS)

# Objects whose special methods change what is being read.
fuzz-objects: build-sanitized
	$(SANITIZED) $(PY) tests/robustness/hostile_objects.py --minutes $(MINUTES) $(ARGS)

build-sanitized: $(VENV)/.ready-base $(VENV)/.ready-test
	@mkdir -p build/sanitize/site
	cmake -S . -B build/sanitize -G Ninja -DPython_EXECUTABLE=$(PY) \
		-DTAPEFLOW_SANITIZE=address,undefined
	cmake --build build/sanitize -j $(JOBS)
	cp -R src/tapeflow build/sanitize/site/
	cmake --install build/sanitize --prefix build/sanitize/site

clean:
	rm -rf build src/tapeflow/*.so src/tapeflow/lib

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The packages of one use (an extra of pyproject.toml), installed again when pyproject.toml changes.
$(VENV)/.ready-base: pyproject.toml | $(VENV)/bin/python
	$(PY) cmake/requirements.py build run > $@.txt
	$(PY) -m pip install --quiet --disable-pip-version-check cmake ninja -r $@.txt
	@touch $@

$(VENV)/.ready-%: pyproject.toml | $(VENV)/bin/python
	$(PY) cmake/requirements.py run $* > $@.txt
	$(PY) -m pip install --quiet --disable-pip-version-check -r $@.txt
	@touch $@
