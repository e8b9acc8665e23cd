# The parts under hack/make hold the targets of one concern each. `make help`
# lists them from the comments behind two number signs.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -o errexit -o nounset -o pipefail -c
.DEFAULT_GOAL := help

# No build, test or check needs to ask version control for a stamp.
export GOFLAGS := -buildvcs=false

include $(addprefix hack/make/,demo.mk build.mk tools.mk test.mk cluster.mk fuzz.mk bench.mk verify.mk lint.mk generate.mk proto.mk)

##@ General

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { section = substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { lines[section] = lines[section] sprintf("  %-18s %s\n", $$1, $$2); if (!(section in seen)) { seen[section] = 1; order[++count] = section } } \
		END { for (i = 1; i <= count; i++) printf "%s%s\n%s", (i > 1 ? "\n" : ""), order[i], lines[order[i]] }' $(MAKEFILE_LIST)
