# The front door. Each target does its own set-up, and what did not change is not made again.
CH ?= 01
EX ?=
JOBS ?= $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help demo test exercise book bench-core bench-quick fuzz lint format clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

demo: ## build a chapter's server and watch it explain itself (CH=01)
	@scripts/setup.sh core
	@script=$$(ls -d examples/$(CH)*/demo.sh 2>/dev/null | head -n 1); \
	if [ -z "$$script" ]; then echo "There is no chapter $(CH). There are:" >&2; ls -d examples/[0-9]* >&2; exit 2; fi; \
	"$$script"

test: ## build everything and run every check
	@scripts/setup.sh core
	@scripts/test-all-examples.py $(TEST_ARGS)

exercise: ## verify an exercise, e.g. EX=01/1; without EX, list them
	@scripts/setup.sh core
	@scripts/exercise.py $(if $(EX),verify $(EX),list)

book: ## render the book to build/book
	@scripts/setup.sh book
	@scripts/build-book.sh || { status=$$?; [ $$status -eq 77 ] || exit $$status; }

bench-core: ## measure the HTTP core without I/O
	@scripts/setup.sh core bench
	@cd examples && cmake --preset release >/dev/null && cmake --build --preset release --target http-bench >/dev/null
	@build/release/lib/http/bench/http-bench

bench-quick: ## all models, a null server and nginx under wrk, as ratios (some minutes)
	@scripts/setup.sh core bench
	@cd examples && cmake --preset release >/dev/null && cmake --build --preset release >/dev/null
	@cd examples && cmake --build --preset release --target null-server >/dev/null
	@scripts/bench-quick.py $(BENCH_ARGS)

fuzz: ## sixty seconds of fuzzing the HTTP core (SECONDS=60); needs clang
	@scripts/setup.sh core
	@scripts/fuzz.sh

lint: ## every linter, warnings as errors
	@scripts/setup.sh core lint
	@scripts/lint.sh

format: ## format the C++ sources in place
	@scripts/setup.sh lint
	@scripts/lint.sh --format

clean: ## remove everything generated
	rm -rf build
