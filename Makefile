# `make demo` and `make test` need nothing but Python 3.11 or newer: they set up .venv by themselves.
PYTHON ?= python3
VENV ?= .venv
READY = $(VENV)/.ready
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench bench-quick bench-gp clean

help:  ## what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(READY)  ## the default experiment on embedded data
	$(VENV)/bin/rfbench $(ARGS)

test: $(READY)  ## the tests (ARGS='-k name' for some of them)
	$(VENV)/bin/python -m pytest --numprocesses auto --dist worksteal $(ARGS)

lint: $(READY)  ## ruff and mypy
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

bench: $(READY)  ## speed against scikit-learn, a matrix product and LAPACK (ARGS='--docs docs' renews docs/speed.md)
	$(VENV)/bin/python bench/speed.py $(ARGS)

bench-quick: $(READY)  ## the same of some sketches, in under three minutes
	$(VENV)/bin/python bench/speed.py --quick

bench-gp: $(READY)  ## Gaussian processes against syrk and LAPACK
	$(VENV)/bin/python bench/processes.py $(ARGS)

clean:  ## remove the environment, caches and results
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
	find outputs -mindepth 1 -not -name README.md -delete
