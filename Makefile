# `make conformance` and `make test` need nothing but Python 3.11 or later: everything else is set up here.
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11 python,$(shell \
    $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= auto

.PHONY: conformance test prove coverage bench check format reports clean

conformance: $(VENV)/.kit
	$(BIN)/nmemory protocol conformance

test: $(VENV)/.dev $(VENV)/.servers
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

prove: $(VENV)/.kit
	$(BIN)/nmemory protocol prove

coverage: $(VENV)/.kit
	$(BIN)/nmemory protocol coverage

bench: $(VENV)/.dev
	$(BIN)/python -m pytest tests/bench -m bench -q -s -p no:xdist

# The committed self-certification and proof; about six minutes on two processors.
reports: $(VENV)/.dev
	$(BIN)/python reports/regenerate.py

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m nmemory_kit.contract.lint
	$(BIN)/nmemory protocol freeze --check

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) build *.egg-info .cache .hypothesis .mypy_cache .ruff_cache

# The kit and the reference server.
$(VENV)/.kit: pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	    { echo "Python 3.11 or later is needed; say which: make PYTHON=/path/to/python3.12" >&2; exit 2; }
	test -x $(BIN)/pip || "$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# ...and what its tests need.
$(VENV)/.dev: $(VENV)/.kit
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# ...and the servers that other people wrote, for the end-to-end tests. Node itself comes from the dev extra.
$(VENV)/.servers: tests/e2e/package.json $(VENV)/.dev
	mkdir -p $(VENV)/servers
	cp tests/e2e/package.json $(VENV)/servers/
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/npm install --prefix $(VENV)/servers --no-audit --no-fund --no-package-lock --loglevel=error
	@touch $@
