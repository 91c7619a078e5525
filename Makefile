# Needs make and Python >= 3.11; `test` also pip, once. `lint` and `types` need ruff and mypy.
PYTHON ?= python3
VENV := .venv
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help test lint types check evals weights zipapp bench eval-image eval-local versions clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-12s%s\n", $$1, $$2}' $(MAKEFILE_LIST)
test: $(VENV)/bin/pytest  ## run the tests (ARGS="-k name" for some of them)
	$(VENV)/bin/python -m pytest $(ARGS)
lint:  ## ruff: rules and format
	ruff check .
	ruff format --check .
types:  ## mypy --strict over the package
	mypy --strict skilleval
check: lint types test  ## all that a commit has to pass
evals:  ## score the worked examples of the shipped skills
	$(PYTHON) scripts/run-evals.py
weights:  ## do the weights of every checklist sum to 100?
	$(PYTHON) scripts/check-eval-weights.py
zipapp:  ## build skilleval.pyz, the whole tool in one file
	$(PYTHON) scripts/build-zipapp.py skilleval.pyz
bench:  ## measure against the floors (ARGS="fixtures --json")
	$(PYTHON) scripts/bench.py $(ARGS)
eval-image:  ## build the image for sandboxed scenarios
	docker build -f Dockerfile.eval -t openkata-eval:latest .
eval-local:  ## run a skill's scenarios: make eval-local skills/<name> [ARGS="--model m"]
	$(PYTHON) scripts/eval-local.py $(TARGET) $(ARGS)
versions:  ## build versions.json from the newest reports
	$(PYTHON) scripts/versions.py
clean:  ## remove what the targets made
	rm -rf $(VENV) .ci-cache build *.egg-info skilleval.pyz .mypy_cache .pytest_cache .ruff_cache
	find skilleval scripts tests skills -name __pycache__ -type d -prune -exec rm -rf {} +

# `make eval-local PATH`: the path is an argument and no target of its own
ifeq ($(firstword $(MAKECMDGOALS)),eval-local)
TARGET := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.PHONY: $(TARGET)
$(TARGET):
	@:
endif

$(VENV)/bin/pytest:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet 'pytest>=8'
