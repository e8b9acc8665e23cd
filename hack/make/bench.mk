##@ Test

# A regular expression that chooses benchmarks, how long and how often each runs.
BENCH ?= .
BENCHTIME ?= 1s
BENCHCOUNT ?= 1

.PHONY: bench
bench: ## Run the benchmarks; BENCH=regexp chooses.
	go test -run='^$$' -bench='$(value BENCH)' -benchtime=$(BENCHTIME) -count=$(BENCHCOUNT) -benchmem -timeout=60m ./...
