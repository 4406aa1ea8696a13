# Entry points for people; CI calls `make test` through .ci/run.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-test
OLD_COMPILERS := 1.0.0 1.1.0

.PHONY: test compilers lint

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(STAMP): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[compiler,test]'
	touch $@

# The published compilers side by side: tests compare how they word the same failure.
compilers: $(OLD_COMPILERS:%=.compilers/%/.installed)
.compilers/%/.installed: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-deps --target .compilers/$* --only-binary=:all: \
	    --python-version 3.11 --implementation cp \
	    --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 ascendnpu-ir==$*
	touch $@

lint: $(STAMP)
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

test: $(STAMP) compilers lint
	$(BIN)/pytest -n auto
