# Two verbs do everything on a fresh machine with Python 3.11+:
#   make demo   installs Kate into .venv and runs the showcase on the State of the Union addresses
#   make test   the same with the test tools, then lint, types and the whole test suite
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
INPUTS := pyproject.toml constraints.txt

.PHONY: demo test clean
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
	@$(BIN)/ruff check src tests benchmarks experiments
	@$(BIN)/ruff format --check src tests benchmarks experiments
	@echo "== mypy (strict)"
	@$(BIN)/mypy
	@echo "== pytest"
	@$(BIN)/pytest -n 2 --durations=10

clean:
	rm -rf $(VENV) kate-demo .pytest_cache .mypy_cache .ruff_cache
