# Everything a user or a developer runs. `make demo` and `make test` need only Python (3.10 or later) and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
WORKERS ?= auto

.PHONY: help demo test test-all test-versions test-wheel fuzz check format lint types layers docs study bench bench-quick clean
.DEFAULT_GOAL := help

help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

# One stamp per set of packages, so that `make demo` does not install what only developers need.
$(VENV)/.runtime: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable '.[plots]'
	touch $@

$(VENV)/.test: $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --group test
	touch $@

$(VENV)/.dev: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

demo: $(VENV)/.runtime  ## learn the ALARM network from the bundled sample, and compare it with the truth
	$(BIN)/mapdag learn examples/alarm.csv.gz --like alarm --out alarm.bif --report alarm.html
	@echo
	@echo "against the network that the sample was drawn from:"
	$(BIN)/mapdag compare alarm alarm.bif

test: $(VENV)/.test  ## run the tests (slow ones excepted)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not slow" --cov --cov-report=term:skip-covered

test-all: $(VENV)/.test  ## run every test
	$(BIN)/python -m pytest -n $(WORKERS)

test-versions: $(VENV)/.runtime  ## test the lowest and the newest dependencies allowed, each in an empty environment
	$(BIN)/python tests/versions.py .versions-venv

FUZZ_OPTIONS ?= --seconds 300
fuzz: $(VENV)/.test  ## give random inputs to everything that takes any, and kill runs at any moment (FUZZ_OPTIONS)
	$(BIN)/python tests/fuzz/campaign.py $(FUZZ_OPTIONS)
	$(BIN)/python tests/fuzz/kills.py

test-wheel:      ## build the wheel, install it alone in an empty environment, and test it there
	rm -rf .wheel-venv dist
	$(PYTHON) -m venv .wheel-venv
	.wheel-venv/bin/python -m pip install --quiet --upgrade "pip>=25.1" build
	.wheel-venv/bin/python -m build --wheel --outdir dist
	.wheel-venv/bin/python -m pip install --quiet dist/*.whl
	.wheel-venv/bin/python -m pip install --quiet --group test
	.wheel-venv/bin/python -m pytest -n $(WORKERS) -m "not slow" tests

format: $(VENV)/.dev  ## format the code
	$(BIN)/ruff format
	$(BIN)/ruff check --fix-only --quiet

lint: $(VENV)/.dev  ## formatting and lint, without changing anything
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: $(VENV)/.dev  ## mypy, strict
	$(BIN)/mypy

layers: $(VENV)/.dev  ## who may import whom
	$(BIN)/lint-imports

$(VENV)/.docs: $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

docs: $(VENV)/.docs  ## build the documentation into site/, and check that it loads nothing from outside
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python docs/check_site.py site

study: $(VENV)/.runtime  ## write every table, claim and figure of the study anew from results/paper/rows.csv.gz
	$(BIN)/mapdag study report results/paper --out results/paper
	$(BIN)/python benchmarks/study_tables.py results/paper docs/study.md

check: lint types layers docs test test-versions  ## everything that CI runs

# Benchmarks have an environment of their own, with the peers in it.
BENCH := .bench-venv

$(BENCH)/.ready: pyproject.toml
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BENCH)/bin/python -m pip install --quiet --editable '.[plots]' --group peers --group arenas --group tables
	touch $@

bench: $(BENCH)/.ready  ## measure speed and memory against peers and targets (BENCH_DATA=folder for given data)
	$(BENCH)/bin/python benchmarks $(BENCH_OPTIONS)

bench-quick: $(BENCH)/.ready  ## the same, smaller: to see whether it works
	$(BENCH)/bin/python benchmarks --quick --out $(BENCH)/results

clean:           ## remove what the other targets made
	rm -rf $(VENV) $(BENCH) .versions-venv .wheel-venv dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find src tests -name __pycache__ -prune -exec rm -rf {} +
