# Two verbs do everything on a fresh machine with Python 3.11+:
#   make demo   installs Kate into .venv and runs the showcase on the State of the Union addresses
#   make test   the same with the test tools, then lint, types and the whole test suite
# And three for those who change Kate (the last needs Node.js; what it makes is committed):
#   make docs   docs → site/index.html; a broken link is an error
#   make attack the attacks on files, inputs, disks and writers, for an hour
#   make page   src/kate/explore/page → src/kate/explore/bundle
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
INPUTS := pyproject.toml constraints.txt

PAGE   := src/kate/explore/page

.PHONY: demo test docs attack page stemmers dist try-dist clean
.DELETE_ON_ERROR:

$(BIN)/python:
	@echo "== creating $(VENV) with $(PYTHON)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Kate needs Python 3.11 or newer, found " + sys.version.split()[0] + "; try: make demo PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)

# A stamp for each set of extras: installed once, and again only when what is asked for changes.
$(VENV)/.installed-%: $(INPUTS) | $(BIN)/python
	@echo "== installing kate-text[$*] (the first time takes a minute or two)"
	@$(PIP) -e '.[$*]'
	@touch $@

demo: $(VENV)/.installed-demo
	@echo "== kate demo"
	@$(BIN)/kate demo -o kate-demo

test: $(VENV)/.installed-test
	@echo "== ruff"
	@$(BIN)/ruff check src tests benchmarks experiments packaging docs/conf.py
	@$(BIN)/ruff format --check src tests benchmarks experiments packaging docs/conf.py
	@echo "== mypy (strict)"
	@$(BIN)/mypy
	@echo "== pytest"
	@$(BIN)/pytest -n 2 --dist loadgroup --durations=10

docs: $(VENV)/.installed-docs
	@echo "== sphinx"
	@$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet --doctree-dir build/docs docs site
	@echo "the site: site/index.html"

# The attacks of tests/attacks for an hour or so, with new cases: make attack SEED=7 CASES=100000; each adds a line to attack.jsonl
SEED  ?= $(shell date +%j%H)
CASES ?= 100000
attack: $(VENV)/.installed-test
	@echo "== attacks, seed $(SEED), about $(CASES) cases"
	@KATE_ATTACK_SEED=$(SEED) KATE_ATTACK_CASES=$(CASES) KATE_ATTACK_LOG=attack.jsonl nice $(BIN)/pytest tests/attacks -n 2 --durations=0

# The stemmers of the explorer's page, as the Snowball compiler makes them for JavaScript: written once and committed.
stemmers: | $(BIN)/python
	rm -rf $(VENV)/sphinx && mkdir -p $(VENV)/sphinx
	$(BIN)/python -m pip download --quiet --no-deps sphinx==9.0.4 -d $(VENV)/sphinx
	cd $(VENV)/sphinx && $(abspath $(BIN))/python -m zipfile -e sphinx-*.whl .
	node src/kate/explore/page/build_stemmers.js $(VENV)/sphinx

# npm ci installs what the lock file names, and nothing else
$(PAGE)/node_modules/.package-lock.json: $(PAGE)/package.json $(PAGE)/package-lock.json
	@echo "== npm ci"
	@npm ci --prefix $(PAGE) --no-audit --no-fund --silent
	@touch $@

page: $(PAGE)/node_modules/.package-lock.json
	@echo "== esbuild"
	@node $(PAGE)/build.js

# What is published: sdist, wheel and the wheel of kate-text-lite in dist, built in isolation and checked by twine.
dist: | $(BIN)/python
	@rm -rf dist
	@$(PIP) build==1.6.1 twine==7.0.0
	@$(BIN)/python packaging/build_distributions.py dist

# The wheels in clean environments of every Python that is named, without the constraints file: make try-dist PYTHONS="python3.11 python3.13"
PYTHONS ?= $(PYTHON)
try-dist: dist
	@$(BIN)/python packaging/try_distributions.py dist $(PYTHONS)

clean:
	rm -rf $(VENV) dist site kate-demo .pytest_cache .mypy_cache .ruff_cache
