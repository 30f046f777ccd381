# In-Context Learning, Reproduced. `make book` and `make test` set up what they need.
PY    ?=
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
ANYPY := $(shell command -v python3 || command -v python || echo python3)
CORES := $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
# side by side, one for each core; eight at most, for with its kernel one takes a gigabyte
JOBS  ?= $(shell echo $$(($(CORES) < 8 ? $(CORES) : 8)))
SHELL := bash
SEEDS ?= 1 2 3
NAME  ?=
VARIANTS ?= all
space := $() $()

export PYTHONPATH := $(CURDIR)
# what is imported is compiled once, not in each of some sixty processes
export PYTHONDONTWRITEBYTECODE :=
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

REPORTS := _build/reports
PYTEST  := $(BIN)/python -m pytest -q
NBVAL   := --nbval-lax --nbval-current-env --nbval-cell-timeout 600
SPREAD  := --dist loadfile
WORKERS := -n $(JOBS) $(SPREAD) --no-loadscope-reorder
BUILD   := $(BIN)/python -m claimbook.build
FOLDERS := book/chapters
NAMED    = $(foreach name,$(NAME),book/chapters/$(name).md)
BROWSER := tests/browser
# what asks nothing of a run or of the site: on the core that the build leaves free
BESIDE  := tests/test_lint.py tests/claimbook/test_typed.py
ROOMS   := $(notdir $(patsubst %/__init__.py,%,$(wildcard iclutils/*/__init__.py)))
SCIENCE := $(ROOMS:%=tests/%)
CHOSEN   = $(if $(NAME),$(NAMED),book/chapters)

.PHONY: help book page test check lint claims unit machinery new-chapter chapter expected seeds knobs portability mutants bench frames lab site-test clean chromium
help:
	@sed -n 's/^## //p' Makefile

## make book                  run every chapter that is not yet run, build the site into _build/html
book: $(STAMP)
	@$(BUILD) --current || { \
	  todo="$$($(BIN)/python -m claimbook.runs.cache stale)" && if [ -n "$$todo" ]; then \
	  $(PYTEST) $(NBVAL) $(WORKERS) $$todo --chapters=run --fill-cache; fi && $(BUILD); }
	@echo "The book is at _build/html/index.html"

## make page NAME=…           the built site, and one page of it (or several) opened in a browser in four looks
page: FOLDERS = $(addprefix book/,chapters . reference)
page: need-name named chromium book
	$(PYTEST) $(BROWSER)/test_site.py -k "$(subst $(space), or ,$(strip $(NAME)))"

# one more than the cores, for a fifth of its time a test waits for a page; the largest file first
## make test                  everything: make check, the site in a real browser
test: chromium $(STAMP) check
	$(PYTEST) -n $$(($(JOBS) + 1)) $(SPREAD) $(BROWSER) --junitxml=$(REPORTS)/site.xml
	@$(BIN)/python tests/summary.py $(REPORTS)

## make check                 lint, types, unit tests, every chapter run and compared, strict build; no browser
check: $(STAMP)
	@rm -rf $(REPORTS) _build/store && mkdir -p $(REPORTS)
	$(PYTEST) $(NBVAL) $(WORKERS) book/chapters tests $(patsubst %,--ignore=%,$(BROWSER) $(BESIDE)) --fill-cache --junitxml=$(REPORTS)/check.xml
	@$(PYTEST) $(BESIDE) --junitxml=$(REPORTS)/beside.xml & \
	built=0; $(BUILD) --all --checked || built=$$?; wait $$! && exit $$built
	@echo "The strict build ran no chapter again; the site shows the run that was checked."

# a test of make check calls it; every tool says what it finds before any of them fails the whole;
# chapters are piped through ruff: jupytext --check would write them back re-wrapped
## make lint                  style and types of the package, the tests and the chapters' cells; all tools, then red
lint: $(STAMP)
	@failed=""; tool() { "$$@" || failed="$$failed $${1##*/}"; }; \
	tool $(BIN)/ruff check .; \
	tool $(BIN)/mypy iclutils claimbook; \
	tool $(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/book.yml; \
	set -o pipefail; for chapter in book/chapters/*.md; do \
	  $(BIN)/jupytext -q --from md:myst --to py:percent -o - "$$chapter" \
	  | $(BIN)/ruff check -q --select E,F,W --ignore E402,E501,E701,E702,E703,E731,E741 --stdin-filename "$$chapter.py" - \
	  || failed="$$failed $$chapter"; \
	done; \
	test -z "$$failed" || { echo "Not clean:$$failed"; exit 1; }

## make claims                the ledger: schema, form of the quotations, sizes, rows that changed unseen; seconds
claims: $(STAMP)
	$(PYTEST) tests/test_claims.py

## make unit                  the ground's and the towers' own tests
unit: $(STAMP)
	$(PYTEST) $(WORKERS) $(SCIENCE)

## make machinery             all other tests but the browser's: ledger, checker, runs, figures, site, rules of the house
machinery: $(STAMP)
	$(PYTEST) $(WORKERS) tests --ignore=$(BROWSER) $(SCIENCE:%=--ignore=%)

## make new-chapter NAME=…    write the skeleton of a chapter: two pages, their rows, their place in the contents
new-chapter: $(STAMP) need-name
	@$(BIN)/python -m claimbook.new_chapter $(NAME)
	@echo "Next: make claims, make chapter NAME=\"$(NAME) $(NAME)_specialist\"; CONTRIBUTING.md has the ten steps."

## make chapter NAME=…        run and check one chapter (or several)
chapter: need-name named $(STAMP)
	$(PYTEST) $(NBVAL) $(NAMED) --chapters=try --fill-cache -rs

## make expected [NAME=…]     run, and rewrite the verdicts in tests/expected
expected: named $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --chapters=expected

## make seeds SEEDS="1 2 3"   run with other master seeds, compare the verdicts, record them for the ledger page
seeds: named seeded $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --master-seeds="$(SEEDS)"

## make knobs [NAME=…]        run with every knob turned once, one at a time; goes on where it stopped
knobs: named $(STAMP)
	@todo="$$($(BIN)/python -m claimbook.runs.cache stale)" && if [ -n "$$todo" ]; then \
	  $(PYTEST) $(NBVAL) $(WORKERS) $$todo --chapters=run --fill-cache; fi
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --knobs=all || [ $$? -eq 5 ]

## make portability [NAME=…]  run as other machines compute, and compare; VARIANTS="avx2 perturbed:2" chooses
portability: named $(STAMP)
	$(PYTEST) $(NBVAL) $(WORKERS) $(CHOSEN) --variants="$(VARIANTS)"

## make mutants SEED=… [N=…]  plant faults drawn at random, say which no test notices; goes on where it stopped
mutants: $(STAMP)
	@$(BIN)/python -m tests.mutants.run --jobs $(JOBS) $(SEED:%=--seed %) $(N:%=--count %) $(MINUTES:%=--minutes %) $(if $(AREAS),--areas "$(AREAS)")

## make bench                 each fast way against the plain way, on the same work
bench: $(STAMP)
	$(BIN)/python tests/bench/bench.py $(NAME)

## make frames                frames a second and milliseconds a frame of the trainings on the built site
frames: $(STAMP)
	$(BIN)/python -m tests.bench.frames

## make lab                   open the chapters as notebooks in JupyterLab
lab: $(VENV)/.lab
	cd book/chapters && ../../$(BIN)/jupyter-lab

## make clean                 delete what was built (not .venv)
clean:
	rm -rf _build

.PHONY: need-name named seeded

need-name:
	@test -n "$(NAME)" || { echo "Which chapter? For instance: make chapter NAME=01_attention_window"; exit 2; }

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
	@command -v chromium-headless-shell chromium >/dev/null 2>&1 || { echo "make test opens the site in Chromium, which is not here: install the package chromium; 'make check' is all but the browser."; exit 1; }

# uv does it; where neither uv nor any Python 3 is, the message names both
$(STAMP): requirements.lock requirements.in pyproject.toml
	@command -v "$(ANYPY)" >/dev/null 2>&1 || { echo "Nothing here can set the book up: install Python 3 (any version), or uv (docs.astral.sh/uv) and Python 3."; exit 1; }
	@PY="$(PY)" "$(ANYPY)" claimbook/install.py

# JupyterLab is no part of the book's pins; its own constraint is that it leaves them as they are
$(VENV)/.lab: $(STAMP) requirements-lab.txt
	@"$(ANYPY)" claimbook/install.py lab

## make lock                  pin anew what requirements.in allows (the newest that agree)
.PHONY: lock
lock:
	@"$(ANYPY)" claimbook/install.py lock
