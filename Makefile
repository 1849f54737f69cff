# `make demo` and `make test` need nothing but Python 3.11 or newer: they set up .venv by themselves.
PYTHON ?= python3
VENV ?= .venv
READY = $(VENV)/.ready
OPU = $(VENV)/.opu
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench bench-quick bench-gp paper paper-quick clean

help:  ## what there is to make
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# lightonml asks for a numexpr that has no wheel for a current Python; the plugin brings what it needs.
$(OPU): $(READY) plugins/rfbench-lightonml/pyproject.toml
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable plugins/rfbench-lightonml
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps lightonml==1.4.3
	@touch $@

demo: $(READY)  ## the default experiment on embedded data
	$(VENV)/bin/rfbench $(ARGS)

test: $(READY) $(OPU)  ## the tests (ARGS='-k name' for some of them)
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

# An experiment of a paper: fig-wacker-4.8 is conf/experiment/wacker/fig4_8.yaml, table-wacker-D.1 is tableD_1.yaml.
# PAPER=full has the papers' sizes, PAPER=quick embedded data and small ones.
PAPER ?= normal
TRUTH ?=
# What the thesis took from Ohana et al. is run once.
SAME = wacker/fig6_2 wacker/fig6_3 wacker/table6_1
EXPERIMENTS = $(filter-out $(SAME),$(patsubst conf/experiment/%.yaml,%,$(wildcard conf/experiment/*/*.yaml)))
# Jobs run side by side, but those that measure time have the machine to themselves.
LAUNCHER ?= joblib
TIMED = wacker/fig4_6 ohana/fig3 brault/fig2 brault/fig5

fig-%: $(READY)  ## a figure of a paper, such as fig-wacker-4.8 (PAPER=full for the paper's sizes)
	$(VENV)/bin/rfbench experiment=$(firstword $(subst -, ,$*))/fig$(subst .,_,$(lastword $(subst -, ,$*))) size=$(PAPER) $(ARGS)

table-%: $(READY)  ## a table of a paper, such as table-wacker-D.1
	$(VENV)/bin/rfbench experiment=$(firstword $(subst -, ,$*))/table$(subst .,_,$(lastword $(subst -, ,$*))) size=$(PAPER) $(ARGS)

paper: $(READY)  ## every experiment, what is finished is found again; then ours beside the published numbers
	@failed=; for name in $(EXPERIMENTS); do \
	  case " $(TIMED) " in *" $$name "*) how=basic;; *) how=$(LAUNCHER);; esac; echo "== $$name"; \
	  $(VENV)/bin/rfbench experiment=$$name size=$(PAPER) hydra/launcher=$$how $(ARGS) || failed="$$failed $$name"; \
	done; \
	$(VENV)/bin/rfbench compare $(if $(TRUTH),--truth $(TRUTH)) || failed="$$failed compare"; \
	if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

paper-quick: PAPER = quick
paper-quick: LAUNCHER = basic
paper-quick: paper  ## every experiment on embedded data, in minutes

clean:  ## remove the environment, caches and results
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
	find outputs -mindepth 1 -not -name README.md -delete
