# In-Context Learning, Reproduced. `make book` and `make test` set up what they need.
PY    ?=
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
ANYPY := $(shell command -v python3 || command -v python || echo python3)
CORES := $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
# one worker per core, at most eight: a worker and its kernel take about 1 GB
JOBS  ?= $(shell echo $$(($(CORES) < 8 ? $(CORES) : 8)))
SHELL := bash
SEEDS ?= 1 2 3
NAME  ?=
SET   ?=
VARIANTS ?= default avx2 perturbed
space := $() $()
# a name completed by Tab has a folder and .md
override NAME := $(patsubst %.md,%,$(notdir $(NAME)))

export PYTHONPATH := $(CURDIR)
# let the first process that imports a module write its bytecode for the sixty others
export PYTHONDONTWRITEBYTECODE :=
# kernels and Matplotlib write here, not into HOME
export JUPYTER_RUNTIME_DIR := $(CURDIR)/_build/home/jupyter
export IPYTHONDIR := $(CURDIR)/_build/home/ipython
export MPLCONFIGDIR := $(CURDIR)/_build/home/matplotlib
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

REPORTS := _build/reports
PYTEST  := $(BIN)/python -m pytest -q
NBVAL   := --nbval-lax --nbval-current-env --nbval-cell-timeout 600
COMPARE := $(PYTEST) tests/book/test_book.py
SPREAD  := --dist loadfile
WORKERS := -n $(JOBS) $(SPREAD) --no-loadscope-reorder
BUILD   := $(BIN)/python -m claimbook.build
FOLDERS := book/chapters
NAMED    = $(foreach name,$(NAME),book/chapters/$(name).md)
BROWSER := tests/browser
# tests that need neither a run nor the site use the core that the build leaves idle
BESIDE  := $(patsubst %,tests/claimbook/test_%.py,typed makefile)
# tests that read the built site
BUILT   := $(patsubst %,tests/book/test_%.py,pages search figures downloads)
SCIENCE := tests/iclutils
CHOSEN   = $(if $(NAME),$(NAMED),book/chapters)

.PHONY: help
help:
	@sed -n 's/^## //p' Makefile
	@echo; echo "For authors (CONTRIBUTING.md):"; sed -n 's/^#@ //p' Makefile

## make book                   run the chapters that have changed, build the site: _build/html/index.html
.PHONY: book
book: $(STAMP)
	@$(BUILD) --current || { \
	  todo="$$($(BIN)/python -m claimbook.runs.notebooks)" && if [ -n "$$todo" ]; then \
	  $(PYTEST) $(NBVAL) $(WORKERS) $$todo; fi && $(BUILD); }
	@echo "The book is at _build/html/index.html"

## make chapter NAME=…         run one chapter or several: has every number the value that the book shows?
##      … SET="p1=0.6"         at other values of its knobs: which verdicts change?
.PHONY: chapter
chapter: need-name named $(STAMP)
	$(PYTEST) $(NBVAL) $(NAMED) $(if $(SET),--set "$(SET)",&& $(COMPARE) --pages "$(NAME)")

## make lab                    open the chapters as notebooks in JupyterLab (installed on first use)
.PHONY: lab
lab: $(VENV)/.lab
	cd book/chapters && JUPYTER_CONFIG_PATH="$(CURDIR)/claimbook/lab" \
	  ../../$(BIN)/jupyter-lab $(if $(filter 0,$(shell id -u)),--allow-root)

## make test                   everything: make check, then the site in a browser (Chromium)
# one worker more than cores: a browser test waits for a fifth of its time; the pages of one test
# file are most of the work, and so a worker that has nothing left takes some of another's
.PHONY: test
test: chromium $(STAMP) built
	$(PYTEST) -n $$(($(JOBS) + 1)) --dist worksteal $(BROWSER) $(BUILT) --junitxml=$(REPORTS)/site.xml
	@$(BIN)/python tests/summary.py $(REPORTS)

## make check                  lint, types, unit tests, every chapter run and compared, strict build
.PHONY: check
check: built
	$(PYTEST) $(WORKERS) $(BUILT) --junitxml=$(REPORTS)/pages.xml
	@echo "The strict build executes nothing; the site shows the run that was checked."

# what both begin with: all but the tests of the built site
.PHONY: built
built: $(STAMP)
	@rm -rf $(REPORTS) _build/store && mkdir -p $(REPORTS)
	@ran=0; $(PYTEST) $(NBVAL) $(WORKERS) book/chapters --junitxml=$(REPORTS)/run.xml || ran=$$?; \
	$(PYTEST) $(WORKERS) tests $(patsubst %,--ignore=%,$(BROWSER) $(BESIDE) $(BUILT)) --junitxml=$(REPORTS)/check.xml && exit $$ran
	@$(PYTEST) $(BESIDE) --junitxml=$(REPORTS)/beside.xml & \
	built=0; $(BUILD) || built=$$?; wait $$! && exit $$built

## make seeds SEEDS="1 2 3"    run all chapters, or NAME=…, with other master seeds; compare the verdicts
.PHONY: seeds
seeds: named seeded $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --master-seeds="$(SEEDS)"

