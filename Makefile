# `make demo` and `make test` need nothing but Python 3.11 or newer: they set up .venv by themselves.
PYTHON ?= python3
VENV ?= .venv
READY = $(VENV)/.ready
DEV = $(VENV)/.dev
REPORT = $(VENV)/.report
PIP = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
PYTEST = $(VENV)/bin/python -m pytest --numprocesses auto --dist worksteal
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo report-demo test test-fast test-slow lint bench bench-quick bench-gp paper paper-quick paper-cells beyond frontier clean

help:  ## list the targets
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

# lightonml requires a numexpr without a wheel for current Pythons; its plugin depends on what it needs.
$(DEV): $(READY) $(wildcard plugins/*/pyproject.toml)
	$(PIP) --editable '.[dev]' $(patsubst %/pyproject.toml,--editable %,$(wildcard plugins/*/pyproject.toml))
	$(PIP) --no-deps lightonml==1.4.3
	@touch $@

$(REPORT): $(READY)
	$(PIP) --editable '.[report]'
	@touch $@

demo: $(READY)  ## compare four sketches on embedded data
	$(VENV)/bin/rfbench $(ARGS)

# The last sweep has a task that wine cannot have: the page shows what failed, so a failure does not stop it.
report-demo: $(REPORT)  ## two sweeps on embedded data and the page of their results, outputs/report.html
	$(VENV)/bin/rfbench -m sketch=rademacher,tensorsketch,tensorsrht,ctr_tensorsrht degree=2,4 seeds=6
	$(VENV)/bin/rfbench -m task=ridge,gpr dataset=diabetes,wine sketch=rff,orf,sorf features='[16,32,64,128]' seeds=4 || [ $$? = 1 ]
	$(VENV)/bin/rfbench report

test: $(DEV)  ## the tests but the slow ones (ARGS='-k name' for some of them)
	$(PYTEST) -m 'not slow' $(ARGS)

test-fast: $(DEV)  ## the tests that answer within seconds
	$(PYTEST) -m 'not slow and not medium' $(ARGS)

test-slow: $(DEV)  ## the slow tests, which only CI runs
	$(PYTEST) -m slow $(ARGS)

lint: $(DEV)  ## ruff and mypy
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

bench: $(DEV)  ## speed against scikit-learn, a matrix product and LAPACK (ARGS='--docs docs' renews docs/speed.md)
	-@$(PIP) --only-binary :all: fht-cpu
	$(VENV)/bin/python bench/speed.py $(ARGS)

bench-quick: $(DEV)  ## the same for some sketches, in under three minutes
	$(VENV)/bin/python bench/speed.py --quick

bench-gp: $(DEV)  ## Gaussian processes against syrk and LAPACK
	$(VENV)/bin/python bench/processes.py $(ARGS)

# An experiment of a paper: fig-wacker-4.8 is conf/experiment/wacker/fig4_8.yaml, table-wacker-D.1 is tableD_1.yaml.
# PAPER=full has the papers' sizes, PAPER=quick embedded data and small ones.
PAPER ?= normal
TRUTH ?=
# The thesis repeats results of Ohana et al.; they run once.
SAME = wacker/fig6_2 wacker/fig6_3 wacker/table6_1
ALL = $(filter-out $(SAME),$(patsubst conf/experiment/%.yaml,%,$(wildcard conf/experiment/*/*.yaml)))
EXPERIMENTS = $(filter-out beyond/% frontier/%,$(ALL))
# Jobs run side by side, except those that measure time.
LAUNCHER ?= joblib
TIMED = wacker/fig4_6 ohana/fig3 brault/fig2 brault/fig5

fig-%: $(READY)  ## a figure of a paper, such as fig-wacker-4.8 (PAPER=full for the paper's sizes)
	$(VENV)/bin/rfbench experiment=$(firstword $(subst -, ,$*))/fig$(subst .,_,$(lastword $(subst -, ,$*))) size=$(PAPER) $(ARGS)

table-%: $(READY)  ## a table of a paper, such as table-wacker-D.1
	$(VENV)/bin/rfbench experiment=$(firstword $(subst -, ,$*))/table$(subst .,_,$(lastword $(subst -, ,$*))) size=$(PAPER) $(ARGS)

beyond-%: $(READY)  ## an experiment that no paper has, such as beyond-NAME for conf/experiment/beyond/NAME.yaml
	$(VENV)/bin/rfbench experiment=beyond/$* size=$(PAPER) $(ARGS)

frontier-%: $(READY)  ## a comparison with rivals, such as frontier-NAME for conf/experiment/frontier/NAME.yaml
	$(VENV)/bin/rfbench experiment=frontier/$* size=$(PAPER) $(ARGS)

buechel-%: $(READY)  ## features on an analogue chip, such as buechel-NAME for conf/experiment/buechel/NAME.yaml
	$(VENV)/bin/rfbench experiment=buechel/$* size=$(PAPER) $(ARGS)

paper: $(DEV)  ## every experiment, resumed where it stopped; then our numbers beside the published ones, and a report
	@failed=; for name in $(EXPERIMENTS); do \
	  case " $(TIMED) " in *" $$name "*) how=basic;; *) how=$(LAUNCHER);; esac; echo "== $$name"; \
	  $(VENV)/bin/rfbench experiment=$$name size=$(PAPER) hydra/launcher=$$how $(ARGS) || failed="$$failed $$name"; \
	done; \
	$(VENV)/bin/rfbench compare $(if $(TRUTH),--truth $(TRUTH)) || failed="$$failed compare"; \
	$(VENV)/bin/rfbench report || failed="$$failed report"; \
	if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

beyond: EXPERIMENTS = $(filter beyond/%,$(ALL))
beyond: paper  ## every experiment that no paper has

frontier: EXPERIMENTS = $(filter frontier/%,$(ALL))
frontier: paper  ## every comparison with rivals

paper-cells: $(DEV)  ## published cells without a verdict, cheapest first, resumed where it stopped (ARGS=--plan lists them)
	$(VENV)/bin/python bench/cells.py $(if $(TRUTH),--truth $(TRUTH)) $(ARGS)

paper-quick: PAPER = quick
paper-quick: LAUNCHER = basic
paper-quick: paper  ## every experiment on embedded data, in minutes

clean:  ## remove the environment, caches and results
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
	find outputs -mindepth 1 -not -name README.md -delete
