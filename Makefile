# `make help` lists the targets. Everything runs in .venv, which is made on first use.

VENV := .venv
BIN := $(VENV)/bin
# The first Python that is new enough, or the one asked for with PYTHON=...
PYTHON ?= $(firstword $(foreach python,python3 python3.14 python3.13 python3.12 python3.11,$(shell \
	$(python) -c 'import sys; sys.version_info >= (3, 11) and print("$(python)")' 2>/dev/null)) python3)
BUDGET ?= 60s
CODE := syncopt tests bench instances
# Folders of CODE that exist
SOURCES = $(wildcard $(CODE))

.DEFAULT_GOAL := help
.PHONY: help solve table gauge sweep tilings test lint types format bench instances clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

solve: $(VENV)/.installed ## Solve the hand-synchronised GEMM at M=2176, N=K=8192 and print what its plan gains
	@mkdir -p build
	$(BIN)/syncopt solve instances/gemm/hand_synchronised.pto --args 2176,8192,8192 --budget $(BUDGET) \
		-o build/hand_synchronised.pto --force

table: $(VENV)/.installed ## Print what the plans of all GEMM instances reach, point by point
	$(BIN)/python bench/table.py

sweep: $(VENV)/.installed-dev ## Solve the GEMM instances for many M and write docs/gemm_sweep.md
	$(BIN)/python -m bench.gemm_sweep

tilings: $(VENV)/.installed-dev ## Find the best tiling of a GEMM of 4096 cubed and write docs/tilings.md
	$(BIN)/python -m bench.tilings

test: lint types ## Run lint, types and all tests
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.installed-dev ## Check style and format
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: $(VENV)/.installed-dev ## Check types
	$(BIN)/pyright --project pyproject.toml

format: $(VENV)/.installed-dev ## Rewrite the code in the format that lint asks for
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

gauge: $(VENV)/.installed ## Write docs/gauge.md anew; PTO_DSL_PATH names a checkout of pto-dsl, branch pto_ir_output
	$(BIN)/python bench/gauge.py

bench: $(VENV)/.installed-dev ## Run the benchmarks
	$(BIN)/python -m pytest -s -q bench

instances: $(VENV)/.installed ## Write instances/gemm anew
	$(BIN)/python instances/generate.py

clean: ## Remove .venv and everything that was built
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { \
		echo "error: $(PYTHON) not found: syncopt needs Python 3.11 or later (make PYTHON=/path/to/python3.11)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: $(PYTHON) is $$($(PYTHON) --version 2>&1): syncopt needs Python 3.11 or later (make PYTHON=/path/to/python3.11)" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed
