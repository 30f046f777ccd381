# In-Context Learning, Reproduced. `make book` and `make test` set up what they need.
PY    ?= $(shell command -v python3.11 || command -v python3 || echo python3.11)
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS  ?= 2
SHELL := bash
SEEDS ?= 1 2 3
NAME  ?=

export PYTHONPATH := $(CURDIR)
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

REPORTS := _build/reports
PYTEST  := $(BIN)/python -m pytest -q
NBVAL   := --nbval-lax --nbval-current-env --nbval-cell-timeout 600
WORKERS := -n $(JOBS) --dist loadfile --no-loadscope-reorder
SPHINX  := $(BIN)/jupyter-book build . -W --keep-going -n
NAMED    = $(foreach name,$(NAME),book/chapters/$(name).md)
BROWSER := tests/test_site.py tests/test_front.py tests/test_explorers.py tests/test_downloads.py tests/test_paper.py
CHOSEN   = $(if $(NAME),$(NAMED),book/chapters)

.PHONY: help book pdf picture test check lint unit chapter expected seeds bench lab site-test clean chromium
help:
	@sed -n 's/^## //p' Makefile

## make book                  run every chapter that is not yet run, build the site into _build/html
book: $(STAMP)
	@todo="$$($(BIN)/python book/_ext/bookcache.py stale)" && if [ -n "$$todo" ]; then \
	  $(PYTEST) $(NBVAL) $(WORKERS) $$todo --chapters=run --fill-cache; fi
	$(SPHINX)
	@echo "The book is at _build/html/index.html"

## make pdf                   the book and its chapters as PDF, printed from the site with Chromium
pdf: chromium book paper

## make test                  everything: make check, the site in a real browser and on paper
test: chromium $(STAMP) check paper
	$(PYTEST) $(BROWSER) --junitxml=$(REPORTS)/site.xml
	@$(BIN)/python tests/summary.py $(REPORTS)

## make check                 lint, types, unit tests, every chapter run and compared, strict build; no browser
check: $(STAMP) lint
	@rm -rf $(REPORTS) && mkdir -p $(REPORTS)
	$(PYTEST) $(NBVAL) $(WORKERS) book/chapters tests $(BROWSER:%=--ignore=%) --fill-cache --junitxml=$(REPORTS)/check.xml
	@$(SPHINX) --all > $(REPORTS)/build.log 2>&1 || { cat $(REPORTS)/build.log; exit 1; }
	@! grep -E "Executing notebook" $(REPORTS)/build.log || { echo "The build ran a chapter again: its cache and the checker's disagree."; exit 1; }
	@echo "The strict build ran no chapter again; the site shows the run that was checked."

# chapters are piped through ruff: jupytext --check would write them back re-wrapped
lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy iclutils
	@set -o pipefail; bad=0; for chapter in book/chapters/*.md; do \
	  $(BIN)/jupytext -q --from md:myst --to py:percent -o - "$$chapter" \
	  | $(BIN)/ruff check -q --select E,F,W --ignore E402,E501,E701,E702,E703,E731,E741 --stdin-filename "$$chapter.py" - || bad=1; \
	done; exit $$bad

## make unit                  the package's tests only
unit: $(STAMP)
	$(PYTEST) $(WORKERS) tests $(BROWSER:%=--ignore=%)

## make chapter NAME=…        run and check one chapter (or several)
chapter: $(STAMP) need-name
	$(PYTEST) $(NBVAL) $(NAMED) --chapters=try --fill-cache -rs

## make expected [NAME=…]     run, and rewrite the verdicts in tests/expected
expected: $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --chapters=expected

## make seeds SEEDS="1 2 3"   run with other master seeds, compare the verdicts, record them for the ledger page
seeds: $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --master-seeds="$(SEEDS)"

## make bench                 each fast way against the plain way, on the same work
bench: $(STAMP)
	$(BIN)/python tests/bench.py $(NAME)

## make picture               the overview figure of the book that was built last becomes the README's picture
picture: $(STAMP)
	$(BIN)/python book/_ext/bookpicture.py

## make lab                   open the chapters as notebooks in JupyterLab
lab: $(VENV)/.lab
	cd book/chapters && ../../$(BIN)/jupyter-lab

## make clean                 delete what was built (not .venv)
clean:
	rm -rf _build

# the second build links the PDFs; it runs no chapter and writes only the pages that list files
.PHONY: need-name paper
paper:
	$(BIN)/python book/_ext/bookpdf.py
	@mkdir -p $(REPORTS) && $(SPHINX) > $(REPORTS)/paper.log 2>&1 || { cat $(REPORTS)/paper.log; exit 1; }

need-name:
	@test -n "$(NAME)" || { echo "Which chapter? For instance: make chapter NAME=01_attention_window"; exit 2; }

chromium:
	@command -v chromium >/dev/null 2>&1 || { echo "make test and make pdf open the site in Chromium, which is not here: install the package chromium; 'make check' is all but the browser."; exit 1; }

$(STAMP): requirements.lock pyproject.toml
	@command -v $(PY) >/dev/null 2>&1 || { echo "This book needs Python 3.11, and there is no $(PY) here: install it, or name it with make PY=/path/to/python3.11"; exit 1; }
	@$(PY) -c 'import sys; v = sys.version_info; sys.exit(v[:2] != (3, 11) and f"This book needs Python 3.11; $(PY) is {v[0]}.{v[1]}. Install Python 3.11 and run: make PY=python3.11")'
	@$(PY) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PY) cannot make virtual environments here: install the package python3.11-venv"; exit 1; }
	@clear=; if [ -e $(VENV)/.installing ]; then clear=--clear; fi; $(PY) -m venv $$clear $(VENV) && touch $(VENV)/.installing
	@echo "Installing the pinned packages into $(VENV) (about 1.7 GB with PyTorch) ..."
	@{ $(BIN)/python -m pip install --disable-pip-version-check -r requirements.lock \
	  && $(BIN)/python -m pip install --disable-pip-version-check --no-build-isolation --no-deps -e . ; } > $(VENV)/install.log 2>&1 \
	  || { echo "The packages could not be installed: is the package index within reach? pip's words are in $(VENV)/install.log. Run the same command again."; exit 1; }
	@rm $(VENV)/.installing && touch $@

# JupyterLab is no part of the book's pins; its own constraint is that it leaves them as they are
$(VENV)/.lab: $(STAMP) requirements-lab.txt
	@$(BIN)/python -m pip install --disable-pip-version-check -c requirements.lock -r requirements-lab.txt > $(VENV)/install.log 2>&1 \
	  || { echo "JupyterLab could not be installed: is the package index within reach? pip's words are in $(VENV)/install.log."; exit 1; }
	@mkdir -p $(VENV)/etc/jupyter/labconfig && echo '{"@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Jupytext Notebook"}}}' \
	  > $(VENV)/etc/jupyter/labconfig/default_setting_overrides.json
	@touch $@
