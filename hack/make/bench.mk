##@ Test

# Extra arguments for the program that prints the table, for example
# BENCHARGS='-only lookup,rpc'.
BENCHARGS ?=

# A regular expression that chooses Go benchmarks, how long and how often each runs.
BENCH ?= .
BENCHTIME ?= 1s
BENCHCOUNT ?= 1

.PHONY: bench
bench: ## Print the table of figures, targets and baselines; BENCHARGS='-only ...' chooses.
	go run ./test/bench $(value BENCHARGS)

.PHONY: bench-go
bench-go: ## Run the Go benchmarks; BENCH=regexp chooses.
	go test -run='^$$' -bench='$(value BENCH)' -benchtime=$(BENCHTIME) -count=$(BENCHCOUNT) -benchmem -timeout=60m ./...
