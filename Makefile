# In-Context Learning, Reproduced. `make book` and `make test` set up what they need.
PY    ?=
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
ANYPY := $(shell command -v python3 || command -v python || echo python3)
JOBS  ?= 2
SHELL := bash
SEEDS ?= 1 2 3
NAME  ?=
ONLY  ?=

export PYTHONPATH := $(CURDIR)
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

REPORTS := _build/reports
PYTEST  := $(BIN)/python -m pytest -q
NBVAL   := --nbval-lax --nbval-current-env --nbval-cell-timeout 600
WORKERS := -n $(JOBS) --dist loadfile --no-loadscope-reorder
BUILD   := $(BIN)/python -m iclutils.book.build
NAMED    = $(foreach name,$(NAME),book/chapters/$(name).md)
BROWSER := tests/browser
CHOSEN   = $(if $(NAME),$(NAMED),book/chapters)

.PHONY: help book pdf picture test check lint unit chapter expected seeds knobs elsewhere interrupted faults bench frames lab site-test clean chromium
help:
	@sed -n 's/^## //p' Makefile

## make book                  run every chapter that is not yet run, build the site into _build/html
book: $(STAMP)
	@todo="$$($(BIN)/python -m iclutils.book.runs.cache stale)" && if [ -n "$$todo" ]; then \
	  $(PYTEST) $(NBVAL) $(WORKERS) $$todo --chapters=run --fill-cache; fi
	@$(BUILD)
	@echo "The book is at _build/html/index.html"

## make pdf                   the book and its chapters as PDF, printed from the site with Chromium
pdf: chromium book paper

## make test                  everything: make check, the site in a real browser and on paper
test: chromium $(STAMP) check paper
	$(PYTEST) $(WORKERS) $(BROWSER) --junitxml=$(REPORTS)/site.xml
	@$(BIN)/python tests/summary.py $(REPORTS)

## make check                 lint, types, unit tests, every chapter run and compared, strict build; no browser
check: $(STAMP) lint
	@rm -rf $(REPORTS) _build/store && mkdir -p $(REPORTS)
	$(PYTEST) $(NBVAL) $(WORKERS) book/chapters tests --ignore=$(BROWSER) --fill-cache --junitxml=$(REPORTS)/check.xml
	@$(BUILD) --all --checked
	@echo "The strict build ran no chapter again; the site shows the run that was checked."

# chapters are piped through ruff: jupytext --check would write them back re-wrapped
lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy iclutils
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/book.yml
	@set -o pipefail; bad=0; for chapter in book/chapters/*.md; do \
	  $(BIN)/jupytext -q --from md:myst --to py:percent -o - "$$chapter" \
	  | $(BIN)/ruff check -q --select E,F,W --ignore E402,E501,E701,E702,E703,E731,E741 --stdin-filename "$$chapter.py" - || bad=1; \
	done; exit $$bad

## make unit                  the package's tests only
unit: $(STAMP)
	$(PYTEST) $(WORKERS) tests --ignore=$(BROWSER)

## make chapter NAME=…        run and check one chapter (or several)
chapter: $(STAMP) need-name
	$(PYTEST) $(NBVAL) $(NAMED) --chapters=try --fill-cache -rs

## make expected [NAME=…]     run, and rewrite the verdicts in tests/expected
expected: $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --chapters=expected

## make seeds SEEDS="1 2 3"   run with other master seeds, compare the verdicts, record them for the ledger page
seeds: $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --master-seeds="$(SEEDS)"

## make knobs [NAME=…]        run with every knob turned once, one at a time; goes on where it stopped
knobs: $(STAMP)
	@todo="$$($(BIN)/python -m iclutils.book.runs.cache stale)" && if [ -n "$$todo" ]; then \
	  $(PYTEST) $(NBVAL) $(WORKERS) $$todo --chapters=run --fill-cache; fi
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --knobs=all || [ $$? -eq 5 ]

## make elsewhere [NAME=…]    run as on another processor (plain instructions, two threads), and compare
elsewhere: $(STAMP)
	$(PYTEST) $(NBVAL) $(CHOSEN) --elsewhere

## make interrupted           kill sweeps, chapters and builds at ten moments with each of three signals
interrupted: $(STAMP)
	$(PYTEST) $(WORKERS) tests/book/runs/test_interrupted.py --moments=10

## make faults [ONLY=word]     plant faults and say which nothing notices; an hour, goes on where it stopped
faults: $(STAMP)
	@$(BIN)/python tests/faults/run.py --workers $(JOBS) --only "$(ONLY)"

## make bench                 each fast way against the plain way, on the same work
bench: $(STAMP)
	$(BIN)/python tests/bench/bench.py $(NAME)

## make frames                frames a second and milliseconds a frame of the trainings on the built site
frames: $(STAMP)
	$(BIN)/python -m tests.bench.frames

## make picture               from the book that was built last: the README's picture, and the explorers' without scripts
picture: $(STAMP)
	$(BIN)/python -m iclutils.book.paper.picture
	$(BIN)/python -m iclutils.book.paper.explorers

## make lab                   open the chapters as notebooks in JupyterLab
lab: $(VENV)/.lab
	cd book/chapters && ../../$(BIN)/jupyter-lab

## make clean                 delete what was built (not .venv)
clean:
	rm -rf _build

# the second build links the PDFs; it runs no chapter and writes only the pages that list files
.PHONY: need-name paper
paper:
	$(BIN)/python -m iclutils.book.paper.pdf
	@$(BUILD) --checked

need-name:
	@test -n "$(NAME)" || { echo "Which chapter? For instance: make chapter NAME=01_attention_window"; exit 2; }

chromium:
	@command -v chromium >/dev/null 2>&1 || { echo "make test and make pdf open the site in Chromium, which is not here: install the package chromium; 'make check' is all but the browser."; exit 1; }

# uv does it; where neither uv nor any Python 3 is, the message names both
$(STAMP): requirements.lock requirements.in pyproject.toml
	@command -v "$(ANYPY)" >/dev/null 2>&1 || { echo "Nothing here can set the book up: install Python 3 (any version), or uv (docs.astral.sh/uv) and Python 3."; exit 1; }
	@PY="$(PY)" "$(ANYPY)" iclutils/book/install.py

# JupyterLab is no part of the book's pins; its own constraint is that it leaves them as they are
$(VENV)/.lab: $(STAMP) requirements-lab.txt
	@"$(ANYPY)" iclutils/book/install.py lab

## make lock                  pin anew what requirements.in allows (the newest that agree)
.PHONY: lock
lock:
	@"$(ANYPY)" iclutils/book/install.py lock
