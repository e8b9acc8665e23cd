##@ Test

# How long each target runs, and a regular expression that chooses targets.
FUZZTIME ?= 30s
FUZZ ?= .

# How many random histories of the index are compared with the reference.
HISTORIES ?= 100000

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME each, FUZZ=regexp chooses; and HISTORIES histories of the index.
	hack/fuzz.sh $(FUZZTIME) '$(value FUZZ)'
	go test -count=1 -timeout=60m -run='^TestHistories$$' ./pkg/index -args -histories=$(HISTORIES)