## make portability            run as other machines compute, compare (NAME=…, VARIANTS="avx2 perturbed:2")
.PHONY: portability
portability: named $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --variants="$(VARIANTS)"

## make bench [NAME=topic]     time each optimised routine against its reference on the same work
.PHONY: bench
bench: $(STAMP)
	$(BIN)/python tests/bench/bench.py $(NAME)

## make clean                  delete all results and the site (_build); what is installed, .venv and .uv, stays
.PHONY: clean
clean:
	rm -rf _build

# ------------------------------------------------------------------ for authors

#@ make page NAME=…            build the site, open one page or several in a browser, wide and narrow, light and dark
.PHONY: page
page: FOLDERS = $(addprefix book/,chapters . reference)
page: need-name named chromium book
	$(PYTEST) $(BROWSER)/test_site.py -k "$(subst $(space), or ,$(strip $(NAME)))"

#@ make claims                 check the ledger: schema, form of the quotations, rows that changed without an entry
.PHONY: claims
claims: $(STAMP)
	$(PYTEST) tests/test_claims.py

#@ make unit                   test the science: the packages of iclutils
.PHONY: unit
unit: $(STAMP)
	$(PYTEST) $(WORKERS) $(SCIENCE)

#@ make machinery              all other tests but those in the browser
.PHONY: machinery
machinery: $(STAMP)
	$(PYTEST) $(WORKERS) tests --ignore=$(BROWSER) --ignore=$(SCIENCE)

# chapters are piped through ruff, since jupytext --check would write them back re-wrapped
#@ make lint                   style and types of the packages, the tests and the chapters' cells
.PHONY: lint
lint: $(STAMP)
	@failed=""; tool() { "$$@" || failed="$$failed $${1##*/}"; }; \
	tool $(BIN)/ruff check .; \
	tool $(BIN)/ruff format -q --check iclutils claimbook tests book/sweeps.py conftest.py; \
	tool $(BIN)/mypy iclutils claimbook; \
	tool $(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/book.yml; \
	set -o pipefail; for chapter in book/chapters/*.md; do \
	  $(BIN)/jupytext -q --from md:myst --to py:percent -o - "$$chapter" \
	  | $(BIN)/ruff check -q --select E,F,W --ignore E402,E501,E701,E702,E703,E731,E741 --stdin-filename "$$chapter.py" - \
	  || failed="$$failed $$chapter"; \
	done; \
	test -z "$$failed" || { echo "Not clean:$$failed"; exit 1; }

#@ make expected [NAME=…]      run, and rewrite the reference values in tests/expected
.PHONY: expected
expected: named $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN)
	$(BIN)/python -m claimbook.check.snapshot $(NAME)

#@ make new-chapter NAME=…     write a small chapter to start from: two pages, their rows, their place in the contents
.PHONY: new-chapter
new-chapter: need-name $(STAMP)
	@$(BIN)/python -m claimbook.new_chapter "$(NAME)"
	@echo "Next: make claims, make chapter NAME=\"$(NAME) $(NAME)_specialist\"; CONTRIBUTING.md has the steps."

#@ make lock                   resolve requirements.in again; a version stays if it still fits
.PHONY: lock
lock:
	@"$(ANYPY)" claimbook/install.py lock

# ------------------------------------------------------------------ what the targets need

.PHONY: need-name named seeded chromium

need-name:
	@test -n "$(NAME)" || { echo "Which one? For instance: make $(MAKECMDGOALS) NAME=01_attention_window"; exit 2; }

named:
	@names="$(notdir $(basename $(wildcard $(FOLDERS:%=%/*.md))))"; for name in $(NAME); do \
	  case " $$names " in *" $$name "*) continue ;; esac; \
	  echo "NAME must be a page of $(FOLDERS); got '$$name'. They are:"; printf '%s\n' $$names; exit 2; \
	done

seeded:
	@test -n "$(strip $(SEEDS))" || { echo "SEEDS must be whole numbers, such as SEEDS=\"1 2 3\"; got none"; exit 2; }
	@for seed in $(SEEDS); do \
	  case "$$seed" in *[!0-9]*) echo "SEEDS must be whole numbers, zero or above; got '$$seed'"; exit 2 ;; esac; \
	done

chromium:
	@command -v chromium-headless-shell chromium >/dev/null 2>&1 || { echo "make $(MAKECMDGOALS) needs Chromium: install the package chromium. 'make check' is all but the browser."; exit 1; }

# an environment in a folder that was moved or copied since is set up again
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(shell cd $(VENV) 2>/dev/null && pwd -P))
.PHONY: $(STAMP)
endif
$(STAMP): requirements.lock requirements.in pyproject.toml
	@"$(ANYPY)" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || { \
	  echo "The set-up needs Python 3.8 or newer; $(ANYPY) is $$("$(ANYPY)" --version 2>&1 | grep ^Python || echo missing)."; exit 1; }
	@PY="$(PY)" "$(ANYPY)" claimbook/install.py

# JupyterLab is not in the lock; installing it may not change a version that is
$(VENV)/.lab: $(STAMP) requirements-lab.txt
	@"$(ANYPY)" claimbook/install.py lab
