# Everything runs in .venv, which the targets make and fill by themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
PYTEST := $(BIN)/python -m pytest
# The arrays here are small: threads of one process would only wait for each other.
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo page test test-slow lint bench mutants fuzz package-check audit docs clean

help:
	@echo "make demo       install and explain one rejected loan application"
	@echo "make page       install and serve the page for the loan data, on this machine only"
	@echo "make test       install, then lint and every test not marked slow"
	@echo "make test-slow  the long fuzzing, fault, load and oracle runs"
	@echo "make lint       ruff, mypy, import-linter"
	@echo "make bench      measures again what the pages show, where the code has changed"
	@echo "make fuzz       a million damaged texts and files for each reader of them; hours"
	@echo "make mutants    change the modules of a room, ROOM=rules, and see whether its tests notice"
	@echo "make package-check  build wheel and sdist, install each, run the demo"
	@echo "make audit      ask for known faults of the versions in constraints.txt"
	@echo "make docs       build the documentation into site/"
	@echo "make clean      remove .venv, caches and build outputs"

demo: $(VENV)/.core
	$(BIN)/proce demo

page: $(VENV)/.serve
	$(BIN)/proce serve --demo

# One search compiles the kernels into the cache that all tests share, on the core that the linters
# leave idle; otherwise each process of the tests would begin by compiling them for itself.
test: $(VENV)/.dev
	@$(PYTEST) -q tests/methods/diagnosing/test_diagnosis.py & compiling=$$!; \
	    $(MAKE) --no-print-directory lint; linted=$$?; wait $$compiling && exit $$linted
	$(PYTEST) -n 2 --dist worksteal -m "not slow"

test-slow: $(VENV)/.dev
	$(PYTEST) -n 2 --dist worksteal -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/record.py --all

fuzz: $(VENV)/.hardening
	$(BIN)/python hardening/fuzz.py all

package-check:
	$(PYTHON) hardening/package_check.py

audit: $(VENV)/.hardening
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

mutants: $(VENV)/.hardening
	$(PYTEST) -q tests/hardening/test_mutants.py
	$(BIN)/python hardening/mutation.py $(or $(ROOM),rules) --sample 200 --seed 0

docs: $(VENV)/.docs
	$(BIN)/zensical build --strict

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# One stamp file per set of packages. The development set contains the core and what serving needs,
# so it stamps all three.
$(VENV)/.made:
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

$(VENV)/.serve: $(VENV)/.core
	$(PIP) -e '.[serve]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) -e '.[dev,onnx,bench,batch,serve,postgres]'
	@touch $(VENV)/.core $(VENV)/.serve $@

$(VENV)/.hardening: $(VENV)/.dev
	$(PIP) -e '.[hardening]'
	@touch $@

$(VENV)/.docs: $(VENV)/.core
	$(PIP) -e '.[docs]'
	@touch $@
