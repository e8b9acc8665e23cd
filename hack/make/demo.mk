##@ Demo

# The demo is built and not run by go run, which ends at a SIGTERM without passing it
# on, and would leave everything running.

# recorded plays recorded engines in step with their requests; sim runs
# simulated ones under endless load.
ENGINE ?= recorded
# Extra arguments for the demo program.
ARGS ?=

.PHONY: demo
demo: ## Show the loop on recorded engines, or with ENGINE=sim on simulated ones.
	@go build -o bin/demo ./test/demo
	exec bin/demo -engine=$(ENGINE) $(ARGS)

.PHONY: demo-check
demo-check: ## Run the demo once, assert what it shows, and exit.
	go run ./test/demo -check -engine=$(ENGINE) $(ARGS)
