##@ Test

# How long each target runs, and a regular expression that chooses targets.
FUZZTIME ?= 30s
FUZZ ?= .

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME each; FUZZ=regexp chooses.
	hack/fuzz.sh $(FUZZTIME) '$(value FUZZ)'
