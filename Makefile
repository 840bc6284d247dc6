# The two commands: `make demo` and `make test`. Both create .venv from pyproject.toml and need only Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# two test processes share the cores, so each gets one thread
ONE_THREAD = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: demo test lint package release-check test-slow fuzz docs docs-build format clean
.DEFAULT_GOAL := demo

INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "koopsieve needs Python 3.11 or newer; say which with: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.shown: pyproject.toml | $(VENV)/.made  # only what the demonstration needs: a minute instead of several
	$(INSTALL) -e ".[plots]"
	touch $@

$(VENV)/.ready: pyproject.toml | $(VENV)/.made
	$(INSTALL) -e ".[dev]"
	touch $(VENV)/.shown $@

demo: $(VENV)/.shown
	$(BIN)/koopsieve demo --out demo --overwrite

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

package: $(VENV)/.ready
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/twine check --strict dist/*

# installs the wheel in a clean environment, and does there what the README says
release-check: package
	$(ONE_THREAD) $(BIN)/pytest -m slow tests/release

test: lint
	$(ONE_THREAD) $(BIN)/pytest -n 2 -m "not slow"

test-slow: $(VENV)/.ready
	$(ONE_THREAD) $(BIN)/pytest -n 2 -m slow

# seeded fuzzers of everything that takes data or settings, one line each: make fuzz CASES=1000 SEED=3
CASES ?= 10000
SEED ?= 0
fuzz: $(VENV)/.ready
	$(ONE_THREAD) PYTHONPATH=src:. $(BIN)/python -m tests.fuzz.runner --cases $(CASES) --seed $(SEED)

docs: docs-build  # pages that a browser opens from disk cannot search, so they are served
	@echo "The documentation is at http://127.0.0.1:8000 until Ctrl-C"
	@$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory site

docs-build: $(VENV)/.ready
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=docs $(BIN)/mkdocs build --strict

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
