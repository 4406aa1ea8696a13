# Entry points for people; CI calls the same ones through .ci/run.
#   make demo         a failing input, bundled, checked, minimised, shown   (Python 3.10 to 3.13)
#   make demo-triton  the same from a kernel compiled by triton-ascend      (also needs a Python 3.9 to 3.11)
#   make test         everything tests need, then the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OLD_COMPILERS := 1.0.0 1.1.0

TRITON_PYTHON ?= $(firstword $(foreach name,python3.11 python3.10 python3.9 python3,$(shell command -v $(name))))
TRITON_VENV ?= .venv-triton
TORCH ?= torch==2.13.0
# The compiler comes in a wheel, which puts nothing on PATH; triton-ascend looks for it there.
COMPILER_FOLDER = $$($(BIN)/python -c 'import importlib.util as u; print(u.find_spec("ascendnpuir").submodule_search_locations[0])')/bin
ADAPTER_FOLDER = $$($(TRITON_VENV)/bin/python -c 'import importlib.util as u; print(u.find_spec("triton").submodule_search_locations[0])')/backends/ascend

.PHONY: demo demo-triton test test-pages test-triton compilers lint fuzz bench clean

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	    { echo "the minimizer needs Python 3.10 or newer: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[compiler]'
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[compiler,test]'
	touch $@ $(VENV)/.installed

$(TRITON_VENV)/.installed:
	$(TRITON_PYTHON) -m venv $(TRITON_VENV)
	$(TRITON_VENV)/bin/python -m pip install --quiet --upgrade pip
	$(TRITON_VENV)/bin/python -m pip install --quiet $(TORCH) triton-ascend==3.2.0 pybind11
	touch $@

# The published compilers side by side: tests compare how they word the same failure.
compilers: $(OLD_COMPILERS:%=.compilers/%/.installed)
.compilers/%/.installed: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-deps --target .compilers/$* --only-binary=:all: \
	    --python-version 3.11 --implementation cp \
	    --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 ascendnpu-ir==$*
	touch $@

demo: $(VENV)/.installed
	rm -rf demo && mkdir demo
	@printf '\n=== bundle: a failing compile becomes an archive\n'
	$(BIN)/npubug bundle --ir examples/failing.ttadapter --output demo
	@printf '\n=== minimize: the same failure, as small as it gets\n'
	$(BIN)/npubug minimize demo/failing-*.npubug.tar.zst
	@printf '\n=== check: what would a maintainer still ask for?\n'
	$(BIN)/npubug check demo/failing-*.npubug.tar.zst
	@printf '\n=== show: the story on one screen\n'
	$(BIN)/npubug show demo/failing-*.npubug.tar.zst
	@printf '\n=== and the reduced input itself\n'
	cat demo/failing-*.reduced.ttadapter

demo-triton: $(VENV)/.installed $(TRITON_VENV)/.installed
	rm -rf demo-triton && mkdir demo-triton
	@printf '\n=== bundle: run the program, record its failing compile (it exits with 1, and so does bundle)\n'
	PATH="$(COMPILER_FOLDER):$$PATH" $(BIN)/npubug bundle --output demo-triton -- \
	    $(TRITON_VENV)/bin/python examples/fold_pairs.py; test $$? -eq 1
	@printf '\n=== a healthy kernel is no bug: nothing is written\n'
	PATH="$(COMPILER_FOLDER):$$PATH" $(BIN)/npubug bundle --output demo-triton -- \
	    $(TRITON_VENV)/bin/python examples/add.py 2>&1 | tail -n 3
	@printf '\n=== minimize, check, show\n'
	$(BIN)/npubug minimize demo-triton/fold_pairs-*.npubug.tar.zst
	$(BIN)/npubug check demo-triton/fold_pairs-*.npubug.tar.zst
	$(BIN)/npubug show demo-triton/fold_pairs-*.npubug.tar.zst

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: $(VENV)/.installed-test compilers lint
	$(BIN)/pytest -n auto -m 'not triton and not chromium'

# The page, rendered: needs Chromium (Debian: apt-get install chromium).
test-pages: $(VENV)/.installed-test
	$(BIN)/pytest -m chromium

# The tests that need triton-ascend's front end and adapter.
test-triton: $(VENV)/.installed-test $(TRITON_VENV)/.installed
	PATH="$(COMPILER_FOLDER):$(ADAPTER_FOLDER):$$PATH" NPUBUG_TRITON_PYTHON=$(abspath $(TRITON_VENV))/bin/python \
	    $(BIN)/pytest -m triton

# Mutated bytes against the archive reader, for FUZZ_SECONDS; docs/fuzzing.md. atheris has no wheel for every Python.
FUZZ_SECONDS ?= 120
fuzz: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet -e '.[fuzz]'
	$(BIN)/python -m fuzz.archive_reader $(FUZZ_SECONDS)

bench: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.minimize

clean:
	rm -rf $(VENV) $(TRITON_VENV) .compilers demo demo-triton build
